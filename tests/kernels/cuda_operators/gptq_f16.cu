// Y[i] = sum(k, X[k] * (W[k, i] - (Z[g, i] + 1)) * scale[g, i]) as gptq_f32, with weights that are numbers of f16:
// __hmul(__int2half_rn(q - z), scale), each rounded; the sum is of f32. Grid N / 32, block 32.
#include <cstdint>
#include <cuda_fp16.h>

extern "C" __global__ void gptq_f16(const half *x, const uint32_t *w, const uint32_t *zeros, const half *scales,
                                    float *y, int n, int k) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int group = 0; group < k / 16; ++group) {
    const int zero = ((zeros[(group * n + column) / 8] >> (column % 8 * 4)) & 0xf) + 1;
    const half scale = scales[group * n + column];
    for (int step = 0; step < 2; ++step) {
      const uint32_t word = w[(group * 2 + step) * n + column];
      for (int i = 0; i < 8; ++i) {
        const int q = (word >> (i * 4)) & 0xf;
        const half weight = __hmul(__int2half_rn(q - zero), scale);
        sum = fmaf(__half2float(x[(group * 2 + step) * 8 + i]), __half2float(weight), sum);
      }
    }
  }
  y[column] = sum;
}
