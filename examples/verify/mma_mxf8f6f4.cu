// C[i, j] = sum(k, A[i, k] * SA[i, k / 32] * B[k, j] * SB[j, k / 32]); A row-major e4m3, B column-major e5m2, a byte
// each; SA, SB (row-major) ue8m0, C row-major f32. A warp makes a 16x8 tile of C;
// M multiple of 16, N of 32, K of 128. Grid (N / 32, M / 16), block 128.
// A word of scales serves four instructions, by byte ids 0 to 3.
#include <cstdint>

template <int BYTE>
__device__ inline void multiply(float *sum, const uint32_t *x, const uint32_t *x8, const uint32_t *y,
                                uint32_t scale_a, uint32_t scale_b) {
  asm("mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e5m2.f32.ue8m0 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, %10, {%12, 0}, %11, {%12, 0};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(x[0]), "r"(x8[0]), "r"(x[4]), "r"(x8[4]), "r"(y[0]), "r"(y[4]), "r"(scale_a), "r"(scale_b), "n"(BYTE));
}

extern "C" __global__ void mma_mxf8f6f4(const uint32_t *a, const uint32_t *b, const uint32_t *sa,
                                        const uint32_t *sb, float *c, int n, int k) {
  const int lane = threadIdx.x % 32, group = lane / 4, member = lane % 4;
  const int row = blockIdx.y * 16, column = (blockIdx.x * 4 + threadIdx.x / 32) * 8;
  const int words = k / 4, scale_words = k / 128;

  float sum[4] = {};
  for (int step = 0; step < scale_words; ++step) {
    const uint32_t *x = a + (row + group) * words + step * 32 + member, *x8 = x + 8 * words;
    const uint32_t *y = b + (column + group) * words + step * 32 + member;
    // Thread id 0: A's scales come from two threads of four, one a row; B's from the first of four.
    const uint32_t scale_a = sa[(row + group + member % 2 * 8) * scale_words + step];
    const uint32_t scale_b = sb[(column + group) * scale_words + step];
    multiply<0>(sum, x, x8, y, scale_a, scale_b);
    multiply<1>(sum, x + 8, x8 + 8, y + 8, scale_a, scale_b);
    multiply<2>(sum, x + 16, x8 + 16, y + 16, scale_a, scale_b);
    multiply<3>(sum, x + 24, x8 + 24, y + 24, scale_a, scale_b);
  }

  float *place = c + (row + group) * n + column + member * 2;
  place[0] = sum[0];
  place[1] = sum[1];
  place[8 * n] = sum[2];
  place[8 * n + 1] = sum[3];
}
