// C[i, j] = sum(k, A[i, k] * B[k, j]); A row-major, B column-major s4, eight elements a word, low nibble first;
// C row-major s32, by mma.sync.m16n8k64. A warp makes a 16x8 tile of C, a block 16x32;
// M multiple of 16, N of 32, K of 64. Grid (N / 32, M / 16), block 128.
#include <cstdint>

extern "C" __global__ void mma_s4(const uint32_t *a, const uint32_t *b, int *c, int n, int k) {
  const int lane = threadIdx.x % 32, group = lane / 4, member = lane % 4;
  const int row = blockIdx.y * 16, column = (blockIdx.x * 4 + threadIdx.x / 32) * 8;
  const int words = k / 8;

  int sum[4] = {};
  for (int word = member; word < words; word += 8) {
    const uint32_t *x = a + (row + group) * words + word, *x8 = x + 8 * words;
    const uint32_t *y = b + (column + group) * words + word;
    asm("mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(x[0]), "r"(x8[0]), "r"(x[4]), "r"(x8[4]), "r"(y[0]), "r"(y[4]));
  }

  int *place = c + (row + group) * n + column + member * 2;
  place[0] = sum[0];
  place[1] = sum[1];
  place[8 * n] = sum[2];
  place[8 * n + 1] = sum[3];
}
