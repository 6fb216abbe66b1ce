// W'[k, i] = (W[k, i] - Z[g, i]) * scale[g, i], g = k / 8, in f16, of AWQ's words: eight columns of four bits,
// nibbles in the order 0 2 4 6 1 3 5 7, of weights and of zero points. By bit tricks: a mask and the magic number
// 0x6400 make a pair of numbers of f16, 1024 more than they are, the upper nibbles sixteen times as much; lop3 does
// both at once. A thread takes a word. Grid (N / 8 / 32, K), block 32.
#include <cstdint>
#include <cuda_fp16.h>

#define WITHOUT_MAGIC(h) asm("sub.f16x2 %0, %1, %2;" : "=r"(h) : "r"(h), "r"(0x64006400))
#define DIVIDED(h) asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(h) : "r"(h), "r"(0x2c002c00), "r"(0xd400d400))

__device__ inline void widen(uint32_t word, half2 *pairs) {
  uint32_t h[4];
  const uint32_t upper = word >> 8;
  asm("lop3.b32 %0, %1, 0x000f000f, 0x64006400, 0xEA;" : "=r"(h[0]) : "r"(word));
  asm("lop3.b32 %0, %1, 0x00f000f0, 0x64006400, 0xEA;" : "=r"(h[1]) : "r"(word));
  asm("lop3.b32 %0, %1, 0x000f000f, 0x64006400, 0xEA;" : "=r"(h[2]) : "r"(upper));
  asm("lop3.b32 %0, %1, 0x00f000f0, 0x64006400, 0xEA;" : "=r"(h[3]) : "r"(upper));
  WITHOUT_MAGIC(h[0]);
  DIVIDED(h[1]);
  WITHOUT_MAGIC(h[2]);
  DIVIDED(h[3]);
  for (int i = 0; i < 4; ++i) pairs[i] = *reinterpret_cast<half2 *>(&h[i]);
}

extern "C" __global__ void awq_f16(const uint32_t *w, const uint32_t *zeros, const half *scales, half *out, int n) {
  const int word = blockIdx.x * 32 + threadIdx.x, k = blockIdx.y, group = k / 8;
  half2 weight[4], zero[4];
  widen(w[k * (n / 8) + word], weight);
  widen(zeros[group * (n / 8) + word], zero);
  const uint4 loaded = *reinterpret_cast<const uint4 *>(scales + group * n + word * 8);
  const half2 *scale = reinterpret_cast<const half2 *>(&loaded);
  uint4 result;
  half2 *results = reinterpret_cast<half2 *>(&result);
  for (int i = 0; i < 4; ++i) results[i] = __hmul2(__hsub2(weight[i], zero[i]), scale[i]);
  *reinterpret_cast<uint4 *>(out + k * n + word * 8) = result;
}
