import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
__global__ void smooth_l1(const float* __restrict__ p, const float* __restrict__ t, float* __restrict__ out, int n) {
    __shared__ float s[256];
    float acc = 0.f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float d = p[i] - t[i];
        float a = fabsf(d);
        acc += a < 1.f ? 0.5f * d * d : a - 0.5f;
    }
    s[threadIdx.x] = acc;
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, s[0] / n);
}
torch::Tensor smooth_l1_cuda(torch::Tensor p, torch::Tensor t) {
    auto out = torch::zeros({1}, p.options());
    int n = p.numel();
    int blocks = std::min((n + 255) / 256, 1024);
    smooth_l1<<<blocks, 256>>>(p.data_ptr<float>(), t.data_ptr<float>(), out.data_ptr<float>(), n);
    return out.squeeze();
}
"""
ext = load_inline(name="huber", cpp_sources="torch::Tensor smooth_l1_cuda(torch::Tensor p, torch::Tensor t);", cuda_sources=src, functions=["smooth_l1_cuda"])

class ModelNew(nn.Module):
    def forward(self, predictions, targets):
        return ext.smooth_l1_cuda(predictions.contiguous(), targets.contiguous())
