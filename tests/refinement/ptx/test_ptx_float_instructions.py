"""Floating-point arithmetic against exact rational arithmetic, on numbers and on data."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import isqrt

import exact_arithmetic as exact
import numpy as np
import pytest
from ptx_instructions import check, execute, floats

from mmaproof.spec.formats import BF16, F16, F32, F64, FloatFormat
from mmaproof.spec.rounding import Rounding

FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}
PACKED = {"f16x2": F16, "bf16x2": BF16, "f32x2": F32}
ROUNDINGS = {
    "rn": Rounding.NEAREST_EVEN,
    "rz": Rounding.TOWARD_ZERO,
    "rm": Rounding.DOWNWARD,
    "rp": Rounding.UPWARD,
}
DIRECTED = [f"{name}.{rounding}" for name, rounding in product(("f32", "f64"), ROUNDINGS)] + [
    "f16.rn",
    "bf16.rn",
]


def flushed(word: int, fmt: FloatFormat) -> int:
    """Return zero for a subnormal."""
    magnitude = word & ~fmt.sign_mask
    return word & fmt.sign_mask if magnitude < 1 << fmt.fraction_bits else word


def fused(fmt: FloatFormat, rounding: str, *terms: tuple[int, ...], narrow: FloatFormat | None = None) -> int:
    """Round a sum of products (two words) and addends (one word) once."""
    products = [((a, narrow or fmt), (b, narrow or fmt)) for a, b in (t for t in terms if len(t) == 2)]
    addends = [(term[0], fmt) for term in terms if len(term) == 1]
    return exact.fused(fmt, ROUNDINGS[rounding], products, addends)


SUMS: dict[str, Callable[..., list[tuple[int, ...]]]] = {
    "add": lambda fmt, a, b: [(a,), (b,)],
    "sub": lambda fmt, a, b: [(a,), (b ^ fmt.sign_mask,)],
    "mul": lambda fmt, a, b: [(a, b)],
    "fma": lambda fmt, a, b, c: [(a, b), (c,)],
}


def _names(opcode: str) -> str:
    return "abc" if opcode == "fma" else "ab"


def _operands(opcode: str, fmt: FloatFormat, lanes: int = 1) -> dict[str, tuple[str, object]]:
    if opcode == "fma" and lanes == 1:
        drawn = exact.fused_operands(fmt, fmt, fmt, fmt, rng=np.random.default_rng(fmt.bits), count=96)
        return {name: (f"b{fmt.bits}", column) for name, column in zip("abc", drawn, strict=True)}
    return {name: (f"b{fmt.bits * lanes}", floats(fmt, ord(name), lanes)) for name in _names(opcode)}


@pytest.mark.parametrize("form", DIRECTED)
@pytest.mark.parametrize("opcode", SUMS)
def test_sums_and_products_are_rounded_once(opcode: str, form: str) -> None:
    name, rounding = form.split(".")
    fmt = FORMATS[name]
    check(
        f"{opcode}.{rounding}.{name} d, {', '.join(_names(opcode))};",
        _operands(opcode, fmt),
        {"d": f"b{fmt.bits}"},
        lambda *words: fused(fmt, rounding, *SUMS[opcode](fmt, *words)),
        formats={"d": fmt},
    )


@pytest.mark.parametrize("name", ["f16", "f32", "f64", "bf16"])
@pytest.mark.parametrize("opcode", ["add", "sub", "mul"])
def test_rounding_is_to_nearest_even_where_it_is_not_said(opcode: str, name: str) -> None:
    fmt = FORMATS[name]
    check(
        f"{opcode}.{name} d, a, b;",
        _operands(opcode, fmt),
        {"d": f"b{fmt.bits}"},
        lambda a, b: fused(fmt, "rn", *SUMS[opcode](fmt, a, b)),
        formats={"d": fmt},
    )


@pytest.mark.parametrize("name", PACKED)
@pytest.mark.parametrize("opcode", SUMS)
def test_lanes_are_computed_apart(opcode: str, name: str) -> None:
    fmt = PACKED[name]
    ones = (1 << fmt.bits) - 1

    def reference(*words: int) -> int:
        halves = [[word & ones for word in words], [word >> fmt.bits for word in words]]
        low, high = (fused(fmt, "rn", *SUMS[opcode](fmt, *half)) for half in halves)
        return low | high << fmt.bits

    text = f"{opcode}.rn.{name} d, {', '.join(_names(opcode))};"
    check(text, _operands(opcode, fmt, 2), {"d": f"b{2 * fmt.bits}"}, reference, formats={"d": fmt})


@pytest.mark.parametrize("name", ["f16", "f32"])
@pytest.mark.parametrize("opcode", SUMS)
def test_subnormals_are_flushed(opcode: str, name: str) -> None:
    fmt = FORMATS[name]

    def reference(*words: int) -> int:
        given = [flushed(word, fmt) for word in words]
        return flushed(fused(fmt, "rn", *SUMS[opcode](fmt, *given)), fmt)

    text = f"{opcode}.rn.ftz.{name} d, {', '.join(_names(opcode))};"
    check(text, _operands(opcode, fmt), {"d": f"b{fmt.bits}"}, reference, formats={"d": fmt})


@pytest.mark.parametrize("name", ["f16", "f32"])
@pytest.mark.parametrize("opcode", SUMS)
def test_saturation_is_to_the_unit_interval_and_takes_nan_to_zero(opcode: str, name: str) -> None:
    fmt = FORMATS[name]
    one = fmt.bias << fmt.fraction_bits

    def reference(*words: int) -> int:
        word = fused(fmt, "rn", *SUMS[opcode](fmt, *words))
        number = exact.decode(word, fmt)
        if number.nan or number.negative or word == 0:
            return 0
        return min(word, one)

    text = f"{opcode}.rn.sat.{name} d, {', '.join(_names(opcode))};"
    check(text, _operands(opcode, fmt), {"d": f"b{fmt.bits}"}, reference)


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_rectified_products_keep_nan(name: str) -> None:
    fmt = FORMATS[name]

    def reference(a: int, b: int, c: int) -> int:
        word = fused(fmt, "rn", (a, b), (c,))
        number = exact.decode(word, fmt)
        return 0 if number.negative and not number.nan else word

    operands = _operands("fma", fmt)
    check(f"fma.rn.relu.{name} d, a, b, c;", operands, {"d": "b16"}, reference, formats={"d": fmt})


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_mixed_precision_rounds_to_the_wider_format_only(name: str) -> None:
    narrow = FORMATS[name]
    operands = {
        "a": ("b16", floats(narrow, 1)),
        "b": ("b16", floats(narrow, 2)),
        "c": ("b32", floats(F32, 3)),
    }

    def reference(a: int, b: int, c: int) -> tuple[int, int, int]:
        wide = exact.encode(exact.decode(a, narrow), F32, Rounding.NEAREST_EVEN)
        return (
            fused(F32, "rz", (wide,), (c,)),
            fused(F32, "rn", (wide,), (c ^ F32.sign_mask,)),
            fused(F32, "rn", (a, b), (c,), narrow=narrow),
        )

    text = f"add.rz.f32.{name} d, a, c; sub.f32.{name} e, a, c; fma.rn.f32.{name} f, a, b, c;"
    results = dict.fromkeys("def", "b32")
    check(text, operands, results, reference, formats=dict.fromkeys("def", F32))


@pytest.mark.parametrize("name", FORMATS)
def test_signs(name: str) -> None:
    fmt = FORMATS[name]
    kind = f"b{fmt.bits}"
    check(
        f"neg.{name} d, a; abs.{name} e, a;",
        {"a": (kind, floats(fmt, 1))},
        {"d": kind, "e": kind},
        lambda a: (a ^ fmt.sign_mask, a & ~fmt.sign_mask),
        formats={"d": fmt, "e": fmt},
    )


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_copied_signs(name: str) -> None:
    fmt = FORMATS[name]
    operands = {each: (f"b{fmt.bits}", floats(fmt, ord(each))) for each in "ab"}

    def reference(a: int, b: int) -> int:
        return a & fmt.sign_mask | b & ~fmt.sign_mask

    check(f"copysign.{name} d, a, b;", operands, {"d": f"b{fmt.bits}"}, reference)


def _extremum(which: str, fmt: FloatFormat, a: int, b: int, *, nan: bool) -> int:
    x, y = exact.decode(a, fmt), exact.decode(b, fmt)
    if x.nan or y.nan:
        return exact.nan_encoding(fmt) if nan or (x.nan and y.nan) else (b if x.nan else a)

    def rank(word: int) -> int:
        magnitude = word & ~fmt.sign_mask
        return -magnitude - 1 if word & fmt.sign_mask else magnitude

    return (max if which == "max" else min)(a, b, key=rank)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("which", ["min", "max"])
def test_extrema_order_zeros_and_treat_nan_as_asked(which: str, name: str) -> None:
    fmt = FORMATS[name]
    kind = f"b{fmt.bits}"
    operands = {each: (kind, floats(fmt, ord(each))) for each in "ab"}
    plain = f"{which}.{name} d, a, b;"
    check(
        plain, operands, {"d": kind}, lambda a, b: _extremum(which, fmt, a, b, nan=False), formats={"d": fmt}
    )
    if fmt != F64:
        text = f"{which}.NaN.{name} d, a, b;"
        check(
            text,
            operands,
            {"d": kind},
            lambda a, b: _extremum(which, fmt, a, b, nan=True),
            formats={"d": fmt},
        )


@pytest.mark.parametrize("name", ["f16", "bf16", "f32"])
def test_extrema_of_magnitudes_with_the_product_of_signs(name: str) -> None:
    fmt = FORMATS[name]
    kind = f"b{fmt.bits}"

    def reference(a: int, b: int) -> int:
        magnitude = _extremum("max", fmt, a & ~fmt.sign_mask, b & ~fmt.sign_mask, nan=False)
        return magnitude | (a ^ b) & fmt.sign_mask

    operands = {each: (kind, floats(fmt, ord(each))) for each in "ab"}
    check(f"max.xorsign.abs.{name} d, a, b;", operands, {"d": kind}, reference, formats={"d": fmt})


def test_extremum_of_three() -> None:
    def reference(a: int, b: int, c: int) -> int:
        return _extremum("min", F32, _extremum("min", F32, a, b, nan=True), c, nan=True)

    operands = {each: ("b32", floats(F32, ord(each))) for each in "abc"}
    check("min.NaN.f32 d, a, b, c;", operands, {"d": "b32"}, reference, formats={"d": F32})


PROPERTIES: dict[str, Callable[[exact.Number, FloatFormat], bool]] = {
    "finite": lambda x, fmt: not x.nan and x.finite,
    "infinite": lambda x, fmt: not x.nan and not x.finite,
    "number": lambda x, fmt: not x.nan,
    "notanumber": lambda x, fmt: x.nan,
    "normal": lambda x, fmt: (
        x.magnitude is not None and not 0 < x.magnitude < Fraction(2) ** fmt.minimum_exponent
    ),
    "subnormal": lambda x, fmt: (
        x.magnitude is not None and 0 < x.magnitude < Fraction(2) ** fmt.minimum_exponent
    ),
}


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize("property_name", PROPERTIES)
def test_properties_of_numbers(property_name: str, name: str) -> None:
    """Zeros of either sign count as normal, as the manual says."""
    fmt = FORMATS[name]
    words = np.concatenate([np.array([0, fmt.sign_mask], dtype=np.uint64), floats(fmt, 1)])
    check(
        f"testp.{property_name}.{name} p, a;",
        {"a": (f"b{fmt.bits}", words)},
        {"p": "pred"},
        lambda a: int(PROPERTIES[property_name](exact.decode(a, fmt), fmt)),
    )


def _divided(a: exact.Number, b: exact.Number, fmt: FloatFormat) -> int:
    negative = a.negative != b.negative
    zero, infinite = exact.Number(negative, Fraction(0)), exact.Number(negative, None)
    if a.nan or b.nan or (a.magnitude == b.magnitude and a.magnitude in (0, None)):
        return exact.nan_encoding(fmt)
    if a.magnitude is None or b.magnitude == 0:
        return exact.encode(infinite, fmt, Rounding.NEAREST_EVEN)
    if b.magnitude is None or a.magnitude == 0:
        return exact.encode(zero, fmt, Rounding.NEAREST_EVEN)
    return exact.round_exact(a.value / b.value, fmt, Rounding.NEAREST_EVEN)


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_quotients_to_nearest_are_correctly_rounded(name: str) -> None:
    fmt = FORMATS[name]
    kind = f"b{fmt.bits}"
    one = exact.decode(fmt.bias << fmt.fraction_bits, fmt)

    def reference(a: int, b: int) -> tuple[int, int]:
        x, y = exact.decode(a, fmt), exact.decode(b, fmt)
        return _divided(x, y, fmt), _divided(one, y, fmt)

    operands = {each: (kind, floats(fmt, ord(each))) for each in "ab"}
    text = f"div.rn.{name} d, a, b; rcp.rn.{name} e, b;"
    check(text, operands, {"d": kind, "e": kind}, reference, formats={"d": fmt, "e": fmt})


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_square_roots_to_nearest_are_correctly_rounded(name: str) -> None:
    fmt = FORMATS[name]
    kind = f"b{fmt.bits}"

    def reference(a: int) -> int:
        x = exact.decode(a, fmt)
        if x.nan or (x.negative and x.magnitude != 0):
            return exact.nan_encoding(fmt)
        if x.magnitude in (0, None):
            return a
        assert x.magnitude is not None
        scale = 1 << 2 * (fmt.bias + 2 * fmt.precision)  # enough bits that the last one is sticky
        scaled = x.magnitude * scale * scale
        whole = isqrt(scaled.numerator // scaled.denominator)
        root = Fraction(2 * whole + (whole * whole != scaled), 2 * scale)
        return exact.round_exact(root, fmt, Rounding.NEAREST_EVEN)

    check(f"sqrt.rn.{name} d, a;", {"a": (kind, floats(fmt, 1))}, {"d": kind}, reference, formats={"d": fmt})


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ex2.approx.ftz.f32 d, a;", "ex2.approx.ftz"),
        ("lg2.approx.f32 d, a;", "lg2.approx"),
        ("rcp.approx.f32 d, a;", "rcp.approx"),
        ("rsqrt.approx.f32 d, a;", "rsqrt.approx"),
        ("tanh.approx.f32 d, a;", "tanh.approx"),
        ("div.full.f32 d, a, a;", "div.full"),
    ],
)
def test_what_hardware_approximates_has_no_value_even_of_numbers(text: str, name: str) -> None:
    done = execute(text, {"a": ("b32", floats(F32, 1))}, {"d": "b32"})
    assert done.operations <= {"function", "quotient", "undefined"}  # the last, of which NaN it is
    assert done.functions == {name}


@pytest.mark.parametrize("name", ["f16x2", "bf16x2"])
def test_approximations_of_lanes_are_of_their_format(name: str) -> None:
    fmt = PACKED[name]
    flush = "" if fmt == F16 else ".ftz"
    done = execute(f"ex2.approx{flush}.{name} d, a;", {"a": ("b32", floats(fmt, 1, 2))}, {"d": "b32"}, ["a"])
    assert done.findings == ()
    assert done.operations == {"concatenation"}
