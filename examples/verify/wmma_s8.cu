// C[i, j] = sum(k, A[i, k] * B[k, j]); A row-major, B column-major s8, C row-major s32. A warp makes a 16x16 tile
// of C, a block 16x64; M multiple of 16, N of 64, K of 16. Grid (N / 64, M / 16), block 128.
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void wmma_s8(const signed char *a, const signed char *b, int *c, int n, int k) {
  const int row = blockIdx.y * 16;
  const int column = (blockIdx.x * 4 + threadIdx.x / 32) * 16;

  wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
  wmma::fill_fragment(sum, 0);
  for (int step = 0; step < k; step += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> y;
    wmma::load_matrix_sync(x, a + row * k + step, k);
    wmma::load_matrix_sync(y, b + column * k + step, k);
    wmma::mma_sync(sum, x, y, sum);
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
