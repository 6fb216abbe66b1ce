"""Table look-ups: loads and shuffles at places that data tell, as selects.

Such are the look-ups of small formats in a table (NF4, codebooks), in memory or held by lanes, and of rows by
an index that `[requires]` or a mask bounds. Every place that some value leads to is loaded, and must be one
that may be.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import numpy as np
from numpy.typing import NDArray

from ....spec.ptx.operands import Address, Register
from ...analysis.enumerated_words import Enumerated, EnumeratedWords
from ...analysis.exponents_on_path import possible_exponents
from ...terms.chosen_words import equal_to, word_at
from ...terms.evaluation import Words, ones
from ...terms.interning import Ids
from ...terms.value_tables import LeafFunctions
from ..registers.dependence import require_known
from ..registers.threads import Indices
from ..registers.values import KNOWN, Value, of_terms
from ..state.execution import Execution
from ..text.module import TYPE_BITS
from ..text.operands import Operand
from .addressing import addresses
from .memory_access import load
from .symbolic_accesses import load_of_any_size

WIDEST = 8
"""Bits of the widest element by which a table may be indexed: a table has at most 256 entries."""

_MOST_LOADED = 1 << 22
"""Words that are loaded by one instruction, at most."""


def load_found(
    execution: Execution, space: str, place: Operand, size: int, count: int, active: Indices
) -> Ids:
    """Return what `count` neighbouring words (n, count) of `size` bytes hold, as `load` does.

    Raises
    ------
    UnsupportedError
        If an address depends on data other than one element of at most `WIDEST` bits, or one integer that is
        known to have few values.
    """
    base = place.base if isinstance(place, Address) else None
    if not isinstance(base, Register):
        return load(execution, space, addresses(execution, place, active), size, count, active)
    if (symbolic := load_of_any_size(execution, space, place, size, count, active)) is not None:
        return symbolic
    if not is_found_by_data(execution, place, active):
        return load(execution, space, addresses(execution, place, active), size, count, active)
    words = np.zeros((len(active), count), dtype=np.int32)
    known, told = places_by_data(execution, place, active)
    words[known.places] = load(execution, space, known.words[:, 0], size, count, active[known.places])
    for found in told:
        at = found.words
        if at.size * count > _MOST_LOADED:
            execution.unsupported(
                f"a data-dependent address may reach {at.size * count} words; at most {_MOST_LOADED}"
            )
        each = _loaded(execution, space, found, active[found.places], size, count)
        words[found.places] = word_at(execution.store, found.integers, found.codes, each)
    return words


def _loaded(
    execution: Execution, space: str, found: Enumerated, threads: Indices, size: int, count: int
) -> Ids:
    """Return the words (n, E, count) at all places that data may lead threads (n,) to."""
    at = found.words
    everyone = np.repeat(threads, at.shape[1])
    with on_value(execution, found, threads):
        words = execution.tried(lambda: load(execution, space, at.reshape(-1), size, count, everyone))
    if words is not None:
        return words.reshape(*at.shape, count)
    columns = []
    for place, one in each_value(execution, found, threads):
        with one:
            columns.append(load(execution, space, place, size, count, threads))
    return np.stack(columns, axis=1)


def on_value(
    execution: Execution, found: Enumerated, threads: Indices, index: int = 0
) -> AbstractContextManager[None]:
    """Run where integers have one of their values: what happens there, happens if data lead there."""
    if len(found.codes) == 1:
        return nullcontext()
    holds = equal_to(execution.store, found.integers, found.codes[index])
    return execution.on_condition(of_terms(execution.store, holds, 1), threads)


def each_value(
    execution: Execution, found: Enumerated, threads: Indices
) -> Iterator[tuple[Words, AbstractContextManager[None]]]:
    """Yield the words (n,) for each value of integers, and what to run where they have it."""
    for index in range(len(found.codes)):
        yield found.words[:, index], on_value(execution, found, threads, index)


def places_by_data(
    execution: Execution, place: Operand, active: Indices
) -> tuple[Enumerated, Iterator[Enumerated]]:
    """Return the addresses of active threads that are known, and those that data tell.

    Raises
    ------
    UnsupportedError
        As `load_found`.
    """
    assert isinstance(place, Address) and isinstance(place.base, Register)
    width = TYPE_BITS.get(place.base.type or "b64", 64)
    value, offset = execution.read(place.base, width, active), np.uint64(place.offset & 0xFFFFFFFFFFFFFFFF)
    assert value.terms is not None
    members = np.flatnonzero(value.terms == KNOWN)
    at = value.numbers[members, None] + offset & ones(width)
    known = Enumerated(members, value.terms[members], np.zeros(1, dtype=np.uint64), at)
    told = possible_values(execution, value, f"the address {place.base}")
    moved = (each._replace(words=each.words + offset & ones(width)) for each in told)
    return known, (_on_path(execution, each, active) for each in moved)


def _on_path(execution: Execution, found: Enumerated, threads: Indices) -> Enumerated:
    """Return words with another one in place of those with which no thread comes here.

    In ``i < 0 ? 0 : x[i]`` nobody loads ``x[-1]``, nor in ``abs(x) < 2 ? 0 : t[exponent(x)]`` what lies at
    the exponents of less.
    """
    if execution.path is None:
        return found
    path = execution.path.at(threads[found.places]).as_terms(execution.store)
    enumerated, comes = _enumerated_of(execution), np.ones(found.words.shape, dtype=np.bool_)
    members = np.flatnonzero(enumerated.are(path))
    for condition in enumerated.of(path[members]):
        places = members[condition.places]
        same = condition.integers == found.integers[places]
        if np.array_equal(condition.codes, found.codes):
            comes[places[same]] = condition.words[same] != 0
    for place, (condition, integer) in enumerate(zip(path.tolist(), found.integers.tolist(), strict=True)):
        comes[place] &= possible_exponents(execution.store, condition, integer, found.codes)
    any_other = np.take_along_axis(found.words, comes.argmax(axis=1)[:, None], axis=1)
    return found._replace(words=np.where(comes, found.words, any_other))


def is_found_by_data(execution: Execution, place: Operand, active: Indices) -> bool:
    """Tell whether an address depends on data."""
    if not isinstance(place, Address) or not isinstance(place.base, Register):
        return False
    terms = execution.read(place.base, TYPE_BITS.get(place.base.type or "b64", 64), active).terms
    return terms is not None and not (terms == KNOWN).all()


def possible_values(execution: Execution, value: Value, what: str) -> Iterator[Enumerated]:
    """Yield what members of a value may be, where data tell.

    Members that are known are left out.

    Raises
    ------
    UnsupportedError
        If others depend on more; `what` says what the value is for.
    """
    functions, terms = functions_of(execution), value.as_terms(execution.store)
    enumerated = _enumerated_of(execution)
    few = enumerated.are(terms)
    small = is_of_small_element(execution, terms) & ~few
    if not (few | small).all():
        require_known(f"{what} of {execution.instruction.mnemonic}", value.at(~few & ~small))
    leaves = functions.leaves(terms)
    shapes = np.where(small, functions.shapes(terms), -1)
    for shape in np.unique(shapes[small]):
        some = np.flatnonzero(shapes == shape)
        one = int(terms[some[0]])
        codes = np.unique(functions.all_values(one, int(leaves[some[0]]), numbers_only=False))
        yield Enumerated(some, terms[some], codes, np.broadcast_to(codes, (len(some), len(codes))))
    members = np.flatnonzero(few)
    for found in enumerated.of(terms[members]):
        yield Enumerated(members[found.places], found.integers, found.codes, found.words)


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


def _enumerated_of(execution: Execution) -> EnumeratedWords:
    found: EnumeratedWords = execution.state.setdefault("enumerated words", EnumeratedWords(execution.store))
    return found
