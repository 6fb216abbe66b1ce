// D = alpha (W0 + W1), the second kernel of CUTLASS's split-K.
#include "cutlass/gemm/device/gemm_splitk_parallel.h"
#include "print_words.h"

using RowMajor = cutlass::layout::RowMajor;
using Kernel = cutlass::reduction::kernel::ReduceSplitK<
    cutlass::MatrixShape<4, 128>, cutlass::epilogue::thread::LinearCombination<float, 4, float, float>,
    cutlass::reduction::thread::ReduceAdd<float, float, 4>>;

template __global__ void cutlass::Kernel<Kernel>(Kernel::Params);

int main() {
  Kernel::Params parameters({64, 64}, 2, 64 * 64, {marked<float>(1), 64}, {marked<float>(4), 64},
                            {marked<float>(3), 64}, {1.f, 0.f});
  print_words(parameters);
  dim3 grid = Kernel::grid_shape({64, 64}), block = Kernel::block_shape();
  printf("%d %d %d %d %d %d 0\n", grid.x, grid.y, grid.z, block.x, block.y, block.z);
}
