import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
struct Welford { float mean, m2, n; };
__device__ __forceinline__ Welford combine(Welford a, Welford b) {
  float n = a.n + b.n;
  if (n == 0.f) return a;
  float d = b.mean - a.mean;
  return {a.mean + d * (b.n / n), a.m2 + b.m2 + d * d * (a.n * b.n / n), n};
}
__global__ void ln_kernel(const float4* __restrict__ x, const float4* __restrict__ g, const float4* __restrict__ b, float4* __restrict__ y, int n4, float eps) {
  const float4* xr = x + (size_t)blockIdx.x * n4;
  float4* yr = y + (size_t)blockIdx.x * n4;
  __shared__ float s1[8], s2[8];
  float s = 0, q = 0;
  for (int i = threadIdx.x; i < n4; i += blockDim.x) {
    float4 v = xr[i];
    s += v.x + v.y + v.z + v.w;
    q += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  for (int o = 16; o > 0; o >>= 1) { s += __shfl_xor_sync(0xffffffff, s, o); q += __shfl_xor_sync(0xffffffff, q, o); }
  if (threadIdx.x % 32 == 0) { s1[threadIdx.x / 32] = s; s2[threadIdx.x / 32] = q; }
  __syncthreads();
  s = 0; q = 0;
  for (int i = 0; i < blockDim.x / 32; ++i) { s += s1[i]; q += s2[i]; }
  const float n = 4.f * n4, mean = s / n, inv = rsqrtf(q / n - mean * mean + eps);
  for (int i = threadIdx.x; i < n4; i += blockDim.x) {
    float4 v = xr[i], w = g[i], c = b[i];
    yr[i] = make_float4((v.x - mean) * inv * w.x + c.x, (v.y - mean) * inv * w.y + c.y, (v.z - mean) * inv * w.z + c.z, (v.w - mean) * inv * w.w + c.w);
  }
}
torch::Tensor layer_norm(torch::Tensor x, torch::Tensor w, torch::Tensor b, double eps) {
  int n = w.numel();
  TORCH_CHECK(n % 4 == 0);
  int rows = x.numel() / n;
  auto y = torch::empty_like(x);
  ln_kernel<<<rows, 128>>>((const float4*)x.data_ptr<float>(), (const float4*)w.data_ptr<float>(), (const float4*)b.data_ptr<float>(), (float4*)y.data_ptr<float>(), n / 4, eps);
  return y;
}
"""
ext = load_inline(name="ln4", cpp_sources="torch::Tensor layer_norm(torch::Tensor x, torch::Tensor w, torch::Tensor b, double eps);", cuda_sources=src, functions=["layer_norm"])

class ModelNew(nn.Module):
    def __init__(self, normalized_shape):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape=normalized_shape)

    def forward(self, x):
        return ext.layer_norm(x.contiguous(), self.ln.weight, self.ln.bias, self.ln.eps)
