"""Float classes of all terms of a store, for all data: sets of `float_classes`.

A set is an upper bound of what a term *may* be, supposed that data are numbers. What alone is left it *must*
be: an infinity of a known sign, or no finite number. Then it is no polynomial: A·∞ - A·∞ is not 0. What
nobody has written may be a NaN, too, of which 0 times is no 0: it is `LOST`.

Sets are joined where terms choose; `special_values` has diagrams of what is chosen where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import F16, F32, F64, TF32, FloatFormat, Format
from ..terms import operations
from ..terms.domains import Domain, Reading
from ..terms.interning import Ids
from ..terms.operations import Accumulation, Sum
from ..terms.store import CONCATENATION, CONSTANT, UNDEFINED, Operation, TermStore
from ..terms.traversal import gathered
from . import float_classes as classes

Sets = NDArray[np.uint8]
"""Sets of classes (n,)."""

_FLOATS = {16: F16, 32: F32, 64: F64}
"""As what chosen constants are read: what is infinite or NaN in bf16 is a NaN in f16."""

_SAME: dict[FloatFormat, FloatFormat] = {F32: TF32, TF32: F32}
"""Formats whose numbers are of the same classes."""

_UNARY = (operations.NEGATE, operations.CONVERT, operations.FUNCTION)
_MOVED = (UNDEFINED, CONCATENATION, operations.SELECT)
"""Operations that compute nothing of bits that nobody has written."""

ARITHMETIC = (
    operations.FUSED,
    operations.NEGATE,
    operations.CONVERT,
    operations.QUOTIENT,
    operations.DOT,
    operations.SCALED_DOT,
)
"""Operations that, but for clamps, make no finite number of one that is none."""

_DOTS = (operations.DOT, operations.SCALED_DOT)


class TermClasses(Domain):
    """Sets of float classes of the terms of a store.

    Parameters
    ----------
    store : TermStore
        The terms.
    """

    dtype = np.uint8

    def __init__(self, store: TermStore) -> None:
        super().__init__(store)
        self._scanned = 0
        self._any = False
        self._constants = np.empty(0, dtype=np.int32)

    def never_finite(self, terms: Ids, fmt: Format) -> NDArray[np.bool_]:
        """Tell which terms (n,), read in a format, are never a finite number, or not known to be one."""
        if not isinstance(fmt, FloatFormat):
            return np.zeros(np.shape(terms), dtype=bool)
        sets = self.of(terms, fmt)
        found: NDArray[np.bool_] = (sets & classes.FINITE == 0) | (sets & classes.LOST != 0)
        return found

    def infinite(self, terms: Ids, fmt: Format) -> NDArray[np.int8]:
        """Return the signs of terms (n,) that are infinite wherever they are no NaN, 0 of others."""
        if not isinstance(fmt, FloatFormat):
            return np.zeros(np.shape(terms), dtype=np.int8)
        found = self.of(terms, fmt) & ~np.uint8(classes.NAN)
        negative = (found == classes.NEGATIVE_INFINITY).astype(np.int8)
        signs: NDArray[np.int8] = (found == classes.POSITIVE_INFINITY).astype(np.int8) - negative
        return signs

    def constant(self, terms: Ids, fmt: Format) -> NDArray[np.bool_]:
        """Tell which terms (n,) are constants that are no finite numbers in a format."""
        found: NDArray[np.bool_] = self.store.are(CONSTANT, terms)
        if not isinstance(fmt, FloatFormat):
            return np.zeros_like(found)
        words = self.store.constant_values(terms) >> np.uint64(fmt.padding_bits)
        magnitudes = words & np.uint64((1 << fmt.magnitude_bits) - 1)
        found &= magnitudes > np.uint64(fmt.largest)
        return found

    def of(self, terms: Ids, fmt: FloatFormat) -> Sets:
        """Return the classes of terms (n,), read in a format."""
        if not self._scan():
            return self._read(terms, fmt, np.full(np.shape(terms), classes.NUMBER, dtype=np.uint8))
        found = self._read(terms, fmt, self.values(terms))
        numbers = self.store.operation_numbers(terms)
        for number in np.unique(numbers):
            operation = self.store.operations[number]
            if operation.name != CONSTANT and operation.result not in (fmt, _SAME.get(fmt)):
                members = numbers == number
                found[members] = _OF_BITS[found[members]]
        return found

    def _read(self, terms: Ids, fmt: Format | None, found: Sets) -> Sets:
        """Return the classes of terms (…), known but for constants, which depend on the format."""
        if isinstance(fmt, FloatFormat) and (constants := self.store.are(CONSTANT, terms)).any():
            words, places = np.unique(self.store.constant_values(terms[constants]), return_inverse=True)
            of_words = [classes.of_word(word, fmt) for word in words.tolist()]
            found[constants] = np.array(of_words, dtype=np.uint8)[places]
        return found

    def _scan(self) -> bool:
        """Tell whether anything is undefined, or a constant that floats are computed of is no number."""
        if self._any or self._scanned == len(self.store):
            return self._any
        new = np.arange(self._scanned, len(self.store), dtype=np.int32)
        self._scanned = len(self.store)
        self._any = bool(self.store.named(UNDEFINED).any())
        self._constants = np.concatenate([self._constants, new[self.store.are(CONSTANT, new)]])
        numbers = self.store.operation_numbers(new)
        suspects: dict[Format, Ids] = {}
        for number in np.flatnonzero(np.bincount(numbers)):
            operation = self.store.operations[number]
            formats = set(self._formats(operation))
            for fmt in formats - set(suspects):
                wide = self._constants[self.store.widths(self._constants) == fmt.bits]
                suspects[fmt] = wide[self.constant(wide, fmt)]
            if any(len(suspects[fmt]) for fmt in formats) and not self._any:
                given = self._operands(operation, new[numbers == number], together=True)
                self._any = any(np.isin(suspects[fmt], each).any() for each, fmt in given)
        return self._any

    def _operands(
        self, operation: Operation, terms: Ids, *, together: bool = False
    ) -> list[tuple[Ids, Format]]:
        """Return the operands, (n,) or the elements (n, K) of vectors, and how they are read.

        Taken together, those of all terms are in any order, each once.
        """
        columns = gathered(self.store, operation, terms, expanded=not together)
        if operation.name == operations.SELECT:
            del columns[0]
        elif operation.name in _DOTS and together:
            columns = [
                each if place == 2 else self.store.elements(np.unique(each))
                for place, each in enumerate(columns)
            ]
        return list(zip(columns, self._formats(operation), strict=True))

    def _formats(self, operation: Operation) -> tuple[Format, ...]:
        """Return how the operands are read of what gives a float, or may choose one."""
        if operation.name == operations.SELECT:
            return (_FLOATS.get(operation.result.bits, operation.result),) * 2
        return operation.operands if isinstance(operation.result, FloatFormat) else ()

    def depends(self, operation: Operation, terms: Ids, read: Format | None) -> list[Reading]:
        """Return the operands of what gives a float, or may choose one."""
        if not self._formats(operation):
            return []
        return [(each, read) for each, _ in self._operands(operation, terms, together=True)]

    def transfer(self, operation: Operation, terms: Ids, read: Format | None) -> Any:
        """Return the classes of terms of one operation."""
        known = self.table()
        if operation.name == UNDEFINED:
            return classes.LOST
        if operation.name == CONCATENATION:
            elements = self.store.elements(self.store.arguments(terms)[:, 0])
            undefined = self.store.are(UNDEFINED, elements).any(axis=-1)
            return np.where(undefined, classes.LOST, classes.NUMBER)
        if not self._formats(operation):
            return classes.NUMBER
        given = [self._read(each, fmt, known[each]) for each, fmt in self._operands(operation, terms)]
        if operation.name == operations.SELECT:
            return self._chosen(terms, given[0], given[1])
        if operation.name == operations.FUSED:
            assert isinstance(operation.attribute, Sum)
            count = 2 * operation.attribute.products
            return _summed(zip(given[:count:2], given[1:count:2], strict=True), given[count:])
        if operation.name in _DOTS:
            assert isinstance(operation.attribute, Accumulation)
            left, right, addend, *scales = given
            factors = [_OF_SCALES[each] for vector in scales for each in vector.T]
            return _summed(zip(left.T, right.T, strict=True), [addend, *factors])
        if operation.name == operations.EXTREMUM:
            assert isinstance(operation.attribute, tuple)
            which, nan, _ = operation.attribute
            return _extremes(str(which), bool(nan))[*given]
        if operations.divides(operation) or operation.name == operations.QUOTIENT:
            return _table(classes.divided)[*given]
        if operation.name in _UNARY and len(given) == 1:
            sets, places = np.unique(given[0], return_inverse=True)
            found = np.array([classes.of_unary(operation, each) for each in sets.tolist()], dtype=np.uint8)
            return found[places]
        return np.bitwise_or.reduce([_OF_BITS[each] for each in given], axis=0)

    def _chosen(self, terms: Ids, then: Sets, otherwise: Sets) -> Sets:
        """Return the classes of choices; whether what is made of undefined bits is chosen is left open."""
        found = []
        for sets, sides in zip((then, otherwise), self.store.arguments(terms)[:, 1:3].T, strict=True):
            moved = np.any([self.store.are(name, sides) for name in _MOVED], axis=0)
            found.append(np.where(moved, sets, sets & ~np.uint8(classes.LOST)))
        joined = found[0] | found[1]
        return np.where(joined == 0, np.uint8(classes.LOST), joined)


def _summed(products: Iterable[tuple[Sets, Sets]], addends: Sequence[Sets]) -> Sets:
    """Return what sums of products and addends (n,) are."""
    total = np.array(classes.ZERO, dtype=np.uint8)
    for left, right in products:
        total = _table(classes.added)[total, _table(classes.multiplied)[left, right]]
    for addend in addends:
        total = _table(classes.added)[total, addend]
    return total


_EVERY = np.arange(classes.TERMINALS, dtype=np.uint8)
_OF_BITS = np.array([classes.of_bits(each) for each in _EVERY.tolist()], dtype=np.uint8)
_OF_SCALES = np.where(
    _EVERY & (classes.NAN | classes.LOST), _EVERY & (classes.NAN | classes.LOST), classes.ZERO
)
"""Of scale factors, which are positive, a NaN alone makes something of a sum that the sum is not."""


@cache
def _table(rule: Callable[[int, int], int]) -> Sets:
    """Return what a rule of two classes makes of all pairs of sets."""
    found = np.zeros((len(_EVERY), len(_EVERY)), dtype=np.uint8)
    for one, other in product(classes.CLASSES, repeat=2):
        found[np.ix_(_EVERY & one != 0, _EVERY & other != 0)] |= np.uint8(rule(one, other))
    return found


@cache
def _extremes(which: str, nan: bool) -> Sets:
    """Return what the greatest or least of all pairs is; unless `nan`, of a number and a NaN the number."""

    def of_pair(one: int, other: int) -> int:
        if not nan and classes.NAN in (one, other):
            return other if one == classes.NAN else one
        return classes.extreme(one, other, which, nan=nan)

    return _table(of_pair)
