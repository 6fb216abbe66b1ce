import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cpp_src = "torch::Tensor rms_norm_cuda(torch::Tensor x, double eps);"
cuda_src = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void rms_norm_kernel(const float* __restrict__ x, float* __restrict__ y, const int N, const int C, const int S, const float eps) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    const int n = blockIdx.y;
    if (s >= S) return;
    const float* xp = x + (int64_t)n * C * S + s;
    float* yp = y + (int64_t)n * C * S + s;
    float acc = 0.0f;
    #pragma unroll 4
    for (int c = 0; c < C; ++c) {
        const float v = xp[c * S];
        acc = fmaf(v, v, acc);
    }
    const float inv = rsqrtf(acc / static_cast<float>(C) + eps);
    #pragma unroll 4
    for (int c = 0; c < C; ++c) yp[c * S] = xp[c * S] * inv;
}

torch::Tensor rms_norm_cuda(torch::Tensor x, double eps) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.scalar_type() == torch::kFloat, "x must be a contiguous float CUDA tensor");
    auto y = torch::empty_like(x);
    const int N = x.size(0), C = x.size(1);
    const int S = x.numel() / (int64_t)(N * C);
    const dim3 grid((S + 255) / 256, N);
    rms_norm_kernel<<<grid, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), N, C, S, static_cast<float>(eps));
    return y;
}
"""
ext = load_inline(name="rms", cpp_sources=cpp_src, cuda_sources=cuda_src, functions=["rms_norm_cuda"])


class ModelNew(nn.Module):
    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.num_features = num_features
        self.eps = eps

    def forward(self, x):
        return ext.rms_norm_cuda(x.contiguous(), self.eps)
