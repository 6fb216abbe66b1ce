// D = alpha A B of f32 by CUTLASS on the ordinary cores, in two stages of shared memory.
#include "cutlass/gemm/device/gemm.h"
#include "print_words.h"

using RowMajor = cutlass::layout::RowMajor;
using Gemm = cutlass::gemm::device::Gemm<
    float, RowMajor, float, RowMajor, float, RowMajor, float, cutlass::arch::OpClassSimt, cutlass::arch::Sm80,
    cutlass::gemm::GemmShape<32, 64, 8>, cutlass::gemm::GemmShape<32, 32, 8>, cutlass::gemm::GemmShape<1, 1, 1>,
    cutlass::epilogue::thread::LinearCombination<float, 1, float, float>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 2>;

template __global__ void cutlass::Kernel<Gemm::GemmKernel>(Gemm::GemmKernel::Params);

int main() { print_launch<Gemm>({64, 64, 24}, {2, 1, 1}, 64, {1.f, 0.f}); }
