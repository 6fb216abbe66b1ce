import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def instnorm_div(x_ptr, y_ptr, HW, inv_div, eps, BLOCK: tl.constexpr):
    base = tl.program_id(0) * HW
    s = tl.zeros((BLOCK,), dtype=tl.float32)
    q = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in range(0, HW, BLOCK):
        o = i + tl.arange(0, BLOCK)
        v = tl.load(x_ptr + base + o, mask=o < HW, other=0.)
        s += v
        q += v * v
    mean = tl.sum(s, 0) / HW
    var = tl.sum(q, 0) / HW - mean * mean
    r = tl.rsqrt(var + eps) * inv_div
    for i in range(0, HW, BLOCK):
        o = i + tl.arange(0, BLOCK)
        v = tl.load(x_ptr + base + o, mask=o < HW, other=0.)
        tl.store(y_ptr + base + o, (v - mean) * r, mask=o < HW)

class ModelNew(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, divide_by):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size)
        self.eps = 1e-5
        self.inv = 1.0 / divide_by

    def forward(self, x):
        x = self.conv(x).contiguous()
        y = torch.empty_like(x)
        n, c, h, w = x.shape
        instnorm_div[(n * c,)](x, y, h * w, self.inv, self.eps, BLOCK=128)
        return y
