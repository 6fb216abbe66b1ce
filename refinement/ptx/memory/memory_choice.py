"""Memory merged from two branches by a condition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...machine.memory import ByteLanes, Offsets
from ...terms import bit_slices
from ...terms.interning import Ids
from ..registers.threads import Indices
from ..registers.value_operations import chosen
from ..registers.values import Value, of_terms
from ..state.execution import Execution
from ..state.state_space import Space
from ..state.undo_log import Store, UndoLog


class _Held(NamedTuple):
    """What some lanes of a space hold."""

    lanes: Offsets
    terms: Ids
    lows: NDArray[np.uint8]


class Left:
    """The final contents of the stores in a log, which are then undone.

    Parameters
    ----------
    log : UndoLog
        The stores.
    """

    def __init__(self, log: UndoLog) -> None:
        self.stores = log.stores
        self._held: dict[int, _Held] = {}
        for part, some in _by_space(log.stores):
            lanes = np.unique(np.concatenate([each.lanes.reshape(-1) for each in some]))
            self._held[id(part)] = _held(part.lanes, lanes)
        log.undo()

    def words(self, execution: Execution, part: Space, offsets: Offsets, size: int) -> Ids:
        """Return the words (n,) that a space holds with the stores made, undefined where nobody wrote."""
        held = self._held.get(id(part))
        if held is None:
            return _words(execution, part.lanes, offsets, size)
        before = _held(part.lanes, held.lanes)
        _put(part.lanes, held)
        found = _words(execution, part.lanes, offsets, size)
        _put(part.lanes, before)
        return found


def choose(execution: Execution, then: Left, otherwise: Left, conditions: Value) -> None:
    """Write to memory what conditions choose from what two ways left.

    Parameters
    ----------
    execution : Execution
        The state, in which neither way was gone.
    then, otherwise : Left
        The ways.
    conditions : Value (threads,)
        One bit of every thread that went them.

    Raises
    ------
    UnsupportedError
        If threads with different conditions wrote one place.
    """
    store = execution.store
    for part, stores in _by_space([*then.stores, *otherwise.stores]):
        _check_conditions(execution, part, stores, conditions)
        for offsets, threads, size in list(_pieces(stores)):
            sides = (
                of_terms(store, way.words(execution, part, offsets, size), 8 * size)
                for way in (then, otherwise)
            )
            words = chosen(store, conditions.at(threads), *sides).as_terms(store)
            execution.note_store(part, offsets, size, size, threads)
            part.lanes.write(offsets, words)


def _by_space(stores: Sequence[Store]) -> Iterator[tuple[Space, list[Store]]]:
    for part in {id(store.part): store.part for store in stores}.values():
        yield part, [store for store in stores if store.part is part]


def _check_conditions(execution: Execution, part: Space, stores: Sequence[Store], conditions: Value) -> None:
    """Check that every byte is written by threads of one condition."""
    lanes = np.concatenate([store.lanes.reshape(-1) for store in stores])
    terms = conditions.as_terms(execution.store)
    owned = np.concatenate([np.repeat(terms[store.threads], store.terms.shape[1]) for store in stores])
    pairs = np.unique(np.stack([lanes, owned]), axis=1)
    twice = np.flatnonzero(pairs[0, 1:] == pairs[0, :-1])
    if len(twice):
        place = part.place(int(pairs[0, twice[0]]))
        execution.unsupported(f"threads under branches on different data write the same place, {place}")


def _pieces(stores: Sequence[Store]) -> Iterator[tuple[Offsets, Indices, int]]:
    """Yield offsets, threads and size of words, wide ones first, in which each byte written is once."""
    done: Offsets = np.zeros(0, dtype=np.int64)
    for store in sorted(stores, key=lambda each: -each.size):
        words = store.lanes.reshape(-1, store.size)
        threads = np.repeat(store.threads, store.terms.shape[1] // store.size)
        _, first = np.unique(words[:, 0], return_index=True)
        words, threads = words[first], threads[first]
        fresh: NDArray[np.bool_] = np.isin(words, done, invert=True)
        whole = np.asarray(fresh.all(axis=1))
        if whole.any():
            yield words[whole, 0], threads[whole], store.size
        rest = fresh & ~whole[:, None]
        if rest.any():
            yield words[rest], np.repeat(threads, rest.sum(axis=1)), 1
        done = np.concatenate([done, words[fresh]])


def _held(lanes: ByteLanes, places: Offsets) -> _Held:
    return _Held(places, lanes.terms[places], lanes.lows[places])


def _put(lanes: ByteLanes, held: _Held) -> None:
    lanes.terms[held.lanes], lanes.lows[held.lanes] = held.terms, held.lows


def _words(execution: Execution, lanes: ByteLanes, offsets: Offsets, size: int) -> Ids:
    store = execution.store
    there = lanes.written(offsets, size)
    words = np.empty(len(offsets), dtype=np.int32)
    if there.any():
        words[there] = lanes.read(offsets[there], size)
    lost = offsets[~there]
    if not len(lost):
        return words
    if size == 1:
        words[~there] = store.undefined(len(lost), 8)
        return words
    parts = [_words(execution, lanes, lost + byte, 1) for byte in range(size)]
    words[~there] = bit_slices.concatenate(store, parts)
    return words
