"""Kernels in C, compiled for Power10: verified, refuted where they are wrong, and as QEMU runs them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from power_kernels import CONTRACTS, compiled, messages, run_under_qemu, source, verified

from mmaproof.refinement.contract.reading import read_contract
from mmaproof.refinement.machine.array_memory import elements_in, inputs_of, memories
from mmaproof.refinement.power.front_end import read_kernel
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import FloatFormat

SIZES = {
    "dgemm": [{"N": 1}, {"N": 2}, {"N": 5}],
    "sconv": [{"n": 18}, {"n": 21}],
    "sgemm": [{"M": 4, "N": 4, "K": 3}, {"M": 6, "N": 7, "K": 5}, {"M": 1, "N": 9, "K": 1}],
    "igemm": [{"K": 4}, {"K": 12}],
    "bgemm": [{"K": 2}, {"K": 12}],
    "qgemm": [{"N": 4, "K": 4}, {"N": 7, "K": 8}],
    "strip": [{"M": 3, "K": 2}, {"M": 22, "K": 5}],
}


@pytest.mark.sample(2)
@pytest.mark.parametrize(("name", "flags"), [*((name, "-O3") for name in SIZES), ("sgemm", "-O2")])
def test_kernels_are_verified(name: str, flags: str, tmp_path: Path) -> None:
    kernel = compiled(source(name), tmp_path, flags)
    for sizes in SIZES[name]:
        found = verified(kernel, CONTRACTS[name], **sizes)
        assert found.result.verdict == "verified", messages(found)


def test_the_convolution_as_printed_is_refuted(tmp_path: Path) -> None:
    found = verified(compiled(source("sconv"), tmp_path, "-O2", "-DAS_PRINTED"), CONTRACTS["sconv"], n=18)
    assert found.result.verdict == "refuted" and found.counterexample is not None
    assert re.search(r"out-of-bounds: lxv.? reads \d+ bytes at H\+", messages(found))
    assert re.search(r"undefined: C\[.*lacks H\[", messages(found))


MUTANTS = [
    ("dgemm", "STORE(4, acc1)", "STORE(4, acc2)", {"N": 3}, "undefined: A"),
    ("dgemm", "STORE(28, acc7);", "", {"N": 3}, r"missing-output: A\[1,3,0,0\] is never written"),
    ("dgemm", "operation(&acc5, x1, y1)", "operation(&acc5, x1, y2)", {"N": 2}, r"undefined: A\[1,1"),
    ("dgemm", "UPDATE(__builtin_mma_xvf64gerpp", "UPDATE(__builtin_mma_xvf64gerpn", {"N": 2}, "wrong-value"),
    ("dgemm", "UPDATE(__builtin_mma_xvf64gerpp", "UPDATE(__builtin_mma_xvf64ger", {"N": 2}, "wrong-value"),
    ("dgemm", "step = 1; step < n", "step = 1; step <= n", {"N": 2}, r"out-of-bounds: lxvp? reads"),
    ("dgemm", "step = 1; step < n", "step = 2; step < n", {"N": 3}, "wrong-value: .*lacks X"),
    ("dgemm", "        Y += 8;\n", "", {"N": 2}, "wrong-value"),
    ("dgemm", "(__vector_pair *)(void *)(X + 4)", "(__vector_pair *)(void *)(X + 8)", {"N": 1}, "out-of-b"),
    ("sconv", "H + 8, channel + 1", "H + 8, channel + 2", {"n": 18}, "wrong-value"),
    ("sconv", "    H += 24;\n    CHANNEL(__builtin_mma_xvf32gerpp, B)",
     "    CHANNEL(__builtin_mma_xvf32gerpp, B)", {"n": 18}, r"wrong-value: .*H\[1,2"),
    ("sgemm", "i + 4 <= m", "i + 4 < m", {"M": 4, "N": 4, "K": 2}, None),
    ("sgemm", "edge(4, n - j,", "edge(3, n - j,", {"M": 5, "N": 6, "K": 2}, r"wrong-value: C\[3,4\]"),
    ("sgemm", "edge(m - i, n", "edge(m - i - 1, n", {"M": 5, "N": 4, "K": 2}, r"wrong-value: C\[4,0\]"),
    ("sgemm", "j + 4 <= n", "j + 3 <= n", {"M": 4, "N": 7, "K": 2}, "out-of-bounds|wrong-value"),
    ("sgemm", "old += rows[r]", "old = rows[r]", {"M": 4, "N": 4, "K": 2}, r"wrong-value: C\[0,0\]"),
    ("sgemm", "b + p * n + j, 16", "b + p * k + j, 16", {"M": 4, "N": 4, "K": 2}, "wrong-value|out-of-b"),
    ("igemm", "__builtin_mma_xvi8ger4pp(&acc,", "__builtin_mma_pmxvi8ger4pp(&acc,", {"K": 8}, "wrong-value"),
    ("igemm", "xvi8ger4pp(&acc, ((const vec_t *)a)[p], ((const vec_t *)b)[p])",
     "xvi8ger4pp(&acc, ((const vec_t *)b)[p], ((const vec_t *)a)[p])", {"K": 4}, "wrong-value"),
    ("igemm", "k / 4", "k / 8", {"K": 8}, r"wrong-value: C\[0,0\].*lacks"),
    ("bgemm", "a += 16", "a += 8", {"K": 4}, r"wrong-value: C\[0,0\]"),
    ("bgemm", "&bottom, a1, b0", "&bottom, a0, b0", {"K": 2}, r"wrong-value: C\[4,0\]"),
    ("bgemm", "k / 2", "(k - 2) / 2", {"K": 4}, r"wrong-value: C\[0,0\].*lacks"),
    ("bgemm", "rows[r] * alpha + *to * beta", "(rows[r] + *to) * alpha", {"K": 2}, r"wrong-value: C\[0,0\]"),
    ("qgemm", "&va, x, 16", "&va, y, 16", {"N": 4, "K": 4}, r"wrong-value: C\[0,0\]"),
    ("qgemm", "(j + r) * k + p, 4", "(j + r % 2) * k + p, 4", {"N": 4, "K": 4}, r"wrong-value: C\[0,2\]"),
    ("qgemm", "sum += a", "sum += (unsigned char)a", {"N": 5, "K": 4}, r"wrong-value: C\[0,4\]"),
    ("qgemm", "j + 4 <= n", "j + 4 < n", {"N": 4, "K": 4}, None),
    ("strip", "(m - i < 4 ? m - i : 4)", "4L", {"M": 6, "K": 2}, "out-of-bounds"),
    ("strip", "vec_xl(32, column), w", "vec_xl(16, column), w", {"M": 16, "K": 2}, r"wrong-value: y\[8\]"),
    ("strip", "vec_max(s3, zero)", "s3", {"M": 16, "K": 2}, r"wrong-value: y\[12\]"),
    ("strip", "i + 16 <= m", "i + 16 < m", {"M": 16, "K": 2}, None),
]  # fmt: skip
"""A kernel, what is replaced by what, sizes, and what the finding says; None where nothing is wrong."""


def mutant(name: str, old: str, new: str) -> str:
    """Return the source of a kernel with a fault."""
    text = source(name)
    assert old in text
    if new.startswith("__builtin_mma_pm"):
        text = text.replace("((const vec_t *)b)[p])", "((const vec_t *)b)[p], 15, 7, 15)")
    return text.replace(old, new)


@pytest.mark.sample(8)
@pytest.mark.parametrize(("name", "old", "new", "sizes", "reason"), MUTANTS)
def test_single_faults_are_refuted_for_their_reason(
    name: str, old: str, new: str, sizes: dict[str, int], reason: str | None, tmp_path: Path
) -> None:
    found = verified(compiled(mutant(name, old, new), tmp_path, "-O2"), CONTRACTS[name], **sizes)
    if reason is None:  # a slower way through the remainder
        assert found.result.verdict == "verified", messages(found)
        return
    assert found.result.verdict == "refuted", messages(found)
    assert re.search(reason, messages(found)), messages(found)


CALLS = {
    "dgemm": ("void dgemm_kernel_8xNx8(double *, double *, double *, int);",
              "dgemm_kernel_8xNx8(arrays[0], arrays[1], arrays[2], {N})"),
    "sconv": ("void sconv_kernel_8x27x16(float *, float *, float *, float *, float *, int);",
              "sconv_kernel_8x27x16(arrays[0], arrays[1], arrays[2], arrays[3], arrays[4], {n})"),
    "sgemm": ("void sgemm(int, int, int, float *, float *, float *);",
              "sgemm({M}, {N}, {K}, arrays[0], arrays[1], arrays[2])"),
    "igemm": ("void igemm(int *, signed char *, unsigned char *, long);",
              "igemm(arrays[0], arrays[1], arrays[2], {K})"),
}  # fmt: skip


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", CALLS)
def test_the_symbolic_result_is_what_qemu_computes(name: str, tmp_path: Path) -> None:
    kernel = compiled(source(name), tmp_path, "-O3")
    sizes = SIZES[name][-1]
    verified(kernel, CONTRACTS[name], **sizes)
    instance = next(iter(read_contract(tmp_path / "kernel.toml").instances()))
    store, rng = TermStore(), np.random.default_rng(5)
    outcome = read_kernel(kernel, instance.contract.entry, None).run(
        instance, store, inputs_of(store, instance)
    )
    assert outcome.complete and not outcome.findings
    given: dict[str, NDArray[Any]] = {}
    for array in instance.arrays.values():
        if isinstance(array.format, FloatFormat):
            kind = f"f{array.format.bits // 8}"
            given[array.name] = rng.standard_normal(array.elements).astype(kind)
        else:
            kind = f"u{array.format.bits // 8}"
            given[array.name] = rng.integers(0, 1 << array.format.bits, array.elements).astype(kind)
    declaration, call = CALLS[name]
    for size, value in sizes.items():
        call = call.replace("{" + size + "}", str(value))
    after = run_under_qemu(kernel, declaration, call, list(given.values()))
    words = {each: numbers.view(f"u{numbers.itemsize}") for each, numbers in given.items()}
    for output in instance.outputs:
        written, terms = elements_in(
            store, memories(instance)[output.name], outcome.arrays[output.name].lanes
        )
        assert written.all()
        computed = Assignment(store, words).values(terms)
        expected = after[list(given).index(output.name)]
        assert (computed.astype(np.uint64) == expected.view(f"u{expected.itemsize}")).all()
