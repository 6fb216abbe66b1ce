"""Vector instructions that insert and extract elements at a place that a register gives.

Places are counted in bytes, from the left as the ISA counts, or from the right. What reaches beyond a
register is undefined.

Source: Power ISA 3.1 Book I sections 6.8.7 to 6.8.9.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from ....spec.power.registers import REGISTER_BYTES
from ...machine.memory import ABSENT
from ..image.instruction_forms import Instruction
from ..image.vector_forms import ELEMENT_BITS
from ..machine import Handler, Machine
from ..state.registers import Bytes
from ..state.words import Word, known
from .permutations import read, register_number, write


def _index(machine: Machine, instruction: Instruction, operand: int, count: int) -> int:
    """Return the low bits of a general-purpose register, a number below a power of two."""
    word = machine.registers.general[instruction.values[operand]]
    return known(f"the place of {instruction}", machine.words.cut(word, 0, count.bit_length() - 1))


def _bytes(machine: Machine, word: Word, size: int) -> Bytes:
    """Return the low bytes of a word, most significant first."""
    term = machine.words.term(machine.words.cut(word, 0, 8 * size), 8 * size)
    return np.full(size, term, dtype=np.int32), (8 * np.arange(size)[::-1]).astype(np.uint8)


def _placed(machine: Machine, instruction: Instruction, data: Bytes, first: int) -> None:
    """Write bytes into an instruction's first operand from a byte on; all is undefined if they do not fit."""
    terms, lows = read(machine, instruction, register_number(instruction, 0))
    terms, lows = terms.copy(), lows.copy()
    size = len(data[0])
    if 0 <= first <= REGISTER_BYTES - size:
        terms[first : first + size], lows[first : first + size] = data
    else:
        terms[:] = ABSENT
    write(machine, instruction, (terms, lows))


def _from_general(size: int) -> Handler:
    """Return ``vinsw`` or ``vinsd``: the low bytes of a register at a byte that the instruction names."""
    return lambda machine, instruction: _placed(
        machine,
        instruction,
        _bytes(machine, machine.registers.general[instruction.values[1]], size),
        instruction.values[2],
    )


def _from_general_at(size: int, *, left: bool) -> Handler:
    """Return ``vinsblx`` and the like: the low bytes of a register at a byte that another one tells."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        index = _index(machine, instruction, 1, REGISTER_BYTES)
        data = _bytes(machine, machine.registers.general[instruction.values[2]], size)
        _placed(machine, instruction, data, index if left else REGISTER_BYTES - size - index)

    return handler


def _from_vector_at(size: int, *, left: bool) -> Handler:
    """Return ``vinsbvlx`` and the like: the end of doubleword 0 at a byte that a register tells."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        index = _index(machine, instruction, 1, REGISTER_BYTES)
        terms, lows = read(machine, instruction, register_number(instruction, 2))
        data = terms[8 - size : 8], lows[8 - size : 8]
        _placed(machine, instruction, data, index if left else REGISTER_BYTES - size - index)

    return handler


def _of_two_vectors(size: int, *, left: bool) -> Handler:
    """Return ``vextdubvlx`` and the like: bytes of two registers at the end of doubleword 0, zeros around."""
    both = 2 * REGISTER_BYTES

    def handler(machine: Machine, instruction: Instruction) -> None:
        index = _index(machine, instruction, 3, both)
        first = index if left else both - size - index
        one, other = (read(machine, instruction, register_number(instruction, each)) for each in (1, 2))
        terms = np.full(REGISTER_BYTES, int(machine.store.constants(0, 8)), dtype=np.int32)
        lows = np.zeros(REGISTER_BYTES, dtype=np.uint8)
        if 0 <= first <= both - size:
            terms[8 - size : 8] = np.concatenate([one[0], other[0]])[first : first + size]
            lows[8 - size : 8] = np.concatenate([one[1], other[1]])[first : first + size]
        else:
            terms[:] = ABSENT
        write(machine, instruction, (terms, lows))

    return handler


def _to_general(size: int, *, left: bool) -> Handler:
    """Return ``vextublx`` and the like: bytes of a vector as a number."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        index = _index(machine, instruction, 1, REGISTER_BYTES)
        first = index if left else REGISTER_BYTES - size - index
        target, register = instruction.values[0], register_number(instruction, 2)
        if not 0 <= first <= REGISTER_BYTES - size:
            machine.set_general(target, machine.words.word(int(machine.store.undefined(1, 64)[0])))
            return
        words = machine.registers
        read(machine, instruction, register)
        at = REGISTER_BYTES * register
        words.define(words.vectors, slice(at, at + REGISTER_BYTES))
        term = words.vectors.read(np.array([at + REGISTER_BYTES - size - first]), size)
        machine.set_general(
            target, machine.words.joined((machine.words.word(int(term[0])), 8 * size), (0, 64 - 8 * size))
        )

    return handler


def _handlers() -> Mapping[str, Handler]:
    found: dict[str, Handler] = {"vinsw": _from_general(4), "vinsd": _from_general(8)}
    for letter, width in ELEMENT_BITS.items():
        size = width // 8
        unsigned = letter if letter == "d" else f"u{letter}"
        for side, left in (("l", True), ("r", False)):
            found[f"vins{letter}{side}x"] = _from_general_at(size, left=left)
            found[f"vextd{unsigned}v{side}x"] = _of_two_vectors(size, left=left)
            if size < 8:
                found[f"vins{letter}v{side}x"] = _from_vector_at(size, left=left)
                found[f"vextu{letter}{side}x"] = _to_general(size, left=left)
    return found


HANDLERS: Mapping[str, Handler] = MappingProxyType(_handlers())
"""What carries out the instructions of this module, by mnemonic."""
