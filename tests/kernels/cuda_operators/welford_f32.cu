// Mean and variance of rows in one pass, by Welford's sums: each lane takes every 32nd number, then lanes combine their counts,
// means and sums of squared differences. A warp takes a row. Grid M, block 32, any N.
extern "C" __global__ void welford_f32(const float *x, float *mean, float *variance, int n) {
  const float *row = x + blockIdx.x * n;
  float count = 0, centre = 0, squares = 0;
  for (int j = threadIdx.x; j < n; j += 32) {
    count += 1;
    const float difference = row[j] - centre;
    centre += difference / count;
    squares += difference * (row[j] - centre);
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    const float other_count = __shfl_xor_sync(0xffffffff, count, distance);
    const float other_centre = __shfl_xor_sync(0xffffffff, centre, distance);
    const float other_squares = __shfl_xor_sync(0xffffffff, squares, distance);
    const float all = count + other_count, difference = other_centre - centre;
    if (all > 0) {
      centre += difference * other_count / all;
      squares += other_squares + difference * difference * count * other_count / all;
      count = all;
    }
  }
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = centre;
    variance[blockIdx.x] = squares / n;
  }
}
