"""Terms that choose by comparing numbers are equal if they are in each weak order of the numbers."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from example_counts import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mmaproof.refinement.equality import resolved_choices
from mmaproof.refinement.equality.order_cases import OrderCases
from mmaproof.refinement.equality.weak_orders import Among, ordinal, representatives
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.evaluation import Words, apply, evaluate
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import Operation, TermStore
from mmaproof.spec.float_encoding import is_nan
from mmaproof.spec.formats import E5M2, F32, FloatFormat, Format, IntegerFormat

from ..elementwise_kernels import result_of

S3 = IntegerFormat("s3", 3, signed=True)
U2 = IntegerFormat("u2", 2, signed=False)
MOST = 1 << 20


# -- weak orders
def signature(fmt: Format, words: Sequence[int], constants: Sequence[int]) -> tuple[Any, ...]:
    """Return how numbers lie to each other and to constants; a NaN lies nowhere."""
    nan = [isinstance(fmt, FloatFormat) and bool(is_nan(np.array([w], fmt.storage), fmt)[0]) for w in words]
    places = [None if n else ordinal(fmt, word) for word, n in zip(words, nan, strict=True)]
    fixed = [ordinal(fmt, constant) for constant in constants]
    every = [*places, *fixed]
    return tuple(
        None if one is None or other is None else (one > other) - (one < other)
        for one in places
        for other in every
    )


@pytest.mark.parametrize("constants", [(), (0,), (3,), (1, 6), (0, 3, 4, 7)])
@pytest.mark.parametrize(("fmt", "numbers"), [(S3, 1), (S3, 3), (U2, 2)])
def test_representatives_are_every_order_of_integers(
    fmt: IntegerFormat, numbers: int, constants: tuple[int, ...]
) -> None:
    constants = tuple(constant for constant in constants if constant < 1 << fmt.bits)
    found = representatives(fmt, numbers, constants, MOST, Among.FINITE)
    assert found is not None
    orders = [signature(fmt, row, constants) for row in found.tolist()]
    every = {signature(fmt, row, constants) for row in product(range(1 << fmt.bits), repeat=numbers)}
    assert len(orders) == len(set(orders))
    assert set(orders) == every


@pytest.mark.parametrize("among", [Among.ALL, Among.FINITE])
@pytest.mark.parametrize(
    "constants", [(), (0x80,), (0x7B, 0x3C), (0x7C, 0xFC), (0x01, 0x81), (0x3C, 0x3D), (0xFB,)]
)
def test_representatives_are_every_order_of_floats(constants: tuple[int, ...], among: Among) -> None:
    found = representatives(E5M2, 2, constants, MOST, among)
    assert found is not None
    sizes = (0, 1, 2, 3, 0x3A, 0x3B, 0x3C, 0x3D, 0x3E, 0x3F, 0x79, 0x7A, 0x7B, 0x7C, 0x7D)
    words = [sign | size for size in sizes if among is Among.ALL or size < 0x7C for sign in (0, 0x80)]
    orders = {signature(E5M2, row, constants) for row in found.tolist()}
    assert orders == {signature(E5M2, row, constants) for row in product(words, repeat=2)}


@pytest.mark.parametrize(
    "constants", [(), (0x80,), (0x3C,), (0x30, 0xB1), (0x7B,), (0x79, 0xFB), (0x3C, 0x3D)]
)
@pytest.mark.parametrize("numbers", [1, 2])
def test_representatives_are_every_order_of_real_numbers(constants: tuple[int, ...], numbers: int) -> None:
    """None where floats have too few: two numbers beyond the greatest, or between neighbours."""
    found = representatives(E5M2, numbers, constants, MOST, Among.REALS)
    fixed = [4 * ordinal(E5M2, constant) for constant in constants]  # three numbers between two neighbours
    near = {each + step for each in fixed for step in range(-2, 3)} | {0, 1}
    every = {real_signature(row, fixed) for row in product(sorted(near), repeat=numbers)}
    if found is None:
        assert {0x7B, 0x3D, 0xFB} & {*constants}
        return
    assert {signature(E5M2, row, constants) for row in found.tolist()} == every


def real_signature(numbers: tuple[int, ...], fixed: list[int]) -> tuple[int, ...]:
    return tuple((one > other) - (one < other) for one in numbers for other in (*numbers, *fixed))


def test_the_greatest_number_of_a_small_format_is_exceeded() -> None:
    found = representatives(E5M2, 1, [0x7B], MOST, Among.REALS)
    assert found is not None
    assert {ordinal(E5M2, each) - 0x7B > 0 for each in found[:, 0].tolist()} == {False, True}


def test_orders_without_constants_are_the_ordered_bell_numbers() -> None:
    counts = []
    for numbers in range(8):
        found = representatives(F32, numbers, [], MOST, Among.FINITE)
        assert found is not None
        counts.append(len(found))
    assert counts == [1, 1, 3, 13, 75, 541, 4683, 47293]
    assert representatives(F32, 7, [], 47292, Among.FINITE) is None


@pytest.mark.parametrize("among", [Among.FINITE, Among.ALL])
def test_orders_that_are_too_many_are_not_made(among: Among) -> None:
    """Which of 60 numbers are NaNs alone takes gigabytes."""
    tracemalloc.start()
    assert representatives(F32, 60, [0], MOST, among) is None
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 24


# -- terms
Step = tuple[str, list[int]]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["less", "equal", "max", "min", "magnitude", "select", "select", "and", "not", "number", "count"]
        ),
        st.lists(st.integers(0, 40), min_size=3, max_size=3),
    ),
    min_size=1,
    max_size=12,
)


def made(
    fmt: Format, numbers: Sequence[Any], steps: Sequence[Step], on: Callable[..., Any], constant: Any
) -> Any:
    """Return the number, or the count, that steps come to; `on` applies operations."""
    values = [*numbers, constant(0x2 if isinstance(fmt, IntegerFormat) else 0x3C, fmt.bits)]
    truths, counts = [constant(1, 1)], [constant(0, 32), constant(5, 32)]
    wide = operations.select(fmt.bits)
    for name, at in steps:
        one, other = values[-1 - at[0] % len(values)], values[-1 - at[1] % len(values)]
        truth, second = truths[-1 - at[0] % len(truths)], truths[-1 - at[1] % len(truths)]
        match name:
            case "less" | "equal":
                relation = {"less": ("lt", "le", "gt")[at[2] % 3], "equal": ("eq", "ne")[at[2] % 2]}[name]
                truths.append(on(operations.compare(fmt, relation), one, other))
            case "max" | "min":
                values.append(on(operations.extremum(fmt, name), one, other))
            case "magnitude":
                if isinstance(fmt, FloatFormat):
                    values.append(on(operations.extremum(fmt, "max"), one, on(operations.negate(fmt), one)))
            case "select":
                values.append(on(wide, truths[-1 - at[2] % len(truths)], one, other))
            case "and":
                truths.append(on(operations.select(1), truth, second, constant(0, 1)))
            case "not":
                truths.append(on(operations.select(1), truth, constant(0, 1), constant(1, 1)))
            case "number":
                count = counts[-1 - at[1] % len(counts)]
                counts.append(on(operations.select(32), truth, count, counts[-1 - at[2] % len(counts)]))
            case _:
                counts.append(on(operations.ring(32, 0, 2), counts[-1], counts[-1 - at[1] % len(counts)]))
    return values[-1], counts[-1]


def on_words(fmt: Format, columns: Sequence[Words], steps: Sequence[Step]) -> tuple[Words, Words]:
    found = made(
        fmt,
        columns,
        steps,
        lambda operation, *given: evaluate(operation, np.broadcast_arrays(*given)),
        lambda word, _: np.full(len(columns[0]), word, dtype=np.uint64),
    )
    return tuple(np.broadcast_to(each, len(columns[0])) for each in found)  # type: ignore[return-value]


def on_terms(store: TermStore, fmt: Format, numbers: int, steps: Sequence[Step]) -> tuple[Ids, Ids]:
    inputs = [store.inputs("x", fmt, [at]) for at in range(numbers)]

    def on(operation: Operation, *given: Ids) -> Ids:
        return apply(store, operation, *given)

    return made(fmt, inputs, steps, on, lambda word, bits: store.constants(np.array([word]), bits))  # type: ignore[no-any-return]


def shown(store: TermStore, left: Ids, right: Ids, *, bits: bool) -> bool:
    def identical(one: Ids, other: Ids, fmt: Format) -> Any:
        return np.flatnonzero(one != other)

    cases = OrderCases(NormalForms(store), None if bits else identical)
    return bool(left[0] == right[0]) or not len(cases.unequal(left, right, F32))


@settings(max_examples=examples(60), deadline=None)
@example([("less", [0, 1, 0]), ("select", [0, 1, 0])], [("max", [0, 1, 0])])
@given(STEPS, STEPS)
def test_integers_are_equal_in_each_order_exactly_if_they_are_for_all_words(
    one: list[Step], other: list[Step]
) -> None:
    columns = [index.reshape(-1).astype(np.uint64) for index in np.indices((8, 8, 8))]
    store = TermStore()
    terms = [on_terms(store, S3, 3, each) for each in (one, other)]
    words = [on_words(S3, columns, each) for each in (one, other)]
    for side in (0, 1):
        equal = bool((words[0][side] == words[1][side]).all())
        found = shown(store, terms[0][side], terms[1][side], bits=False)
        assert found <= equal
        decided = store.are("constant", np.concatenate([terms[0][side], terms[1][side]])).all()
        assert found == equal or decided or not side


@settings(max_examples=examples(60), deadline=None)
@example(  # the number of the greater magnitude
    [("magnitude", [0, 0, 0]), ("magnitude", [2, 0, 0]), ("less", [0, 1, 2]), ("select", [3, 4, 0])],
    [("magnitude", [0, 0, 0]), ("magnitude", [2, 0, 0]), ("less", [1, 0, 0]), ("select", [4, 3, 0])],
    False,
)
@given(STEPS, STEPS, st.booleans())
def test_floats_are_equal_only_if_they_are_for_all_words(
    one: list[Step], other: list[Step], bits: bool
) -> None:
    words = np.arange(0, 256, 3, dtype=np.uint64)
    words = np.union1d(words, np.array([0, 0x80, 0x3C, 0x3D, 0x7B, 0x7C, 0x7E, 0xFB, 0xFC], dtype=np.uint64))
    words = words if bits else words[(words & np.uint64(0x7F)) < 0x7C]
    columns = [each.reshape(-1) for each in np.meshgrid(words, words)]
    store = TermStore()
    terms = [on_terms(store, E5M2, 2, each) for each in (one, other)]
    results = [on_words(E5M2, columns, each) for each in (one, other)]
    if shown(store, terms[0][1], terms[1][1], bits=bits):
        assert (results[0][1] == results[1][1]).all()
    if shown(store, terms[0][0], terms[1][0], bits=bits):
        left, right = (result[0] for result in results)
        zeros = (left | right) & np.uint64(0x7F) == 0
        assert ((left == right) | (zeros if not bits else False)).all()


def max_by_comparison(store: TermStore) -> tuple[Ids, Ids]:
    one, other = (store.inputs("x", F32, [at]) for at in (0, 1))
    greater = apply(store, operations.compare(F32, "gt"), one, other)
    return apply(store, operations.select(32), greater, one, other), apply(
        store, operations.extremum(F32, "max"), one, other
    )


def test_a_maximum_by_comparison_is_one_of_numbers_and_not_of_nans() -> None:
    store = TermStore()
    assert shown(store, *max_by_comparison(store), bits=False)
    assert not shown(store, *max_by_comparison(store), bits=True)


def test_an_order_that_is_left_out_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The property above fails if orders are missing: ``x < y`` is not always so."""
    store = TermStore()
    one, other = (store.inputs("x", S3, [at]) for at in (0, 1))
    less = apply(store, operations.compare(S3, "lt"), one, other)
    always = store.constants(np.array([1]), 1)
    assert not shown(store, less, always, bits=False)
    monkeypatch.setattr(resolved_choices, "representatives", lambda *_, **__: np.array([[1, 2]], np.uint64))
    assert shown(store, less, always, bits=False)


# -- kernels
def verdict(body: str, formula: str, arrays: dict[str, str]) -> tuple[str, str]:
    result = result_of(body, formula, arrays)
    return str(result.verdict.value), str(result.equality and result.equality.value)


UNORDERED = (
    "setp.gt.f32 %p1, %A, %B; setp.{relation}.f32 %p2, %A, %B; selp.b32 %r1, 5, 7, %p2; "
    "selp.b32 %C, 3, %r1, %p1;"
)
ARRAYS = {"A": "f32", "B": "f32", "C": "s32 out"}
FORMULA = "C[i] = where(A[i] > B[i], 3, where(A[i] < B[i], 5, 7))"


def test_what_differs_for_nans_alone_is_not_equal_as_bits() -> None:
    """``!(a >= b)`` holds of NaNs, ``a < b`` does not."""
    assert verdict(UNORDERED.format(relation="ltu"), FORMULA, ARRAYS) == ("verified", "value")
    assert verdict(UNORDERED.format(relation="lt"), FORMULA, ARRAYS) == ("verified", "bits")
    assert verdict(UNORDERED.format(relation="leu"), FORMULA, ARRAYS)[0] == "refuted"


def test_a_maximum_that_drops_nans_is_not_equal_as_bits() -> None:
    body = "max.f32 %f1, %A, %B; setp.eq.f32 %p1, %f1, %A; selp.b32 %C, 1, 0, %p1;"
    formula = "C[i] = where(A[i] >= B[i], 1, 0)"
    assert verdict(body, formula, ARRAYS) == ("verified", "value")
    assert verdict(body.replace("max", "min"), formula, ARRAYS)[0] == "refuted"


@pytest.mark.parametrize(
    "read",
    [
        "neg.f32 %f3, %A; mov.b32 %r1, %f3; shr.u32 %r1, %r1, 31; xor.b32 %r1, %r1, 1",
        "mul.f32 %f3, %A, 0f3F000000; mov.b32 %r1, %f3; shr.u32 %r1, %r1, 31",
        "cvt.f64.f32 %e, %A; mov.b64 {%r2, %r1}, %e; shr.u32 %r1, %r1, 31",
        "neg.f32 %f3, %A; neg.f32 %f4, %B; mov.b32 %r1, %f3; mov.b32 %r2, %f4; sub.s32 %r1, %r1, %r2",
    ],
)
@pytest.mark.parametrize("number", ["0f00000000", "%B"])
def test_the_sign_of_a_zero_is_read_through_operations_on_floats(read: str, number: str) -> None:
    """The second condition is one that inputs hardly meet: runs on numbers do not tell."""
    body = (
        f".reg .f64 %e; setp.eq.f32 %p1, %A, {number}; setp.eq.f32 %p2, %D, 0f40E80000; "
        f"and.pred %p1, %p1, %p2; {read}; selp.b32 %C, %r1, 5, %p1;"
    )
    other = "B[i]" if number == "%B" else "0"
    arrays = {"A": "f32", "B": "f32", "D": "f32", "C": "s32 out"}
    assert verdict(body, f"C[i] = where(A[i] == {other} and D[i] == 7.25, 0, 5)", arrays)[0] != "verified"


def test_a_number_has_no_order_to_constants_of_other_numbers() -> None:
    """`a < count` holds of no `a` that is supposed to be the least, whatever `b` was compared with."""
    store = TermStore()
    a, b = (store.inputs("x", S3, [at]) for at in (0, 1))
    count = store.constants(np.array([0]), 3)
    for word in (0, 1):
        exceeds = apply(store, operations.compare(S3, "gt"), b, store.constants(np.array([word]), 3))
        one = apply(store, operations.select(3), exceeds, *store.constants(np.array([1, 0]), 3).reshape(2, 1))
        count = apply(store, operations.ring(3, 0, 2), count, one)
    below_two = apply(store, operations.compare(S3, "lt"), b, store.constants(np.array([2]), 3))
    less = apply(store, operations.compare(S3, "lt"), a, count)
    both = apply(store, operations.select(1), below_two, less, store.constants(np.array([0]), 1))
    assert not shown(store, both, below_two, bits=False)


def test_what_only_a_rounding_tells_apart_is_not_one_number() -> None:
    """``f32(bf16(x)) > x`` holds where the rounding goes up."""
    body = "cvt.rn.bf16.f32 %h1, %A; cvt.f32.bf16 %f1, %h1; setp.gt.f32 %p1, %f1, %A;"
    body += "selp.f32 %C, 0f3F800000, 0f00000000, %p1;"
    assert verdict(body, "C[i] = 0", {"A": "f32", "C": "f32 out"})[0] != "verified"
    body = "mul.f32 %f1, %A, %B; mul.f32 %f2, %f1, %B; mul.f32 %f3, %B, %B; mul.f32 %f4, %A, %f3;"
    body += "setp.gt.f32 %p1, %f2, %f4; selp.f32 %C, %A, %B, %p1;"
    assert verdict(body, "C[i] = B[i]", {"A": "f32", "B": "f32", "C": "f32 out"})[0] != "verified"
