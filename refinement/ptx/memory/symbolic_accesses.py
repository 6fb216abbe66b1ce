"""Loads from arrays whose extents depend on symbols; see `mmaproof.refinement.sizes.symbolic_arrays`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import UnsupportedError
from ....spec.ptx.operands import Address, Register
from ...machine.memory import ByteLanes
from ...sizes.implied_bounds import RestConditions
from ...sizes.integer_forms import Rows
from ...sizes.open_comparisons import Where
from ...sizes.symbolic_arrays import SymbolicMemory
from ...sizes.symbolic_terms import SymbolicTerms
from ...sizes.wrapped_indices import cases
from ...terms import bit_slices
from ...terms.interning import Ids
from ...terms.operations import select
from ...terms.store import CONSTANT
from ...terms.truth_tables import A, B
from ..registers.threads import Indices
from ..state.execution import Execution
from ..text.module import TYPE_BITS
from ..text.operands import Operand
from .addressing import GENERIC

_STATE = "arrays of any size"
_CONDITIONS = "conditions on remainders of sizes"


def use_memory_of_any_size(execution: Execution, memory: SymbolicMemory) -> None:
    """Let an execution load from arrays whose extents depend on symbols."""
    execution.state[_STATE] = memory


def memory_of_any_size(execution: Execution) -> SymbolicMemory:
    """Return the arrays of an execution whose extents depend on symbols."""
    found = execution.state[_STATE]
    assert isinstance(found, SymbolicMemory)
    return found


def is_of_any_size(execution: Execution) -> bool:
    """Tell whether an execution loads from arrays whose extents depend on symbols."""
    return _STATE in execution.state


def rows_of_any_size(execution: Execution, space: str, place: Operand, active: Indices) -> Rows | None:
    """Return addresses (n active,) as polynomials, if they are in arrays whose extents depend on symbols."""
    if _STATE not in execution.state or space not in ("global", GENERIC) or not isinstance(place, Address):
        return None
    base, store = place.base, execution.store
    if not isinstance(base, Register) or not isinstance(store, SymbolicTerms):
        return None
    width = TYPE_BITS.get(base.type or "b64", 64)
    if width != 64:
        return None
    rows, known = store.rows_of(execution.terms(base, width, active))
    rows[:, 0] += place.offset
    if not known.all() or (memory_of_any_size(execution).owners(rows) < 0).all():
        return None
    return rows


def number_of_any_size(execution: Execution, operand: Operand, width: int, active: Indices) -> Rows | None:
    """Return integers (n active,) as polynomials; None if they are not."""
    store = execution.store
    if _STATE not in execution.state or not isinstance(store, SymbolicTerms):
        return None
    rows, known = store.rows_of(execution.terms(operand, width, active))
    return rows if known.all() else None


def load_of_any_size(
    execution: Execution, space: str, place: Operand, size: int, count: int, active: Indices
) -> Ids | None:
    """Return neighbouring words (n, count) of arrays of any size; None where there is other memory."""
    places = places_of_any_size(execution, space, place, active)
    if places is None:
        return None
    terms, lows = places.load(execution, np.arange(len(active)), size * count, size * count)
    lanes = ByteLanes(execution.store, terms.size)
    lanes.terms[:], lanes.lows[:] = terms.reshape(-1), lows.reshape(-1)
    found = lanes.read(size * np.arange(len(active) * count), size)
    return np.asarray(found.reshape(len(active), count), dtype=np.int32)


class Places(NamedTuple):
    """Addresses in arrays with symbolic extents; some are one of two.

    Attributes
    ----------
    active : array (n,)
        The threads.
    rows, others : Rows (n, monomials)
        The addresses, and those where a bit is 0.
    bits : array (n,)
        The bits; -1 where there is one address.
    """

    active: Indices
    rows: Rows
    others: Rows
    bits: Ids

    def load(
        self, execution: Execution, members: NDArray[np.intp], total: int, alignment: int
    ) -> tuple[Ids, NDArray[np.uint8]]:
        """Return neighbouring bytes (n, total) of some of them, each a term and its lowest bit there.

        Raises
        ------
        UnsupportedError
            If for some sizes an address may lie outside its array, or not be aligned.
        """
        store, memory = execution.store, memory_of_any_size(execution)
        threads, bits = self.active[members], self.bits[members]
        where = conditions_of(execution, threads, bits)
        terms, lows = memory.load_bytes(self.rows[members], total, alignment, threads, where)
        some = np.flatnonzero(bits >= 0)
        if len(some):
            also = conditions_of(execution, threads[some])
            other = memory.load_bytes(self.others[members[some]], total, alignment, threads[some], also)
            if (other[1] != lows[some]).any():
                raise UnsupportedError("an access may begin within an element at some sizes")
            for width in np.unique(store.widths(terms[some])).tolist():
                own = np.flatnonzero((store.widths(terms[some]) == width).all(axis=1))
                at = some[own]
                terms[at] = store.apply(select(width), bits[at, None], terms[at], other[0][own])
        return terms, lows


def places_of_any_size(execution: Execution, space: str, place: Operand, active: Indices) -> Places | None:
    """Return addresses as polynomials, or as choices of two, if they are in arrays of any size."""
    rows = rows_of_any_size(execution, space, place, active)
    if rows is not None:
        return Places(active, rows, rows, np.full(len(active), -1, dtype=np.int32))
    store = execution.store
    if _STATE not in execution.state or not isinstance(store, SymbolicTerms) or not store.wraps:
        return None
    if space not in ("global", GENERIC) or not isinstance(place, Address):
        return None
    base = place.base
    if not isinstance(base, Register) or TYPE_BITS.get(base.type or "b64", 64) != 64:
        return None
    first, second, bits = cases(store, execution.terms(base, 64, active))
    (rows, known), (others, also) = store.rows_of(first), store.rows_of(second)
    rows[:, 0] += place.offset
    others[:, 0] += place.offset
    owners, theirs = (memory_of_any_size(execution).owners(each) for each in (rows, others))
    if not (known & also & (owners >= 0) & (owners == theirs)).all():
        return None
    return Places(active, rows, others, bits)


def conditions_of(execution: Execution, active: Indices, bits: Ids | None = None) -> Where:
    """Return what is known in threads, by the conditions under which they run.

    Where bits (n active,) are given that are no -1, these are 1 besides.
    """
    store = execution.store
    assert isinstance(store, SymbolicTerms)
    given = [] if bits is None or (bits < 0).all() else [bits]
    if execution.path is not None:
        given.append(execution.path.at(active).as_terms(store))
    if not given or not (store.rests or store.opens):
        return None
    conditions = execution.state.setdefault(_CONDITIONS, RestConditions(store, store.rests))
    assert isinstance(conditions, RestConditions)
    return conditions.known(given)


def store_of_any_size(execution: Execution, space: str, place: Operand, words: Ids, active: Indices) -> bool:
    """Store neighbouring words (n, count) to arrays of any size; False where there is other memory."""
    rows = rows_of_any_size(execution, space, place, active)
    if rows is None:
        return False
    total = words.shape[1] * int(execution.store.widths(words[:1, 0])[0]) // 8
    store_rows_of_any_size(execution, rows, words, total, active)
    return True


def load_rows_of_any_size(
    execution: Execution, rows: Rows, size: int, threads: Indices, has: Ids
) -> tuple[Ids, NDArray[np.uint8]]:
    """Return the bytes (n, size) of elements at addresses (n, monomials), zeros where a bit is 0."""
    store = execution.store
    where = conditions_of(execution, threads, has)
    terms, lows = memory_of_any_size(execution).load_bytes(rows, size, size, threads, where)
    some = np.flatnonzero(~store.are(CONSTANT, has))
    for width in np.unique(store.widths(terms[some].reshape(-1))).tolist():
        own = some[(store.widths(terms[some].reshape(-1)).reshape(-1, size) == width).all(axis=1)]
        zeros = store.constants(np.zeros(len(own), dtype=np.uint64), width)
        terms[own] = store.apply(select(width), has[own, None], terms[own], zeros[:, None])
    return terms, lows


def store_rows_of_any_size(
    execution: Execution, rows: Rows, words: Ids, alignment: int, threads: Indices, has: Ids | None = None
) -> None:
    """Store neighbouring words (n, count) at addresses (n, monomials), if bits are given where one is 1."""
    store = execution.store
    conditions = store.constants(np.ones(len(threads), dtype=np.uint64), 1) if has is None else has
    if execution.path is not None:
        taken = execution.path.at(threads).as_terms(store)
        conditions = taken if has is None else bit_slices.bitwise(store, A & B, taken, has, has)
    memory_of_any_size(execution).store_words(
        rows, words, alignment, threads, conditions, conditions_of(execution, threads, has)
    )


def stored_of_any_size(execution: Execution) -> NDArray[np.int64]:
    """Return how often bytes of each array of any size were stored, and loaded where they may be stored."""
    written = memory_of_any_size(execution).written.values()
    return np.array([each.counts for each in written], dtype=np.int64).reshape(-1)
