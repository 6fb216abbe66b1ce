"""Terms that are maxima or minima: ``max``, ``min``, selects by comparison, integer clamps.

They are those of ``max`` and ``min``, what is chosen by a comparison of what is chosen from, and integers
that are clamped to the limits of their format.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..analysis.signatures import clamps
from ..terms import operations
from ..terms.bit_slices import extract
from ..terms.choices import are_by_order, chosen
from ..terms.interning import Ids
from ..terms.store import INPUT, NORMAL_FORM, Operation, is_raw
from ..terms.traversal import alike_within, by_operation
from .extrema import Extrema
from .polynomials import Polynomials
from .reading_words import Piece, Pieces, gathered
from .readings import Quantifier
from .sparse_polynomials import Sparse, added, sparse
from .sum_atoms import Groups


class ExtremalTerms:
    """Expands maxima and minima into polynomials.

    Parameters
    ----------
    quantifier : Quantifier
        Of the store.
    extrema : Extrema
        Makes their normal forms.
    polynomials : callable
        Of terms (n,) read in a format.
    difference : callable
        The polynomials of the differences of two arrays of terms, read in a format.
    identifiers : callable
        Numbers the polynomials of terms that are read in a format.
    """

    def __init__(
        self,
        quantifier: Quantifier,
        extrema: Extrema,
        polynomials: Callable[[Ids, Format], Polynomials],
        difference: Callable[[Ids, Ids, Format], Polynomials],
        identifiers: Callable[[Ids, Format], NDArray[np.int32]],
    ) -> None:
        self._quantifier = quantifier
        self._store = quantifier.store
        self._extrema = extrema
        self._polynomials = polynomials
        self._difference = difference
        self._identifiers = identifiers
        self._known: dict[tuple[int, Format], Pieces | None] = {}

    def expanded(self, terms: Ids, fmt: Format) -> Groups:
        """Return the expansions of those of some terms (n,) of one operation that are extrema."""
        operation = self._store.operation(int(terms[0]))
        kinds = (_is_extremum, _is_choice, _is_choice_of_integers, clamps)
        if not any(is_one(operation, fmt) for is_one in kinds):
            return []
        missing = np.array([each for each in terms.tolist() if (each, fmt) not in self._known], np.int32)
        if len(missing):
            for each in (*self._nested(operation, missing, fmt), missing):
                unknown = [term for term in each.tolist() if (term, fmt) not in self._known]
                self._compute(operation, np.array(unknown, dtype=np.int32), fmt)
        found = [(place, self._known[each, fmt]) for place, each in enumerate(terms.tolist())]
        places = np.array([place for place, each in found if each is not None], dtype=np.intp)
        groups = gathered([each for _, each in found if each is not None])
        return [(places[some], pieces) for some, pieces in groups]

    def _nested(self, operation: Operation, terms: Ids, fmt: Format) -> list[Ids]:
        """Return extrema within others, the innermost first: each is expanded before what it is within."""
        if not _is_extremum(operation, fmt):
            return []
        return alike_within(self._store, terms, lambda each: (each, fmt) in self._known)

    def _compute(self, operation: Operation, terms: Ids, fmt: Format) -> None:
        found: dict[int, Sparse] = {}
        arguments = self._store.arguments(terms)
        if _is_choice(operation, fmt):
            found = self._chosen(arguments, fmt)
        elif _is_choice_of_integers(operation, fmt):
            assert isinstance(fmt, IntegerFormat)
            found = self._integers_chosen(terms, operation.result.bits, fmt)
        elif clamps(operation, fmt):
            found = dict(enumerate(self._clamped(operation, arguments[:, 0])))
        else:
            assert isinstance(operation.attribute, tuple)
            found = dict(enumerate(self._extreme(str(operation.attribute[0]), arguments[:, :2], fmt)))
        for place, term in enumerate(terms.tolist()):
            self._known[term, fmt] = self._pieces(term, found[place]) if place in found else None

    def _read(self, terms: Ids, fmt: Format) -> list[Sparse]:
        return list(sparse(self._polynomials(terms, fmt), len(terms)))

    def _extreme(self, which: str, arguments: NDArray[np.int32], fmt: Format) -> list[Sparse]:
        sides = [self._read(arguments[:, column], fmt) for column in (0, 1)]
        whole = isinstance(fmt, IntegerFormat)
        return [self._extrema.of(which, pair, whole=whole) for pair in zip(*sides, strict=True)]

    def _pieces(self, term: int, found: Sparse) -> Pieces:
        if len(found) == 1:
            ((monomial, coefficient),) = found.items()
            if len(monomial) == 1 and coefficient == 1:
                normal = self._quantifier.terms(np.array(monomial, dtype=np.int64))
                self._quantifier.note(normal, np.array([term], dtype=np.int32))
        return [
            Piece(
                np.array([value], dtype=object), tuple(np.array([atom], dtype=np.int64) for atom in monomial)
            )
            for monomial, value in found.items()
        ]

    # -- conversions
    def _clamped(self, operation: Operation, arguments: Ids) -> list[Sparse]:
        """Return numbers converted to integers: rounded to any at all, and clamped to those of a format."""
        fmt, (source,) = operation.result, operation.operands
        assert isinstance(fmt, IntegerFormat) and isinstance(operation.attribute, tuple)
        if isinstance(source, FloatFormat):
            result = operations.signed(64)
            whole = Operation(NORMAL_FORM, result, attribute=("integer", operation.attribute[0]))
            atoms = self._store.apply(whole, self._identifiers(arguments, source))
            read: list[Sparse] = [{(atom,): 1} for atom in self._quantifier.read(atoms, result).tolist()]
        else:
            read = self._read(arguments, source)
        for which, limit in (("min", fmt.maximum), ("max", fmt.minimum)):
            bound: Sparse = {(): limit} if limit else {}
            read = [self._extrema.of(which, (each, bound), whole=True) for each in read]
        return read

    # -- choices of integers
    def _integers_chosen(self, choices: Ids, width: int, fmt: IntegerFormat) -> dict[int, Sparse]:
        """Return the extrema among choices of integers, by their places, each read as it is compared.

        The condition compares what is chosen from, or a multiple of it. Words modulo a power of two have no
        order: they are the lowest bits of numbers that are chosen.
        """
        found: dict[int, Sparse] = {}
        ordered = are_by_order(self._store, choices)
        arguments = self._store.arguments(choices)
        for condition, conditions in by_operation(self._store, np.unique(arguments[ordered, 0])):
            members = np.flatnonzero(np.isin(arguments[:, 0], conditions))
            compared = condition.operands[0]
            assert isinstance(compared, IntegerFormat)
            length = width if compared.bits < fmt.bits else min(width, compared.bits)
            whole = (operations.signed if compared.signed else operations.unsigned)(length)
            if not is_raw(fmt) and fmt != whole and not self._is_same_number(choices[members], whole, fmt):
                continue
            sides = np.stack(
                [extract(self._store, arguments[members, column], 0, length) for column in (1, 2)], axis=1
            )
            signs = self._orders(arguments[members, 0], sides, condition, whole)
            which = operations.EXTREMES[str(condition.attribute)]
            for sign, name in ((1, which), (-1, operations.OPPOSITE_EXTREMES[which])):
                alike = np.flatnonzero(signs == sign)
                if len(alike):
                    extreme = self._extreme(name, sides[alike], whole)
                    found.update(zip(members[alike].tolist(), extreme, strict=True))
        if fmt.bits < width:
            others = np.setdiff1d(np.flatnonzero(ordered), list(found)).astype(np.intp)
            if len(others):
                conditions, *given = arguments[others].T[:3]
                low = (extract(self._store, each, 0, fmt.bits) for each in given)
                read = self._read(chosen(self._store, conditions, *low), fmt)
                found.update(zip(others.tolist(), read, strict=True))
        return found

    def _is_same_number(self, terms: Ids, one: IntegerFormat, other: IntegerFormat) -> bool:
        """Tell whether words of one width are the same numbers in two formats, of which one has a sign."""
        least, greatest = self._quantifier.magnitudes.intervals(terms, one).T
        return bool((least >= other.minimum).all() and (greatest <= other.maximum).all())

    def _orders(
        self, conditions: Ids, sides: NDArray[np.int32], condition: Operation, whole: IntegerFormat
    ) -> NDArray[np.int64]:
        """Return the signs that `_proportions` does, of integers: ``x > 126`` is ``x >= 127``."""
        compared = condition.operands[0]
        tested = self._store.arguments(conditions)[:, :2]
        differences = (
            sparse(self._difference(pair[:, 0], pair[:, 1], fmt), len(pair))
            for pair, fmt in ((sides, whole), (tested, compared))
        )
        shift = _shift(str(condition.attribute))
        signs = [
            _sign_of_ratio(one, other) or _sign_of_ratio(one, added(other, {(): shift}))
            for one, other in zip(*differences, strict=True)
        ]
        return np.array(signs, dtype=np.int64)

    # -- choices of real numbers
    def _chosen(self, choices: NDArray[np.int32], fmt: Format) -> dict[int, Sparse]:
        """Return the extrema among choices, by their places.

        The condition compares what is chosen from, or a multiple of it.
        """
        found: dict[int, Sparse] = {}
        for operation, conditions in by_operation(self._store, np.unique(choices[:, 0])):
            which = operations.EXTREMES.get(str(operation.attribute).removesuffix("u"))
            if operation.name != operations.COMPARE or which is None:
                continue
            members = np.flatnonzero(np.isin(choices[:, 0], conditions))
            signs = self._proportions(choices[members], operation.operands[0], fmt)
            for sign, name in ((1, which), (-1, operations.OPPOSITE_EXTREMES[which])):
                alike = members[signs == sign]
                if len(alike):
                    extreme = self._extreme(name, choices[alike, 1:3], fmt)
                    found.update(zip(alike.tolist(), extreme, strict=True))
        return found | self._zeros_put_in(choices, fmt)

    def _zeros_put_in(self, choices: NDArray[np.int32], fmt: Format) -> dict[int, Sparse]:
        """Return polynomials of which choices put in 0 where an input is 0, by the choices' places.

        ``v == 0 ? y : y + v * x`` is the same as ``y + v * x``.
        """
        found: dict[int, Sparse] = {}
        for operation, conditions in by_operation(self._store, np.unique(choices[:, 0])):
            relation = str(operation.attribute).removesuffix("u")
            of_floats = operation.name == operations.COMPARE and isinstance(
                operation.operands[0], FloatFormat
            )
            if not of_floats or relation not in ("eq", "ne"):
                continue
            members = np.flatnonzero(np.isin(choices[:, 0], conditions))
            sides = self._store.arguments(choices[members, 0])[:, :2]
            numbers = sparse(self._difference(sides[:, 0], sides[:, 1], operation.operands[0]), len(members))
            tested = zip(members.tolist(), sides.tolist(), numbers, strict=True)
            of_reals = self._quantifier.computed_equality.is_of_reals
            single = {place: number for place, pair, number in tested if _is_atom(number) and of_reals(*pair)}
            places = np.array(list(single), dtype=np.intp)
            given = [self._read(choices[places, column], fmt) for column in (1, 2)]
            zeros, others = given if relation == "eq" else given[::-1]
            read = zip(single.items(), zeros, others, strict=True)
            found |= {
                place: other for (place, number), zero, other in read if self._is_at_zero(number, zero, other)
            }
        return found

    def _is_at_zero(self, number: Sparse, zero: Sparse, polynomial: Sparse) -> bool:
        """Tell whether a polynomial of inputs is another where a number, an input, is 0."""
        (atom,) = next(iter(number))
        dropped = [each for each in polynomial if atom in each]
        atoms = np.array(sorted({each for product in dropped for each in product}), dtype=np.int64)
        if not len(atoms) or not self._store.are(INPUT, self._quantifier.terms(atoms)).all():
            return False
        return {key: value for key, value in polynomial.items() if atom not in key} == dict(zero)

    def _proportions(self, choices: NDArray[np.int32], compared: Format, fmt: Format) -> NDArray[np.int64]:
        """Return the sign of the number by which the difference of what is chosen from is that compared.

        It is 0 where there is no such number.
        """
        sides = self._store.arguments(choices[:, 0])
        then, otherwise = (self._identifiers(choices[:, column], fmt) for column in (1, 2))
        left, right = (self._identifiers(sides[:, column], compared) for column in (0, 1))
        signs: NDArray[np.int64] = ((then == left) & (otherwise == right)).astype(np.int64)
        signs -= (then == right) & (otherwise == left) & (signs == 0)
        others = np.flatnonzero(signs == 0)
        chosen = self._difference(choices[others, 1], choices[others, 2], fmt)
        tested = self._difference(sides[others, 0], sides[others, 1], compared)
        pairs = zip(*(sparse(each, len(others)) for each in (chosen, tested)), strict=True)
        signs[others] = [_sign_of_ratio(*pair) for pair in pairs]
        return signs


def _shift(relation: str) -> int:
    """Return by how much a difference of integers is changed that is to be 0 beside where a relation begins.

    ``d > 0`` is ``d - 1 >= 0``.
    """
    strict = operations.OUTCOMES[relation].count(True) == 1
    greater = operations.EXTREMES[relation] == "max"
    return -1 if strict == greater else 1


def _sign_of_ratio(one: Sparse, other: Sparse) -> int:
    """Return the sign of the number by which one polynomial is the other; 0 if there is none."""
    if not one or one.keys() != other.keys():
        return 0
    (first, *rest) = (Fraction(value) / Fraction(other[key]) for key, value in one.items())
    return 0 if any(each != first for each in rest) else 1 if first > 0 else -1


def _is_atom(number: Sparse) -> bool:
    """Tell whether a polynomial is a multiple of a single atom."""
    return len(number) == 1 and len(next(iter(number))) == 1


def _is_extremum(operation: Operation, fmt: Format) -> bool:
    return operation.name == operations.EXTREMUM and fmt == operation.result


def _is_choice(operation: Operation, fmt: Format) -> bool:
    return (
        operation.name == operations.SELECT
        and isinstance(fmt, FloatFormat)
        and fmt.bits == operation.result.bits
    )


def _is_choice_of_integers(operation: Operation, fmt: Format) -> bool:
    if operation.name != operations.SELECT or not isinstance(fmt, IntegerFormat):
        return False
    return fmt.bits == operation.result.bits or (is_raw(fmt) and fmt.bits < operation.result.bits)
