// Y[i] = sum(k, X[i, k]), each lane with Kahan's compensation, then lanes add what they have, compensations too. A warp takes a
// row. Grid M, block 32, any N. Compiled without contraction, as with -ffast-math no compensation would be left.
extern "C" __global__ void kahan_sum_f32(const float *x, float *y, int n) {
  const float *row = x + blockIdx.x * n;
  float sum = 0, lost = 0;
  for (int j = threadIdx.x; j < n; j += 32) {
    const float one = row[j] - lost;
    const float next = sum + one;
    lost = (next - sum) - one;
    sum = next;
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    const float other = __shfl_xor_sync(0xffffffff, sum, distance);
    const float one = other - (lost + __shfl_xor_sync(0xffffffff, lost, distance));
    const float next = sum + one;
    lost = (next - sum) - one;
    sum = next;
  }
  if (threadIdx.x == 0) y[blockIdx.x] = sum - lost;
}
