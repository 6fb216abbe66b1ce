import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def bn_swish_kernel(x_ptr, y_ptr, weight_ptr, bn_bias_ptr, bias_ptr, B, F, eps, divide, BLOCK_B: tl.constexpr):
    col = tl.program_id(0)
    offs = tl.arange(0, BLOCK_B)
    mask = offs < B
    x = tl.load(x_ptr + offs * F + col, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / B
    d = tl.where(mask, x - mean, 0.0)
    var = tl.sum(d * d, axis=0) / B
    rstd = 1.0 / tl.sqrt(var + eps)
    z = d * rstd * tl.load(weight_ptr + col) + tl.load(bn_bias_ptr + col) + tl.load(bias_ptr)
    z = z / divide
    z = z * tl.sigmoid(z)
    tl.store(y_ptr + offs * F + col, z, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, bn_eps=1e-5, bn_momentum=0.1, bias_shape=(1,), divide_value=1.0):
        super().__init__()
        self.matmul = nn.Linear(in_features, out_features)
        self.bn = nn.BatchNorm1d(out_features, eps=bn_eps, momentum=bn_momentum)
        self.bias = nn.Parameter(torch.randn(bias_shape))
        self.divide_value = divide_value

    def forward(self, x):
        x = self.matmul(x)
        y = torch.empty_like(x)
        B, F = x.shape
        bn_swish_kernel[(F,)](x, y, self.bn.weight, self.bn.bias, self.bias, B, F, self.bn.eps, self.divide_value,
                              BLOCK_B=triton.next_power_of_2(B))
        return y
