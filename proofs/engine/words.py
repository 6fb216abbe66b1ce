"""Rules over words, integers and floats as Z3 terms.

A sum of a word and a literal is of the word's width; ``signed`` and ``unsigned`` read a word as an integer of
so many bits that no sum or product in a rule overflows.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import z3

_ORDER: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
        "!=": operator.ne, "and": z3.And, "or": z3.Or, "not": z3.Not, "where": z3.If,
        "max": lambda x, y: z3.If(x >= y, x, y), "min": lambda x, y: z3.If(x <= y, x, y),
    }
)  # fmt: skip

INTEGERS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        **_ORDER,
        "+": operator.add, "-": operator.sub, "*": operator.mul, "negated": operator.neg,
        "number": z3.IntVal,
        "saturated": lambda x: z3.If(x > 127, 127, z3.If(x < -128, -128, x)),
    }
)  # fmt: skip
"""Integers of any size; ``saturated`` is a conversion to 8 bits."""


def reach(width: int) -> int:
    """Return the bits of integers in which sums and products of words of a width do not overflow."""
    return 2 * width + 2


def words(width: int) -> Mapping[str, Callable[..., Any]]:
    """Return what operators and functions do to words of a width, and to Python's integers."""
    wide = reach(width)

    def low(x: Any, count: Any) -> Any:
        if isinstance(x, int):
            return z3.BitVecVal(x, count)
        return x if x.size() == count else z3.Extract(count - 1, 0, x)

    def power(x: Any, y: int) -> Any:
        return x**y

    def shifted(x: Any, y: Any) -> Any:
        return x << y if isinstance(x, int) else x << z3.BitVecVal(y, x.size())

    return {
        **_ORDER,
        "number": lambda value: value, "negated": operator.neg,
        "+": operator.add, "-": operator.sub, "*": operator.mul, "**": power,
        "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": shifted,
        ">>": z3.LShR,
        "arithmetic_shift": lambda x, y: x >> y,
        "low": low,
        "high": lambda x, count: z3.Extract(x.size() - 1, count, x),
        "zeros": lambda count: z3.BitVecVal(0, count),
        "concatenated": z3.Concat,
        "sign_extended": lambda x, count: z3.SignExt(count, x),
        "signed": lambda x: z3.SignExt(wide - x.size(), x) if x.size() < wide else x,
        "unsigned": lambda x: z3.ZeroExt(wide - x.size(), x) if x.size() < wide else x,
        "fits": lambda x, bits: z3.And(x >= -(1 << bits - 1), x < 1 << bits - 1),
    }  # fmt: skip


F16, BF16, F32, E5M2 = (z3.FPSort(e, s) for e, s in ((5, 11), (8, 8), (8, 24), (5, 3)))
FORMATS = MappingProxyType({"f16": F16, "bf16": BF16, "f32": F32, "e5m2": E5M2})
"""Sorts of floats by name."""

_TF32 = z3.FPSort(8, 11)
"""In 19 bits: those of an f32 without the 13 lowest."""

_NEAREST, _TOWARD_ZERO = z3.RNE(), z3.RTZ()


def _to(x: Any, sort: Any, rounding: Any = _NEAREST) -> Any:
    return z3.fpFPToFP(rounding, x, sort)


def floats(sort: Any) -> Mapping[str, Callable[..., Any]]:
    """Return what operators and functions do to floats of a sort; their bits are its IEEE encoding."""
    width = sort.ebits() + sort.sbits()
    top = 1 << width - 1

    def of_bits(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda x: z3.fpBVToFP(change(z3.fpToIEEEBV(x)), x.sort())

    return {
        "number": lambda value: z3.FPVal(value, sort),
        "negated": z3.fpNeg,
        "<": z3.fpLT, ">": z3.fpGT, "==": z3.fpEQ,
        "where": z3.If, "and": z3.And, "or": z3.Or, "not": z3.Not,
        "max": z3.fpMax, "min": z3.fpMin,
        "is_number": lambda x: z3.Not(z3.fpIsNaN(x)),
        "infinity": lambda: z3.fpPlusInfinity(sort), "nan": lambda: z3.fpNaN(sort),
        "sign_cleared": of_bits(lambda word: word & (top - 1)),
        "sign_set": of_bits(lambda word: word | top),
        "sign_flipped": of_bits(lambda word: word ^ top),
        "as_bf16": lambda x: z3.fpBVToFP(z3.Extract(31, 16, z3.fpToIEEEBV(x)), BF16),
        "toward_zero_bf16": lambda x: _to(x, BF16, _TOWARD_ZERO),
        "as_tf32": lambda x: z3.fpBVToFP(z3.Extract(31, 13, z3.fpToIEEEBV(x)), _TF32),
        "toward_zero_tf32": lambda x: _to(x, _TF32, _TOWARD_ZERO),
        "as_f32": lambda x: z3.fpBVToFP(z3.Concat(z3.fpToIEEEBV(x), z3.BitVecVal(0, 16)), F32),
        "widened": lambda x: _to(x, F32),
        "narrowed": lambda x: _to(x, sort),
        "widened_e5m2": lambda x: _to(x, F16),
        "to_e5m2": lambda x: _to(x, E5M2),
    }  # fmt: skip


def same_number(left: Any, right: Any) -> Any:
    """Return the condition that two floats are equal, or both NaN."""
    return z3.Or(z3.And(z3.fpIsNaN(left), z3.fpIsNaN(right)), z3.fpEQ(left, right))
