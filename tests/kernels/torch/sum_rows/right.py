import torch
import torch.nn as nn
import torch.nn.functional as F

from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>
__device__ float plus(float a, float b) { return a + b; }
__global__ void kernel(const float* x, float* y, int rows, int n) {
    __shared__ float part[256];
    int row = blockIdx.x, t = threadIdx.x;
    float total = 0.f;
    for (int j = t; j < n; j += blockDim.x) total = plus(total, x[row * n + j]);
    part[t] = total;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) part[t] = plus(part[t], part[t + s]);
        __syncthreads();
    }
    if (t == 0) y[row] = part[0] ;
}
torch::Tensor run(torch::Tensor x) {
    int rows = x.size(0), n = x.size(1);
    auto y = torch::empty({rows}, x.options());
    kernel<<<rows, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), rows, n);
    return y;
}

"""
extension = load_inline(
    name="sum_rows",
    cpp_sources="torch::Tensor run(torch::Tensor x);",
    cuda_sources=SOURCE,
    functions=["run"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.run(x.contiguous())
