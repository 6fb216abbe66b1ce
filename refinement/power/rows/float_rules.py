"""Rules of floating-point arithmetic: from the terms of operands to that of the result.

Source: Power ISA 3.1 Book I sections 4.6 and 7.6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from ....spec.float_encoding import encode
from ....spec.formats import FloatFormat
from ....spec.rounding import Rounding
from ...terms import bit_slices, operations
from ...terms.evaluation import apply
from ...terms.interning import Ids
from ...terms.store import TermStore

Rule = Callable[[TermStore, FloatFormat, Sequence[FloatFormat], Sequence[Ids]], Ids]
"""From a result's format, and operands in theirs, to the result."""


def _negated(store: TermStore, fmt: FloatFormat, terms: Ids) -> Ids:
    return apply(store, operations.negate(fmt), terms)


def _sum(store: TermStore, fmt: FloatFormat, of: Sequence[FloatFormat], given: Sequence[Ids]) -> Ids:
    return apply(store, operations.fused(fmt, (), tuple(of)), *given)


def rounded(store: TermStore, fmt: FloatFormat, of: Sequence[FloatFormat], given: Sequence[Ids]) -> Ids:
    """Round to the format of the result."""
    return _sum(store, fmt, of, given)


def _difference(store: TermStore, fmt: FloatFormat, of: Sequence[FloatFormat], given: Sequence[Ids]) -> Ids:
    return _sum(store, fmt, of, [given[0], _negated(store, of[1], given[1])])


def _product(store: TermStore, fmt: FloatFormat, of: Sequence[FloatFormat], given: Sequence[Ids]) -> Ids:
    return apply(store, operations.fused(fmt, ((of[0], of[1]),)), *given)


def _multiply_add(subtracts: bool, negates: bool) -> Rule:
    """Return the rule of ``[-](a·c ± b)``, whose operands are a, c, b."""

    def rule(store: TermStore, fmt: FloatFormat, of: Sequence[FloatFormat], given: Sequence[Ids]) -> Ids:
        a, c, b = given
        addend = _negated(store, of[2], b) if subtracts else b
        result = apply(store, operations.fused(fmt, ((of[0], of[1]),), (of[2],)), a, c, addend)
        return _negated(store, fmt, result) if negates else result

    return rule


def function(name: str) -> Rule:
    """Return the rule of a function of a name."""

    def rule(store: TermStore, fmt: FloatFormat, of: Sequence[FloatFormat], given: Sequence[Ids]) -> Ids:
        widened = [
            each if one == fmt else apply(store, operations.fused(fmt, (), (one,)), each)
            for one, each in zip(of, given, strict=True)
        ]
        return apply(store, operations.function(name, fmt, *(fmt,) * len(of)), *widened)

    return rule


def _absolute(store: TermStore, fmt: FloatFormat, _: Sequence[FloatFormat], given: Sequence[Ids]) -> Ids:
    greater = operations.extremum(fmt, "max", nan=True)
    return apply(store, greater, given[0], _negated(store, fmt, given[0]))


def _sign_changed(store: TermStore, fmt: FloatFormat, _: Sequence[FloatFormat], given: Sequence[Ids]) -> Ids:
    return _negated(store, fmt, given[0])


def _negative(store: TermStore, fmt: FloatFormat, of: Sequence[FloatFormat], given: Sequence[Ids]) -> Ids:
    return _negated(store, fmt, _absolute(store, fmt, of, given))


def with_sign(store: TermStore, fmt: FloatFormat, _: Sequence[FloatFormat], given: Sequence[Ids]) -> Ids:
    """Return the magnitude of the second operand with the sign of the first."""
    if (given[0] == given[1]).all():
        return np.asarray(given[1])
    top = fmt.bits - 1
    sign = bit_slices.extract(store, given[0], top, 1)
    return bit_slices.concatenate(store, [bit_slices.extract(store, given[1], 0, top), sign])


def extremum(which: str) -> Rule:
    """Return the rule of ``max`` or ``min``: of a NaN and a number the number."""

    def rule(store: TermStore, fmt: FloatFormat, _: Sequence[FloatFormat], given: Sequence[Ids]) -> Ids:
        return apply(store, operations.extremum(fmt, which), *given)

    return rule


def greater_or(which: str) -> Rule:
    """Return ``xsmaxcdp`` or ``xsmincdp``: as C's ``a >= b ? a : b`` has it."""

    def rule(store: TermStore, fmt: FloatFormat, _: Sequence[FloatFormat], given: Sequence[Ids]) -> Ids:
        condition = apply(store, operations.compare(fmt, "ge" if which == "max" else "le"), *given)
        return apply(store, operations.select(fmt.bits), condition, *given)

    return rule


ADDITIONS: Mapping[str, Rule] = MappingProxyType(
    {"add": _sum, "sub": _difference, "mul": _product, "div": function("div")}
)
FUSED: Mapping[str, Rule] = MappingProxyType(
    {
        "madd": _multiply_add(False, False),
        "msub": _multiply_add(True, False),
        "nmadd": _multiply_add(False, True),
        "nmsub": _multiply_add(True, True),
    }
)
UNARY: Mapping[str, Rule] = MappingProxyType({"neg": _sign_changed, "abs": _absolute, "nabs": _negative})


def _half_away(store: TermStore, fmt: FloatFormat, of: Sequence[FloatFormat], given: Sequence[Ids]) -> Ids:
    """Round to nearest, ties away from zero: half of one further, and cut off.

    The sum is rounded towards zero, by which it never comes to an integer that it is below.
    """
    half = store.constants(encode(np.full(len(given[0]), 0.5), fmt, Rounding.NEAREST_EVEN), fmt.bits)
    signed = with_sign(store, fmt, of, [given[0], half])
    add = operations.fused(fmt, (), (of[0], fmt), rounding=Rounding.TOWARD_ZERO)
    return function("trunc")(store, fmt, (fmt,), [apply(store, add, given[0], signed)])


INTEGRAL: Mapping[str, Rule] = MappingProxyType(
    {"": _half_away, "c": function("rint"), "m": function("floor"), "p": function("ceil"),
     "z": function("trunc")}
)  # fmt: skip


def moved(_: TermStore, __: FloatFormat, ___: Sequence[FloatFormat], given: Sequence[Ids]) -> Ids:
    """Return the operand."""
    return np.asarray(given[0])
