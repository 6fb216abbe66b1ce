// C[i, j] = sum(k, A[i, k] * (W[j, k] - Z[j]) * scale[j]) of unsigned 8-bit weights, four a word, with a zero point for
// each column. prmt puts a byte below 0x64, which is 1024 + q as f16, two at a time. Grid (N / 32, M), block 32.
#include <cstdint>
#include <cuda_fp16.h>

__device__ inline half2 widened(uint32_t word, uint32_t selector) {
  uint32_t pair;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(pair) : "r"(word), "r"(0x64646464), "r"(selector));
  asm("sub.f16x2 %0, %1, %2;" : "=r"(pair) : "r"(pair), "r"(0x64006400));
  return *reinterpret_cast<half2 *>(&pair);
}

extern "C" __global__ void w8a16_f32(const half *a, const uint32_t *w, const uint8_t *zeros, const float *scales,
                                     float *c, int n, int k) {
  const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y;
  const half2 zero = __half2half2(__int2half_rn(zeros[column]));
  float sum = 0;
  for (int step = 0; step < k; step += 4) {
    const uint32_t word = w[(column * k + step) / 4];
    const half2 low = __hsub2(widened(word, 0x4140), zero), high = __hsub2(widened(word, 0x4342), zero);
    const half2 *x = reinterpret_cast<const half2 *>(a + row * k + step);
    const float2 x0 = __half22float2(x[0]), x1 = __half22float2(x[1]);
    const float2 w0 = __half22float2(low), w1 = __half22float2(high);
    sum += x0.x * w0.x + x0.y * w0.y + x1.x * w1.x + x1.y * w1.y;
  }
  c[row * n + column] = sum * scales[column];
}
