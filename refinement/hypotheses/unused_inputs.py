"""Floats that a kernel uses and its formula does not: ``0 * c`` is 0 over the reals, but NaN where c is.

A verdict over the reals supposes that inputs are finite. The formula needs that of its own inputs alone:
where it says ``where(beta == 0, a, a + beta * c)``, c may be anything if beta is 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...spec.formats import FloatFormat
from ..analysis.discharged_hypotheses import are_finite
from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import INPUT, LEAVES, VECTOR, Operation, TermStore
from ..terms.traversal import by_operation, leaves_of

_MOST = 64
"""Conditions of the choices of a formula that are looked at; of further ones NaNs are not told apart."""


def unused_input(store: TermStore, formula: Ids, own: Ids) -> tuple[int, int] | None:
    """Return a float that the formula does not have at all, and the first term that computes with it.

    Parameters
    ----------
    store : TermStore
        The terms.
    formula, own : array
        All terms of the formula, and those of the kernel that are not among them.
    """
    groups = list(by_operation(store, own))
    inputs = _unused(store, formula, groups)
    carried = _carried(store, inputs, groups)
    for operation, terms in groups if len(inputs) else ():
        if operation.name in LEAVES or operation.name == operations.COMPARE or _orders(operation):
            continue
        given = store.elements(terms) if operation.name == VECTOR else store.arguments(terms)
        used = np.argwhere(np.isin(given, carried))
        if len(used):
            row, column = used[0].tolist()
            return int(given[row, column]), int(terms[row])
    return None


def compared_input(store: TermStore, formula: Ids, own: Ids) -> tuple[int, int] | None:
    """Return a float that the formula does not have at all, and the first comparison that depends on it.

    Over the reals ``c <= c`` holds, and one of ``c < 1`` and ``c >= 1``; of a NaN they do not.
    See `unused_input`; here the formula may have other elements of the same array.
    """
    groups = list(by_operation(store, own))
    inputs = _unused(store, np.empty(0, dtype=np.int32), groups)
    for operation, terms in groups if len(inputs) else ():
        if operation.name == operations.COMPARE and isinstance(operation.operands[0], FloatFormat):
            for term in terms.tolist():
                if len(found := np.intersect1d(inputs, leaves_of(store, np.array([term], dtype=np.int32)))):
                    return int(found[0]), term
    return None


def _unused(store: TermStore, formula: Ids, groups: Sequence[tuple[Operation, Ids]]) -> Ids:
    """Return inputs that are floats, of arrays and scalars that the formula does not have at all."""
    known = _floats(store, formula)
    found = [
        members
        for operation, members in groups
        if _is_float(operation) and operation.attribute not in known and not are_finite(store, members)
    ]
    return np.concatenate([np.zeros(0, dtype=np.int32), *found])


def _carried(store: TermStore, inputs: Ids, groups: Sequence[tuple[Operation, Ids]]) -> Ids:
    """Return inputs, and the extrema that they may be: these order infinities as numbers, and drop NaNs."""
    extrema = [terms for operation, terms in groups if _orders(operation)]
    found, count = inputs, 0
    while count < len(found):
        count = len(found)
        more = [terms[np.isin(store.arguments(terms)[:, :2], found).any(axis=1)] for terms in extrema]
        found = np.unique(np.concatenate([found, *more]))
    return found


def _orders(operation: Operation) -> bool:
    """Tell whether an operation is an extremum that is a number if one operand is."""
    how = operation.attribute
    return operation.name == operations.EXTREMUM and isinstance(how, tuple) and not how[1]


def omitting_choices(store: TermStore, formula: Ids) -> Ids:
    """Return conditions of choices in a formula (n,) of which one side lacks an input that the other has."""
    found = []
    for operation, members in by_operation(store, formula):
        if operation.name == operations.SELECT:
            conditions, first = np.unique(store.arguments(members)[:, 0], return_index=True)
            for condition, term in zip(
                conditions[:_MOST].tolist(), members[first[:_MOST]].tolist(), strict=True
            ):
                sides = (leaves_of(store, store.arguments(term)[k : k + 1]) for k in (1, 2))
                one, other = (_floats(store, side) for side in sides)
                if one != other:
                    found.append(condition)
    return np.array(found, dtype=np.int32)


def _floats(store: TermStore, terms: Ids) -> set[str]:
    """Return the names of inputs that are floats."""
    return {str(each.attribute) for each, _ in by_operation(store, terms) if _is_float(each)}


def _is_float(operation: Operation) -> bool:
    return operation.name == INPUT and isinstance(operation.result, FloatFormat)
