// C[i, j] = sum(k, A[i, k] * W[j, k]) * scale[j] of signed 4-bit weights, two a byte, low nibble first: a nibble is
// shifted to the top of a word and back, which extends its sign, and converted. Grid (N / 32, M), block 32.
#include <cstdint>

extern "C" __global__ void s4_f32(const float *a, const int8_t *w, const float *scales, float *c, int n, int k) {
  const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y;
  float sum = 0;
  for (int step = 0; step < k; step += 2) {
    const int8_t pair = w[(column * k + step) / 2];
    const int low = (int)((unsigned)pair << 28) >> 28, high = pair >> 4;
    sum += a[row * k + step] * (float)low;
    sum += a[row * k + step + 1] * (float)high;
  }
  c[row * n + column] = sum * scales[column];
}
