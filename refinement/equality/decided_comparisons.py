"""Comparisons, extrema and inputs that ranges or signs decide, and equalities of sums of words.

A scan for the least number begins with 3.4e38, or with an infinity: no input that `[requires]` bounds, and no
finite one, is beyond that. Inputs are taken for finite numbers here, and what is tested for a NaN for a
number, so that a verdict that rests on this is about such. ``5 - x == 0`` is ``x == 5``, whatever wraps.
What `[requires]` makes 0, as the padding of a matrix or the upper half of a triangular one, is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import decode, encode
from ...spec.formats import FloatFormat, Format, IntegerFormat, Special
from ...spec.rounding import Rounding
from ..analysis.intervals import Interval
from ..analysis.real_ranges import limits
from ..normal_forms.forms import NormalForms
from ..normal_forms.polynomials import ExpansionError
from ..normal_forms.sparse_polynomials import Sparse, sparse
from ..terms import operations
from ..terms.bit_slices import bitwise, rejoined
from ..terms.choices import chosen
from ..terms.domains import Domain, Rewriting
from ..terms.evaluation import apply
from ..terms.instances import Shapes
from ..terms.interning import Ids
from ..terms.slices import fields
from ..terms.store import (
    CONCATENATION,
    CONSTANT,
    INPUT,
    NORMAL_FORM,
    VECTOR,
    Operation,
    TermStore,
    bits,
    is_raw,
)
from ..terms.traversal import by_operation
from .known_signs import ANY, KnownSigns, Signs

_MOST_SIGNS = 256
"""Comparisons that are decided by signs, of one operation at a time."""

_OF_ONE_SHAPE = 3
"""Comparisons of one shape of which signs have to tell one, for the others to be looked at."""

_EXACT = 2.0**53
"""Integers from here on are known from outside alone."""

_NONE: Ids = np.empty(0, dtype=np.int32)

_OF_NUMBERS = {"num": True, "nan": False}
"""What tests of numbers for NaNs tell."""


class DecidedComparisons(Rewriting):
    """Replaces comparisons by their outcome, and extrema by one side, where ranges tell.

    Parameters
    ----------
    forms : NormalForms
        Of the terms.
    of_inputs : bool
        Whether only comparisons of inputs with each other and with constants are: no number that is computed,
        and may overflow, is then lost sight of.
    exact : bool
        Whether signs tell extrema only of numbers that nothing rounds: where a formula limits what roundings
        can take beyond the limit, a kernel that does not is another one.
    """

    def __init__(self, forms: NormalForms, *, of_inputs: bool = False, exact: bool = False) -> None:
        super().__init__(forms.store)
        self._of_inputs, self._exact = of_inputs, exact
        self._ranges, self._magnitudes = forms.overflows.ranges, forms.quantifier.magnitudes
        self._forms, self._signs = forms, dict[bool, KnownSigns]()
        self._passed: dict[Format, _PassedOn] = {}
        self._shapes = Shapes(forms.store)
        self._same: dict[Format, tuple[Ids, Ids]] = {}
        """Of formats, terms in ascending order, and what is the same number: another zero perhaps."""

    def leaf(self, operation: Operation, terms: Ids) -> Any:
        """Return inputs that `[requires]` makes one number as that; a float that is 0 has two signs."""
        ends = self.store.ends.get(str(operation.attribute)) if operation.name == INPUT else None
        if ends is None:
            return terms
        fmt, places = operation.result, self.store.arguments(terms)[:, 0]
        low = ends.low[places]
        known = ends.number[places] & (low == ends.high[places]) & (np.abs(low) < _EXACT)
        if isinstance(fmt, FloatFormat):
            self._note(fmt, terms[known & (low == 0)], self.store.constants(0, fmt.bits))
            known &= low != 0
            words = encode(low[known], fmt, Rounding.NEAREST_EVEN).astype(np.uint64)
        else:
            words = low[known].astype(np.int64).astype(np.uint64) & np.uint64((1 << fmt.bits) - 1)
        found = terms.copy()
        found[known] = self.store.constants(words, fmt.bits)
        return found

    def numbers(self, terms: Ids, fmt: Format) -> Ids:
        """Return terms (n,) that are read as floats of a format; of a 0 the sign makes no difference then."""
        if fmt not in self._same:
            return terms
        found = self._replaced(terms, fmt)
        for operation, members in by_operation(self.store, np.unique(terms)):
            if operation.name == VECTOR:
                vectors = self.store.vectors(self._replaced(self.store.elements(members), fmt))
                places = np.isin(terms, members)
                found[places] = vectors[np.searchsorted(members, terms[places])]
        return found

    def _note(self, fmt: FloatFormat, terms: Ids, others: Ids) -> None:
        """Note that terms (n,), read in a format, are the same numbers as others."""
        if len(terms):
            known = self._same.get(fmt, (_NONE, _NONE))
            every, first = np.unique(np.concatenate([known[0], terms]), return_index=True)
            both = np.concatenate([known[1], np.broadcast_to(others, terms.shape)])
            self._same[fmt] = every, both[first]

    def _replaced(self, terms: Ids, fmt: Format) -> Ids:
        known, others = self._same[fmt]
        places = np.minimum(np.searchsorted(known, terms), len(known) - 1)
        found: Ids = np.where(known[places] == terms, others[places], terms).astype(np.int32)
        return found

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return terms of one operation whose arguments are replaced."""
        if self._same:
            pairs = zip(given, operation.operands, strict=False)
            given = [self.numbers(*pair) for pair in pairs] + given[len(operation.operands) :]
        if operation.name == operations.SELECT:
            return self._chosen(*given)
        if operation.name == CONCATENATION:
            found, changed = terms.copy(), given[0] != self.store.arguments(terms)[:, 0]
            if changed.any():
                found[changed] = rejoined(self.store, operation, given[0][changed])
            return found
        if operation.name == operations.BITWISE and all(operand.bits == 1 for operand in operation.operands):
            assert isinstance(operation.attribute, int)
            return bitwise(self.store, operation.attribute, *given)
        found = super().applied(operation, terms, given)
        if self._of_inputs and not isinstance(
            operation.operands[0] if operation.operands else None, FloatFormat
        ):
            return found
        if operation.name == operations.COMPARE:
            return self._comparison(operation, given, found)
        if operation.name == operations.EXTREMUM and not is_raw(operation.result):
            return self._extremum(operation, given, found)
        return found

    def _comparison(self, operation: Operation, given: list[Ids], found: Ids) -> Ids:
        """Return comparisons (n,), in the place of those that are known their outcome."""
        if operation.attribute in _OF_NUMBERS:
            if self._of_inputs:
                return found
            found = np.full(len(found), self.store.constants(int(_OF_NUMBERS[operation.attribute]), 1))
        elif _equates_integers(operation):
            return self._solved(operation, given)
        elif is_ordered(operation):
            left, right = self._sides(operation, given)
            outcomes = operations.OUTCOMES[str(operation.attribute).removesuffix("u")]
            for holds, some in ((outcomes[0], left.high < right.low), (outcomes[2], left.low > right.high)):
                found[some] = self.store.constants(int(holds), 1)
            open_ = self._unrounded(np.flatnonzero(self.store.are(operations.COMPARE, found)), given)
            for place, signs in self._signs_of(operation.operands[0], open_, given):
                if len(told := {outcomes[sign + 1] for sign in signs}) == 1:
                    found[place] = self.store.constants(int(told.pop()), 1)
        return found

    def _extremum(self, operation: Operation, given: list[Ids], terms: Ids) -> Ids:
        """Return extrema (n,), in the place of some the argument that ranges or signs tell."""
        assert isinstance(operation.attribute, tuple)
        if operation.attribute[2]:  # which flushes subnormal numbers
            return terms
        found = self._one_side(operation, given, terms)
        left = np.flatnonzero(self.store.are(operations.EXTREMUM, found))
        which, fmt = str(operation.attribute[0]), operation.operands[0]
        found[left] = self._extreme(which, fmt, found, given, left)
        return found

    def _one_side(self, operation: Operation, given: list[Ids], terms: Ids) -> Ids:
        """Return extrema (n,), in the place of some the argument that is never beyond the other one.

        Where both may be equal, they may be two zeros.
        """
        assert isinstance(operation.attribute, tuple)
        left, right = self._sides(operation, given)
        sides = given if operation.attribute[0] == "max" else given[::-1]
        found = np.where(left.low > right.high, sides[0], terms)
        found = np.where(left.high < right.low, sides[1], found)
        is_left = left.low == right.high
        ties = np.flatnonzero(is_left | (left.high == right.low))
        others = np.where(is_left, sides[0], sides[1])[ties]
        if isinstance(operation.result, FloatFormat):
            self._note(operation.result, found[ties], others)
        else:
            found[ties] = others
        return found

    def _chosen(self, conditions: Ids, then: Ids, otherwise: Ids) -> Ids:
        """Return choices, of the greater or the less of two numbers that number of which signs tell it."""
        found = chosen(self.store, conditions, then, otherwise)
        for operation, members in by_operation(self.store, np.unique(conditions)):
            which = operations.EXTREMES.get(str(operation.attribute).removesuffix("u"))
            if operation.name != operations.COMPARE or which is None or not is_ordered(operation):
                continue
            sides = [self.store.arguments(conditions)[:, column] for column in (0, 1)]
            for one, other, name in (
                (then, otherwise, which),
                (otherwise, then, operations.OPPOSITE_EXTREMES[which]),
            ):
                alike = np.isin(conditions, members) & (one == sides[0]) & (other == sides[1])
                left = np.flatnonzero(alike & self.store.are(operations.SELECT, found))
                found[left] = self._extreme(name, operation.operands[0], found, sides, left)
        return found

    def _extreme(
        self, which: str, fmt: Format, found: Ids, given: Sequence[Ids], places: NDArray[np.intp]
    ) -> Ids:
        """Return terms at some places, extrema of two numbers, or of these that which signs tell."""
        made = found.copy()
        places, all_places = self._unrounded(places, given) if self._exact else places, places
        for place, signs in self._signs_of(fmt, places, given):
            if signs.issuperset((-1, 1)):
                continue
            side = given[(which == "max") == (1 not in signs)][place]
            if 0 in signs and isinstance(fmt, FloatFormat):  # equal numbers may be two zeros
                self._note(fmt, made[place : place + 1], side)
            else:
                made[place] = side
        return made[all_places]

    def _unrounded(self, places: NDArray[np.intp], given: Sequence[Ids]) -> NDArray[np.intp]:
        """Return the places at which nothing is rounded of what is compared: no rounding turns that."""
        are_exact = self._forms.quantifier.computed_equality.are_exact
        unrounded: NDArray[np.intp] = places[are_exact(given[0][places]) & are_exact(given[1][places])]
        return unrounded

    def _signs_of(
        self, fmt: Format, places: NDArray[np.intp], given: Sequence[Ids]
    ) -> Iterator[tuple[int, Signs]]:
        """Yield places at which the signs of differences are known; none where roundings alone decide.

        Of comparisons that differ in nothing but which elements they are of, some are looked at first.
        """
        if self._of_inputs or not 0 < len(places) <= _MOST_SIGNS:
            return
        pairs = np.stack([given[0][places], given[1][places]], axis=1)
        shapes = self._shapes.values(pairs.reshape(-1)).reshape(pairs.shape)
        _, classes, counts = np.unique(shapes, axis=0, return_inverse=True, return_counts=True)
        classes = classes.reshape(-1)
        order = np.argsort(classes, kind="stable")
        ranks = np.empty(len(places), dtype=np.intp)
        ranks[order] = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
        is_first = ranks < _OF_ONE_SHAPE
        told = list(self._known_signs_of(fmt, places[is_first], given))
        yield from told
        known = np.unique(classes[np.isin(places, [place for place, _ in told])])
        yield from self._known_signs_of(fmt, places[~is_first & np.isin(classes, known)], given)

    def _known_signs_of(
        self, fmt: Format, places: NDArray[np.intp], given: Sequence[Ids]
    ) -> Iterator[tuple[int, Signs]]:
        """Yield what `_signs_of` does, having looked at all places."""
        for forms in (self._forms, self._forms.of_fractions):
            fractions = forms is not self._forms
            if not len(places) or (fractions and not self._forms.quantifier.near_fractions):
                return
            try:
                found = forms.thorough.difference(given[0][places], given[1][places], fmt)
            except ExpansionError:
                return
            signs = self._signs.setdefault(fractions, KnownSigns(forms))
            known = [signs.of(each) if any(each) else ANY for each in sparse(found, len(places))]
            told = np.array([each != ANY for each in known], dtype=bool)
            self._forms.needs_fractions |= fractions and bool(told.any())
            yield from (
                (place, each) for place, each in zip(places.tolist(), known, strict=True) if each != ANY
            )
            places = places[~told]

    def _solved(self, operation: Operation, given: list[Ids]) -> Ids:
        """Return equalities of words without the constants and signs that are on one side, in one order."""
        width = operation.operands[0].bits
        sides = np.stack(given[:2], axis=1)
        summed = self.store.are(operations.RING, sides) | self.store.are(operations.NEGATE, sides)
        members = np.flatnonzero(summed.any(axis=1))
        differences = sparse(
            self._forms.difference(sides[members, 0], sides[members, 1], bits(width)), len(members)
        )
        for place, difference in zip(members.tolist(), differences, strict=True):
            if (parted := self._parted(difference, width)) is not None:
                sides[place] = parted
        return apply(self.store, operation, *np.sort(sides, axis=1).T)

    def _parted(self, difference: Sparse, width: int) -> tuple[int, int] | None:
        """Return two words that are equal just where ``±x ± y + c`` is 0 modulo a power of two; else None."""
        rest = dict(difference)
        constant = int(rest.pop((), 0))
        words: dict[int, int] = {}
        for monomial, coefficient in rest.items():
            sign = 1 if coefficient == 1 else -1 if coefficient == (1 << width) - 1 else 0
            term = int(self._forms.quantifier.terms(np.array(monomial[:1], dtype=np.int64))[0])
            is_word = len(monomial) == 1 and self.store.widths(np.array([term]))[0] == width
            if not (sign and is_word) or sign in words or self.store.are(NORMAL_FORM, np.array([term]))[0]:
                return None
            words[sign] = term
        if not rest or (constant and len(words) == 2):
            return None
        for sign in {-1, 1} - words.keys():
            words[sign] = int(self.store.constants(sign * constant % (1 << width), width))
        return words[1], words[-1]

    def _sides(self, operation: Operation, given: list[Ids]) -> list[Interval]:
        return [
            Interval(*self._read(terms, fmt).T)
            for terms, fmt in zip(given[:2], operation.operands, strict=False)
        ]

    def _read(self, terms: Ids, fmt: Format) -> NDArray[np.float64]:
        """Return the ranges (n, 2) of terms; from -∞ to ∞ where these are no numbers or nothing is known."""
        if isinstance(fmt, IntegerFormat):
            found = np.array(self._magnitudes.intervals(terms, fmt), dtype=np.float64)
            greatest = self._greatest_of_floats(terms)
            known = (greatest >= 0) & (found[:, 0] >= 0)
            found[known, 1] = np.minimum(found[known, 1], greatest[known])
            return found
        assert isinstance(fmt, FloatFormat)
        self._ranges.fill(terms)
        found = np.array(self._ranges.read(terms, fmt))
        one_sided = found.copy()
        found[self._of_inputs | ~np.isfinite(found).all(axis=1)] = -np.inf, np.inf
        for operation, members in by_operation(self.store, np.unique(terms)):
            places = np.isin(terms, members)
            if operation.name == CONSTANT:
                words = self.store.constant_values(terms[places])
                numbers = decode(words.astype(fmt.storage), fmt)
                found[places] = np.where(np.isnan(numbers)[:, None], [-np.inf, np.inf], numbers[:, None])
                continue
            passed = places & self._passed.setdefault(fmt, _PassedOn(self.store, fmt)).values(terms)
            ends = found if self._of_inputs else one_sided
            found[passed] = np.clip(ends[passed], float(limits(fmt).low), float(limits(fmt).high))
        return found

    def _greatest_of_floats(self, terms: Ids) -> NDArray[np.int64]:
        """Return the greatest words that terms (n,) are, masked magnitudes of finite inputs; -1 of others.

        ``(bits(x) & 0x7fffffff) > 0x7f800000`` asks for a NaN.
        """
        found = np.full(len(terms), -1, dtype=np.int64)
        for operation, members in by_operation(self.store, np.unique(terms)):
            if operation.name != CONCATENATION:
                continue
            kept = [at for at, field in enumerate(fields(operation)) if not field.constant]
            if len(kept) != 1:
                continue
            field, start = (
                fields(operation)[kept[0]],
                sum(each.width for each in fields(operation)[: kept[0]]),
            )
            parts = self.store.elements(self.store.arguments(members)[:, 0])
            zeros = np.delete(parts, kept[0], axis=1)
            masks = (self.store.constant_values(zeros) == 0).all(axis=1) & (not field.repeats)
            for source, words in by_operation(self.store, np.unique(parts[masks, kept[0]])):
                fmt = source.result
                if (
                    source.name != INPUT
                    or not isinstance(fmt, FloatFormat)
                    or fmt.special is not Special.IEEE
                ):
                    continue
                if start == field.low and field.top == fmt.bits - 2:
                    most = fmt.largest << fmt.padding_bits >> start << start
                    found[np.isin(terms, members[masks & np.isin(parts[:, kept[0]], words)])] = most
        return found


class _PassedOn(Domain):
    """Whether a term is one of some inputs of a format, or their opposites, which are finite."""

    dtype = bool

    def __init__(self, store: TermStore, fmt: Format) -> None:
        super().__init__(store)
        self._format = fmt

    def leaf(self, operation: Operation, terms: Ids) -> Any:
        """Return whether leaves are inputs, or finite constants."""
        if operation.name == CONSTANT and isinstance(self._format, FloatFormat):
            words = self.store.constant_values(terms).astype(self._format.storage)
            return (operation.result.bits == self._format.bits) & np.isfinite(decode(words, self._format))
        return np.full(len(terms), operation.name == INPUT and operation.result == self._format)

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return whether all that an operation chooses from is passed on."""
        if operation.name == operations.SELECT:
            return given[1] & given[2]
        alike = (
            operation.name in (operations.EXTREMUM, operations.NEGATE) and operation.result == self._format
        )
        return np.logical_and.reduce(given) if alike else np.zeros(len(terms), dtype=bool)


def _equates_integers(operation: Operation) -> bool:
    return isinstance(operation.operands[0], IntegerFormat) and operation.attribute in ("eq", "ne")


def is_ordered(operation: Operation) -> bool:
    """Tell whether a comparison is of numbers that have ranges: no words, and no signed ones as unsigned."""
    fmt, relation = operation.operands[0], str(operation.attribute).removesuffix("u")
    if is_raw(fmt) or relation not in operations.OUTCOMES:
        return False
    unsigned = operation.attribute in operations.UNSIGNED_RELATIONS
    return not (isinstance(fmt, IntegerFormat) and fmt.signed and unsigned)
