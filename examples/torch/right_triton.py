"""The same, with a kernel of Triton."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def scaled_gelu(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    y = 0.25 * x * (1 + tl.erf(x * 0.7071067811865476))
    tl.store(y_ptr + at, y, mask=at < n)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        x = self.linear(x)
        y = torch.empty_like(x)
        scaled_gelu[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
        return y
