"""Rules over real numbers, words, integers and floats as Z3 terms.

An application of a function is a constant that belongs to its argument, as a polynomial: applications to one
polynomial are one constant. What holds whatever these constants are, if the axioms are true of them, holds
of the functions.

A sum of a word and a literal is of the word's width; ``signed`` and ``unsigned`` read a word as an integer of
so many bits that no sum or product in a rule overflows.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import z3

from ...refinement.rules.axioms import INSTANCES, OF_APPLICATIONS
from ...refinement.rules.expression import evaluate

_OPERATORS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
        "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
        "!=": operator.ne, "negated": operator.neg, "and": z3.And, "or": z3.Or, "not": z3.Not,
        "either": z3.Xor, "where": z3.If,
        "max": lambda x, y: z3.If(x >= y, x, y), "min": lambda x, y: z3.If(x <= y, x, y),
    }
)  # fmt: skip


class RealTerms:
    """Values of expressions over the reals, and what is known of the functions in them.

    Attributes
    ----------
    facts : list of Z3 terms
        Axioms of the functions that were applied, and those that were named.
    """

    def __init__(self) -> None:
        self.facts: list[Any] = []
        self._applications: dict[tuple[str, str], Any] = {}
        log2_of_e, ln_of_2 = z3.Real("log2_of_e"), z3.Real("ln_of_2")
        self.constants = {"log2_of_e": log2_of_e, "ln_of_2": ln_of_2}
        self._literals = [log2_of_e > 0, log2_of_e * ln_of_2 == 1]
        self.functions: dict[str, Callable[..., Any]] = {
            **_OPERATORS,
            "number": z3.RealVal,
            "quotient": lambda x, y: x / y,
            **{name: self._applied(name) for name in OF_APPLICATIONS},
        }

    def assume(self, instance: str, variables: Mapping[str, Any]) -> None:
        """Add an instance of an axiom, such as ``sum(x, y)``."""

        def named(name: str) -> Callable[..., Any]:
            def assumed(*given: Any) -> Any:
                axiom = INSTANCES[name]
                values = dict(zip(axiom.variables, given, strict=True))
                self.facts.append(evaluate(axiom.statement, self.functions, values))

            return assumed

        evaluate(instance, {**self.functions, **{name: named(name) for name in INSTANCES}}, variables)

    def known(self) -> list[Any]:
        """Return what is true of the constants and of all applications."""
        return [*self._literals, *self.facts]

    def _applied(self, name: str) -> Callable[[Any], Any]:
        def apply(argument: Any) -> Any:
            key = name, z3.simplify(argument, som=True, sort_sums=True, arith_lhs=True).sexpr()
            if key not in self._applications:
                found = z3.Real(f"{name}({key[1]})")
                self._applications[key] = found
                for axiom in OF_APPLICATIONS[name]:
                    values = {"x": argument, **self.constants}
                    self.facts.append(evaluate(axiom, self.functions, values))
            return self._applications[key]

        return apply


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

_NEAREST, _TOWARD_ZERO, _AWAY = z3.RNE(), z3.RTZ(), z3.RNA()


def _to(x: Any, sort: Any, rounding: Any = _NEAREST) -> Any:
    return z3.fpFPToFP(rounding, x, sort)


def _cut_after(x: Any, low: int, sort: Any, *, even: bool) -> Any:
    """Return the high bits of an f32 to which half of a unit of them, or that but for ties, is added."""
    word = z3.fpToIEEEBV(x)
    half = z3.BitVecVal(1 << low - 1, 32)
    added = half - 1 + z3.ZeroExt(31, z3.Extract(low, low, word)) if even else half
    return z3.fpBVToFP(z3.Extract(31, low, word + added), sort)


def _low(x: Any, low: int) -> Any:
    return z3.ZeroExt(32 - low, z3.Extract(low - 1, 0, z3.fpToIEEEBV(x)))


def _cut_sum(x: Any, r: Any, low: int, sort: Any) -> Any:
    """Return the high bits of an f32 to which the low ones of another word are added."""
    return z3.fpBVToFP(z3.Extract(31, low, z3.fpToIEEEBV(x) + _low(r, low)), sort)


def _neighbour(x: Any, r: Any, low: int, sort: Any) -> Any:
    """Return an f32 rounded away from zero if low bits carry, else toward it."""
    carries = z3.Extract(low, low, _low(x, low) + _low(r, low)) == 1
    away = z3.If(z3.fpIsNegative(x), _to(x, sort, z3.RTN()), _to(x, sort, z3.RTP()))
    return z3.If(carries, away, _to(x, sort, _TOWARD_ZERO))


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
        "carried_bf16": lambda x: _cut_after(x, 16, BF16, even=True),
        "carried_tf32": lambda x: _cut_after(x, 13, _TF32, even=True),
        "half_added_bf16": lambda x: _cut_after(x, 16, BF16, even=False),
        "half_added_tf32": lambda x: _cut_after(x, 13, _TF32, even=False),
        "added_bf16": lambda x, r: _cut_sum(x, r, 16, BF16),
        "added_tf32": lambda x, r: _cut_sum(x, r, 13, _TF32),
        "neighbour_bf16": lambda x, r: _neighbour(x, r, 16, BF16),
        "neighbour_tf32": lambda x, r: _neighbour(x, r, 13, _TF32),
        "nearest_bf16": lambda x: _to(x, BF16), "nearest_tf32": lambda x: _to(x, _TF32),
        "nearest_away_bf16": lambda x: _to(x, BF16, _AWAY),
        "nearest_away_tf32": lambda x: _to(x, _TF32, _AWAY),
        "as_f32": lambda x: z3.fpBVToFP(z3.Concat(z3.fpToIEEEBV(x), z3.BitVecVal(0, 16)), F32),
        "widened": lambda x: _to(x, F32),
        "narrowed": lambda x: _to(x, sort),
        "widened_e5m2": lambda x: _to(x, F16),
        "to_e5m2": lambda x: _to(x, E5M2),
    }  # fmt: skip


def same_number(left: Any, right: Any) -> Any:
    """Return the condition that two floats are equal, or both NaN."""
    return z3.Or(z3.And(z3.fpIsNaN(left), z3.fpIsNaN(right)), z3.fpEQ(left, right))
