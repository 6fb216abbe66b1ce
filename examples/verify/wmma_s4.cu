// C[i, j] = sum(k, A[i, k] * B[k, j]); A row-major, B column-major s4, two elements a byte, low nibble first;
// C row-major s32. A warp makes an 8x8 tile of C, a block 16x16; M, N multiples of 16, K of 32.
// Grid (N / 16, M / 16), block 128.
#include <mma.h>
using namespace nvcuda;
using s4 = wmma::experimental::precision::s4;

extern "C" __global__ void wmma_s4(const unsigned char *a, const unsigned char *b, int *c, int n, int k) {
  const int warp = threadIdx.x / 32;
  const int row = blockIdx.y * 16 + warp / 2 * 8;
  const int column = blockIdx.x * 16 + warp % 2 * 8;

  wmma::fragment<wmma::accumulator, 8, 8, 32, int> sum;
  wmma::fill_fragment(sum, 0);
  for (int step = 0; step < k; step += 32) {
    wmma::fragment<wmma::matrix_a, 8, 8, 32, s4, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 8, 8, 32, s4, wmma::col_major> y;
    wmma::load_matrix_sync(x, a + (row * k + step) / 2, k);
    wmma::load_matrix_sync(y, b + (column * k + step) / 2, k);
    wmma::mma_sync(sum, x, y, sum);
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
