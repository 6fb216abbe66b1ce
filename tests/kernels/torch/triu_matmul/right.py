import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
template <int TILE>
__global__ void triu_mm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int N) {
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int col = blockIdx.x * TILE + threadIdx.x;
  __shared__ float sA[TILE][TILE], sB[TILE][TILE];
  float sum = 0.f;
  for (int t = 0; t < (N + TILE - 1) / TILE; t++) {
    int ka = t * TILE + threadIdx.x, kb = t * TILE + threadIdx.y;
    sA[threadIdx.y][threadIdx.x] = (row < N && ka < N) ? __ldg(&A[row * N + ka]) : 0.f;
    sB[threadIdx.y][threadIdx.x] = (kb < N && col < N) ? __ldg(&B[kb * N + col]) : 0.f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; k++) sum = fmaf(sA[threadIdx.y][k], sB[k][threadIdx.x], sum);
    __syncthreads();
  }
  if (row < N && col < N) C[row * N + col] = (col >= row) ? sum : 0.f;
}
at::Tensor triu_mm_forward(const at::Tensor& A, const at::Tensor& B) {
  int N = A.size(0);
  auto C = at::empty_like(A);
  constexpr int T = 16;
  dim3 threads(T, T), blocks((N + T - 1) / T, (N + T - 1) / T);
  triu_mm<T><<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>(A.data_ptr<float>(), B.data_ptr<float>(), C.data_ptr<float>(), N);
  return C;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &triu_mm_forward, "triu(A @ B)"); }
"""
ext = load_inline(name="triu_mm", cpp_sources="", cuda_sources="#include <ATen/cuda/CUDAContext.h>\n" + src, verbose=False)

class ModelNew(nn.Module):
    def forward(self, A, B):
        return ext.forward(A.contiguous(), B.contiguous())
