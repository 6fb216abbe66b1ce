// C_g = alpha * A_g * B_g + beta * C_g for every group g, f32, row-major, the matrices at addresses that are in memory;
// rows and depths differ from group to group. Where beta is 0, C is not read. Grid (ceil(n / 16), tiles of 16 rows of
// the group with the most, groups), block (16, 16).
extern "C" __global__ void grouped_f32(const float *const *a, const float *const *b, float *const *c, const int *rows,
                                       const int *depths, int n, float alpha, float beta) {
  __shared__ float a_tile[16][16], b_tile[16][16];
  const int group = blockIdx.z, m = rows[group], k = depths[group];
  const int i = threadIdx.y, j = threadIdx.x;
  const int row = blockIdx.y * 16 + i, column = blockIdx.x * 16 + j;
  if (blockIdx.y * 16 >= m) return;

  float sum = 0.0f;
  for (int start = 0; start < k; start += 16) {
    a_tile[i][j] = row < m && start + j < k ? a[group][row * k + start + j] : 0.0f;
    b_tile[i][j] = start + i < k && column < n ? b[group][(start + i) * n + column] : 0.0f;
    __syncthreads();
    for (int inner = 0; inner < 16; ++inner) sum += a_tile[i][inner] * b_tile[inner][j];
    __syncthreads();
  }
  if (row >= m || column >= n) return;
  float *out = c[group] + row * n + column;
  if (beta == 0.0f)
    *out = alpha * sum;
  else
    *out = alpha * sum + beta * *out;
}
