import torch
import torch.nn as nn
import torch.nn.functional as F

from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>

__global__ void kernel(const float* x, const float* w, const float* b, float* y, int B, int C, int H, int W,
                       int O, int P, int Q, int R) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= B * O * P * Q) return;
    int q = i % Q, p = i / Q % P, o = i / (Q * P) % O, n = i / (Q * P * O);
    float sum = b[o];
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < R; ++s) {
                int h = p * 2 - 1 + r, v = q * 2 - 1 + s;
                if (h >= 0 && h < H && v >= 0 && v < W)
                    sum += x[((n * C + c) * H + h) * W + v] * w[((o * C + c) * R + r) * R + s];
            }
    y[i] = fmaxf(sum, 0.f);
}
torch::Tensor run(torch::Tensor x, torch::Tensor w, torch::Tensor b) {
    int B = x.size(0), C = x.size(1), H = x.size(2), W = x.size(3), O = w.size(0), R = w.size(2);
    int P = (H + 2 - R) / 2 + 1, Q = (W + 2 - R) / 2 + 1;
    auto y = torch::empty({B, O, P, Q}, x.options());
    int n = B * O * P * Q;
    kernel<<<(n + 127) / 128, 128>>>(x.data_ptr<float>(), w.data_ptr<float>(), b.data_ptr<float>(),
                                     y.data_ptr<float>(), B, C, H, W, O, P, Q, R);
    return y;
}

"""
extension = load_inline(
    name="convolution",
    cpp_sources="torch::Tensor run(torch::Tensor x, torch::Tensor w, torch::Tensor b);",
    cuda_sources=SOURCE,
    functions=["run"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, stride=2, padding=1)

    def forward(self, x):
        return extension.run(x.contiguous(), self.conv.weight, self.conv.bias)
