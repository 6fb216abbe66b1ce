// Y[i] = sum(k, X[k] * (W[k, i] - (Z[g, i] + 1)) * scale[g, i]), g = k / 16, as GPTQ packs it: eight weights of
// four bits along k in a word, low nibble first; eight zero points along i in a word, each less by 1; scales f16.
// Integers all the way: (float)(q - z). A thread makes one element; N a multiple of 32. Grid N / 32, block 32.
#include <cstdint>
#include <cuda_fp16.h>

extern "C" __global__ void gptq_f32(const float *x, const uint32_t *w, const uint32_t *zeros, const half *scales,
                                    float *y, int n, int k) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int group = 0; group < k / 16; ++group) {
    const int zero = ((zeros[(group * n + column) / 8] >> (column % 8 * 4)) & 0xf) + 1;
    const float scale = __half2float(scales[group * n + column]);
    for (int step = 0; step < 2; ++step) {
      const uint32_t word = w[(group * 2 + step) * n + column];
      for (int i = 0; i < 8; ++i) {
        const int q = (word >> (i * 4)) & 0xf;
        sum += x[(group * 2 + step) * 8 + i] * (scale * (float)(q - zero));
      }
    }
  }
  y[column] = sum;
}
