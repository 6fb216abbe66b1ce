// C = A W of f32: W in NF4, 4-bit indices into a table of 16 constants, two to a byte, scaled for every 32 of a row.
#include <cstdint>

__constant__ float nf4[16] = {
    -1.0f, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f, -0.28444138169288635f,
    -0.18477343022823334f, -0.09105003625154495f, 0.0f, 0.07958029955625534f, 0.16093020141124725f,
    0.24611230194568634f, 0.33791524171829224f, 0.44070982933044434f, 0.5626170039176941f, 0.7229568362236023f, 1.0f};

extern "C" __global__ void nf4_f32(float const* A, uint8_t const* W, float const* scale, float* C, int n, int k) {
  __shared__ float table[16];
  if (threadIdx.x < 16) table[threadIdx.x] = nf4[threadIdx.x];
  __syncthreads();
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; i += 2) {
    unsigned pair = W[(column * k + i) / 2];
    float factor = scale[column * (k / 32) + i / 32];
    sum += A[row * k + i] * (table[pair & 15] * factor);
    sum += A[row * k + i + 1] * (table[pair >> 4] * factor);
  }
  C[row * n + column] = sum;
}
