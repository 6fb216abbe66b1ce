import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

__constant__ float c_weight[4096];

__global__ void depthwise_kernel(const float* __restrict__ x, float* __restrict__ y,
                                 int N, int C, int H, int W, int OH, int OW, int K, int S, int P) {
    int ow = blockIdx.x * blockDim.x + threadIdx.x;
    int oh = blockIdx.y * blockDim.y + threadIdx.y;
    int nc = blockIdx.z;
    if (ow >= OW || oh >= OH) return;
    int c = nc % C;
    const float* xin = x + (long long)nc * H * W;
    float acc = 0.0f;
    for (int kh = 0; kh < K; ++kh) {
        int ih = oh * S - P + kh;
        if (ih < 0 || ih >= H) continue;
        for (int kw = 0; kw < K; ++kw) {
            int iw = ow * S - P + kw;
            if (iw < 0 || iw >= W) continue;
            acc += xin[ih * W + iw] * c_weight[(c * K + kh) * K + kw];
        }
    }
    y[((long long)nc * OH + oh) * OW + ow] = acc;
}

torch::Tensor depthwise_cuda(torch::Tensor x, torch::Tensor w, int stride, int padding) {
    x = x.contiguous();
    w = w.contiguous();
    int N = x.size(0), C = x.size(1), H = x.size(2), W = x.size(3), K = w.size(2);
    int OH = (H + 2 * padding - K) / stride + 1;
    int OW = (W + 2 * padding - K) / stride + 1;
    auto y = torch::empty({N, C, OH, OW}, x.options());
    cudaMemcpyToSymbol(c_weight, w.data_ptr<float>(), C * K * K * sizeof(float), 0, cudaMemcpyDeviceToDevice);
    dim3 block(16, 16);
    dim3 grid((OW + 15) / 16, (OH + 15) / 16, N * C);
    depthwise_kernel<<<grid, block>>>(x.data_ptr<float>(), y.data_ptr<float>(), N, C, H, W, OH, OW, K, stride, padding);
    return y;
}
"""
cpp_source = "torch::Tensor depthwise_cuda(torch::Tensor x, torch::Tensor w, int stride, int padding);"
ext = load_inline(name="dw_const", cpp_sources=cpp_source, cuda_sources=cuda_source, functions=["depthwise_cuda"], verbose=True)

class ModelNew(nn.Module):
    def __init__(self, in_channels: int, kernel_size: int, stride: int = 1, padding: int = 0, bias: bool = False):
        super(ModelNew, self).__init__()
        self.conv2d = nn.Conv2d(in_channels, in_channels, kernel_size=kernel_size, stride=stride, padding=padding, groups=in_channels, bias=bias)
        self.stride = stride
        self.padding = padding

    def forward(self, x):
        return ext.depthwise_cuda(x, self.conv2d.weight, self.stride, self.padding)
