// C[i, j] = f16(sum(k, (A[i, k] - za[i]) * B[j, k]) * sa[i] * sb[j] + bias[j]) of 8-bit integers: dp4a adds up
// four products, the zero point of a row is taken from the sum by the sums of the columns, and what is left is scaled.
// Grid (N / 32, M), block 32.
#include <cstdint>
#include <cuda_fp16.h>

extern "C" __global__ void w8a8_f16(const int *a, const int *b, const int8_t *za, const float *sa, const float *sb,
                                    const half *bias, half *c, int n, int k) {
  const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y;
  int sum = 0, of_column = 0;
  for (int step = 0; step < k / 4; ++step) {
    const int x = a[row * (k / 4) + step], y = b[column * (k / 4) + step];
    sum = __dp4a(x, y, sum);
    of_column = __dp4a(0x01010101, y, of_column);
  }
  const float scaled = (float)(sum - za[row] * of_column) * sa[row] * sb[column];
  c[row * n + column] = __float2half_rn(scaled + __half2float(bias[column]));
}
