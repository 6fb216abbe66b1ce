// C[i, j] = sum(k, A[i, k] * B[k, j]); A, B, C row-major, f16 to f32. A warp makes a 16x16 tile of C,
// a block 32x32; M, N multiples of 32, K of 16. Grid (N / 32, M / 32), block 128.
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void wmma_f16(const half *a, const half *b, float *c, int n, int k) {
  const int warp = threadIdx.x / 32;
  const int row = blockIdx.y * 32 + warp / 2 * 16;
  const int column = blockIdx.x * 32 + warp % 2 * 16;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int step = 0; step < k; step += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y;
    wmma::load_matrix_sync(x, a + row * k + step, k);
    wmma::load_matrix_sync(y, b + step * n + column, n);
    wmma::mma_sync(sum, x, y, sum);
  }
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
