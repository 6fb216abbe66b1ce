// C = alpha A B of f16, row-major, in two launches: every slice of K has a product of its own in a workspace, as f32,
// which the second kernel adds up. A warp makes a 16x16 tile of a slice; K multiple of 16 times the slices. Grid
// (n / 64, m / 16, slices), block 128; then (m n / 128), block 128.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void partial(const half *a, const half *b, float *partials, int m, int n, int k) {
  const int row = blockIdx.y * 16, column = blockIdx.x * 64 + threadIdx.x / 32 * 16, slice = k / gridDim.z;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int step = blockIdx.z * slice; step < (blockIdx.z + 1) * slice; step += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y;
    wmma::load_matrix_sync(x, a + row * k + step, k);
    wmma::load_matrix_sync(y, b + step * n + column, n);
    wmma::mma_sync(sum, x, y, sum);
  }
  wmma::store_matrix_sync(partials + (blockIdx.z * m + row) * n + column, sum, n, wmma::mem_row_major);
}

extern "C" __global__ void reduce(const float *partials, half *c, int size, int slices, float alpha) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  float sum = 0.0f;
  for (int slice = 0; slice < slices; ++slice) sum += partials[slice * size + i];
  c[i] = __float2half(alpha * sum);
}
