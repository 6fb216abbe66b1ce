import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def _mul(a, b):
    return a * b

@triton.jit
def cumprod_kernel(x_ptr, y_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    carry = 1.0
    for s in range(0, D, BLOCK):
        o = s + tl.arange(0, BLOCK)
        m = o < D
        x = tl.load(x_ptr + row * D + o, mask=m, other=1.0)
        c = tl.associative_scan(x, 0, _mul) * carry
        tl.store(y_ptr + row * D + o, c, mask=m)
        carry = carry * tl.reduce(x, 0, _mul)

class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        y = torch.empty_like(x)
        cumprod_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=128)
        return y
