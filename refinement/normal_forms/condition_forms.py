"""Normal forms of conditions: algebraic normal forms over normalised comparisons.

A condition is a polynomial over the field of two elements (its algebraic normal form), in which a product of
a bit with itself is the bit. Its variables are comparisons of a polynomial with 0, written as ``<`` or ``==``
of one whose leading coefficient is 1 or -1, equalities of floats as they are computed, and other bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import CONSTANT, Operation, bits, is_raw
from ..terms.traversal import by_operation
from .element_functions import ElementFunctions
from .polynomials import Polynomials
from .readings import Quantifier
from .sparse_polynomials import Sparse, sparse

_MOST_MONOMIALS = 64
"""Of a condition; another one is a variable itself."""

_LESS, _EQUAL = "<", "=="

Form = frozenset[frozenset[int]]
"""Products of variables that are added modulo 2."""

_ALWAYS: Form = frozenset((frozenset(),))
_NEVER: Form = frozenset()


class ConditionForms:
    """Numbers conditions by their normal forms.

    Parameters
    ----------
    quantifier : Quantifier
        Of the store.
    difference : callable
        Returns the polynomials of differences of terms in a format.
    identifiers : callable
        Numbers the polynomials of terms that are read in a format.
    functions : ElementFunctions
        Of the store.
    numbers : dict
        Numbers of forms and of their variables, those of other normal forms of the store too.
    """

    def __init__(
        self,
        quantifier: Quantifier,
        difference: Callable[[Ids, Ids, Format], Polynomials],
        identifiers: Callable[[Ids, Format], NDArray[np.int32]],
        functions: ElementFunctions,
        numbers: dict[Hashable, int],
    ) -> None:
        self._quantifier, self._store = quantifier, quantifier.store
        self._difference, self._identifiers = difference, identifiers
        self._functions, self._numbers = functions, numbers
        self._computed = quantifier.computed_equality
        self._forms: dict[int, Form] = {}
        self._rounded: frozenset[int] = frozenset()
        """Variables that are comparisons of rounded numbers."""
        self._opposites: dict[int, int] = {}
        """Of comparisons ``x < 0``, the variable of ``-x < 0``."""

    def of(self, conditions: Ids) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Return numbers of conditions (n,), the same for opposites, and which are the opposite of theirs.

        Raises
        ------
        ExpansionError
            If there are too many products in what is compared.
        """
        some, places = np.unique(conditions, return_inverse=True)
        self._expand(some)
        forms = [self._forms[term] for term in some.tolist()]
        opposite = np.array([frozenset() in form for form in forms], dtype=bool)
        plain = [form ^ _ALWAYS if frozenset() in form else form for form in forms]
        numbers = [self._number(("form", form)) for form in plain]
        return np.array(numbers, dtype=np.int32)[places], opposite[places]

    def variable(self, condition: int) -> tuple[Form, bool] | None:
        """Return the variable that a condition is or is the opposite of, and whether it is that; or None."""
        self._expand(np.array([condition], dtype=np.int32))
        form = self._forms[condition]
        plain = form - _ALWAYS
        return (plain, plain != form) if [len(product) for product in plain] == [1] else None

    def _expand(self, conditions: Ids) -> None:
        """Find the forms of conditions, those that others depend on first."""
        levels, pending = [], conditions
        while len(pending := np.array([t for t in pending.tolist() if t not in self._forms], dtype=np.int32)):
            levels.append(pending)
            combined = pending[self._store.are(operations.BITWISE, pending)]
            pending = np.unique(self._store.arguments(combined))
        for level in reversed(levels):
            others = self._tabulate(level)
            for operation, terms in by_operation(self._store, others) if len(others) else ():
                if operation.name == operations.BITWISE:
                    self._combine(operation, terms)
                elif operation.name == operations.COMPARE and self._is_of_numbers(operation):
                    self._compare(operation, terms)
                else:
                    self._take(operation, terms)

    def _tabulate(self, terms: Ids) -> Ids:
        """Find the forms of functions of one small integer; returns what is none."""
        others = []
        for term, found in zip(terms.tolist(), self._functions.truths(terms), strict=True):
            if found is None:
                others.append(term)
                continue
            leaf, truths = found[0], np.frombuffer(found[1], dtype=bool)
            opposite = _ALWAYS if truths[0] else _NEVER
            key = leaf, (truths ^ truths[0]).tobytes()
            self._forms[term] = (self._variable(key) if truths.any() != truths.all() else _NEVER) ^ opposite
        return np.array(others, dtype=np.int32)

    # -- bits that are combined
    def _combine(self, operation: Operation, terms: Ids) -> None:
        assert isinstance(operation.attribute, int)
        products = _products(operation.attribute)
        for term, arguments in zip(terms.tolist(), self._store.arguments(terms).tolist(), strict=True):
            given = [self._forms[argument] for argument in arguments]
            found: Form | None = _NEVER
            for product in products:
                factor: Form | None = _ALWAYS
                for place in product:
                    factor = _multiplied(factor, given[place])
                found = None if found is None or factor is None else found ^ factor
            if found is None or self._is_rounded_equality(found):
                found = self._variable(("bit", term))
            self._forms[term] = found

    def _is_rounded_equality(self, form: Form) -> bool:
        """Tell whether a rounded number is to be neither less nor greater than another one."""
        variables = frozenset[int]().union(*form)
        return any(self._opposites.get(variable) in variables for variable in variables & self._rounded)

    def _take(self, operation: Operation, terms: Ids) -> None:
        """Take bits of which nothing is known for variables."""
        if operation.name == CONSTANT:
            for term, word in zip(terms.tolist(), self._store.constant_values(terms).tolist(), strict=True):
                self._forms[term] = _ALWAYS if word else _NEVER
            return
        for term, number in zip(terms.tolist(), self._identifiers(terms, bits(1)).tolist(), strict=True):
            self._forms[term] = self._variable(("bits", number))

    def _variable(self, key: Hashable) -> Form:
        return frozenset((frozenset((self._number(key),)),))

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    # -- comparisons
    def _is_of_numbers(self, operation: Operation) -> bool:
        fmt, relation = operation.operands[0], _relation(operation)
        if relation not in operations.OUTCOMES:
            return False
        if is_raw(fmt):
            return relation in ("eq", "ne")
        signed = isinstance(fmt, IntegerFormat) and fmt.signed
        return not (signed and relation in operations.UNSIGNED_RELATIONS)

    def _compare(self, operation: Operation, terms: Ids) -> None:
        fmt = operation.operands[0]
        if is_raw(fmt):
            self._compare_in(operations.signed(fmt.bits), operation, terms)
            return
        signed = np.zeros(len(terms), dtype=bool)
        if isinstance(fmt, IntegerFormat) and not fmt.signed and _relation(operation) in ("eq", "ne"):
            signed = self._are_signed(self._store.arguments(terms)[:, :2])  # equal words are equal in both
        for some, own in ((terms[~signed], fmt), (terms[signed], operations.signed(fmt.bits))):
            if len(some):
                self._compare_in(own, operation, some)

    def _are_signed(self, sides: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Tell which pairs (n, 2) are signed integers and constants."""
        formats = [operation.result for operation in self._store.operations]
        signed = np.array([isinstance(each, IntegerFormat) and each.signed for each in formats], dtype=bool)
        signed &= np.array([not is_raw(each) for each in formats], dtype=bool)
        given, constant = signed[self._store.operation_numbers(sides)], self._store.are(CONSTANT, sides)
        return np.asarray((given | constant).all(axis=1) & given.any(axis=1))

    def _compare_in(self, fmt: Format, operation: Operation, terms: Ids) -> None:
        sides = self._store.arguments(terms)[:, :2]
        numbers = np.ones(len(terms), dtype=bool)
        if isinstance(fmt, FloatFormat):
            for column in (0, 1):
                numbers &= ~self._quantifier.classes.never_finite(sides[:, column], fmt)
        if not numbers.all():
            self._take(operation, terms[~numbers])
        if not numbers.any():
            return
        terms, sides = terms[numbers], sides[numbers]
        found = sparse(self._difference(sides[:, 0], sides[:, 1], fmt), len(terms))
        constant = np.array([not any(each) for each in found], dtype=bool)
        same = constant & (sides[:, 0] == sides[:, 1])
        if same.any():
            self._take(operation, terms[same])
        outcomes = operations.OUTCOMES[_relation(operation)]
        for place in np.flatnonzero(~same).tolist():
            term, (left, right) = int(terms[place]), sides[place].tolist()
            holds: tuple[bool, bool, bool] | None = outcomes
            if outcomes[0] == outcomes[2] and isinstance(fmt, FloatFormat):
                holds = self._settled(left, right, outcomes)
            if holds is None:
                key = _EQUAL, frozenset((self._side(left, fmt), self._side(right, fmt)))
                self._forms[term] = self._variable(key) ^ (_NEVER if outcomes[1] else _ALWAYS)
            elif constant[place]:  # only roundings decide: nothing to suppose here
                self._forms[term] = self._variable(("bit", term))
            elif isinstance(fmt, IntegerFormat) and holds[0] != holds[2] and _is_whole(found[place]):
                self._forms[term] = self._compared_integers(found[place], holds)
            else:
                self._forms[term] = form = self._compared(found[place], holds)
                if isinstance(fmt, FloatFormat) and not self._computed.is_of_reals(left, right):
                    self._rounded |= frozenset().union(*form)

    def _settled(
        self, left: int, right: int, outcomes: tuple[bool, bool, bool]
    ) -> tuple[bool, bool, bool] | None:
        """Return for which signs of a difference an equality holds, or fails, as computed; None if for none.

        A number is equal to the greatest of some, of which it is one, where it is not less.
        """
        if self._computed.is_of_reals(left, right):
            return outcomes
        for one, other, sign in ((left, right, 1), (right, left, -1)):
            if (which := self._computed.extremum_of(one, other)) is not None:
                beyond = sign if which == "max" else -sign
                return (beyond < 0) == outcomes[1], outcomes[1], (beyond > 0) == outcomes[1]
        return None

    def _side(self, term: int, fmt: Format) -> Hashable:
        """Return what a side of an equality is as it is computed, if it is rounded, else as a number."""
        if not self._computed.is_exact(term):
            return "computed", self._computed.key(term, fmt)
        return "exact", int(self._identifiers(np.array([term], dtype=np.int32), fmt)[0])

    def _compared(self, difference: Sparse, outcomes: tuple[bool, bool, bool]) -> Form:
        """Return what a difference must be: which of negative, 0 and positive."""
        negative, zero, positive = outcomes
        opposite = _ALWAYS if sum(outcomes) == 2 else _NEVER
        if opposite:
            negative, zero, positive = not negative, not zero, not positive
        lead = Fraction(difference[max(difference)])
        scale = lead if zero else (-abs(lead) if positive else abs(lead))
        number = frozenset((key, Fraction(value) / scale) for key, value in difference.items())
        form = self._variable((_EQUAL if zero else _LESS, number))
        if not zero:
            ((variable,),) = form
            other = frozenset((key, -value) for key, value in number)
            self._opposites[variable] = self._number((_LESS, other))
        return form ^ opposite

    def _compared_integers(self, difference: Sparse, outcomes: tuple[bool, bool, bool]) -> Form:
        """Return what a whole number must be, in one form: ``x < 1`` is the opposite of ``x > 0``.

        It is that a number with a positive lead, less a constant, is negative, or the opposite of that.
        """
        below, zero, _ = outcomes
        sign = 1 if below else -1
        constant = sign * int(difference.get((), 0)) - (1 if zero else 0)
        number = {key: sign * int(value) for key, value in difference.items() if key}
        common = math.gcd(*number.values())
        least = -(constant // common)  # the number, divided by `common`, is less than that
        opposite = _NEVER
        if number[max(number)] < 0:
            common, least, opposite = -common, 1 - least, _ALWAYS
        key = frozenset((monomial, value // common) for monomial, value in number.items())
        return self._variable((_LESS, key, least)) ^ opposite


def _is_whole(polynomial: Sparse) -> bool:
    """Tell whether a polynomial of integers has whole coefficients, and is no constant."""
    return any(polynomial) and all(Fraction(value).denominator == 1 for value in polynomial.values())


def _relation(operation: Operation) -> str:
    """Return a relation, whether or not it holds of what is no number."""
    return str(operation.attribute).removesuffix("u")


def _multiplied(one: Form | None, other: Form) -> Form | None:
    """Return a product, of which a variable times itself is the variable; None if it is too long."""
    if one is None or len(one) * len(other) > _MOST_MONOMIALS:
        return None
    found = set[frozenset[int]]()
    for left in one:
        for right in other:
            found ^= {left | right}
    return frozenset(found)


def _products(table: int) -> list[tuple[int, ...]]:
    """Return the products of arguments, of three, whose sum modulo 2 a truth table is."""
    found = []
    for size in range(4):
        for product in combinations(range(3), size):
            within = sum(4 >> place for place in product)
            if sum(table >> row & 1 for row in range(8) if row | within == within) % 2:
                found.append(product)
    return found
