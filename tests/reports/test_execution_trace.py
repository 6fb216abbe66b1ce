"""`run --trace`: what is shown of an element is what the specification computes."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from command_line import mmaproof as command
from pto_texts import INSTRUCTIONS

import mmaproof
from mmaproof.reports.execution_trace import Tracer
from mmaproof.spec.drawn_arrays import DrawnArrays

MXF4 = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"
MXF8 = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e5m2.f32.ue8m0"
SPARSE = "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
HALF = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"

CASES = [
    # instruction, choices, target, numbers, the element, a word of the trace
    (HALF, (), None, {}, "D[3,5]", "A[3,7]·B[7,5] + s7"),
    (HALF, ("hopper",), None, {}, "D[3,5]", "dot-add: terms cut to multiples of 2^("),
    (HALF, ("turing",), None, {}, "D[3,5]", "dot-add"),
    (MXF4, (), None, {}, "D[3,5]", "A[3,63]·scale_a[3,3]·B[63,5]·scale_b[3,5] + s63"),
    (MXF4, ("blackwell",), None, {}, "D[3,5]", "(A[3,0]·B[0,5] + … + A[3,15]·B[15,5])·scale_a[3,0]"),
    (MXF8, ("blackwell",), None, {}, "D[3,5]", "A[3,31]·B[31,5]·scale_a[3,0]·scale_b[0,5]"),
    (SPARSE, (), None, {"metadata": [0x4]}, "D[1,2]", "A[1,7]·B[13,2] + s7"),
    (SPARSE, ("ampere",), None, {"metadata": [0x4]}, "D[1,2]", "A[1,7]·B[13,2]"),
    ("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc", (), None, {}, "D[3,5]", "A[3,9] "),
    ("mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.u8.s32", (), None, {}, "D[3,5]", "clamped to s32"),
    ("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", (), None, {}, "D[3,5]", "C[3,5]"),
    ("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16", ("volta",), None, {}, "D[1,3,5]", "C[1,3,5]"),
    ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", (), None, {}, "D[3,5]", "rounded to f64"),
    ("pmxvi8ger4pp a0,vs32,vs33,15,15,6", (), None, {}, "acc[1,3]", "(0, not X[1,3]·Y[3,3])"),
    ("pmxvf16ger2np a0,vs32,vs33,7,15,2", (), None, {}, "acc[2,1]", "−s1 + acc[2,1]"),
    ("pmxvf16ger2pp a0,vs32,vs33,7,15,2", (), None, {}, "acc[0,1]", "(0, not s2)"),
    ("xvbf16ger2", ("bf16-sum=two-step",), None, {}, "acc[2,1]", "rounded to bfp32-significand"),
    ("xvf64gernn", (), None, {}, "acc[2,1]", "acc[2,1] = −s1"),
    ("xvi16ger2s", (), None, {}, "acc[2,1]", "clamped to s32"),
    ("v_mfma_f32_4x4x4f16", (), "gfx90a", {"a_bits": [0x8001]}, "D[5,1,2]", "(-0, not A[5,1,0])·B[5,0,2]"),
    ("v_mfma_i32_16x16x16i8", (), None, {}, "D[3,5]", "modulo 2^32"),
    ("v_mfma_f32_16x16x8_xf32", (), None, {}, "D[3,5]", "C[3,5]"),
    (INSTRUCTIONS["E16"], (), None, {}, "D[3,5]", "A[3,63]·scale_a[3,1]·B[63,5]·scale_b[1,5]"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("instruction", "choices", "target", "numbers", "element", "word"), CASES, ids=lambda each: str(each)[:40]
)
def test_a_trace_is_of_what_is_executed(
    instruction: str,
    choices: tuple[str, ...],
    target: str | None,
    numbers: dict[str, list[int]],
    element: str,
    word: str,
) -> None:
    given = DrawnArrays({name: np.array(each, np.uint64) for name, each in numbers.items()}, 7)
    tracer = Tracer(instruction, element)
    found = mmaproof.run(instruction, given, choices=choices, target=target, observer=tracer)
    trace = tracer.trace
    name, *index = re.findall(r"\w+", element)
    bits = found[f"{name.lower()}_bits"][tuple(map(int, index))]
    assert trace.result.startswith(f"{element} = ")
    assert trace.result.endswith(
        f"({int(bits):#0{trace.result.rindex(')') - trace.result.rindex('(') - 1}x})"
    )
    assert word in str(trace)


def _number(text: str) -> Fraction:
    factor, _, power = text.partition("·2^-")
    return Fraction(float(factor)) if not power else Fraction(int(factor), 2 ** int(power))


@pytest.mark.parametrize("choice", ["hopper", "turing", "ampere"])
def test_the_terms_of_a_dot_add_sum_to_what_is_rounded(choice: str) -> None:
    trace = mmaproof.trace(HALF, "D[2,6]", DrawnArrays({}, 3), choices=[choice])
    assert trace.steps
    for step in trace.steps:
        rows = [dict(zip(step.titles, row, strict=True)) for row in step.rows]
        *terms, total = rows
        largest, kept_bits = map(int, re.findall(r"2\^\((-?\d+)-(\d+)\)", step.operation)[0])
        assert max(int(term["exponent"]) for term in terms) == largest
        for term in terms:
            value, kept, error = (_number(term[title]) for title in ("value", "kept", "error"))
            assert kept - value == error and abs(error) < Fraction(2) ** (largest - kept_bits)
            assert (kept * Fraction(2) ** (kept_bits - largest)).denominator == 1
            product = Fraction(1)
            for factor in term["numbers"].split("·"):
                product *= _number(factor)
            assert product == value
        assert sum(_number(term["kept"]) for term in terms) == _number(total["value"])


def test_the_steps_of_a_chain_follow_one_another() -> None:
    (step,) = mmaproof.trace(HALF, "D[2,6]", DrawnArrays({}, 3)).steps
    before = None
    for row in step.rows:
        cells = dict(zip(step.titles, row, strict=True))
        product, addend = cells["numbers"].split(" + ")
        left, right = map(_number, product.split("·"))
        assert left * right + _number(addend) == _number(cells["exact"])
        assert _number(cells["rounded"]) - _number(cells["exact"]) == _number(cells["error"])
        assert before in (None, addend)
        before = cells["rounded"]


def test_an_element_of_a_batch() -> None:
    x = np.arange(8, dtype=np.float32).reshape(2, 4, 1)
    trace = mmaproof.trace("xvf32ger", "acc[1,2,3]", {"x": x, "y": np.ones((4, 1), np.float32)})
    assert trace.result == "acc[1,2,3] = X[2,0]·Y[3,0] = 6 (0x40c00000)"


def test_infinities_and_nans() -> None:
    trace = mmaproof.trace("xvf32ger", "acc[0,0]", {"x": np.full((4, 1), np.inf), "y": np.zeros((4, 1))})
    assert trace.result == "acc[0,0] = s1 = nan (0x7fc00000)"
    arrays = {"a": np.full((16, 8), np.inf), "b": np.ones((8, 8)), "c": np.ones((16, 8))}
    trace = mmaproof.trace(HALF, "D[0,0]", arrays, choices=["hopper"])
    assert trace.result == "D[0,0] = s1 = inf (0x7f800000)"


@pytest.mark.parametrize(
    ("element", "says"),
    [
        ("acc", "is not an element of a result"),
        ("acc[]", "is not an element of a result"),
        ("acc[1,]", "is not an element of a result"),
        ("acc[4,0]", "acc has the shape (4, 4)"),
        ("acc[0,0,0]", "acc has the shape (4, 4)"),
        ("d[0,0]", "the result is acc"),
    ],
)
def test_what_can_not_be_traced_is_said(element: str, says: str) -> None:
    result = command("run", "xvf32ger", "--random", "1", "--trace", element)
    assert (result.status, result.out) == (2, "")
    assert says in result.err and result.err.count("\n") == 1


def test_a_move_computes_nothing() -> None:
    result = command("run", "movmatrix.sync.aligned.m8n8.trans.b16", "--random", "1", "--trace", "d[0,0]")
    assert result.status == 2 and "computes nothing from matrices" in result.err


def test_the_results_are_written_too(tmp_path: object) -> None:
    result = command("run", "xvf32ger", "x=2", "y=3", "--trace", "acc[0,0]", "--out", f"{tmp_path}/out.npz")
    assert result.status == 0
    assert result.out.splitlines()[-3:] == [
        "acc[0,0] = X[0,0]·Y[0,0] = 6 (0x40c00000)",
        "acc float32 (4, 4)",
        "acc_bits uint32 (4, 4)",
    ]
