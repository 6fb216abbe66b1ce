// Y[i] = A[X[i] & 31]. Grid cdiv(N, 32), block 32.
extern "C" __global__ void masked_gather_f32(const float *a, const int *x, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a[x[i] & 31];
}
