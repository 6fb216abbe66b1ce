"""Selects between two terms by a bit, simplified where the bit is decided."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import operations
from .bit_slices import extract
from .interning import Ids
from .slices import fields
from .store import CONCATENATION, CONSTANT, Operation, TermStore, bits
from .truth_tables import A

_NOT = Operation(operations.BITWISE, bits(1), (bits(1),) * 3, 0xFF ^ A)
"""The opposite of a bit."""


def chosen(store: TermStore, conditions: Ids, then: Ids, otherwise: Ids) -> Ids:
    """Return choices by bits, of terms that broadcast and are equally wide.

    A condition that is known, or that is chosen by already (or its opposite), leaves nothing.
    """
    conditions, then, otherwise = np.broadcast_arrays(conditions, then, otherwise)
    if not conditions.size:
        return then.copy()
    known = store.are(CONSTANT, conditions)
    holds = store.constant_values(conditions) != 0
    if known.all():
        return np.where(holds, then, otherwise)
    opposites = store.operation_numbers(conditions) == store.number(_NOT)
    if opposites.any():
        conditions = np.where(opposites, store.arguments(conditions)[..., 0], conditions)
        then, otherwise = np.where(opposites, otherwise, then), np.where(opposites, then, otherwise)
    then = _known_side(store, conditions, then, 1)
    otherwise = _known_side(store, conditions, otherwise, 2)
    width = int(store.widths(then.reshape(-1)[:1])[0])
    found = store.apply(operations.select(width), conditions, then, otherwise)
    return np.where(known, np.where(holds, then, otherwise), np.where(then == otherwise, then, found))


def _known_side(store: TermStore, conditions: Ids, terms: Ids, side: int) -> Ids:
    """Return terms, of choices by the same conditions the side that is taken."""
    arguments = store.arguments(terms)
    same = store.are(operations.SELECT, terms) & (arguments[..., 0] == conditions)
    return np.where(same, arguments[..., side], terms)


def are_by_order(store: TermStore, choices: Ids) -> NDArray[np.bool_]:
    """Tell which choices (n,) are by the order of two integers."""
    numbers = store.operation_numbers(store.arguments(choices)[:, 0])
    return np.array([operations.orders_integers(store.operations[number]) for number in numbers], dtype=bool)


def bits_of_choices(store: TermStore, terms: Ids, *, modular: bool = False) -> Ids:
    """Return some bits of choices as choices of bits, for terms (n,) of one operation; else -1.

    The lowest bits of choices by the order of integers are the choices themselves, if they are read as
    `modular` numbers: what is chosen may be an extremum.
    """
    found = np.full(len(terms), -1, dtype=np.int32)
    operation = store.operation(int(terms[0]))
    if operation.name != CONCATENATION:
        return found
    cut = fields(operation)
    if len(cut) != 1 or cut[0].repeats:
        return found
    parts = store.elements(store.arguments(terms)[:, 0])[:, 0]
    choices = np.flatnonzero(store.are(operations.SELECT, parts))
    if len(choices):
        if modular and cut[0].low == 0 and are_by_order(store, parts[choices]).all():
            found[choices] = parts[choices]
            return found
        conditions, *sides = store.arguments(parts[choices]).T
        then, otherwise = (extract(store, side, cut[0].low, cut[0].width) for side in sides)
        found[choices] = chosen(store, conditions, then, otherwise)
    return found
