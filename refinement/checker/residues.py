"""Polynomial identity testing of all outputs at one random point modulo the prime 2^61 - 1.

A float is a residue: sums, products, negations, quotients and conversions that only round are those of the
field; a constant is its exact rational number. An integer is a word: sums and products are modulo 2^64.
Everything else is a function of which nothing is assumed: its value is a hash of the operation and of the
*values* of its arguments, so that equal arguments have equal values.

Two rational functions of total degree d that differ agree at a random point with a probability of about
d / 2^61; equal values thus show that two terms are equal whatever those functions are. Different values
show nothing where such a function is involved.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from weakref import proxy

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import F32, TF32, FloatFormat, Format
from ..terms import operations
from ..terms.domains import Domain
from ..terms.evaluation import evaluate, integers, ones
from ..terms.interning import Ids
from ..terms.operations import Accumulation, Sum
from ..terms.store import CONCATENATION, CONSTANT, INPUT, NORMAL_FORM, UNDEFINED, VECTOR, Operation, TermStore
from ..terms.traversal import gathered
from .meaning import NARROW, is_great, rounds, stem

Residues = NDArray[np.uint64]

PRIME = (1 << 61) - 1
_P, _LOW, _SHIFT = np.uint64(PRIME), np.uint64((1 << 31) - 1), np.uint64(61)
_ONE, _HALF = np.uint64(1), np.uint64(31)

_PIECE = 1 << 14
"""Numbers that are computed with at a time: as many as a processor's cache holds, with intermediate ones."""

_FUNCTIONS = (operations.FUNCTION, operations.QUOTIENT)

_WORD = 0
"""Kinds of values: none yet, and words; residues have the number of their format."""


def reduced(values: Residues) -> Residues:
    """Return numbers below 2^64 modulo the prime."""
    folded = (values & _P) + (values >> _SHIFT)
    return np.minimum(folded, folded - _P)  # the difference wraps where it is negative


def products(left: Residues, right: Residues) -> Residues:
    """Return products of residues as numbers below 2^64: by halves of 31 bits, as 2^61 is 1."""
    a, b, c, d = left >> _HALF, left & _LOW, right >> _HALF, right & _LOW
    middle = a * d + b * c  # below 2^62, to be shifted by 31
    shifted = (middle >> (_HALF - _ONE)) + ((middle & (_LOW >> _ONE)) << _HALF)
    return (a * c << _ONE) + b * d + shifted  # below 2^61 + 2^62 + 2^61 + 2^32


def times(left: Residues, right: Residues) -> Residues:
    """Return products modulo the prime."""
    return reduced(products(left, right))


def plus(left: Residues, right: Residues) -> Residues:
    """Return sums modulo the prime."""
    return reduced(left + right)


def total(values: Residues) -> Residues:
    """Return sums of numbers (n, k) below 2^64, over k < 2^29 of them, modulo the prime."""
    low, high = (values & _LOW).sum(axis=1), (values >> _HALF).sum(axis=1)
    return plus(reduced(low), times(reduced(high), np.array(1 << 31, dtype=np.uint64)))


def inverse(values: Residues) -> Residues:
    """Return reciprocals modulo the prime, by Fermat's theorem; 0 of 0."""
    found = np.ones_like(values)
    for bit in f"{PRIME - 2:b}":
        found = times(times(found, found), values if bit == "1" else np.ones_like(values))
    return found


def scattered(*columns: Residues | int) -> Residues:
    """Return hashes of rows of numbers."""
    found = np.asarray(0x9E3779B97F4A7C15, dtype=np.uint64)
    for column in columns:
        number = column & ((1 << 64) - 1) if isinstance(column, int) else column
        found = (found ^ np.asarray(number, dtype=np.uint64)) * np.uint64(0xD6E8FEB86659FD93)
        found = (found ^ (found >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        found = found ^ (found >> np.uint64(32))
    return found


class ResidueEvaluation(Domain):
    """Values of terms at one random point of the finite field.

    Parameters
    ----------
    store : TermStore
        The terms.
    seed : int
        Of the point.
    alike : bool
        Whether all elements of an array have one value: terms of one value are then of one shape.
    """

    dtype = np.dtype([("value", np.uint64), ("kind", np.int32)])

    def __init__(self, store: TermStore, seed: int, *, alike: bool = False) -> None:
        super().__init__(proxy(store))
        self._seed, self._alike = seed, alike
        self._names: dict[object, int] = {}

    def of(self, terms: Ids, fmt: Format) -> Residues:
        """Return the values of terms (n,) read in a format."""
        with np.errstate(over="ignore"):
            self.fill(terms)
            return self._read(terms, fmt)

    def _number(self, what: object) -> int:
        return self._names.setdefault(what, len(self._names) + 1)

    def _kind(self, fmt: Format) -> int:
        """Return the kind of results in a format; numbers of tf32 are those of f32."""
        return self._number(F32 if fmt == TF32 else fmt) if isinstance(fmt, FloatFormat) else _WORD

    def _read(self, terms: Ids, fmt: Format) -> Residues:
        """Return terms (…) as numbers of a format: residues of a float, else words."""
        values, kinds = (self.table()[column][terms] for column in ("value", "kind"))
        foreign = kinds != self._kind(fmt)
        if isinstance(fmt, FloatFormat) and foreign.any():
            constant = foreign & self.store.are(CONSTANT, terms)
            words, places = np.unique(values[constant], return_inverse=True)
            numbers = np.array([self._constant(word, fmt) for word in words.tolist()], dtype=np.uint64)
            values[constant] = numbers[places.reshape(-1)]
            foreign &= ~constant
        if foreign.any():
            name, kind = self._number(("read", self._kind(fmt))), kinds[foreign].astype(np.uint64)
            hashed = scattered(name, kind, values[foreign])
            values[foreign] = reduced(hashed) if isinstance(fmt, FloatFormat) else hashed
        return values

    def _constant(self, word: int, fmt: FloatFormat) -> int:
        """Return the residue of a rational number.

        Infinities and NaNs are unknown numbers, and so is what rounds a sum to whole numbers: what is equal
        whatever such a number is, is equal.
        """
        number = fmt.exact(word)
        if number is None or (fmt.bits > NARROW and is_great(number, fmt)):
            return int(scattered(self._number(("no number", fmt)), word)) % PRIME
        return number.numerator * pow(number.denominator, -1, PRIME) % PRIME

    def transfer(self, operation: Operation, terms: Ids, read: Format | None) -> None:
        """Note the values of terms (n,) of one operation, and of which kind they are."""
        values = self.table()["value"]
        self.table()["kind"][terms] = self._kind(operation.result)
        real = isinstance(operation.result, FloatFormat)
        if operation.name == CONSTANT:
            values[terms] = self.store.constant_values(terms)
        elif operation.name in (INPUT, UNDEFINED, NORMAL_FORM):
            is_alike = self._alike and operation.name == INPUT
            index = self.store.arguments(terms)[:, 0].astype(np.uint64) * np.uint64(not is_alike)
            found = scattered(self._seed, self._number(operation), index)
            values[terms] = reduced(found) if real else found & ones(operation.result.bits)
        elif real and operation.name in (operations.DOT, operations.SCALED_DOT):
            self._dots(operation, terms)
        elif operation.name != VECTOR:
            given = gathered(self.store, operation, terms)
            formats = [operation.result] if operation.name == CONCATENATION else operation.operands
            arguments = [self._read(each, fmt) for each, fmt in zip(given, formats, strict=True)]
            ring = self._real(operation, arguments) if real else _integer(operation, arguments)
            found = self._unknown(operation, arguments) if ring is None else ring
            values[terms] = reduced(found) if real else found

    def _dots(self, operation: Operation, terms: Ids) -> None:
        """Note sums of products modulo the prime, reading each vector once, however many sums it is in."""
        columns, formats = gathered(self.store, operation, terms, expanded=False), [*operation.operands]
        values = self.table()["value"]
        values[terms] = self._read(columns.pop(2), formats.pop(2))
        distinct = list(map(np.unique, columns))
        rows = list(map(self._read, map(self.store.elements, distinct), formats))
        places = list(map(np.searchsorted, distinct, columns))
        for start in range(0, len(terms), count := max(1, _PIECE // rows[0].shape[1])):
            piece = slice(start, start + count)
            x, y, *scales = (row[place[piece]] for row, place in zip(rows, places, strict=True))
            for scale in scales:
                x = times(x, np.repeat(scale, x.shape[1] // scale.shape[1], axis=1))
            values[terms[piece]] = plus(values[terms[piece]], total(products(x, y)))

    def _unknown(self, operation: Operation, arguments: Sequence[Residues]) -> Residues:
        """Return values of a function of which nothing is assumed, but whether its arguments commute."""
        attribute = stem(operation) if operation.name in _FUNCTIONS else operation.attribute
        if operation.name == operations.EXTREMUM:
            arguments = [np.minimum(*arguments), np.maximum(*arguments)]
        columns = [part for argument in arguments for part in np.atleast_2d(argument.T)]
        return scattered(self._number((operation.name, attribute, operation.result, len(columns))), *columns)

    def _real(self, operation: Operation, arguments: Sequence[Residues]) -> Residues | None:
        """Return what sums, products and quotients are, modulo the prime; None of everything else."""
        how = operation.attribute
        match operation.name:
            case operations.FUSED if rounds(operation) and isinstance(how, Sum):
                factors = 2 * how.products
                products = map(times, arguments[:factors:2], arguments[1:factors:2])
                return reduce(plus, [*products, *arguments[factors:]])
            case operations.NEGATE:
                return _P - arguments[0]
            case operations.CONVERT if rounds(operation):
                is_real = isinstance(operation.operands[0], FloatFormat)
                return arguments[0] if is_real else _whole(operation.operands[0], arguments[0])
            case operations.FUNCTION | operations.QUOTIENT if stem(operation) in ("div", "rcp"):
                inverted = inverse(arguments[-1])
                return inverted if len(arguments) == 1 else times(arguments[0], inverted)
        return None


def _integer(operation: Operation, arguments: Sequence[Residues]) -> Residues | None:
    """Return what sums and products of words are; None of everything else."""
    wraps = isinstance(operation.attribute, Accumulation) and not operation.attribute.saturate
    if operation.name not in (operations.RING, operations.NEGATE) and not wraps:
        return None
    return evaluate(
        operation, [each & ones(fmt.bits) for each, fmt in zip(arguments, operation.operands, strict=True)]
    )


def _whole(fmt: Format, words: Residues) -> Residues:
    """Return integers as residues."""
    found = integers(words & ones(fmt.bits), fmt)
    return np.asarray(found % found.dtype.type(PRIME), dtype=np.uint64)
