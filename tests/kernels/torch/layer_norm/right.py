import torch
import torch.nn as nn
import torch.nn.functional as F

from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>

__inline__ __device__ float warp_sum(float v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
    return v;
}
__global__ void kernel(const float* x, const float* w, const float* b, float* y, int n, float eps) {
    __shared__ float mean, scale;
    const float* row = x + blockIdx.x * n;
    float s = 0;
    for (int j = threadIdx.x; j < n; j += 32) s += row[j];
    s = warp_sum(s);
    if (threadIdx.x == 0) mean = s / n;
    __syncthreads();
    float q = 0;
    for (int j = threadIdx.x; j < n; j += 32) q += (row[j] - mean) * (row[j] - mean);
    q = warp_sum(q);
    if (threadIdx.x == 0) scale = rsqrtf(q / n + eps);
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += 32) y[blockIdx.x * n + j] = (row[j] - mean) * scale * w[j] + b[j];
}
torch::Tensor run(torch::Tensor x, torch::Tensor w, torch::Tensor b, double eps) {
    auto y = torch::empty_like(x);
    int rows = x.size(0), n = x.size(1);
    kernel<<<rows, 32>>>(x.data_ptr<float>(), w.data_ptr<float>(), b.data_ptr<float>(),
                         y.data_ptr<float>(), n, eps);
    return y;
}

"""
extension = load_inline(
    name="layer_norm",
    cpp_sources="torch::Tensor run(torch::Tensor x, torch::Tensor w, torch::Tensor b, double eps);",
    cuda_sources=SOURCE,
    functions=["run"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.ln = nn.LayerNorm(features)

    def forward(self, x):
        return extension.run(x.contiguous(), self.ln.weight, self.ln.bias, self.ln.eps)
