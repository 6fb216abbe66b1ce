// C[i, j] = scale[j] * sum(k, A[i, k] * (W[j, k] - 8)); A row-major f16, W unsigned 4-bit integers, eight a word,
// low nibble first, scale and C (row-major) f32. A nibble becomes an f16 by the magic number 0x6400, which is 1024:
// its low bits count ones, bits 4 to 7 sixteens. A warp makes a 16x8 tile of C, a block 16x32;
// M multiple of 16, N of 32, K of 32. Grid (N / 32, M / 16), block 128.
//
// An mma may take the elements of K in any order, if A and B take the same: a word's pairs of nibbles (0, 4),
// (1, 5), (2, 6), (3, 7) are what one mask gets at once, so A is permuted to match.
#include <cstdint>
#include <cuda_fp16.h>

template <uint32_t MASK> __device__ inline uint32_t to_magic(uint32_t word) {
  uint32_t result;
  asm("lop3.b32 %0, %1, %2, %3, 0xEA;" : "=r"(result) : "r"(word), "n"(MASK), "n"(0x64006400));  // (w & mask) | magic
  return result;
}

__device__ inline uint32_t low(uint32_t word) {  // 1024 + v to v - 8
  uint32_t result;
  asm("sub.f16x2 %0, %1, %2;" : "=r"(result) : "r"(to_magic<0x000f000f>(word)), "r"(0x64086408));
  return result;
}

__device__ inline uint32_t high(uint32_t word) {  // 1024 + 16 v to v - 8, which is (1024 + 16 v) / 16 - 72
  uint32_t result;
  asm("fma.rn.f16x2 %0, %1, %2, %3;"
      : "=r"(result) : "r"(to_magic<0x00f000f0>(word)), "r"(0x2c002c00), "r"(0xd480d480));
  return result;
}

__device__ inline void multiply(float *sum, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0,
                                uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

extern "C" __global__ void dequantised_s4_f16(const half *a, const uint32_t *w, const float *scale, float *c, int n,
                                              int k) {
  const int lane = threadIdx.x % 32, group = lane / 4, member = lane % 4;
  const int row = blockIdx.y * 16 + group, column = (blockIdx.x * 4 + threadIdx.x / 32) * 8;

  float sum[4] = {};
  for (int step = member * 8; step < k; step += 32) {
    const uint4 x = *reinterpret_cast<const uint4 *>(a + row * k + step);
    const uint4 x8 = *reinterpret_cast<const uint4 *>(a + (row + 8) * k + step);
    const uint32_t word = w[((column + group) * k + step) / 8];
    multiply(sum, __byte_perm(x.x, x.z, 0x5410), __byte_perm(x8.x, x8.z, 0x5410),
             __byte_perm(x.x, x.z, 0x7632), __byte_perm(x8.x, x8.z, 0x7632), low(word), high(word));
    multiply(sum, __byte_perm(x.y, x.w, 0x5410), __byte_perm(x8.y, x8.w, 0x5410),
             __byte_perm(x.y, x.w, 0x7632), __byte_perm(x8.y, x8.w, 0x7632), low(word >> 8), high(word >> 8));
  }

  const int first = column + member * 2;
  const float s0 = scale[first], s1 = scale[first + 1];
  *reinterpret_cast<float2 *>(c + row * n + first) = make_float2(s0 * sum[0], s1 * sum[1]);
  *reinterpret_cast<float2 *>(c + (row + 8) * n + first) = make_float2(s0 * sum[2], s1 * sum[3]);
}
