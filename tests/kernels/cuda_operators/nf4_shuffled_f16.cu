// y = W x, W in NF4: 4-bit indices, eight to a word, into a table of 16 constants that the lanes of a warp hold, scaled
// for every 64 of a row. A warp makes an element of y, K multiple of 256. Grid (m / 4), block 128.
#include <cstdint>
#include <cuda_fp16.h>

__constant__ float nf4[16] = {
    -1.0f, -0.6961928009986877f, -0.5250730514526367f, -0.39491748809814453f, -0.28444138169288635f,
    -0.18477343022823334f, -0.09105003625154495f, 0.0f, 0.07958029955625534f, 0.16093020141124725f,
    0.24611230194568634f, 0.33791524171829224f, 0.44070982933044434f, 0.5626170039176941f, 0.7229568362236023f, 1.0f};

extern "C" __global__ void nf4_shuffled_f16(const uint32_t *w, const half *x, const float *scales, float *y, int k) {
  const int lane = threadIdx.x % 32, row = blockIdx.x * 4 + threadIdx.x / 32;
  const float own = nf4[lane % 16];
  float sum = 0.0f;
  for (int step = lane * 8; step < k; step += 256) {
    const uint32_t word = w[(row * k + step) / 8];
    float part = 0.0f;
    for (int i = 0; i < 8; ++i) part += __shfl_sync(0xffffffff, own, word >> 4 * i & 0xf) * __half2float(x[step + i]);
    sum += part * scales[row * (k / 64) + step / 64];
  }
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
  if (lane == 0) y[row] = sum;
}
