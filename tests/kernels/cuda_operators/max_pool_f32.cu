// Maxima of windows of 3 x 3 with their indices in the image, the first of equal ones. A thread takes a window.
// Grid and block 4 of an image of 12 x 12.
#include <cmath>

extern "C" __global__ void max_pool_f32(const float *x, float *value, int *index) {
  const int column = threadIdx.x, row = blockIdx.x;
  float most = -INFINITY;
  int at = -1;
  for (int dy = 0; dy < 3; ++dy)
    for (int dx = 0; dx < 3; ++dx) {
      const int place = (3 * row + dy) * 12 + 3 * column + dx;
      if (x[place] > most) {
        most = x[place];
        at = place;
      }
    }
  value[row * 4 + column] = most;
  index[row * 4 + column] = at;
}
