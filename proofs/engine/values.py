"""Rules at given values, evaluated without a solver: what refutes one.

Real numbers are balls of Arb, so that a difference is certain; words and integers are Python's, floats the
specification's encodings in numpy.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
from flint import arb, ctx

from ...refinement.rules.expression import evaluate
from ...refinement.rules.rule import Rule, Theory
from ...spec.float_encoding import decode, encode
from ...spec.formats import BF16, E5M2, F16, F32, TF32, FloatFormat
from ...spec.rounding import Rounding

_PRECISION = 200
_MOST_POINTS = 4096
"""Points that are tried of a rule whose values are not given."""


class UndecidedError(Exception):
    """Balls overlap: which of two numbers is greater is not known."""


def _ordered(is_so: Callable[[Any, Any], bool], is_not: Callable[[Any, Any], bool]) -> Callable[..., bool]:
    def compared(x: Any, y: Any) -> bool:
        if is_so(x, y):
            return True
        if is_not(x, y):
            return False
        raise UndecidedError

    return compared


def _ball(value: Any) -> Any:
    exact = Fraction(value)
    return arb(exact.numerator) / arb(exact.denominator)


def _exp2(x: Any) -> Any:
    return (x * arb.const_log2()).exp()


def _lg2(x: Any) -> Any:
    return x.log() / arb.const_log2()


def _rounded(x: Any) -> Any:
    """Return the nearest integer, of two the even one."""
    above = (x + arb(1) / 2).floor()
    is_tie = _REALS["=="](above - x, arb(1) / 2)
    return 2 * (above / 2).floor() if is_tie else above


_REALS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
        "negated": operator.neg, "number": _ball, "quotient": operator.truediv,
        "<": _ordered(operator.lt, operator.ge), "<=": _ordered(operator.le, operator.gt),
        ">": _ordered(operator.gt, operator.le), ">=": _ordered(operator.ge, operator.lt),
        "==": _ordered(operator.eq, operator.ne), "!=": _ordered(operator.ne, operator.eq),
        "and": lambda p, q: p and q, "or": lambda p, q: p or q, "not": operator.not_,
        "either": lambda p, q: p is not q,
        "where": lambda p, x, y: x if p else y,
        "max": lambda x, y: x.max(y), "min": lambda x, y: x.min(y),
        "ex2": _exp2, "lg2": _lg2, "rcp": lambda x: 1 / x, "sqrt": lambda x: x.sqrt(),
        "rsqrt": lambda x: x.rsqrt(), "tanh": lambda x: x.tanh(), "erf": lambda x: x.erf(),
        "floor": lambda x: x.floor(), "ceil": lambda x: x.ceil(), "rint": _rounded,
        "trunc": lambda x: x.floor() if _REALS[">="](x, 0) else x.ceil(),
        "sin": lambda x: x.sin(), "cos": lambda x: x.cos(),
        "sigmoid": lambda x: 1 / (1 + (-x).exp()),
    }
)  # fmt: skip

_INTEGERS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "+": operator.add, "-": operator.sub, "*": operator.mul, "negated": operator.neg,
        "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
        "!=": operator.ne,
        "number": int, "and": lambda p, q: p and q, "or": lambda p, q: p or q,
        "where": lambda p, x, y: x if p else y, "max": max, "min": min,
        "saturated": lambda x: min(max(x, -128), 127),
    }
)  # fmt: skip


class _Word(int):
    """A number modulo a power of two."""

    width: int

    def __new__(cls, value: int, width: int) -> _Word:
        found = super().__new__(cls, value & ((1 << width) - 1))
        found.width = width
        return found

    @property
    def signed(self) -> int:
        """The number in two's complement."""
        return int(self) - (1 << self.width) * (int(self) >> self.width - 1)


def _words(width: int) -> Mapping[str, Callable[..., Any]]:
    def modular(compute: Callable[[int, int], int]) -> Callable[..., Any]:
        def apply(x: int, y: int) -> int:
            widths = [each.width for each in (x, y) if isinstance(each, _Word)]
            found = compute(int(x), int(y))
            return _Word(found, widths[0]) if widths else found

        return apply

    return {
        **{sign: modular(_INTEGERS[sign]) for sign in "+-*"},
        "negated": lambda x: _Word(-x, x.width) if isinstance(x, _Word) else -x,
        **{sign: _INTEGERS[sign] for sign in ("<", "<=", ">", ">=", "==", "!=", "and", "or", "where")},
        "**": operator.pow, "number": int, "&": modular(operator.and_), "|": modular(operator.or_),
        "^": modular(operator.xor), "<<": modular(operator.lshift), ">>": modular(operator.rshift),
        "arithmetic_shift": lambda x, k: _Word(x.signed >> k, x.width),
        "low": _Word,
        "high": lambda x, count: _Word(x >> count, x.width - count),
        "zeros": lambda count: _Word(0, count),
        "concatenated": lambda x, y: _Word(int(x) << y.width | int(y), x.width + y.width),
        "sign_extended": lambda x, count: _Word(x.signed, x.width + count),
        "signed": lambda x: x.signed, "unsigned": int,
        "fits": lambda x, bits: -(1 << bits - 1) <= x < 1 << bits - 1,
    }  # fmt: skip


class _Float:
    """An encoding and its format."""

    def __init__(self, word: int, fmt: FloatFormat) -> None:
        self.word, self.format = int(word), fmt

    @property
    def number(self) -> float:
        """What it stands for."""
        return float(decode(np.array([self.word], dtype=self.format.storage), self.format)[0])

    def with_word(self, word: int) -> _Float:
        """Return other bits of the same format."""
        return _Float(word, self.format)

    def to(self, fmt: FloatFormat, rounding: Rounding = Rounding.NEAREST_EVEN) -> _Float:
        """Return the number rounded to another format."""
        return _Float(int(encode(np.array([self.number]), fmt, rounding)[0]), fmt)


def _extreme(of: Callable[[float, float], float]) -> Callable[..., _Float]:
    def apply(x: _Float, y: _Float) -> _Float:
        if np.isnan(x.number) or np.isnan(y.number):
            return y if np.isnan(x.number) else x
        return x if of(x.number, y.number) == x.number else y

    return apply


def _carried(word: int, low: int) -> int:
    return word + (1 << low - 1) - 1 + (word >> low & 1) & 0xFFFFFFFF


def _by_carries(x: _Float, bits: _Float, low: int) -> Rounding:
    """Return the rounding away from zero if low bits and others carry, else toward it."""
    mask = (1 << low) - 1
    if (x.word & mask) + (bits.word & mask) <= mask:
        return Rounding.TOWARD_ZERO
    return Rounding.DOWNWARD if x.number < 0 else Rounding.UPWARD


def _away(x: _Float, fmt: FloatFormat) -> _Float:
    """Return the nearest number, of two the one that is farther from 0."""
    below = x.to(fmt, Rounding.TOWARD_ZERO)
    above = below.with_word(below.word + (1 << fmt.padding_bits))
    with np.errstate(invalid="ignore"):
        nearer = abs(x.number) - abs(below.number) >= abs(above.number) - abs(x.number)
    return above if nearer and np.isfinite(x.number) else below


def _floats(fmt: FloatFormat) -> Mapping[str, Callable[..., Any]]:
    top = fmt.sign_mask
    toward_zero = Rounding.TOWARD_ZERO

    def of(number: float) -> _Float:
        return _Float(int(encode(np.array([number]), fmt, Rounding.NEAREST_EVEN)[0]), fmt)

    return {
        "number": of, "negated": lambda x: x.with_word(x.word ^ x.format.sign_mask),
        "<": lambda x, y: x.number < y.number, ">": lambda x, y: x.number > y.number,
        "==": lambda x, y: x.number == y.number,
        "where": lambda p, x, y: x if p else y, "and": lambda p, q: p and q, "not": operator.not_,
        "max": _extreme(max), "min": _extreme(min),
        "is_number": lambda x: not np.isnan(x.number),
        "infinity": lambda: of(np.inf), "nan": lambda: of(np.nan),
        "sign_cleared": lambda x: x.with_word(x.word & ~top), "sign_set": lambda x: x.with_word(x.word | top),
        "sign_flipped": lambda x: x.with_word(x.word ^ top),
        "as_bf16": lambda x: _Float(x.word >> 16, BF16),
        "toward_zero_bf16": lambda x: x.to(BF16, toward_zero),
        "as_tf32": lambda x: x.with_word(x.word & ~0x1FFF),
        "toward_zero_tf32": lambda x: x.to(TF32, toward_zero).to(F32),
        "carried_bf16": lambda x: _Float(_carried(x.word, 16) >> 16, BF16),
        "carried_tf32": lambda x: x.with_word(_carried(x.word, 13) & ~0x1FFF),
        "half_added_bf16": lambda x: _Float((x.word + 0x8000 & 0xFFFFFFFF) >> 16, BF16),
        "half_added_tf32": lambda x: x.with_word(x.word + 0x1000 & 0xFFFFE000),
        "added_bf16": lambda x, r: _Float((x.word + (r.word & 0xFFFF) & 0xFFFFFFFF) >> 16, BF16),
        "added_tf32": lambda x, r: x.with_word(x.word + (r.word & 0x1FFF) & 0xFFFFE000),
        "neighbour_bf16": lambda x, r: x.to(BF16, _by_carries(x, r, 16)),
        "neighbour_tf32": lambda x, r: x.to(TF32, _by_carries(x, r, 13)).to(F32),
        "nearest_bf16": lambda x: x.to(BF16), "nearest_tf32": lambda x: x.to(TF32).to(F32),
        "nearest_away_bf16": lambda x: _away(x, BF16), "nearest_away_tf32": lambda x: _away(x, TF32).to(F32),
        "as_f32": lambda x: _Float(x.word << 16, F32), "widened": lambda x: x.to(F32),
        "narrowed": lambda x: x.to(fmt), "widened_e5m2": lambda x: x.to(F16), "to_e5m2": lambda x: x.to(E5M2),
    }  # fmt: skip


FLOATS: Mapping[str, FloatFormat] = MappingProxyType({"f16": F16, "bf16": BF16, "f32": F32, "e5m2": E5M2})
"""Formats by name."""

_POINTS: Mapping[Theory, tuple[str, ...]] = MappingProxyType(
    {
        Theory.REAL: ("1", "-1", "2", "0", "1/2", "-3", "5/4", "3", "-5/8"),
        Theory.INTEGERS: ("1", "-1", "0", "127", "-128", "200", "-300", "126", "8388607"),
        Theory.BITS: ("1", "0", "255", "128", "127", "16", "85", "170", "3"),
        Theory.FLOAT: (
            "0x1",
            "0x0",
            "0x3c01",
            "0xbc01",
            "0x7f800001",
            "0x7fff",
            "0xffc12345",
            "0x3f812345",
            "0x83",
        ),
    }
)
"""Values at which rules are tried."""

WIDTH, COUNT = 8, 3
"""Of words, and how many of their bits ``k`` are, in values that refute a rule."""


def format_of(rule: Rule) -> str:
    """Return the name of the format of a rule's floats."""
    return next((sort for sort in rule.sorts.values() if sort in FLOATS), "f16")


def points(rule: Rule, variables: tuple[str, ...]) -> Iterator[Mapping[str, str]]:
    """Yield values of a rule's variables: those that it names, and others.

    An integer is also tried at the constants that the rule compares with, and next to them.
    """
    if rule.fails:
        yield rule.fails
    known = _POINTS.get(rule.theory, _POINTS[Theory.REAL])
    if rule.theory is Theory.INTEGERS:
        constants = [int(each) for each in re.findall(r"\b\d+\b", f"{rule.left} {rule.right}")]
        near = [str(constant + step) for step in (0, -1, 1) for constant in constants]
        known = tuple(dict.fromkeys((*near, *known)))
    most = max(2, int(_MOST_POINTS ** (1 / max(1, len(variables)))))
    for values in product(known[:most], repeat=len(variables)):
        yield dict(zip(variables, values, strict=True))


def difference_at(rule: Rule, values: Mapping[str, str], *, guarded: bool) -> tuple[str, str] | None:
    """Return the two sides of a rule at values where they surely differ; None elsewhere.

    A side that is no number differs from one that is. With `guarded`, values that do not meet the rule's
    condition refute nothing.
    """
    before, ctx.prec = ctx.prec, _PRECISION
    try:
        return _difference(rule, values, guarded)
    except (UndecidedError, ZeroDivisionError):
        return None
    finally:
        ctx.prec = before


def _difference(rule: Rule, values: Mapping[str, str], guarded: bool) -> tuple[str, str] | None:
    functions, read, different = _algebra(rule)
    variables = {name: read(name, text) for name, text in values.items()} | _parameters(rule.theory)
    if guarded and rule.condition and not evaluate(rule.condition, functions, variables):
        return None
    left, right = (evaluate(side, functions, variables) for side in (rule.left, rule.right))
    return (_shown(left), _shown(right)) if different(left, right) else None


def _parameters(theory: Theory) -> dict[str, Any]:
    if theory is Theory.BITS:
        return {"width": WIDTH, "k": COUNT}
    return {} if theory in (Theory.INTEGERS, Theory.FLOAT) else {
        "log2_of_e": 1 / arb.const_log2(), "ln_of_2": arb.const_log2(),
    }  # fmt: skip


def _algebra(
    rule: Rule,
) -> tuple[Mapping[str, Callable[..., Any]], Callable[[str, str], Any], Callable[[Any, Any], bool]]:
    """Return what functions do, how values are read and when they differ."""

    def bit_or(read: Callable[[str], Any]) -> Callable[[str, str], Any]:
        return lambda name, text: Fraction(text) > 0 if rule.sorts.get(name) == "bit" else read(text)

    match rule.theory:
        case Theory.INTEGERS:
            return _INTEGERS, bit_or(int), operator.ne
        case Theory.BITS:
            return _words(WIDTH), _word_of(rule), operator.ne
        case Theory.FLOAT:
            fmt = FLOATS[format_of(rule)]
            mask = (1 << fmt.bits) - 1
            read = bit_or(lambda text: _Float(int(text, 16) & mask, fmt))
            return _floats(fmt), read, _unlike
    return _REALS, bit_or(_ball), _apart


def _word_of(rule: Rule) -> Callable[[str, str], Any]:
    """Return what reads the words of a rule: conditions, exact products, others of `WIDTH` bits."""

    def read(name: str, text: str) -> Any:
        sort = rule.sorts.get(name)
        if sort == "bit":
            return int(text) > 0
        return int(text) if sort == "product" else _Word(int(text), WIDTH)

    return read


def _unlike(left: _Float, right: _Float) -> bool:
    return left.number != right.number and not (np.isnan(left.number) and np.isnan(right.number))


def _apart(left: Any, right: Any) -> bool:
    numbers = [bool(each.is_finite()) for each in (left, right)]
    return not left.overlaps(right) if all(numbers) else any(numbers)


def _shown(value: Any) -> str:
    if isinstance(value, _Float):
        return f"{value.number:.9g} ({value.word:#x})"
    if isinstance(value, arb):
        return value.str(12, radius=False) if value.is_finite() else "no number"
    return str(int(value))


def surely_false(condition: str, value: str) -> tuple[Mapping[str, str], tuple[str, str]] | None:
    """Return a value of x if a condition of real numbers is surely false there, and what is false."""
    before, ctx.prec = ctx.prec, _PRECISION
    try:
        variables = {"x": _ball(value)} | _parameters(Theory.REAL)
        if evaluate(condition, _REALS, variables):
            return None
        return {"x": value}, (condition, "false")
    except UndecidedError:
        return None
    finally:
        ctx.prec = before
