import torch
import torch.nn as nn
import torch.nn.functional as F

from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>

__global__ void kernel(const float* x, const float* w, const float* b, float* y, int N, int C, int S,
                       float eps) {
    __shared__ float sums[128], squares[128];
    int c = blockIdx.x, t = threadIdx.x;
    float s = 0, q = 0;
    for (int i = t; i < N * S; i += 128) {
        float v = x[(i / S * C + c) * S + i % S];
        s += v;
        q += v * v;
    }
    sums[t] = s;
    squares[t] = q;
    __syncthreads();
    for (int o = 64; o > 0; o >>= 1) {
        if (t < o) {
            sums[t] += sums[t + o];
            squares[t] += squares[t + o];
        }
        __syncthreads();
    }
    float mean = sums[0] / (N * S), variance = squares[0] / (N * S) - mean * mean;
    float scale = rsqrtf(variance + eps) * w[c];
    for (int i = t; i < N * S; i += 128) {
        int at = (i / S * C + c) * S + i % S;
        y[at] = (x[at] - mean) * scale + b[c];
    }
}
torch::Tensor run(torch::Tensor x, torch::Tensor w, torch::Tensor b, double eps) {
    auto y = torch::empty_like(x);
    int C = x.size(1);
    kernel<<<C, 128>>>(x.data_ptr<float>(), w.data_ptr<float>(), b.data_ptr<float>(), y.data_ptr<float>(),
                       x.size(0), C, x.size(2) * x.size(3), eps);
    return y;
}

"""
extension = load_inline(
    name="batch_norm",
    cpp_sources="torch::Tensor run(torch::Tensor x, torch::Tensor w, torch::Tensor b, double eps);",
    cuda_sources=SOURCE,
    functions=["run"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bn = nn.BatchNorm2d(features)

    def forward(self, x):
        return extension.run(x.contiguous(), self.bn.weight, self.bn.bias, self.bn.eps)
