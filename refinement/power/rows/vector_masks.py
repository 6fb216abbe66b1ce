"""Vector comparisons and selects: masks with elements of ones or zeros.

A mask of a condition is kept as the choice between ones and zeros, so that what is selected by it is a choice
of whole elements, as a compiler meant it, and not bit by bit.

Source: Power ISA 3.1 Book I sections 6.11, 6.16 and 7.6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from ....spec.formats import F32, F64, Format
from ...terms import bit_slices, operations
from ...terms.choices import chosen
from ...terms.evaluation import apply
from ...terms.interning import Ids
from ...terms.store import CONSTANT, TermStore
from ...terms.truth_tables import A, B, C, Table
from ..image.instruction_forms import Instruction
from ..image.vector_forms import ELEMENT_BITS
from ..machine import Handler, Machine
from ..state import conditions, scalars
from ..state.words import Word
from .floating_point import elements, set_elements
from .permutations import register_number

_WIDTHS = tuple(sorted(ELEMENT_BITS.values(), reverse=True))
_ALL_AND_NONE = slice(4 * 6, 4 * 6 + 4)
"""CR6, which tells whether a comparison held of all elements, and of none."""


# -- masks
def masks(store: TermStore, conditions: Ids, width: int) -> Ids:
    """Return elements of ones where a condition (one bit) holds, else of zeros."""
    count = len(conditions)
    none = np.zeros(count, dtype=np.uint64)
    ones, zeros = (store.constants(each, width) for each in (none + np.uint64((1 << width) - 1), none))
    return apply(store, operations.select(width), conditions, ones, zeros)


def conditions_of(store: TermStore, words: Ids) -> Ids | None:
    """Return the conditions (one bit) of which some words are the masks; None if one of them is no mask."""
    width = int(store.widths(words[:1])[0])
    ends = tuple(int(store.constants(each, width)) for each in ((1 << width) - 1, 0))
    found = [_condition(store, each, ends) for each in words.tolist()]
    return None if None in found else np.array(found, dtype=np.int32)


def _condition(store: TermStore, word: int, ends: tuple[int, ...]) -> int | None:
    """Return the condition of which a word is the mask: ones or zeros, or a choice among masks."""
    if word in ends:
        return int(store.constants(1 - ends.index(word), 1))
    if store.operation(word).name != operations.SELECT:
        return None
    condition, *sides = store.arguments(word)[:3].tolist()
    then, otherwise = (_condition(store, side, ends) for side in sides)
    if then is None or otherwise is None:
        return None
    one = conditions.combined(store, A & B, condition, then)
    other = conditions.combined(store, ~A & B, condition, otherwise)
    return conditions.combined(store, A | B, one, other)


def selected(machine: Machine, instruction: Instruction) -> None:
    """Choose bit by bit: the second operand where the last has ones; whole elements where it is a mask."""
    numbers = [register_number(instruction, each) for each in (1, 2, 3)]
    combine(machine, instruction, A & ~C | B & C, numbers)


def combine(machine: Machine, instruction: Instruction, table: Table, registers: Sequence[int]) -> None:
    """Write a function of the bits of three registers; masks among them choose whole elements.

    Parameters
    ----------
    machine, instruction : Machine, Instruction
        Who does it.
    table : int
        The function.
    registers : sequence of int
        The registers, three.
    """
    store, table = machine.store, table & 0xFF
    for width in _WIDTHS:
        words = [elements(machine, instruction, register, width // 8) for register in registers]
        found = _by_masks(store, table, words, width)
        if found is not None:
            set_elements(machine, instruction, found)
            return
    words = [elements(machine, instruction, register, 8) for register in registers]
    set_elements(machine, instruction, _bitwise(store, table, words))


def _by_masks(store: TermStore, table: Table, words: Sequence[Ids], width: int) -> Ids | None:
    """Return a function of the bits of three words as choices by those that are masks; None without any."""
    for place, each in reversed(list(enumerate((A, B, C)))):
        there, not_there = _cofactors(table, each)
        if there == not_there or store.are(CONSTANT, words[place]).all():
            continue  # what numbers leave is told bit by bit
        given = conditions_of(store, words[place])
        if given is None:
            continue
        sides = []
        for cofactor in (there, not_there):
            found = _by_masks(store, cofactor, words, width)
            sides.append(_plain(store, cofactor, words, width) if found is None else found)
        return chosen(store, given, *sides)
    return None


def _cofactors(table: Table, variable: Table) -> tuple[Table, Table]:
    """Return a function where a variable is 1, and where it is 0, as functions that don't depend on it."""
    shift = {A: 4, B: 2, C: 1}[variable]
    one, other = table & variable, table & ~variable & 0xFF
    return one | one >> shift, other | other << shift


def _bitwise(store: TermStore, table: Table, words: Sequence[Ids]) -> Ids:
    one, other, third = words
    return bit_slices.bitwise(store, table, one, other, third)


def _plain(store: TermStore, table: Table, words: Sequence[Ids], width: int) -> Ids:
    """Return a function of the bits of three words."""
    if table in (A, B, C):
        return words[(A, B, C).index(table)]
    if table in (0, 0xFF):
        number_of = (1 << width) - 1 if table else 0
        return store.constants(np.full(len(words[0]), number_of, dtype=np.uint64), width)
    return _bitwise(store, table, words)


# -- comparisons
def _compared(fmt: Format, relation: str, *, records: bool) -> Handler:
    """Return a comparison of elements; one that records says in CR6 whether it held of all, and of none."""
    size = fmt.bits // 8

    def handler(machine: Machine, instruction: Instruction) -> None:
        store = machine.store
        left, right = (
            elements(machine, instruction, register_number(instruction, each), size) for each in (1, 2)
        )
        found = apply(store, operations.compare(fmt, relation), left, right)
        set_elements(machine, instruction, masks(store, found, fmt.bits))
        if records:
            machine.registers.conditions[_ALL_AND_NONE] = _summary(machine, found)

    return handler


def _summary(machine: Machine, conditions: Ids) -> list[Word]:
    words = machine.words
    given = [words.word(int(condition)) for condition in conditions]
    every, some = given[0], given[0]
    for each in given[1:]:
        every = words.combined(A & B, every, each, 1)
        some = words.combined(A | B, some, each, 1)
    return [every, 0, words.combined(~A & 0xFF, some, some, 1), 0]


def _compared_scalars(relation: str) -> Handler:
    """Return ``xscmpeqdp`` and the like: a mask in doubleword 0, zeros in the other."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        store = machine.store
        sides = [
            int(elements(machine, instruction, register_number(instruction, each), 8)[0]) for each in (1, 2)
        ]
        mask = masks(store, scalars.compared(store, relation, *sides), 64)
        set_elements(machine, instruction, np.concatenate([mask, store.constants([0], 64)]))

    return handler


# -- masks and bits of general-purpose registers
def _signs(machine: Machine, instruction: Instruction, width: int) -> Ids:
    """Return the first bits of the elements (128 / width,) of the second operand."""
    register = register_number(instruction, 1)
    if width > 64:
        return bit_slices.extract(machine.store, elements(machine, instruction, register, 8)[:1], 63, 1)
    words = elements(machine, instruction, register, width // 8)
    return bit_slices.extract(machine.store, words, width - 1, 1)


def _set_masks(machine: Machine, instruction: Instruction, conditions: Ids, width: int) -> None:
    if width > 64:
        conditions, width = np.repeat(conditions, 2), 64
    set_elements(machine, instruction, masks(machine.store, conditions, width))


def _expanded(width: int) -> Handler:
    """Return ``vexpandbm`` and the like: the first bit of each element in all of it."""
    return lambda machine, instruction: _set_masks(
        machine, instruction, _signs(machine, instruction, width), width
    )


def _from_bits(width: int) -> Handler:
    """Return ``mtvsrbm`` and the like: of the last bits of a register, each in a whole element."""
    count = 128 // width

    def handler(machine: Machine, instruction: Instruction) -> None:
        value = instruction.values[1]
        immediate = instruction.mnemonic == "mtvsrbmi"
        word: Word = value & 0xFFFF if immediate else machine.registers.general[value]
        bits = [machine.words.term(machine.words.cut(word, at, 1), 1) for at in reversed(range(count))]
        _set_masks(machine, instruction, np.array(bits, dtype=np.int32), width)

    return handler


def _to_bits(width: int) -> Handler:
    """Return ``vextractbm`` and the like: the first bits of the elements as a number."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        bits = [machine.words.word(int(sign)) for sign in _signs(machine, instruction, width)]
        word = machine.words.joined(*((bit, 1) for bit in reversed(bits)), (0, 64 - len(bits)))
        machine.set_general(instruction.values[0], word)

    return handler


def _handlers() -> Mapping[str, Handler]:
    found: dict[str, Handler] = {"xxsel": selected, "vsel": selected, "mtvsrbmi": _from_bits(8)}
    for letter, width in ELEMENT_BITS.items():
        signed, unsigned = operations.signed(width), operations.unsigned(width)
        for name, fmt, relation in (
            (f"vcmpequ{letter}", unsigned, "eq"),
            (f"vcmpne{letter}", unsigned, "ne"),
            (f"vcmpgts{letter}", signed, "gt"),
            (f"vcmpgtu{letter}", unsigned, "gt"),
        ):
            found[name] = _compared(fmt, relation, records=False)
            found[f"{name}."] = _compared(fmt, relation, records=True)
    for relation in ("eq", "gt", "ge"):
        found[f"xscmp{relation}dp"] = _compared_scalars(relation)
        for suffix, precision in (("sp", F32), ("dp", F64)):
            found[f"xvcmp{relation}{suffix}"] = _compared(precision, relation, records=False)
            found[f"xvcmp{relation}{suffix}."] = _compared(precision, relation, records=True)
    for letter, width in {**ELEMENT_BITS, "q": 128}.items():
        found[f"mtvsr{letter}m"] = _from_bits(width)
        found[f"vexpand{letter}m"] = _expanded(width)
        found[f"vextract{letter}m"] = _to_bits(width)
    return found


HANDLERS: Mapping[str, Handler] = MappingProxyType(_handlers())
"""What carries out the instructions of this module, by mnemonic."""
