"""Conditions of ``[requires]`` that compare inputs with each other, as terms: ``X[i] <= Z[i]``.

What compares an input with a number is a bound of it, and told by its ends.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..contract.contract import Instance
from ..contract.required_conditions import TRUTHS
from ..formula.tree import Element, Name, Node, Requirement, walk
from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import Operation, TermStore
from ..terms.truth_tables import A, B
from .contract_terms import expected_terms

_MOST = 4096
"""Elements that a condition with free indices holds of."""


def required_comparisons(conditions: Iterable[tuple[Requirement, Instance]], store: TermStore) -> Ids:
    """Return the comparisons of inputs that conditions, with what they are as outputs, are or consist of."""
    found: list[Ids] = []
    for requirement, own in conditions:
        output = own.arrays[TRUTHS]
        if output.elements <= _MOST and _compares_inputs(own, requirement.condition):
            found.append(_comparisons(store, expected_terms(own, output, store).reshape(-1)))
    return np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.int32)


def _compares_inputs(instance: Instance, condition: Node) -> bool:
    """Tell whether several inputs are in a condition."""
    scalars = [scalar for scalar in instance.scalars if instance.scalars[scalar].value is None]
    leaves = {
        node if isinstance(node, Element) else node.name
        for node in walk(condition)
        if isinstance(node, Element) or (isinstance(node, Name) and node.name in scalars)
    }
    return len(leaves) > 1


def _comparisons(store: TermStore, truths: Ids) -> Ids:
    """Return the comparisons that hold where all truths (n,), choices between 1 and 0, are 1."""
    pending = store.arguments(truths[store.are(operations.SELECT, truths)])[:, 0]
    found = [pending[:0]]
    while len(pending):
        found.append(pending[store.are(operations.COMPARE, pending)])
        both = [number for number, each in enumerate(store.operations) if _is_conjunction(each)]
        pending = pending[np.isin(store.operation_numbers(pending), both)]
        pending = np.unique(store.arguments(pending)[:, :2])
    return np.concatenate(found)


def _is_conjunction(operation: Operation) -> bool:
    return operation.name == operations.BITWISE and operation.attribute == A & B
