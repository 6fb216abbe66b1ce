// C = A * B by mma.sp with 2:4 structured sparsity: of four neighbours in a row of A at most two are stored, X
// (row-major f16, K / 2 columns), and E says which: C[i, j] = sum(s, X[i, s] * B[s / 2 * 4 + E[i, s], j]).
// E has two bits an element, 16 a word, low bits first; B column-major f16, C row-major f32.
// A warp makes a 16x8 tile of C, a block 16x32; M multiple of 16, N of 32, K of 32. Grid (N / 32, M / 16), block 128.
#include <cstdint>
#include <cuda_fp16.h>

extern "C" __global__ void mma_sparse_f16(const uint32_t *x, const uint32_t *e, const uint32_t *b, float *c, int n,
                                          int k) {
  const int lane = threadIdx.x % 32, group = lane / 4, member = lane % 4;
  const int row = blockIdx.y * 16 + group, column = (blockIdx.x * 4 + threadIdx.x / 32) * 8;
  const int x_words = k / 4, e_words = k / 32, b_words = k / 2;

  float sum[4] = {};
  for (int step = 0; step < e_words; ++step) {
    const uint32_t *values = x + row * x_words + step * 8 + member, *values8 = values + 8 * x_words;
    const uint32_t *y = b + (column + group) * b_words + step * 16 + member;
    // Selector 0: of the four threads of a group the first has chunks 0 to 3 of both rows, the second 4 to 7.
    const uint32_t metadata = __byte_perm(e[row * e_words + step], e[(row + 8) * e_words + step],
                                          member % 2 ? 0x7632 : 0x5410);
    asm("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x0;"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(values[0]), "r"(values8[0]), "r"(values[4]), "r"(values8[4]), "r"(y[0]), "r"(y[4]), "r"(y[8]),
          "r"(y[12]), "r"(metadata));
  }

  float *place = c + row * n + column + member * 2;
  place[0] = sum[0];
  place[1] = sum[1];
  place[8 * n] = sum[2];
  place[8 * n + 1] = sum[3];
}
