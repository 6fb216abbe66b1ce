// Four numbers quantised to 8 bits in one word, and two small integers, raised by 8, in the nibbles of one byte.
#include <cstdint>

extern "C" __global__ void packed_s8(const float4 *x_, const float *scale, const char2 *small, uint32_t *packed,
                                     uint8_t *nibbles, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 v = x_[i];
  const float x[4] = {v.x, v.y, v.z, v.w};
  uint32_t word = 0;
  for (int j = 0; j < 4; ++j) {
    const int q = max(-128, min(127, __float2int_rn(x[j] * scale[i])));
    word |= (q & 0xff) << (8 * j);
  }
  packed[i] = word;
  const char2 b = small[i];
  nibbles[i] = ((b.x + 8) & 15) | ((b.y + 8) & 15) << 4;
}
