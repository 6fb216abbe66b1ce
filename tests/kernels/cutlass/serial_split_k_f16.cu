// D = f16(alpha A B) by CUTLASS, of which two blocks take a part of K each: the second waits for its turn at a
// semaphore, and adds its sum to what the first left in D.
#include "cutlass/gemm/device/gemm.h"
#include "print_words.h"

using RowMajor = cutlass::layout::RowMajor;
using Half = cutlass::half_t;
using Gemm = cutlass::gemm::device::Gemm<
    Half, RowMajor, Half, RowMajor, Half, RowMajor, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
    cutlass::gemm::GemmShape<64, 64, 32>, cutlass::gemm::GemmShape<32, 32, 32>, cutlass::gemm::GemmShape<16, 8, 16>,
    cutlass::epilogue::thread::LinearCombination<Half, 8, float, float>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3, 8, 8, true>;
using Kernel = Gemm::GemmKernel;

template __global__ void cutlass::Kernel<Kernel>(Kernel::Params);

int main() {
  Kernel::Params parameters({64, 64, 128}, {1, 1, 2}, {marked<Half>(1), 128}, {marked<Half>(2), 64},
                            {marked<Half>(3), 64}, {marked<Half>(4), 64}, {1.f, 0.f}, marked<int>(5));
  print_words(parameters);
  printf("1 1 2 %d 1 1 %zu\n", Kernel::kThreadCount, sizeof(Kernel::SharedStorage));
}
