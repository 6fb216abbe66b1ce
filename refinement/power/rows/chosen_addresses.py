"""Accesses at addresses that data select, as by `isel`: one at each place, then a select."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...conditions.ite_constants import parted
from ...terms.truth_tables import A, B
from ...terms.value_tables import LeafFunctions
from ..machine import Machine
from ..state.merging import Merging
from ..state.stores_of_paths import Stores
from ..state.words import Data, Word, known


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
        known("an address", address)
    bit = int(bits[0])
    before, path = machine.registers, machine.path
    left = []
    for (term,), table in zip(sides, (A & B, A & ~B), strict=True):
        machine.registers = before.copy()
        machine.path = words.combined(table, path, Data(bit), 1)
        storage.log.begin(Stores())
        try:
            access_each(machine, words.word(int(term)), access)
        finally:
            stores = storage.log.end()
        left.append((machine.registers, stores))
    (one, then), (other, otherwise) = left
    merging = Merging(words, bit)
    machine.path, machine.registers = path, merging.registers(one, other)
    storage.log.put(merging.stores(storage.log, storage.lanes, then, otherwise))
