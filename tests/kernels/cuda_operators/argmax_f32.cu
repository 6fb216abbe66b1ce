// I[i] = the first index of the greatest number of a row, V[i] = that number. A warp takes a row: each lane
// looks at every 32nd number, then halves exchange pairs. Grid M, block 32, any N of at least 32.
#include <cmath>

extern "C" __global__ void argmax_f32(const float *x, int *index, float *value, int n) {
  const float *row = x + blockIdx.x * n;
  float most = -INFINITY;
  int at = 0;
  for (int j = threadIdx.x; j < n; j += 32)
    if (row[j] > most) {
      most = row[j];
      at = j;
    }
  for (int distance = 16; distance > 0; distance /= 2) {
    const float other = __shfl_down_sync(0xffffffff, most, distance);
    const int place = __shfl_down_sync(0xffffffff, at, distance);
    if (other > most || (other == most && place < at)) {
      most = other;
      at = place;
    }
  }
  if (threadIdx.x == 0) {
    index[blockIdx.x] = at;
    value[blockIdx.x] = most;
  }
}
