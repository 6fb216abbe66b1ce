// Rows of a table by token, scaled, with a position's row added: Y[i, j] = s W[token[i], j] + P[i % 4, j]. A block
// takes a token. Grid N, block 32.
extern "C" __global__ void embedding_f32(const float *w, const int *token, const float *p, float *y, float s, int d) {
  const int row = blockIdx.x;
  const float *from = w + token[row] * d;
  for (int j = threadIdx.x; j < d; j += blockDim.x) y[row * d + j] = s * from[j] + p[(row & 3) * d + j];
}
