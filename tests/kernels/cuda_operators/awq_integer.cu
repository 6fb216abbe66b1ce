// W'[k, i] = (W[k, i] - Z[g, i]) * scale[g, i], as awq_f16, by integers: shifts by the place of each column in a word,
// a difference, and its conversion. Grid (N / 8 / 32, K), block 32.
#include <cstdint>
#include <cuda_fp16.h>

extern "C" __global__ void awq_integer(const uint32_t *w, const uint32_t *zeros, const half *scales, half *out,
                                       int n) {
  const int word = blockIdx.x * 32 + threadIdx.x, k = blockIdx.y, group = k / 8;
  const uint32_t weights = w[k * (n / 8) + word], zero_points = zeros[group * (n / 8) + word];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int place = 4 * (i / 2 + i % 2 * 4);
    const int q = (weights >> place) & 0xf, z = (zero_points >> place) & 0xf;
    const int column = word * 8 + i;
    out[k * n + column] = __hmul(__int2half_rn(q - z), scales[group * n + column]);
  }
}
