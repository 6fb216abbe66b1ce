"""Conditions that depend on how two numbers lie to each other, and perhaps on how two others do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import Format
from ..terms import operations
from ..terms.evaluation import evaluate
from ..terms.store import CONSTANT, TermStore
from ..terms.traversal import operands
from .resolved_choices import ordered_format


class ComparedPair(NamedTuple):
    """Two terms that are compared, and the format in which they are."""

    first: int
    second: int
    format: Format

    def is_of(self, one: int, other: int) -> bool:
        """Tell whether it is of two terms, in either order."""
        return {self.first, self.second} == {one, other}


class PairCondition(NamedTuple):
    """A condition that depends on how the terms of one or two pairs lie to each other.

    Attributes
    ----------
    pairs : tuple of ComparedPair
        The pairs.
    holds : array (3, 3)
        Whether it holds where the first term of the first pair is less, equal and greater, and where that of
        the second is, if there is one.
    """

    pairs: tuple[ComparedPair, ...]
    holds: NDArray[np.bool_]

    def led_by(self, numbers: ComparedPair) -> NDArray[np.bool_]:
        """Return `holds` with some pair as the first."""
        return self.holds if self.pairs[0] == numbers else self.holds.T


def pair_condition(store: TermStore, condition: int) -> PairCondition | None:
    """Return how a condition depends on comparisons; None if it does on more than two pairs of terms."""
    inside, pending = set[int](), [condition]
    while pending:
        term = pending.pop()
        if term in inside:
            continue
        inside.add(term)
        name = store.operation(term).name
        if name not in (operations.SELECT, operations.BITWISE, operations.COMPARE, CONSTANT):
            return None
        pending += _operands(store, term) if name != operations.COMPARE else []
    pairs: list[ComparedPair] = []
    values: dict[int, NDArray[np.uint64]] = {}
    for term in sorted(inside):
        operation = store.operation(term)
        if operation.name == CONSTANT:
            values[term] = np.full(
                (3, 3), int(store.constant_values(np.array([term], dtype=np.int32))[0]), dtype=np.uint64
            )
        elif operation.name != operations.COMPARE:
            given = [values[operand] for operand in _operands(store, term)]
            values[term] = evaluate(operation, given).reshape(3, 3)
        else:
            left, right = _operands(store, term)
            outcomes = operations.OUTCOMES.get(str(operation.attribute).removesuffix("u"))
            if outcomes is None or ordered_format(operation) is None:
                return None
            new = ComparedPair(left, right, operation.operands[0])
            pair = next((compared_pair for compared_pair in pairs if compared_pair.is_of(left, right)), new)
            if pair is new:
                pairs.append(new)
            if len(pairs) > 2 or pair.format != new.format:
                return None
            row = np.array(outcomes if left == pair.first else outcomes[::-1], dtype=np.uint64)
            values[term] = np.broadcast_to(row[:, None] if pair is pairs[0] else row, (3, 3))
    return PairCondition(tuple(pairs), values[condition].astype(bool)) if pairs else None


def _operands(store: TermStore, term: int) -> list[int]:
    given = operands(store, store.operation(term), np.array([term], dtype=np.int32))
    return [each for some in given for each in some.tolist()]
