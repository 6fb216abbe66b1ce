// Prefix sums of rows: within warps by shuffles, then of the warps' totals. Grid M, block 128.
extern "C" __global__ void prefix_sums_f32(const float *x, float *y, int n) {
  __shared__ float totals[4];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  float sum = threadIdx.x < n ? x[blockIdx.x * n + threadIdx.x] : 0.0f;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    float before = __shfl_up_sync(0xffffffffu, sum, step);
    if (lane >= step) sum += before;
  }
  if (lane == 31) totals[warp] = sum;
  __syncthreads();
  for (int w = 0; w < warp; ++w) sum += totals[w];
  if (threadIdx.x < n) y[blockIdx.x * n + threadIdx.x] = sum;
}
