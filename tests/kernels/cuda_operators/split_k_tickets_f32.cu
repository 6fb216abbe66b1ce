// C = A B of f32, row-major, in which blockIdx.z takes a slice of K and leaves its sums in a workspace; the block of a
// tile that takes the last ticket adds them up, and sets the count back. K multiple of 16 times the slices.
// Grid (n / 16, m / 16, slices), block (16, 16).
extern "C" __global__ void split_k_tickets_f32(const float *a, const float *b, float *c, float *parts, int *tickets,
                                               int n, int k) {
  __shared__ float a_tile[16][16], b_tile[16][16];
  __shared__ int ticket;
  const int i = threadIdx.y, j = threadIdx.x, slice = k / gridDim.z;
  const int row = blockIdx.y * 16 + i, column = blockIdx.x * 16 + j, m = gridDim.y * 16;
  float sum = 0.0f;
  for (int start = blockIdx.z * slice; start < (blockIdx.z + 1) * slice; start += 16) {
    a_tile[i][j] = a[row * k + start + j];
    b_tile[i][j] = b[(start + i) * n + column];
    __syncthreads();
    for (int inner = 0; inner < 16; ++inner) sum += a_tile[i][inner] * b_tile[inner][j];
    __syncthreads();
  }
  parts[(blockIdx.z * m + row) * n + column] = sum;
  __threadfence();
  __syncthreads();
  int *count = tickets + blockIdx.y * gridDim.x + blockIdx.x;
  if (i + j == 0) ticket = atomicAdd(count, 1);
  __syncthreads();
  if (ticket != gridDim.z - 1) return;
  __threadfence();
  sum = 0.0f;
  for (int z = 0; z < gridDim.z; ++z) sum += parts[(z * m + row) * n + column];
  c[row * n + column] = sum;
  if (i + j == 0) *count = 0;
}
