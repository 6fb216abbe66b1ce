import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

fused_src = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>

__global__ void pool_lse_relu(const float* __restrict__ x, float* __restrict__ y, int C, int D, int H, int W, int N) {
    int PD = D / 2, PH = H / 2, PW = W / 2;
    long long idx = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= (long long)N * PD * PH * PW) return;
    int w = idx % PW;
    int h = (idx / PW) % PH;
    int d = (idx / ((long long)PW * PH)) % PD;
    int n = idx / ((long long)PW * PH * PD);
    float running_max = -FLT_MAX;
    float running_sum = 0.0f;
    for (int c = 0; c < C; ++c) {
        const float* base = x + (((long long)n * C + c) * D + 2 * d) * H * W;
        float m = -FLT_MAX;
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j)
                for (int k = 0; k < 2; ++k)
                    m = fmaxf(m, base[((long long)i * H + 2 * h + j) * W + 2 * w + k]);
        // online logsumexp
        float new_max = fmaxf(running_max, m);
        running_sum = running_sum * expf(running_max - new_max) + expf(m - new_max);
        running_max = new_max;
    }
    float v = logf(running_sum) + running_max;
    y[idx] = v > 0.0f ? v : 0.0f;
}

torch::Tensor pool_lse_relu_cuda(torch::Tensor x) {
    int N = x.size(0), C = x.size(1), D = x.size(2), H = x.size(3), W = x.size(4);
    auto y = torch::empty({N, 1, D / 2, H / 2, W / 2}, x.options());
    long long total = y.numel();
    int threads = 256;
    pool_lse_relu<<<(total + threads - 1) / threads, threads>>>(x.data_ptr<float>(), y.data_ptr<float>(), C, D, H, W, N);
    return y;
}
"""
fused = load_inline(name="pool_lse_relu", cpp_sources="torch::Tensor pool_lse_relu_cuda(torch::Tensor x);", cuda_sources=fused_src, functions=["pool_lse_relu_cuda"])

class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding):
        super().__init__()
        self.conv = nn.Conv3d(in_channels, out_channels, kernel_size, stride=stride, padding=padding)

    def forward(self, x):
        return fused.pool_lse_relu_cuda(self.conv(x).contiguous())
