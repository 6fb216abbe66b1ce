// D[i, j] = alpha * sum(k, A[i, k] * B[k, j]) + beta * C[i, j]; A row-major, B column-major, C, D row-major f32,
// tiles of 16x32 staged through shared memory. A block of one warp makes 16x16 of D;
// M, N multiples of 16, K of 32. Grid (N / 16, M / 16), block 32.
// Every element of a fragment is treated alike, so it doesn't matter which is where.
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void wmma_f16_scaled(const half *a, const half *b, const float *c, float *d, int n, int k,
                                           float alpha, float beta) {
  __shared__ __align__(32) half a_tile[16][32 + 16];
  __shared__ __align__(32) half b_tile[16][32 + 16];
  const int row = blockIdx.y * 16, column = blockIdx.x * 16, lane = threadIdx.x;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, other;
  wmma::fill_fragment(sum, 0.0f);
  for (int step = 0; step < k; step += 32) {
    __syncthreads();
    for (int line = 0; line < 16; ++line) {
      a_tile[line][lane] = a[(row + line) * k + step + lane];
      b_tile[line][lane] = b[(column + line) * k + step + lane];
    }
    __syncthreads();
    for (int inner = 0; inner < 32; inner += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y;
      wmma::load_matrix_sync(x, &a_tile[0][inner], 32 + 16);
      wmma::load_matrix_sync(y, &b_tile[0][inner], 32 + 16);
      wmma::mma_sync(sum, x, y, sum);
    }
  }
  wmma::load_matrix_sync(other, c + row * n + column, n, wmma::mem_row_major);
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = alpha * sum.x[i] + beta * other.x[i];
  wmma::store_matrix_sync(d + row * n + column, sum, n, wmma::mem_row_major);
}
