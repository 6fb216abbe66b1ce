// Rows of tokens sorted by expert, of which each expert has as many as `ends` says, times the experts' matrices:
// C[t, j] = sum(k, X[t, k] * W[e, k, j]) for ends[e - 1] <= t < ends[e]. A block takes a token, a thread a column. Grid T, block N.
extern "C" __global__ void moe_counts_f32(const float *x, const float *w, const int *ends, float *c, int experts, int n, int k) {
  const int token = blockIdx.x, column = threadIdx.x;
  int expert = 0;
  while (expert < experts - 1 && token >= ends[expert]) ++expert;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += x[token * k + i] * w[(expert * k + i) * n + column];
  c[token * n + column] = sum;
}
