"""If-then-else constants: numbers selected by bits of the data, as ``x > 0 ? p : q``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..terms.choices import chosen
from ..terms.interning import Ids
from ..terms.store import CONSTANT, VECTOR, TermStore
from ..terms.traversal import operands
from ..terms.value_tables import NOT_TABULATED, LeafFunctions

MOST = 3
"""Bits that a number is chosen by, at most."""


class Parted(NamedTuple):
    """Terms that bits select, as selects by one of these bits.

    Attributes
    ----------
    places : array (m,)
        Where they are among the terms.
    bits : int32 array (m,)
        Of each the bit, a term.
    then, otherwise : int32 array (m,)
        The terms where it is 1, and where it is 0: constants, or chosen by other bits.
    """

    places: NDArray[np.intp]
    bits: Ids
    then: Ids
    otherwise: Ids


def parted(functions: LeafFunctions, terms: Ids) -> Parted:
    """Return those of terms (n,) that depend on no other data than at most `MOST` bits."""
    store, rows = functions.store, []
    distinct, places = np.unique(terms, return_inverse=True)
    for term in distinct.tolist():
        bits = _bits(store, term)
        if bits:
            ways = np.indices((2,) * len(bits), dtype=np.uint64).reshape(len(bits), -1)
            values = functions.values(term, dict(zip(bits, ways, strict=True)))
            words = store.constants(np.broadcast_to(values, ways.shape[1:]), int(store.widths(term)))
            zero, one = (_chosen(store, bits[1:], half) for half in np.split(words, 2))
            rows.append((bits[0], one, zero))
        else:
            rows.append((-1, term, term))
    bit, then, otherwise = np.array(rows, dtype=np.int32).reshape(-1, 3)[places.reshape(-1)].T
    some = np.flatnonzero(bit >= 0)
    return Parted(some, bit[some], then[some], otherwise[some])


def _bits(store: TermStore, term: int) -> list[int]:
    """Return the bits that a term depends on, none where it depends on other data or on too many."""
    found, seen, pending = list[int](), {term}, [term]
    while pending:
        each = pending.pop()
        operation = store.operation(each)
        if operation.name == CONSTANT:
            continue
        if operation.result.bits == 1 and operation.name != VECTOR:
            found.append(each)
            continue
        further = operands(store, operation, np.array([each], dtype=np.int32))
        if not further or operation.name in NOT_TABULATED or len(found) > MOST:
            return []
        new = {int(one) for some in further for one in some} - seen
        seen |= new
        pending += new
    return found if len(found) <= MOST else []


def _chosen(store: TermStore, bits: list[int], words: Ids) -> int:
    """Return which of words (2**len(bits),) bits choose, the first the most significant of the index."""
    for bit in reversed(bits):
        words = chosen(store, np.array([bit], dtype=np.int32), words[1::2], words[::2])
    return int(words[0])
