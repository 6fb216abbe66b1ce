#pragma once
#include "../../../mmaproof_tensor.h"

// As PyTorch has them.
#define CUDA_KERNEL_LOOP_TYPE(i, n, index_type)                                                       \
  int64_t _i_n_d_e_x = ((int64_t) blockIdx.x) * blockDim.x + threadIdx.x;                             \
  for (index_type i=_i_n_d_e_x; _i_n_d_e_x < (n); _i_n_d_e_x+=blockDim.x * gridDim.x, i=_i_n_d_e_x)
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)

namespace at::cuda::detail {
constexpr int CUDA_NUM_THREADS = 1024;
inline int GET_BLOCKS(const int64_t N, const int64_t max_threads_per_block = CUDA_NUM_THREADS) {
  TORCH_INTERNAL_ASSERT(N > 0);
  return static_cast<int>((N - 1) / max_threads_per_block + 1);
}
}  // namespace at::cuda::detail
