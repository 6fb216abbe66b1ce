"""Terms that are used only where a select's condition holds: ``x < 0 ? exp(x) / (1 + exp(x)) : ...``.

Whatever such a term is elsewhere, nothing depends on it. A guard is a comparison of a number with a constant,
and the number is the one that the term's argument is a multiple of, as it is computed; or of two numbers, and
their difference is: ``x > m ? s * exp(m - x) : s``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ...spec.formats import F64, FloatFormat
from ..analysis.literal_constants import LOG2_OF_10, LOG2_OF_E
from ..normal_forms.forms import NormalForms
from ..normal_forms.sparse_polynomials import Monomial, Sparse, added, sparse
from ..terms import operations
from ..terms.interning import Ids
from ..terms.operations import Sum
from ..terms.store import CONSTANT
from ..terms.traversal import by_operation, operands, within

_PASSED = (operations.FUSED, operations.NEGATE, operations.CONVERT)
"""Operations that make one number from another, where all of their other operands are constants."""

_MOST_STEPS = 16
"""Operations between a number that is compared and an argument: a scaling, a conversion, an opposite."""


_IRRATIONAL: Mapping[str, Fraction] = MappingProxyType(
    {LOG2_OF_E: Fraction(1443, 1000), LOG2_OF_10: Fraction(3322, 1000)}
)
"""Factors of exponents of 2, and about how great they are."""


class Guard(NamedTuple):
    """A comparison that holds wherever a term is used.

    Attributes
    ----------
    left, right : int
        What is compared.
    format : FloatFormat
        As what.
    signs : tuple of bool
        Whether the difference may be negative, 0 and positive.
    """

    left: int
    right: int
    format: FloatFormat
    signs: tuple[bool, bool, bool]


class GuardedTerms:
    """Finds the guards of terms.

    Parameters
    ----------
    forms : NormalForms
        Of the terms.
    roots : array
        Terms on which everything depends that is computed.
    """

    def __init__(self, forms: NormalForms, roots: Ids) -> None:
        self._forms, self._store = forms, forms.store
        store = forms.store
        self._roots = {int(root) for root in np.unique(roots)}
        self._users: dict[int, set[tuple[int, int]]] = {}
        for operation, members in by_operation(store, within(store, roots)):
            given = operands(store, operation, members)
            if operation.name == operations.SELECT:
                self._note_selects(members)
                given = given[:1]
            for column in given:
                users = np.broadcast_to(members, column.shape) if len(column) == len(members) else None
                if users is None:  # elements of vectors
                    users = np.repeat(members, len(column) // len(members))
                for argument, user in zip(column.tolist(), users.tolist(), strict=True):
                    self._users.setdefault(argument, set()).add((user, -1))

    def _note_selects(self, members: Ids) -> None:
        for term, (condition, *sides) in zip(
            members.tolist(), self._store.arguments(members)[:, :3].tolist(), strict=True
        ):
            for place, side in enumerate(sides):
                self._users.setdefault(side, set()).add((term, condition << 1 | place))

    def bound(self, term: int, argument: int, exponents: Sequence[Sparse], most: int) -> bool:
        """Tell whether exponents of 2, made of an argument, are at most a number wherever a term is used."""
        for guard in self._of(term, argument):
            sides = np.array([guard.left, guard.right], dtype=np.int32)
            left, right = sparse(self._forms.polynomials(sides, guard.format), 2)
            number, (falls, _, rises) = added(left, right, -1), guard.signs
            multiples = [number, *(times_irrational(self._forms, number, name) for name in _IRRATIONAL)]
            if all(
                any(self._is_at_most(exponent, of, most, falls, rises) for of in multiples)
                for exponent in exponents
            ):
                return True
        return False

    def _is_at_most(self, exponent: Sparse, number: Sparse, most: int, falls: bool, rises: bool) -> bool:
        """Tell whether an exponent is a multiple of a number of known sign, but for a small constant."""
        key = max(number, key=len, default=())
        if not key or key not in exponent:
            return False
        ratio = Fraction(exponent[key]) / Fraction(number[key])
        apart = added(exponent, {each: ratio * value for each, value in number.items()}, -1)
        constant = Fraction(apart.pop((), 0))
        for name, about in _IRRATIONAL.items():
            constant += about * Fraction(apart.pop(_irrational(self._forms, name), 0))
        return not apart and constant <= most and not (rises if ratio > 0 else falls)

    def _of(self, term: int, argument: int) -> Iterator[Guard]:
        """Yield what holds wherever a term is used, of the number that its argument is a multiple of."""
        chain = self._chain(argument)
        differences = [self._subtracted(each) for each in chain]
        for way in sorted(self._ways(term)):
            condition, place = way >> 1, way & 1
            operation = self._store.operation(condition)
            if operation.name != operations.COMPARE or not isinstance(operation.operands[0], FloatFormat):
                continue
            relation = str(operation.attribute).removesuffix("u")
            sides = self._store.arguments(np.array([condition], dtype=np.int32))[0, :2]
            numbers = sides[~self._store.are(CONSTANT, sides)].tolist()
            if relation not in operations.OUTCOMES or not numbers:
                continue
            alone = len(numbers) == 1 and not chain.isdisjoint(self._opposites(numbers[0]))
            if (alone or set(sides.tolist()) in differences) and not self._is_used_without(term, way):
                holds = operations.OUTCOMES[relation]
                signs = holds if place == 0 else (not holds[0], not holds[1], not holds[2])
                yield Guard(int(sides[0]), int(sides[1]), operation.operands[0], signs)

    def _chain(self, argument: int) -> set[int]:
        """Return the numbers that an argument is made of by constants alone, itself too."""
        found, term = {argument}, argument
        for _ in range(_MOST_STEPS):
            operation = self._store.operation(term)
            if operation.name not in _PASSED or not isinstance(operation.operands[0], FloatFormat):
                break
            columns = operands(self._store, operation, np.array([term], dtype=np.int32))
            given = np.unique(np.concatenate(columns))
            numbers = given[~self._store.are(CONSTANT, given)]
            if len(numbers) != 1:
                break
            term = int(numbers[0])
            found.add(term)
        return found

    def _subtracted(self, term: int) -> Set[int] | None:
        """Return the two numbers that a term is the difference of, None if it is none."""
        operation = self._store.operation(term)
        how = operation.attribute
        if operation.name != operations.FUSED or not isinstance(how, Sum) or how[:2] != (0, 2):
            return None
        first, second = self._store.arguments(np.array([term], dtype=np.int32))[0, :2].tolist()
        for kept, other in ((first, second), (second, first)):
            if opposite := self._opposites(other) - {other}:
                return opposite | {kept}
        return None

    def _opposites(self, number: int) -> set[int]:
        """Return a number, and what it is the opposite of."""
        operation = self._store.operation(number)
        if operation.name != operations.NEGATE:
            return {number}
        return {number, int(self._store.arguments(np.array([number], dtype=np.int32))[0, 0])}

    def _ways(self, term: int) -> set[int]:
        """Return the sides of choices through which a term is used somewhere."""
        found, done, pending = set[int](), {term}, [term]
        while pending:
            for user, way in self._users.get(pending.pop(), ()):
                if way >= 0:
                    found.add(way)
                if user not in done:
                    done.add(user)
                    pending.append(user)
        return found

    def _is_used_without(self, term: int, guard: int) -> bool:
        """Tell whether a term is used otherwise than through a side of choices by one condition."""
        done, pending = {term}, [term]
        while pending:
            each = pending.pop()
            if each in self._roots:
                return True
            for user, way in self._users.get(each, ()):
                if way != guard and user not in done:
                    done.add(user)
                    pending.append(user)
        return False


def _irrational(forms: NormalForms, name: str) -> Monomial:
    return (int(forms.quantifier.read(forms.quantifier.irrational(name), F64)[()]),)


def times_irrational(forms: NormalForms, number: Sparse, name: str, factor: int = 1) -> Sparse:
    """Return an irrational number times a polynomial, times an integer."""
    (atom,) = _irrational(forms, name)
    return {tuple(sorted((*key, atom), reverse=True)): factor * value for key, value in number.items()}
