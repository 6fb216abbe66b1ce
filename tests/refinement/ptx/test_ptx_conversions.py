"""Conversions between formats against exact rational arithmetic, and moves, on numbers and on data."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import exact_arithmetic as exact
import numpy as np
import pytest
from ptx_instructions import THREADS, check, execute, floats, signed, words

from mmaproof.spec.formats import BF16, F16, F32, F64, FORMATS, TF32, UE8M0, FloatFormat
from mmaproof.spec.rounding import Rounding

INTEGERS = [f"{sort}{width}" for width in (8, 16, 32, 64) for sort in "us"]
FLOATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}
ROUNDINGS = {
    "rn": Rounding.NEAREST_EVEN,
    "rz": Rounding.TOWARD_ZERO,
    "rm": Rounding.DOWNWARD,
    "rp": Rounding.UPWARD,
}
INTEGRAL = {"rn": round, "rz": math.trunc, "rm": math.floor, "rp": math.ceil}


def _fmt(name: str) -> FloatFormat:
    fmt = FORMATS[name]
    assert isinstance(fmt, FloatFormat)
    return fmt


def _register(name: str) -> str:
    """Return the type of a register that holds an integer type; there are none of 8 bits here."""
    return f"b{max(16, int(name[1:]))}"


def _read(word: int, name: str) -> int:
    width = int(name[1:])
    word &= (1 << width) - 1
    return signed(word, width) if name[0] == "s" else word


def _limits(name: str) -> tuple[int, int]:
    width = int(name[1:])
    return (-(1 << width - 1), (1 << width - 1) - 1) if name[0] == "s" else (0, (1 << width) - 1)


def _held(value: int, name: str, register: int) -> int:
    """Return what a register holds of an integer: extended as the type says."""
    return _read(value & (1 << int(name[1:])) - 1, name) & (1 << register) - 1


@pytest.mark.parametrize(("to", "of"), list(product(INTEGERS, INTEGERS)))
def test_integers_are_cut_or_extended_or_clamped(to: str, of: str) -> None:
    register = int(_register(to)[1:])
    low, high = _limits(to)

    def reference(a: int) -> tuple[int, int, int]:
        value = _read(a, of)
        clamped = max(low, min(value, high))
        return _held(value, to, register), _held(clamped, to, register), _held(value, to, 64)

    operands = {"a": (_register(of), words(int(_register(of)[1:]), 1))}
    results = {"d": _register(to), "e": _register(to), "f": "b64"}
    check(f"cvt.{to}.{of} d, a; cvt.sat.{to}.{of} e, a; cvt.{to}.{of} f, a;", operands, results, reference)


@pytest.mark.parametrize(("to", "of"), list(product(FLOATS, INTEGERS)))
def test_integers_are_rounded_to_floats(to: str, of: str) -> None:
    fmt = FLOATS[to]
    text = " ".join(f"cvt.{rounding}.{to}.{of} {rounding}_, a;" for rounding in ROUNDINGS)

    def reference(a: int) -> list[int]:
        value = Fraction(_read(a, of))
        return [exact.round_exact(value, fmt, rounding) for rounding in ROUNDINGS.values()]

    operands = {"a": (_register(of), words(int(_register(of)[1:]), 2))}
    check(text, operands, {f"{rounding}_": f"b{fmt.bits}" for rounding in ROUNDINGS}, reference)


@pytest.mark.parametrize(("to", "of"), list(product(INTEGERS, FLOATS)))
def test_floats_are_rounded_to_integers_and_clamped(to: str, of: str) -> None:
    fmt, width = FLOATS[of], int(to[1:])
    low, high = _limits(to)

    def reference(a: int) -> list[int]:
        number = exact.decode(a, fmt)
        if number.nan:  # PTX ISA 9.1 section 9.7.9.21
            special = 1 << (width - 1) if fmt == F64 or width == 64 else 0
            values = [special] * 4
        elif not number.finite:
            values = [low if number.negative else high] * 4
        else:
            values = [max(low, min(rounded(number.value), high)) for rounded in INTEGRAL.values()]
        return [_held(value, to, int(_register(to)[1:])) for value in values]

    text = " ".join(f"cvt.{rounding}i.{to}.{of} {rounding}_, a;" for rounding in INTEGRAL)
    edges = [exact.round_exact(Fraction(limit + step), fmt, r) for limit in (low, high, high + 1)
             for step in (-1, 0, 1) for r in Rounding]  # fmt: skip
    drawn = floats(fmt, 3)
    drawn[: len(edges)] = edges
    operands = {"a": (f"b{fmt.bits}", drawn)}
    check(text, operands, {f"{rounding}_": _register(to) for rounding in INTEGRAL}, reference)


NARROWING = [
    ("f16", "f32"),
    ("bf16", "f32"),
    ("f32", "f64"),
    ("f16", "f64"),
    ("bf16", "f64"),
    ("bf16", "f16"),
    ("f16", "bf16"),
]
WIDENING = [("f32", "f16"), ("f32", "bf16"), ("f64", "f16"), ("f64", "bf16"), ("f64", "f32")]


@pytest.mark.parametrize(("to", "of"), NARROWING)
def test_floats_are_rounded_to_narrower_floats(to: str, of: str) -> None:
    source, target = FLOATS[of], FLOATS[to]
    text = " ".join(f"cvt.{rounding}.{to}.{of} {rounding}_, a;" for rounding in ROUNDINGS)
    kinds = {f"{rounding}_": f"b{target.bits}" for rounding in ROUNDINGS}

    def reference(a: int) -> list[int]:
        return [exact.encode(exact.decode(a, source), target, r) for r in ROUNDINGS.values()]

    operands = {"a": (f"b{source.bits}", floats(source, 4))}
    check(text, operands, kinds, reference, formats=dict.fromkeys(kinds, target))


@pytest.mark.parametrize(("to", "of"), [("bf16", "f16"), ("f16", "bf16")])
def test_formats_of_which_neither_has_all_of_the_other_are_rounded_to_nearest_without_a_word(
    to: str, of: str
) -> None:
    """As ptxas does it: Triton writes ``cvt.bf16.f16``."""
    source, target = FLOATS[of], FLOATS[to]

    def reference(a: int) -> int:
        return exact.encode(exact.decode(a, source), target, Rounding.NEAREST_EVEN)

    check(
        f"cvt.{to}.{of} d, a;",
        {"a": ("b16", floats(source, 4))},
        {"d": "b16"},
        reference,
        formats={"d": target},
    )


@pytest.mark.parametrize(("to", "of"), WIDENING)
def test_wider_floats_have_every_number(to: str, of: str) -> None:
    source, target = FLOATS[of], FLOATS[to]

    def reference(a: int) -> int:
        return exact.encode(exact.decode(a, source), target, Rounding.NEAREST_EVEN)

    operands = {"a": (f"b{source.bits}", floats(source, 5))}
    check(f"cvt.{to}.{of} d, a;", operands, {"d": f"b{target.bits}"}, reference, formats={"d": target})


@pytest.mark.parametrize("to", ["f16", "bf16"])
def test_only_single_precision_is_flushed(to: str) -> None:
    target = FLOATS[to]

    def reference(a: int) -> int:
        a = a & F32.sign_mask if a & ~F32.sign_mask < 1 << F32.fraction_bits else a
        return exact.encode(exact.decode(a, F32), target, Rounding.NEAREST_EVEN)

    tiny = exact.round_exact(Fraction(3, 2**26), F32, Rounding.NEAREST_EVEN)  # subnormal in f16 only
    drawn = floats(F32, 6)
    drawn[0] = tiny
    text = f"cvt.rn.ftz.{to}.f32 d, a;"
    check(text, {"a": ("b32", drawn)}, {"d": "b16"}, reference, formats={"d": target})


@pytest.mark.parametrize("name", ["f16", "f32", "f64"])
def test_rounding_to_integral_floats(name: str) -> None:
    fmt = FLOATS[name]

    def reference(a: int) -> list[int]:
        number = exact.decode(a, fmt)
        if not number.finite:
            return [exact.encode(number, fmt, Rounding.NEAREST_EVEN)] * 4
        rounded = (Fraction(each(number.value)) for each in INTEGRAL.values())
        return [exact.round_exact(each, fmt, Rounding.NEAREST_EVEN, number.negative) for each in rounded]

    text = " ".join(f"cvt.{rounding}i.{name}.{name} {rounding}_, a;" for rounding in INTEGRAL)
    kinds = {f"{rounding}_": f"b{fmt.bits}" for rounding in INTEGRAL}
    operands = {"a": (f"b{fmt.bits}", floats(fmt, 7))}
    check(text, operands, kinds, reference, data=[()], formats=dict.fromkeys(kinds, fmt))


def _clamped(word: int, of: FloatFormat, to: FloatFormat, rounding: str, *, relu: bool, finite: bool) -> int:
    """Convert, to the largest finite number where there is none so large, to zero below zero."""
    number = exact.decode(word, of)
    if number.nan:
        return exact.nan_encoding(to)
    largest = exact.largest(to)
    found = exact.encode(number, to, ROUNDINGS[rounding])
    if finite and (not number.finite or exact.decode(found, to).nan or not exact.decode(found, to).finite):
        found = exact.round_exact(-largest if number.negative else largest, to, Rounding.NEAREST_EVEN)
    return 0 if relu and number.negative else found


@pytest.mark.parametrize("modifiers", ["", ".relu", ".satfinite", ".relu.satfinite"])
@pytest.mark.parametrize("to", ["f16", "bf16"])
@pytest.mark.parametrize("rounding", ["rn", "rz"])
def test_halves_of_single_precision(rounding: str, to: str, modifiers: str) -> None:
    target = FLOATS[to]

    def one(a: int) -> int:
        relu, finite = "relu" in modifiers, "satfinite" in modifiers
        return _clamped(a, F32, target, rounding, relu=relu, finite=finite)

    operands = {name: ("b32", floats(F32, ord(name))) for name in "ab"}
    text = f"cvt.{rounding}{modifiers}.{to}.f32 d, a; cvt.{rounding}{modifiers}.{to}x2.f32 e, a, b;"
    results = {"d": "b16", "e": "b32"}
    check(
        text,
        operands,
        results,
        lambda a, b: (one(a), one(a) << 16 | one(b)),
        formats=dict.fromkeys("de", target),
    )


@pytest.mark.parametrize("modifiers", ["rn", "rz", "rn.relu", "rz.satfinite"])
def test_tensor_floats_of_single_precision(modifiers: str) -> None:
    def reference(a: int) -> int:
        relu, finite = "relu" in modifiers, "satfinite" in modifiers
        return _clamped(a, F32, TF32, modifiers[:2], relu=relu, finite=finite)

    operands = {"a": ("b32", floats(F32, 9))}
    check(f"cvt.{modifiers}.tf32.f32 d, a;", operands, {"d": "b32"}, reference, formats={"d": F32})


@pytest.mark.parametrize("modifiers", ["rna", "rna.satfinite"])
def test_tensor_floats_with_ties_away_from_zero(modifiers: str) -> None:
    """Half a unit is added to the magnitude, and what lies below the last bit is cut off."""

    def reference(a: int) -> int:
        if not exact.decode(a, F32).finite:
            clamped = not exact.decode(a, F32).nan and "satfinite" in modifiers
            return a & F32.sign_mask | 0x7F7FE000 if clamped else a
        rounded = a + 0x1000 & ~0x1FFF
        overflows = rounded & ~F32.sign_mask == 0x7F800000 and "satfinite" in modifiers
        return rounded - 0x2000 if overflows else rounded

    drawn = floats(F32, 9)
    drawn[::3] = drawn[::3] & ~np.uint64(0x1FFF) | np.uint64(0x1000)
    operands = {"a": ("b32", drawn)}
    check(f"cvt.{modifiers}.tf32.f32 d, a;", operands, {"d": "b32"}, reference, formats={"d": F32})


SMALL = ["e4m3", "e5m2", "e2m3", "e3m2", "e2m1"]


@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("to", SMALL)
def test_pairs_of_small_floats(to: str, relu: str) -> None:
    target = _fmt(to)
    lane = 4 if to == "e2m1" else 8
    kind = "b8" if to == "e2m1" else "b16"

    def one(a: int) -> int:
        return _clamped(a, F32, target, "rn", relu=bool(relu), finite=True)

    def back(a: int) -> int:
        return _clamped(a, target, F16, "rn", relu=bool(relu), finite=False)

    operands = {name: ("b32", floats(F32, ord(name))) for name in "ab"}
    text = f"cvt.rn.satfinite{relu}.{to}x2.f32 d, a, b;"
    check(text, operands, {"d": kind}, lambda a, b: one(a) << lane | one(b))
    ones = (1 << target.bits) - 1
    every = {"a": (kind, words(8 if lane == 4 else 16, 1) & np.uint64(ones << lane | ones))}
    text = f"cvt.rn{relu}.f16x2.{to}x2 d, a;"
    check(text, every, {"d": "b32"}, lambda a: back(a >> lane) << 16 | back(a & ones), formats={"d": F16})


@pytest.mark.parametrize("to", ["e4m3", "e5m2"])
def test_pairs_of_bytes_of_pairs_of_halves(to: str) -> None:
    def one(a: int) -> int:
        return _clamped(a, F16, _fmt(to), "rn", relu=False, finite=True)

    def reference(a: int) -> int:
        return one(a >> 16) << 8 | one(a & 0xFFFF)

    operands = {"a": ("b32", floats(F16, 1, 2))}
    check(f"cvt.rn.satfinite.{to}x2.f16x2 d, a;", operands, {"d": "b16"}, reference)


@pytest.mark.parametrize("of", ["f32", "bf16"])
@pytest.mark.parametrize("modifiers", ["rz", "rp", "rz.satfinite", "rp.satfinite"])
def test_scale_factors(modifiers: str, of: str) -> None:
    """The reference is the C code of ``cuda_fp8.hpp``: exponents, rounded up where a fraction is lost."""
    source = FLOATS[of]

    def one(a: int) -> int:
        magnitude = a & ~source.sign_mask
        exponent, fraction = divmod(magnitude, 1 << source.fraction_bits)
        smallest = 1 << (source.fraction_bits - 1)
        rounds = modifiers.startswith("rp") and fraction and magnitude > smallest and exponent < 0xFF
        found = exponent + bool(rounds)
        is_nan = exponent == 0xFF and fraction
        return 0xFE if "satfinite" in modifiers and not is_nan and found == 0xFF else found

    if of == "f32":
        operands = {name: ("b32", floats(F32, ord(name))) for name in "ab"}
        text = f"cvt.{modifiers}.ue8m0x2.f32 d, a, b;"
        check(text, operands, {"d": "b16"}, lambda a, b: one(a) << 8 | one(b))
    else:
        text = f"cvt.{modifiers}.ue8m0x2.bf16x2 d, a;"
        operands = {"a": ("b32", floats(BF16, 1, 2))}
        check(text, operands, {"d": "b16"}, lambda a: one(a >> 16) << 8 | one(a & 0xFFFF))


def test_scale_factors_as_numbers() -> None:
    def one(a: int) -> int:
        return exact.encode(exact.decode(a, UE8M0), BF16, Rounding.NEAREST_EVEN)

    operands = {"a": ("b16", words(16, 5))}
    text = "cvt.rn.bf16x2.ue8m0x2 d, a;"
    check(text, operands, {"d": "b32"}, lambda a: one(a >> 8) << 16 | one(a & 0xFF), formats={"d": BF16})


@pytest.mark.parametrize("to", ["u16", "s16", "u8", "s8", "u4", "s4"])
def test_packing_clamped_integers(to: str) -> None:
    width = int(to[1:])
    low, high = _limits(to)

    def one(a: int) -> int:
        return max(low, min(signed(a, 32), high)) & (1 << width) - 1

    operands = {name: ("b32", words(32, ord(name))) for name in "abc"}
    if width == 16:
        del operands["c"]
        text = f"cvt.pack.sat.{to}.s32 d, a, b;"
    else:
        text = f"cvt.pack.sat.{to}.s32.b32 d, a, b, c;"

    def reference(a: int, b: int, c: int = 0) -> int:
        return (one(b) | one(a) << width | c << 2 * width) & 0xFFFFFFFF

    check(text, operands, {"d": "b32"}, reference)


@pytest.mark.parametrize("of", ["f16", "f32", "f64"])
def test_saturated_floats(of: str) -> None:
    fmt = FLOATS[of]
    one = fmt.bias << fmt.fraction_bits

    def reference(a: int) -> int:
        number = exact.decode(a, fmt)
        return 0 if number.nan or number.negative else min(a, one)

    kind = f"b{fmt.bits}"
    check(f"cvt.sat.{of}.{of} d, a;", {"a": (kind, floats(fmt, 8))}, {"d": kind}, reference)


def test_moves_take_words_apart_and_put_them_together() -> None:
    text = "mov.b64 {d, e}, a; mov.b32 {f, _}, e; mov.b64 g, {e, d}; mov.b64 h, {0, 1, f, f};"
    check(
        text,
        {"a": ("b64", words(64, 1))},
        {"d": "b32", "e": "b32", "f": "b16", "g": "b64", "h": "b64"},
        lambda a: (
            a & 0xFFFFFFFF,
            a >> 32,
            a >> 32 & 0xFFFF,
            (a << 32 | a >> 32) & (1 << 64) - 1,
            1 << 16 | (a >> 32 & 0xFFFF) * 0x0001000100000000,
        ),
    )


def test_moves_of_constants_and_special_registers() -> None:
    text = "mov.u32 d, %tid.x; mov.f32 e, 0f3F800000; mov.f64 f, 1.5; mov.b16 g, -1; mov.pred p, 1;"
    done = execute(
        text, {"a": ("b32", words(32, 1))}, {"d": "b32", "e": "b32", "f": "b64", "g": "b16", "p": "pred"}
    )
    assert (done.results["d"] == np.arange(THREADS)).all()
    expected = {"e": 0x3F800000, "f": 0x3FF8000000000000, "g": 0xFFFF, "p": 1}
    assert {name: {int(word) for word in done.results[name]} for name in expected} == {
        name: {word} for name, word in expected.items()
    }


@pytest.mark.parametrize("text", ["cvt.f32.f16 e, a;", "cvt.u32.u16 e, a;", "cvt.s32.s8 e, a;"])
def test_a_conversion_back_and_forth_is_what_it_was(text: str) -> None:
    back = {"f": "cvt.rn.f16.f32 d, e;", "u": "cvt.u16.u32 d, e;", "s": "cvt.u16.u32 d, e;"}[text[4]]
    exponents = np.arange(THREADS, dtype=np.uint64) << np.uint64(8)
    values = words(16, 1) & np.uint64(0x7F) if text[4] == "s" else exponents & np.uint64(0x7BFF)
    check(f".reg .b32 e; {text} {back}", {"a": ("b16", values)}, {"d": "b16"}, lambda a: a)
