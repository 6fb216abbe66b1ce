#include <cstdio>

// Arrays lie at marked addresses, which the reader of the words replaces by pointers to arrays.
template <class T>
T* marked(size_t number) { return reinterpret_cast<T*>(number << 28); }

template <class Parameters>
void print_words(Parameters const& parameters) {
  unsigned const* words = reinterpret_cast<unsigned const*>(&parameters);
  for (size_t i = 0; i < sizeof parameters / 4; ++i) printf("%u ", words[i]);
  printf("\n");
}

// The structure by which a GEMM of one launch is passed, then its grid, block and dynamic shared memory.
template <class Gemm>
void print_launch(cutlass::gemm::GemmCoord size, cutlass::gemm::GemmCoord grid,
                  typename Gemm::LayoutB::Stride::Index ldb, typename Gemm::EpilogueOutputOp::Params scale) {
  using Kernel = typename Gemm::GemmKernel;
  typename Kernel::Params parameters(
      size, grid, {marked<typename Gemm::ElementA>(1), size.k()}, {marked<typename Gemm::ElementB>(2), ldb},
      {marked<typename Gemm::ElementC>(3), size.n()}, {marked<typename Gemm::ElementC>(4), size.n()}, scale);
  print_words(parameters);
  printf("%d %d %d %d 1 1 %zu\n", grid.m(), grid.n(), grid.k(), Kernel::kThreadCount,
         sizeof(typename Kernel::SharedStorage));
}
