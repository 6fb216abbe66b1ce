"""Case splits on signs: equality of terms that select by the sign of a number.

``x > 0 ? x : exp(x) - 1`` and ``max(x, 0) + exp(min(x, 0)) - 1`` are the same where x is positive, and where
it is negative. Under a sign every choice by it is made, and what is left is compared. Where the number is 0,
the two sides of an extremum are equal, so that either may stand for it; comparisons must then come out as
they do for one of the signs, or the number is put in for what it is compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import F32, FloatFormat, Format
from ..normal_forms.condition_forms import Form
from ..normal_forms.forms import NormalForms
from ..normal_forms.sparse_polynomials import Coefficient, Monomial, sparse
from ..terms import operations
from ..terms.evaluation import apply
from ..terms.interning import Ids
from ..terms.store import CONCATENATION, CONSTANT, LEAVES, NORMAL_FORM, VECTOR, Operation
from ..terms.traversal import operands
from .instances_of_pairs import unequal_pairs

Unequal = Callable[[Ids, Ids, Format], NDArray[np.intp]]
"""Tells which terms (n,) are not shown equal to others."""

_MOST_TERMS = 4096
"""Terms that a pair depends on, at most."""

_MOST_NUMBERS = 6
"""Numbers by which a pair chooses, at most."""

_DEPTH = 3
"""Numbers of which the signs are supposed at once."""

_NEGATIVE, _NOTHING, _POSITIVE = -1, 0, 1

_EQUALITIES = ("eq", "ne")

Number = frozenset[tuple[Monomial, Coefficient]] | Form
"""A polynomial of which only the sign matters: its leading coefficient is 1. Or a comparison of integers.

A comparison is positive where it holds, else negative.
"""


class SignCases:
    """Compares terms under assumed signs.

    Parameters
    ----------
    forms : NormalForms
        Of the terms.
    unequal : callable
        Compares terms without suppositions; terms that are no number for any inputs are equal to nothing.
    """

    def __init__(self, forms: NormalForms, unequal: Unequal) -> None:
        self._forms, self._store, self._unequal = forms, forms.store, unequal
        self._is_of_reals = forms.quantifier.computed_equality.is_of_reals
        self._signs: dict[tuple[int, int, Format], tuple[Number, int] | None] = {}
        self._kept = frozenset[Number]()

    def unequal(self, left: Ids, right: Ids, fmt: Format) -> NDArray[np.intp]:
        """Return which terms (n,) are not shown equal; after the first that is not, none is looked at."""

        def are_equal(pair: Sequence[int]) -> bool:
            self._kept = frozenset()
            plain = self._written((pair[0], pair[1]))
            if plain is None:
                return False
            if self._are_equal(plain, fmt, _DEPTH, {}, given=True):
                return True
            self._kept = frozenset(self._numbers(plain))
            kept = self._written((pair[0], pair[1])) if self._kept else plain
            return kept not in (None, plain) and self._are_equal(kept, fmt, _DEPTH, {}, given=True)

        return unequal_pairs(self._store, left, right, are_equal)

    def _are_equal(
        self,
        pair: tuple[int, ...],
        fmt: Format,
        depth: int,
        supposed: Mapping[Number, int],
        *,
        given: bool = False,
    ) -> bool:
        one, other = pair
        if one == other:
            return True
        if not given:
            sides = np.array(pair, dtype=np.int32)
            if isinstance(fmt, FloatFormat) and self._forms.quantifier.classes.never_finite(sides, fmt).any():
                return False
            if not len(self._unequal(sides[:1], sides[1:], fmt)):
                return True
        if not depth:
            return False
        number, outcomes = self._chosen_by(pair)
        if number is None:
            return False
        before = supposed.get(number, _NOTHING)
        if before != _NOTHING and all(outcome[1] == outcome[before + 1] for outcome in outcomes):
            return self._holds(pair, number, before, fmt, depth, supposed)
        signs = [_NEGATIVE, _POSITIVE]
        if outcomes and not any(all(outcome[1] == outcome[side] for outcome in outcomes) for side in (0, 2)):
            signs.append(_NOTHING)
        possible = [sign for sign in signs if _is_possible({**supposed, number: sign})]
        return all(self._holds(pair, number, sign, fmt, depth, supposed) for sign in possible)

    def _holds(
        self,
        pair: tuple[int, ...],
        number: Number,
        sign: int,
        fmt: Format,
        depth: int,
        supposed: Mapping[Number, int],
    ) -> bool:
        roots = self._roots(number) if sign == _NOTHING else [None]
        resolved = [self._resolved(pair, number, sign, root) for root in roots]
        now = {**supposed, number: sign}
        return bool(roots) and all(
            each is not None and self._are_equal(each, fmt, depth - 1, now) for each in resolved
        )

    # -- what is chosen by
    def _chosen_by(self, pair: tuple[int, ...]) -> tuple[Number | None, list[tuple[bool, bool, bool]]]:
        """Return the number that was made first of those by which a pair chooses, and how comparisons end."""
        found = self._numbers(pair)
        if not found or len(found) > _MOST_NUMBERS:
            return None, []
        number = next(iter(found))
        outcomes = []
        for term in self._reached(pair, self._below):
            operation = self._store.operation(term)
            sign = self._sign(operation, term) if operation.name == operations.COMPARE else None
            if sign is not None and sign[0] == number and isinstance(operation.operands[0], FloatFormat):
                holds = operations.OUTCOMES[_relation(operation)]
                outcomes.append(holds if sign[1] > 0 else (holds[2], holds[1], holds[0]))
        return number, outcomes

    def _numbers(self, pair: tuple[int, ...]) -> dict[Number, None]:
        """Return the numbers by which a pair chooses, in the order in which they are made."""
        signs = [
            self._sign(self._store.operation(each), each)
            for each in sorted(self._reached(pair, self._inside))
        ]
        return dict.fromkeys(number for number, _ in filter(None, signs))

    def _sign(self, operation: Operation, term: int) -> tuple[Number, int] | None:
        """Return the number by whose sign a term chooses, and the sign of its factor; None of other terms."""
        chooses = operation.name == operations.EXTREMUM or _relation(operation) in operations.OUTCOMES
        if not chooses:
            return None
        fmt = operation.operands[0]
        if not isinstance(fmt, FloatFormat):
            return self._integers(term) if operation.name == operations.COMPARE else None
        left, right = self._store.arguments(np.array([term]))[0, :2].tolist()
        if _relation(operation) in _EQUALITIES and not self._is_of_reals(left, right):
            return None
        key = left, right, fmt
        if key not in self._signs:
            self._signs[key] = self._difference(left, right, fmt)
        return self._signs[key]

    def _integers(self, condition: int) -> tuple[Number, int] | None:
        found = self._forms.conditions.variable(condition)
        return None if found is None else (found[0], -1 if found[1] else 1)

    def _difference(self, left: int, right: int, fmt: Format) -> tuple[Number, int] | None:
        sides = np.array([left, right], dtype=np.int32)
        if isinstance(fmt, FloatFormat) and self._forms.quantifier.classes.never_finite(sides, fmt).any():
            return None
        (found,) = sparse(self._forms.difference(sides[:1], sides[1:], fmt), 1)
        if not any(found):  # a number, whose sign is known
            return None
        lead = Fraction(found[max(found)])
        return frozenset((key, Fraction(value) / lead) for key, value in found.items()), 1 if lead > 0 else -1

    # -- terms under a supposition
    def _written(self, pair: tuple[int, ...]) -> tuple[int, ...] | None:
        """Return terms with known functions in place of those that a library writes out."""
        return self._rebuilt(pair, lambda term, made: made)

    def _resolved(
        self, pair: tuple[int, ...], number: Number, sign: int, root: tuple[int, int] | None
    ) -> tuple[int, ...] | None:
        """Return terms where a number has a sign, and an input a root's value; None if they are too many."""

        def choice(term: int, made: int) -> int:
            if root is not None and term == root[0]:
                return root[1]
            operation = self._store.operation(term)
            of = self._sign(operation, term)
            if of is None or of[0] != number:
                return made
            side = sign * of[1]
            if operation.name == operations.COMPARE:
                of_integers = not isinstance(operation.operands[0], FloatFormat)
                holds = side > 0 if of_integers else operations.OUTCOMES[_relation(operation)][side + 1]
                return int(self._store.constants(int(holds), 1))
            assert isinstance(operation.attribute, tuple)
            first = (side >= 0) == (operation.attribute[0] == "max")
            return int(self._store.arguments(np.array([made]))[0, 0 if first else 1])

        return self._rebuilt(pair, choice)

    def _roots(self, number: Number) -> list[tuple[int, int]]:
        """Return the term that a number is but for a constant, and each word for which it is 0.

        None is returned where the term is no input, or the constant no number of its format.
        """
        products = [each for each in number if isinstance(each, tuple)]
        constant = -sum((value for key, value in products if not key), Fraction(0))
        terms = [key for key, _ in products if key]
        if len(terms) != 1 or len(terms[0]) != 1:
            return []
        quantity = terms[0][0]
        (term,) = self._forms.quantifier.terms(np.array([quantity], dtype=np.int64)).tolist()
        word = np.float32(float(constant))
        if self._store.operation(term).name != "input" or self._forms.quantifier.format(quantity) != F32:
            return []
        if Fraction(float(word)) != constant:
            return []
        words = [word] if constant else [np.float32(0.0), np.float32(-0.0)]
        return [(term, int(self._store.constants(int(each.view(np.uint32)), F32.bits))) for each in words]

    def _rebuilt(self, pair: tuple[int, ...], change: Callable[[int, int], int]) -> tuple[int, ...] | None:
        """Return terms of which each is changed, from the inputs up; None where there are too many."""
        known: dict[int, int] = {}
        terms = self._reached(pair, self._below)
        if not terms:
            return None
        for term in terms:
            known[term] = change(term, self._made(term, known))
        return tuple(known[each] for each in pair)

    def _made(self, term: int, known: Mapping[int, int]) -> int:
        operation = self._store.operation(term)
        if (function := self._function(operation, term)) is not None:
            return known[function]
        if operation.name in LEAVES or operation.name == NORMAL_FORM:
            return term
        given = [known[operand] for operand in self._operands(operation, term)]
        if operation.name == VECTOR:
            return int(self._store.vectors(np.array(given, dtype=np.int32)))
        if operation.name == operations.SELECT and self._store.are(CONSTANT, np.array(given[:1]))[0]:
            return given[1 if self._store.constant_values(np.array(given[:1]))[0] else 2]
        if given == self._operands(operation, term):
            return term
        if operation.name == CONCATENATION:
            return int(self._store.apply(operation, *given))
        return int(apply(self._store, operation, *given))

    # -- traversal
    def _reached(self, pair: tuple[int, ...], below: Callable[[int], Iterator[int]]) -> list[int]:
        """Return the terms that a pair depends on, what is depended on first; none if they are too many."""
        found: list[int] = []
        done, pending = set[int](), [(each, False) for each in pair]
        while pending:
            term, expanded = pending.pop()
            if expanded:
                found.append(term)
            elif term not in done:
                done.add(term)
                if len(done) > _MOST_TERMS:
                    return []
                pending.append((term, True))
                pending += [(each, False) for each in below(term)]
        return found

    def _below(self, term: int) -> Iterator[int]:
        operation = self._store.operation(term)
        function = self._function(operation, term)
        yield from self._operands(operation, term) if function is None else [function]

    def _inside(self, term: int) -> Iterator[int]:
        """Yield what a term depends on, but for what is clamped before it is rounded to an integer."""
        operation = self._store.operation(term)
        if operation.name != CONCATENATION and not self._forms.quantifier.coarse.are(np.array([term]))[0]:
            yield from self._operands(operation, term)

    def _operands(self, operation: Operation, term: int) -> list[int]:
        given = operands(self._store, operation, np.array([term], dtype=np.int32))
        return [each for some in given for each in some.tolist()]

    def _function(self, operation: Operation, term: int) -> int | None:
        """Return the known function that a term is, where a library writes it out.

        A choice by a number that is kept is none: ``x > 20 ? x : log(1 + exp(x))`` as a whole is ``log(1 +
        exp(x))`` to 19 bits, but where the formula chooses so, too, it is to be that choice.
        """
        if operation.result.bits != F32.bits or operation.name not in (operations.SELECT, operations.FUSED):
            return None
        if operation.name == operations.SELECT and self._kept:
            condition = self._operands(operation, term)[0]
            sign = self._sign(self._store.operation(condition), condition)
            if sign is not None and sign[0] in self._kept:
                return None
        (found,) = self._forms.written_out(np.array([term], dtype=np.int32), F32).tolist()
        return None if found < 0 else int(found)


def _relation(operation: Operation) -> str:
    """Return the relation of a comparison, whether or not it holds of what is no number."""
    return str(operation.attribute).removesuffix("u") if operation.name == operations.COMPARE else ""


def _is_possible(supposed: Mapping[Number, int]) -> bool:
    """Tell whether numbers may have some signs, or be 0, as far as those tell that differ by constants."""
    limits: dict[Number, tuple[Fraction | None, Fraction | None]] = {}
    for number, sign in supposed.items():
        products = [each for each in number if isinstance(each, tuple)]
        if len(products) < len(number):
            continue
        bound = -sum((Fraction(value) for key, value in products if not key), Fraction(0))
        rest = frozenset(product for product in products if product[0])
        least, most = limits.get(rest, (None, None))
        if sign >= 0:
            least = bound if least is None else max(least, bound)
        if sign <= 0:
            most = bound if most is None else min(most, bound)
        limits[rest] = least, most
    return all(least is None or most is None or least <= most for least, most in limits.values())
