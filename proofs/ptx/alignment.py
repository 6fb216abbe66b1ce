"""``wmma`` in memory: when every line is aligned, and from which stride on lines do not overlap."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import U32, U64
from ...spec.ptx.wmma import MemoryOperand, memory_operands
from ..obligation import Case, Equation, Inputs, Property, Status, Theorem, Variable, holds, theorem
from .wmma import widened

SOURCE = "PTX ISA 9.7.14.4.2 (matrix storage: alignment and stride)"

POINTER = Variable("pointer", U64, (1,))
STRIDE = Variable("stride", U32, (1,))


def operand_name(operand: MemoryOperand) -> str:
    """Return what obligations call an operand."""
    return f"{operand.shape}/{operand.format}/{operand.role}/{operand.layout}"


def is_multiple(alg: Algebra, value: Array, unit: int) -> Array:
    """Tell whether 64-bit values are multiples of a power of two."""
    return alg.same(value & (unit - 1), alg.constant(0, U64))


def lines_aligned(alg: Algebra, operand: MemoryOperand, pointer: Array, stride: Array) -> Array:
    """Tell whether every line starts at a multiple of the fragment's bytes, modulo 2**64."""
    numbers = np.stack([alg.constant(line, U64) for line in range(operand.lines)])
    first = alg.constant(0, U64)[np.newaxis]
    row, column = (numbers, first) if operand.layout == "row" else (first, numbers)
    byte, bit = operand.address(pointer, row, column, stride)
    aligned = is_multiple(alg, byte, operand.fragment_bytes) & is_multiple(alg, bit, 8)
    all_lines = aligned[..., :1]
    for line in range(1, operand.lines):
        all_lines = all_lines & aligned[..., line : line + 1]
    return all_lines


alignment = Theorem(
    "ptx/wmma/alignment",
    "every line is aligned if and only if pointer and stride are",
    "(for every line l: p + l·stride·bits / 8 is a multiple of F, modulo 2^64) ⇔ p and stride·bits / 8 are "
    "multiples of F, the fragment's bytes; for every 64-bit p and 32-bit stride",
    SOURCE,
    lambda: (Case(operand_name(operand), partial(_aligned, operand)) for operand in memory_operands()),
)


def _aligned(operand: MemoryOperand) -> Property:
    unit, bits = operand.fragment_bytes, operand.format.bits

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        stride = widened(alg, v["stride"], U32)
        rule = is_multiple(alg, v["pointer"], unit) & is_multiple(alg, stride * bits, 8 * unit)
        yield Equation(lines_aligned(alg, operand, v["pointer"], stride), rule, label="aligned")

    return Property((POINTER, STRIDE), claim, abstract=False)


@theorem(
    "ptx/wmma/default-stride",
    "a matrix stored without gaps at an aligned pointer is aligned, but for two operands",
    "p is a multiple of F ⇒ every line is aligned, with the stride that is taken when none is given",
    SOURCE,
)
def default_stride() -> Iterator[Case]:
    """Yield every memory operand; f16 fragments hold 32 bytes, but their shortest lines only 16."""
    for operand in memory_operands():
        fits = operand.minimum_stride * operand.format.bits % (8 * operand.fragment_bytes) == 0
        yield Case(
            operand_name(operand),
            partial(_default_aligned, operand),
            expect=Status.PROVED if fits else Status.REFUTED,
        )


def _default_aligned(operand: MemoryOperand) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        stride = alg.constant(operand.minimum_stride, U64)[np.newaxis]
        aligned = is_multiple(alg, v["pointer"], operand.fragment_bytes)
        yield holds(alg, lines_aligned(alg, operand, v["pointer"], stride), "aligned", aligned)

    return Property((POINTER,), claim, abstract=False)


@theorem(
    "ptx/wmma/minimum-stride",
    "lines do not overlap if and only if the stride is a line or more",
    "the first of a line comes stride − elements of a line + 1 after the last of the line before, which is "
    "positive ⇔ stride ≥ elements of a line; with a stride one less the two have one address",
    SOURCE,
)
def minimum_stride() -> Iterator[Case]:
    """Yield every memory operand, then each with a stride one less."""
    for operand in memory_operands():
        yield Case(operand_name(operand), partial(_in_order, operand))
        yield Case(
            f"one-less/{operand_name(operand)}",
            partial(_apart, operand, operand.minimum_stride - 1),
            expect=Status.REFUTED,
            statement=f"with stride {operand.minimum_stride - 1} each line ends before the next begins",
        )


def _ends(operand: MemoryOperand, line: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the last element of a line and the first of the next, as (row, column)."""
    last, first = (line, operand.minimum_stride - 1), (line + 1, 0)
    return (last, first) if operand.layout == "row" else (last[::-1], first[::-1])


def _in_order(operand: MemoryOperand) -> Property:
    length = operand.minimum_stride

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        stride = widened(alg, v["stride"], U32)
        expected = stride - (length - 1)
        for line in range(operand.lines - 1):
            last, first = (
                operand.element(alg.constant(row, U64), alg.constant(column, U64), stride)
                for row, column in _ends(operand, line)
            )
            yield Equation(first - last, expected, U64, label=f"from the end of line {line} to the next")
        # numbers of elements are below 2**40, so that a difference is negative where its top bit is set
        ahead = alg.same((expected - 1) & (1 << 63), alg.constant(0, U64))
        enough = alg.in_range(alg.integer(v["stride"], U32) - alg.whole(length), U32)
        yield Equation(ahead, enough, label="ahead")

    return Property((STRIDE,), claim, abstract=False)


def _apart(operand: MemoryOperand, stride: int) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        one, other = (
            operand.address(v["pointer"], *(alg.constant(number, U64) for number in (row, column, stride)))
            for row, column in _ends(operand, 0)
        )
        differ = ~(alg.same(one[0], other[0]) & alg.same(one[1], other[1]))
        yield holds(alg, differ, "different addresses")

    return Property((POINTER,), claim, pinned={}, abstract=False)


THEOREMS = (alignment, default_stride, minimum_stride)
