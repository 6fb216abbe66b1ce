import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
#include <cuda_runtime.h>
__global__ void relu_bias_kernel(float* __restrict__ x, const float* __restrict__ bias, int n4, int hw4, int channels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n4) {
        float b = bias[(i / hw4) % channels];
        float4 v = reinterpret_cast<float4*>(x)[i];
        v.x = fmaxf(v.x, 0.f) + b;
        v.y = fmaxf(v.y, 0.f) + b;
        v.z = fmaxf(v.z, 0.f) + b;
        v.w = fmaxf(v.w, 0.f) + b;
        reinterpret_cast<float4*>(x)[i] = v;
    }
}
__global__ void relu_bias_scalar(float* __restrict__ x, const float* __restrict__ bias, int n, int hw, int channels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = fmaxf(x[i], 0.f) + bias[(i / hw) % channels];
}
torch::Tensor relu_bias_(torch::Tensor x, torch::Tensor bias) {
    TORCH_CHECK(x.is_contiguous());
    const int n = x.numel(), channels = x.size(1), hw = x.size(2) * x.size(3);
    if (hw % 4 == 0) {
        relu_bias_kernel<<<(n / 4 + 255) / 256, 256>>>(x.data_ptr<float>(), bias.data_ptr<float>(), n / 4, hw / 4, channels);
    } else {
        relu_bias_scalar<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), bias.data_ptr<float>(), n, hw, channels);
    }
    return x;
}
"""
ext = load_inline(name="relu_bias", cpp_sources="torch::Tensor relu_bias_(torch::Tensor x, torch::Tensor bias);", cuda_sources=source, functions=["relu_bias_"])

class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, bias_shape):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.bias = nn.Parameter(torch.randn(bias_shape))

    def forward(self, x):
        x = self.conv(x)
        return ext.relu_bias_(x.contiguous(), self.bias)
