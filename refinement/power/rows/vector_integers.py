"""Vector logic and integer instructions.

Source: Power ISA 3.1 Book I sections 6.9 to 6.13 and 7.6.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from ...terms import bit_slices, operations
from ...terms.evaluation import apply
from ...terms.interning import Ids
from ...terms.store import TermStore, bits
from ...terms.truth_tables import A, B
from ..image.instruction_forms import Instruction
from ..image.vector_forms import ELEMENT_BITS
from ..machine import Handler, Machine
from ..state.words import known
from .floating_point import elements, set_elements
from .permutations import read, register_number, write
from .vector_masks import combine


def _bitwise(table: int) -> Handler:
    """Return a handler of a function of bits; one of a register and itself may be a copy of it."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        left, right = register_number(instruction, 1), register_number(instruction, 2)
        if left == right and table in (A & B, A | B):
            write(machine, instruction, read(machine, instruction, left))
            return
        if left == right and table == A ^ B:
            set_elements(machine, instruction, machine.store.constants(np.zeros(2, dtype=np.uint64), 64))
            return
        combine(machine, instruction, table, (left, right, left))

    return handler


def _evaluated(machine: Machine, instruction: Instruction) -> None:
    """``xxeval``: a function of three bits, whose table the instruction has, first for three zeros."""
    table = int(f"{instruction.values[4]:08b}"[::-1], 2)
    combine(machine, instruction, table, [register_number(instruction, each) for each in (1, 2, 3)])


def _blended(width: int) -> Handler:
    """Return a handler that chooses elements: the second operand's where the last one has its first bit."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        one, other, condition = (
            elements(machine, instruction, register_number(instruction, each), width // 8)
            for each in (1, 2, 3)
        )
        holds = bit_slices.extract(machine.store, condition, width - 1, 1)
        found = apply(machine.store, operations.select(width), holds, other, one)
        set_elements(machine, instruction, found)

    return handler


Rule = Callable[..., Ids]
"""From the store, a width and the elements of operands to those of the result."""


def _elementwise(width: int, rule: Rule, count: int = 2) -> Handler:
    def handler(machine: Machine, instruction: Instruction) -> None:
        given = [
            elements(machine, instruction, register_number(instruction, 1 + each), width // 8)
            for each in range(count)
        ]
        set_elements(machine, instruction, rule(machine.store, width, *given))

    return handler


def _sum(store: TermStore, width: int, left: Ids, right: Ids) -> Ids:
    return apply(store, operations.ring(width, 0, 2), left, right)


def _difference(store: TermStore, width: int, left: Ids, right: Ids) -> Ids:
    return _sum(store, width, left, apply(store, operations.negate(bits(width)), right))


def _opposite(store: TermStore, width: int, words: Ids) -> Ids:
    return apply(store, operations.negate(bits(width)), words)


def _product(store: TermStore, width: int, left: Ids, right: Ids) -> Ids:
    return apply(store, operations.ring(width, 1, 0), left, right)


def _product_sum(store: TermStore, width: int, left: Ids, right: Ids, addend: Ids) -> Ids:
    return apply(store, operations.ring(width, 1, 1), left, right, addend)


def _extremum(which: str, *, sign: bool) -> Rule:
    def rule(store: TermStore, width: int, left: Ids, right: Ids) -> Ids:
        fmt = (operations.signed if sign else operations.unsigned)(width)
        return apply(store, operations.extremum(fmt, which), left, right)

    return rule


def _sums_of_products(width: int, left_sign: bool, right_sign: bool) -> Handler:
    """Return a handler that adds the products of the elements of each word to it, modulo ``2**32``."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        store = machine.store
        left, right = (
            elements(machine, instruction, register_number(instruction, each), width // 8).reshape(4, -1)
            for each in (1, 2)
        )
        total = elements(machine, instruction, register_number(instruction, 3), 4)
        for one, other in zip(left.T, right.T, strict=True):
            factors = [
                (bit_slices.sign_extend if sign else bit_slices.zero_extend)(store, each, 32)
                for each, sign in ((one, left_sign), (other, right_sign))
            ]
            total = apply(store, operations.ring(32, 1, 1), *factors, total)
        set_elements(machine, instruction, total)

    return handler


def _shifted(width: int, move: Callable[[TermStore, Ids, int, int], Ids]) -> Handler:
    """Return a handler that shifts each element by the low bits of the other operand's."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        given, amounts = (
            elements(machine, instruction, register_number(instruction, each), width // 8) for each in (1, 2)
        )
        found = []
        for one, amount in zip(given, amounts, strict=True):
            word = machine.words.cut(machine.words.word(int(amount)), 0, width.bit_length() - 1)
            count = known(f"the shift of {instruction}", word)
            found.append(move(machine.store, np.array([one], dtype=np.int32), width, count))
        set_elements(machine, instruction, np.concatenate(found))

    return handler


def _left(store: TermStore, words: Ids, _: int, count: int) -> Ids:
    return bit_slices.shift_left(store, words, count)


def _right(store: TermStore, words: Ids, width: int, count: int) -> Ids:
    return bit_slices.zero_extend(store, bit_slices.extract(store, words, count, width - count), width)


def _rotated(store: TermStore, words: Ids, width: int, count: int) -> Ids:
    if not count:
        return words
    high, low = (
        bit_slices.extract(store, words, 0, width - count),
        bit_slices.extract(store, words, width - count, count),
    )
    return bit_slices.concatenate(store, [low, high])


def _arithmetic_right(store: TermStore, words: Ids, width: int, count: int) -> Ids:
    return bit_slices.sign_extend(store, bit_slices.extract(store, words, count, width - count), width)


def _unpacked(width: int, *, high: bool) -> Handler:
    """Return a handler that extends half of the elements by their signs."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        given = elements(machine, instruction, register_number(instruction, 1), width // 8)
        half = len(given) // 2
        some = given[:half] if high else given[half:]
        set_elements(machine, instruction, bit_slices.sign_extend(machine.store, some, 2 * width))

    return handler


def _extended(source: int, width: int) -> Handler:
    """Return a handler that extends the low bits of each element by their sign."""

    def rule(store: TermStore, _: int, words: Ids) -> Ids:
        return bit_slices.sign_extend(store, bit_slices.extract(store, words, 0, source), width)

    return _elementwise(width, rule, 1)


def _handlers() -> Mapping[str, Handler]:
    tables = {
        "and": A & B,
        "andc": A & ~B,
        "or": A | B,
        "orc": A | ~B,
        "xor": A ^ B,
        "nor": ~(A | B),
        "nand": ~(A & B),
        "eqv": ~(A ^ B),
    }
    found: dict[str, Handler] = {}
    for name, table in tables.items():
        found |= {f"xxl{name}": _bitwise(table), f"v{name}": _bitwise(table)}
    for letter, width in ELEMENT_BITS.items():
        found[f"vaddu{letter}m"] = _elementwise(width, _sum)
        found[f"vsubu{letter}m"] = _elementwise(width, _difference)
        found[f"vsl{letter}"] = _shifted(width, _left)
        found[f"vsr{letter}"] = _shifted(width, _right)
        found[f"vsra{letter}"] = _shifted(width, _arithmetic_right)
        found[f"xxblendv{letter}"] = _blended(width)
        if width < 64:
            found[f"vupkhs{letter}"] = _unpacked(width, high=True)
            found[f"vupkls{letter}"] = _unpacked(width, high=False)
        for other, wide in ELEMENT_BITS.items():
            if wide > width:
                found[f"vexts{letter}2{other}"] = _extended(width, wide)
        found[f"vrl{letter}"] = _shifted(width, _rotated)
        for which, kind in itertools.product(("max", "min"), ("s", "u")):
            found[f"v{which}{kind}{letter}"] = _elementwise(width, _extremum(which, sign=kind == "s"))
    for letter in "wd":
        found[f"vneg{letter}"] = _elementwise(ELEMENT_BITS[letter], _opposite, 1)
    return found | {
        "vmuluwm": _elementwise(32, _product),
        "vmulld": _elementwise(64, _product),
        "vmladduhm": _elementwise(16, _product_sum, 3),
        "vmsumubm": _sums_of_products(8, False, False),
        "vmsummbm": _sums_of_products(8, True, False),
        "vmsumuhm": _sums_of_products(16, False, False),
        "vmsumshm": _sums_of_products(16, True, True),
        "xxeval": _evaluated,
    }


HANDLERS: Mapping[str, Handler] = MappingProxyType(_handlers())
"""What carries out the instructions of this module, by mnemonic."""
