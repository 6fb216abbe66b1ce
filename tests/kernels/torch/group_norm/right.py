import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
__inline__ __device__ float warpReduceSum(float val) {
  #pragma unroll
  for (int offset = warpSize / 2; offset > 0; offset /= 2) val += __shfl_down_sync(0xffffffff, val, offset);
  return val;
}
__inline__ __device__ float blockReduceSum(float val) {
  static __shared__ float shared[32];
  int lane = threadIdx.x % warpSize, wid = threadIdx.x / warpSize;
  val = warpReduceSum(val);
  __syncthreads();
  if (lane == 0) shared[wid] = val;
  __syncthreads();
  val = (threadIdx.x < blockDim.x / warpSize) ? shared[lane] : 0;
  if (wid == 0) val = warpReduceSum(val);
  return val;
}
__global__ void group_norm_stats(const float* __restrict__ x, float* __restrict__ mean, float* __restrict__ rstd, int group_elems, float eps) {
  const float* p = x + (size_t)blockIdx.x * group_elems;
  float s = 0, q = 0;
  for (int i = threadIdx.x; i < group_elems; i += blockDim.x) { float v = p[i]; s += v; q += v * v; }
  s = blockReduceSum(s);
  q = blockReduceSum(q);
  if (threadIdx.x == 0) {
    float m = s / group_elems;
    mean[blockIdx.x] = m;
    rstd[blockIdx.x] = rsqrtf(q / group_elems - m * m + eps);
  }
}
__global__ void group_norm_apply(const float* __restrict__ x, const float* __restrict__ mean, const float* __restrict__ rstd,
    const float* __restrict__ gamma, const float* __restrict__ beta, float* __restrict__ y, int total, int C, int HW, int G) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  int c = (i / HW) % C, n = i / (HW * C), g = c / (C / G);
  y[i] = (x[i] - mean[n * G + g]) * rstd[n * G + g] * gamma[c] + beta[c];
}
torch::Tensor group_norm(torch::Tensor x, torch::Tensor gamma, torch::Tensor beta, int64_t groups, double eps) {
  const int N = x.size(0), C = x.size(1), HW = x.numel() / (N * C);
  auto y = torch::empty_like(x);
  auto mean = torch::empty({N * groups}, x.options()), rstd = torch::empty({N * groups}, x.options());
  group_norm_stats<<<N * groups, 256>>>(x.data_ptr<float>(), mean.data_ptr<float>(), rstd.data_ptr<float>(), C / groups * HW, (float)eps);
  group_norm_apply<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), mean.data_ptr<float>(), rstd.data_ptr<float>(),
      gamma.data_ptr<float>(), beta.data_ptr<float>(), y.data_ptr<float>(), x.numel(), C, HW, groups);
  return y;
}
"""
m = load_inline(name="gn", cpp_sources="torch::Tensor group_norm(torch::Tensor x, torch::Tensor gamma, torch::Tensor beta, int64_t groups, double eps);", cuda_sources=src, functions=["group_norm"], extra_cuda_cflags=["-O3"])

class ModelNew(nn.Module):
    def __init__(self, num_features, num_groups):
        super().__init__()
        self.gn = nn.GroupNorm(num_groups=num_groups, num_channels=num_features)

    def forward(self, x):
        return m.group_norm(x.contiguous(), self.gn.weight, self.gn.bias, self.gn.num_groups, self.gn.eps)
