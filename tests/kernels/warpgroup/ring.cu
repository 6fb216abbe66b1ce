// D = bf16(A B'), tile after tile: one warp copies, two warpgroups multiply 64 rows each and store together.
#include "copies.cuh"

constexpr int GROUPS = 2;

extern "C" __global__ __launch_bounds__(128 * GROUPS + 128, 1) void ring(
    const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
    const __grid_constant__ CUtensorMap d_map, int tiles, int steps) {
  __shared__ __align__(1024) __nv_bfloat16 a[STAGES][GROUPS * ROWS * DEPTH];
  __shared__ __align__(1024) __nv_bfloat16 b[STAGES][COLUMNS * DEPTH];
  __shared__ __align__(1024) __nv_bfloat16 d_tile[GROUPS * ROWS * COLUMNS];
  __shared__ __align__(8) uint64_t full[STAGES], empty[STAGES];
  const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
  if (warp == 0 && elected()) {
    for (int i = 0; i < STAGES; ++i) init(full + i, 1), init(empty + i, 4 * GROUPS);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  int stage = 0, phase = 0;
  if (warp >= 4 * GROUPS) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (warp == 4 * GROUPS && elected())
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x)
#pragma unroll 1
        for (int k = 0; k < steps; ++k) {
          wait(empty + stage, phase ^ 1);
          expect(full + stage, (GROUPS * ROWS + COLUMNS) * DEPTH * 2);
          load(a[stage], &a_map, full + stage, k * DEPTH, 0);
          load(b[stage], &b_map, full + stage, k * DEPTH, tile * COLUMNS);
          if (++stage == STAGES) stage = 0, phase ^= 1;
        }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int group = warp / 4;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      float d[8];
#pragma unroll 1
      for (int k = 0; k < steps; ++k) {
        wait(full + stage, phase);
        multiply(d, a[stage] + group * ROWS * DEPTH, b[stage], k > 0);
        if (lane == 0) arrive(empty + stage);
        if (++stage == STAGES) stage = 0, phase ^= 1;
      }
      if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
      sync(1, 128 * GROUPS);
      put(d, d_tile + warp * 16 * COLUMNS, lane);
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      sync(1, 128 * GROUPS);
      if (threadIdx.x == 0) store(&d_map, d_tile, tile * COLUMNS, 0);
    }
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
