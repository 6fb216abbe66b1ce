import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <cuda.h>
#include <cuda_runtime.h>
#define TILE 16
#define MAXK 7
__global__ void dw_kernel(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                          int C, int H, int W, int OH, int OW, int K, int stride, int pad) {
  extern __shared__ float smem[];
  const int in_tile = (TILE - 1) * stride + K;
  float* tile = smem;
  float* wk = smem + in_tile * in_tile;
  const int nc = blockIdx.z, c = nc % C;
  const int tid = threadIdx.y * TILE + threadIdx.x;
  if (tid < K * K) wk[tid] = w[c * K * K + tid];
  const int h0 = blockIdx.y * TILE * stride - pad, w0 = blockIdx.x * TILE * stride - pad;
  for (int i = tid; i < in_tile * in_tile; i += TILE * TILE) {
    int r = i / in_tile, s = i % in_tile;
    int ih = h0 + r, iw = w0 + s;
    tile[i] = (ih >= 0 && ih < H && iw >= 0 && iw < W) ? x[(nc * H + ih) * W + iw] : 0.0f;
  }
  __syncthreads();
  const int oh = blockIdx.y * TILE + threadIdx.y, ow = blockIdx.x * TILE + threadIdx.x;
  if (oh < OH && ow < OW) {
    float acc = 0.0f;
    for (int i = 0; i < K; ++i)
      for (int j = 0; j < K; ++j)
        acc += tile[(threadIdx.y * stride + i) * in_tile + threadIdx.x * stride + j] * wk[i * K + j];
    y[(nc * OH + oh) * OW + ow] = acc;
  }
}
torch::Tensor depthwise(torch::Tensor x, torch::Tensor w, int stride, int pad) {
  const int N = x.size(0), C = x.size(1), H = x.size(2), W = x.size(3), K = w.size(2);
  const int OH = (H + 2 * pad - K) / stride + 1, OW = (W + 2 * pad - K) / stride + 1;
  auto y = torch::empty({N, C, OH, OW}, x.options());
  dim3 threads(TILE, TILE);
  dim3 blocks((OW + TILE - 1) / TILE, (OH + TILE - 1) / TILE, N * C);
  const int in_tile = (TILE - 1) * stride + K;
  const size_t shmem = (in_tile * in_tile + K * K) * sizeof(float);
  dw_kernel<<<blocks, threads, shmem>>>(x.data_ptr<float>(), w.data_ptr<float>(), y.data_ptr<float>(), C, H, W, OH, OW, K, stride, pad);
  return y;
}
"""
m = load_inline(name="depthwise", cpp_sources="torch::Tensor depthwise(torch::Tensor x, torch::Tensor w, int stride, int pad);", cuda_sources=src, functions=["depthwise"])


class ModelNew(nn.Module):
    def __init__(self, in_channels, kernel_size, stride=1, padding=0, bias=False):
        super().__init__()
        self.conv2d = nn.Conv2d(in_channels, in_channels, kernel_size, stride=stride, padding=padding, groups=in_channels, bias=bias)
        self.stride, self.padding = stride, padding

    def forward(self, x):
        return m.depthwise(x.contiguous(), self.conv2d.weight.contiguous(), self.stride, self.padding)
