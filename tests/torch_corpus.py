"""Modules of PyTorch in the manner of benchmarks for written kernels, right and wrong, to verify.

``python tests/torch_corpus.py DIR`` writes them as folders, for ``python -m benchmarks kernels DIR``.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

HEAD = """
import torch
import torch.nn as nn
import torch.nn.functional as F
"""


@dataclass(frozen=True)
class Pair:
    """A problem and a solution.

    Attributes
    ----------
    problem : str
        Constants, ``Model`` and the functions that make inputs.
    text : str
        The right solution, but for its head.
    faults : mapping of str to (str, str)
        Names of faults, each with a text of the solution and what stands in its place.
    harmless : mapping of str to (str, str)
        Edits that change nothing.
    """

    problem: str
    text: str
    faults: dict[str, tuple[str, str]]
    harmless: dict[str, tuple[str, str]]

    def solution(self, edit: tuple[str, str] | None = None) -> str:
        text = HEAD + self.text
        if edit is not None:
            assert text.count(edit[0]) == 1, edit
            text = text.replace(*edit)
        return text


FUNCTION_PROBLEM = """
batch_size = 10
dim = 1000


class Model(nn.Module):
    def forward(self, x):
        return EXPRESSION


def get_inputs():
    return [torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
"""

FUNCTION = '''
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void kernel(const float* __restrict__ x, float* __restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        y[i] = EXPRESSION;
    }
}
torch::Tensor run(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int n = x.numel();
    kernel<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
"""
extension = load_inline(
    name="function",
    cpp_sources="torch::Tensor run(torch::Tensor x);",
    cuda_sources=SOURCE,
    functions=["run"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.run(x.contiguous())
'''


def elementwise(wanted: str, written: str, faults: dict[str, tuple[str, str]]) -> Pair:
    """Return a function of one number, of all elements of a matrix: of PyTorch, and of CUDA."""
    more = {"one_row": ("int n = x.numel();", "int n = x.size(1);")}
    harmless = {"zeros": ("torch::empty_like(x)", "torch::zeros_like(x)")}
    text = FUNCTION.replace("EXPRESSION", written)
    return Pair(FUNCTION_PROBLEM.replace("EXPRESSION", wanted), text, more | faults, harmless)


_ERF = "erff(v * 0.70710678f)"
_TANH = "tanhf(0.7978845608f * (v + 0.044715f * v * v * v))"

PAIRS: dict[str, Pair] = {
    "relu": elementwise(
        "torch.relu(x)",
        "v > 0.f ? v : 0.f",
        {"missing_bound": ("if (i < n) {", "{"), "leaky": (": 0.f", ": 0.01f * v")},
    ),
    "leaky_relu": elementwise(
        "F.leaky_relu(x, negative_slope=0.01)", "v > 0.f ? v : 0.01f * v", {"slope": ("0.01f", "0.1f")}
    ),
    "tanh": elementwise("torch.tanh(x)", "tanhf(v)", {"sigmoid": ("tanhf(v)", "1.f / (1.f + expf(-v))")}),
    "sigmoid": elementwise("torch.sigmoid(x)", "1.f / (1.f + expf(-v))", {"sign": ("expf(-v)", "expf(v)")}),
    "gelu": elementwise("F.gelu(x)", f"0.5f * v * (1.0f + {_ERF})", {"tanh": (_ERF, _TANH)}),
    "gelu_tanh": elementwise(
        "F.gelu(x, approximate='tanh')", f"0.5f * v * (1.0f + {_TANH})", {"exact": (_TANH, _ERF)}
    ),
    "silu": elementwise("x * torch.sigmoid(x)", "v / (1.f + expf(-v))", {"sign": ("expf(-v)", "expf(v)")}),
    "elu": elementwise(
        "F.elu(x, alpha=1.0)", "v > 0.f ? v : expf(v) - 1.f", {"minus": ("expf(v) - 1.f", "expf(v)")}
    ),
    "hardtanh": elementwise(
        "F.hardtanh(x, min_val=-1., max_val=1.)", "fminf(fmaxf(v, -1.f), 1.f)", {"ends": ("-1.f)", "-2.f)")}
    ),
    "softsign": elementwise("x / (1 + torch.abs(x))", "v / (1.f + fabsf(v))", {"sign": ("fabsf(v)", "v")}),
    "hardsigmoid": elementwise(
        "F.hardsigmoid(x)", "fminf(fmaxf((v + 3.f) / 6.f, 0.f), 1.f)", {"slope": ("/ 6.f", "/ 5.f")}
    ),
    "argmax": Pair(
        r"""
batch_size = 8
dim = 100


class Model(nn.Module):
    def forward(self, x):
        return torch.argmax(x, dim=1)


def get_inputs():
    return [torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
""",
        r'''
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>

__global__ void kernel(const float* x, int64_t* y, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float best = x[row * n];
    int at = 0;
    for (int j = 1; j < n; ++j)
        if (x[row * n + j] > best) {
            best = x[row * n + j];
            at = j;
        }
    y[row] = at;
}
torch::Tensor run(torch::Tensor x) {
    int rows = x.size(0);
    auto y = torch::empty({rows}, x.options().dtype(torch::kLong));
    kernel<<<(rows + 31) / 32, 32>>>(x.data_ptr<float>(), y.data_ptr<int64_t>(), rows, x.size(1));
    return y;
}

"""
extension = load_inline(
    name="argmax",
    cpp_sources="torch::Tensor run(torch::Tensor x);",
    cuda_sources=SOURCE,
    functions=["run"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.run(x.contiguous())
''',
        {
            "last": (
                "j] > bes",
                "j] >= bes",
            ),
            "least": (
                " j] > be",
                " j] < be",
            ),
        },
        {},
    ),
    "batch_norm": Pair(
        r"""
batch_size = 4
features = 8
height = 16
width = 16


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bn = nn.BatchNorm2d(features)

    def forward(self, x):
        return self.bn(x)


def get_inputs():
    return [torch.randn(batch_size, features, height, width)]


def get_init_inputs():
    return [features]
""",
        r'''
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>

__global__ void kernel(const float* x, const float* w, const float* b, float* y, int N, int C, int S,
                       float eps) {
    __shared__ float sums[128], squares[128];
    int c = blockIdx.x, t = threadIdx.x;
    float s = 0, q = 0;
    for (int i = t; i < N * S; i += 128) {
        float v = x[(i / S * C + c) * S + i % S];
        s += v;
        q += v * v;
    }
    sums[t] = s;
    squares[t] = q;
    __syncthreads();
    for (int o = 64; o > 0; o >>= 1) {
        if (t < o) {
            sums[t] += sums[t + o];
            squares[t] += squares[t + o];
        }
        __syncthreads();
    }
    float mean = sums[0] / (N * S), variance = squares[0] / (N * S) - mean * mean;
    float scale = rsqrtf(variance + eps) * w[c];
    for (int i = t; i < N * S; i += 128) {
        int at = (i / S * C + c) * S + i % S;
        y[at] = (x[at] - mean) * scale + b[c];
    }
}
torch::Tensor run(torch::Tensor x, torch::Tensor w, torch::Tensor b, double eps) {
    auto y = torch::empty_like(x);
    int C = x.size(1);
    kernel<<<C, 128>>>(x.data_ptr<float>(), w.data_ptr<float>(), b.data_ptr<float>(), y.data_ptr<float>(),
                       x.size(0), C, x.size(2) * x.size(3), eps);
    return y;
}

"""
extension = load_inline(
    name="batch_norm",
    cpp_sources="torch::Tensor run(torch::Tensor x, torch::Tensor w, torch::Tensor b, double eps);",
    cuda_sources=SOURCE,
    functions=["run"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bn = nn.BatchNorm2d(features)

    def forward(self, x):
        return extension.run(x.contiguous(), self.bn.weight, self.bn.bias, self.bn.eps)
''',
        {
            "no_batch": (
                r"""0;
    for (int i = t; i < N * S; i += 128) {""",
                r"""0;
    for (int i = t; i < S; i += 128) {""",
            ),
        },
        {},
    ),
    "convolution": Pair(
        r"""
batch_size = 4
in_channels = 3
out_channels = 8
kernel_size = 3
height = 64
width = 64


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, stride=2, padding=1)

    def forward(self, x):
        return torch.relu(self.conv(x))


def get_inputs():
    return [torch.randn(batch_size, in_channels, height, width)]


def get_init_inputs():
    return [in_channels, out_channels, kernel_size]
""",
        r'''
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
''',
        {
            "edge": (
                "if (h >= 0 && h < H",
                "if (h < H",
            ),
            "padding": (
                " 2 - 1 + s",
                " 2 + s",
            ),
            "turned": (
                "r) * R + s",
                "s) * R + r",
            ),
        },
        {},
    ),
    "cumsum": Pair(
        r"""
batch_size = 8
dim = 200


class Model(nn.Module):
    def forward(self, x):
        return torch.cumsum(x, dim=1)


def get_inputs():
    return [torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
""",
        r'''
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>

__global__ void kernel(const float* x, float* y, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int j = 0; j < n; ++j) {
        sum += x[row * n + j];
        y[row * n + j] = sum;
    }
}
torch::Tensor run(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int rows = x.size(0);
    kernel<<<(rows + 31) / 32, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), rows, x.size(1));
    return y;
}

"""
extension = load_inline(
    name="cumsum",
    cpp_sources="torch::Tensor run(torch::Tensor x);",
    cuda_sources=SOURCE,
    functions=["run"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.run(x.contiguous())
''',
        {
            "exclusive": (
                r"""sum += x[row * n + j];
        y[row * n + j] = sum""",
                r"""y[row * n + j] = sum;
        sum += x[row * n + j]""",
            ),
        },
        {},
    ),
    "layer_norm": Pair(
        r"""
batch_size = 16
features = 768


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.ln = nn.LayerNorm(features)

    def forward(self, x):
        return self.ln(x)


def get_inputs():
    return [torch.randn(batch_size, features)]


def get_init_inputs():
    return [features]
""",
        r'''
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>

__inline__ __device__ float warp_sum(float v) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
    return v;
}
__global__ void kernel(const float* x, const float* w, const float* b, float* y, int n, float eps) {
    __shared__ float mean, scale;
    const float* row = x + blockIdx.x * n;
    float s = 0;
    for (int j = threadIdx.x; j < n; j += 32) s += row[j];
    s = warp_sum(s);
    if (threadIdx.x == 0) mean = s / n;
    __syncthreads();
    float q = 0;
    for (int j = threadIdx.x; j < n; j += 32) q += (row[j] - mean) * (row[j] - mean);
    q = warp_sum(q);
    if (threadIdx.x == 0) scale = rsqrtf(q / n + eps);
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += 32) y[blockIdx.x * n + j] = (row[j] - mean) * scale * w[j] + b[j];
}
torch::Tensor run(torch::Tensor x, torch::Tensor w, torch::Tensor b, double eps) {
    auto y = torch::empty_like(x);
    int rows = x.size(0), n = x.size(1);
    kernel<<<rows, 32>>>(x.data_ptr<float>(), w.data_ptr<float>(), b.data_ptr<float>(),
                         y.data_ptr<float>(), n, eps);
    return y;
}

"""
extension = load_inline(
    name="layer_norm",
    cpp_sources="torch::Tensor run(torch::Tensor x, torch::Tensor w, torch::Tensor b, double eps);",
    cuda_sources=SOURCE,
    functions=["run"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.ln = nn.LayerNorm(features)

    def forward(self, x):
        return extension.run(x.contiguous(), self.ln.weight, self.ln.bias, self.ln.eps)
''',
        {
            "bias_left_out": (
                "] + b[j]",
                "]",
            ),
            "eps_outside": (
                "n + eps)",
                "n) + eps",
            ),
            "sample_variance": (
                "q / n + ",
                "q / (n - 1) + ",
            ),
        },
        {},
    ),
    "linear_gelu": Pair(
        r"""
batch_size = 8
in_features = 256
out_features = 512


class Model(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return F.gelu(self.linear(x)) * 0.5


def get_inputs():
    return [torch.randn(batch_size, in_features)]


def get_init_inputs():
    return [in_features, out_features]
""",
        r'''
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>

__global__ void kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        y[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f)) * 0.5f;
    }
}
torch::Tensor run(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int n = x.numel();
    kernel<<<(n + 127) / 128, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}

"""
extension = load_inline(
    name="linear_gelu",
    cpp_sources="torch::Tensor run(torch::Tensor x);",
    cuda_sources=SOURCE,
    functions=["run"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)

    def forward(self, x):
        return extension.run(self.linear(x))
''',
        {
            "no_bias": (
                "self.linear(x",
                "F.linear(x, self.linear.weight",
            ),
            "tanh": (
                "erff(v * 0.70710678f",
                "tanhf(0.7978845608f * (v + 0.044715f * v * v * v)",
            ),
        },
        {
            "matmul": (
                "self.linear(x",
                "torch.addmm(self.linear.bias, x, self.linear.weight.t()",
            ),
        },
    ),
    "matmul": Pair(
        r"""
M = 512
K = 384
N = 640


class Model(nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [torch.randn(M, K), torch.randn(K, N)]


def get_init_inputs():
    return []
""",
        r'''
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>

#define TILE 16
__global__ void kernel(const float* a, const float* b, float* c, int m, int k, int n) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
        int ka = t * TILE + threadIdx.x, kb = t * TILE + threadIdx.y;
        as[threadIdx.y][threadIdx.x] = row < m && ka < k ? a[row * k + ka] : 0.f;
        bs[threadIdx.y][threadIdx.x] = kb < k && column < n ? b[kb * n + column] : 0.f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}
torch::Tensor run(torch::Tensor a, torch::Tensor b) {
    TORCH_CHECK(a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(0), "shapes");
    int m = a.size(0), k = a.size(1), n = b.size(1);
    auto c = torch::zeros({m, n}, a.options());
    dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    kernel<<<grid, block>>>(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), m, k, n);
    return c;
}

"""
extension = load_inline(
    name="matmul",
    cpp_sources="torch::Tensor run(torch::Tensor a, torch::Tensor b);",
    cuda_sources=SOURCE,
    functions=["run"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, a, b):
        return extension.run(a.contiguous(), b.contiguous())
''',
        {
            "no_barrier": (
                r"""];
        __syncthreads();""",
                "];",
            ),
            "stride": (
                "b * n + ",
                "b * k + ",
            ),
            "transposed": (
                "threadIdx.y][i",
                "i][threadIdx.y",
            ),
        },
        {
            "empty": (
                "::zeros(",
                "::empty(",
            ),
        },
    ),
    "max_pool": Pair(
        r"""
batch_size = 4
channels = 8
height = 64
width = 64


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)

    def forward(self, x):
        return self.pool(x)


def get_inputs():
    return [torch.randn(batch_size, channels, height, width)]


def get_init_inputs():
    return []
""",
        r'''
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
''',
        {
            "start": (
                "-INFINITY",
                "0.f",
            ),
            "window": (
                "s < 3; +",
                "s < 2; +",
            ),
        },
        {},
    ),
    "max_rows": Pair(
        r"""
batch_size = 64
dim = 1000


class Model(nn.Module):
    def forward(self, x):
        return torch.max(x, dim=1)[0]


def get_inputs():
    return [torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
""",
        r'''
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>
__device__ float plus(float a, float b) { return a + b; }
__global__ void kernel(const float* x, float* y, int rows, int n) {
    __shared__ float part[256];
    int row = blockIdx.x, t = threadIdx.x;
    float total = -INFINITY;
    for (int j = t; j < n; j += blockDim.x) total = fmaxf(total, x[row * n + j]);
    part[t] = total;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) part[t] = fmaxf(part[t], part[t + s]);
        __syncthreads();
    }
    if (t == 0) y[row] = part[0] ;
}
torch::Tensor run(torch::Tensor x) {
    int rows = x.size(0), n = x.size(1);
    auto y = torch::empty({rows}, x.options());
    kernel<<<rows, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), rows, n);
    return y;
}

"""
extension = load_inline(
    name="max_rows",
    cpp_sources="torch::Tensor run(torch::Tensor x);",
    cuda_sources=SOURCE,
    functions=["run"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.run(x.contiguous())
''',
        {
            "no_barrier": (
                r"""
    __syncthreads();""",
                "",
            ),
            "start": (
                "INFINITY",
                "1e10f",
            ),
        },
        {},
    ),
    "mean_rows": Pair(
        r"""
batch_size = 64
dim = 1000


class Model(nn.Module):
    def forward(self, x):
        return torch.mean(x, dim=1)


def get_inputs():
    return [torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
""",
        r'''
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>
__device__ float plus(float a, float b) { return a + b; }
__global__ void kernel(const float* x, float* y, int rows, int n) {
    __shared__ float part[256];
    int row = blockIdx.x, t = threadIdx.x;
    float total = 0.f;
    for (int j = t; j < n; j += blockDim.x) total = plus(total, x[row * n + j]);
    part[t] = total;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) part[t] = plus(part[t], part[t + s]);
        __syncthreads();
    }
    if (t == 0) y[row] = part[0] / n;
}
torch::Tensor run(torch::Tensor x) {
    int rows = x.size(0), n = x.size(1);
    auto y = torch::empty({rows}, x.options());
    kernel<<<rows, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), rows, n);
    return y;
}

"""
extension = load_inline(
    name="mean_rows",
    cpp_sources="torch::Tensor run(torch::Tensor x);",
    cuda_sources=SOURCE,
    functions=["run"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.run(x.contiguous())
''',
        {
            "no_barrier": (
                r"""
    __syncthreads();""",
                "",
            ),
            "sample": (
                "[0] / n;",
                "[0] / (n - 1);",
            ),
        },
        {},
    ),
    "min_rows": Pair(
        r"""
batch_size = 64
dim = 1000


class Model(nn.Module):
    def forward(self, x):
        return torch.min(x, dim=1)[0]


def get_inputs():
    return [torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
""",
        r'''
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>
__device__ float plus(float a, float b) { return a + b; }
__global__ void kernel(const float* x, float* y, int rows, int n) {
    __shared__ float part[256];
    int row = blockIdx.x, t = threadIdx.x;
    float total = INFINITY;
    for (int j = t; j < n; j += blockDim.x) total = fminf(total, x[row * n + j]);
    part[t] = total;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) part[t] = fminf(part[t], part[t + s]);
        __syncthreads();
    }
    if (t == 0) y[row] = part[0] ;
}
torch::Tensor run(torch::Tensor x) {
    int rows = x.size(0), n = x.size(1);
    auto y = torch::empty({rows}, x.options());
    kernel<<<rows, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), rows, n);
    return y;
}

"""
extension = load_inline(
    name="min_rows",
    cpp_sources="torch::Tensor run(torch::Tensor x);",
    cuda_sources=SOURCE,
    functions=["run"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.run(x.contiguous())
''',
        {
            "no_barrier": (
                r"""
    __syncthreads();""",
                "",
            ),
            "start": (
                "INFINITY",
                "0.f",
            ),
        },
        {},
    ),
    "mse_loss": Pair(
        r"""
batch_size = 8
dim = 200


class Model(nn.Module):
    def forward(self, a, b):
        return F.mse_loss(a, b)


def get_inputs():
    return [torch.randn(batch_size, dim), torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
""",
        r'''
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
''',
        {
            "sum": (
                "(total / n)",
                "total",
            ),
            "unset": (
                "::zeros(",
                "::empty(",
            ),
        },
        {},
    ),
    "softmax": Pair(
        r"""
batch_size = 16
dim = 1000


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)


def get_inputs():
    return [torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
""",
        r'''
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>

__global__ void kernel(const float* x, float* y, int n) {
    __shared__ float part[128];
    const float* row = x + blockIdx.x * n;
    int t = threadIdx.x;
    float m = -INFINITY;
    for (int j = t; j < n; j += 128) m = fmaxf(m, row[j]);
    part[t] = m;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s) part[t] = fmaxf(part[t], part[t + s]);
        __syncthreads();
    }
    m = part[0];
    __syncthreads();
    float sum = 0;
    for (int j = t; j < n; j += 128) sum += expf(row[j] - m);
    part[t] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    for (int j = t; j < n; j += 128) y[blockIdx.x * n + j] = expf(row[j] - m) / part[0];
}
torch::Tensor run(torch::Tensor x) {
    auto y = torch::empty_like(x);
    kernel<<<x.size(0), 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}

"""
extension = load_inline(
    name="softmax",
    cpp_sources="torch::Tensor run(torch::Tensor x);",
    cuda_sources=SOURCE,
    functions=["run"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.run(x.contiguous())
''',
        {
            "no_barrier": (
                r"""];
    __syncthreads();""",
                "];",
            ),
            "no_maximum": (
                "= part[0];",
                "= 0;",
            ),
        },
        {},
    ),
    "sum_rows": Pair(
        r"""
batch_size = 64
dim = 1000


class Model(nn.Module):
    def forward(self, x):
        return torch.sum(x, dim=1)


def get_inputs():
    return [torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
""",
        r'''
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cfloat>
__device__ float plus(float a, float b) { return a + b; }
__global__ void kernel(const float* x, float* y, int rows, int n) {
    __shared__ float part[256];
    int row = blockIdx.x, t = threadIdx.x;
    float total = 0.f;
    for (int j = t; j < n; j += blockDim.x) total = plus(total, x[row * n + j]);
    part[t] = total;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) part[t] = plus(part[t], part[t + s]);
        __syncthreads();
    }
    if (t == 0) y[row] = part[0] ;
}
torch::Tensor run(torch::Tensor x) {
    int rows = x.size(0), n = x.size(1);
    auto y = torch::empty({rows}, x.options());
    kernel<<<rows, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), rows, n);
    return y;
}

"""
extension = load_inline(
    name="sum_rows",
    cpp_sources="torch::Tensor run(torch::Tensor x);",
    cuda_sources=SOURCE,
    functions=["run"],
    verbose=False,
)


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.run(x.contiguous())
''',
        {
            "missed": (
                " = t; j ",
                " = t + 1; j ",
            ),
            "no_barrier": (
                r"""
    __syncthreads();""",
                "",
            ),
        },
        {},
    ),
    "triton_add": Pair(
        r"""
batch_size = 16
dim = 1000


class Model(nn.Module):
    def forward(self, x, y):
        return torch.relu(x + y)


def get_inputs():
    return [torch.randn(batch_size, dim), torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
""",
        r"""
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.maximum(x + y, 0.0), mask=mask)


class ModelNew(nn.Module):
    def forward(self, x, y):
        out = torch.empty_like(x)
        n = out.numel()
        kernel[(triton.cdiv(n, 256),)](x, y, out, n, BLOCK=256)
        return out
""",
        {
            "minimum": (
                "l.maximu",
                "l.minimu",
            ),
            "no_mask": (
                "), mask=mask",
                ")",
            ),
            "part": (
                "triton.cdiv(n, 256)",
                "n // 256",
            ),
        },
        {
            "grid": (
                "(triton.cdiv(n, 256",
                r"""lambda meta: (triton.cdiv(n, meta['BLOCK']""",
            ),
        },
    ),
    "triton_softmax": Pair(
        r"""
batch_size = 16
dim = 1000


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)


def get_inputs():
    return [torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
""",
        r"""
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=-float("inf"))
    powers = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * n + columns, powers / tl.sum(powers, axis=0), mask=columns < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]), num_warps=4)
        return y
""",
        {
            "other": (
                '-float("inf")',
                "0.0",
            ),
            "rows": (
                "e[0],)](",
                "e[0] - 1,)](",
            ),
        },
        {},
    ),
}
"""All of them by name."""


def write(folder: Path) -> None:
    """Write every pair as a folder: the problem, the right solution, harmless edits and faults."""
    for name, pair in PAIRS.items():
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        (place / "problem.py").write_text(HEAD + pair.problem, encoding="utf-8")
        (place / "right.py").write_text(pair.solution(), encoding="utf-8")
        for kind, edits in (("fault", pair.faults), ("right", pair.harmless)):
            for edit, texts in edits.items():
                (place / f"{kind}_{edit}.py").write_text(pair.solution(texts), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
