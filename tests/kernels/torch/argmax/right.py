import torch
import torch.nn as nn
import torch.nn.functional as F

from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>

__global__ void kernel(const float* x, int64_t* y, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float best = x[row * n];
    int at = 0;
    for (int j = 1; j < n; ++j)
        if (x[row * n + j] > best) {
            best = x[row * n + j];
            at = j;
        }
    y[row] = at;
}
torch::Tensor run(torch::Tensor x) {
    int rows = x.size(0);
    auto y = torch::empty({rows}, x.options().dtype(torch::kLong));
    kernel<<<(rows + 31) / 32, 32>>>(x.data_ptr<float>(), y.data_ptr<int64_t>(), rows, x.size(1));
    return y;
}

"""
extension = load_inline(
    name="argmax",
    cpp_sources="torch::Tensor run(torch::Tensor x);",
    cuda_sources=SOURCE,
    functions=["run"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.run(x.contiguous())
