"""NaN and infinite results of terms whose real normal forms are equal.

``where(M, S, -∞)`` minus itself is NaN where ``M`` is false; so is the first tile of an online softmax if all
of it is masked, and the 0 / 0 of an empty split. Each term has a decision diagram over conditions and signs
of data, whose values are the classes that it may have (`float_classes`). A kernel *may* be NaN only where its
contract *must* be: the kernel's diagram is an upper bound, and of the contract's only NaN has to be left.

Data are supposed to be finite, and what is computed from data alone not to be 0 where it divides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.float_encoding import is_nan
from ...spec.formats import F16, F32, F64, TF32, FloatFormat, Format
from ...spec.open_results import COMPUTED_NAN
from ..analysis import float_classes as classes
from ..conditions.decision_diagrams import TERMINALS, Diagrams
from ..normal_forms.forms import NormalForms
from ..terms import operations
from ..terms.evaluation import Words
from ..terms.instances import TermInstances
from ..terms.interning import Ids
from ..terms.operations import Accumulation, Sum
from ..terms.store import (
    CONCATENATION,
    CONSTANT,
    LEAVES,
    NORMAL_FORM,
    UNDEFINED,
    Operation,
    TermStore,
    bits,
)
from ..terms.traversal import operands
from ..terms.widened_words import NONE, narrower
from .data_signs import DataSigns
from .special_sources import ChosenIntegers, special_sources

_BIT = bits(1)
_FLOATS = {16: F16, 32: F32, 64: F64}
"""As what bits are read that are moved about."""

_KEPT = 1 << 18
"""Nodes from which on the diagrams of terms that were looked at are dropped."""

_UNARY = (operations.NEGATE, operations.CONVERT, operations.FUNCTION)

ALIKE, UNSURE, DIFFERS = range(3)
"""How a kernel's value compares: as special as the contract's, perhaps NaN where that is not, or another."""

Read = tuple[int, Format]
"""A term, and the format in which it is read."""


class Unlike(NamedTuple):
    """Differences of terms (n,) in their NaN and infinite cases.

    Attributes
    ----------
    everywhere, somewhere : array (n,)
        Whether they do for all inputs, or for some at least.
    """

    everywhere: NDArray[np.bool_]
    somewhere: NDArray[np.bool_]


def are_nans(store: TermStore, terms: Ids, fmt: Format) -> NDArray[np.bool_]:
    """Tell which terms (n,) are known to be NaNs of a format, whichever these are."""
    found = np.zeros(len(terms), dtype=bool)
    if isinstance(fmt, FloatFormat):
        found |= store.are(CONSTANT, terms) & is_nan(store.constant_values(terms).astype(fmt.storage), fmt)
        found |= store.are_computed_nans(terms, fmt)
    return found


class SpecialValues:
    """Decides where terms may and must be NaN or infinite.

    Parameters
    ----------
    forms : NormalForms
        Of the terms.
    """

    def __init__(self, forms: NormalForms) -> None:
        self._forms, self._store = forms, forms.store
        self._special = np.zeros(0, dtype=bool)
        self._looked_at = set[int]()
        self._integers = ChosenIntegers(forms.store)
        self._forget()

    def _forget(self) -> None:
        """Begin with no diagrams."""
        self._diagrams = Diagrams()
        self._known: dict[Read, int] = {}
        self._signs = DataSigns(self._forms, self._diagrams, self._variable)
        self._infinite: dict[int, bool] = {}
        self._numbers: dict[int, int] = {}
        self.conditions: list[tuple[int, bool]] = []
        """By their numbers in diagrams, conditions: terms, and whether they hold where those don't."""

    def unlike(self, actual: Ids, expected: Ids, fmt: Format) -> Unlike:
        """Tell of which terms (n,) some may be NaN, or infinite, where the others need not be.

        Raises
        ------
        UnsupportedError
            If there are too many cases.
        """
        plain = np.stack([actual, expected])
        ways = [lambda: plain, lambda: np.stack([*map(self._forms.software.replaced, plain)])]
        if self._forms.software.recognised:  # that terms are equal rests on functions already
            ways.reverse()
        terms = ways[0]()
        found = self._unlike(terms[0], terms[1], fmt)
        some = np.flatnonzero(found.somewhere)
        others = ways[1]() if len(some) else terms
        if (others[:, some] == terms[:, some]).all():
            return found
        within = self._unlike(others[0, some], others[1, some], fmt)
        self.look_at(np.concatenate([terms, others]).reshape(-1))
        found.somewhere[some], found.everywhere[some] = within
        return found

    def _unlike(self, actual: Ids, expected: Ids, fmt: Format) -> Unlike:
        """Return what `unlike` does, with no function in the place of what is written out."""
        found = Unlike(np.zeros(len(actual), dtype=bool), np.zeros(len(actual), dtype=bool))
        both = np.concatenate([actual, expected])
        if not len(both):
            return found
        self.look_at(both)
        places = np.flatnonzero(self._special[both].reshape(2, -1).any(axis=0))
        instances = TermInstances(self._store)
        pairs = np.stack([actual, expected], axis=1)
        shapes = instances.shapes(pairs[places].reshape(-1)).reshape(-1, 2)
        while len(places):
            one, other = pairs[places[0]].tolist()
            values = self._values(one, other, fmt)
            same = np.zeros(len(places), dtype=bool)
            alike = np.flatnonzero((shapes == shapes[0]).all(axis=1))
            same[alike] = instances.of(pairs[places[0]], pairs[places[alike]])
            same[0] = True
            if values != {ALIKE}:  # and instances are not shown to be alike
                found.somewhere[places[same]] = True
                found.everywhere[places[0]] = ALIKE not in values
            places, shapes = places[~same], shapes[~same]
        return found

    def _values(self, actual: int, expected: int, fmt: Format) -> set[int]:
        """Return how a kernel's term may compare with the contract's."""
        if len(self._diagrams) > _KEPT:
            self._forget()
        return self._diagrams.values(self.difference(actual, expected, fmt))

    def difference(self, actual: int, expected: int, fmt: Format) -> int:
        """Return the diagram of where a kernel's term differs from the contract's: `ALIKE`, `UNSURE`, …."""
        sides = self.of(actual, fmt), self.of(expected, fmt)
        return self._diagrams.applied("difference", _difference, *sides)

    def look_at(self, terms: Ids) -> None:
        """Note which of what terms (n,) are made of may be special."""
        self._special = special_sources(self._forms, terms)
        self._looked_at = set(terms.tolist())

    def _look_at_new(self, terms: Ids) -> None:
        """Begin anew with terms (n,) that have not been looked at, such as those that are not equal."""
        if not self._looked_at.issuperset(terms.tolist()):
            self._forget()
            self.look_at(np.array(sorted(self._looked_at.union(terms.tolist())), dtype=np.int32))

    def value(self, term: int, fmt: Format, holds: Callable[[int], bool]) -> int:
        """Return the classes of a term, read in a format, where it is known which conditions hold."""
        return self._diagrams.value(self.of(term, fmt), holds)

    def differ(
        self, actual: Ids, expected: Ids, fmt: Format, values: Callable[[Ids], Words]
    ) -> NDArray[np.bool_]:
        """Tell which terms (n,) must differ on inputs, on which `values` computes conditions."""

        def holds(condition: int) -> bool:
            term, opposite = self.conditions[condition]
            return bool(values(np.array([term], dtype=np.int32))[0] & np.uint64(1)) != opposite

        self._look_at_new(np.concatenate([actual, expected]))
        found = np.zeros(len(actual), dtype=bool)
        for place, pair in enumerate(zip(actual.tolist(), expected.tolist(), strict=True)):
            with suppress(UnsupportedError):  # too many cases, or a condition that can't be computed
                found[place] = self._diagrams.value(self.difference(*pair, fmt), holds) == DIFFERS
        return found

    def is_nan(self, terms: Ids, fmt: Format) -> bool:
        """Tell whether terms (n,), read in a format, are NaN for all inputs."""
        self._look_at_new(terms)
        with suppress(UnsupportedError):  # too many cases
            return all(self._diagrams.values(self.of(each, fmt)) == {classes.NAN} for each in terms.tolist())
        return False

    def cases(self, actual: int, expected: int, fmt: Format) -> Iterator[list[tuple[int, bool]]]:
        """Yield conditions, with whether they hold, on which two terms must differ."""
        self._look_at_new(np.array([actual, expected], dtype=np.int32))
        for case in self._diagrams.cases(self.difference(actual, expected, fmt), DIFFERS):
            pairs = ((*self.conditions[number], holds) for number, holds in case.items())
            yield [(term, holds != opposite) for term, opposite, holds in pairs]

    def of(self, term: int, fmt: Format) -> int:
        """Return the diagram of a term's classes, read in a format, or of whether a bit is set."""
        pending = [(term, fmt)]
        while pending:
            top = pending[-1]
            needed = [] if top in self._known else [read for read in self._needed(top) if not self._has(read)]
            if not needed and top not in self._known:
                self._known[top] = self._computed(*top)
            pending = [*pending, *needed] if needed else pending[:-1]
        return self._known[term, fmt]

    # -- what depends on what
    def _is_special(self, term: int) -> bool:
        return term < len(self._special) and bool(self._special[term])

    def _has(self, read: Read) -> bool:
        return read in self._known or (read[1] != _BIT and not self._is_special(read[0]))

    def _get(self, read: Read) -> int:
        """Return what is known of an operand; what has no special values is a number."""
        if (found := self._known.get(read)) is not None:
            return found
        if read[1] == _BIT or self._is_constant(read[0]):
            self._known[read] = found = self._computed(*read)
            return found
        return classes.NUMBER

    def _needed(self, read: Read) -> list[Read]:
        """Return what the classes of a term depend on."""
        term, fmt = read
        operation = self._store.operation(term)
        if operation.name in LEAVES or operation.name == NORMAL_FORM:
            return []
        if fmt == _BIT and not self._is_special(term) and not self._is_combined(operation, term):
            return []
        return self._operands(operation, term, fmt)

    def _is_combined(self, operation: Operation, condition: int) -> bool:
        """Tell whether a bit that depends on nothing special is made of others."""
        combines = operation.name in (operations.BITWISE, operations.SELECT)
        return combines and self._forms.conditions.variable(condition) is None

    def _operands(self, operation: Operation, term: int, fmt: Format) -> list[Read]:
        """Return the operands of an operation, and how they are read; of vectors, all elements."""
        name, one = operation.name, np.array([term], dtype=np.int32)
        arguments = [int(each) for some in operands(self._store, operation, one) for each in some]
        if name == operations.SELECT:
            return [(arguments[0], _BIT), (arguments[1], fmt), (arguments[2], fmt)]
        if name in (operations.DOT, operations.SCALED_DOT):
            left, right = (
                [(element, of) for element in self._elements(vector)]
                for vector, of in zip(arguments[:2], operation.operands, strict=False)
            )
            if name == operations.DOT:
                return [*left, *right, (arguments[2], operation.operands[2])]
            addend, *scales = self._elements(arguments[2])
            factors = [
                (element, operation.operands[3]) for vector in scales for element in self._elements(vector)
            ]
            return [*left, *right, (addend, operation.operands[2]), *factors]
        if name == CONCATENATION:
            (number,) = narrower(self._store, operation, one, fmt).tolist()
            parts = self._elements(arguments[0]) if number == NONE else [number]
            return [(part, self._natural(part)) for part in parts]
        if name == operations.BITWISE and operation.result == _BIT:
            return [(argument, _BIT) for argument in arguments]
        read = isinstance(operation.result, FloatFormat) or name in (*_UNARY, operations.COMPARE)
        return [
            (each, of if read or isinstance(of, FloatFormat) else self._natural(each))
            for each, of in zip(arguments, operation.operands, strict=False)
        ]

    def _elements(self, vector: int) -> list[int]:
        found: list[int] = self._store.elements(np.array([vector], dtype=np.int32))[0].tolist()
        return found

    def _natural(self, term: int) -> Format:
        result = self._store.operation(term).result
        if isinstance(result, FloatFormat) or self._integers.values(np.array([term]))[0]:
            return result
        return _FLOATS.get(result.bits, result)

    def _is_word(self, term: int) -> bool:
        """Tell whether what a term is made of does not say that it is a float."""
        return self._store.operation(term).name in (CONSTANT, UNDEFINED)

    def _is_constant(self, term: int) -> bool:
        return self._store.operation(term).name == CONSTANT

    # -- operation by operation
    def _computed(self, term: int, fmt: Format) -> int:
        operation = self._store.operation(term)
        if operation.name == CONSTANT:
            word = int(self._store.constant_values(np.array([term], dtype=np.int32))[0])
            if fmt == _BIT:
                return classes.TRUE if word & 1 else classes.FALSE
            return classes.of_word(word, fmt)
        if fmt == _BIT:
            return self._condition(operation, term)
        if operation.name == UNDEFINED:
            if operation.attribute == COMPUTED_NAN and operation.result == fmt:
                return classes.NAN
            return classes.ANYTHING if isinstance(fmt, FloatFormat) else classes.NUMBER
        if operation.name in LEAVES or operation.name == NORMAL_FORM:
            return classes.NUMBER
        found = self._value(operation, term, fmt)
        alike = operation.result == fmt or {operation.result, fmt} == {F32, TF32}
        if isinstance(operation.result, FloatFormat) and not alike:
            return self._diagrams.applied("bits", classes.of_bits, found)
        return found

    def _value(self, operation: Operation, term: int, fmt: Format) -> int:
        name, read = operation.name, self._operands(operation, term, fmt)
        if name == operations.SELECT:
            if self._is_finite(term, fmt):
                return classes.NUMBER
            condition, then, otherwise = (self._get(each) for each in read)
            return self._diagrams.applied("select", classes.chosen, condition, then, otherwise)
        if name == operations.FUSED:
            assert isinstance(operation.attribute, Sum)
            count = 2 * operation.attribute.products
            return self._sum(list(zip(read[:count:2], read[1:count:2], strict=True)), read[count:])
        if name in (operations.DOT, operations.SCALED_DOT):
            assert isinstance(operation.attribute, Accumulation)
            count = operation.attribute.length
            factors = [each for each in read[2 * count + 1 :] if self._may_be_nan(each)]
            products = list(zip(read[:count], read[count : 2 * count], strict=True))
            return self._sum(products, [read[2 * count], *factors])
        if name == operations.EXTREMUM and isinstance(operation.result, FloatFormat):
            return self._extremum(operation, read)
        if operations.divides(operation) or name == operations.QUOTIENT:
            return self._diagrams.applied("div", classes.divided, *self._signed(*read))
        if name in _UNARY and len(read) == 1:
            return self._diagrams.applied(
                operation, lambda each: classes.of_unary(operation, each), self._get(read[0])
            )
        if name == CONCATENATION and len(read) == 1:
            return self._get(read[0])
        given = [self._get(each) for each in read if not self._is_word(each[0])]
        bits_of = [self._diagrams.applied("bits", classes.of_bits, each) for each in given]
        return self._folded("either", _either, bits_of or [classes.NUMBER])

    def _may_be_nan(self, read: Read) -> bool:
        return any(diagram & classes.NAN for diagram in self._diagrams.values(self._get(read)))

    def _is_finite(self, term: int, fmt: Format) -> bool:
        """Tell whether a choice by one small float is finite for all its finite values."""
        leaf = self._forms.element_functions.leaves(np.array([term], dtype=np.int32))[0]
        if leaf < 0 or not isinstance(self._store.operation(int(leaf)).result, FloatFormat):
            return False
        words = self._forms.element_functions.finite_values(term)
        if words is None or not isinstance(fmt, FloatFormat):
            return False
        constants = self._store.constants(np.unique(words), fmt.bits)
        return not self._forms.quantifier.classes.constant(constants, fmt).any()

    def _folded(self, name: str, function: Callable[[int, int], int], diagrams: Sequence[int]) -> int:
        """Combine diagrams by a function of which a value with itself is the value."""
        first, *others = sorted(set(diagrams))
        for other in others:
            first = self._diagrams.applied(name, function, *sorted((first, other)))
        return first

    def _sum(self, products: Sequence[tuple[Read, Read]], addends: Sequence[Read]) -> int:
        summands = {
            self._diagrams.applied("mul", classes.multiplied, *self._signed(*product)) for product in products
        }
        return self._folded("add", classes.added, [*summands, *(self._get(addend) for addend in addends)])

    def _extremum(self, operation: Operation, read: Sequence[Read]) -> int:
        assert isinstance(operation.attribute, tuple)
        which, nan, _ = operation.attribute
        sides = [self._get(each) for each in read]
        for (side, _), other in zip(read, reversed(sides), strict=True):
            if not nan and self._is_constant(side) and self._get((side, operation.result)) == classes.NAN:
                return other  # as its normal form
        for place, other in ((0, 1), (1, 0)):  # a number is greater than 0, or less
            if classes.ZERO in self._diagrams.values(sides[other]):
                sides[place] = self._with_sign(read[place], sides[place], zero=classes.POSITIVE)
        return self._diagrams.applied(
            ("extremum", which, nan), lambda *pair: classes.extreme(*pair, which, nan=nan), *sides
        )

    def _signed(self, left: Read, right: Read) -> tuple[int, int]:
        """Return the diagrams of two factors; of a number beside an infinity, by its sign."""
        one, other = self._get(left), self._get(right)
        if self._is_infinite(other):
            one = self._with_sign(left, one)
        if self._is_infinite(one):
            other = self._with_sign(right, other)
        return one, other

    def _is_infinite(self, diagram: int) -> bool:
        if diagram not in self._infinite:
            self._infinite[diagram] = any(each & classes.INFINITE for each in self._diagrams.values(diagram))
        return self._infinite[diagram]

    # -- conditions, and signs of data
    def _condition(self, operation: Operation, term: int) -> int:
        if operation.name == operations.COMPARE:
            read, relation = self._operands(operation, term, _BIT), str(operation.attribute)
            are_floats = all(isinstance(self._store.operation(each).result, FloatFormat) for each, _ in read)
            if not self._is_special(term) and relation in ("num", "nan") and are_floats:  # of numbers
                return classes.TRUE if relation == "num" else classes.FALSE
            if self._is_special(term) and isinstance(operation.operands[0], FloatFormat):
                constant = any(self._is_constant(each) for each, _ in read)
                found = self._diagrams.applied(
                    ("compare", relation, constant),
                    lambda *pair: classes.compared(relation, *pair, constant=constant),
                    *map(self._get, read),
                )
                if classes.UNKNOWN_BIT not in self._diagrams.values(found):
                    return found
                return self._diagrams.chosen(found, self._variable(term), found, classes.UNKNOWN_BIT)
        elif operation.name in (operations.BITWISE, operations.SELECT) and (
            self._is_special(term) or self._is_combined(operation, term)
        ):
            given = [self._get(operand) for operand in self._operands(operation, term, _BIT)]
            if operation.name == operations.SELECT:
                condition, then, otherwise = given
                return self._diagrams.applied("choose", _chosen_bit, condition, then, otherwise)
            table = operation.attribute
            assert isinstance(table, int)
            return self._diagrams.applied(
                ("bits", table, len(given)), lambda *values: classes.combined(table, *values), *given
            )
        return self._variable(term)

    def _variable(self, condition: int) -> int:
        """Return the diagram of a condition of which nothing is known but that it is the same elsewhere."""
        numbers, opposites = self._forms.conditions.of(np.array([condition], dtype=np.int32))
        number, opposite = int(numbers[0]), bool(opposites[0])
        if number not in self._numbers:
            self._numbers[number] = len(self.conditions)
            self.conditions.append((condition, opposite))
        sides = (classes.FALSE, classes.TRUE)
        return self._diagrams.node(self._numbers[number], *(sides[::-1] if opposite else sides))

    def _with_sign(self, read: Read, diagram: int, zero: int = classes.ZERO) -> int:
        """Return a diagram, with the sign of what is a number, and `zero` where that happens to be 0."""
        if classes.NUMBER not in self._diagrams.values(diagram):
            return diagram
        sign = self._signs.of(*read)
        if sign != classes.ZERO:
            sign = self._diagrams.chosen(sign, zero, sign, classes.ZERO)
        return self._diagrams.chosen(diagram, sign, diagram, classes.NUMBER)


def _difference(actual: int, expected: int) -> int:
    if expected == classes.NAN:
        return ALIKE
    if (actual | expected) & classes.LOST:
        return UNSURE
    if not actual & expected and (actual & classes.NAN or (actual | expected) & classes.INFINITE):
        return DIFFERS
    finite = any(expected & member for member in classes.members(classes.FINITE)) * classes.FINITE
    return UNSURE if actual & ~(expected & classes.INFINITE | finite) else ALIKE


def _either(one: int, other: int) -> int:
    return one | other


def _chosen_bit(condition: int, then: int, otherwise: int) -> int:
    if condition == classes.LOST_BIT:
        return then if then == otherwise else classes.LOST_BIT
    return then if condition == classes.TRUE else otherwise


assert TERMINALS == classes.TERMINALS
