// Rows of X in the order of `order`, eight numbers a thread: Y[i, j] = X[order[i], j]. Grid M, block N / 8.
extern "C" __global__ void gather_rows_f16(const uint4 *x, const long long *order, uint4 *y, int words) {
  y[blockIdx.x * words + threadIdx.x] = x[order[blockIdx.x] * words + threadIdx.x];
}
