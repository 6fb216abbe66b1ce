// Two slices of K, each with a product of its own in W, by CUTLASS's split-K; another kernel adds them.
#include "cutlass/gemm/device/gemm_splitk_parallel.h"
#include "print_words.h"

using RowMajor = cutlass::layout::RowMajor;
using Half = cutlass::half_t;
using Gemm = cutlass::gemm::device::GemmSplitKParallel<
    Half, RowMajor, Half, RowMajor, float, RowMajor, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
    cutlass::gemm::GemmShape<64, 64, 32>, cutlass::gemm::GemmShape<32, 32, 32>, cutlass::gemm::GemmShape<16, 8, 16>,
    cutlass::epilogue::thread::LinearCombination<float, 4, float, float>>;
using Kernel = Gemm::GemmKernel;

template __global__ void cutlass::Kernel<Kernel>(Kernel::Params);

int main() {
  Kernel::Params parameters({64, 64, 128}, {1, 1, 2}, {marked<Half>(1), 128}, {marked<Half>(2), 64},
                            {marked<float>(4), 64}, {}, 64 * 64);
  print_words(parameters);
  printf("1 1 2 %d 1 1 %zu\n", Kernel::kThreadCount, sizeof(Kernel::SharedStorage));
}
