import os
import tempfile
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load

_dir = tempfile.mkdtemp()
_cu = os.path.join(_dir, "fused_post.cu")
with open(_cu, "w") as f:
    f.write(r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>

constexpr int THREADS = 256;

__global__ void __launch_bounds__(THREADS) fused_post(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ y,
                                                      unsigned n, unsigned hw, unsigned c, float scale) {
  for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
    float v = x[i] + __ldg(bias + (i / hw) % c);
    v = fminf(fmaxf(v, 0.f), 1.f);
    v = fminf(fmaxf(v * scale, 0.f), 1.f) / scale;
    y[i] = v;
  }
}

torch::Tensor forward(const torch::Tensor& x_, const torch::Tensor& bias, double scale) {
  TORCH_CHECK(x_.device().is_cuda(), "x must be on CUDA");
  auto x = x_.contiguous();
  auto y = torch::empty_like(x);
  auto stream = at::cuda::getCurrentCUDAStream().stream();
  const unsigned n = static_cast<unsigned>(x.numel());
  const unsigned blocks = std::min(4096u, (n + THREADS - 1) / THREADS);
  fused_post<<<blocks, THREADS, 0, stream>>>(x.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), n,
                                             x.size(2) * x.size(3), x.size(1), (float)scale);
  C10_CUDA_CHECK(cudaGetLastError());
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward);
}
""")
fused_post = load(name="fused_post", sources=[_cu], extra_cuda_cflags=["-O3"], verbose=False)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, output_padding, bias_shape, scaling_factor):
        super().__init__()
        self.conv_transpose = nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride=stride, padding=padding, output_padding=output_padding)
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.scaling_factor = scaling_factor

    def forward(self, x):
        return fused_post.forward(self.conv_transpose(x), self.bias, self.scaling_factor)
