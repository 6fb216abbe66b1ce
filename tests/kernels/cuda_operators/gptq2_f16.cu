// C[i, j] = sum(k, A[i, k] * (W[j, k] - Z[k // 32, j]) * scale[k // 32, j]) of unsigned 2-bit weights, sixteen a word,
// the first in the low bits, and zero points of two bits, for each column and group of 32. A pair of weights becomes
// f16 by the magic number 0x6400, which is 1024: its low bits count ones, bits 2 and 3 fours, 4 and 5 sixteens, 6 and 7
// sixty-fours. A warp makes a 16x8 tile; M multiple of 16, N of 32, K of 64. Grid (N / 32, M / 16), block 128.
//
// An mma may take the elements of K in any order, if A and B take the same: weights 8 apart share a mask.
#include <cstdint>
#include <cuda_fp16.h>

template <int PLACE> __device__ inline half2 widened(uint32_t word, half2 zero) {
  uint32_t pair;
  asm("lop3.b32 %0, %1, %2, %3, 0xEA;" : "=r"(pair) : "r"(word), "n"(0x00030003 << 2 * PLACE), "n"(0x64006400));
  half2 found = *reinterpret_cast<half2 *>(&pair);  // 1024 + 4^PLACE v
  found = __hfma2(found, __float2half2_rn(1.0f / (1 << 2 * PLACE)), __float2half2_rn(-1024.0f / (1 << 2 * PLACE)));
  return __hsub2(found, zero);
}

__device__ inline void multiply(float *sum, const half *x, const half *x8, half2 b0, half2 b1) {
  // Columns of A in the order in which the word's weights are masked: i and i + 8, i + 1 and i + 9.
  const half2 a0 = __halves2half2(x[0], x[8]), a1 = __halves2half2(x8[0], x8[8]);
  const half2 a2 = __halves2half2(x[1], x[9]), a3 = __halves2half2(x8[1], x8[9]);
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(*reinterpret_cast<const uint32_t *>(&a0)), "r"(*reinterpret_cast<const uint32_t *>(&a1)),
        "r"(*reinterpret_cast<const uint32_t *>(&a2)), "r"(*reinterpret_cast<const uint32_t *>(&a3)),
        "r"(*reinterpret_cast<const uint32_t *>(&b0)), "r"(*reinterpret_cast<const uint32_t *>(&b1)));
}

extern "C" __global__ void gptq2_f16(const half *a, const uint32_t *w, const uint32_t *zeros, const half *scales,
                                     float *c, int n, int k) {
  const int lane = threadIdx.x % 32, group = lane / 4, member = lane % 4;
  const int row = blockIdx.y * 16 + group, tile = (blockIdx.x * 4 + threadIdx.x / 32) * 8, column = tile + group;

  float total[4] = {};
  for (int step = 0; step < k; step += 64) {  // each thread of four takes a word
    float sum[4] = {};
    const int first = step + member * 16;
    const uint32_t word = w[(column * k + first) / 16];
    const int of_group = first / 32 * n + column;
    const half2 zero = __half2half2(__int2half_rn(zeros[of_group / 16] >> of_group % 16 * 2 & 3));
    const half2 scale = __half2half2(scales[of_group]);
    const half *x = a + row * k + first, *x8 = x + 8 * k;
    multiply(sum, x, x8, __hmul2(widened<0>(word, zero), scale), __hmul2(widened<1>(word, zero), scale));
    multiply(sum, x + 2, x8 + 2, __hmul2(widened<2>(word, zero), scale), __hmul2(widened<3>(word, zero), scale));
    multiply(sum, x + 4, x8 + 4, __hmul2(widened<0>(word >> 8, zero), scale),
             __hmul2(widened<1>(word >> 8, zero), scale));
    multiply(sum, x + 6, x8 + 6, __hmul2(widened<2>(word >> 8, zero), scale),
             __hmul2(widened<3>(word >> 8, zero), scale));
    for (int i = 0; i < 4; ++i) total[i] += sum[i];
  }

  float *out = c + row * n + tile + member * 2;
  *reinterpret_cast<float2 *>(out) = make_float2(total[0], total[1]);
  *reinterpret_cast<float2 *>(out + 8 * n) = make_float2(total[2], total[3]);
}
