"""Whether a condition on data is satisfiable, by trying inputs: only a yes is certain."""

from __future__ import annotations

import numpy as np

from ...spec.errors import UnsupportedError
from ..terms.assignments import Assignment
from ..terms.inputs import Words, of_all_bits, ordinary
from ..terms.store import INPUT, UNDEFINED, Operation, TermStore
from .scalar_conditions import subterms

MOST_TERMS = 4096
"""Of conditions that are tried."""

_ATTEMPTS = 8
_SEED = 1


def holds_for_some(store: TermStore, condition: int) -> bool:
    """Tell whether a condition holds for some inputs that are tried; false if it depends on nothing known.

    Parameters
    ----------
    store : TermStore
        The terms.
    condition : int
        One bit.
    """
    parts = subterms(store, condition, MOST_TERMS)
    if parts is None or store.are(UNDEFINED, np.array(parts)).any():
        return False
    counts: dict[Operation, int] = {}
    for each in parts:
        operation = store.operation(each)
        if operation.name == INPUT:
            counts[operation] = max(counts.get(operation, 0), 1 + int(store.arguments(each)[0]))
    random = np.random.default_rng(_SEED)
    term = np.array([condition], dtype=np.int32)
    try:
        return any(
            Assignment(store, _drawn(counts, random, ordinary_only=bool(attempt % 2))).values(term)[0]
            for attempt in range(_ATTEMPTS)
        )
    except UnsupportedError:
        return False


def _drawn(
    counts: dict[Operation, int], random: np.random.Generator, *, ordinary_only: bool
) -> dict[str, Words]:
    return {
        str(operation.attribute): ordinary(operation.result, count, random)
        if ordinary_only
        else of_all_bits(operation.result, count, random, finite=True)
        for operation, count in counts.items()
    }
