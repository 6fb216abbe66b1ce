"""Comparisons and choices against Python's, on numbers and on data."""

from __future__ import annotations

from collections.abc import Callable

import exact_arithmetic as exact
import numpy as np
import pytest
from ptx_instructions import THREADS, check, execute, floats, signed, words

from mmaproof.spec.formats import BF16, F16, F32, F64, FloatFormat

FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}
ORDER: dict[str, Callable[..., bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
BOOLEANS: dict[str, Callable[[int, int], int]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}
INTEGER_FORMS = [
    *(f"{name}.{sort}{width}" for name in ORDER for sort in "us" for width in (16, 32, 64)),
    *(f"{name}.b{width}" for name in ("eq", "ne") for width in (16, 32, 64)),
    *(f"{name}.u{width}" for name in UNSIGNED for width in (16, 32, 64)),
]
FLOAT_RELATIONS = [*ORDER, *(f"{name}u" for name in ORDER), "num", "nan"]


def holds(relation: str, a: int, b: int, fmt: FloatFormat) -> bool:
    """Compare floats: a relation with ``u`` holds where an operand is a NaN, others don't."""
    x, y = exact.decode(a, fmt), exact.decode(b, fmt)
    if relation in ("num", "nan"):
        return (x.nan or y.nan) == (relation == "nan")
    if x.nan or y.nan:
        return relation.endswith("u")
    return ORDER[relation.removesuffix("u")](_order(x), _order(y))


def _order(number: exact.Number) -> float:
    if number.magnitude is None:
        return -np.inf if number.negative else np.inf
    return number.value  # type: ignore[return-value]  # a fraction compares with infinities


def _predicates(seed: int) -> tuple[str, object]:
    return "pred", np.random.default_rng(seed).integers(0, 2, THREADS)


@pytest.mark.parametrize("form", INTEGER_FORMS)
def test_integers_are_compared_as_their_type_says(form: str) -> None:
    relation, name = form.split(".")
    width = int(name[1:])
    compare = ORDER[UNSIGNED.get(relation, relation)]

    def reference(a: int, b: int) -> int:
        return int(compare(signed(a, width), signed(b, width)) if name[0] == "s" else compare(a, b))

    left = words(width, 1)
    right = np.where(np.arange(THREADS) % 4 == 0, left, words(width, 2))
    operands = {"a": (f"b{width}", left), "b": (f"b{width}", right)}
    check(f"setp.{relation}.{name} p, a, b;", operands, {"p": "pred"}, reference)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("relation", FLOAT_RELATIONS)
def test_floats_are_compared_with_nan_in_mind(relation: str, name: str) -> None:
    fmt = FORMATS[name]
    left = floats(fmt, 1)
    right = np.where(np.arange(THREADS) % 4 == 0, left, floats(fmt, 2))
    operands = {"a": (f"b{fmt.bits}", left), "b": (f"b{fmt.bits}", right)}
    text = f"setp.{relation}.{name} p, a, b;"
    check(text, operands, {"p": "pred"}, lambda a, b: int(holds(relation, a, b, fmt)))


def test_subnormals_compare_as_zeros_when_flushed() -> None:
    operands = {"a": ("b32", np.full(THREADS, 1)), "b": ("b32", np.full(THREADS, 0x80000007))}
    text = "setp.eq.ftz.f32 p, a, b; setp.eq.f32 q, a, b;"
    check(text, operands, {"p": "pred", "q": "pred"}, lambda a, b: (1, 0))


@pytest.mark.parametrize("boolean", BOOLEANS)
def test_a_comparison_and_its_opposite_are_combined_with_a_predicate(boolean: str) -> None:
    combine = BOOLEANS[boolean]
    operands = {"a": ("b32", words(32, 1)), "b": ("b32", words(32, 2)), "c": _predicates(3)}

    def reference(a: int, b: int, c: int) -> tuple[int, int]:
        less = int(signed(a, 32) < signed(b, 32))
        return combine(less, 1 - c), combine(1 - less, 1 - c)

    text = f"setp.lt.{boolean}.s32 p|q, a, b, !c;"
    check(text, operands, {"p": "pred", "q": "pred"}, reference)


def test_the_second_result_of_a_comparison_is_its_opposite() -> None:
    operands = {"a": ("b32", words(32, 1)), "b": ("b32", words(32, 2))}
    check("setp.ge.u32 _|q, a, b;", operands, {"q": "pred"}, lambda a, b: int(a < b))


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_lanes_give_two_predicates(name: str) -> None:
    fmt = FORMATS[name]
    operands = {each: ("b32", floats(fmt, ord(each), 2)) for each in "ab"}

    def reference(a: int, b: int) -> tuple[int, int]:
        low = holds("ltu", a & 0xFFFF, b & 0xFFFF, fmt)
        return int(low), int(holds("ltu", a >> 16, b >> 16, fmt))

    check(f"setp.ltu.{name}x2 p|q, a, b;", operands, {"p": "pred", "q": "pred"}, reference)


@pytest.mark.parametrize(
    ("to", "true"),
    [("u32", 0xFFFFFFFF), ("s32", 0xFFFFFFFF), ("f32", 0x3F800000), ("u16", 0xFFFF), ("f16", 0x3C00)],
)
def test_set_gives_all_ones_or_one(to: str, true: int) -> None:
    operands = {"a": ("b32", words(32, 1)), "b": ("b32", words(32, 2)), "c": _predicates(4)}

    def reference(a: int, b: int, c: int) -> tuple[int, int]:
        less = signed(a, 32) < signed(b, 32)
        return true * less, true * (less or bool(c))

    kind = f"b{to[1:]}"
    text = f"set.lt.{to}.s32 d, a, b; set.lt.or.{to}.s32 e, a, b, c;"
    check(text, operands, {"d": kind, "e": kind}, reference)


@pytest.mark.parametrize(("name", "one"), [("f16", 0x3C00), ("bf16", 0x3F80)])
def test_set_of_lanes(name: str, one: int) -> None:
    fmt = FORMATS[name]
    operands = {each: ("b32", floats(fmt, ord(each), 2)) for each in "ab"}

    def reference(a: int, b: int) -> int:
        low = holds("ge", a & 0xFFFF, b & 0xFFFF, fmt)
        return one * low | one * holds("ge", a >> 16, b >> 16, fmt) << 16

    check(f"set.ge.{name}x2.{name}x2 d, a, b;", operands, {"d": "b32"}, reference)


@pytest.mark.parametrize("width", [16, 32, 64])
def test_choosing_by_a_predicate(width: int) -> None:
    operands = {each: (f"b{width}", words(width, ord(each))) for each in "ab"} | {"p": _predicates(5)}
    runs = [(), ("a",), ("p",), ("a", "b"), ("a", "b", "p")]
    text = f"selp.b{width} d, a, b, p;"
    check(text, operands, {"d": f"b{width}"}, lambda a, b, p: a if p else b, data=runs)


def test_choosing_data_by_a_known_predicate_leaves_no_operation() -> None:
    operands = {each: ("b32", words(32, ord(each))) for each in "ab"} | {"p": _predicates(6)}
    assert execute("selp.b32 d, a, b, p;", operands, {"d": "b32"}, "ab").operations == {"input"}


def test_choosing_by_a_sign() -> None:
    operands = {
        "a": ("b32", words(32, 1)),
        "b": ("b32", words(32, 2)),
        "c": ("b32", words(32, 3)),
        "e": ("b32", floats(F32, 4)),
    }

    def reference(a: int, b: int, c: int, e: int) -> tuple[int, int]:
        return a if signed(c, 32) >= 0 else b, a if holds("ge", e, 0, F32) else b

    text = "slct.u32.s32 d, a, b, c; slct.b32.f32 f, a, b, e;"
    check(
        text,
        operands,
        {"d": "b32", "f": "b32"},
        reference,
        data=[(), ("c", "e"), ("a", "b"), tuple(operands)],
    )
