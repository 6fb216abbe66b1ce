// Sorts rows of eight numbers, in registers, with a network of 19 exchanges (Batcher's, shortened). A thread takes a row. Grid
// cdiv(M, 64), block 64.
__device__ void exchange(float &low, float &high) {
  const float least = fminf(low, high);
  high = fmaxf(low, high);
  low = least;
}

extern "C" __global__ void sorting_network_f32(const float4 *x, float4 *y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float4 first = x[2 * row], second = x[2 * row + 1];
  float v[8] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
  exchange(v[0], v[2]);
  exchange(v[1], v[3]);
  exchange(v[4], v[6]);
  exchange(v[5], v[7]);
  exchange(v[0], v[4]);
  exchange(v[1], v[5]);
  exchange(v[2], v[6]);
  exchange(v[3], v[7]);
  exchange(v[0], v[1]);
  exchange(v[2], v[3]);
  exchange(v[4], v[5]);
  exchange(v[6], v[7]);
  exchange(v[2], v[4]);
  exchange(v[3], v[5]);
  exchange(v[1], v[4]);
  exchange(v[3], v[6]);
  exchange(v[1], v[2]);
  exchange(v[3], v[4]);
  exchange(v[5], v[6]);
  y[2 * row] = make_float4(v[0], v[1], v[2], v[3]);
  y[2 * row + 1] = make_float4(v[4], v[5], v[6], v[7]);
}
