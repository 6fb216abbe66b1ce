"""Value tables: terms that are functions of one small input element, tabulated.

Dequantisation by bit tricks (masks, magic numbers, shifts of exponents) is a function of one element of
at most 16 bits. All its values are computed; where they are an affine function of the element's own
value, the term is that polynomial, whatever the tricks were.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.float_encoding import decode, default_nan, is_nan
from ...spec.formats import F64, FloatFormat, Format, IntegerFormat
from . import operations
from .domains import Domain, Reading
from .evaluation import evaluate, integers, signed_values
from .instances import Shapes
from .interning import Ids
from .store import (
    CONCATENATION,
    CONSTANT,
    NORMAL_FORM,
    UNDEFINED,
    Operation,
    TermStore,
    is_raw,
)
from .traversal import operands

LARGEST = 16
"""Bits of the widest element whose values are all computed."""

_NOTHING, _MUCH = -1, -2

TABLE = "table"
"""What normal forms of functions of one element are called that are not affine."""


class Affine(NamedTuple):
    """``slope * element + offset`` over all finite values of the element."""

    slope: Fraction
    offset: Fraction


class Table(NamedTuple):
    """The values of a function at all numbers of an element's format: real ones where its own has them."""

    format: Format
    values: bytes


class _Leaves(Domain):
    """The one small element that a term depends on."""

    dtype = np.int64

    def depends(self, operation: Operation, terms: Ids, read: Format | None) -> Iterable[Reading]:
        return [] if operation.name in NOT_TABULATED else super().depends(operation, terms, read)

    def transfer(self, operation: Operation, terms: Ids, read: Format | None) -> Any:
        return _MUCH if operation.name in NOT_TABULATED else super().transfer(operation, terms, read)

    def leaf(self, operation: Operation, terms: Ids) -> Any:
        if operation.name == CONSTANT:
            return _NOTHING
        return terms if operation.result.bits <= LARGEST else _MUCH

    def vector(self, elements: NDArray[np.int64]) -> NDArray[np.int64]:
        largest = elements.max(axis=-1)
        others = (elements != largest[:, None]) & (elements != _NOTHING)
        return np.where((elements == _MUCH).any(axis=-1) | others.any(axis=-1), _MUCH, largest)

    def applied(self, operation: Operation, terms: Ids, given: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        return self.vector(np.stack(given, axis=-1))


class LeafFunctions:
    """Leaves that terms depend on, and value tables of terms with one leaf."""

    def __init__(self, store: TermStore) -> None:
        self.store = store
        self._leaves, self._shapes = _Leaves(store), Shapes(store)
        self._met_nans = self._other_nans = False
        self._tables: dict[tuple[int, Format], Affine | Table] = {}

    def leaves(self, terms: Ids) -> NDArray[np.int64]:
        """Return the one small element that each term depends on; negative where there is no such."""
        return self._leaves.values(terms)

    def shapes(self, terms: Ids) -> Ids:
        """Return a number of each term (n,), a function of one element, that only says which function."""
        found = np.full(len(terms), _MUCH, dtype=np.int32)
        known = self.leaves(terms) != _MUCH
        found[known] = self._shapes.values(terms[known])
        return found

    def function(self, term: int, leaf: int, fmt: Format) -> Affine | Table:
        """Return what a term is of its element: an affine function, or else the table of its values."""
        key = (int(self.shapes(np.array([term], dtype=np.int32))[0]), fmt)
        if key not in self._tables:
            self._tables[key] = self._computed(term, leaf, fmt)
        return self._tables[key]

    def all_values(self, term: int, leaf: int, *, numbers_only: bool = True) -> NDArray[np.uint64]:
        """Return the values of a term, a function of one element, at all encodings of that.

        Raises
        ------
        UnsupportedError
            If they depend on the bits of a NaN that is computed; of those of elements that are no finite
            numbers, only unless `numbers_only`.
        """
        values, nans_matter = self._with_nans(term, leaf)
        natural = self.store.operation(leaf).result
        if numbers_only and isinstance(natural, FloatFormat):
            nans_matter = nans_matter & _are_finite(_encodings(natural), natural)
        if nans_matter.any():
            raise UnsupportedError("the result depends on the bits of a NaN, which are not known")
        return values

    def _with_nans(self, term: int, leaf: int) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Return values at all encodings of an element, and which of them depend on a NaN's bits."""
        encodings = _encodings(self.store.operation(leaf).result)
        self._met_nans, self._other_nans = False, False
        values = np.broadcast_to(self.values(term, {leaf: encodings}), encodings.shape)
        if not (self.store.open_nans and self._met_nans):
            return values, np.zeros(encodings.shape, dtype=bool)
        self._other_nans = True
        others = self.values(term, {leaf: encodings})
        self._other_nans = False
        differ = values != others
        if isinstance(fmt := self.store.operation(term).result, FloatFormat):  # a NaN as such is one
            differ &= ~(is_nan(values.astype(fmt.storage), fmt) & is_nan(others.astype(fmt.storage), fmt))
        return values, differ

    def _computed(self, term: int, leaf: int, fmt: Format) -> Affine | Table:
        natural = self.store.operation(leaf).result
        encodings = _encodings(natural)
        values, nans_matter = self._with_nans(term, leaf)
        if isinstance(natural, FloatFormat):
            nans_matter = nans_matter & _are_finite(encodings, natural)
        if nans_matter.any():  # one value more, so that it is equal to nothing but itself
            shape = self.shapes(np.array([term], dtype=np.int32)).astype(np.uint64)
            return Table(fmt, np.concatenate([values, shape]).tobytes())
        affine = _affine(encodings, natural, np.broadcast_to(values, encodings.shape), fmt)
        if affine is not None:
            return affine
        values = np.broadcast_to(values, encodings.shape)
        if isinstance(natural, FloatFormat):
            values = values[_are_finite(encodings, natural)]
        return _table(values, fmt)

    def values(self, term: int, known: dict[int, NDArray[np.uint64]]) -> NDArray[np.uint64]:
        """Return the values of a term, given those of what it depends on; these are added to."""
        if term not in known:
            operation = self.store.operation(term)
            one = np.array([term], dtype=np.int32)
            if operation.name == CONSTANT:
                known[term] = self.store.constant_values(one)
            elif operation.name == CONCATENATION:
                parts = self.store.elements(self.store.arguments(one)[:, 0])[0]
                columns = np.broadcast_arrays(*(self.values(int(part), known) for part in parts))
                known[term] = evaluate(operation, [np.stack(columns, axis=-1)])
            else:
                given = [
                    self.values(int(operand[0]), known) for operand in operands(self.store, operation, one)
                ]
                known[term] = self._with_chosen_nans(
                    evaluate(operation, np.broadcast_arrays(*given)), operation.result
                )
        return known[term]

    def _with_chosen_nans(self, words: NDArray[np.uint64], fmt: Format) -> NDArray[np.uint64]:
        """Return computed words with NaNs replaced by others where that is wanted."""
        if not isinstance(fmt, FloatFormat) or not self.store.open_nans:
            return words
        nans = is_nan(words.astype(fmt.storage), fmt)
        self._met_nans |= bool(nans.any())
        return np.where(nans, _other_nan(fmt), words) if self._other_nans else words


NOT_TABULATED = (
    UNDEFINED,
    NORMAL_FORM,
    operations.FUNCTION,
    operations.QUOTIENT,
    operations.DOT,
    operations.SCALED_DOT,
)
"""Operations whose terms are never taken as functions of one element."""


def _encodings(fmt: Format) -> NDArray[np.uint64]:
    return np.arange(1 << fmt.bits, dtype=np.uint64)


def _are_finite(encodings: NDArray[np.uint64], fmt: FloatFormat) -> NDArray[np.bool_]:
    return np.isfinite(decode(encodings.astype(fmt.storage), fmt))


def _other_nan(fmt: FloatFormat) -> np.uint64:
    """Return a NaN that is not the one computed with, in as many bits as may differ."""
    most = np.uint64((1 << fmt.bits) - 1)
    return most if is_nan(np.array([most], dtype=fmt.storage), fmt)[0] else np.uint64(default_nan(fmt))


def exact_numbers(encodings: NDArray[np.uint64], fmt: Format) -> list[Fraction | None]:
    """Return exact values, None for what is no number."""
    if isinstance(fmt, FloatFormat):
        return [fmt.exact(int(encoding)) for encoding in encodings]
    assert isinstance(fmt, IntegerFormat)
    exact = integers(encodings, fmt) if not fmt.signed else signed_values(encodings, fmt.bits)
    return [Fraction(int(value)) for value in exact]


def _table(values: NDArray[np.uint64], fmt: Format) -> Table:
    """Return values such that those of equal numbers are equal, in whatever formats they are read.

    Bits that leave the sign out are the same number in every integer format.
    """
    positive = is_raw(fmt) and bool((values >> np.uint64(fmt.bits - 1) == 0).all())
    wide = isinstance(fmt, IntegerFormat) and fmt.bits >= F64.precision
    if wide or (is_raw(fmt) and not positive):
        return Table(fmt, np.ascontiguousarray(values).tobytes())
    if isinstance(fmt, FloatFormat):
        reals = decode(values.astype(fmt.storage), fmt)
    else:
        reals = integers(values, fmt).astype(np.float64)
    with np.errstate(invalid="ignore"):  # of NaNs that signal
        canonical = np.where(np.isnan(reals), np.nan, reals + 0.0)  # and one zero
    return Table(F64, canonical.tobytes())


_SAMPLE = 256
"""Elements of which a function that is not affine mostly shows it."""


def _affine(
    encodings: NDArray[np.uint64], natural: Format, values: NDArray[np.uint64], fmt: Format
) -> Affine | None:
    if len(encodings) > _SAMPLE:
        some = slice(None, None, len(encodings) // _SAMPLE | 1)  # odd, so that all bits vary
        found = _affine(encodings[some], natural, values[some], fmt)
        holds = False if found is None else _holds(found, encodings, natural, values, fmt)
        if holds is not None:
            return found if holds else None
    pairs = [
        (element, value)
        for element, value in zip(exact_numbers(encodings, natural), exact_numbers(values, fmt), strict=True)
        if element is not None
    ]
    if any(value is None for _, value in pairs):
        return None
    (x0, y0) = pairs[0]
    assert y0 is not None
    x1, y1 = next((pair for pair in pairs if pair[0] != x0), (x0 + 1, y0))
    assert y1 is not None
    slope = (y1 - y0) / (x1 - x0)
    offset = y0 - slope * x0
    return Affine(slope, offset) if all(y == slope * x + offset for x, y in pairs) else None


_MODERATE = 1 << 500
"""Up to it, and slopes down to its reciprocal, float64 computes lines without overflow or underflow."""


def _holds(
    line: Affine, encodings: NDArray[np.uint64], natural: Format, values: NDArray[np.uint64], fmt: Format
) -> bool | None:
    """Tell whether values are on a line everywhere, None where float64 can't tell.

    What is on the line is computed exactly: products have at most 53 bits, and what the sum loses is computed
    too. A number that float64 does not have is no value.
    """
    if max(map(abs, line)) > _MODERATE or 0 < abs(line.slope) * _MODERATE < 1:
        return None
    slope, offset = map(float, line)
    numerator = abs(line.slope.numerator)
    bits = (numerator // (numerator & -numerator or 1)).bit_length()
    if (Fraction(slope), Fraction(offset)) != line or bits + LARGEST > F64.precision:
        return None
    x, y = _reals(encodings, natural), _reals(values, fmt)
    if x is None or y is None:
        return None
    numbers = np.isfinite(x)
    x, y = x[numbers], y[numbers]
    if not np.isfinite(y).all():
        return False
    product = slope * x
    total = product + offset
    part = total - product
    lost = (product - (total - part)) + (offset - part)
    return bool(((total == y) & (lost == 0)).all())


def _reals(encodings: NDArray[np.uint64], fmt: Format) -> NDArray[np.float64] | None:
    """Return exact values, infinite or NaN for what is no number; None where float64 does not have them."""
    if isinstance(fmt, FloatFormat):
        return decode(encodings.astype(fmt.storage), fmt)
    assert isinstance(fmt, IntegerFormat)
    if fmt.bits >= F64.precision:
        return None
    exact = integers(encodings, fmt) if not fmt.signed else signed_values(encodings, fmt.bits)
    return exact.astype(np.float64)
