"""The correct kernels of the corpus run without findings, and leave what they should in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np
import pytest
from cuda_contracts import CORPUS as CUDA
from cuda_contracts import KERNELS as CUDA_KERNELS
from ptx_machine import Bench, written
from triton_contracts import CORPUS as TRITON
from triton_contracts import KERNELS

from mmaproof.refinement.ptx.run.launching import Argument, Scalar
from mmaproof.refinement.ptx.text.parser import read
from mmaproof.spec.formats import F16, F32, F64, S32, UE8M0, IntegerFormat, format_named
from mmaproof.spec.values import encodings_of_values, values_of_encodings

ADDRESSES = "grouped"
"""Kernels that take addresses from memory, which only contracts put there; they are verified with one."""
CORRECT = {name: facts for name, facts in KERNELS.items() if facts["fault"] is None}
U2, U4, S4 = IntegerFormat("u2", 2, signed=False), format_named("u4"), format_named("s4")
RANDOM = np.random.default_rng(0)

Case = tuple[Sequence[Argument | int], tuple[int, int, int], Any]
"""Arguments, grid, and what the output ``c`` must be."""


def small(*shape: int) -> Any:
    """Return integers of which sums are exact in every format."""
    return RANDOM.integers(-1, 3, shape)


def encoded(values: Any, fmt: Any) -> Any:
    return encodings_of_values("values", np.asarray(values, dtype=np.float64), fmt)


def triton_case(bench: Bench, facts: Mapping[str, Any]) -> Case:
    m, n, k = facts["tile"]
    ragged = facts["ragged"]
    rows, columns, inner = (m + 5, n + 3, k + 7) if ragged else (m, 2 * n, 2 * k)
    types = {role: format_named(kind.replace("tf32", "f32")) for role, kind in facts["types"].items()}
    a, b, bias = small(rows, inner), small(inner, columns), small(columns)

    def strided(matrix: Any) -> tuple[Any, int]:
        """Return a matrix in rows of a multiple of 16, the last of them cut off, and their length."""
        stride = ceil(matrix.shape[1] / 16) * 16
        padded = np.full((len(matrix), stride), 2)
        padded[:, : matrix.shape[1]] = matrix
        return padded.reshape(-1)[: (len(matrix) - 1) * stride + matrix.shape[1]], stride

    a_data, a_stride = strided(a)
    b_data, b_stride = strided(b.T if facts["b_columns"] else b)
    c_stride = ceil(columns / 16) * 16
    size = ((rows - 1) * c_stride + columns) * types["c"].bits // 8
    background = np.zeros(size * 8 // types["c"].bits, dtype=np.uint64)
    arguments = {
        "a_pointer": bench.given("a", encoded(a_data, types["ab"]), types["ab"]),
        "b_pointer": bench.given("b", encoded(b_data, types["ab"]), types["ab"]),
        "c_pointer": bench.given("c", background, types["c"], writable=True),
        "bias_pointer": bench.given("bias", encoded(bias, types["c"]), types["c"]),
        **{"m_size": rows, "n_size": columns, "k_size": inner},
        **{"stride_am": a_stride, "stride_bk": b_stride, "stride_bn": b_stride, "stride_cm": c_stride},
        **{"global_scratch": 0, "profile_scratch": 0},
    }
    expected = np.zeros((rows, c_stride))
    expected[:, :columns] = a @ b + (bias if facts["bias"] else 0)
    programs = ceil(rows / m) * ceil(columns / n)
    return (
        [arguments[name] for name in facts["parameters"]],
        (programs, 1, 1),
        encoded(expected.reshape(-1)[: len(background)], types["c"]),
    )


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", CORRECT)
def test_triton_kernels_compute_products(name: str) -> None:
    facts, bench = CORRECT[name], Bench()
    arguments, grid, expected = triton_case(bench, facts)
    done = bench.run(
        read(TRITON / name),
        arguments,
        grid=grid,
        block=facts["threads"],
        dynamic_shared=facts["shared_bytes"],
    )
    assert done.findings == ()
    assert done.complete
    np.testing.assert_array_equal(bench.left(done, "c", format_named(facts["types"]["c"])), expected)


def gemm(
    m: int, n: int, k: int, fmt: Any, result: Any, tile: tuple[int, int], **how: Any
) -> Callable[[Bench], Case]:
    """Return the case of a kernel with arguments A, B, C, N, K."""

    def case(bench: Bench) -> Case:
        a, b = small(m, k), small(k, n)
        arguments = [
            bench.given("a", encoded(a, fmt), fmt),
            bench.given("b", encoded(b.T if how.get("b_columns") else b, fmt), fmt),
            written("c", m * n * result.bits // 8),
            n,
            k,
        ]
        return arguments, (n // tile[1], m // tile[0], 1), encoded(a @ b, result)

    return case


def block_scaled(name_a: str, name_b: str) -> Callable[[Bench], Case]:
    def case(bench: Bench) -> Case:
        m, n, k = 16, 32, 128
        fmt_a, fmt_b = format_named(name_a), format_named(name_b)
        a, b = small(m, k), small(n, k)
        scale_a, scale_b = (2.0 ** RANDOM.integers(-1, 2, (rows, k // 32)) for rows in (m, n))
        product = (a * scale_a.repeat(32, axis=1)) @ (b * scale_b.repeat(32, axis=1)).T
        arguments = [
            bench.given("a", encoded(a, fmt_a), fmt_a),
            bench.given("b", encoded(b, fmt_b), fmt_b),
            bench.given("scale_a", encoded(scale_a, UE8M0), UE8M0),
            bench.given("scale_b", encoded(scale_b, UE8M0), UE8M0),
            written("c", m * n * 4),
            n,
            k,
        ]
        return arguments, (1, 1, 1), encoded(product, F32)

    return case


def sparse(bench: Bench) -> Case:
    m, n, k = 16, 32, 64
    stored, b = small(m, k // 2), small(n, k)
    pairs = np.array([(first, second) for second in range(4) for first in range(second)])
    chosen = pairs[RANDOM.integers(0, len(pairs), (m, k // 4))].reshape(m, k // 2)
    columns = np.arange(k // 2) // 2 * 4 + chosen
    dense = np.zeros((m, k))
    np.put_along_axis(dense, columns, stored, axis=1)
    arguments = [
        bench.given("x", encoded(stored, F16), F16),
        bench.given("e", chosen, U2),
        bench.given("b", encoded(b, F16), F16),
        written("c", m * n * 4),
        n,
        k,
    ]
    return arguments, (1, 1, 1), encoded(dense @ b.T, F32)


def dequantised(bench: Bench) -> Case:
    m, n, k = 16, 32, 64
    a, weights, scale = small(m, k), RANDOM.integers(0, 16, (n, k)), small(n)
    arguments = [
        bench.given("a", encoded(a, F16), F16),
        bench.given("w", weights, U4),
        bench.given("scale", encoded(scale, F32), F32),
        written("c", m * n * 4),
        n,
        k,
    ]
    return arguments, (1, 1, 1), encoded((a @ (weights - 8).T) * scale, F32)


def looked_up(bench: Bench) -> Case:
    m, n, k = 2, 40, 64
    a, weights, scale = small(m, k), RANDOM.integers(0, 16, (n, k)), small(n, k // 32)
    table = np.array([
        -1, -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343, -0.091050036, 0,
        0.0795803, 0.1609302, 0.2461123, 0.33791524, 0.44070983, 0.562617, 0.72295684, 1,
    ])  # fmt: skip
    given = [bench.given("a", encoded(a, F32), F32), bench.given("w", weights, U4)]
    given.append(bench.given("scale", encoded(scale, F32), F32))
    scaled = table.astype(np.float32)[weights] * np.repeat(scale, 32, axis=1).astype(np.float32)
    sums = np.zeros((m, n))
    for i in range(k):
        sums = (sums + a[:, i, None] * scaled[:, i].astype(np.float64)).astype(np.float32).astype(np.float64)
    return [*given, written("c", 4 * m * n), n, k], (2, m, 1), encoded(sums, F32)


def gemv(bench: Bench) -> Case:
    m, k = 6, 256
    a, x = small(m, k), small(k)
    given = [bench.given("a", encoded(a, F32), F32), bench.given("x", encoded(x, F32), F32)]
    return [*given, written("c", 4 * m), m, k], (2, 1, 1), encoded(a @ x, F32)


def scalars(bench: Bench) -> list[Argument]:
    """Return alpha = 2 and beta = 3, as data."""
    bench.inputs |= {"alpha": encoded([2], F32), "beta": encoded([3], F32)}
    return [Scalar(int(bench.store.inputs(name, F32, 0))) for name in ("alpha", "beta")]


def simt(bench: Bench) -> Case:
    m, n, k = 18, 20, 21
    a, b, c = small(m, k), small(k, n), small(m, n)
    given = [bench.given(name, encoded(each, F32), F32) for name, each in (("a", a), ("b", b))]
    given.append(bench.given("c", encoded(c, F32), F32, writable=True))
    return [*given, m, n, k, *scalars(bench)], (2, 2, 1), encoded(2 * (a @ b) + 3 * c, F32)


def wmma_scaled(bench: Bench) -> Case:
    m, n, k = 16, 32, 64
    a, b, c = small(m, k), small(n, k), small(m, n)
    given = [bench.given(name, encoded(each, F16), F16) for name, each in (("a", a), ("b", b))]
    given.append(bench.given("c_in", encoded(c, F32), F32))
    arguments = [*given, written("c", 4 * m * n), n, k, *scalars(bench)]
    return arguments, (2, 1, 1), encoded(2 * (a @ b.T) + 3 * c, F32)


S8 = format_named("s8")
CASES: Mapping[str, tuple[Callable[[Bench], Case], Any]] = {
    "dequantised_s4_f16": (dequantised, F32),
    "mma_f16": (gemm(64, 128, 96, F16, F32, (64, 64)), F32),
    "mma_f64": (gemm(16, 32, 20, F64, F64, (16, 16)), F64),
    "mma_mxf4": (block_scaled("e2m1", "e2m1"), F32),
    "mma_mxf8f6f4": (block_scaled("e4m3", "e5m2"), F32),
    "mma_s4": (gemm(16, 64, 128, S4, S32, (16, 32), b_columns=True), S32),
    "mma_sparse_f16": (sparse, F32),
    "nf4_f32": (looked_up, F32),
    "shuffled_gemv_f32": (gemv, F32),
    "simt_f32": (simt, F32),
    "wmma_f16": (gemm(32, 64, 48, F16, F32, (32, 32)), F32),
    "wmma_f16_scaled": (wmma_scaled, F32),
    "wmma_s4": (gemm(16, 32, 64, S4, S32, (16, 16), b_columns=True), S32),
    "wmma_s8": (gemm(16, 128, 48, S8, S32, (16, 64), b_columns=True), S32),
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", [name for name in CUDA_KERNELS if not name.startswith(ADDRESSES)])
def test_cuda_kernels_compute_products(name: str) -> None:
    facts, bench = CUDA_KERNELS[name], Bench()
    case, result = CASES[facts["entry"]]
    arguments, grid, expected = case(bench)
    done = bench.run(read(CUDA / name), arguments, grid=grid, block=tuple(facts["block"]))
    assert done.findings == ()
    assert done.complete
    left = bench.left(done, "c", result)
    np.testing.assert_array_equal(
        values_of_encodings(left.astype(result.storage), result),
        values_of_encodings(expected.reshape(-1), result),
    )
