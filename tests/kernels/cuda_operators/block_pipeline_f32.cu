// C[i, j] = sum(k, A[i, k] * B[k, j]); tiles of 16 x 16 in two stages of a cuda::pipeline of the block: every thread copies an
// element of each tile and reads what the others copied. Block 256, grid (n / 16, m / 16).
#include <cooperative_groups.h>
#include <cuda/pipeline>

extern "C" __global__ void __launch_bounds__(256)
    block_pipeline_f32(const float *a, const float *b, float *c, int n, int k) {
  constexpr int STAGES = 2;
  __shared__ float a_tile[STAGES][16][16], b_tile[STAGES][16][16];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
  auto pipeline = cuda::make_pipeline(cooperative_groups::this_thread_block(), &state);
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x, steps = k / 16;
  float sum = 0;
  for (int step = 0, copied = 0; step < steps; ++step) {
    for (; copied < steps && copied < step + STAGES; ++copied) {
      const int stage = copied % STAGES;
      pipeline.producer_acquire();
      cuda::memcpy_async(&a_tile[stage][y][x], &a[row * k + copied * 16 + x], sizeof(float), pipeline);
      cuda::memcpy_async(&b_tile[stage][y][x], &b[(copied * 16 + y) * n + column], sizeof(float), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    const int stage = step % STAGES;
    for (int i = 0; i < 16; ++i) sum = fmaf(a_tile[stage][y][i], b_tile[stage][i][x], sum);
    pipeline.consumer_release();
  }
  c[row * n + column] = sum;
}
