// f32 to bf16 by the bits: cut off, to nearest even with and without a case for NaNs, halves up, and by random bits.
#include <cstdint>

extern "C" __global__ void narrowed_bf16(const float *x, const uint16_t *random, uint16_t *cut, uint16_t *even,
                                         uint16_t *quiet, uint16_t *half_up, uint16_t *drawn, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uint32_t u = __float_as_uint(x[i]);
  const uint32_t nearest = (u + 0x7fff + ((u >> 16) & 1)) >> 16;
  cut[i] = u >> 16;
  even[i] = nearest;
  quiet[i] = (u & 0x7fffffff) > 0x7f800000 ? (u >> 16) | 0x40 : nearest;
  half_up[i] = (u + 0x8000) >> 16;
  drawn[i] = (u + random[i]) >> 16;
}
