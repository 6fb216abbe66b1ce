"""Whether a condition on data is satisfiable, by trying inputs: only a yes is certain.

Inputs are drawn at random, and such that integers are the numbers with which the condition compares them;
they meet the contract's ``[requires]``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...spec.errors import UnsupportedError
from ...spec.formats import IntegerFormat
from ..terms import operations
from ..terms.assignments import Assignment
from ..terms.evaluation import apply
from ..terms.inputs import Words, of_all_bits, ordinary
from ..terms.interning import Ids
from ..terms.slices import fields
from ..terms.store import CONCATENATION, CONSTANT, INPUT, UNDEFINED, Operation, TermStore, bits
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
    inputs = [part for part in parts if store.operation(part).name == INPUT]
    for each in inputs:
        operation = store.operation(each)
        counts[operation] = max(counts.get(operation, 0), 1 + int(store.arguments(each)[0]))
    random, wanted = np.random.default_rng(_SEED), _compared_with(store, parts)
    term = np.array([condition], dtype=np.int32)
    try:
        for attempt in range(_ATTEMPTS):
            drawn = _drawn(counts, random, ordinary_only=bool(attempt % 2))
            if attempt < _ATTEMPTS // 2:
                for each, word in wanted.items():
                    drawn[str(store.operation(each).attribute)][int(store.arguments(each)[0])] = word
            if _admit(store, inputs, drawn) and Assignment(store, drawn).values(term)[0]:
                return True
    except UnsupportedError:
        pass
    return False


def _compared_with(store: TermStore, parts: Sequence[int]) -> dict[int, int]:
    """Return words of integer inputs that may make what is compared with a constant equal to it."""
    found: dict[int, int] = {}
    for part in parts:
        operation = store.operation(part)
        if operation.name != operations.COMPARE or operation.attribute != "eq":
            continue
        key, constant = store.arguments(part)[:2].tolist()
        if not store.are(CONSTANT, np.array([constant]))[0]:
            continue
        low = 0
        if store.operation(key).name == CONCATENATION:
            low = next((field.low for field in fields(store.operation(key)) if not field.constant), 0)
        for leaf in subterms(store, key, MOST_TERMS) or ():
            fmt = store.operation(leaf).result
            if store.operation(leaf).name == INPUT and isinstance(fmt, IntegerFormat):
                word = int(store.constant_values(np.array([constant]))[0]) << low
                found.setdefault(leaf, word & (1 << fmt.bits) - 1)
    return found


def _admit(store: TermStore, inputs: Sequence[int], drawn: dict[str, Words]) -> bool:
    """Change inputs so that they meet ``[requires]``; tell whether that was found."""
    if store.admitted is None:
        return True
    places = [(store.operation(each), int(store.arguments(each)[0])) for each in inputs]
    names = [(str(operation.attribute), operation.result, place) for operation, place in places]
    changed = store.admitted({name: int(drawn[name[0]][name[2]]) for name in names})
    for name, word in () if changed is None else changed.items():
        if name in names:
            drawn[name[0]][name[2]] = word
    return changed is not None


def _drawn(
    counts: dict[Operation, int], random: np.random.Generator, *, ordinary_only: bool
) -> dict[str, Words]:
    return {
        str(operation.attribute): ordinary(operation.result, count, random)
        if ordinary_only
        else of_all_bits(operation.result, count, random, finite=True)
        for operation, count in counts.items()
    }


_TRIED = 4


def differ_for_some(store: TermStore, one: Ids, other: Ids) -> bool:
    """Tell whether some of a few words (n,) is another than it should be on inputs that are tried."""
    first, second = np.unique(np.stack([one, other]), axis=1)
    width = int(store.widths(one[:1])[0])
    unlike = apply(store, operations.compare(bits(width), "ne"), first[:_TRIED], second[:_TRIED])
    return any(holds_for_some(store, int(each)) for each in unlike)
