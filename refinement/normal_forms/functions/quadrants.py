"""Reductions of an argument by multiples of π/2, after which sines and cosines are polynomials of the rest.

``q = rint(x * 2/π)`` and ``r = x - q * π/2``, with π/2 as a sum of floats (W. J. Cody, W. Waite, *Software
Manual for the Elementary Functions*, 1980). Great arguments are reduced by other code (`exponents_on_path`),
of which nothing is shown: the magnitude of the argument has a limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np

from ....spec.errors import UnsupportedError
from ....spec.formats import F32, IntegerFormat
from ....spec.rounding import Rounding
from ...enclosures.piece_evaluation import PieceEvaluation
from ...terms import operations
from ...terms.operations import Sum
from ...terms.slices import fields
from ...terms.store import CONCATENATION, CONSTANT, TermStore
from .function_proofs import nans, pieces

GREATEST_REST = 0.8
"""What is left may be as great: π/4, and what the rounded products of great arguments add."""

_GREATEST = 2.0**17
"""Magnitudes of arguments that are looked at: `_PARTS` are exact for these."""

_HALF_PI = Fraction(0x3243F6A8885A308D313198A2E03707344A4093822299F31D0, 2 << 192)
"""π/2 but for 2**-193: π to 48 hexadecimal places, as a test computes it."""

_FIRST, _SECOND = (int(_HALF_PI * 2**bits) for bits in (32, 64))
_PARTS = (
    float(Fraction(_FIRST, 2**32)),
    float(Fraction(_SECOND, 2**64) - Fraction(_FIRST, 2**32)),
    float(_HALF_PI - Fraction(_SECOND, 2**64)),
)
"""π/2 as a sum; of the first two parts the products with integers below 2**18 are numbers of f64."""

_OFF = 2.0**-58
"""By how much distances from multiples of π/2 are computed wrongly at most."""

_UNIT = 2.0**-F32.precision
"""A rounding, as a part of the number."""

_LOW = 2
"""Bits of a multiple that tell its quadrant."""


class Reduction(NamedTuple):
    """An argument without a multiple of π/2.

    Attributes
    ----------
    argument : int
        The term of f32.
    limit : float
        Below which magnitude it has to be.
    rest : float
        The greatest magnitude of what is left then.
    error : float
        By how much of itself that is off, roundings included.
    """

    argument: int
    limit: float
    rest: float
    error: float


class _Chain(NamedTuple):
    """``argument + constants[0] * multiple + ...``, where the multiple is ``rint(argument * factor)``."""

    argument: int
    constants: list[Fraction]
    multiple: int
    factor: Fraction


def reduction(store: TermStore, rest: int, multiple: int) -> Reduction | None:
    """Return the reduction of which two terms are the rest and the multiple of π/2.

    Parameters
    ----------
    store : TermStore
        The terms.
    rest : int
        A term of f32.
    multiple : int
        An integer of 32 bits.

    Returns
    -------
    Reduction, optional
        None where they are not shown to be those of any argument.
    """
    for leaf in _leaves(store, rest):
        chain = _chain(store, leaf)
        for limit in () if chain is None else _limits(store, rest):
            assert chain is not None
            below = float(np.nextafter(np.float32(limit), np.float32(0)))
            low, high = (np.concatenate(each) for each in zip(pieces(-below, below), nans(), strict=True))
            evaluation = PieceEvaluation(store, chain.argument, low, high)
            try:
                taken = [_chosen(store, evaluation, each) for each in (rest, multiple)]
            except UnsupportedError:
                continue
            if taken == [leaf, chain.multiple]:
                return _bounded(chain, limit)
    return None


def takes_quadrant(store: TermStore, above: Sequence[int], multiple: int) -> bool:
    """Tell whether operations depend on a multiple only by its remainder modulo four.

    Parameters
    ----------
    store : TermStore
        The terms.
    above : sequence of int
        The operations, each before what it is made of.
    multiple : int
        An integer of 32 bits.
    """
    low = {multiple}
    for term in reversed(above):
        operation = store.operation(term)
        arguments = store.arguments(np.array([term]))[0]
        if operation.name == CONCATENATION:
            parts = zip(fields(operation), store.elements(arguments[:1])[0].tolist(), strict=True)
            if any(part in low and field.low + field.width > _LOW for field, part in parts):
                return False
            continue
        given = set(arguments[: len(operation.operands)].tolist())
        if given & low:
            others = np.array([*(given - low)], dtype=np.int32)
            if operation.name != operations.RING or not store.are(CONSTANT, others).all():
                return False
            low.add(term)
    return not above or above[0] not in low


def _leaves(store: TermStore, term: int) -> Iterator[int]:
    """Yield what a term is chosen from."""
    if store.operation(term).name == operations.SELECT:
        for side in store.arguments(np.array([term]))[0, 1:3].tolist():
            yield from _leaves(store, side)
    else:
        yield term


def _limits(store: TermStore, rest: int) -> Iterator[float]:
    """Yield the greatest limit, and what the first choice of a rest compares with."""
    yield _GREATEST
    if store.operation(rest).name != operations.SELECT:
        return
    condition = store.arguments(np.array([rest]))[0, :1]
    if store.are(operations.COMPARE, condition)[0]:
        sides = store.arguments(condition)[0, :2]
        for word in store.constant_values(sides[store.are(CONSTANT, sides)]).astype(np.uint32):
            limit = float(word.view(np.float32))
            if 0 < limit < _GREATEST:
                yield limit


def _chosen(store: TermStore, evaluation: PieceEvaluation, term: int) -> int | None:
    """Return what a term is in all pieces; None where that is not one term.

    Raises
    ------
    UnsupportedError
        If a condition is about anything else than the argument of the pieces.
    """
    while store.operation(term).name == operations.SELECT:
        condition, then, otherwise = store.arguments(np.array([term]))[0, :3].tolist()
        holds, fails = evaluation.truths(condition)
        if holds.any() and fails.any():
            return None
        term = then if holds.any() else otherwise
    return term


def _chain(store: TermStore, rest: int) -> _Chain | None:
    """Return which sum of products with one integer, each rounded once, a term is."""
    constants, whole, term = list[Fraction](), None, rest
    while (step := _step(store, term)) is not None and whole in (None, step[0]):
        whole, constant, term = step
        constants.insert(0, constant)
    source = None if whole is None else _converted(store, whole, to_integer=False)
    scaled = None if source is None else _converted(store, source, to_integer=True)
    if source is None or scaled is None:
        return None
    factor = _factor(store, scaled, term)
    return None if factor is None else _Chain(term, constants, source, factor)


def _step(store: TermStore, term: int) -> tuple[int, Fraction, int] | None:
    """Return the number and the constant whose product a term adds to another one, and that."""
    operation = store.operation(term)
    how = operation.attribute
    if operation.operands != (F32, F32, F32) or not _rounds_products(how, addends=1):
        return None
    one, other, addend = store.arguments(np.array([term]))[0, :3].tolist()
    for number, constant in ((one, other), (other, one)):
        if (value := _value(store, constant)) is not None:
            return number, value, addend
    return None


def _factor(store: TermStore, product: int, argument: int) -> Fraction | None:
    """Return the constant by which a term is a multiple of another one."""
    operation = store.operation(product)
    if operation.operands != (F32, F32) or not _rounds_products(operation.attribute, addends=0):
        return None
    sides = store.arguments(np.array([product]))[0, :2].tolist()
    return _value(store, sides[sides[0] == argument]) if argument in sides else None


def _rounds_products(how: object, *, addends: int) -> bool:
    return isinstance(how, Sum) and how[:3] == (1, addends, Rounding.NEAREST_EVEN)


def _value(store: TermStore, term: int) -> Fraction | None:
    if store.operation(term).name != CONSTANT:
        return None
    return F32.exact(int(store.constant_values(np.array([term]))[0]))


def _converted(store: TermStore, term: int, *, to_integer: bool) -> int | None:
    """Return what a term is converted from: a float rounded to the nearest integer, or such an integer."""
    operation = store.operation(term)
    if operation.name != operations.CONVERT or not isinstance(operation.attribute, tuple):
        return None
    integer, number = (operation.result, operation.operands[0])[:: 1 if to_integer else -1]
    signed = isinstance(integer, IntegerFormat) and integer.signed and integer.bits == F32.bits
    nearest = operation.attribute[0] == Rounding.NEAREST_EVEN
    return int(store.arguments(np.array([term]))[0, 0]) if signed and nearest and number == F32 else None


def _bounded(chain: _Chain, limit: float) -> Reduction | None:
    """Return a reduction, with what is left of arguments below a limit, if that is a quadrant."""
    period = -sum(chain.constants)
    greatest = limit * float(abs(chain.factor)) * (1 + _UNIT) + 0.5
    rest = limit * abs(float(1 - period * chain.factor)) + float(abs(period)) * (
        0.5 + limit * float(abs(chain.factor)) * _UNIT
    )
    if not 0 < rest <= GREATEST_REST or greatest >= 2 * _GREATEST:
        return None
    nearest = _nearest(limit)
    error = greatest * float(abs(period - _HALF_PI)) / nearest
    unit = _lowest(Fraction(0.5) * Fraction(2) ** -F32.fraction_bits)
    for place, constant in enumerate(chain.constants):
        later = greatest * float(abs(sum(chain.constants[place + 1 :])))
        unit = min(unit, _lowest(constant)) if unit else 0.0
        if rest + later > 2.0**F32.precision * unit:  # else a multiple of the unit is a number of f32
            unit = 0.0
            error += _UNIT * (1 + later / nearest)
    above = float(np.nextafter(np.float32(rest * (1 + error)), np.float32(np.inf)))
    return Reduction(chain.argument, limit, above, error)


def _lowest(number: Fraction) -> float:
    """Return the lowest power of two in a number of f32."""
    return float(Fraction(number.numerator & -number.numerator, number.denominator))


@cache
def _nearest(limit: float) -> float:
    """Return how near numbers of f32 below a limit come to multiples of π/2 other than 0."""
    multiples = np.arange(1.0, np.ceil(limit / _PARTS[0]) + 1)
    first = multiples * _PARTS[0]
    distances = first.astype(np.float32).astype(np.float64) - first
    return float(np.abs(distances - multiples * _PARTS[1] - multiples * _PARTS[2]).min()) - _OFF
