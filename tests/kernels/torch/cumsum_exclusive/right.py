import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
__global__ void exclusive_scan(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float buf[256];
  __shared__ float carry;
  const int t = threadIdx.x;
  const float* x = in + (size_t)blockIdx.x * n;
  float* y = out + (size_t)blockIdx.x * n;
  if (t == 0) carry = 0.f;
  __syncthreads();
  for (int base = 0; base < n; base += 256) {
    int i = base + t;
    float v = i < n ? x[i] : 0.f;
    buf[t] = v;
    __syncthreads();
    for (int o = 1; o < 256; o <<= 1) {
      float u = t >= o ? buf[t - o] : 0.f;
      __syncthreads();
      buf[t] += u;
      __syncthreads();
    }
    float c = carry;
    if (i < n) y[i] = c + buf[t] - v;
    __syncthreads();
    if (t == 255) carry = c + buf[255];
    __syncthreads();
  }
}
torch::Tensor exclusive_cumsum(torch::Tensor x) {
  auto y = torch::empty_like(x);
  exclusive_scan<<<x.size(0), 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
"""
ext = load_inline(name="excl", cpp_sources="torch::Tensor exclusive_cumsum(torch::Tensor x);", cuda_sources=src, functions=["exclusive_cumsum"])

class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return ext.exclusive_cumsum(x.contiguous())
