"""Opaque operations: uninterpreted functions of the normal forms of their arguments."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import F64, FloatFormat, Format, IntegerFormat
from ..analysis.quantisation import quantises
from ..analysis.signatures import CONGRUENT, essential, has_size
from ..terms import operations
from ..terms.interning import Ids
from ..terms.slices import fields
from ..terms.store import CONCATENATION, CONSTANT, NORMAL_FORM, Operation, TermStore, is_raw
from ..terms.traversal import by_operation
from .condition_forms import ConditionForms

_OF_REALS = ("erf", "sin", "cos", "tanh")
"""Functions that are not interpreted; those that round to an integer are others in other formats."""

FIRST_ATOM = 1 << 30
"""From here on, numbers of polynomials are those of single atoms: terms."""


class OpaqueForms:
    """Applies operations, uninterpreted, to the normal forms of their arguments.

    Parameters
    ----------
    store : TermStore
        Of the terms.
    identifiers : callable
        Numbers the polynomials of terms that are read in a format.
    conditions : ConditionForms
        Of what is chosen by.
    """

    def __init__(
        self,
        store: TermStore,
        identifiers: Callable[[Ids, Format], NDArray[np.int32]],
        conditions: ConditionForms,
    ) -> None:
        self._store, self._identifiers, self._conditions = store, identifiers, conditions

    def of(self, operation: Operation, terms: Ids, fmt: Format) -> Ids:
        """Return an operation applied to the polynomials of its arguments."""
        arguments = self._store.arguments(terms)
        if operation.name == CONCATENATION:
            return self._concatenation(operation, arguments[:, 0], fmt)
        if operation.name not in CONGRUENT or fmt.bits != operation.result.bits:
            return self._reading(operation, fmt, terms)
        if isinstance(operation.result, FloatFormat) and not isinstance(fmt, FloatFormat):
            return self._reading(operation, fmt, terms)  # what a rounding leaves of the lowest bits is open
        if operation.name == operations.EXTREMUM:
            # Numbers of polynomials are no terms: their readings must not be taken for those of terms.
            number = Operation(NORMAL_FORM, fmt, attribute=("reading", operation.result, "polynomial"))
            return self._store.apply(number, self._identifiers(terms, operation.result))
        if operation.name == operations.SELECT:
            return self._choice(arguments, operation.result, fmt)
        read = [self._identifiers(arguments[:, i], each) for i, each in enumerate(operation.operands)]
        if _is_of_reals(operation):
            real = "function of reals", essential(operation)
            return self._store.apply(Operation(NORMAL_FORM, F64, attribute=real), *read)
        # Which format a real number was rounded to before it is quantised makes no difference.
        operands = () if quantises(operation) else operation.operands
        name = (operation.name, operands, essential(operation), operation.result)
        return self._store.apply(Operation(NORMAL_FORM, fmt, attribute=name), *read)

    def _choice(self, arguments: NDArray[np.int32], result: Format, fmt: Format) -> Ids:
        """Return choices by the normal forms of their conditions, of which opposites choose the other."""
        numbers, opposite = self._conditions.of(arguments[:, 0])
        then, otherwise = np.where(opposite[:, None], arguments[:, 2:0:-1], arguments[:, 1:]).T
        small = self._are_small(then, fmt) & self._are_small(otherwise, fmt)
        found = np.empty(len(numbers), dtype=np.int32)
        for holds, own in ((False, fmt), (True, operations.signed(fmt.bits))):
            some = np.flatnonzero(small == holds)
            read = [self._identifiers(each[some], own) for each in (then, otherwise)]
            kind = "choice", is_raw(own) and result
            found[some] = self._store.apply(
                Operation(NORMAL_FORM, _number_format(own), attribute=kind), numbers[some], *read
            )
        return found

    def _are_small(self, terms: Ids, fmt: Format) -> NDArray[np.bool_]:
        """Tell which terms (n,) are the same number in every integer format of their width."""
        found: NDArray[np.bool_] = self._store.are(CONSTANT, terms)
        found &= isinstance(fmt, IntegerFormat)
        found[found] = self._store.constant_values(terms[found]) >> np.uint64(fmt.bits - 1) == 0
        return found

    def _reading(self, operation: Operation, fmt: Format, terms: Ids) -> Ids:
        """Return the bits of terms, results of an operation, read in another format."""
        return self._store.apply(Operation(NORMAL_FORM, fmt, attribute=("reading", operation.result)), terms)

    def _concatenation(self, operation: Operation, vectors: Ids, fmt: Format) -> Ids:
        parts = self._store.elements(vectors)
        read = np.empty(parts.shape, dtype=np.int32)
        for column, field in enumerate(fields(operation)):
            for each, members in by_operation(self._store, np.unique(parts[:, column])):
                chosen = np.isin(parts[:, column], members)
                if not has_size(field, each.result):
                    read[chosen, column] = atom_numbers(parts[chosen, column])
                    continue
                read[chosen, column] = self._identifiers(parts[chosen, column], each.result)
        name = Operation(NORMAL_FORM, fmt, attribute=("fields", operation.attribute, operation.result))
        return self._store.apply(name, self._store.vectors(read))


def _is_of_reals(operation: Operation) -> bool:
    """Tell whether an operation is a function of one real number, the same whatever the formats."""
    formats = (operation.result, *operation.operands)
    if operation.name != operations.FUNCTION or not all(isinstance(each, FloatFormat) for each in formats):
        return False
    return essential(operation) in _OF_REALS and len(formats) == 2


def _number_format(fmt: Format) -> Format:
    """Return a format for numbers that may have been chosen in any format of a kind."""
    if isinstance(fmt, FloatFormat):
        return F64
    assert isinstance(fmt, IntegerFormat)
    return fmt if is_raw(fmt) or (fmt.bits == 64 and not fmt.signed) else operations.signed(64)


def atom_numbers(terms: Ids) -> NDArray[np.int32]:
    """Return the numbers of the polynomials that are terms (n,) alone."""
    return terms + np.int32(FIRST_ATOM)
