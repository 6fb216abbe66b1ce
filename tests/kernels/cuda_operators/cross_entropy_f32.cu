// The cross entropy of rows of logits and labels: L[r] = log(sum_j exp(X[r, j])) - X[r, label[r]]. A warp takes a
// row. Grid N, block 32.
#include <cmath>

extern "C" __global__ void cross_entropy_f32(const float *x, const int *label, float *loss, int c) {
  const float *row = x + blockIdx.x * c;
  float most = -INFINITY;
  for (int j = threadIdx.x; j < c; j += 32) most = fmaxf(most, row[j]);
  for (int lanes = 16; lanes > 0; lanes /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, lanes));
  float sum = 0;
  for (int j = threadIdx.x; j < c; j += 32) sum += __expf(row[j] - most);
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
  if (threadIdx.x == 0) loss[blockIdx.x] = most + __logf(sum) - row[label[blockIdx.x]];
}
