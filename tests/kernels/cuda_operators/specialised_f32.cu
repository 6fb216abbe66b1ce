// C[i, j] = sum(k, A[i, k] * B[k, j]); the first warp copies tiles to stages, four warps compute. Of each stage a barrier object
// says when it is full and one when it is empty; the parity of the round tells their phases. Block 160, grid (n / 8, m / 16).
#include <cstdint>

__device__ void make(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

__device__ void arrive(uint32_t barrier) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(barrier) : "memory");
}

__device__ void arrive_when_copied(uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}

__device__ void wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n .reg .pred over;\n"
      "AGAIN:\n mbarrier.test_wait.parity.shared.b64 over, [%0], %1;\n @over bra DONE;\n bra AGAIN;\n"
      "DONE:\n }" ::"r"(barrier), "r"(parity) : "memory");
}

__device__ void copy(const void *to, const void *from) {
  const uint32_t place = __cvta_generic_to_shared(to);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from) : "memory");
}

constexpr int STAGES = 3, DEPTH = 8;

extern "C" __global__ void __launch_bounds__(160)
    specialised_f32(const float *a, const float *b, float *c, int n, int k) {
  __shared__ alignas(16) float a_tile[STAGES][16][DEPTH], b_tile[STAGES][DEPTH][8];
  __shared__ uint64_t barriers[2 * STAGES];
  const uint32_t full = __cvta_generic_to_shared(barriers), empty = full + 8 * STAGES;
  if (threadIdx.x == 0)
    for (int stage = 0; stage < STAGES; ++stage) make(full + 8 * stage, 32), make(empty + 8 * stage, 128);
  __syncthreads();
  const int rows = blockIdx.y * 16, columns = blockIdx.x * 8, lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int step = 0; step < k / DEPTH; ++step) {
      const int stage = step % STAGES, parity = step / STAGES & 1;
      wait(empty + 8 * stage, parity ^ 1);
      copy(&a_tile[stage][lane / 2][lane % 2 * 4], &a[(rows + lane / 2) * k + step * DEPTH + lane % 2 * 4]);
      if (lane < 16) copy(&b_tile[stage][lane / 2][lane % 2 * 4], &b[(step * DEPTH + lane / 2) * n + columns + lane % 2 * 4]);
      arrive_when_copied(full + 8 * stage);
    }
  } else {
    const int row = (threadIdx.x - 32) / 8, column = threadIdx.x % 8;
    float sum = 0;
    for (int step = 0; step < k / DEPTH; ++step) {
      const int stage = step % STAGES, parity = step / STAGES & 1;
      wait(full + 8 * stage, parity);
      for (int i = 0; i < DEPTH; ++i) sum = fmaf(a_tile[stage][row][i], b_tile[stage][i][column], sum);
      arrive(empty + 8 * stage);
    }
    c[(rows + row) * n + columns + column] = sum;
  }
}
