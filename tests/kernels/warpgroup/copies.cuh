// What the kernels of this folder share: barrier objects, tensor copies, products of 64 x 16 x 16.
#pragma once
#include <cuda.h>
#include <cuda_bf16.h>
#include <cstdint>

#define INLINE __device__ __forceinline__

constexpr int STAGES = 2, DEPTH = 16, COLUMNS = 16, ROWS = 64;

INLINE uint32_t shared(const void* at) { return static_cast<uint32_t>(__cvta_generic_to_shared(at)); }

INLINE void init(uint64_t* barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(barrier)), "r"(count));
}
INLINE void expect(uint64_t* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(barrier)), "r"(bytes) : "memory");
}
INLINE void arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared(barrier)) : "memory");
}
INLINE void wait(uint64_t* barrier, int parity) {
  asm volatile(
      "{\n.reg .pred passed;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 passed, [%0], %1, %2;\n"
      "@passed bra DONE;\nbra AGAIN;\nDONE:\n}\n" ::"r"(shared(barrier)), "r"(parity), "r"(0x989680) : "memory");
}
INLINE void load(void* to, const CUtensorMap* map, uint64_t* barrier, int column, int row) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
          shared(to)), "l"(map), "r"(shared(barrier)), "r"(column), "r"(row) : "memory");
}
INLINE void store(const CUtensorMap* map, const void* from, int column, int row) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(shared(from)), "r"(column), "r"(row) : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
INLINE bool elected() {
  uint32_t chosen;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xFFFFFFFF;\nselp.b32 %0, 1, 0, p;\n}\n" : "=r"(chosen));
  return chosen;
}
INLINE void sync(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
INLINE void turn(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// Rows of 32 bytes, swizzled, 256 bytes from one group of 8 to the next.
INLINE uint64_t descriptor(const void* at) {
  return static_cast<uint64_t>(shared(at) >> 4 & 0x3FFF) | 1ull << 16 | 16ull << 32 | 3ull << 62;
}
INLINE void multiply(float (&d)[8], const void* a, const void* b, bool adds) {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %10, 0;\nwgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, 1, 0, 0;\n}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
      : "l"(descriptor(a)), "l"(descriptor(b)), "r"(static_cast<int>(adds)));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (int i = 0; i < 8; ++i) asm volatile("" : "+f"(d[i])::"memory");
}
INLINE uint32_t packed(float low, float high) {
  __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<uint32_t*>(&both);
}
// Rows of a warp to shared memory, 32 bytes each.
INLINE void put(const float (&d)[8], __nv_bfloat16* to, int lane) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   shared(to + lane % 16 * COLUMNS + lane / 16 * 8)),
               "r"(packed(d[0], d[1])), "r"(packed(d[2], d[3])), "r"(packed(d[4], d[5])), "r"(packed(d[6], d[7])) : "memory");
}
