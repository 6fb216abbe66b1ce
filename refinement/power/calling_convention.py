"""The ELFv2 calling convention: arguments, and registers that a function has to preserve.

Source: Power Architecture 64-bit ELF V2 ABI, version 1.4, sections 2.2.1 to 2.2.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import InputError
from ...spec.formats import F32, F64, Format, IntegerFormat
from ..contract.footprint import Footprint
from ..findings.finding import Kind
from ..machine.memory import ABSENT
from ..terms.interning import Ids
from ..terms.store import TermStore
from .machine import RETURN, Machine
from .state import scalars
from .state.registers import SAVED_FLOATS
from .state.storage import STACK, Segment
from .state.words import Data, Word

STACK_TOP = 0x7F00_0000_0000
"""The stack pointer when the function is called."""

STACK_BYTES = 1 << 20
"""Bytes of the stack below it."""

_HEADER = 32
"""Bytes of the caller's frame before the area in which parameters may be saved."""

_SAVED_BY_CALLEE = range(8, 24)
"""Bytes of that header that a function may write: CR and LR."""

_GENERAL_ARGUMENTS = range(3, 11)
_FLOAT_ARGUMENTS = range(1, 14)
_SAVED_GENERAL = (1, 13, *range(14, 32))
_TOC = 2
"""The register of the table of contents; see `Symbol.keeps_toc`."""

_SAVED_VECTORS = range(52, 64)
_SAVED_FIELDS = range(2, 5)
"""Registers that belong to the caller: r1, r13 to r31, f14 to f31, v20 to v31, cr2 to cr4."""


@dataclass(frozen=True)
class Argument:
    """An argument of a function.

    Attributes
    ----------
    name : str
        For messages.
    format : Format, optional
        None for an address.
    value : int or Data
        Its encoding or address, or a term as wide as the format.
    """

    name: str
    format: Format | None
    value: int | Data


def stack_segment(store: TermStore, arguments: Sequence[Argument]) -> Segment:
    """Return the stack, with room in the caller's frame for arguments if registers do not hold them all.

    Otherwise the caller may keep there what is its own (ELFv2, section 2.2.3.3).
    """
    floats = sum(argument.format in (F32, F64) for argument in arguments)
    others = any(argument.format not in (F32, F64) for argument in arguments[len(_GENERAL_ARGUMENTS) :])
    words = max(len(arguments), 8) if others or floats > len(_FLOAT_ARGUMENTS) else 0
    size = STACK_BYTES + _HEADER + 8 * words
    terms = np.full(size, ABSENT, dtype=np.int32)
    lows = np.zeros(size, dtype=np.uint8)
    header = store.undefined(_HEADER, 8)
    terms[STACK_BYTES : STACK_BYTES + _HEADER] = header

    def named(byte: int) -> str:
        return f"{abs(byte - STACK_BYTES)} bytes {'above' if byte >= STACK_BYTES else 'below'} its top"

    start = STACK_TOP - STACK_BYTES
    return Segment(STACK, start, Footprint.whole(size), size, True, (terms, lows), named)


def pass_arguments(machine: Machine, arguments: Sequence[Argument], entry: int, toc: int) -> None:
    """Put arguments where a function finds them, and set the registers that a call sets.

    Raises
    ------
    InputError
        If one can't be passed.
    """
    registers = machine.registers
    machine.set_general(1, STACK_TOP)
    registers.general[_TOC] = toc
    registers.general[12] = entry
    registers.link = RETURN
    floats = iter(_FLOAT_ARGUMENTS)
    for slot, argument in enumerate(arguments):
        if argument.format in (F32, F64):
            term = _double(machine, argument)
            number = next(floats, None)
            if number is not None:
                registers.set_scalar(number, term, zeroed=False)
                continue
            word: Word = machine.words.word(
                term if argument.format == F64 else scalars.single(machine.store, term, argument.name)
            )
        else:
            word = _extended(machine, argument)
        if slot < len(_GENERAL_ARGUMENTS):
            registers.general[_GENERAL_ARGUMENTS[slot]] = word
            continue
        size = 4 if argument.format == F32 else 8
        machine.save(STACK_TOP + _HEADER + 8 * slot, machine.bytes_of(word, size), "the caller")
    machine.storage.lines[:] = 0


def _double(machine: Machine, argument: Argument) -> int:
    """Return a float as a register holds it."""
    fmt = argument.format
    assert fmt is not None
    term = machine.words.term(argument.value, fmt.bits)
    return scalars.widened(machine.store, term) if fmt == F32 else term


def _extended(machine: Machine, argument: Argument) -> Word:
    """Return an integer as wide as a register, extended as C does, which has `uint16_t` for narrow floats."""
    fmt = argument.format
    if fmt is None:
        return argument.value
    if fmt.bits > 64:
        raise InputError(f"{argument.name}: integers of {fmt.bits} bits can't be passed by value")
    sign = isinstance(fmt, IntegerFormat) and fmt.signed
    return machine.words.extended(argument.value, fmt.bits, sign=sign)


@dataclass(frozen=True)
class Saved:
    """Registers of the caller before the call.

    Attributes
    ----------
    general, conditions : sequence of Word
        Words by register, the bits of CR.
    vectors, lows : array
        The bytes of all vector registers.
    frame : array
        The bytes of the caller's frame that a function must leave alone.
    """

    general: Sequence[Word]
    vectors: Ids
    lows: NDArray[np.uint8]
    conditions: Sequence[Word]
    frame: Ids


def saved(machine: Machine) -> Saved:
    """Return what the caller's registers hold now."""
    registers = machine.registers
    return Saved(
        list(registers.general),
        registers.vectors.terms.copy(),
        registers.vectors.lows.copy(),
        list(registers.conditions),
        _frame(machine),
    )


def _frame(machine: Machine) -> Ids:
    stack = next(segment for segment in machine.storage.segments if segment.name == STACK)
    first = machine.storage.lanes_of(stack).start + STACK_BYTES
    held = machine.storage.lanes.terms[first : first + _HEADER].copy()
    held[list(_SAVED_BY_CALLEE)] = 0
    return held


def report_return(machine: Machine, before: Saved, entry: int) -> None:
    """Report what a function that has returned did not leave as its caller needs it."""
    registers = machine.registers
    for number in (*_SAVED_GENERAL, *([_TOC] if machine.image.keeps_toc(entry) else [])):
        if registers.general[number] != before.general[number]:
            what = "the stack pointer" if number == 1 else f"r{number}"
            machine.report(Kind.REGISTER, f"returns without restoring {what}")
    for number in SAVED_FLOATS:
        _compare_bytes(machine, before, number, slice(8, 16), f"f{number}")
    for number in _SAVED_VECTORS:
        _compare_bytes(machine, before, number, slice(0, 16), f"v{number - 32}")
    for field in _SAVED_FIELDS:
        bits = slice(4 * field, 4 * field + 4)
        if list(registers.conditions[bits]) != list(before.conditions[bits]):
            machine.report(Kind.REGISTER, f"returns without restoring cr{field}")
    if (_frame(machine) != before.frame).any():
        machine.report(Kind.REGISTER, "returns with its caller's stack frame overwritten")
    for accumulator in registers.primed_over_saved():
        machine.report(
            Kind.ACCUMULATOR,
            f"returns while a{accumulator} is primed, so that vs{4 * accumulator} to "
            f"vs{4 * accumulator + 3} are undefined for the caller",
        )


def _compare_bytes(machine: Machine, before: Saved, number: int, part: slice, name: str) -> None:
    held = slice(16 * number + part.start, 16 * number + part.stop)
    vectors = machine.registers.vectors
    same = (vectors.terms[held] == before.vectors[held]) & (vectors.lows[held] == before.lows[held])
    if not same.all():
        machine.report(Kind.REGISTER, f"returns without restoring {name}")
