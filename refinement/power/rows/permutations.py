"""Vector instructions that move bytes: permutes, merges, splats, inserts, register moves.

Source: Power ISA 3.1 Book I sections 6.8 and 7.6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ....spec.formats import F32, F64
from ....spec.power.registers import REGISTER_BYTES
from ...machine.memory import ABSENT
from ...terms import operations
from ...terms.evaluation import apply
from ..image.instruction_forms import Instruction
from ..machine import Handler, Machine
from ..state.accumulator_rules import check_read, check_write
from ..state.registers import Bytes
from ..state.words import Data, Word, known

Places = NDArray[np.intp]
"""Numbers of bytes as the ISA counts them, in two registers one after the other; `ZERO` for a zero."""

ZERO = 2 * REGISTER_BYTES


def register_number(instruction: Instruction, index: int) -> int:
    """Return the vector-scalar register of an operand."""
    operand = instruction.form.operands[index]
    return instruction.values[index] + (32 if operand.register == "v" else 0)


def read(machine: Machine, instruction: Instruction, register: int) -> Bytes:
    """Return the bytes of a register, most significant first."""
    check_read(machine, instruction, register)
    terms, lows = machine.registers.bytes_of(register)
    return terms[::-1], lows[::-1]


def write(machine: Machine, instruction: Instruction, data: Bytes) -> None:
    """Write an instruction's first operand, most significant byte first."""
    register = register_number(instruction, 0)
    check_write(machine, instruction, register)
    terms, lows = data
    machine.registers.set_bytes(register, (terms[::-1], lows[::-1]))


def _picked(machine: Machine, left: Bytes, right: Bytes, places: Places) -> Bytes:
    zero = np.array([int(machine.store.constants(0, 8))], dtype=np.int32)
    terms = np.concatenate([left[0], right[0], zero])
    lows = np.concatenate([left[1], right[1], np.zeros(1, dtype=np.uint8)])
    return terms[places], lows[places]


Choose = Callable[[tuple[int, ...]], Places]
"""From an instruction's values to the bytes that its result has."""


def _moving(choose: Choose, left: int, right: int) -> Handler:
    """Return a handler whose result has bytes of two operands, which ones its numbers tell."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        one = read(machine, instruction, register_number(instruction, left))
        other = read(machine, instruction, register_number(instruction, right))
        write(machine, instruction, _picked(machine, one, other, choose(instruction.values)))

    return handler


def _of_elements(size: int, elements: list[int]) -> Places:
    """Return the bytes of elements, counted over both operands."""
    return np.concatenate([size * element + np.arange(size) for element in elements]).astype(np.intp)


def _merged(size: int, picks: Callable[[int], list[int]]) -> Choose:
    """Return elements of the two operands in turn."""
    count = REGISTER_BYTES // size
    return lambda _: _of_elements(size, [pick + which * count for pick in picks(count) for which in (0, 1)])


def _packed(size: int) -> Choose:
    """Return the lower half of every element of both operands."""
    at = np.arange(0, 2 * REGISTER_BYTES, size)
    places = (at[:, None] + np.arange(size // 2, size)).reshape(-1)
    return lambda _: places


def _splat(size: int) -> Choose:
    return lambda values: _of_elements(
        size, [values[2] % (REGISTER_BYTES // size)] * (REGISTER_BYTES // size)
    )


def _reversed(size: int) -> Choose:
    places = np.arange(REGISTER_BYTES).reshape(-1, size)[:, ::-1].reshape(-1)
    return lambda _: places


def _extracted(size: int) -> Choose:
    """Return an element from a byte on, at the end of doubleword 0, with zeros around."""

    def choose(values: tuple[int, ...]) -> Places:
        places = np.full(REGISTER_BYTES, ZERO)
        places[8 - size : 8] = (values[2] + np.arange(size)) % REGISTER_BYTES
        return places

    return choose


def _inserted(size: int) -> Choose:
    """Return the target, in which from a byte on the end of doubleword 0 of the source stands."""

    def choose(values: tuple[int, ...]) -> Places:
        places = np.arange(REGISTER_BYTES)
        at = values[2] + np.arange(size)
        inside = at < REGISTER_BYTES
        places[at[inside]] = REGISTER_BYTES + (8 - size + np.arange(size))[inside]
        return places

    return choose


# -- by a control that is data
def _numbers(machine: Machine, data: Bytes, what: str) -> NDArray[np.int64]:
    """Return bytes as numbers."""
    terms, lows = data
    found = []
    for term, low in zip(terms, lows, strict=True):
        word: Word = (
            Data(int(machine.store.undefined(1, 8)[0]))
            if term == ABSENT
            else machine.words.cut(machine.words.word(int(term)), int(low), 8)
        )
        found.append(known(what, word))
    return np.array(found)


def _permuted(left: int, right: int, control: int, *, backward: bool) -> Handler:
    def handler(machine: Machine, instruction: Instruction) -> None:
        given = [
            read(machine, instruction, register_number(instruction, each)) for each in (left, right, control)
        ]
        places = _numbers(machine, given[2], f"the control of {instruction}") & (ZERO - 1)
        if backward:
            places = ZERO - 1 - places
        write(machine, instruction, _picked(machine, given[0], given[1], places))

    return handler


def _permuted_part(machine: Machine, instruction: Instruction) -> None:
    """``xxpermx``: bytes whose control has the instruction's number in the top bits, zeros elsewhere."""
    given = [read(machine, instruction, value) for value in instruction.values[1:4]]
    control = _numbers(machine, given[2], f"the control of {instruction}")
    places = np.where(control >> 5 == instruction.values[4], control & (ZERO - 1), ZERO)
    write(machine, instruction, _picked(machine, given[0], given[1], places))


def _shifted_octets(machine: Machine, instruction: Instruction, *, left: bool) -> None:
    """``vslo``, ``vsro``: by the number of bytes in bits 121 to 124 of the last operand."""
    source, control = (read(machine, instruction, register_number(instruction, each)) for each in (1, 2))
    last = (control[0][-1:], control[1][-1:])
    count = int(_numbers(machine, last, f"the shift of {instruction}")[0]) >> 3 & 15
    at = np.arange(REGISTER_BYTES) + (count if left else -count)
    places = np.where((at >= 0) & (at < REGISTER_BYTES), at, ZERO)
    write(machine, instruction, _picked(machine, source, source, places))


def _cleared(machine: Machine, instruction: Instruction, *, left: bool) -> None:
    """``vclrlb``, ``vclrrb``: bytes beyond a number of them become zero."""
    source = read(machine, instruction, register_number(instruction, 1))
    count = min(known("a number of bytes", machine.registers.general[instruction.values[2]]), REGISTER_BYTES)
    at = np.arange(REGISTER_BYTES)
    kept = at >= REGISTER_BYTES - count if left else at < count
    write(machine, instruction, _picked(machine, source, source, np.where(kept, at, ZERO)))


def _shifted_bits(machine: Machine, instruction: Instruction, *, left: bool) -> None:
    """``vsldbi``, ``vsrdbi``: a quadword of two registers one after the other, some bits from its end."""
    words = machine.words
    count = instruction.values[3]
    given: list[Word] = []
    for operand in (2, 1):
        register = register_number(instruction, operand)
        check_read(machine, instruction, register)
        given += [words.word(machine.registers.doubleword(register, index)) for index in (1, 0)]
    low = 128 - count if left else count
    found = [_window(machine, given, low + 64 * each) for each in (1, 0)]
    _set_doublewords(machine, instruction, *found)


def _window(machine: Machine, doublewords: Sequence[Word], low: int) -> Word:
    """Return 64 bits of doublewords, the least significant first, from a bit on."""
    words, (index, offset) = machine.words, divmod(low, 64)
    if not offset:
        return doublewords[index]
    below = words.cut(doublewords[index], offset, 64 - offset)
    above = words.cut(doublewords[index + 1], 0, offset)
    return words.joined((below, 64 - offset), (above, offset))


def _merged_words(which: int) -> Handler:
    """Return ``fmrgew`` or ``fmrgow``: a word of each operand's doubleword 0; the other one is undefined."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        words, parts = machine.words, []
        for operand in (2, 1):
            register = register_number(instruction, operand)
            check_read(machine, instruction, register)
            held = words.word(machine.registers.doubleword(register))
            parts.append((words.cut(held, 0 if which else 32, 32), 32))
        register = register_number(instruction, 0)
        check_write(machine, instruction, register)
        machine.registers.set_scalar(register, words.term(words.joined(*parts)), zeroed=False)

    return handler


# -- numbers
_QUADWORDS = (0, 0x3FFF0, 0x40000, 0x40008, 0x40010, 0x40014, 0x40018, 0x4001C, 0x7FFF0)
_QUADWORD_CONSTANTS: Mapping[int, int] = MappingProxyType(
    {index: top << 44 for index, top in enumerate(_QUADWORDS) if index}
    | {16 + index: (0x80000 | top) << 44 for index, top in enumerate(_QUADWORDS)}
    | {9: 0x7FFF8 << 44}
)
"""Upper doublewords by number: 1 to 7 and infinity, a NaN (9), zero (16) and the others' opposites."""


def _quadword_constant(machine: Machine, instruction: Instruction) -> None:
    """``lxvkq``: a number in quad precision."""
    which = instruction.values[1]
    if which not in _QUADWORD_CONSTANTS:
        raise machine.unsupported(f"{instruction}, whose number {which} is reserved")
    _set_doublewords(machine, instruction, _QUADWORD_CONSTANTS[which], 0)


def _constant(size: int, value: Callable[[tuple[int, ...]], int]) -> Handler:
    """Return a handler that fills a register with a number."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        word = value(instruction.values) & ((1 << 8 * size) - 1)
        words = machine.store.constants(np.full(REGISTER_BYTES // size, word, dtype=np.uint64), 8 * size)
        register = register_number(instruction, 0)
        check_write(machine, instruction, register)
        machine.registers.set_elements(register, words)

    return handler


def _splat_double(machine: Machine, instruction: Instruction) -> None:
    """``xxspltidp``: a single-precision number as a double."""
    target, immediate = instruction.values
    double = apply(machine.store, operations.fused(F64, (), (F32,)), machine.store.constants([immediate], 32))
    check_write(machine, instruction, target)
    machine.registers.set_elements(target, np.repeat(double, 2))


def _splat_words(machine: Machine, instruction: Instruction) -> None:
    """``xxsplti32dx``: a word of each doubleword."""
    target, which, immediate = instruction.values
    check_read(machine, instruction, target)
    words = machine.registers.elements(target, 4)
    words[which::2] = machine.store.constants(immediate, 32)
    check_write(machine, instruction, target)
    machine.registers.set_elements(target, words)


# -- from and to general-purpose registers
def _set_doublewords(machine: Machine, instruction: Instruction, first: Word, second: Word) -> None:
    register = register_number(instruction, 0)
    check_write(machine, instruction, register)
    terms = [machine.words.term(first), machine.words.term(second)]
    machine.registers.set_elements(register, np.array(terms, dtype=np.int32))


def _to_vector(make: Callable[[Machine, tuple[int, ...]], tuple[Word, Word]]) -> Handler:
    return lambda machine, instruction: _set_doublewords(
        machine, instruction, *make(machine, instruction.values)
    )


def _to_scalar(make: Callable[[Machine, Word], Word]) -> Handler:
    """Return a move to doubleword 0; the other one is undefined."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        word = make(machine, machine.registers.general[instruction.values[1]])
        register = register_number(instruction, 0)
        check_write(machine, instruction, register)
        machine.registers.set_scalar(register, machine.words.term(word), zeroed=False)

    return handler


def _splat_word(machine: Machine, values: tuple[int, ...]) -> tuple[Word, Word]:
    word = machine.registers.general[values[1]]
    both = machine.words.joined((machine.words.cut(word, 0, 32), 32), (machine.words.cut(word, 0, 32), 32))
    return both, both


def _from_vector(index: int, width: int) -> Handler:
    def handler(machine: Machine, instruction: Instruction) -> None:
        target, register = instruction.values
        check_read(machine, instruction, register)
        word = machine.words.word(machine.registers.doubleword(register, index))
        machine.set_general(target, machine.words.extended(word, width, sign=False))

    return handler


def _handlers() -> Mapping[str, Handler]:
    found: dict[str, Handler] = {}
    for letter, size in {"b": 1, "h": 2, "w": 4}.items():
        found[f"vmrgh{letter}"] = _moving(_merged(size, lambda n: [*range(n // 2)]), 1, 2)
        found[f"vmrgl{letter}"] = _moving(_merged(size, lambda n: [*range(n // 2, n)]), 1, 2)
        found[f"vsplt{letter}"] = _moving(_splat(size), 1, 1)
        found[f"vspltis{letter}"] = _constant(size, lambda values: values[1])
        found[f"vpku{letter.translate({98: 104, 104: 119, 119: 100})}um"] = _moving(_packed(2 * size), 1, 2)
        found[f"vextractu{letter}"] = _moving(_extracted(size), 1, 1)
        found[f"vinsert{letter}"] = _moving(_inserted(size), 0, 1)
        found[f"xxbr{letter}"] = _moving(_reversed(size), 1, 1)
    return found | {
        "xxbrd": _moving(_reversed(8), 1, 1),
        "xxbrq": _moving(_reversed(16), 1, 1),
        "vextractd": _moving(_extracted(8), 1, 1),
        "vinsertd": _moving(_inserted(8), 0, 1),
        "xxextractuw": _moving(_extracted(4), 1, 1),
        "xxinsertw": _moving(_inserted(4), 0, 1),
        "vmrgew": _moving(_merged(4, lambda n: [*range(0, n, 2)]), 1, 2),
        "vmrgow": _moving(_merged(4, lambda n: [*range(1, n, 2)]), 1, 2),
        "xxmrghw": _moving(_merged(4, lambda n: [*range(n // 2)]), 1, 2),
        "xxmrglw": _moving(_merged(4, lambda n: [*range(n // 2, n)]), 1, 2),
        "xxspltw": _moving(_splat(4), 1, 1),
        "xxpermdi": _moving(lambda values: _of_elements(8, [values[3] >> 1, 2 + (values[3] & 1)]), 1, 2),
        "xxsldwi": _moving(lambda values: np.arange(16) + 4 * values[3], 1, 2),
        "vsldoi": _moving(lambda values: np.arange(16) + values[3], 1, 2),
        "fmrgew": _merged_words(0),
        "fmrgow": _merged_words(1),
        "vsldbi": partial(_shifted_bits, left=True),
        "vsrdbi": partial(_shifted_bits, left=False),
        "lxvkq": _quadword_constant,
        "vperm": _permuted(1, 2, 3, backward=False),
        "vpermr": _permuted(1, 2, 3, backward=True),
        "xxperm": _permuted(1, 0, 2, backward=False),
        "xxpermr": _permuted(1, 0, 2, backward=True),
        "xxpermx": _permuted_part,
        "vslo": partial(_shifted_octets, left=True),
        "vsro": partial(_shifted_octets, left=False),
        "vclrlb": partial(_cleared, left=True),
        "vclrrb": partial(_cleared, left=False),
        "xxspltib": _constant(1, lambda values: values[1]),
        "xxspltiw": _constant(4, lambda values: values[1]),
        "xxspltidp": _splat_double,
        "xxsplti32dx": _splat_words,
        "mtvsrd": _to_scalar(lambda m, word: word),
        "mtvsrwa": _to_scalar(lambda m, word: m.words.extended(word, 32, sign=True)),
        "mtvsrwz": _to_scalar(lambda m, word: m.words.extended(word, 32, sign=False)),
        "mtvsrdd": _to_vector(lambda m, v: (m.base(v[1]), m.registers.general[v[2]])),
        "mtvsrws": _to_vector(_splat_word),
        "mfvsrd": _from_vector(0, 64),
        "mfvsrld": _from_vector(1, 64),
        "mfvsrwz": _from_vector(0, 32),
    }


HANDLERS: Mapping[str, Handler] = MappingProxyType(_handlers())
"""What carries out the instructions of this module, by mnemonic."""
