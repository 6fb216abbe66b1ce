// The gradient of an embedding: rows added where tokens lead, but for those of padding. Grid T, block 32.
extern "C" __global__ void embedding_gradient_f32(const int *token, const float *g, float *w, int d, int padding) {
  int row = token[blockIdx.x];
  if (row == padding) return;
  for (int j = threadIdx.x; j < d; j += blockDim.x) atomicAdd(&w[row * d + j], g[blockIdx.x * d + j]);
}
