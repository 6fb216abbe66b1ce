"""Ring part: all outputs at once, at one random point, modulo the prime 2^61 - 1 (Schwartz and Zippel).

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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import F32, TF32, FloatFormat, Format, IntegerFormat
from .. import operations
from ..interning import Ids
from ..operations import Accumulation, Sum
from ..terms import CONCATENATION, CONSTANT, INPUT, NORMAL_FORM, UNDEFINED, VECTOR, Operation, TermStore
from ..traversal import fill, operands
from .arguments import gathered
from .meaning import is_great, number_of, rounds, stem

Residues = NDArray[np.uint64]

PRIME = (1 << 61) - 1
_P, _LOW, _SHIFT = np.uint64(PRIME), np.uint64((1 << 32) - 1), np.uint64(61)
_ONE, _HALF = np.uint64(1), np.uint64(32)

_UNKNOWN, _WORD = -1, 0
"""Kinds of values: none yet, and bits; residues have the number of their format."""


def reduced(values: Residues) -> Residues:
    """Return numbers below 2^64 modulo the prime."""
    folded = (values & _P) + (values >> _SHIFT)
    return np.where(folded >= _P, folded - _P, folded)


def times(left: Residues, right: Residues) -> Residues:
    """Return products modulo the prime: by halves of 32 bits, as 2^61 is 1."""
    a, b, c, d = left >> _HALF, left & _LOW, right >> _HALF, right & _LOW
    middle = a * d + b * c  # below 2^62
    high = a * c << np.uint64(3)  # of 2^64, which is 8
    shifted = (middle >> np.uint64(29)) + ((middle & np.uint64((1 << 29) - 1)) << _HALF)
    return reduced(high + shifted + reduced(b * d))  # below 2^63


def plus(left: Residues, right: Residues) -> Residues:
    """Return sums modulo the prime."""
    return reduced(left + right)


def inverse(values: Residues) -> Residues:
    """Return reciprocals modulo the prime, by Fermat's theorem; 0 of 0."""
    found, power, exponent = np.ones_like(values), values, PRIME - 2
    while exponent:
        if exponent & 1:
            found = times(found, power)
        power, exponent = times(power, power), exponent >> 1
    return found


def scattered(*columns: Residues | int) -> Residues:
    """Return hashes of rows of numbers."""
    found = np.asarray(0x9E3779B97F4A7C15, dtype=np.uint64)
    for column in columns:
        number = column & ((1 << 64) - 1) if isinstance(column, int) else column
        found = (found ^ np.asarray(number, dtype=np.uint64)) * np.uint64(0xD6E8FEB86659FD93)
        found = (found ^ (found >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        found = found ^ (found >> _HALF)
    return found


class ResidueEvaluation:
    """The values of terms at one random point.

    Parameters
    ----------
    store : TermStore
        The terms.
    seed : int
        Of the point.
    alike : bool
        Whether all elements of an array have one value: terms of one value are then of one shape.
    """

    def __init__(self, store: TermStore, seed: int, *, alike: bool = False) -> None:
        self._store, self._seed, self._alike = store, seed, alike
        self._values = np.zeros(0, dtype=np.uint64)
        self._kinds = np.zeros(0, dtype=np.int16)
        self._formats: dict[Format, int] = {}
        self._names: dict[object, int] = {}

    def of(self, terms: Ids, fmt: Format) -> Residues:
        """Return the values of terms (n,) read in a format."""
        missing = len(self._store) - len(self._values)
        self._values = np.append(self._values, np.zeros(missing, dtype=np.uint64))
        self._kinds = np.append(self._kinds, np.full(missing, _UNKNOWN, dtype=np.int16))
        with np.errstate(over="ignore"):
            fill(self._store, terms, self._kinds, _UNKNOWN, self._depends, self._compute)
            return self._read(terms, fmt)

    def _depends(self, operation: Operation, terms: Ids) -> list[Ids]:
        return operands(self._store, operation, terms)

    def _number(self, what: object) -> int:
        return self._names.setdefault(what, len(self._names) + 1)

    def _kind(self, fmt: Format) -> int:
        """Return the kind of results in a format; numbers of tf32 are those of f32."""
        if not isinstance(fmt, FloatFormat):
            return _WORD
        return self._formats.setdefault(F32 if fmt == TF32 else fmt, len(self._formats) + 1)

    def _read(self, terms: Ids, fmt: Format) -> Residues:
        """Return terms (…) as numbers of a format: residues of a float, else words of 64 bits."""
        kind, values, kinds = self._kind(fmt), self._values[terms], self._kinds[terms]
        foreign = kinds != kind
        if isinstance(fmt, FloatFormat) and foreign.any():
            constant = self._store.are(CONSTANT, terms)
            words, places = np.unique(values[constant], return_inverse=True)
            numbers = [self._constant(word, fmt) for word in words.tolist()]
            values[constant] = np.array(numbers, dtype=np.uint64)[places.reshape(-1)]
            foreign &= ~constant
        elif isinstance(fmt, IntegerFormat) and fmt.signed and fmt.bits < 64:
            shift = np.uint64(64 - fmt.bits)
            values = ((values << shift).view(np.int64) >> shift.view(np.int64)).view(np.uint64)
        if foreign.any():
            hashed = scattered(self._number(("read", fmt)), kinds[foreign].astype(np.uint64), values[foreign])
            values[foreign] = self._fitted(hashed, fmt)
        return values

    def _fitted(self, values: Residues, fmt: Format) -> Residues:
        """Return numbers as values of a format: residues, or words of its width."""
        return reduced(values) if isinstance(fmt, FloatFormat) else values & _ones(fmt.bits)

    def _constant(self, word: int, fmt: FloatFormat) -> int:
        """Return the residue of a rational number; infinities and NaNs are unknown numbers."""
        number = fmt.exact(word)
        if number is None:
            return int(scattered(self._number(("no number", fmt)), word)) % PRIME
        return number.numerator * pow(number.denominator, -1, PRIME) % PRIME

    def _compute(self, operation: Operation, terms: Ids, _: NDArray[np.int16]) -> Any:
        """Note the values of terms (n,) of one operation; return of which kinds they are."""
        fmt = operation.result
        if operation.name == VECTOR:
            return _WORD
        if operation.name in (CONSTANT, INPUT, UNDEFINED, NORMAL_FORM):
            self._values[terms] = self._leaves(operation, terms)
            return self._kind(fmt)
        given = gathered(self._store, operation, terms)
        if operation.name == operations.SELECT:
            return self._chosen(operation, terms, given)
        if operation.name == CONCATENATION:  # the parts as they are
            kinds = self._kinds[given[0]].astype(np.uint64)
            arguments = [
                np.where(kinds == _WORD, self._values[given[0]], scattered(self._values[given[0]], kinds))
            ]
        else:
            arguments = [self._read(each, read) for each, read in zip(given, operation.operands, strict=True)]
        found, coarse = self._ring(operation, arguments), self._are_coarse(operation, given)
        if found is None or coarse.any():
            unknown = self._unknown(operation, arguments)
            found = unknown if found is None else np.where(coarse, unknown, found)
        self._values[terms] = self._fitted(found, fmt)
        return self._kind(fmt)

    def _are_coarse(self, operation: Operation, given: Sequence[Ids]) -> NDArray[np.bool_]:
        """Tell which sums a great constant rounds to whole numbers, or nearly so: those have steps."""
        found = np.zeros(len(given[0]), dtype=bool)
        if operation.name == operations.FUSED and isinstance(operation.attribute, Sum) and len(given) > 1:
            first = 2 * operation.attribute.products
            for column, fmt in zip(given[first:], operation.operands[first:], strict=True):
                members = np.flatnonzero(self._store.are(CONSTANT, column))
                words, places = np.unique(self._store.constant_values(column[members]), return_inverse=True)
                great = [is_great(number_of(int(word), fmt), operation.result) for word in words]
                found[members] |= np.array(great, dtype=bool)[places.reshape(-1)]
        return found

    def _leaves(self, operation: Operation, terms: Ids) -> Residues:
        """Return constants, and a random number for each input."""
        if operation.name == CONSTANT:
            return self._store.constant_values(terms)
        index = self._store.arguments(terms)[:, 0].astype(np.uint64)
        if self._alike and operation.name == INPUT:
            index = np.zeros_like(index)
        name = self._number((operation.name, operation.attribute, operation.result))
        return self._fitted(scattered(self._seed, name, index), operation.result)

    def _chosen(self, operation: Operation, terms: Ids, given: Sequence[Ids]) -> NDArray[np.int16]:
        """Note choices, read as what is chosen is."""
        kinds: NDArray[np.int16] = np.maximum(self._kinds[given[1]], self._kinds[given[2]])
        for kind in np.unique(kinds).tolist():
            members = np.flatnonzero(kinds == kind)
            fmt = [operation.result, *self._formats][kind]
            sides = [self._read(each[members], fmt) for each in given[1:]]
            values = scattered(self._number(("select", fmt)), self._values[given[0][members]], *sides)
            self._values[terms[members]] = self._fitted(values, fmt)
        return kinds

    def _unknown(self, operation: Operation, arguments: Sequence[Residues]) -> Residues:
        """Return values of a function of which nothing is assumed, but whether its arguments commute."""
        name, attribute = operation.name, operation.attribute
        if name in (operations.FUNCTION, operations.QUOTIENT):
            attribute = stem(operation)
        if name == operations.EXTREMUM:
            arguments = [np.minimum(*arguments), np.maximum(*arguments)]
        columns = [part for each in arguments for part in (each.T if each.ndim > 1 else [each])]
        return scattered(self._number((name, attribute, operation.result, len(columns))), *columns)

    def _ring(self, operation: Operation, arguments: Sequence[Residues]) -> Residues | None:
        """Return what sums, products and quotients are; None of everything else."""
        real = isinstance(operation.result, FloatFormat)
        how = operation.attribute
        match operation.name:
            case operations.RING:
                assert isinstance(how, Sum)
                return _sum_of_words(how, arguments)
            case operations.FUSED if rounds(operation):
                assert isinstance(how, Sum)
                products = [times(*arguments[at : at + 2]) for at in range(0, 2 * how.products, 2)]
                return _added([*products, *arguments[2 * how.products :]])
            case operations.NEGATE:
                (number,) = arguments
                return reduced(_P - number) if real else np.uint64(0) - number
            case operations.CONVERT if rounds(operation):
                (source,) = operation.operands
                return arguments[0] if isinstance(source, FloatFormat) else _whole(source, arguments[0])
            case operations.DOT if real:
                x, y, addend = arguments
                return _added([*map(times, x.T, y.T), addend])
            case operations.DOT if isinstance(how, Accumulation) and not how.saturate:
                x, y, addend = arguments
                return np.asarray((x * y).sum(axis=-1, dtype=np.uint64) + addend)
            case operations.SCALED_DOT:
                x, y, addend, left, right = arguments
                group = x.shape[-1] // left.shape[-1]
                scales = [column for each in map(times, left.T, right.T) for column in [each] * group]
                return _added([*map(times, map(times, x.T, y.T), scales), addend])
            case operations.FUNCTION | operations.QUOTIENT if real and stem(operation) in ("div", "rcp"):
                inverted = inverse(arguments[-1])
                return inverted if len(arguments) == 1 else times(arguments[0], inverted)
        return None


def _ones(width: int) -> np.uint64:
    return np.uint64((1 << width) - 1)


def _added(summands: Sequence[Residues]) -> Residues:
    total = summands[0]
    for each in summands[1:]:
        total = plus(total, each)
    return total


def _whole(fmt: Format, words: Residues) -> Residues:
    """Return integers of 64 bits as residues."""
    assert isinstance(fmt, IntegerFormat)
    negative = (words >> np.uint64(63)) == _ONE
    magnitude = reduced(np.where(negative & fmt.signed, np.uint64(0) - words, words))
    return np.where(negative & fmt.signed, reduced(_P - magnitude), magnitude)


def _sum_of_words(how: Sum, arguments: Sequence[Residues]) -> Residues:
    pairs = 2 * how.products
    total = np.zeros((), dtype=np.uint64)
    for left, right in zip(arguments[:pairs:2], arguments[1:pairs:2], strict=True):
        total = total + left * right
    for addend in arguments[pairs:]:
        total = total + addend
    return total
