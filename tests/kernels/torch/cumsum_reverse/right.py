import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = """
#include <torch/extension.h>
template <typename T>
__global__ void rev_cumsum(const T* x, T* y, const int64_t B, const int64_t D) {
    const int64_t row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < B) {
        T run = 0;
        for (int64_t i = D - 1; i >= 0; --i) {
            run += x[row * D + i];
            y[row * D + i] = run;
        }
    }
}
torch::Tensor reverse_cumsum(torch::Tensor x, int64_t dim) {
    TORCH_CHECK(dim == 1 || dim == -1);
    torch::Tensor xc = x.contiguous();
    torch::Tensor y = torch::empty_like(xc, torch::MemoryFormat::Contiguous);
    const auto B = xc.size(0), D = xc.size(1);
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(xc.scalar_type(), "reverse_cumsum", [&] {
        rev_cumsum<scalar_t><<<(B + 31) / 32, 32>>>(xc.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), B, D);
    });
    return y;
}
"""
ext = load_inline(name="revcum", cpp_sources="torch::Tensor reverse_cumsum(torch::Tensor x, int64_t dim);", cuda_sources=src, functions=["reverse_cumsum"])

class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return ext.reverse_cumsum(x, self.dim)
