"""Table look-ups: loads and shuffles indexed by one small data element, as selects.

Such are the look-ups of small formats in a table (NF4, codebooks), in memory or held by lanes. Every place
that some value of the element leads to is loaded, and must be one that may be.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ....spec.ptx.operands import Address, Register
from ...terms import operations
from ...terms.evaluation import Words, apply, ones
from ...terms.interning import Ids
from ...terms.store import TermStore
from ...terms.value_tables import LeafFunctions
from ..registers.dependence import require_known
from ..registers.threads import Indices
from ..registers.values import KNOWN, Value
from ..state.execution import Execution
from ..text.module import TYPE_BITS
from ..text.operands import Operand
from .addressing import addresses
from .memory_access import load
from .symbolic_accesses import load_of_any_size

WIDEST = 8
"""Bits of the widest element by which a table may be indexed: a table has at most 256 entries."""


def load_found(
    execution: Execution, space: str, place: Operand, size: int, count: int, active: Indices
) -> Ids:
    """Return what `count` neighbouring words (n, count) of `size` bytes hold, as `load` does.

    Raises
    ------
    UnsupportedError
        If an address depends on data other than one element of at most `WIDEST` bits.
    """
    base = place.base if isinstance(place, Address) else None
    if not isinstance(base, Register):
        return load(execution, space, addresses(execution, place, active), size, count, active)
    if (found := load_of_any_size(execution, space, place, size, count, active)) is not None:
        return found
    width = TYPE_BITS.get(base.type or "b64", 64)
    value = execution.read(base, width, active)
    if value.terms is None or (value.terms == KNOWN).all():
        return load(execution, space, addresses(execution, place, active), size, count, active)
    assert isinstance(place, Address)
    offset = np.uint64(place.offset & 0xFFFFFFFFFFFFFFFF)
    words = np.zeros((len(active), count), dtype=np.int32)
    known = np.ones(len(active), dtype=bool)
    for some, entries in possible_values(execution, value, f"the address {base}"):
        at = np.tile(entries + offset & ones(width), len(some))
        threads = np.repeat(active[some], len(entries))
        each = load(execution, space, at, size, count, threads).reshape(len(some), len(entries), count)
        words[some] = chosen_entry(execution.store, value.at(some).as_terms(execution.store), entries, each)
        known[some] = False
    if known.any():
        at = value.numbers[known] + offset & ones(width)
        words[known] = load(execution, space, at, size, count, active[known])
    return words


def is_found_by_data(execution: Execution, place: Operand, active: Indices) -> bool:
    """Tell whether an address depends on data."""
    if not isinstance(place, Address) or not isinstance(place.base, Register):
        return False
    terms = execution.read(place.base, TYPE_BITS.get(place.base.type or "b64", 64), active).terms
    return terms is not None and not (terms == KNOWN).all()


def possible_values(execution: Execution, value: Value, what: str) -> Iterator[tuple[Indices, Words]]:
    """Yield which members of a value depend on one small element each in the same way, and what they may be.

    Members that are known are left out.

    Raises
    ------
    UnsupportedError
        If others depend on more; `what` says what the value is for.
    """
    functions, terms = functions_of(execution), value.as_terms(execution.store)
    found = is_of_small_element(execution, terms)
    if not found.all():
        require_known(f"{what} of {execution.instruction.mnemonic}", value.at(~found))
    leaves = functions.leaves(terms)
    shapes = np.where(found, functions.shapes(terms), -1)
    for shape in np.unique(shapes[found]):
        some = np.flatnonzero(shapes == shape)
        yield (
            some,
            np.unique(functions.all_values(int(terms[some[0]]), int(leaves[some[0]]), numbers_only=False)),
        )


def functions_of(execution: Execution) -> LeafFunctions:
    """Return what terms of an execution are functions of."""
    found: LeafFunctions = execution.state.setdefault("leaf functions", LeafFunctions(execution.store))
    return found


def is_of_small_element(execution: Execution, terms: Ids) -> NDArray[np.bool_]:
    """Tell which terms (n,) depend on one element of at most `WIDEST` bits and nothing else."""
    leaves = functions_of(execution).leaves(terms)
    found = leaves >= 0
    found[found] = execution.store.widths(leaves[found]) <= WIDEST
    return np.asarray(found)


def chosen_entry(store: TermStore, terms: Ids, entries: Words, words: Ids) -> Ids:
    """Return, of words (n, entries, count), those of the entries that terms (n,) are."""
    width = int(store.widths(terms[:1])[0])
    equal = operations.compare(operations.unsigned(width), "eq")
    choice = operations.select(int(store.widths(words[:1, 0, 0])[0]))
    found = words[:, 0]
    for index in range(1, len(entries)):
        holds = apply(store, equal, terms, store.constants(entries[index], width))
        found = apply(store, choice, holds[:, None], words[:, index], found)
    return found
