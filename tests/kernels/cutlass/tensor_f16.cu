// D = f16(alpha A B) by CUTLASS on Tensor Cores, in three stages that cp.async fills.
#include "cutlass/gemm/device/gemm.h"
#include "print_words.h"

using RowMajor = cutlass::layout::RowMajor;
using Half = cutlass::half_t;
using Gemm = cutlass::gemm::device::Gemm<
    Half, RowMajor, Half, RowMajor, Half, RowMajor, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
    cutlass::gemm::GemmShape<64, 64, 32>, cutlass::gemm::GemmShape<32, 32, 32>, cutlass::gemm::GemmShape<16, 8, 16>,
    cutlass::epilogue::thread::LinearCombination<Half, 8, float, float>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3>;

template __global__ void cutlass::Kernel<Gemm::GemmKernel>(Gemm::GemmKernel::Params);

int main() { print_launch<Gemm>({64, 64, 96}, {1, 1, 1}, 64, {1.f, 0.f}); }
