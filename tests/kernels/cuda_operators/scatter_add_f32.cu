// Y[order[i], j] += X[i, j], with atomics. Grid M, block N.
extern "C" __global__ void scatter_add_f32(const float *x, const int *order, float *y, int n) {
  atomicAdd(y + order[blockIdx.x] * n + threadIdx.x, x[blockIdx.x * n + threadIdx.x]);
}
