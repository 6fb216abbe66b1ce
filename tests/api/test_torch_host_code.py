"""What C++ host code of extensions does beside launches: streams, constant memory, memory of its own.

``pytest -m sweep PATH``; see `test_torch_modules` for what they need.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.torch import verify

from .test_torch_modules import PROBLEM, _pytorch

__all__ = ["_pytorch"]

pytestmark = pytest.mark.sweep

SOLUTION = '''
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
#include <c10/util/irange.h>

__constant__ float factor[2];
__device__ float other;

__global__ void times(const float* x, float* y, int n, float f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * f;
}
__global__ void by_constant(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * (factor[0] + factor[1]);
}

torch::Tensor called(torch::Tensor x, torch::Tensor weight) {
    auto y = torch::empty_like(x);
    const float* from = x.data_ptr<float>();
    float* to = y.data_ptr<float>();
    const int n = x.numel(), blocks = (n + 127) / 128;
    const size_t bytes = n * sizeof(float);
    float two[2] = {2.0f, 0.0f};
    BODY
    return y;
}
"""
declared = "torch::Tensor called(torch::Tensor x, torch::Tensor weight);"
extension = load_inline("host_code", declared, source, functions=["called"])


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.called(x, WEIGHT)
'''

STREAMS = """
    cudaStream_t one, two_;
    cudaStreamCreate{0}(&one{1});
    cudaStreamCreate{0}(&two_{1});
    times<<<blocks, 128, 0, one>>>(from, to, n, 4.0f);
    {2}
    times<<<blocks, 128, 0, two_>>>(to, to, n, 0.5f);
    {3}
"""
OTHERS = "WithFlags", ", cudaStreamNonBlocking"
WAIT = "cudaStreamSynchronize(one);"
MEMORY = """
    float* own;
    cudaMalloc(&own, bytes);
    {}
    times<<<blocks, 128>>>(own, to, n, 1.0f);
    cudaFree(own);
"""
CONSTANT = "{} by_constant<<<blocks, 128>>>(from, to, n);"

CASES = [
    (STREAMS.format("", "", WAIT, ""), "verified", ""),
    (STREAMS.format("", "", "", ""), "unsupported", "does not wait for the work in another stream"),
    (STREAMS.format("", "", "times<<<1, 1>>>(from, to, 0, 1.0f);", ""), "verified", ""),
    (
        "cudaDeviceSynchronize();" + STREAMS.format(*OTHERS, WAIT, ""),
        "unsupported",
        "before the work in its own stream has finished",
    ),
    (STREAMS.format(*OTHERS, WAIT, "cudaDeviceSynchronize();"), "unsupported", "does not wait for the work"),
    (
        "cudaDeviceSynchronize();" + STREAMS.format(*OTHERS, WAIT, "cudaDeviceSynchronize();"),
        "verified",
        "",
    ),
    (MEMORY.format("times<<<blocks, 128>>>(from, own, n, 2.0f);"), "verified", ""),
    (MEMORY.format(""), "refuted", "uninitialised"),
    (MEMORY.format("cudaMemset(own, 0, bytes);"), "refuted", "wrong-value"),
    (MEMORY.format("cudaFree(own);"), "unsupported", "memory is used after cudaFree"),
    ("cudaFree(to);", "unsupported", "cudaFree of a pointer that cudaMalloc did not return"),
    (CONSTANT.format("cudaMemcpyToSymbol(factor, two, sizeof two);"), "verified", ""),
    (CONSTANT.format("cudaMemcpyToSymbol(factor, two + 1, 4, 4);"), "refuted", "wrong-value"),
    (CONSTANT.format(""), "refuted", "wrong-value"),
    (
        CONSTANT.format("cudaMemcpyToSymbol(factor, two, 4); cudaMemcpyToSymbol(factor, two + 1, 4, 4);"),
        "unsupported",
        "factor is written in several parts",
    ),
    (
        CONSTANT.format(
            "cudaMemcpyToSymbol(factor, two, 8); by_constant<<<blocks, 128>>>(from, to, n);"
            "cudaMemcpyToSymbol(factor, from, 8, 0, cudaMemcpyDeviceToDevice);"
        ),
        "unsupported",
        "factor is written as uint8, and as float32",
    ),
    (
        CONSTANT.format("by_constant<<<blocks, 128>>>(from, to, n); cudaMemcpyToSymbol(factor, two, 8);"),
        "unsupported",
        "second call",
    ),
    (
        CONSTANT.format("cudaMemcpyToSymbol(factor, from, 8);"),
        "unsupported",
        "contradicts its addresses",
    ),
    (CONSTANT.format("cudaMemcpyToSymbol(other, two, 4);"), "unsupported", "in constant memory: other"),
    ("float* both[2]; cudaMemcpy(to, &to, 8, cudaMemcpyHostToDevice);", "unsupported", "copy of addresses"),
    ("cudaMemcpy(two, from, 8, cudaMemcpyDeviceToHost);", "unsupported", "cudaMemcpy to other than"),
    (
        "cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice); times<<<blocks, 128>>>(to, to, n, 2.0f);",
        "verified",
        "",
    ),
    (
        """auto parts = x.split(4, 0);
    x = 1.0 * torch::cat({parts[0], parts[1]}, 0);
    x = torch::where(x > 0, x, -torch::max(-x, -x)) + std::get<0>(x.max(1, true)) * 0.0;
    for (auto i : c10::irange(1)) times<<<blocks, 128>>>(x.data_ptr<float>(), to, n, 2.0f);""",
        "verified",
        "",
    ),
    (
        "x = x.view({1, 1, 8, 24});y = torch::conv2d(x, x, {}, {1, 1}, 0).view({1, 1}).expand({8, 24});",
        "unsupported",
        "launches no kernel",
    ),
    ("y = torch::gelu(x); times<<<blocks, 128>>>(from, y.data_ptr<float>(), n, 2.0f);", "verified", ""),
    (
        """namespace F = torch::nn::functional;
    x = x + 0.0 * F::silu(torch::log1p(torch::relu(torch::avg_pool1d(x, {3}, {1}, {1}))));
    times<<<blocks, 128>>>(x.data_ptr<float>(), to, n, 2.0f);""",
        "verified",
        "",
    ),
    ("x = x.contiguous(torch::MemoryFormat::ChannelsLast);", "unsupported", "a tensor in channels_last"),
    (
        'AT_DISPATCH_FLOATING_TYPES(x.type(), "called", ([&] { times<<<blocks, 128>>>(from, to, n, 2); }));',
        "verified",
        "",
    ),
]


@pytest.mark.parametrize(("body", "wanted", "message"), CASES)
def test_host_code(body: str, wanted: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "problem.py").write_text(PROBLEM, encoding="utf-8")
    text = SOLUTION.replace("BODY", body).replace("WEIGHT", "x")
    (tmp_path / "solution.py").write_text(text, encoding="utf-8")
    result = verify(tmp_path / "problem.py", tmp_path / "solution.py")
    assert result.verdict == wanted, result.findings
    assert message in " ".join(result.findings)


def test_none_is_no_tensor(tmp_path: Path) -> None:
    (tmp_path / "problem.py").write_text(PROBLEM, encoding="utf-8")
    body = "times<<<blocks, 128>>>(from, to, n, 2.0f);"
    text = SOLUTION.replace("BODY", body).replace("WEIGHT", "None")
    (tmp_path / "solution.py").write_text(text, encoding="utf-8")
    result = verify(tmp_path / "problem.py", tmp_path / "solution.py")
    assert result.verdict == "undecided" and "None for a torch::Tensor" in result.findings[0]


PLAIN = (
    SOLUTION.replace("__constant__ float factor[2];\n__device__ float other;\n", "#include <cuda_fp16.h>")
    .replace("(factor[0] + factor[1])", "2.0f")
    .replace(
        "__global__ void times",
        """
namespace affine {
template <typename T> struct Scale { T factor; __device__ T operator()(T v) const { return v * factor; } };
__host__ __device__ inline int ceil_div(int a, int b) { return (a + b - 1) / b; }
template <typename T, int BLOCK, typename F>
__global__ void __launch_bounds__(BLOCK) map(const T* __restrict__ x, T* y, const int n, const F f) {
    extern __shared__ unsigned char raw[];
    T* held = reinterpret_cast<T*>(raw);
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) held[threadIdx.x] = x[i];
    asm volatile("membar.gl;" ::: "memory");
    __syncthreads();
    if (i < n) y[i] = f(held[threadIdx.x]);
}
}
__global__ void times""",
    )
)
"""A source that needs nothing of nvcc but its PTX, and hardly anything that one may have is not there."""

CALLED = """
    auto kernel = affine::map<float, 128, affine::Scale<float>>;
    ALLOWED
    affine::Scale<float> scale{FACTOR};
    if (n > 0) kernel<<<dim3(affine::ceil_div(n, 128)), 128, 65536>>>(from, to, n, scale);
"""


@pytest.mark.parametrize(
    ("allowed", "factor", "verdict"),
    [(True, "2.0f", "verified"), (True, "3.0f", "refuted"), (False, "2.0f", "unsupported")],
)
def test_kernels_and_launches_need_no_front_end_of_nvcc(
    allowed: bool, factor: str, verdict: str, tmp_path: Path
) -> None:
    attribute = "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);"
    body = CALLED.replace("ALLOWED", attribute * allowed).replace("FACTOR", factor)
    (tmp_path / "problem.py").write_text(PROBLEM, encoding="utf-8")
    text = PLAIN.replace("BODY", body).replace("WEIGHT", "x")
    (tmp_path / "solution.py").write_text(text, encoding="utf-8")
    found = verify(tmp_path / "problem.py", tmp_path / "solution.py")
    assert found.verdict == verdict, found.findings


OWN = PLAIN.replace(
    "__global__ void times",
    """
__device__ int of_device(int n) { return n; }
__device__ constexpr int of_both(int n) { return n; }
#pragma pack(push, 1)
struct Packed { char kind; float factor; int n; };
#pragma pack(pop)
__global__ void packed(const float* x, float* y, Packed p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < p.n) y[i] = x[i] * p.factor;
}
__global__ void by_half(const float* x, float* y, int n, at::Half f, at::BFloat16 g) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * (float(f) + float(g));
}
__global__ void times""",
)
BY_HALF = "by_half<<<blocks, 128>>>(from, to, n, at::Half({0}), at::BFloat16(0.5f));"
BY_CONFIGURATION = """cudaLaunchConfig_t how = {};
    how.gridDim = dim3(blocks);
    how.blockDim = dim3(128);
    cudaLaunchKernelEx(&how, times, from, to, n, 2.0f);"""


@pytest.mark.parametrize(
    ("body", "wanted", "message"),
    [
        ("times<<<of_both(blocks), 128>>>(from, to, n, 2.0f);", "verified", ""),
        ("times<<<of_device(blocks), 128>>>(from, to, n, 2.0f);", "unsupported", "not allowed"),
        ("packed<<<blocks, 128>>>(from, to, Packed{1, 2.0f, n});", "verified", ""),
        (BY_HALF.format("1.5f"), "verified", ""),
        (BY_HALF.format("2.5f"), "refuted", "wrong-value"),
        (BY_CONFIGURATION, "verified", ""),
        (
            "cudaLaunchAttribute cluster = {}; "
            + BY_CONFIGURATION.replace("{}", "{{}, {}, 0, 0, &cluster, 1}"),
            "unsupported",
            "cudaLaunchKernelEx with attributes",
        ),
    ],
)
def test_the_host_computes_as_nvcc_lets_it(body: str, wanted: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "problem.py").write_text(PROBLEM, encoding="utf-8")
    text = OWN.replace("BODY", body).replace("WEIGHT", "x")
    (tmp_path / "solution.py").write_text(text, encoding="utf-8")
    found = verify(tmp_path / "problem.py", tmp_path / "solution.py")
    assert found.verdict == wanted, found.findings
    assert message in " ".join(found.findings)
