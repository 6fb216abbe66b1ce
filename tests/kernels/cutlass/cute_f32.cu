// C = alpha A B^T + beta C, column-major, with CuTe's layouts: tiles of the arrays, partitions of tiles among threads.
#include <cstdio>

#include <cute/tensor.hpp>
using namespace cute;

template <class Shape, class Tiler, class Stride, class Tile, class Movers, class Computers>
__global__ void multiply(Shape shape, Tiler tiler, float const* A, Stride strides_a, float const* B, Stride strides_b,
                         float* C, Stride strides_c, Tile tile, Movers movers, Computers computers, float alpha, float beta) {
  Tensor a = make_tensor(make_gmem_ptr(A), select<0, 2>(shape), strides_a);
  Tensor b = make_tensor(make_gmem_ptr(B), select<1, 2>(shape), strides_b);
  Tensor c = make_tensor(make_gmem_ptr(C), select<0, 1>(shape), strides_c);
  auto block = make_coord(blockIdx.x, blockIdx.y, _);
  Tensor a_tiles = local_tile(a, tiler, block, Step<_1, X, _1>{});
  Tensor b_tiles = local_tile(b, tiler, block, Step<X, _1, _1>{});
  Tensor c_tile = local_tile(c, tiler, block, Step<_1, _1, X>{});
  __shared__ float a_buffer[cosize_v<Tile>], b_buffer[cosize_v<Tile>];
  Tensor a_shared = make_tensor(make_smem_ptr(a_buffer), tile);
  Tensor b_shared = make_tensor(make_smem_ptr(b_buffer), tile);
  Tensor a_from = local_partition(a_tiles, movers, threadIdx.x);
  Tensor a_to = local_partition(a_shared, movers, threadIdx.x);
  Tensor b_from = local_partition(b_tiles, movers, threadIdx.x);
  Tensor b_to = local_partition(b_shared, movers, threadIdx.x);
  Tensor a_own = local_partition(a_shared, computers, threadIdx.x, Step<_1, X>{});
  Tensor b_own = local_partition(b_shared, computers, threadIdx.x, Step<X, _1>{});
  Tensor c_own = local_partition(c_tile, computers, threadIdx.x, Step<_1, _1>{});
  Tensor sums = make_tensor_like(c_own);
  clear(sums);
  for (int k = 0; k < size<2>(a_from); ++k) {
    copy(a_from(_, _, k), a_to);
    copy(b_from(_, _, k), b_to);
    cp_async_fence();
    cp_async_wait<0>();
    __syncthreads();
    gemm(a_own, b_own, sums);
    __syncthreads();
  }
  axpby(alpha, sums, beta, c_own);
}

int main() {
  auto tiler = make_shape(Int<32>{}, Int<32>{}, Int<8>{});
  auto strides = make_stride(Int<1>{}, 64);
  auto tile = make_layout(make_shape(Int<32>{}, Int<8>{}));
  auto movers = make_layout(make_shape(Int<16>{}, Int<4>{}));
  auto computers = make_layout(make_shape(Int<8>{}, Int<8>{}));
  float* none = nullptr;
  multiply<<<dim3(2, 2), 64>>>(make_shape(64, 64, 24), tiler, none, strides, none, strides, none, strides, tile, movers,
                               computers, 1.f, 0.f);
  printf("\n2 2 1 64 1 1 0\n");  // no structure, the launch
}
