"""Kernels of CUTLASS and CuTe are verified as their headers have them, and refuted with faults planted."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from cutlass_kernels import BUILDS, SOURCES, Build, array, contract, stored, structure
from frozen_table import frozen

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Result
from mmaproof.refinement.verification import verify

WRONG_VALUE, RACE = Kind.WRONG_VALUE, Kind.RACE
OUT_OF_BOUNDS, UNINITIALISED = Kind.OUT_OF_BOUNDS, Kind.UNINITIALISED

Fault = Callable[[Build], Build]


def without(instruction: str, occurrence: int = 0) -> Fault:
    """Leave an instruction out; the occurrence counts from 0, or from the end."""
    return edited(instruction, "", occurrence)


def edited(pattern: str, new: str, occurrence: int = 0) -> Fault:
    """Replace what a regular expression finds in the text."""

    def plant(built: Build) -> Build:
        start, end = [match.span() for match in re.finditer(pattern, built.ptx)][occurrence]
        piece = re.sub(pattern, new, built.ptx[start:end])
        return replace(built, ptx=built.ptx[:start] + piece + built.ptx[end:])

    return plant


def passed(old: Sequence[int], new: Sequence[int], occurrence: int = 0) -> Fault:
    """Replace neighbouring words of the structure."""

    def plant(built: Build) -> Build:
        words, count = list(built.words), len(old)
        places = [i for i in range(len(words)) if words[i : i + count] == list(old)]
        at = places[occurrence]
        return replace(built, words=[*words[:at], *new, *words[at + count :]])

    return plant


BARRIER = r"bar\.sync\s+0;"
SWAPPED = r"\{(%r\d+),(%r\d+),(%r\d+),(%r\d+)\}, (\{%r\d+,%r\d+\}, \{)"


@dataclass(frozen=True)
class Case:
    """A kernel, what it has to compute, and faults with what is found of them.

    Attributes
    ----------
    source : str
        The file's stem.
    parameters : callable
        Takes the build, and returns the contract's parameters.
    sizes : mapping of str to int
        Sizes.
    formula, equality : str
        What holds.
    faults : mapping of str to (Fault, Kind)
        By what is wrong.
    requires : tuple of str
        Conditions on the inputs.
    """

    source: str
    parameters: Callable[[Build], str]
    sizes: Mapping[str, int]
    formula: str
    equality: str
    faults: Mapping[str, tuple[Fault, Kind]]
    requires: tuple[str, ...] = ()


def gemm(operands: str, result: str, alpha: int | None = 72, **b: str) -> Callable[[Build], str]:
    """Return the parameters of a GEMM: A, B, C that is not read, D, and alpha at a word."""
    arrays = {
        1: array("A", operands, '["M", "K"]'),
        2: array("B", operands, '["K", "N"]', **b),
        3: array("C", result, '["M", "N"]'),
        4: array("D", result, '["M", "N"]', access="out"),
    }
    return lambda built: structure(built.words, arrays, alpha)


def split_k(built: Build) -> str:
    arrays = {
        1: array("A", "f16", '["M", "K"]'),
        2: array("B", "f16", '["K", "N"]'),
        4: array("W", "f32", '[2, "M", "N"]', access="out"),
    }
    return structure(built.words, arrays, None)


def serial_split_k(built: Build) -> str:
    arrays = {
        1: array("A", "f16", '["M", "K"]'),
        2: array("B", "f16", '["K", "N"]'),
        3: array("C", "f16", '["M", "N"]'),
        4: array("D", "f16", '["M", "N"]', access="out"),
        5: array("semaphore", "s32", "[1]", access="scratch") + "\nvalues = [0]",
    }
    return structure(built.words, arrays, built.words.index(0x3F800000))


def reduction(built: Build) -> str:
    arrays = {
        1: array("W", "f32", '[2, "M", "N"]'),
        3: array("C", "f32", '["M", "N"]'),
        4: array("D", "f32", '["M", "N"]', access="out"),
    }
    return structure(built.words, arrays, built.words.index(0x3F800000))


def cute(built: Build) -> str:
    """CuTe passes static layouts as empty structures, and dynamic extents and strides in order."""

    def integers(name: str, *values: str) -> str:
        fields = [
            f'{{ name = "{name}{i}", offset = {4 * i}, type = "s32", value = "{value}" }}'
            for i, value in enumerate(values)
        ]
        return f'[[param]]\nname = "{name}"\nsize = {4 * len(values)}\nfields = [{", ".join(fields)}]'

    def matrix(name: str, shape: str, **keys: str) -> str:
        return "[[param]]\n" + array(name, "f32", shape, strides="column-major", **keys)

    static = [f'[[param]]\nname = "static{i}"\nsize = 1\nfields = []' for i in range(4)]
    parts = [integers("shape", "M", "N", "K"), static[0]]
    parts += [matrix("A", '["M", "K"]'), integers("strides_a", "M")]
    parts += [matrix("B", '["N", "K"]'), integers("strides_b", "N")]
    parts += [matrix("C", '["M", "N"]', access="inout"), integers("strides_c", "M")]
    numbers = '[[param]]\nname = "alpha"\ntype = "f32"\n[[param]]\nname = "beta"\ntype = "f32"\nvalue = 0.5'
    return "\n".join([*parts, *static[1:], numbers])


CASES = (
    Case(
        "simt_f32",
        gemm("f32", "f32"),
        {"M": 64, "N": 64, "K": 24},
        "D[i, j] = alpha * sum(k, A[i, k] * B[k, j])",
        "value",
        {
            "no barrier between tiles": (without(BARRIER, 1), RACE),
            "rows of D too far apart": (passed([256, 0, 256, 0], [260, 0, 256, 0], -1), OUT_OF_BOUNDS),
            "K a tile short": (passed([64, 64, 24], [64, 64, 16]), WRONG_VALUE),
        },
    ),
    Case(
        "tensor_f16",
        gemm("f16", "f16"),
        {"M": 64, "N": 64, "K": 96},
        "D[i, j] = f16(alpha * sum(k, A[i, k] * B[k, j]))",
        "value",
        {
            "a stage is not waited for": (edited(r"cp\.async\.wait_group 1", "cp.async.wait_group 2"), RACE),
            "registers of A swapped": (edited(SWAPPED, r"{\1,\3,\2,\4}, \5"), WRONG_VALUE),
            "no barrier between tiles": (without(BARRIER, 1), RACE),
            "a copy left out": (without(r"cp\.async\.cg[^;]*;"), UNINITIALISED),
        },
    ),
    Case(
        "tensor_s8",
        gemm("s8", "s32", None, strides="column-major"),
        {"M": 64, "N": 64, "K": 128},
        "D[i, j] = sum(k, A[i, k] * B[k, j])",
        "bits",
        {
            "a stage is not waited for": (edited(r"cp\.async\.wait_group 1", "cp.async.wait_group 2"), RACE),
            "registers of A swapped": (edited(SWAPPED, r"{\1,\3,\2,\4}, \5"), WRONG_VALUE),
            "B's leading dimension is A's rows": (passed([128, 0, 1024], [64, 0, 1024], 1), WRONG_VALUE),
        },
    ),
    Case(
        "split_k_f16",
        split_k,
        {"M": 64, "N": 64, "K": 128},
        "W[s, i, j] = sum(k < K // 2, A[i, s * K // 2 + k] * B[s * K // 2 + k, j])",
        "value",
        {
            "a slice is half as long": (passed([64, 0], [32, 0], -1), WRONG_VALUE),
            "slices lie in one place": (passed([4096, 0, 64], [0, 0, 64]), WRONG_VALUE),
            "registers of A swapped": (edited(SWAPPED, r"{\1,\3,\2,\4}, \5"), WRONG_VALUE),
        },
    ),
    Case(
        "serial_split_k_f16",
        serial_split_k,
        {"M": 64, "N": 64, "K": 128},
        "D[i, j] = f16(alpha * sum(k, A[i, k] * B[k, j]))",
        "value",
        {
            "released by a weak store": (edited(r"st\.global\.release\.gpu", "st.global"), RACE),
            "read without acquiring": (edited(r"ld\.global\.acquire\.gpu", "ld.global.relaxed.gpu", 1), RACE),
            "the turn of nobody": (edited(r"add\.s32( \t%r809, %r1), 1;", r"add.s32\1, 2;"), Kind.DEADLOCK),
            "a slice is half as long": (passed([64, 0, 512], [32, 0, 512]), WRONG_VALUE),
        },
        # What the first slice stores is f16, which the formula has nowhere: it must not overflow.
        requires=("abs(A[i, k]) <= 16", "abs(B[k, j]) <= 16", "abs(alpha) <= 2"),
    ),
    Case(
        "reduction_f32",
        reduction,
        {"M": 64, "N": 64},
        "D[i, j] = alpha * (W[0, i, j] + W[1, i, j])",
        "value",
        {
            "a slice too few": (passed([64, 64, 2], [64, 64, 1]), WRONG_VALUE),
            "a slice too many": (passed([64, 64, 2], [64, 64, 3]), OUT_OF_BOUNDS),
            "slices half as far apart": (passed([16384], [8192]), WRONG_VALUE),
        },
    ),
    Case(
        "cute_f32",
        cute,
        {"M": 64, "N": 64, "K": 16},
        "C[i, j] = alpha * sum(k, A[i, k] * B[j, k]) + beta * old(C[i, j])",
        "value",
        {
            "no barrier before a tile is used": (without(BARRIER), RACE),
            "no barrier before the next tile": (without(BARRIER, 1), RACE),
            "tiles half as wide": (edited(r"(shr\.s32\s+%r\d+, %r\d+), 3;", r"\1, 4;"), WRONG_VALUE),
        },
    ),
)  # fmt: skip


def result_of(case: Case, built: Build, folder: Path, formula: str) -> Result:
    (folder / "kernel.ptx").write_text(built.ptx, encoding="utf-8")
    text = contract(built, case.parameters(built), case.sizes, formula, case.requires)
    (folder / "contract.toml").write_text(text, encoding="utf-8")
    return verify(folder / "kernel.ptx", folder / "contract.toml").result


QUICK = {"reduction_f32", "tensor_s8"}

FAULTS = [
    pytest.param(
        case,
        name,
        id=f"{case.source}, {name}",
        marks=[pytest.mark.sweep] if index or case.source not in QUICK else [],
    )
    for case in CASES
    for index, name in enumerate(case.faults)
]


def test_the_frozen_verdicts_are_those_of_the_sources() -> None:
    """``tests/tools/test_frozen_verdicts.py`` verifies the kernels."""
    for case in CASES:
        assert frozen("CUTLASS", case.source) == ("verified", case.equality, ()), case.source


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.source, marks=[] if case.source in QUICK else [pytest.mark.sweep])
        for case in CASES
    ],
)
def test_a_kernel_is_safe_where_only_memory_is_looked_at(case: Case, tmp_path: Path) -> None:
    memory = result_of(case, stored(case.source), tmp_path, "")
    assert (memory.verdict, memory.findings) == ("safe", ())


@pytest.mark.parametrize(("case", "name"), FAULTS)
def test_a_fault_is_refuted(case: Case, name: str, tmp_path: Path) -> None:
    plant, kind = case.faults[name]
    wrong = result_of(case, plant(stored(case.source)), tmp_path, case.formula)
    assert wrong.verdict == "refuted"
    assert kind in {finding.kind for finding in wrong.findings}


def test_every_kernel_that_is_stored_is_verified() -> None:
    assert {case.source for case in CASES} == set(BUILDS) == {path.stem for path in SOURCES.glob("*.cu")}
    assert {path.name for path in SOURCES.glob("*.ptx")} == {f"{name}_sm80.ptx" for name in BUILDS}
    assert all(len(case.faults) >= 3 for case in CASES)


def instructions(ptx: str) -> list[str]:
    """Return lines without comments, and without what nvcc makes of the source's path in internal names."""
    named = re.sub(r"(?:(?<=_INTERNAL_)|(?<=GLOBAL__N__))[0-9a-f]{8}(?=_)", "", ptx)
    return [line for line in named.splitlines() if not line.startswith("//")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.source)
@pytest.mark.sweep
def test_what_is_stored_is_what_the_headers_have(case: Case, tmp_path: Path) -> None:
    """Compile a kernel anew, where nvcc and CUTLASS's headers are installed."""
    generate = runpy.run_path(str(SOURCES / "generate.py"))
    try:
        generate["headers"]()
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    text, facts = generate["build"](case.source, tmp_path)
    was = stored(case.source)
    assert instructions(text) == instructions(was.ptx)
    assert all(facts[name] == BUILDS[case.source][name] for name in ("grid", "block", "dynamic_shared"))
