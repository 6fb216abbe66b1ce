// D = A B of s8 by CUTLASS on Tensor Cores; there are more stages than tiles, so that fragments are read in vain.
#include "cutlass/gemm/device/gemm.h"
#include "print_words.h"

using RowMajor = cutlass::layout::RowMajor;
using Gemm = cutlass::gemm::device::Gemm<
    int8_t, RowMajor, int8_t, cutlass::layout::ColumnMajor, int, RowMajor, int, cutlass::arch::OpClassTensorOp,
    cutlass::arch::Sm80, cutlass::gemm::GemmShape<64, 64, 64>, cutlass::gemm::GemmShape<32, 32, 64>,
    cutlass::gemm::GemmShape<16, 8, 32>, cutlass::epilogue::thread::LinearCombination<int, 4, int, int>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3>;

template __global__ void cutlass::Kernel<Gemm::GemmKernel>(Gemm::GemmKernel::Params);

int main() { print_launch<Gemm>({64, 64, 128}, {1, 1, 1}, 128, {1, 0}); }
