// C[i, j] = sum(k, A[i, k] * B[k, j]); tiles of 16 x 16, cuda::barrier in place of __syncthreads(): all threads arrive and
// wait together before a tile is read, and arrive, load the next elements and wait behind it. Block 256, grid (n / 16, m / 16).
#include <cuda/barrier>
#include <cuda/std/utility>

using Barrier = cuda::barrier<cuda::thread_scope_block>;

extern "C" __global__ void __launch_bounds__(256)
    block_barrier_f32(const float *a, const float *b, float *c, int n, int k) {
  __shared__ float a_tile[16][16], b_tile[16][16];
  __shared__ Barrier barrier;
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  if (threadIdx.x == 0) init(&barrier, 256);
  __syncthreads();
  float sum = 0, a_next = a[row * k + x], b_next = b[y * n + column];
  for (int step = 0; step < k; step += 16) {
    a_tile[y][x] = a_next, b_tile[y][x] = b_next;
    barrier.arrive_and_wait();
    for (int i = 0; i < 16; ++i) sum = fmaf(a_tile[y][i], b_tile[i][x], sum);
    auto token = barrier.arrive();
    if (step + 16 < k) a_next = a[row * k + step + 16 + x], b_next = b[(step + 16 + y) * n + column];
    barrier.wait(cuda::std::move(token));
  }
  c[row * n + column] = sum;
}
