import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
__global__ void sum_dim(const float* __restrict__ x, float* __restrict__ y, long outer, long reduce, long inner) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i >= outer * inner) return;
  long o = i / inner, r = i % inner;
  const float* p = x + o * reduce * inner + r;
  float a0 = 0, a1 = 0, a2 = 0, a3 = 0;
  long k = 0;
  for (; k + 3 < reduce; k += 4) { a0 += p[k * inner]; a1 += p[(k + 1) * inner]; a2 += p[(k + 2) * inner]; a3 += p[(k + 3) * inner]; }
  for (; k < reduce; ++k) a0 += p[k * inner];
  y[i] = (a0 + a1) + (a2 + a3);
}
torch::Tensor sum_forward(torch::Tensor x, int64_t dim) {
  if (dim < 0) dim += x.dim();
  auto sizes = x.sizes().vec();
  long outer = 1, inner = 1, reduce = sizes[dim];
  for (int64_t i = 0; i < dim; ++i) outer *= sizes[i];
  for (int64_t i = dim + 1; i < (int64_t)sizes.size(); ++i) inner *= sizes[i];
  sizes[dim] = 1;
  auto y = torch::empty(sizes, x.options());
  const int64_t n = y.numel();
  sum_dim<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), outer, reduce, inner);
  return y;
}
"""
ext = load_inline("sumdim", ["torch::Tensor sum_forward(torch::Tensor x, int64_t dim);"], [src], functions=["sum_forward"])

class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return ext.sum_forward(x.contiguous(), self.dim)
