// The two greatest of five numbers of a row and their indices, of equal numbers the first: a router that sends
// a token to two of five experts. A thread takes a row. Grid 1, block M.
#include <cmath>

extern "C" __global__ void top_two_f32(const float *x, float *value, int *index) {
  const float *row = x + 5 * threadIdx.x;
  float first = -INFINITY, second = -INFINITY;
  int at_first = -1, at_second = -1;
  for (int j = 0; j < 5; ++j) {
    if (row[j] > first) {
      second = first;
      at_second = at_first;
      first = row[j];
      at_first = j;
    } else if (row[j] > second) {
      second = row[j];
      at_second = j;
    }
  }
  value[2 * threadIdx.x] = first;
  value[2 * threadIdx.x + 1] = second;
  index[2 * threadIdx.x] = at_first;
  index[2 * threadIdx.x + 1] = at_second;
}
