// Rotary embeddings with angles of positions: pairs (x, y) are turned by position * frequency, with sincosf.
#include <cmath>

extern "C" __global__ void rotary_positions_f32(const float2 *x, const int *position, const float *frequency,
                                                float2 *y, int pairs, int h) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  const float angle = position[i / h] * frequency[i % h];
  float s, c;
  sincosf(angle, &s, &c);
  const float2 v = x[i];
  y[i] = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
}
