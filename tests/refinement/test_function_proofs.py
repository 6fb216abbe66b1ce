"""A function that is written out is shown for every number; nothing that differs on one of them is it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mmaproof.refinement.enclosures import function_enclosures
from mmaproof.refinement.enclosures.affine_numbers import Affine
from mmaproof.refinement.enclosures.float_arithmetic import sum_of
from mmaproof.refinement.enclosures.float_enclosures import floats_of, negated
from mmaproof.refinement.enclosures.function_enclosures import function_of, parabola, quotient_of
from mmaproof.refinement.enclosures.piece_evaluation import PieceEvaluation
from mmaproof.refinement.normal_forms.functions import libm_idioms
from mmaproof.refinement.normal_forms.functions.library_functions import FUNCTIONS, LibraryFunction, powers
from mmaproof.refinement.normal_forms.functions.library_functions import exponential as of_base

from ..elementwise_kernels import result_of
from .test_software_functions import ARRAYS, EXP, LOG2, SINH, TANH

SQUARE = "mul.f32 %C, %A, %A;"

NUMBERS = st.integers(0, 0x7F7FFFFF)
SIGNS = st.sampled_from([0, 1 << 31])


def hole(first: int, width: int, value: str = "0f40400000") -> str:
    """Return code that stores another value for `width` words from a first one on."""
    return (
        f"mov.b32 %r50, %A; sub.u32 %r51, %r50, {first}; setp.lt.u32 %p7, %r51, {width}; "
        f"selp.f32 %C, {value}, %C, %p7;"
    )


def test_proofs_that_are_kept_tell_constants_apart() -> None:
    """A proof is kept for terms of one structure in any store; a constant is a part of that."""
    two = 0x40000000
    verdicts = [
        result_of(SQUARE + hole(two, 1, value), "C[i] = A[i] * A[i]", ARRAYS).verdict
        for value in ("0f40800000", "0f40800010")
    ]
    assert verdicts[0] == "verified" != verdicts[1]


@settings(max_examples=6, deadline=None)
@given(NUMBERS, SIGNS, st.sampled_from([1, 2, 1000, 1 << 20]))
def test_a_square_with_a_hole_is_no_square(word: int, sign: int, width: int) -> None:
    assert result_of(SQUARE + hole(word + sign, width), "C[i] = A[i] * A[i]", ARRAYS).verdict != "verified"


@pytest.mark.sweep
@settings(max_examples=20, deadline=None)
@given(NUMBERS, SIGNS, st.sampled_from([1, 64]))
def test_a_hyperbolic_tangent_with_a_hole_is_none(word: int, sign: int, width: int) -> None:
    assert result_of(TANH + hole(word + sign, width), "C[i] = tanh(A[i])", ARRAYS).verdict != "verified"


ENDS = [1, 0x7FFFFF, 0x800000, 0x3F800000, 0x3F800001, 0x7F7FFFFF]

FORMULAS = {
    "square": (SQUARE, "C[i] = A[i] * A[i]"),
    "tanh": (TANH, "C[i] = tanh(A[i])"),
    "log2": (LOG2, "C[i] = log2(A[i])"),
}

QUICK = {("tanh", 0x3F800001)}
"""What is tried of the functions on every run; the others take seconds each, on an idle core."""

CASES = [
    pytest.param(*formula, word, id=f"{name}-{word:#x}", marks=[] if quick else [pytest.mark.sweep])
    for name, formula in FORMULAS.items()
    for word in ENDS
    for quick in [name == "square" or (name, word) in QUICK]
]


@pytest.mark.parametrize(("body", "formula", "word"), CASES)
def test_a_hole_at_an_end_of_a_binade_is_found(body: str, formula: str, word: int) -> None:
    assert result_of(body + hole(word, 1), formula, ARRAYS).verdict != "verified"


@pytest.mark.sample(1)
@pytest.mark.parametrize("word", [0x7F800000, 0x7FC00000, 0xFFC00000])
def test_infinities_and_nans_are_arguments_too(word: int) -> None:
    assert result_of(TANH + hole(word, 1), "C[i] = tanh(A[i])", ARRAYS).verdict != "verified"


@pytest.mark.parametrize(("kind", "read"), [("f16", "cvt.f32.f16"), ("s32", "cvt.rn.f32.s32")])
def test_a_hole_between_converted_numbers_is_found(kind: str, read: str) -> None:
    body = (
        f"{read} %f2, %A; sub.f32 %f1, %f2, 0f40490FDB; abs.f32 %f1, %f1; setp.lt.f32 %p1, %f1, 0f3E800000; "
        "mul.f32 %f0, %f2, %f2; selp.f32 %C, 0f00000000, %f0, %p1;"
    )
    product = "f32(A[i]) * f32(A[i])" if kind == "s32" else "A[i] * A[i]"
    result = result_of(body, f"C[i] = {product}", {"A": kind, "C": "f32 out"})
    assert result.verdict != "verified"


@pytest.mark.sweep
def test_a_logarithm_that_lacks_infinity_is_not_verified() -> None:
    finite = LOG2.replace("selp.f32 %f7, %f8, %f7, %p3;", "")
    assert result_of(finite, "C[i] = log2(A[i])", ARRAYS).verdict != "verified"


def test_the_verdict_says_for_how_many_arguments() -> None:
    result = result_of(TANH, "C[i] = tanh(A[i])", ARRAYS)
    assert any("on all 4,278,190,082 arguments" in hypothesis.statement for hypothesis in result.hypotheses)


# -- enclosures enclose

Case = tuple[Any, int, int, Callable[[NDArray[np.uint64]], NDArray[np.float64]]]


@pytest.fixture(scope="module", params=["tanh", "exp", "sinh", pytest.param("log2", marks=pytest.mark.sweep)])
def written(request: pytest.FixtureRequest) -> list[Case]:
    """The terms that are tried in a kernel."""
    found: list[Case] = []

    def caught(
        store: Any,
        argument: int,
        result: int,
        function: Any,
        domain: Any,
        compute: Any,
        most: Any,
        given: Any,
    ) -> None:
        found.append((store, argument, result, compute))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(libm_idioms, "proved", caught)
        zero = "setp.eq.f32 %p6, %A, 0f00000000; selp.f32 %C, 0f3F800000, %C, %p6;"
        body, formula = {
            "tanh": (TANH, "tanh(A[i])"),
            "log2": (LOG2, "log2(A[i])"),
            "exp": (EXP + zero, "exp(A[i])"),
            "sinh": (SINH, "(exp(A[i]) - exp(-A[i])) / 2"),
        }[request.param]
        result_of(body, f"C[i] = {formula}", ARRAYS)
    assert found
    return found


@pytest.mark.parametrize("seed", range(8))
def test_what_is_computed_lies_in_the_enclosure(written: list[Case], seed: int) -> None:
    random = np.random.default_rng(seed)
    first = random.integers(1, 0x7F7FFFFF, 400, dtype=np.uint64)
    width = np.uint64(1) << random.integers(0, 23, 400, dtype=np.uint64)
    last = np.minimum(first + width, first | np.uint64(0x7FFFFF))
    sign = random.integers(0, 2, 400, dtype=np.uint64) << np.uint64(31)
    first, last = first | sign, last | sign
    place = random.random(400)
    inside = first + ((last - first) * place).astype(np.uint64)
    for store, argument, result, compute in written:
        found = PieceEvaluation(store, argument, first, last).floats(result)
        values = compute(inside)
        nan = np.isnan(values)
        assert found.nan[nan].all() and found.number[~nan].all()
        assert ((found.low <= values) & (values <= found.high))[~nan].all()
        local = 2 * (inside - first).astype(np.float64) / np.maximum((last - first).astype(np.float64), 1) - 1
        line = np.where(first == last, 0.0, local)
        form = found.form
        moved = form.middle + form.line * line + form.parts.get(-1, 0.0) * line**2
        others = sum((abs(part) for symbol, part in form.parts.items() if symbol > 0), form.off)
        assert (np.abs(values - moved) <= others + 2.0**-149)[~nan & np.isfinite(values)].all()


@pytest.mark.parametrize("name", ["div.approx", "div.approx.ftz", "div.full", "div.rn", "div"])
def test_a_quotient_lies_in_its_enclosure(name: str) -> None:
    random = np.random.default_rng(5)
    words = random.integers(0, 1 << 32, (2, 20_000), dtype=np.uint64)
    words[1, ::4] = (words[1, ::4] & 0x80FFFFFF) | 0x7E000000  # divisors where div.approx is 0
    last = words | (np.uint64(1) << random.integers(0, 23, words.shape, dtype=np.uint64)) - np.uint64(1)
    first = words & ~(words ^ last)
    pieces = [floats_of(_words_between(low, high)) for low, high in zip(first, last, strict=True)]
    found = quotient_of(name, *pieces, 7)
    one, other = words.astype(np.uint32).view(np.float32)
    if name.endswith(".ftz"):
        one, other = (np.where(np.abs(each) < 2.0**-126, np.copysign(0, each), each) for each in (one, other))
    with np.errstate(all="ignore"):
        values = (one / other).astype(np.float64)
        if "approx" in name:
            zero = (np.abs(other) > 2.0**126) & np.isfinite(other)
            values = np.where(zero, np.where(np.isinf(one), np.nan, 0.0), values)
        if name.endswith(".ftz"):
            values = np.where(np.abs(values) < 2.0**-126, 0.0, values)
    nan = np.isnan(values)
    assert found.nan[nan].all() and found.number[~nan].all()
    assert ((found.low <= values) & (values <= found.high))[~nan].all()
    assert np.isfinite(found.form.off[~nan & (np.abs(values) > 1) & (np.abs(values) < 2)]).mean() > 0.9


def _words_between(first: NDArray[np.uint64], last: NDArray[np.uint64]) -> Affine:
    low, high = first.astype(np.float64), last.astype(np.float64)
    half = (high - low) / 2
    return Affine(low + half, {0: half}, np.zeros(len(low)), low, high)


@pytest.mark.parametrize("sign", [1, -1])
def test_what_lies_beyond_the_largest_number_may_be_infinite(sign: int) -> None:
    """Between the largest number of f32 and 2^128 either end of a range goes outwards."""
    between, beyond = np.array([2.0**128 * (1 - 2.0**-26)]), np.array([2.0**128])
    largest = float(np.finfo(np.float32).max)
    ends = sorted([sign * between[0], sign * beyond[0]])
    low, high = function_enclosures._overflowed(np.array(ends[:1]), np.array(ends[1:]))
    assert (low[0], high[0]) == ((largest, np.inf) if sign > 0 else (-np.inf, -largest))
    for end in (between, beyond, np.array([1.0])):
        low, high = function_enclosures._overflowed(sign * end, sign * end)
        assert low[0] <= sign * min(end[0], largest) <= high[0] or (np.isinf(low[0]) and low[0] == high[0])


def test_what_overflows_is_infinite() -> None:
    """``ex2(x) - ex2(x)`` is NaN where its terms are greater than all numbers of f32."""
    at = floats_of(_words_between(*np.array([[0x43480000], [0x43480001]], dtype=np.uint64)))  # 200
    power = function_of("ex2.approx", at, 3)
    assert (power.low == np.inf).all() and sum_of(power, negated(power)).nan.all()
    tiny = floats_of(_words_between(*np.array([[1], [2]], dtype=np.uint64)))
    assert (function_of("rcp.approx", tiny, 3).high == np.inf).all()


@pytest.mark.parametrize(
    "function",
    [*FUNCTIONS, *powers(8.0), *powers(2.0**1.5), *powers(0.25), of_base(10.0)],
    ids=lambda each: each.name,
)
def test_a_parabola_with_its_error_encloses_a_function(function: LibraryFunction) -> None:
    random = np.random.default_rng(3)
    least, greatest = max(function.least, -20.0), min(function.greatest, 20.0)
    middle = random.uniform(least, greatest, 4000)
    half = np.abs(middle - (0 if least >= 0 else least)) * 2.0 ** random.uniform(-14, -0.1, 4000)
    half = np.where(np.sign(middle - half) == np.sign(middle + half), half, np.abs(middle) / 2)
    low, high = middle - half, middle + half
    form = Affine(middle, {0: half}, np.zeros(4000), low, high)
    found = parabola(function.curve, form)
    for step in (-1.0, -0.7, 0.3, 1.0):
        with np.errstate(all="ignore"):
            wanted = function.curve.value(np.clip(middle + step * half, low, high))
        about = found.middle + found.line * step + found.parts[-1] * step**2
        assert (np.abs(wanted - about) <= found.off + 2.0**-45 * np.abs(wanted)).all()
