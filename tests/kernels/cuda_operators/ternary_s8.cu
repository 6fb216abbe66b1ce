// C[i, j] = sum(k, X[i, k] * (W[j, k] - 1)) * sx[i] * sw of 8-bit activations and weights -1, 0 and 1, stored as 2-bit
// numbers one more, four a byte, the first in the low bits: a byte is spread to four, which dp4a takes. K multiple of 4.
// Grid (N / 32, M), block 32.
#include <cstdint>

extern "C" __global__ void ternary_s8(const uint32_t *x, const uint8_t *w, const float *sx, float *c, int n, int k,
                                      float sw) {
  const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y;
  int sum = 0;
  for (int step = 0; step < k / 4; ++step) {
    const uint32_t packed = w[column * (k / 4) + step];
    const uint32_t spread = packed & 0x3 | (packed & 0xc) << 6 | (packed & 0x30) << 12 | (packed & 0xc0) << 18;
    const uint32_t signs = __vsub4(spread, 0x01010101);
    sum = __dp4a((int)x[row * (k / 4) + step], (int)signs, sum);
  }
  c[row * n + column] = sum * sx[row] * sw;
}
