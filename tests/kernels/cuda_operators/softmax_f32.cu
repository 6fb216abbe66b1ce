// Y[i, j] = exp(X[i, j]) / sum(k, exp(X[i, k])): a block takes a row, its maximum and its sum by shuffles of warps and
// by shared memory. Grid M, block 64, any N.
#include <cmath>

__device__ inline float greatest(float value) {
  for (int distance = 16; distance > 0; distance /= 2)
    value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, distance));
  return value;
}

__device__ inline float total(float value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
  return value;
}

extern "C" __global__ void softmax_f32(const float *x, float *y, int n) {
  __shared__ float of_warps[2];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float *row = x + blockIdx.x * n;
  float most = -INFINITY;
  for (int j = threadIdx.x; j < n; j += 64) most = fmaxf(most, row[j]);
  most = greatest(most);
  if (lane == 0) of_warps[warp] = most;
  __syncthreads();
  most = fmaxf(of_warps[0], of_warps[1]);
  __syncthreads();
  float sum = 0;
  for (int j = threadIdx.x; j < n; j += 64) sum += expf(row[j] - most);
  sum = total(sum);
  if (lane == 0) of_warps[warp] = sum;
  __syncthreads();
  sum = of_warps[0] + of_warps[1];
  for (int j = threadIdx.x; j < n; j += 64) y[blockIdx.x * n + j] = expf(row[j] - most) / sum;
}
