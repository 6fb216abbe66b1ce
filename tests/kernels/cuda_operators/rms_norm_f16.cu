// Y[i, j] = f16(X[i, j] * W[j] / sqrt(sum(k, X[i, k]^2) / N + 1e-6)) of rows of f16, two at a time; sums of f32, by
// shuffles. A warp takes a row, N a multiple of 64. Grid M, block 32.
#include <cuda_fp16.h>

extern "C" __global__ void rms_norm_f16(const half2 *x, const half2 *w, half2 *y, int n) {
  const half2 *row = x + blockIdx.x * (n / 2);
  float squares = 0;
  for (int j = threadIdx.x; j < n / 2; j += 32) {
    const float2 pair = __half22float2(row[j]);
    squares += pair.x * pair.x + pair.y * pair.y;
  }
  for (int distance = 16; distance > 0; distance /= 2)
    squares += __shfl_xor_sync(0xffffffff, squares, distance);
  const float scale = rsqrtf(squares / n + 1e-6f);
  for (int j = threadIdx.x; j < n / 2; j += 32) {
    const float2 pair = __half22float2(row[j]), weight = __half22float2(w[j]);
    y[blockIdx.x * (n / 2) + j] = __floats2half2_rn(pair.x * scale * weight.x, pair.y * scale * weight.y);
  }
}
