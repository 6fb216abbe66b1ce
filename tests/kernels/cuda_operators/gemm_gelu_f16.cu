// D[i, j] = f16(gelu(alpha * sum(k, A[i, k] * B[k, j]) + beta * C[i, j] + bias[j])), all of f16, sums of f32: a warp makes a
// 16x8 tile by tensor cores. M a multiple of 16, N of 8, K of 16. Grid (N / 8, M / 16), block 32.
#include <cstdint>
#include <cuda_fp16.h>

__device__ inline float activation(float x) { return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x))); }

__device__ inline uint32_t pair(half low, half high) {
  const half2 both = __halves2half2(low, high);
  return *reinterpret_cast<const uint32_t *>(&both);
}

extern "C" __global__ void gemm_gelu_f16(const half *a, const half *b, const half *c, const half *bias, half *d, int n,
                                      int k, float alpha, float beta) {
  const int group = threadIdx.x / 4, member = threadIdx.x % 4;
  const int row = blockIdx.y * 16 + group, column = blockIdx.x * 8;
  float sum[4] = {};
  for (int step = 0; step < k; step += 16) {
    const half *x = a + row * k + step + member * 2, *y = b + (step + member * 2) * n + column + group;
    const uint32_t a0 = *reinterpret_cast<const uint32_t *>(x), a1 = *reinterpret_cast<const uint32_t *>(x + 8 * k);
    const uint32_t a2 = *reinterpret_cast<const uint32_t *>(x + 8), a3 = *reinterpret_cast<const uint32_t *>(x + 8 * k + 8);
    const uint32_t b0 = pair(y[0], y[n]), b1 = pair(y[8 * n], y[9 * n]);
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
  }
  for (int i = 0; i < 4; ++i) {
    const int at = (row + i / 2 * 8) * n + column + member * 2 + i % 2;
    const float x = alpha * sum[i] + beta * __half2float(c[at]) + __half2float(bias[column + member * 2 + i % 2]);
    d[at] = __float2half_rn(activation(x));
  }
}
