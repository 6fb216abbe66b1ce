"""The exponents that a float may have where a condition on it holds.

Argument reductions (M. Payne, R. Hanek, "Radian Reduction for Trigonometric Functions", 1983) read words of
2/π at places that the exponent of their argument tells, behind a comparison of its magnitude with a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import decode
from ...spec.formats import FloatFormat
from ..terms import operations
from ..terms.evaluation import Words
from ..terms.slices import fields
from ..terms.store import CONCATENATION, CONSTANT, TermStore

Truths = NDArray[np.bool_]


class Numbers(NamedTuple):
    """Least and greatest number (P,) of each piece, or that all in it is NaN."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    nan: Truths


class Truth(NamedTuple):
    """In which pieces (P,) a condition may hold, and in which it may fail."""

    holds: Truths
    fails: Truths


def possible_exponents(store: TermStore, condition: int, integer: int, codes: Words) -> Truths:
    """Tell which codes (E,) an integer may be where a condition holds: all that are, and maybe more.

    Parameters
    ----------
    store : TermStore
        Of both terms.
    condition : int
        One bit.
    integer : int
        The exponent of a float, extended by zeros; of other integers nothing is told.
    codes : array (E,)
        What it may be without the condition.
    """
    number = _whose_exponent(store, integer)
    if number is None:
        return np.ones(len(codes), dtype=bool)
    fmt = store.operation(number).result
    assert isinstance(fmt, FloatFormat)
    exponents, pieces = _pieces(fmt)
    found = np.zeros(1 << fmt.exponent_bits, dtype=bool)
    found[exponents[_OnPieces(store, number, fmt, pieces).truth(condition).holds]] = True
    return found[codes.astype(np.intp)]


def _whose_exponent(store: TermStore, integer: int) -> int | None:
    """Return the float whose exponent an integer is; None of other integers."""
    operation = store.operation(integer)
    if operation.name != CONCATENATION:
        return None
    own, *others = fields(operation)
    number, *constants = store.elements(store.arguments(np.array([integer]))[:, 0])[0].tolist()
    fmt = store.operation(number).result
    if not isinstance(fmt, FloatFormat) or fmt.bits != 1 + fmt.exponent_bits + fmt.fraction_bits:
        return None
    zeros = (
        all(each.constant for each in others) and not store.constant_values(np.array(constants, int)).any()
    )
    is_exponent = not own.repeats and (own.low, own.width) == (fmt.fraction_bits, fmt.exponent_bits)
    return number if is_exponent and zeros else None


def _pieces(fmt: FloatFormat) -> tuple[NDArray[np.intp], Numbers]:
    """Return the exponents (P,) of pieces of all floats: numbers of one exponent and sign, ∞, and NaN."""
    last = (1 << fmt.exponent_bits) - 1
    starts = np.arange(last, dtype=np.uint64) << np.uint64(fmt.fraction_bits)
    ends = starts | np.uint64((1 << fmt.fraction_bits) - 1)
    low, high = (np.append(decode(each.astype(fmt.storage), fmt), np.inf) for each in (starts, ends))
    exponents = np.arange(last + 1)
    numbers = Numbers(
        np.concatenate([low, -high, [np.nan]]),
        np.concatenate([high, -low, [np.nan]]),
        np.append(np.zeros(2 * (last + 1), dtype=bool), True),
    )
    return np.concatenate([exponents, exponents, [last]]), numbers


class _OnPieces:
    """Values of terms for each piece of a float on which they depend."""

    def __init__(self, store: TermStore, number: int, fmt: FloatFormat, pieces: Numbers) -> None:
        self._store, self._format, self._pieces = store, fmt, pieces
        self._numbers: dict[int, Numbers | None] = {number: pieces}
        self._truths: dict[int, Truth] = {}

    def truth(self, condition: int) -> Truth:
        """Return where a condition may hold or fail; anywhere if it is about anything else."""
        if condition not in self._truths:
            self._truths[condition] = self._truth(condition)
        return self._truths[condition]

    def _truth(self, condition: int) -> Truth:
        operation, anywhere = self._store.operation(condition), np.ones(len(self._pieces.nan), dtype=bool)
        arguments = self._store.arguments(np.array([condition]))[0].tolist()
        if operation.name == CONSTANT:
            holds = anywhere & bool(self._store.constant_values(np.array([condition]))[0])
            return Truth(holds, ~holds)
        if operation.name == operations.BITWISE:
            return combined(operation.attribute, [self.truth(each) for each in arguments[:3]])
        if operation.name == operations.COMPARE and operation.operands[0] == self._format:
            sides = [self._number(each) for each in arguments[:2]]
            if sides[0] is not None and sides[1] is not None:
                return compared(str(operation.attribute), sides[0], sides[1])
        return Truth(anywhere, anywhere)

    def _number(self, term: int) -> Numbers | None:
        """Return the values of a term; None of one that is no extremum of the float, -it and constants."""
        if term not in self._numbers:
            self._numbers[term] = self._read(term)
        return self._numbers[term]

    def _read(self, term: int) -> Numbers | None:
        operation = self._store.operation(term)
        if operation.name == CONSTANT and self._format.bits == operation.result.bits:
            words = self._store.constant_values(np.array([term])).astype(self._format.storage)
            value = np.broadcast_to(decode(words, self._format), self._pieces.nan.shape)
            return Numbers(value, value, np.isnan(value))
        if operation.name not in (operations.NEGATE, operations.EXTREMUM) or operation.result != self._format:
            return None
        arguments = self._store.arguments(np.array([term]))[0].tolist()[: len(operation.operands)]
        given = [self._number(each) for each in arguments]
        if set(operation.operands) != {self._format} or (first := given[0]) is None or given[-1] is None:
            return None
        if operation.name == operations.NEGATE:
            return Numbers(-first.high, -first.low, first.nan)
        assert isinstance(operation.attribute, tuple)
        which, nan, other = operation.attribute
        return None if other else extremum(which, first, given[-1], nan=bool(nan))


def combined(table: Any, given: Sequence[Truth]) -> Truth:
    """Return three conditions combined by a truth table."""
    found = Truth(*(np.zeros(len(given[0].holds), dtype=bool) for _ in range(2)))
    for row, values in enumerate(product((False, True), repeat=3)):
        possible = np.all(
            [each.holds if value else each.fails for each, value in zip(given, values, strict=True)], axis=0
        )
        (found.holds if table >> row & 1 else found.fails)[possible] = True
    return found


def extremum(which: str, one: Numbers, other: Numbers, *, nan: bool) -> Numbers:
    """Return the extrema of two values: of a NaN and a number the number, or a NaN (`nan`)."""
    choose = np.maximum if which == "max" else np.minimum
    low, high = (
        np.where(one.nan, right, np.where(other.nan, left, choose(left, right)))
        for left, right in zip(one[:2], other[:2], strict=True)
    )
    return Numbers(low, high, one.nan | other.nan if nan else one.nan & other.nan)


def compared(relation: str, one: Numbers, other: Numbers) -> Truth:
    """Return where two values may be in a relation, and where not."""
    outcomes = operations.OUTCOMES.get(relation.removesuffix("u"))
    nan, anywhere = one.nan | other.nan, np.ones(len(one.nan), dtype=bool)
    if outcomes is None:
        return Truth(anywhere, anywhere)
    orders = one.low < other.high, (one.low <= other.high) & (other.low <= one.high), one.high > other.low
    holds, fails = (
        np.any([order for order, outcome in zip(orders, outcomes, strict=True) if outcome == wanted], axis=0)
        for wanted in (True, False)
    )
    unordered = relation.endswith("u")
    return Truth(np.where(nan, unordered, holds), np.where(nan, not unordered, fails))
