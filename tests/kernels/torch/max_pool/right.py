import torch
import torch.nn as nn
import torch.nn.functional as F

from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>

__global__ void kernel(const float* x, float* y, int planes, int H, int W, int P, int Q) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * P * Q) return;
    int q = i % Q, p = i / Q % P, c = i / (Q * P);
    float m = -INFINITY;
    for (int r = 0; r < 3; ++r)
        for (int s = 0; s < 3; ++s) {
            int h = p * 2 - 1 + r, w = q * 2 - 1 + s;
            if (h >= 0 && h < H && w >= 0 && w < W) m = fmaxf(m, x[(c * H + h) * W + w]);
        }
    y[i] = m;
}
torch::Tensor run(torch::Tensor x) {
    int B = x.size(0), C = x.size(1), H = x.size(2), W = x.size(3), P = (H - 1) / 2 + 1, Q = (W - 1) / 2 + 1;
    auto y = torch::empty({B, C, P, Q}, x.options());
    kernel<<<(B * C * P * Q + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), B * C, H, W, P, Q);
    return y;
}

"""
extension = load_inline(
    name="max_pool",
    cpp_sources="torch::Tensor run(torch::Tensor x);",
    cuda_sources=SOURCE,
    functions=["run"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.run(x.contiguous())
