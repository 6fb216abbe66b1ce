// C[i, j] = sum(k, A[i, k] * B[k, j]); the first warp loads tiles to two stages, four warps compute. Named barriers of 160
// threads say of each stage that it is full (1 and 2) or empty (3 and 4): who need not wait only arrives. Block 160, grid (n / 8, m / 16).
__device__ void synchronise(int barrier) { asm volatile("barrier.sync %0, 160;" ::"r"(barrier) : "memory"); }

__device__ void arrive(int barrier) { asm volatile("barrier.arrive %0, 160;" ::"r"(barrier) : "memory"); }

constexpr int STAGES = 2, DEPTH = 8;

extern "C" __global__ void __launch_bounds__(160)
    named_barriers_f32(const float *a, const float *b, float *c, int n, int k) {
  __shared__ float a_tile[STAGES][16][DEPTH], b_tile[STAGES][DEPTH][8];
  const int rows = blockIdx.y * 16, columns = blockIdx.x * 8, lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int step = 0; step < k / DEPTH; ++step) {
      const int stage = step % STAGES;
      if (step >= STAGES) synchronise(3 + stage);
      for (int i = 0; i < 4; ++i) a_tile[stage][lane / 8 + 4 * i][lane % 8] = a[(rows + lane / 8 + 4 * i) * k + step * DEPTH + lane % 8];
      for (int i = 0; i < 2; ++i) b_tile[stage][lane / 8 + 4 * i][lane % 8] = b[(step * DEPTH + lane / 8 + 4 * i) * n + columns + lane % 8];
      arrive(1 + stage);
    }
  } else {
    const int row = (threadIdx.x - 32) / 8, column = threadIdx.x % 8;
    float sum = 0;
    for (int step = 0; step < k / DEPTH; ++step) {
      const int stage = step % STAGES;
      synchronise(1 + stage);
      for (int i = 0; i < DEPTH; ++i) sum = fmaf(a_tile[stage][row][i], b_tile[stage][i][column], sum);
      if (step + STAGES < k / DEPTH) arrive(3 + stage);
    }
    c[(rows + row) * n + columns + column] = sum;
  }
}
