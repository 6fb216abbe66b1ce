import torch
import torch.nn as nn
import torch.nn.functional as F

from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>

__global__ void kernel(const float* a, const float* b, float* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float d = i < n ? a[i] - b[i] : 0.f;
    atomicAdd(total, d * d);
}
torch::Tensor run(torch::Tensor a, torch::Tensor b) {
    auto total = torch::zeros({1}, a.options());
    int n = a.numel();
    kernel<<<(n + 255) / 256, 256>>>(a.data_ptr<float>(), b.data_ptr<float>(), total.data_ptr<float>(), n);
    return (total / n).squeeze();
}

"""
extension = load_inline(
    name="mse_loss",
    cpp_sources="torch::Tensor run(torch::Tensor a, torch::Tensor b);",
    cuda_sources=SOURCE,
    functions=["run"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, a, b):
        return extension.run(a, b)
