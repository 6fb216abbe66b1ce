"""Semantics of loads and stores, little-endian.

Source: Power ISA 3.1 Book I sections 3.3, 4.6, 6.7 and 7.6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from ....spec.power.registers import REGISTER_BYTES
from ..image.instruction_forms import Instruction
from ..machine import Handler, Machine
from ..state import scalars
from ..state.accumulator_rules import check_read, check_write
from ..state.registers import Bytes
from ..state.storage import RED_ZONE
from ..state.words import MASK, Word, known
from .chosen_addresses import access_each
from .fixed_point import relative

_BLOCK = 128
"""Bytes of a cache block."""

Loaded = Callable[[Machine, Instruction, int, int], None]
"""Carries a load or a store out, given the register and the address."""


def _address(machine: Machine, instruction: Instruction) -> Word:
    """Return the address of an access."""
    names = [operand.name for operand in instruction.form.operands]
    _, first, second, *rest = instruction.values
    if names[-1] == "R":
        return relative(machine, second, first, rest[0])
    if names[2] in ("RA", "RA0"):
        base = machine.base(second) if names[2] == "RA0" else machine.registers.general[second]
        return machine.words.add(base, first & MASK)
    base = machine.base(first) if names[1] == "RA0" else machine.registers.general[first]
    return machine.words.add(base, machine.registers.general[second])


def _accessing(access: Loaded) -> Handler:
    """Return the handler of an access; forms with an update write the address back."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        word = _address(machine, instruction)
        updated = [
            value
            for operand, value in zip(instruction.form.operands[1:], instruction.values[1:], strict=True)
            if operand.name == "RA"
        ]
        if 1 in updated:  # what is below the stack pointer is the function's with the store that moves it
            machine.storage.low = min(machine.storage.low, known("an address", word) - RED_ZONE)
        register = _register(instruction)
        access_each(machine, word, lambda address: access(machine, instruction, register, address))
        for number in updated:
            machine.set_general(number, word)

    return handler


def _register(instruction: Instruction) -> int:
    """Return the register that is loaded or stored; a vector register is VSR 32 and up."""
    operand = instruction.form.operands[0]
    return instruction.values[0] + (32 if operand.register == "v" else 0)


# -- general-purpose registers
def _load_word(size: int, *, sign: bool = False, swaps: bool = False) -> Loaded:
    def access(machine: Machine, instruction: Instruction, register: int, address: int) -> None:
        terms, lows = machine.load(address, size, instruction.mnemonic)
        data = (terms[::-1], lows[::-1]) if swaps else (terms, lows)
        machine.set_general(register, machine.words.extended(machine.word_of(data), 8 * size, sign=sign))

    return access


def _store_word(size: int, *, swaps: bool = False) -> Loaded:
    def access(machine: Machine, instruction: Instruction, register: int, address: int) -> None:
        terms, lows = machine.bytes_of(machine.registers.general[register], size)
        data = (terms[::-1], lows[::-1]) if swaps else (terms, lows)
        machine.save(address, data, instruction.mnemonic)

    return access


# -- scalars in vector-scalar registers
def _load_scalar(size: int, *, kind: str) -> Loaded:
    """Return a load to doubleword 0: of a single, of a double, or of an integer; the other is undefined."""

    def access(machine: Machine, instruction: Instruction, register: int, address: int) -> None:
        check_write(machine, instruction, register)
        word = machine.word_of(machine.load(address, size, instruction.mnemonic))
        if kind == "single":
            term = scalars.widened(machine.store, machine.words.term(word, 32))
        else:
            wide = machine.words.extended(word, 8 * size, sign=kind == "signed")
            term = machine.words.term(wide)
        machine.registers.set_scalar(register, term, zeroed=False)

    return access


def _store_scalar(size: int, *, kind: str = "integer") -> Loaded:
    def access(machine: Machine, instruction: Instruction, register: int, address: int) -> None:
        check_read(machine, instruction, register)
        term = machine.registers.doubleword(register)
        if kind == "single":
            term = scalars.single(machine.store, term, instruction.mnemonic)
        machine.save(address, machine.bytes_of(machine.words.word(term), size), instruction.mnemonic)

    return access


# -- whole vector-scalar registers
def _load_vectors(count: int) -> Loaded:
    """Return a load of neighbouring registers: the last one has the beginning of memory."""

    def access(machine: Machine, instruction: Instruction, register: int, address: int) -> None:
        terms, lows = machine.load(address, REGISTER_BYTES * count, instruction.mnemonic)
        for index in range(count):
            number = register + count - 1 - index
            check_write(machine, instruction, number)
            held = slice(REGISTER_BYTES * index, REGISTER_BYTES * (index + 1))
            machine.registers.set_bytes(number, (terms[held], lows[held]))

    return access


def _stored(machine: Machine, instruction: Instruction, register: int) -> Bytes:
    """Return the bytes of a register that is stored, least significant first."""
    check_read(machine, instruction, register)
    at = REGISTER_BYTES * register
    machine.registers.define(machine.registers.vectors, slice(at, at + REGISTER_BYTES))
    return machine.registers.bytes_of(register)


def _store_vectors(count: int) -> Loaded:
    def access(machine: Machine, instruction: Instruction, register: int, address: int) -> None:
        parts = [_stored(machine, instruction, register + count - 1 - index) for index in range(count)]
        terms, lows = (np.concatenate([part[which] for part in parts]) for which in (0, 1))
        machine.save(address, (terms, lows), instruction.mnemonic)

    return access


def _elements_of(size: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return the byte of memory for each byte of a register, least significant first: elements in order."""
    at = np.arange(REGISTER_BYTES)
    return REGISTER_BYTES - size * (at // size + 1) + at % size


def _load_elements(size: int) -> Loaded:
    """Return a load of elements of some bytes: the first in memory is the most significant."""
    order = _elements_of(size)

    def access(machine: Machine, instruction: Instruction, register: int, address: int) -> None:
        check_write(machine, instruction, register)
        terms, lows = machine.load(address, REGISTER_BYTES, instruction.mnemonic)
        machine.registers.set_bytes(register, (terms[order], lows[order]))

    return access


def _store_elements(size: int) -> Loaded:
    order = _elements_of(size)

    def access(machine: Machine, instruction: Instruction, register: int, address: int) -> None:
        terms, lows = _stored(machine, instruction, register)
        machine.save(address, (terms[order], lows[order]), instruction.mnemonic)

    return access


def _load_splat(size: int) -> Loaded:
    def access(machine: Machine, instruction: Instruction, register: int, address: int) -> None:
        check_write(machine, instruction, register)
        terms, lows = machine.load(address, size, instruction.mnemonic)
        count = REGISTER_BYTES // size
        machine.registers.set_bytes(register, (np.tile(terms, count), np.tile(lows, count)))

    return access


def _zeros(machine: Machine) -> Bytes:
    zero = int(machine.store.constants(0, 8))
    return np.full(REGISTER_BYTES, zero, dtype=np.int32), np.zeros(REGISTER_BYTES, dtype=np.uint8)


def _load_rightmost(size: int) -> Loaded:
    """Return a load of an element into the least significant bytes, with zeros above."""

    def access(machine: Machine, instruction: Instruction, register: int, address: int) -> None:
        check_write(machine, instruction, register)
        terms, lows = _zeros(machine)
        terms[:size], lows[:size] = machine.load(address, size, instruction.mnemonic)
        machine.registers.set_bytes(register, (terms, lows))

    return access


def _store_rightmost(size: int) -> Loaded:
    def access(machine: Machine, instruction: Instruction, register: int, address: int) -> None:
        terms, lows = _stored(machine, instruction, register)
        machine.save(address, (terms[:size], lows[:size]), instruction.mnemonic)

    return access


def _aligned(access: Loaded) -> Loaded:
    """Return an access that ignores the last four bits of the address."""

    def rounded(machine: Machine, instruction: Instruction, register: int, address: int) -> None:
        machine.storage.note_alignment(address, REGISTER_BYTES)
        access(machine, instruction, register, address & ~(REGISTER_BYTES - 1))

    return rounded


# -- with a length
def _length(machine: Machine, instruction: Instruction) -> int:
    """Return how many bytes are accessed: bits 0 to 7 of a register, at most a whole one."""
    word = machine.words.cut(machine.registers.general[instruction.values[2]], 56, 8)
    return min(known("the length of an access", word), REGISTER_BYTES)


def _load_with_length(*, left: bool) -> Handler:
    def handler(machine: Machine, instruction: Instruction) -> None:
        register, base, _ = instruction.values
        check_write(machine, instruction, register)
        count = _length(machine, instruction)
        held = slice(REGISTER_BYTES - 1, REGISTER_BYTES - 1 - count, -1) if left else slice(0, count)
        if left and count == REGISTER_BYTES:
            held = slice(None, None, -1)

        def load(address: int) -> None:
            terms, lows = _zeros(machine)
            if count:
                terms[held], lows[held] = machine.load(address, count, instruction.mnemonic)
            machine.registers.set_bytes(register, (terms, lows))

        access_each(machine, machine.base(base) if count else 0, load)

    return handler


def _store_with_length(*, left: bool) -> Handler:
    def handler(machine: Machine, instruction: Instruction) -> None:
        register, base, _ = instruction.values
        terms, lows = _stored(machine, instruction, register)
        if left:
            terms, lows = terms[::-1], lows[::-1]
        count = _length(machine, instruction)
        if count:
            held = terms[:count], lows[:count]
            access_each(
                machine, machine.base(base), lambda address: machine.save(address, held, instruction.mnemonic)
            )

    return handler


# -- others
def _shift_control(*, left: bool) -> Loaded:
    """Return ``lvsl`` or ``lvsr``: the numbers from the address's last four bits on."""

    def access(machine: Machine, instruction: Instruction, register: int, address: int) -> None:
        check_write(machine, instruction, register)
        first = address % REGISTER_BYTES if left else REGISTER_BYTES - address % REGISTER_BYTES
        numbers = first + np.arange(REGISTER_BYTES)
        machine.registers.set_elements(register, machine.store.constants(numbers, 8))

    return access


def _zero_block(machine: Machine, instruction: Instruction) -> None:
    base, index = instruction.values
    address = machine.effective(machine.base(base), machine.registers.general[index]) & ~(_BLOCK - 1)
    terms = np.full(_BLOCK, int(machine.store.constants(0, 8)), dtype=np.int32)
    machine.save(address, (terms, np.zeros(_BLOCK, dtype=np.uint8)), instruction.mnemonic)


def _accesses() -> Mapping[str, Loaded]:
    found: dict[str, Loaded] = {}
    for stem, load in {
        "lbz": _load_word(1),
        "lhz": _load_word(2),
        "lha": _load_word(2, sign=True),
        "lwz": _load_word(4),
        "lwa": _load_word(4, sign=True),
        "ld": _load_word(8),
        "stb": _store_word(1),
        "sth": _store_word(2),
        "stw": _store_word(4),
        "std": _store_word(8),
        "lfs": _load_scalar(4, kind="single"),
        "lfd": _load_scalar(8, kind="double"),
        "stfs": _store_scalar(4, kind="single"),
        "stfd": _store_scalar(8),
        "lxsd": _load_scalar(8, kind="double"),
        "lxssp": _load_scalar(4, kind="single"),
        "stxsd": _store_scalar(8),
        "stxssp": _store_scalar(4, kind="single"),
        "lxv": _load_vectors(1),
        "lxvp": _load_vectors(2),
        "stxv": _store_vectors(1),
        "stxvp": _store_vectors(2),
    }.items():
        found |= {f"{stem}{suffix}": load for suffix in ("", "u", "x", "ux")} | {f"p{stem}": load}
    for letter, size in {"b": 1, "h": 2, "w": 4, "d": 8}.items():
        found[f"lxvr{letter}x"] = _load_rightmost(size)
        found[f"stxvr{letter}x"] = _store_rightmost(size)
        found[f"l{letter}brx"] = _load_word(size, swaps=True)
        found[f"st{letter}brx"] = _store_word(size, swaps=True)
    for name, size in {"d2": 8, "w4": 4, "h8": 2, "b16": 1}.items():
        found[f"lxv{name}x"] = _load_elements(size)
        found[f"stxv{name}x"] = _store_elements(size)
    return found | {
        "lfiwax": _load_scalar(4, kind="signed"),
        "lfiwzx": _load_scalar(4, kind="unsigned"),
        "stfiwx": _store_scalar(4),
        "lxsspx": _load_scalar(4, kind="single"),
        "lxsiwax": _load_scalar(4, kind="signed"),
        "lxsiwzx": _load_scalar(4, kind="unsigned"),
        "lxsibzx": _load_scalar(1, kind="unsigned"),
        "lxsihzx": _load_scalar(2, kind="unsigned"),
        "stxsspx": _store_scalar(4, kind="single"),
        "stxsiwx": _store_scalar(4),
        "stxsihx": _store_scalar(2),
        "stxsibx": _store_scalar(1),
        "lxvdsx": _load_splat(8),
        "lxvwsx": _load_splat(4),
        "lvx": _aligned(_load_vectors(1)),
        "lvxl": _aligned(_load_vectors(1)),
        "stvx": _aligned(_store_vectors(1)),
        "stvxl": _aligned(_store_vectors(1)),
        "lvsl": _shift_control(left=True),
        "lvsr": _shift_control(left=False),
    }


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {name: _accessing(access) for name, access in _accesses().items()}
    | {
        "lxvl": _load_with_length(left=False),
        "lxvll": _load_with_length(left=True),
        "stxvl": _store_with_length(left=False),
        "stxvll": _store_with_length(left=True),
        "dcbz": _zero_block,
    }
)
"""What carries out the instructions of this module, by mnemonic."""
