// C[i, j] = alpha * sum(k, A[i, k] * B[k, j]) + beta * C[i, j]; all row-major f32, of any size, without matrix
// instructions. A thread makes one element of C. Grid (ceil(N / 16), ceil(M / 16)), block (16, 16).
extern "C" __global__ void simt_f32(const float *a, const float *b, float *c, int m, int n, int k, float alpha,
                                    float beta) {
  __shared__ float a_tile[16][16], b_tile[16][16];
  const int i = threadIdx.y, j = threadIdx.x;
  const int row = blockIdx.y * 16 + i, column = blockIdx.x * 16 + j;

  float sum = 0.0f;
  for (int start = 0; start < k; start += 16) {
    a_tile[i][j] = row < m && start + j < k ? a[row * k + start + j] : 0.0f;
    b_tile[i][j] = start + i < k && column < n ? b[(start + i) * n + column] : 0.0f;
    __syncthreads();
    for (int inner = 0; inner < 16; ++inner) sum += a_tile[i][inner] * b_tile[inner][j];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = alpha * sum + beta * c[row * n + column];
}
