"""Loads from arrays whose extents depend on symbols; see `mmaproof.refinement.symbolic_arrays`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ...spec.ptx.operands import Address, Register
from ..integer_forms import Rows
from ..interning import Ids
from ..rest_conditions import RestConditions
from ..symbolic_arrays import SymbolicMemory
from ..symbolic_terms import SymbolicTerms
from .addressing import GENERIC
from .execution import Execution
from .module import TYPE_BITS
from .operands import Operand
from .threads import Indices

_STATE = "arrays of any size"
_CONDITIONS = "conditions on what is left of sizes"


def use_memory_of_any_size(execution: Execution, memory: SymbolicMemory) -> None:
    """Let an execution load from arrays whose extents depend on symbols."""
    execution.state[_STATE] = memory


def memory_of_any_size(execution: Execution) -> SymbolicMemory:
    """Return the arrays of an execution whose extents depend on symbols."""
    found = execution.state[_STATE]
    assert isinstance(found, SymbolicMemory)
    return found


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
    rows = rows_of_any_size(execution, space, place, active)
    if rows is None:
        return None
    found = memory_of_any_size(execution).load(
        rows, size, count, size * count, active, conditions_of(execution, active)
    )
    return np.asarray(found, dtype=np.int32)


def conditions_of(execution: Execution, active: Indices) -> Mapping[str, NDArray[np.int64]] | None:
    """Return what symbols are at least in threads, by the conditions under which they run."""
    store = execution.store
    assert isinstance(store, SymbolicTerms)
    if execution.path is None or not store.rests:
        return None
    conditions = execution.state.setdefault(_CONDITIONS, RestConditions(store, store.rests))
    paths, which = np.unique(execution.path.at(active).as_terms(store), return_inverse=True)
    implied = [conditions.implied(int(each)) for each in paths]
    found = {}
    for rest in store.rests:
        bounds = np.array([each.get(rest.size, -1) for each in implied], dtype=np.int64)
        found[rest.symbol] = rest.raised(bounds)[which.reshape(-1)]
    return found


def store_of_any_size(execution: Execution, space: str, place: Operand, words: Ids, active: Indices) -> bool:
    """Store neighbouring words (n, count) to arrays of any size; False where there is other memory."""
    rows = rows_of_any_size(execution, space, place, active)
    if rows is None:
        return False
    total = words.shape[1] * int(execution.store.widths(words[:1, 0])[0]) // 8
    store_rows_of_any_size(execution, rows, words, total, active)
    return True


def store_rows_of_any_size(
    execution: Execution, rows: Rows, words: Ids, alignment: int, threads: Indices
) -> None:
    """Store neighbouring words (n, count) at addresses (n, monomials) in arrays of any size."""
    always = execution.store.constants(np.ones(len(threads), dtype=np.uint64), 1)
    conditions = always if execution.path is None else execution.path.at(threads).as_terms(execution.store)
    memory_of_any_size(execution).store_words(
        rows, words, alignment, threads, conditions, conditions_of(execution, threads)
    )


def stored_of_any_size(execution: Execution) -> NDArray[np.int64]:
    """Return how often bytes of each array of any size were stored, and loaded where they may be stored."""
    written = memory_of_any_size(execution).written.values()
    return np.array([each.counts for each in written], dtype=np.int64).reshape(-1)
