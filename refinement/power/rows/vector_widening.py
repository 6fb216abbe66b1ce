"""Vector instructions with results wider than their elements: products, saturating sums, means.

The exact result is formed in a greater width, and clamped or cut. That a sum was clamped is told in
VSCR[SAT], which nothing here reads.

Source: Power ISA 3.1 Book I sections 6.8.1, 6.9.1 to 6.9.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from ....spec.formats import IntegerFormat
from ....spec.rounding import Rounding
from ...terms import bit_slices, operations
from ...terms.evaluation import apply
from ...terms.interning import Ids
from ...terms.store import Operation, TermStore, bits
from ..image.instruction_forms import Instruction
from ..image.vector_forms import ELEMENT_BITS
from ..machine import Handler, Machine
from .floating_point import elements, set_elements
from .permutations import register_number

_WIDEST = ELEMENT_BITS["d"]


def _wide(store: TermStore, words: Ids, fmt: IntegerFormat, width: int) -> Ids:
    extend = bit_slices.sign_extend if fmt.signed else bit_slices.zero_extend
    return extend(store, words, width)


def _added(store: TermStore, width: int, *given: Ids) -> Ids:
    return np.asarray(apply(store, operations.ring(width, 0, len(given)), *given))


def _clamp(source: IntegerFormat, target: IntegerFormat) -> Operation:
    return operations.convert(target, source, Rounding.NEAREST_EVEN, saturate=True)


def _clamped(store: TermStore, words: Ids, source: IntegerFormat, target: IntegerFormat) -> Ids:
    """Clamp integers; what was clamped to a greater range before need not be."""
    for wider in (operations.signed(2 * source.bits), operations.unsigned(2 * source.bits)):
        before = _clamp(wider, source)
        if (
            target.maximum <= source.maximum
            and target.minimum >= source.minimum
            and all(store.operation(word) == before for word in words.tolist())
        ):
            return _clamped(store, store.arguments(words)[:, 0], wider, target)
    return np.asarray(apply(store, _clamp(source, target), words))


def _both(machine: Machine, instruction: Instruction, fmt: IntegerFormat, width: int) -> tuple[Ids, Ids]:
    """Return the elements of two operands in a greater width."""
    one, other = (
        _wide(
            machine.store,
            elements(machine, instruction, register_number(instruction, each), fmt.bits // 8),
            fmt,
            width,
        )
        for each in (1, 2)
    )
    return one, other


# -- of two elements
Exact = Callable[[TermStore, int, Ids, Ids], Ids]
"""From the store, a width that holds the result, and the operands in it."""


def _sum(store: TermStore, width: int, left: Ids, right: Ids) -> Ids:
    return _added(store, width, left, right)


def _difference(store: TermStore, width: int, left: Ids, right: Ids) -> Ids:
    return _added(store, width, left, apply(store, operations.negate(bits(width)), right))


def _saturating(fmt: IntegerFormat, exact: Exact) -> Handler:
    def handler(machine: Machine, instruction: Instruction) -> None:
        width = 2 * fmt.bits
        found = exact(machine.store, width, *_both(machine, instruction, fmt, width))
        set_elements(machine, instruction, _clamped(machine.store, found, operations.signed(width), fmt))

    return handler


def _mean(fmt: IntegerFormat) -> Handler:
    """Return the mean of two elements, rounded up."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        store, width = machine.store, 2 * fmt.bits
        one, other = _both(machine, instruction, fmt, width)
        more = store.constants(np.ones(len(one), dtype=np.uint64), width)
        total = _added(store, width, one, other, more)
        set_elements(machine, instruction, bit_slices.extract(store, total, 1, fmt.bits))

    return handler


def _distance(fmt: IntegerFormat) -> Handler:
    """Return the distance of two elements without a sign."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        store = machine.store
        given = [
            elements(machine, instruction, register_number(instruction, each), fmt.bits // 8)
            for each in (1, 2)
        ]
        greater, less = (apply(store, operations.extremum(fmt, which), *given) for which in ("max", "min"))
        set_elements(machine, instruction, _difference(store, fmt.bits, greater, less))

    return handler


def _product(fmt: IntegerFormat, part: slice) -> Handler:
    """Return the whole products of every other element: those of even or of odd number."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        width = 2 * fmt.bits
        one, other = (each[part] for each in _both(machine, instruction, fmt, width))
        set_elements(machine, instruction, apply(machine.store, operations.ring(width, 1, 0), one, other))

    return handler


def _high_product(fmt: IntegerFormat) -> Handler:
    """Return the upper halves of the products."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        width = 2 * fmt.bits
        whole = apply(machine.store, operations.ring(width, 1, 0), *_both(machine, instruction, fmt, width))
        set_elements(machine, instruction, bit_slices.extract(machine.store, whole, fmt.bits, fmt.bits))

    return handler


def _packed(source: IntegerFormat, target: IntegerFormat) -> Handler:
    """Return the elements of both operands, clamped to half of their width."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        given = [
            elements(machine, instruction, register_number(instruction, each), source.bits // 8)
            for each in (1, 2)
        ]
        set_elements(machine, instruction, _clamped(machine.store, np.concatenate(given), source, target))

    return handler


# -- of many
def _sums(fmt: IntegerFormat, words: int) -> Handler:
    """Return clamped sums of all elements within so many words and of the other operand's last word there.

    The other words of the result are zeros.
    """

    def handler(machine: Machine, instruction: Instruction) -> None:
        store = machine.store
        given = elements(machine, instruction, register_number(instruction, 1), fmt.bits // 8)
        addends = elements(machine, instruction, register_number(instruction, 2), 4)
        target = operations.signed(32) if fmt.signed else operations.unsigned(32)
        parts = _wide(store, given, fmt, _WIDEST).reshape(4 // words, -1)
        last = _wide(store, addends[words - 1 :: words], target, _WIDEST)
        total = _added(store, _WIDEST, *parts.T, last)
        found = store.constants(np.zeros(4, dtype=np.uint64), 32)
        found[words - 1 :: words] = _clamped(store, total, operations.signed(_WIDEST), target)
        set_elements(machine, instruction, found)

    return handler


def _sums_of_products(fmt: IntegerFormat) -> Handler:
    """Return a handler that adds the products of the elements of each word to it, clamped."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        store = machine.store
        target = operations.signed(32) if fmt.signed else operations.unsigned(32)
        left, right = (each.reshape(4, -1) for each in _both(machine, instruction, fmt, _WIDEST))
        total = _wide(
            store, elements(machine, instruction, register_number(instruction, 3), 4), target, _WIDEST
        )
        for one, other in zip(left.T, right.T, strict=True):
            total = np.asarray(apply(store, operations.ring(_WIDEST, 1, 1), one, other, total))
        set_elements(machine, instruction, _clamped(store, total, operations.signed(_WIDEST), target))

    return handler


def _handlers() -> Mapping[str, Handler]:
    found: dict[str, Handler] = {}
    for (letter, width), wider in zip(ELEMENT_BITS.items(), "hwd", strict=False):
        for kind, formats in (("s", operations.signed), ("u", operations.unsigned)):
            fmt = formats(width)
            found[f"vadd{kind}{letter}s"] = _saturating(fmt, _sum)
            found[f"vsub{kind}{letter}s"] = _saturating(fmt, _difference)
            found[f"vavg{kind}{letter}"] = _mean(fmt)
            found[f"vmule{kind}{letter}"] = _product(fmt, slice(0, None, 2))
            found[f"vmulo{kind}{letter}"] = _product(fmt, slice(1, None, 2))
            found[f"vpk{kind}{wider}{kind}s"] = _packed(formats(2 * width), fmt)
        found[f"vpks{wider}us"] = _packed(operations.signed(2 * width), operations.unsigned(width))
        found[f"vabsdu{letter}"] = _distance(operations.unsigned(width))
    return found | {
        "vmulhsw": _high_product(operations.signed(32)),
        "vmulhuw": _high_product(operations.unsigned(32)),
        "vsum4sbs": _sums(operations.signed(8), 1),
        "vsum4ubs": _sums(operations.unsigned(8), 1),
        "vsum4shs": _sums(operations.signed(16), 1),
        "vsum2sws": _sums(operations.signed(32), 2),
        "vsumsws": _sums(operations.signed(32), 4),
        "vmsumuhs": _sums_of_products(operations.unsigned(16)),
        "vmsumshs": _sums_of_products(operations.signed(16)),
    }


HANDLERS: Mapping[str, Handler] = MappingProxyType(_handlers())
"""What carries out the instructions of this module, by mnemonic."""
