"""Symbolic bounds of polynomials over the reals: by signs, extrema and powers of two.

``2^(x - max(x, y))`` is at most 1, for what is subtracted is at least x, whatever both are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from ...spec.formats import F64, FloatFormat
from ..analysis.literal_constants import LN_OF_2, LOG2_OF_10, LOG2_OF_E
from ..normal_forms.elementary_forms import POWER, RECIPROCAL
from ..normal_forms.extrema import Extremum, Member
from ..normal_forms.forms import NormalForms
from ..normal_forms.functions.library_functions import WRITTEN
from ..normal_forms.sparse_polynomials import Coefficient, Monomial, Sparse, added, sparse, without
from ..terms.store import INPUT, NORMAL_FORM

_DEPTH = 4
"""Extrema that are replaced by what they are of, one inside of the other; softmax takes one or two."""

_MEMBERS = 8
"""Numbers that an extremum is of, of which each is tried."""

_GREATEST = 1 << 12
"""Exponents of 2 beyond this are no bound."""

_IRRATIONAL = ((LOG2_OF_E,), (LN_OF_2,), (LOG2_OF_10,))


class SymbolicBounds:
    """Computes symbolic bounds of polynomials.

    Parameters
    ----------
    forms : NormalForms
        Which made them.
    """

    def __init__(self, forms: NormalForms) -> None:
        self._forms, self._store, self._elementary = forms, forms.store, forms.elementary
        self._ranges = forms.overflows.ranges

    def keeps_sign(self, monomial: Monomial) -> bool:
        """Tell whether a product of atoms is not negative, whatever the data."""
        return all(monomial.count(atom) % 2 == 0 or self._is_not_negative(atom) for atom in set(monomial))

    def _is_not_negative(self, atom: int) -> bool:
        operation = self._store.operation(atom & 0xFFFFFFFF)
        irrational = operation.name == NORMAL_FORM and operation.attribute in _IRRATIONAL
        return irrational or self._forms.extrema.is_not_negative(atom) or self._is_above_zero(atom)

    def is_positive(self, number: Sparse, *, strictly: bool) -> bool:
        """Tell whether a polynomial is not negative, whatever the data; nor 0, if ``strictly``."""
        signs = all(value > 0 and self.keeps_sign(key) for key, value in number.items())
        return signs and (not strictly or any(all(map(self._is_above_zero, key)) for key in number))

    def _is_above_zero(self, atom: int) -> bool:
        """Tell whether a power, a reciprocal or a function written out is above 0 wherever it is defined."""
        if self._elementary.is_a(atom, RECIPROCAL):
            return self.is_positive(self._elementary.arguments[atom], strictly=False)
        term = self._forms.quantifier.origin(atom & 0xFFFFFFFF)
        if term is None or self._store.operation(term).attribute != WRITTEN:
            return self._elementary.is_a(atom, POWER)
        (number,) = sparse(self._forms.polynomials(self._store.arguments(term)[:1], F64), 1)
        return self.is_positive(number, strictly=True)

    def upper(self, number: Sparse, depth: int = _DEPTH) -> float:
        """Return a bound of a polynomial from above; infinite where none is known."""
        rising = [key for key, value in number.items() if key and (value > 0 or not self.keeps_sign(key))]
        if not rising:
            return float(number.get((), 0))
        if (less := self._without_parts(number)) is not None:
            return self.upper(less, depth)
        bounds = [np.inf]
        for falls, among in self.replaced(number) if depth else ():
            found = (self.upper(member, depth - 1) for member in among)
            bounds.append(min(found) if falls else max(found))
            if np.isfinite(bounds[-1]):
                return bounds[-1]
        ended = self._at_ends(number, rising)
        return min(bounds) if ended is None else self.upper(ended, 0)

    def _at_ends(self, number: Sparse, rising: Sequence[Monomial]) -> Sparse | None:
        """Return a polynomial with the greatest finite numbers in place of inputs in monomials that rise.

        ``-L - x`` is at most 0 where L is the greatest number of x's format: running maxima start at -L.
        """
        for key in rising:
            inputs = [atom for atom in key if self._store.operation(atom & 0xFFFFFFFF).name == INPUT]
            rest = without(key, tuple(inputs[:1]))
            if len(inputs) != 1 or not self.keeps_sign(rest):
                return None
            fmt = self._store.operation(inputs[0] & 0xFFFFFFFF).result
            if not isinstance(fmt, FloatFormat) or self._forms.quantifier.format(inputs[0]) != fmt:
                return None
            others = {each: value for each, value in number.items() if each != key}
            number = added(
                others, {rest: abs(Fraction(number[key])) * (fmt.exact(fmt.largest << fmt.padding_bits) or 0)}
            )
        return number

    def _without_parts(self, number: Sparse) -> Sparse | None:
        """Return a polynomial without two extrema of which one is of a part of what the other is of.

        ``max(x, y) - max(x, y, z)`` is at most 0, as of running maxima.
        """
        rising: list[tuple[Monomial, set[Member]]] = []
        falling: list[tuple[Monomial, set[Member]]] = []
        for key, atom, extremum in self._extrema(number):
            factor, rest = Fraction(number[key]), without(key, (atom,))
            sign = -1 if (extremum.which == "max") == (factor < 0) else 1
            among: set[Member] = {
                frozenset((_product(one, rest), sign * factor * of) for one, of in member)
                for member in extremum.members
            }
            (rising if sign > 0 else falling).append((key, among))
        for above, part in rising:
            for below, whole in falling:
                if part <= whole:
                    return {key: value for key, value in number.items() if key not in (above, below)}
        return None

    def replaced(self, number: Sparse) -> Iterator[tuple[bool, list[Sparse]]]:
        """Yield a polynomial with the numbers that an extremum is of in its place, for each extremum.

        It is at most each of them if the first of the pair is true, else at most the greatest.
        """
        for key, atom, extremum in self._extrema(number):
            factor, rest = number[key], without(key, (atom,))
            others = {each: value for each, value in number.items() if each != key}
            among = list(map(dict, extremum.members))
            falls = (extremum.which == "max") == (factor < 0)
            if falls:  # those first of which the most cancels
                among.sort(key=lambda each: -sum(_product(one, rest) in others for one in each))
            elif len(among) > _MEMBERS:
                continue
            yield (
                falls,
                [
                    added(others, {_product(one, rest): of for one, of in member.items()}, factor)
                    for member in among[:_MEMBERS]
                ],
            )

    def _extrema(self, number: Sparse) -> Iterator[tuple[Monomial, int, Extremum]]:
        """Yield extrema in a polynomial that are multiplied with what is not negative."""
        for key in number:
            for atom in key:
                extremum = self._forms.extrema.extremum(atom)
                if extremum is not None and self.keeps_sign(without(key, (atom,))):
                    yield key, atom, extremum

    def has_one(self, number: Sparse) -> bool:
        """Tell whether one of the powers of two that a polynomial is the sum of is of 0, whatever the data.

        Of ``Σ 2^(x - max(x, …))``, that of the greatest x is.
        """
        if not all(value > 0 and self.keeps_sign(key) for key, value in number.items()):
            return False
        if () in number:
            return True
        reached: dict[int, set[Member]] = {}
        for key in number:
            plain, exponent = self._elementary.exponents(key)
            for one, atom, extremum in self._extrema(exponent) if not plain else ():
                factor = Fraction(exponent[one])
                if (extremum.which == "max") != (factor < 0):
                    continue
                others = {each: value for each, value in exponent.items() if each != one}
                rest = without(one, (atom,))
                if all(_contains(other, rest) for other in others):
                    member = {without(each, rest): _ratio(value, -factor) for each, value in others.items()}
                    reached.setdefault(atom, set()).add(frozenset(member.items()))
        return any(self._is_one_of(atom, members) for atom, members in reached.items())

    def _is_one_of(self, atom: int, members: set[Member]) -> bool:
        extremum = self._forms.extrema.extremum(atom)
        return extremum is not None and extremum.members <= members

    def magnitude(self, number: Sparse) -> float:
        """Return a bound of the magnitude of a polynomial; infinite where none is known."""
        return sum(abs(float(value)) * self._of_product(key) for key, value in number.items())

    def _of_product(self, monomial: Monomial) -> float:
        for atom in monomial:  # x / (x + y) is at most 1 where nothing is negative
            if self._elementary.is_a(atom, RECIPROCAL):
                argument, rest = self._elementary.arguments[atom], without(monomial, (atom,))
                if rest in argument and all(of > 0 and self.keeps_sign(one) for one, of in argument.items()):
                    return float(1 / Fraction(argument[rest]))
        plain, exponent = self._elementary.exponents(monomial)
        most = self.upper(exponent) if exponent else 0.0
        if most > _GREATEST:
            return np.inf
        found = float(np.exp2(np.float64(min(most, 1023))))
        for atom in plain:
            found *= self._of_atom(atom)
        return found

    def _of_atom(self, atom: int) -> float:
        term = atom & 0xFFFFFFFF
        operation = self._store.operation(term)
        if operation.name == NORMAL_FORM and operation.attribute in _IRRATIONAL:
            return 1.5
        terms = np.array([term], dtype=np.int32)
        self._ranges.fill(terms)
        return float(np.abs(self._ranges.read(terms, self._forms.quantifier.format(atom))).max())


def _contains(monomial: Monomial, rest: Monomial) -> bool:
    return all(monomial.count(atom) >= rest.count(atom) for atom in rest)


def _ratio(one: Coefficient, other: Fraction) -> Coefficient:
    found = Fraction(one) / other
    return found.numerator if found.denominator == 1 else found


def _product(one: Monomial, other: Monomial) -> Monomial:
    return tuple(sorted((*one, *other), reverse=True))
