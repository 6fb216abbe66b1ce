// Y[i, j] = f16(silu(G[i, j]) * G[i, N + j]), both halves of a row of 2 N numbers of f16. Grid M, block 32, any N.
#include <cuda_fp16.h>

extern "C" __global__ void swiglu_f16(const half *g, half *y, int n) {
  const half *gate = g + blockIdx.x * 2 * n, *up = gate + n;
  for (int j = threadIdx.x; j < n; j += 32) {
    const float x = __half2float(gate[j]);
    y[blockIdx.x * n + j] = __float2half_rn(x / (1.0f + expf(-x)) * __half2float(up[j]));
  }
}
