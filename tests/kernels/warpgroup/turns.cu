// D = bf16(A B'): two warpgroups take turns at the tensor cores, each with every other tile of 16 columns of its own.
#include "copies.cuh"

struct Arguments {
  CUtensorMap a_map, b_map, d_map;
  int tiles, steps;
};

extern "C" __global__ __launch_bounds__(384, 1) void turns(const __grid_constant__ Arguments given) {
  __shared__ __align__(1024) __nv_bfloat16 a[STAGES][ROWS * DEPTH];
  __shared__ __align__(1024) __nv_bfloat16 b[STAGES][COLUMNS * DEPTH];
  __shared__ __align__(1024) __nv_bfloat16 d_tile[2][ROWS * COLUMNS];
  __shared__ __align__(8) uint64_t full[STAGES], empty[STAGES];
  const int group = __shfl_sync(~0u, threadIdx.x / 128, 0), thread = threadIdx.x % 128;
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) init(full + i, 1), init(empty + i, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (group == 2) {
    if (thread == 0)
      for (int i = 0; i < given.tiles * given.steps; ++i) {
        wait(empty + i % STAGES, i / STAGES % 2 ^ 1);
        expect(full + i % STAGES, (ROWS + COLUMNS) * DEPTH * 2);
        load(a[i % STAGES], &given.a_map, full + i % STAGES, i % given.steps * DEPTH, 0);
        load(b[i % STAGES], &given.b_map, full + i % STAGES, i % given.steps * DEPTH, i / given.steps * COLUMNS);
      }
    return;
  }
  if (group == 1) turn(1, 256);
  for (int tile = group; tile < given.tiles; tile += 2) {
    float d[8];
    sync(1 + group, 256);
#pragma unroll 1
    for (int k = 0; k < given.steps; ++k) {
      const int i = tile * given.steps + k;
      wait(full + i % STAGES, i / STAGES % 2);
      multiply(d, a[i % STAGES], b[i % STAGES], k > 0);
      if (thread == 0) arrive(empty + i % STAGES);
    }
    if (tile + 1 < given.tiles) turn(2 - group, 256);
    if (thread == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    sync(3 + group, 128);
    put(d, d_tile[group] + thread / 32 * 16 * COLUMNS, thread % 32);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    sync(3 + group, 128);
    if (thread == 0) store(&given.d_map, d_tile[group], tile * COLUMNS, 0);
  }
  if (thread == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
