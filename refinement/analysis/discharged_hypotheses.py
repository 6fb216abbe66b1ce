"""Hypotheses discharged by bounds of inputs: that these are finite, that no divisor is 0."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat
from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import INPUT, Operation, TermStore
from ..terms.traversal import by_operation, leaves_of, within
from .real_ranges import RealRanges
from .rounding_depth import NONZERO, NOT_NEGATIVE, Roundings

_ROOTS, _DIVISORS, _LOGARITHMS = ("sqrt",), ("div", "rcp"), ("lg2", "rsqrt")


def discharged(ranges: RealRanges, terms: Ids, undergone: Roundings) -> Roundings:
    """Return roundings without what follows from the ends that ``[requires]`` gives inputs.

    Parameters
    ----------
    ranges : RealRanges
        Of the store.
    terms : array
        Both sides of what is equal.
    undergone : Roundings
        Theirs.
    """
    store = ranges.store
    if not store.ends:
        return undergone
    ranges.fill(terms)
    open_domains = _open_domains(ranges, terms)
    return replace(
        undergone,
        float_inputs=undergone.float_inputs and not are_finite(store, leaves_of(store, terms)),
        domains=tuple(domain for domain in undergone.domains if domain in open_domains),
    )


def are_finite(store: TermStore, leaves: Ids) -> bool:
    """Tell whether all floating-point inputs among leaves have finite ends."""
    for operation, members in by_operation(store, leaves):
        if operation.name != INPUT or not isinstance(operation.result, FloatFormat):
            continue
        ends = store.ends.get(str(operation.attribute))
        if ends is None:
            return False
        places = store.arguments(members)[:, 0]
        if not (ends.number[places] & np.isfinite(ends.low[places]) & np.isfinite(ends.high[places])).all():
            return False
    return True


def _open_domains(ranges: RealRanges, terms: Ids) -> set[str]:
    """Return what is supposed of arguments of functions and does not follow from their ranges."""
    store, found = ranges.store, set[str]()
    for operation, members in by_operation(store, within(store, terms)):
        stem = str(operation.attribute).partition(".")[0]
        if operation.name != operations.FUNCTION or stem not in (*_ROOTS, *_DIVISORS, *_LOGARITHMS):
            continue
        arguments = store.arguments(members)[:, len(operation.operands) - 1]
        low, high = ranges.read(arguments, operation.operands[-1]).T
        if stem in _ROOTS and not (low >= 0).all():
            found.add(NOT_NEGATIVE)
        if stem in _DIVISORS and not ((low > 0) | (high < 0) | nonzero(store, arguments)).all():
            found.add(NONZERO)
        if stem in _LOGARITHMS and not (low > 0).all():
            found |= {NONZERO, NOT_NEGATIVE}
    return found


def nonzero(store: TermStore, terms: Ids) -> NDArray[np.bool_]:
    """Tell which terms (n,) are inputs that are known not to be 0."""
    found = np.zeros(len(terms), dtype=bool)
    for place, term in enumerate(terms.tolist()):
        operation: Operation = store.operation(term)
        ends = store.ends.get(str(operation.attribute)) if operation.name == INPUT else None
        found[place] = ends is not None and bool(ends.nonzero[store.arguments(term)[0]])
    return found
