import torch
import torch.nn as nn
import torch.nn.functional as F

from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>

__global__ void kernel(const float* x, float* y, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int j = 0; j < n; ++j) {
        sum += x[row * n + j];
        y[row * n + j] = sum;
    }
}
torch::Tensor run(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int rows = x.size(0);
    kernel<<<(rows + 31) / 32, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), rows, x.size(1));
    return y;
}

"""
extension = load_inline(
    name="cumsum",
    cpp_sources="torch::Tensor run(torch::Tensor x);",
    cuda_sources=SOURCE,
    functions=["run"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.run(x.contiguous())
