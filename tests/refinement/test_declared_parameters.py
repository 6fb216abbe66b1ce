"""Names and types of parameters, as sources declare them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from mmaproof.refinement.drafts.declared_parameters import Declared, of_cuda, of_object, of_triton

POWER = shutil.which("powerpc64le-linux-gnu-gcc-12") or shutil.which("powerpc64le-linux-gnu-gcc")

SOURCE = """
// __global__ void gemm(int no, int comment)
template <typename T, int N = (3, 4)>
__global__ void __launch_bounds__(256, 2) gemm(
    const T *__restrict__ a, /* second, */ T* b, const float (&alpha), unsigned int n = (1, 2),
    long long rows[]);
extern "C" __global__ void other(float4 x, const __grid_constant__ Map m) {}
static __global__ __attribute__((noinline)) void nothing(void) {}
"""


def outline(entry: str, count: int) -> SimpleNamespace:
    """Return what a draft knows of a kernel: its name, and parameters by number."""
    return SimpleNamespace(
        entry=entry, parameters=[SimpleNamespace(name=f"{entry}_param_{number}") for number in range(count)]
    )


def named(declared: dict[str, Declared]) -> list[tuple[str, str]]:
    return [(each.name, each.type) for each in declared.values()]


def test_a_cuda_source_names_the_parameters_of_its_kernels() -> None:
    assert named(of_cuda(SOURCE, outline("other", 2))) == [("x", "float4"), ("m", "Map")]
    found = of_cuda(SOURCE.replace("(&alpha)", "alpha"), outline("_Z4gemmIfLi4EEvPKT_PS0_fjPx", 5))
    assert named(found) == [
        ("a", "T*"), ("b", "T*"), ("alpha", "float"), ("n", "unsigned int"), ("rows", "long long*"),
    ]  # fmt: skip
    assert next(iter(found)) == "_Z4gemmIfLi4EEvPKT_PS0_fjPx_param_0"


@pytest.mark.parametrize(("entry", "count"), [("other", 3), ("missing", 2), ("gemm", 5), ("nothing", 1)])
def test_what_does_not_fit_is_left(entry: str, count: int) -> None:
    assert of_cuda(SOURCE, outline(entry, count)) == {}


@pytest.mark.parametrize("text", ["", "__global__", "__global__ void f(", "__global__ f(int a, int", "((((<"])
def test_broken_sources_declare_nothing(text: str) -> None:
    assert of_cuda(text, outline("f", 2)) == {}


def test_a_signature_of_triton_names_all_but_constants() -> None:
    signature = {"x": "*fp16", "n": "i32", "BLOCK": "constexpr", "y": "*fp8e4nv", "d": "tensordesc<fp16[8]>"}
    assert named(of_triton(signature, outline("k", 6))) == [
        ("x", "__half*"), ("n", "int"), ("y", "__nv_fp8_e4m3*"), ("d", ""),
    ]  # fmt: skip
    assert of_triton(signature, outline("k", 3)) == {}


@pytest.mark.skipif(POWER is None, reason="no gcc for Power")
def test_an_object_file_names_arguments_by_their_registers(tmp_path: Path) -> None:
    source, made = tmp_path / "axpy.c", tmp_path / "axpy.o"
    source.write_text(
        "void axpy(long n, double alpha, const double *restrict x, float beta, unsigned short *y)\n"
        "{ for (long i = 0; i < n; i++) y[i] = alpha * x[i] + beta; }\n",
        encoding="utf-8",
    )
    subprocess.run([POWER, "-mcpu=power10", "-O2", "-g", "-c", source, "-o", made], check=True)
    assert of_object(made, outline("axpy", 5)) == {
        "r3": Declared("n", "long"),
        "f1": Declared("alpha", "double"),
        "r5": Declared("x", "double*"),
        "f2": Declared("beta", "float"),
        "r7": Declared("y", "unsigned short*"),
    }
    assert of_object(made, outline("other", 5)) == {}
    assert of_object(source, outline("axpy", 5)) == {}
