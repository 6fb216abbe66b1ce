"""Bit operations on floats that are float operations: truncation, rounding, absolute value, negation.

The high 16 bits of an f32 are a bf16, and an f32 whose 13 lowest bits are 0 is a tf32: the formats share the
sign and the exponent, so dropping low bits of the fraction is the conversion toward zero, for zeros,
subnormal numbers and infinities too. A NaN alone may turn into an infinity, if all bits that are left of its
fraction are 0: over the reals there is none. What is added to the bits before they are dropped carries into
those that are left, of the exponent too: so software rounds to nearest.

Whatever float a word is, with a highest bit of 0 it is its magnitude, with 1 minus that, and with the highest
bit flipped its negation.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import BF16, F32, TF32, FloatFormat, Format
from ...spec.rounding import Rounding
from ..terms import operations
from ..terms.bit_slices import bitwise, extract, zero_extend
from ..terms.domains import Rewriting
from ..terms.interning import Ids
from ..terms.slices import Field, Slice, fields, join, values
from ..terms.store import CONCATENATION, CONSTANT, VECTOR, Operation
from ..terms.traversal import by_operation
from ..terms.truth_tables import A

_NARROW: MappingProxyType[int, FloatFormat] = MappingProxyType({16: BF16, 13: TF32})
"""What is left of an f32 without so many low bits."""

_READ = (BF16, TF32, F32)

_LEAST_BITS = 16
"""Of formats whose signs are looked for; those of narrower ones are read from tables of values."""

_DEEPEST = 4
"""Choices within choices that are looked through; what lies deeper keeps its bits."""


class TruncatedFloats(Rewriting):
    """Replaces bits that floats are cut or rounded to by conversions.

    Parameters
    ----------
    store : TermStore
        The terms.
    """

    def converted(self, terms: Ids, fmt: Format) -> Ids:
        """Return terms (n,), read in a format, with conversions for bits that floats are cut to.

        They are the same numbers for all inputs that make no NaN.
        """
        if not any(_cut(operation) or _has_sign(operation) for operation in self.store.operations):
            return terms
        return self._read(self.values(terms), fmt)

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return terms of one operation whose arguments are read as it reads them."""
        formats = operation.operands[: len(given)]
        read = [self._argument(each, fmt) for each, fmt in zip(given, formats, strict=False)]
        return super().applied(operation, terms, [*read, *given[len(read) :]])

    def _argument(self, terms: Ids, fmt: Format) -> Ids:
        """Return arguments (n,), terms or vectors of them, as they are read in a format."""
        found = terms.copy()
        vectors = np.flatnonzero(self.store.are(VECTOR, terms))
        for length in np.unique(self.store.operation_numbers(terms[vectors])):
            alike = vectors[self.store.operation_numbers(terms[vectors]) == length]
            elements = self.store.elements(terms[alike])
            read = self._read(elements.reshape(-1), fmt).reshape(elements.shape)
            found[alike] = self.store.vectors(read)
        others = np.flatnonzero(~self.store.are(VECTOR, terms))
        found[others] = self._read(terms[others], fmt)
        return found

    def _read(self, terms: Ids, fmt: Format, depth: int = _DEEPEST) -> Ids:
        """Return terms (n,) with conversions for those that are high bits of floats."""
        if not isinstance(fmt, FloatFormat) or fmt.bits < _LEAST_BITS or not len(terms):
            return terms
        found = terms.copy()
        for operation, members in by_operation(self.store, np.unique(terms)):
            made = members
            if _has_sign(operation) and operation.result.bits == fmt.bits and depth:
                made = self._with_signs(operation, members, fmt, depth)
            if made is members and operation.name == CONCATENATION and fmt in _READ:
                made = self._conversions(operation, members, fmt)
                if made is members and depth:
                    made = self._of_choices(operation, members, fmt, depth)
            elif operation.name == operations.SELECT and operation.result.bits == fmt.bits and depth:
                condition, *sides = self.store.arguments(members)[:, :3].T
                chosen = (self._read(side, fmt, depth - 1) for side in sides)
                made = self.store.apply(operation, condition, *chosen)
            if made is not members:
                found = np.where(np.isin(terms, members), made[self._places(members, terms)], found)
        return found.astype(np.int32)

    @staticmethod
    def _places(members: Ids, terms: Ids) -> NDArray[np.intp]:
        """Return where terms are among members, which are sorted; anywhere for others."""
        return np.minimum(np.searchsorted(members, terms), len(members) - 1)

    def _of_choices(self, operation: Operation, words: Ids, fmt: FloatFormat, depth: int) -> Ids:
        """Return bits (n,) that are cut from a choice as a choice of bits that are cut, if they are read."""
        store, (*zeros, field) = self.store, fields(operation)
        parts = store.elements(store.arguments(words)[:, 0])
        choice = int(store.operation_numbers(parts[:1, -1])[0])
        alike = (store.operation_numbers(parts[:, -1]) == choice).all()
        if field.repeats or not alike or store.operations[choice].name != operations.SELECT:
            return words
        if any(not each.constant for each in zeros) or (store.constant_values(parts[:, :-1]) != 0).any():
            return words
        condition, *sides = store.arguments(parts[:, -1])[:, :3].T
        below = [Slice(parts[:, at], each) for at, each in enumerate(zeros)]
        made = [
            join(store, [*below, Slice(extract(store, side, field.low, field.width), Field(0, field.width))])
            for side in sides
        ]
        read = [self._read(each, fmt, depth - 1) for each in made]
        if all((one == other).all() for one, other in zip(read, made, strict=True)):
            return words
        return np.asarray(store.apply(operations.select(fmt.bits), condition, *read))

    def _with_signs(self, operation: Operation, words: Ids, fmt: FloatFormat, depth: int) -> Ids:
        """Return words (n,) of one concatenation as magnitudes or negations of floats, if they are."""
        store, own = self.store, fields(operation)
        *low, top = (
            Slice(part, field)
            for part, field in zip(store.elements(store.arguments(words)[:, 0]).T, own, strict=True)
        )
        place = low[-1].field.top + 1
        if (store.widths(low[-1].terms) != place + 1).any():
            return words
        number = self._read(join(store, [*low, Slice(low[-1].terms, Field(place, 1))]), fmt, depth - 1)
        opposite = store.apply(operations.negate(fmt), number)
        if top.constant:
            size = store.apply(operations.extremum(fmt, "max", nan=True), number, opposite)
            return np.where(values(store, top) != 0, store.apply(operations.negate(fmt), size), size)
        sign = extract(store, low[-1].terms, place, 1)
        flipped = bitwise(store, 0xFF ^ A, sign, sign, sign)
        return np.where(flipped == top.terms, opposite, words)

    def _conversions(self, operation: Operation, words: Ids, fmt: FloatFormat) -> Ids:
        """Return words (n,) of one concatenation as conversions of what they are cut from, if they are."""
        low = _cut(operation)
        narrow = _NARROW.get(low)
        if narrow is None or (operation.result.bits, narrow) == (16, TF32):
            return words
        if (fmt == BF16) != (operation.result.bits == BF16.bits):
            return words
        parts = self.store.elements(self.store.arguments(words)[:, 0])
        found = [Slice(parts[:, at], field) for at, field in enumerate(fields(operation))]
        if operation.result.bits == F32.bits:
            zeros, *found = found
            if (self.store.constant_values(zeros.terms) != 0).any():
                return words
        floats = found[0].terms
        if self._are_floats(floats):
            whole = join(self.store, [Slice(floats, Field(0, low)), *found])
            made = self.store.apply(_conversion(narrow, Rounding.TOWARD_ZERO), whole)
        elif len(found) > 1 or (rounded := self._rounded(floats, low, narrow)) is None:
            return words
        else:
            made = rounded
        if fmt == narrow:
            return made
        return self.store.apply(operations.fused(F32, (), (narrow,)), made)

    def _rounded(self, sums: Ids, low: int, narrow: FloatFormat) -> Ids | None:
        """Return conversions (n,) of floats to whose bits so much is added that cutting the low ones rounds.

        Half of a unit of what is left rounds ties away from zero; just less, and the lowest bit that is left,
        ties to even; what is less than a unit, such as random bits, rounds to one of the two neighbours. None
        where the words are no such sums.
        """
        store = self.store
        summands = self._summands(sums)
        constants = [summand for summand in summands if store.are(CONSTANT, summand).all()]
        others = [summand for summand in summands if not store.are(CONSTANT, summand).any()]
        floats = [other for other in others if self._are_floats(other)]
        if len(floats) != 1 or len(others) > 2 or len(constants) + len(others) != len(summands):
            return None
        added = sum(store.constant_values(constant) for constant in constants)
        half = np.uint64(1) << np.uint64(low - 1)
        if len(others) == 1:
            return store.apply(_conversion(narrow, None), floats[0]) if np.all(added == half) else None
        even = zero_extend(store, extract(store, floats[0], low, 1), F32.bits)
        (word,) = (other for other in others if other is not floats[0])
        if np.all(added == half - np.uint64(1)) and (word == even).all():
            return store.apply(_conversion(narrow, Rounding.NEAREST_EVEN), floats[0])
        above = extract(store, word, low, F32.bits - low)
        if constants or not store.are(CONSTANT, above).all() or (store.constant_values(above) != 0).any():
            return None
        return self._to_neighbours(floats[0], word, low, narrow)

    def _to_neighbours(self, floats: Ids, added: Ids, low: int, narrow: FloatFormat) -> Ids:
        """Return floats (n,) rounded away from zero where their low bits and words carry, else toward it."""
        store = self.store
        cut = zero_extend(store, extract(store, floats, 0, low), F32.bits)
        carries = extract(store, store.apply(operations.ring(F32.bits, 0, 2), cut, added), low, 1)
        up, down, toward_zero = (
            store.apply(_conversion(narrow, rounding), floats)
            for rounding in (Rounding.UPWARD, Rounding.DOWNWARD, Rounding.TOWARD_ZERO)
        )
        choice = operations.select(narrow.bits)
        away = store.apply(choice, extract(store, floats, F32.bits - 1, 1), down, up)
        return np.asarray(store.apply(choice, carries, away, toward_zero))

    def _summands(self, words: Ids, depth: int = _DEEPEST) -> list[Ids]:
        """Return terms (n,) whose sums words are; the words themselves if they are none, or not all alike."""
        operation = self.store.operation(int(words[0]))
        alike = (self.store.operation_numbers(words) == self.store.number(operation)).all()
        how = operation.attribute
        if not depth or not alike or not isinstance(how, operations.Sum) or operation.name != operations.RING:
            return [words]
        if how.products:
            return [words]
        columns = self.store.arguments(words)[:, : how.addends].T
        return [summand for column in columns for summand in self._summands(column, depth - 1)]

    def _are_floats(self, terms: Ids) -> bool:
        """Tell whether terms (n,) are f32 by what computes them, or choices of 32 bits."""
        kinds = [self.store.operations[number] for number in np.unique(self.store.operation_numbers(terms))]
        return all(
            kind.result == F32 or (kind.name == operations.SELECT and kind.result.bits == F32.bits)
            for kind in kinds
        )


def _conversion(narrow: FloatFormat, rounding: Rounding | None) -> Operation:
    """Return a conversion of f32; without a rounding, to nearest with ties away from zero."""
    if rounding is None:
        return operations.convert(narrow, F32, None)
    return operations.fused(narrow, (), (F32,), rounding)


def _has_sign(operation: Operation) -> bool:
    """Tell whether the highest bit of a word is from elsewhere than those next to it."""
    if operation.name != CONCATENATION or len(fields(operation)) < 2:
        return False
    *_, below, top = fields(operation)
    return top.width == 1 and not (below.constant or below.repeats)


def _cut(operation: Operation) -> int:
    """Return how many low bits of what its lowest field is cut from a concatenation lacks; 0 if none.

    A word of 32 bits must have a constant in their place.
    """
    if operation.name != CONCATENATION:
        return 0
    first, *rest = fields(operation)
    if operation.result.bits == F32.bits and first.constant and rest:
        lowest = rest[0]
        return 0 if lowest.constant or lowest.repeats or lowest.low != first.width else lowest.low
    if operation.result.bits == BF16.bits and not first.constant and not first.repeats and first.low == 16:
        return first.low
    return 0
