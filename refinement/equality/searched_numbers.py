"""The numbers that a search for the greatest or the least goes through, as normal forms.

Numbers that conditions choose count as the extremum that they are, and an extremum as the numbers of which
it is one. A constant with which a search begins counts for nothing where it is known never to be the
extremum, or to be it only beside an equal number whose index is taken.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format
from ..normal_forms.forms import NormalForms
from ..normal_forms.sparse_polynomials import sparse
from ..terms import operations
from ..terms.evaluation import apply
from ..terms.interning import Ids
from ..terms.store import CONSTANT, Operation
from ..terms.traversal import operands
from .pair_conditions import pair_condition

Place = tuple[int, int]
"""A number's normal form, and its index."""


class SearchedNumbers:
    """Numbers that are compared in a search.

    Parameters
    ----------
    forms : NormalForms
        Of the terms.
    """

    def __init__(self, forms: NormalForms) -> None:
        self._forms, self._store = forms, forms.store
        self._plain_numbers: dict[int, int] = {}
        self._terms: dict[tuple[int, Format], int] = {}
        """Of normal forms, in the format in which they are read, a term that has it."""
        self._members_of: dict[tuple[int, Operation, Format], frozenset[int]] = {}

    def places(self, number: int, index: int, which: str, fmt: Format) -> frozenset[Place]:
        """Return the place of a number that has an index; of an extremum, those of what it is one of.

        An infinity that no number is beyond is left out. A magnitude, ``max(x, -x)``, stays one number.
        """
        plain = self.plain(number)
        operation = self._store.operation(plain)
        is_extremum = operation == operations.extremum(fmt, which)
        numbers = set(self.members(operation, plain) if is_extremum else [plain])
        for each in sorted(numbers):
            opposite = (
                self._operands(each)[0] if self._store.operation(each) == operations.negate(fmt) else -1
            )
            if opposite in numbers:
                numbers -= {each, opposite}
                numbers.add(int(apply(self._store, operation, *np.array([opposite, each], dtype=np.int32))))
        return frozenset(
            (self.identity(each, fmt), index) for each in numbers if not self._is_limit(each, which, fmt)
        )

    def deciding(
        self, places: frozenset[Place], which: str, fmt: Format, *, last: bool | None
    ) -> frozenset[Place]:
        """Return the places of a search without the constants that never decide which index it gives.

        Parameters
        ----------
        places : frozenset of Place
            What is searched.
        which : str
            ``max`` or ``min``.
        fmt : Format
            Of the numbers.
        last : bool, optional
            Whether the greatest index of equal numbers is taken, not the least.
        """
        by_term = [(self._terms[number, fmt], (number, index)) for number, index in places]
        constants = [each for each in by_term if self._store.operation(each[0]).name == CONSTANT]
        others = [each for each in by_term if each not in constants]
        if not isinstance(fmt, FloatFormat) or not constants or not others:
            return places
        ends = self._ends(np.array([term for term, _ in others], dtype=np.int32), which, fmt)
        idle = set[Place]()
        for term, place in constants:
            exact = fmt.exact(self._word(term))
            if exact is None:
                continue
            end = float(exact) if which == "max" else -float(exact)
            # Numbers of the format are finite: this is a hypothesis of every equality over the reals.
            reaches = (ends >= end) | (end <= -float(fmt.exact(fmt.largest << fmt.padding_bits) or 0))
            taken = [index >= place[1] if last else index <= place[1] for _, (_, index) in others]
            if (ends > end).any() or (reaches & taken).any():
                idle.add(place)
        return places - idle

    def _ends(self, terms: Ids, which: str, fmt: FloatFormat) -> NDArray[np.float64]:
        """Return what numbers (n,) are never less than; of a search for the least, their opposites."""
        ranges = self._forms.overflows.ranges
        ranges.fill(terms)
        low, high = ranges.read(terms, fmt).T
        low = np.where(self._are_not_negative(terms, fmt), np.fmax(low, 0), low)
        ends: NDArray[np.float64] = low if which == "max" else -high
        return ends

    def _are_not_negative(self, terms: Ids, fmt: Format) -> NDArray[np.bool_]:
        """Tell which numbers (n,) are sums of squares, of magnitudes and of others that are not negative."""
        polynomials = sparse(self._forms.polynomials(terms, fmt), len(terms))
        return np.array([self._forms.extrema.is_sum(each.items()) for each in polynomials])

    def plain(self, number: int) -> int:
        """Return a number that conditions choose as an extremum, whichever of equal ones they choose."""
        inside, pending = set[int](), [number]
        while pending:
            term = pending.pop()
            if term not in inside and term not in self._plain_numbers:
                inside.add(term)
                operation = self._store.operation(term)
                if operation.name == operations.SELECT:
                    pending += self._operands(term)[1:]
                elif _is_of_floats(operation):
                    pending += self._operands(term)
        for term in sorted(inside):
            self._plain_numbers[term] = self._made_plain(term)
        return self._plain_numbers[number]

    def _made_plain(self, term: int) -> int:
        operation = self._store.operation(term)
        if _is_of_floats(operation):
            members = [self._plain_numbers[operand] for operand in self._operands(term)]
            return int(apply(self._store, operation, *np.array(members, dtype=np.int32)))
        if operation.name != operations.SELECT:
            return term
        condition, then, otherwise = self._operands(term)
        found = pair_condition(self._store, condition)
        pair = next((each for each in found.pairs if each.is_of(then, otherwise)), None) if found else None
        if found is None or pair is None:
            return term
        less, _, greater = found.led_by(pair)
        if (less != less[0]).any() or (greater != greater[0]).any() or less[0] == greater[0]:
            return term
        which = "max" if bool(greater[0]) == (then == pair.first) else "min"
        sides = np.array([self._plain_numbers[each] for each in (then, otherwise)], dtype=np.int32)
        return int(apply(self._store, operations.extremum(pair.format, which), *sides))

    def members(self, operation: Operation, term: int) -> list[int]:
        """Return what a term is the greatest or the least of."""
        found, pending, done = [], [term], set[int]()
        while pending:
            each = pending.pop()
            if each in done:
                continue
            done.add(each)
            if self._store.operation(each) == operation:
                pending += self._operands(each)
            else:
                found.append(each)
        return found

    def identity(self, term: int, fmt: Format) -> int:
        """Return a number that is equal for equal normal forms."""
        identity = int(self._forms.identifiers(np.array([term], dtype=np.int32), fmt)[0])
        self._terms.setdefault((identity, fmt), term)
        return identity

    def are_same(self, one: int, other: int, fmt: Format) -> bool:
        """Tell whether two numbers are shown to be the same, whichever of equal ones conditions choose."""
        one, other = self.plain(one), self.plain(other)
        if one == other:
            return True
        named = {self._store.operation(each) for each in (one, other)}
        extrema = [operation for operation in named if operation.name == operations.EXTREMUM]
        if len(extrema) == 1:
            return self._identities(one, extrema[0], fmt) == self._identities(other, extrema[0], fmt)
        return self.identity(one, fmt) == self.identity(other, fmt)

    def _identities(self, term: int, operation: Operation, fmt: Format) -> frozenset[int]:
        """Return the normal forms of what a term is an extremum of; its own would be as deep as it is nested.

        An infinity that no number is beyond is left out, beside others.
        """
        if (term, operation, fmt) not in self._members_of:
            assert isinstance(operation.attribute, tuple)
            which, members = operation.attribute[0], self.members(operation, term)
            others = [member for member in members if not self._is_limit(member, which, fmt)]
            found = frozenset(self.identity(member, fmt) for member in others or members)
            self._members_of[term, operation, fmt] = found
        return self._members_of[term, operation, fmt]

    def _word(self, term: int) -> int:
        return int(self._store.constant_values(np.array([term], dtype=np.int32))[0])

    def _operands(self, term: int) -> list[int]:
        given = operands(self._store, self._store.operation(term), np.array([term], dtype=np.int32))
        return [each for some in given for each in some.tolist()]

    def _is_limit(self, number: int, which: str, fmt: Format) -> bool:
        if not isinstance(fmt, FloatFormat) or self._store.operation(number).name != CONSTANT:
            return False
        infinity = fmt.infinity
        limit = None if infinity is None else infinity | (fmt.sign_mask if which == "max" else 0)
        return self._word(number) == limit


def _is_of_floats(operation: Operation) -> bool:
    return operation.name == operations.EXTREMUM and isinstance(operation.result, FloatFormat)
