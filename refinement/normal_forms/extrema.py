"""Normal forms of maxima and minima of polynomials: associative, commutative, idempotent.

Over the reals ``max`` and ``min`` are associative, commutative and idempotent. What all of the numbers have
in common stands outside: ``max(x + z, y + z)`` is ``max(x, y) + z``, ``max(2 x, 2 y)`` is ``2 max(x, y)``, so
for every factor that is not negative, and ``min(x, y)`` is ``-max(-x, -y)``. Of two limits in the right order
either may be applied first: ``min(max(x, low), high)`` is ``max(low, min(x, high))``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import gcd
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ...spec.formats import F64, IntegerFormat
from ..terms.operations import OPPOSITE_EXTREMES
from ..terms.store import INPUT, NORMAL_FORM, Operation
from .readings import Quantifier
from .sparse_polynomials import Coefficient, Monomial, Sparse, added, common_atoms, ratio, without

MOST = 1024
"""Numbers of which one is the greatest or the least, at most; of more, it depends on the order."""

Member = frozenset[tuple[Monomial, Coefficient]]
"""A polynomial."""

_ONE: Monomial = ()
"""The monomial of constants."""

_ZERO: Member = frozenset()
_LABELS: Mapping[str, Operation] = MappingProxyType(
    {which: Operation(NORMAL_FORM, F64, attribute=(which,)) for which in ("max", "min")}
)


class Extremum(NamedTuple):
    """The maximum or minimum of some numbers.

    Attributes
    ----------
    which : str
        ``max`` or ``min``.
    members : frozenset of Member
        The numbers, two or more.
    """

    which: str
    members: frozenset[Member]


class Extrema:
    """Makes normal forms of extrema of polynomials.

    Parameters
    ----------
    quantifier : Quantifier
        Of the store.
    is_not_negative : callable
        Tells which atoms are functions that are not negative, whatever their arguments.
    """

    def __init__(self, quantifier: Quantifier, is_not_negative: Callable[[int], bool]) -> None:
        self._quantifier = quantifier
        self._is_not_negative = is_not_negative
        self._atoms: dict[Extremum, int] = {}
        self._of_atoms: dict[int, Extremum] = {}
        self._leads: dict[int, Monomial] = {}
        """Of extrema without constants among their members, the least monomial; its coefficient is 1."""
        self._signs: dict[int, bool] = {}
        self.magnitudes: dict[int, Member] = {}
        """The numbers that atoms are the magnitudes of."""

    def of(self, which: str, members: Iterable[Sparse], *, whole: bool) -> Sparse:
        """Return the ``max`` or ``min`` of polynomials as a polynomial; if `whole`, they are of integers."""
        given = {frozenset(member.items()) for member in members}
        return self._merged(which, given) or self._of(which, given, whole)

    def _merged(self, which: str, given: set[Member]) -> Sparse | None:
        """Return the extremum of extrema of the same kind, and of single atoms, in little time."""
        flat: set[Member] = set()
        leads: list[Monomial] = []
        for member in given:
            atom = _single(member)
            if atom is None:
                return None
            inner = self._of_atoms.get(atom)
            if inner is None:
                flat.add(member)
                leads.append((atom,))
            elif inner.which == which and atom in self._leads:
                flat |= inner.members
                leads.append(self._leads[atom])
            else:
                return None
        if len(flat) < 2 or len(flat) > MOST:
            return None
        atom = self._atom(Extremum(which, frozenset(flat)))
        self._leads.setdefault(atom, min(leads))
        return {(atom,): 1}

    def _of(self, which: str, given: set[Member], whole: bool) -> Sparse:
        flat: set[Member] = set()
        for member in given:
            flat |= self._flattened(which, member)
        flat = self._undominated(which, flat if len(flat) <= MOST else given)
        if len(flat) == 1:
            return dict(*flat)
        if (magnitudes := self._magnitude(which, flat)) is not None:
            return magnitudes
        shift, flat = _without_common_terms(flat)
        factor, atoms, flat = self._without_common_factors(which, flat, whole)
        if factor < 0:
            which = OPPOSITE_EXTREMES[which]
        found = self._clamped(flat, whole) if which == "min" and len(flat) == 2 else None
        if found is None:
            found = {(self._made(which, flat),): 1}
        return added(shift, _multiplied(found, factor, atoms))

    def _made(self, which: str, members: Iterable[Member]) -> int:
        found = frozenset(members)
        atom = self._atom(Extremum(which, found))
        if not any(_constant(monomial) for monomial in found) and _ZERO not in found:
            self._leads.setdefault(atom, _lead(found))
        return atom

    def _atom(self, extremum: Extremum) -> int:
        if extremum not in self._atoms:
            term = self._quantifier.store.apply(_LABELS[extremum.which], len(self._atoms))
            atom = int(self._quantifier.read(term, F64))
            self._atoms[extremum], self._of_atoms[atom] = atom, extremum
            number = min(extremum.members, key=sorted)
            if extremum.which == "max" and extremum.members == {number, _opposite(number)}:
                self.magnitudes[atom] = number
        return self._atoms[extremum]

    def extremum(self, atom: int) -> Extremum | None:
        """Return of what an atom is the greatest or the least; None if it is something else."""
        return self._of_atoms.get(atom)

    # -- members
    def _flattened(self, which: str, member: Member) -> set[Member]:
        """Return the numbers of which a polynomial is the extremum: ``c·max(x, y) + z`` is of two."""
        found: tuple[Monomial, Coefficient] | None = None
        for monomial, coefficient in member:
            if any(atom in self._of_atoms for atom in monomial):
                if found is not None:
                    return {member}
                found = monomial, coefficient
        if found is None:
            return {member}
        monomial, coefficient = found
        wanted = which if coefficient > 0 else OPPOSITE_EXTREMES[which]
        for atom in monomial:
            inner, rest = self._of_atoms.get(atom), without(monomial, (atom,))
            if inner is not None and inner.which == wanted and self._is_product(rest):
                others = {key: value for key, value in member if key != monomial}
                return {
                    frozenset(added(others, _multiplied(dict(each), coefficient, rest)).items())
                    for each in inner.members
                }
        return {member}

    def _undominated(self, which: str, members: set[Member]) -> set[Member]:
        """Return the numbers without those that others exceed by a constant, or that are no limit."""
        choose = max if which == "max" else min
        limits: dict[Member, Coefficient] = {}
        for member in members:
            constant = _constant(member)
            part = member - {(_ONE, constant)} if constant else member
            limits[part] = choose(limits[part], constant) if part in limits else constant
        found = {part | {(_ONE, constant)} if constant else part for part, constant in limits.items()}
        limit, sign = limits.get(_ZERO), 1 if which == "max" else -1
        if limit is None:
            return found
        idle = sign * limit <= 0 and any(
            self._is_limited(part, constant, limits, sign) for part, constant in limits.items()
        )
        if idle or any(self._is_within(part, constant, limit, sign) for part, constant in limits.items()):
            found.remove(frozenset({(_ONE, limit)}) if limit else _ZERO)
        return found

    def _is_limited(
        self, part: Member, constant: Coefficient, limits: Mapping[Member, Coefficient], sign: int
    ) -> bool:
        """Tell whether a number, or its opposite beside it, is at least 0; at most, if `sign` is negative."""
        if not part or sign * constant < 0:
            return False
        if all(sign * value > 0 and self._is_product(key) for key, value in part):
            return True
        return sign * limits.get(_opposite(part), -sign) >= 0

    def _is_within(self, part: Member, constant: Coefficient, limit: Coefficient, sign: int) -> bool:
        """Tell whether a number is an integer whose format ends before a limit."""
        atom = None if constant or not part else _single(part)
        if atom is None:
            return False
        operation = self._quantifier.store.operation(int(self._quantifier.terms(np.array([atom]))[0]))
        fmt = self._quantifier.format(atom)
        if operation.name != INPUT or fmt != operation.result or not isinstance(fmt, IntegerFormat):
            return False
        return fmt.minimum >= limit if sign > 0 else fmt.maximum <= limit

    def _magnitude(self, which: str, members: set[Member]) -> Sparse | None:
        """Return the magnitude of a product as the product of those of its factors."""
        if len(members) != 2 or any(len(member) != 1 for member in members):
            return None
        ((monomial, value),), ((other, opposite),) = (sorted(member) for member in members)
        if monomial != other or value != -opposite or not monomial:
            return None
        size, factors = _size(value), list[int]()
        for atom in sorted(set(monomial), reverse=True):
            count = monomial.count(atom)
            if count % 2:
                factors.append(self.magnitude(atom))
                count -= 1
            factors += [atom] * count
        return {tuple(sorted(factors, reverse=True)): size if which == "max" else -size}

    def magnitude(self, atom: int) -> int:
        """Return the atom that is the magnitude of another one."""
        if self.is_not_negative(atom):
            return atom
        return self._made("max", (frozenset({((atom,), sign)}) for sign in (1, -1)))

    # -- what all have in common
    def _without_common_factors(
        self, which: str, members: set[Member], whole: bool
    ) -> tuple[Coefficient, Monomial, set[Member]]:
        """Return a coefficient and atoms that are not negative, and members without them.

        The greatest coefficient of the least monomial is then 1, or of integers positive. Where it has both
        signs, the extremum is a maximum.
        """
        lead = _lead(members)
        greatest = max((value for member in members for key, value in member if key == lead), key=_size)
        ambiguous = any((lead, -greatest) in member for member in members)
        factor: Coefficient = greatest
        if ambiguous:
            factor = _size(greatest) if which == "max" else -_size(greatest)
        if whole:
            sign = -1 if factor < 0 else 1
            factor = sign * gcd(*(int(value) for member in members for _, value in member))
        atoms = tuple(
            atom
            for atom in common_atoms([key for member in members for key, _ in member])
            if self.is_not_negative(atom)
        )
        if factor != 1 or atoms:
            members = {
                frozenset((without(key, atoms), ratio(value, factor)) for key, value in member)
                for member in members
            }
        return factor, atoms, members

    def is_not_negative(self, atom: int) -> bool:
        """Tell whether an atom is known not to be negative."""
        if atom not in self._signs:
            self._signs[atom] = self._is_not_negative(atom) or self._is_magnitude(atom)
        return self._signs[atom]

    def is_sum(self, polynomial: Iterable[tuple[Monomial, Coefficient]]) -> bool:
        """Tell whether a sum is known not to be negative: of squares, and of what is not negative."""
        return all(value > 0 and self._is_product(monomial) for monomial, value in polynomial)

    def _is_product(self, monomial: Monomial) -> bool:
        """Tell whether a product is known not to be negative: of squares, and of what is not negative."""
        return all(self.is_not_negative(atom) or monomial.count(atom) % 2 == 0 for atom in set(monomial))

    def _is_magnitude(self, atom: int) -> bool:
        extremum = self._of_atoms.get(atom)
        if extremum is None:
            return False
        signs = map(self.is_sum, extremum.members)
        if extremum.which == "min":
            return all(signs)
        return any(signs) or any(_opposite(member) in extremum.members for member in extremum.members)

    # -- limits
    def _clamped(self, members: set[Member], whole: bool) -> Sparse | None:
        """Return ``min(high, max(low, …))`` as ``max(low, min(high, …))``; None of what is none."""
        limits = [member for member in members if _is_constant(member)]
        if len(limits) != 1:
            return None
        (high,), (other,) = limits, members - set(limits)
        among = self._flattened("max", other)
        lower = [each for each in among if _is_constant(each)]
        if len(lower) != 1 or len(among) < 2:
            return None
        (low,) = lower
        if _constant(low) > _constant(high):
            return None
        inner = self.of("max", map(dict, among - {low}), whole=whole)
        below = self.of("min", [dict(high), inner], whole=whole)
        return {(self._made("max", {low, frozenset(below.items())}),): 1}


def _single(member: Member) -> int | None:
    """Return the atom that a polynomial is; None if it is more."""
    if len(member) != 1:
        return None
    ((monomial, coefficient),) = member
    return monomial[0] if len(monomial) == 1 and coefficient == 1 else None


def _opposite(member: Member) -> Member:
    return frozenset((key, -value) for key, value in member)


def _is_constant(member: Member) -> bool:
    return not member or (len(member) == 1 and _constant(member) != 0)


def _constant(member: Member) -> Coefficient:
    return next((coefficient for monomial, coefficient in member if not monomial), 0)


def _lead(members: Iterable[Member]) -> Monomial:
    """Return the least monomial that is no constant."""
    return min(key for member in members for key, _ in member if key)


def _size(value: Coefficient) -> Coefficient:
    return max(value, -value)


def _without_common_terms(members: set[Member]) -> tuple[Sparse, set[Member]]:
    """Return what is added to all members, and members without it.

    A limit, which is a constant, need not have the constant that the others have.
    """
    first, *others = members
    shift = dict(first.intersection(*others))
    shift.pop(_ONE, None)
    constants = {_constant(member) for member in members if not _is_constant(member)}
    if len(constants) == 1 and (constant := constants.pop()):
        shift[_ONE] = constant
    if shift:
        members = {frozenset(added(dict(member), shift, -1).items()) for member in members}
    return shift, members


def _multiplied(polynomial: Sparse, factor: Coefficient, atoms: Monomial) -> Sparse:
    if factor == 1 and not atoms:
        return polynomial
    return {
        tuple(sorted((*key, *atoms), reverse=True)): ratio(value * factor, 1)
        for key, value in polynomial.items()
    }
