import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>

__device__ __forceinline__ float act(float v, float s) {
    v = v > 0.f ? v : 0.2f * v;
    v += s;
    v = fminf(fmaxf(v, -1.0f), 1.0f);
    return 0.5f * v * (1.0f + erff(v * 0.70710678118654752440f));
}
__global__ void fused_kernel(const float* __restrict__ x, const float* __restrict__ s, float* __restrict__ y, int64_t n, int C, int64_t inner) {
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
        y[i] = act(x[i], s[(i / inner) % C]);
}
torch::Tensor fused(torch::Tensor x, torch::Tensor s) {
    auto xc = x.contiguous();
    auto y = torch::empty_like(xc);
    int64_t n = xc.numel(), inner = xc.size(2) * xc.size(3) * xc.size(4);
    int blocks = (int)std::min<int64_t>((n + 255) / 256, 4096);
    fused_kernel<<<blocks, 256>>>(xc.data_ptr<float>(), s.data_ptr<float>(), y.data_ptr<float>(), n, (int)xc.size(1), inner);
    return y;
}

"""
ext = load_inline(name="c3lg", cpp_sources="torch::Tensor fused(torch::Tensor x, torch::Tensor s);", cuda_sources=src, functions=["fused"])

class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, sum_tensor_shape):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size)
        self.sum_tensor = nn.Parameter(torch.randn(sum_tensor_shape))

    def forward(self, x):
        x = self.conv(x)
        return ext.fused(x, self.sum_tensor)
