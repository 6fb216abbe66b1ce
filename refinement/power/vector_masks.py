"""Vector instructions that compare, and that make, choose by or read masks: elements of ones or of zeros.

A mask of a condition is kept as the choice between ones and zeros, so that what is selected by it is a choice
of whole elements, as a compiler meant it, and not bit by bit.

Source: Power ISA 3.1 Book I sections 6.11, 6.16 and 7.6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from ...spec.formats import F32, F64, Format
from .. import bit_slices, operations
from ..evaluation import apply
from ..interning import Ids
from ..terms import CONSTANT, TermStore
from ..truth_tables import A, B, C
from .floating_point import elements, set_elements
from .instruction_forms import Instruction
from .machine import Handler, Machine
from .permutations import number
from .vector_forms import ELEMENT_BITS
from .words import Word

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
    ones, zeros = (int(store.constants(each, width)) for each in ((1 << width) - 1, 0))
    found = []
    for word in words.tolist():
        if word in (ones, zeros):
            found.append(int(store.constants(int(word == ones), 1)))
            continue
        if store.operation(word).name != operations.SELECT:
            return None
        condition, then, otherwise = store.arguments(word)[:3].tolist()
        if (then, otherwise) != (ones, zeros):
            return None
        found.append(condition)
    return np.array(found, dtype=np.int32)


def selected(machine: Machine, instruction: Instruction) -> None:
    """Choose bit by bit: the second operand where the last has ones; whole elements where it is a mask."""
    numbers = [number(instruction, each) for each in (1, 2, 3)]
    set_elements(machine, instruction, _chosen(machine, instruction, numbers))


def _chosen(machine: Machine, instruction: Instruction, numbers: Sequence[int]) -> Ids:
    store, mask = machine.store, numbers[-1]
    for width in _WIDTHS:
        conditions = conditions_of(store, elements(machine, instruction, mask, width // 8))
        if conditions is not None:
            otherwise, then = (elements(machine, instruction, each, width // 8) for each in numbers[:2])
            return np.asarray(apply(store, operations.select(width), conditions, then, otherwise))
    otherwise, then, mask_words = (elements(machine, instruction, each, 8) for each in numbers)
    return bit_slices.bitwise(store, (A & ~C | B & C) & 0xFF, otherwise, then, mask_words)


def kept(machine: Machine, instruction: Instruction, masked: int, mask: int, *, inverted: bool) -> bool:
    """Write what a mask leaves of an operand, zeros elsewhere, and tell whether it is a mask.

    Parameters
    ----------
    machine, instruction : Machine, Instruction
        Who does it.
    masked, mask : int
        Registers.
    inverted : bool
        Whether the zeros of the mask are what is left.
    """
    store = machine.store
    for width in _WIDTHS:
        words = elements(machine, instruction, mask, width // 8)
        if store.named(CONSTANT)[store.operation_numbers(words)].all():
            continue  # what numbers leave is told bit by bit
        conditions = conditions_of(store, words)
        if conditions is not None:
            given = elements(machine, instruction, masked, width // 8)
            zeros = store.constants(np.zeros(len(given), dtype=np.uint64), width)
            order = (zeros, given) if inverted else (given, zeros)
            set_elements(machine, instruction, apply(store, operations.select(width), conditions, *order))
            return True
    return False


# -- comparisons
def _compared(fmt: Format, relation: str, *, records: bool) -> Handler:
    """Return a comparison of elements; one that records says in CR6 whether it held of all, and of none."""
    size = fmt.bits // 8

    def handler(machine: Machine, instruction: Instruction) -> None:
        store = machine.store
        left, right = (elements(machine, instruction, number(instruction, each), size) for each in (1, 2))
        conditions = apply(store, operations.compare(fmt, relation), left, right)
        set_elements(machine, instruction, masks(store, conditions, fmt.bits))
        if records:
            machine.registers.conditions[_ALL_AND_NONE] = _summary(machine, conditions)

    return handler


def _summary(machine: Machine, conditions: Ids) -> list[Word]:
    words = machine.words
    given = [words.word(int(each)) for each in conditions]
    every, some = given[0], given[0]
    for each in given[1:]:
        every = words.combined(A & B, every, each, 1)
        some = words.combined(A | B, some, each, 1)
    return [every, 0, words.combined(~A & 0xFF, some, some, 1), 0]


def _compared_scalars(relation: str) -> Handler:
    """Return ``xscmpeqdp`` and the like: a mask in doubleword 0, zeros in the other."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        store = machine.store
        left, right = (elements(machine, instruction, number(instruction, each), 8)[:1] for each in (1, 2))
        mask = masks(store, apply(store, operations.compare(F64, relation), left, right), 64)
        set_elements(machine, instruction, np.concatenate([mask, store.constants([0], 64)]))

    return handler


# -- masks and bits of general-purpose registers
def _signs(machine: Machine, instruction: Instruction, width: int) -> Ids:
    """Return the first bits of the elements (128 / width,) of the second operand."""
    register = number(instruction, 1)
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
        bits = [machine.words.word(int(each)) for each in _signs(machine, instruction, width)]
        word = machine.words.joined(*((each, 1) for each in reversed(bits)), (0, 64 - len(bits)))
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
