// C[t, j] = weight[t] * sum(k, X[t / 2, k] * W[e, k, j]) of f16, where e is the expert that token slot t is sent to,
// two slots a token. Slots are sorted by expert in `slots`, each expert's padded to a multiple of 16 by numbers that are
// no slots; `experts` says whose the blocks of 16 are. A block makes 16 slots by 64 columns, wmma, K multiple of 16.
// Grid (n / 64, blocks of slots), block 128.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

extern "C" __global__ void moe_f16(const half *x, const half *w, const float *weight, const int *slots,
                                   const int *experts, float *c, int slots_in_all, int n, int k) {
  __shared__ half rows[16][16];
  __shared__ float sums[16][64];
  const int warp = threadIdx.x / 32, first = blockIdx.x * 64 + warp * 16;
  const half *expert = w + experts[blockIdx.y] * k * n;
  const int *own = slots + blockIdx.y * 16;

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int step = 0; step < k; step += 16) {
    for (int i = threadIdx.x; i < 256; i += 128) {
      const int slot = own[i / 16];
      rows[i / 16][i % 16] = slot < slots_in_all ? x[slot / 2 * k + step + i % 16] : __float2half(0.0f);
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::load_matrix_sync(a, &rows[0][0], 16);
    wmma::load_matrix_sync(b, expert + step * n + first, n);
    wmma::mma_sync(sum, a, b, sum);
    __syncthreads();
  }
  wmma::store_matrix_sync(&sums[0][warp * 16], sum, 64, wmma::mem_row_major);
  __syncthreads();
  for (int i = threadIdx.x; i < 1024; i += 128) {
    const int slot = own[i / 64];
    if (slot < slots_in_all) c[slot * n + blockIdx.x * 64 + i % 64] = weight[slot] * sums[i / 64][i % 64];
  }
}
