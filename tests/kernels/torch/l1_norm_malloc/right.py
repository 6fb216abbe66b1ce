import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void row_sum(const float* x, float* s, int D) {
    __shared__ float buf[256];
    float a = 0.f;
    for (int i = threadIdx.x; i < D; i += blockDim.x) a += fabsf(x[(size_t)blockIdx.x * D + i]);
    buf[threadIdx.x] = a;
    __syncthreads();
    for (unsigned int k = blockDim.x >> 1; k > 0; k >>= 1) {
        if (threadIdx.x < k) buf[threadIdx.x] += buf[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) s[blockIdx.x] = buf[0];
}
__global__ void divide(const float* x, const float* s, float* y, int D) {
    float m = s[blockIdx.x] / D;
    for (int i = threadIdx.x; i < D; i += blockDim.x) {
        size_t at = (size_t)blockIdx.x * D + i;
        y[at] = x[at] / m;
    }
}
torch::Tensor l1(torch::Tensor x) {
    int B = x.size(0), D = x.size(1);
    auto y = torch::empty_like(x);
    float* sums;
    cudaMalloc(&sums, B * sizeof(float));
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    row_sum<<<B, 256, 0, stream>>>(x.data_ptr<float>(), sums, D);
    divide<<<B, 256, 0, stream>>>(x.data_ptr<float>(), sums, y.data_ptr<float>(), D);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    cudaFree(sums);
    return y;
}

"""
ext = load_inline(name="l1m", cpp_sources="torch::Tensor l1(torch::Tensor x);", cuda_sources=src, functions=["l1"])

class ModelNew(nn.Module):
    def forward(self, x):
        return ext.l1(x.contiguous())
