// C[i, j] = sum(k, A[i, k] * B[k, j]); A, B, C row-major f64, by mma.sync.m8n8k4. A warp makes an 8x8 tile of C,
// a block 16x16; M, N multiples of 16, K of 4. Grid (N / 16, M / 16), block 128.
extern "C" __global__ void mma_f64(const double *a, const double *b, double *c, int n, int k) {
  const int lane = threadIdx.x % 32, group = lane / 4, member = lane % 4, warp = threadIdx.x / 32;
  const int row = blockIdx.y * 16 + warp / 2 * 8, column = blockIdx.x * 16 + warp % 2 * 8;

  double sum[2] = {};
  for (int step = member; step < k; step += 4)
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(sum[0]), "+d"(sum[1])
        : "d"(a[(row + group) * k + step]), "d"(b[step * n + column + group]));

  double *place = c + (row + group) * n + column + member * 2;
  place[0] = sum[0];
  place[1] = sum[1];
}
