// S[i] = max(k, abs(X[i, k])) / 127 and Q[i, j] = s8(round(X[i, j] / S[i])): what quantises activations row by row.
// A warp takes a row. Grid M, block 32, any N.
#include <cstdint>

extern "C" __global__ void row_scales_f32(const float *x, float *scale, int8_t *q, int n) {
  const float *row = x + blockIdx.x * n;
  float most = 0;
  for (int j = threadIdx.x; j < n; j += 32) most = fmaxf(most, fabsf(row[j]));
  for (int distance = 16; distance > 0; distance /= 2)
    most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, distance));
  if (threadIdx.x == 0) scale[blockIdx.x] = most / 127.0f;
  for (int j = threadIdx.x; j < n; j += 32)
    q[blockIdx.x * n + j] = (int8_t)min(max(__float2int_rn(row[j] * (127.0f / most)), -128), 127);
}
