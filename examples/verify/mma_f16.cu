// C[i, j] = sum(k, A[i, k] * B[k, j]); A, B, C row-major, f16 to f32, by mma.sync. Tiles of A (64x32) and B (32x64)
// come by cp.async into two buffers each, 16-byte chunks swizzled, and go to registers by ldmatrix.
// 2x2 warps make 32x32 of C each; M, N multiples of 64, K of 32. Grid (N / 64, M / 64), block 128.
#include <cstdint>
#include <cuda_fp16.h>

constexpr int TILE_M = 64, TILE_N = 64, TILE_K = 32;

__device__ inline uint32_t shared_address(const void *pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ inline void copy_async(half *to, const half *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

// Where a row of a tile has its chunk of 8 elements: swizzled, so that ldmatrix meets no bank conflict.
__device__ inline half *a_chunk(half *tile, int row, int chunk) {
  return tile + row * TILE_K + (chunk ^ (row / 2 % 4)) * 8;
}
__device__ inline half *b_chunk(half *tile, int row, int chunk) {
  return tile + row * TILE_N + (chunk ^ (row % 8)) * 8;
}

extern "C" __global__ void __launch_bounds__(128)
    mma_f16(const half *__restrict__ a, const half *__restrict__ b, float *__restrict__ c, int n, int k) {
  __shared__ __align__(128) half a_tiles[2][TILE_M * TILE_K], b_tiles[2][TILE_K * TILE_N];
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
  a += blockIdx.y * TILE_M * k;
  b += blockIdx.x * TILE_N;

  auto fetch = [&](int buffer, int start) {
    for (int i = thread; i < TILE_M * TILE_K / 8; i += 128)
      copy_async(a_chunk(a_tiles[buffer], i / 4, i % 4), a + i / 4 * k + start + i % 4 * 8);
    for (int i = thread; i < TILE_K * TILE_N / 8; i += 128)
      copy_async(b_chunk(b_tiles[buffer], i / 8, i % 8), b + (start + i / 8) * n + i % 8 * 8);
  };

  float sum[2][4][4] = {};
  const int steps = k / TILE_K;
  fetch(0, 0);
  asm volatile("cp.async.commit_group;" ::: "memory");
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps) fetch((step + 1) % 2, (step + 1) * TILE_K);
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();

    half *a_tile = a_tiles[step % 2], *b_tile = b_tiles[step % 2];
    for (int inner = 0; inner < TILE_K; inner += 16) {
      uint32_t x[2][4], y[4][2];
      for (int i = 0; i < 2; ++i)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[i][0]), "=r"(x[i][1]), "=r"(x[i][2]), "=r"(x[i][3])
                     : "r"(shared_address(a_chunk(a_tile, warp_row + i * 16 + lane % 16, inner / 8 + lane / 16)))
                     : "memory");
      for (int j = 0; j < 4; j += 2)
        asm volatile(
            "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
            : "=r"(y[j][0]), "=r"(y[j][1]), "=r"(y[j + 1][0]), "=r"(y[j + 1][1])
            : "r"(shared_address(b_chunk(b_tile, inner + lane % 16, (warp_column + j * 8) / 8 + lane / 16)))
            : "memory");
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j)
          asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
              "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
              : "+f"(sum[i][j][0]), "+f"(sum[i][j][1]), "+f"(sum[i][j][2]), "+f"(sum[i][j][3])
              : "r"(x[i][0]), "r"(x[i][1]), "r"(x[i][2]), "r"(x[i][3]), "r"(y[j][0]), "r"(y[j][1]));
    }
    __syncthreads();
  }

  const int row = blockIdx.y * TILE_M + warp_row + lane / 4;
  const int column = blockIdx.x * TILE_N + warp_column + lane % 4 * 2;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int half_tile = 0; half_tile < 2; ++half_tile) {
        float *place = c + (row + i * 16 + half_tile * 8) * n + column + j * 8;
        *reinterpret_cast<float2 *>(place) = make_float2(sum[i][j][2 * half_tile], sum[i][j][2 * half_tile + 1]);
      }
}
