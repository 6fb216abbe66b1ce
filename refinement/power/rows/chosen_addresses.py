"""Accesses at addresses that data tell: one at each place, then a select.

Bits select them, as by `isel`, or one integer of few values does, as an index that `[requires]` bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ...analysis.enumerated_words import Enumerated, EnumeratedWords
from ...conditions.ite_constants import parted
from ...terms.chosen_words import equal_to
from ...terms.store import TermStore
from ...terms.truth_tables import A, B
from ...terms.value_tables import LeafFunctions
from ..machine import Machine
from ..state.merging import Merging
from ..state.registers import Registers
from ..state.stores_of_paths import Stores
from ..state.words import Data, Word, known

MOST = 256
"""Places that one integer tells, at most: each costs a copy of the registers."""


def access_each(machine: Machine, address: Word, access: Callable[[int], None]) -> None:
    """Do an access at an address, or at each of those that bits choose from.

    Parameters
    ----------
    machine : Machine
        Its registers and its memory are choices afterwards.
    address : Word
        Where.
    access : callable
        Does it at a place.

    Raises
    ------
    UnknownNumberError
        If the address depends on more than a few bits of the data.
    """
    if not isinstance(address, Data):
        access(address)
        return
    words, storage = machine.words, machine.storage
    _, bits, *sides = parted(LeafFunctions(machine.store), np.array([address.term], dtype=np.int32))
    if not len(bits) or not machine.ways.is_decided_by_data(int(bits[0])):
        _access_enumerated(machine, address, access)
        return
    bit = int(bits[0])
    before, path = machine.registers, machine.path
    left = []
    for (term,), table in zip(sides, (A & B, A & ~B), strict=True):
        path_there = words.combined(table, path, Data(bit), 1)
        place = words.word(int(term))
        left.append(_tried(machine, before, path_there, partial(access_each, machine, place, access)))
    (one, then), (other, otherwise) = left
    merging = Merging(words, bit)
    machine.path, machine.registers = path, merging.registers(one, other)
    storage.log.put(merging.stores(storage.log, storage.lanes, then, otherwise))


def _tried(
    machine: Machine, before: Registers, path: Word, access: Callable[[], None]
) -> tuple[Registers, Stores]:
    """Do an access on a path; return what registers hold then, and what it would store."""
    machine.registers, machine.path = before.copy(), path
    machine.storage.log.begin(Stores())
    try:
        access()
    finally:
        stores = machine.storage.log.end()
    return machine.registers, stores


def _access_enumerated(machine: Machine, address: Data, access: Callable[[int], None]) -> None:
    """Do an access at each address that one integer tells, in the order in which formulas choose."""
    words, storage, store = machine.words, machine.storage, machine.store
    enumerated = _enumerated(store)
    found = next(enumerated.of(np.array([address.term], dtype=np.int32)), None)
    if found is None or len(found.codes) > MOST:
        known("an address", address)
        return
    before, path = machine.registers, machine.path
    machine.is_nowhere = True  # of a load: zeros, as formulas have it where no place is chosen
    try:
        registers, _ = _tried(machine, before, path, partial(access, 0))
    finally:
        machine.is_nowhere = False
    for index in np.flatnonzero(_comes(enumerated, path, found)):
        bit = int(equal_to(store, found.integers, found.codes[index])[0])
        path_there = words.combined(A & B, path, words.word(bit), 1)
        place = partial(access, int(found.words[0, index]))
        there, stores = _tried(machine, before, path_there, place)
        merging = Merging(words, bit)
        registers = merging.registers(there, registers)
        storage.log.put(merging.stores(storage.log, storage.lanes, stores, Stores()))
    machine.path, machine.registers = path, registers


def _comes(enumerated: EnumeratedWords, path: Word, found: Enumerated) -> NDArray[np.bool_]:
    """Tell with which values of an integer a path is gone, as far as the integer decides."""
    comes = np.ones(len(found.codes), dtype=bool)
    if isinstance(path, Data):
        for condition in enumerated.of(np.array([path.term], dtype=np.int32)):
            if condition.integers == found.integers and np.array_equal(condition.codes, found.codes):
                comes = condition.words[0] != 0
    return comes


_ENUMERATED: WeakKeyDictionary[TermStore, EnumeratedWords] = WeakKeyDictionary()
"""What is known of the words of each store."""


def _enumerated(store: TermStore) -> EnumeratedWords:
    return _ENUMERATED.setdefault(store, EnumeratedWords(store))
