// y[i] = sum(k, A[i, k] * x[k]); A row-major f32, K a multiple of 4. A warp makes one element of y from partial sums
// by shuffles; grid ceil(M / 4), block 128.
extern "C" __global__ void shuffled_gemv_f32(const float4 *a, const float4 *x, float *y, int m, int k) {
  const int lane = threadIdx.x % 32, row = blockIdx.x * 4 + threadIdx.x / 32;
  if (row >= m) return;

  float sum = 0.0f;
  for (int i = lane; i < k / 4; i += 32) {
    const float4 p = a[row * (k / 4) + i], q = x[i];
    sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
  }
  for (int distance = 16; distance; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
  if (lane == 0) y[row] = sum;
}
