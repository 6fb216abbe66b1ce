"""Registers of a Power processor, on terms.

A vector-scalar register is 16 bytes of `ByteLanes`, least significant first: what ``lxv`` copies from
memory as it is. The ISA counts elements from the most significant end.
"""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import NDArray

from ....spec.power.instructions import VSRS_PER_ACCUMULATOR
from ....spec.power.open_results import REGISTER_BYTES as OPEN_BYTES
from ....spec.power.priming import ACCUMULATORS
from ....spec.power.registers import ACCUMULATOR_ROWS, REGISTER_BYTES
from ....spec.power.state import VSRS
from ...machine.memory import ABSENT, ByteLanes
from ...terms.interning import Ids
from ...terms.store import TermStore
from .words import Data, Word

Bytes = tuple[Ids, NDArray[np.uint8]]
"""Terms (count,), `ABSENT` where nothing is known, and the lowest bit of each byte in its term."""

GENERAL = 32
CONDITIONS = 32
"""Bits of the condition register."""


SAVED_FLOATS = range(14, 32)
"""Floating-point registers that belong to the caller: f14 to f31, the halves of vs14 to vs31."""

_VOLATILE = (0, *range(4, 13))
_VOLATILE_FIELDS = (0, 1, 5, 6, 7)
"""Registers, and fields of CR, that a function need not restore."""


class Registers:
    """All registers; those that nobody has written are undefined.

    Parameters
    ----------
    store : TermStore
        Where terms are made.
    shared : bool
        Whether accumulators are the storage of their vector-scalar registers; none is primed then.

    Attributes
    ----------
    general : list of Word
        r0 to r31.
    conditions : list of Word
        Bits 0 (LT of CR0) to 31.
    carry, overflow : Word
        XER's CA and SO.
    link, count, vector_save : Word
        LR, CTR and VRSAVE.
    vectors : ByteLanes
        64 registers of 16 bytes.
    accumulators : ByteLanes
        Eight of four rows, each as a register.
    primed : list of bool
        Which of them are.
    lost_by : dict of int to str
        What overwrote registers of an accumulator that was primed, and where, until that is used again.
    initial : dict of str to int
        The undefined term that each register holds at first, by its name.
    """

    def __init__(self, store: TermStore, *, shared: bool = False) -> None:
        self.store = store
        self.shared = shared
        general = store.undefined(GENERAL, 64)
        bits = store.undefined(CONDITIONS, 1)
        halves = store.undefined(2 * VSRS, 64)
        self.general: list[Word] = [Data(int(term)) for term in general]
        self.conditions: list[Word] = [Data(int(term)) for term in bits]
        special = store.undefined(2, 64)
        self.carry: Word = Data(int(store.undefined(1, 1)[0]))
        self.overflow: Word = 0
        self.link: Word = Data(int(special[0]))
        self.count: Word = Data(int(special[1]))
        self.vectors = ByteLanes(store, VSRS * REGISTER_BYTES)
        self.vectors.write(8 * np.arange(2 * VSRS), halves)
        self.accumulators = ByteLanes(store, ACCUMULATORS * ACCUMULATOR_ROWS * REGISTER_BYTES)
        if shared:
            self._share()
        self.vector_save: Word = Data(int(store.undefined(1, 64)[0]))
        self.primed = [False] * ACCUMULATORS
        self.lost_by: dict[int, str] = {}
        self.initial = {f"r{number}": int(term) for number, term in enumerate(general)}
        self.initial |= {f"bit {bit} of cr": int(term) for bit, term in enumerate(bits)}
        self.initial |= {"ctr": int(special[1]), "lr": int(special[0])}
        for half, term in enumerate(halves):
            self.initial[f"doubleword {1 - half % 2} of vs{half // 2}"] = int(term)

    def copy(self) -> Registers:
        """Return registers that hold the same."""
        found = copy(self)
        found.general, found.conditions = list(self.general), list(self.conditions)
        found.primed, found.lost_by = list(self.primed), dict(self.lost_by)
        found.vectors = _copied(self.vectors)
        found.accumulators = _copied(self.accumulators)
        if self.shared:
            found._share()
        return found

    def _share(self) -> None:
        own = slice(len(self.accumulators))
        self.accumulators.terms = self.vectors.terms[own]
        self.accumulators.lows = self.vectors.lows[own]

    def primed_over_saved(self) -> list[int]:
        """Return the accumulators that are primed and cover registers that belong to the caller.

        Others may be left so: who writes one of their registers loses nothing but the accumulator.
        """
        owners = {number // VSRS_PER_ACCUMULATOR for number in SAVED_FLOATS}
        return [each for each, primed in enumerate(self.primed) if primed and each in owners]

    def forget_volatile(self) -> None:
        """Leave what a function may change without restoring it undefined, but for r3, which it returns.

        Source: Power Architecture 64-bit ELF V2 ABI, version 1.4, section 2.2.1.
        """
        for number, term in zip(_VOLATILE, self.store.undefined(len(_VOLATILE), 64), strict=True):
            self.general[number] = Data(int(term))
        for field in _VOLATILE_FIELDS:
            bits = self.store.undefined(4, 1)
            self.conditions[4 * field : 4 * field + 4] = [Data(int(term)) for term in bits]
        self.count = Data(int(self.store.undefined(1, 64)[0]))
        self.carry = Data(int(self.store.undefined(1, 1)[0]))
        terms = self.vectors.terms.reshape(VSRS, REGISTER_BYTES)
        terms[:14] = terms[32:52] = ABSENT
        terms[14:32, :8] = ABSENT

    # -- vector-scalar registers
    def bytes_of(self, number: int) -> Bytes:
        """Return the bytes of a register, least significant first."""
        at = REGISTER_BYTES * number
        held = slice(at, at + REGISTER_BYTES)
        return self.vectors.terms[held].copy(), self.vectors.lows[held].copy()

    def set_bytes(self, number: int, data: Bytes) -> None:
        """Replace the bytes of a register."""
        at = REGISTER_BYTES * number
        self.vectors.terms[at : at + REGISTER_BYTES], self.vectors.lows[at : at + REGISTER_BYTES] = data

    def elements(self, number: int, size: int) -> Ids:
        """Return the words (16 / size,) of a register, in the ISA's order: most significant first."""
        at = REGISTER_BYTES * number
        self.define(self.vectors, slice(at, at + REGISTER_BYTES))
        return self.vectors.read(at + np.arange(REGISTER_BYTES - size, -1, -size), size)

    def set_elements(self, number: int, words: Ids) -> None:
        """Replace a register by words of 8, 16, 32 or 64 bits, most significant first."""
        size = REGISTER_BYTES // len(words)
        self.vectors.write(REGISTER_BYTES * number + np.arange(REGISTER_BYTES - size, -1, -size), words)

    def doubleword(self, number: int, index: int = 0) -> int:
        """Return the term of a doubleword; 0 is the most significant, a floating-point register."""
        at = REGISTER_BYTES * number + 8 * (1 - index)
        self.define(self.vectors, slice(at, at + 8))
        return int(self.vectors.read(np.array([at]), 8)[0])

    def set_scalar(self, number: int, term: int, *, zeroed: bool) -> None:
        """Replace doubleword 0; the other one becomes zero, or undefined."""
        at = REGISTER_BYTES * number
        self.vectors.write(np.array([at + 8]), np.array([term], dtype=np.int32))
        if zeroed:
            self.vectors.write(np.array([at]), self.store.constants([0], 64))
        else:
            self.vectors.terms[at : at + 8] = ABSENT

    def define(self, lanes: ByteLanes, held: slice) -> None:
        """Give bytes of which nothing is known terms of which nothing is known."""
        terms = lanes.terms[held]
        absent = terms == ABSENT
        if absent.any():
            terms[absent] = self.store.undefined(int(absent.sum()), 8, OPEN_BYTES)
            lanes.lows[held][absent] = 0


def _copied(lanes: ByteLanes) -> ByteLanes:
    found = copy(lanes)
    found.terms, found.lows = lanes.terms.copy(), lanes.lows.copy()
    return found
