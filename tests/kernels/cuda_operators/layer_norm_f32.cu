// Y[i, j] = (X[i, j] - mean) / sqrt(variance + 1e-5) * W[j] + B[j] of rows: a block takes a row, its sums by shuffles and
// shared memory. Grid M, block 64, any N.

__device__ inline float block_sum(float value, float *of_warps) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  const float sum = of_warps[0] + of_warps[1];
  __syncthreads();
  return sum;
}

extern "C" __global__ void layer_norm_f32(const float *x, const float *w, const float *b, float *y, int n) {
  __shared__ float of_warps[2];
  const float *row = x + blockIdx.x * n;
  float sum = 0, squares = 0;
  for (int j = threadIdx.x; j < n; j += 64) sum += row[j];
  const float mean = block_sum(sum, of_warps) / n;
  for (int j = threadIdx.x; j < n; j += 64) {
    const float apart = row[j] - mean;
    squares += apart * apart;
  }
  const float scale = rsqrtf(block_sum(squares, of_warps) / n + 1e-5f);
  for (int j = threadIdx.x; j < n; j += 64)
    y[blockIdx.x * n + j] = (row[j] - mean) * scale * w[j] + b[j];
}
