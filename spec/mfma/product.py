"""What an MFMA computes, on matrices, once for every algebra.

D[b] = C[b] + A[b] x B[b] for each block b, where modifiers may have A or B come from other lanes. Source:
CDNA4 ISA chapter 7, with the open points of `choices`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algebra import Algebra, Array, Operand
from ..formats import S32, TF32, FloatFormat
from ..layout import Layout
from ..matrix_product import arbitrary_sum, chain, flushed, integer_sum, paired, pairwise, rounded
from ..rounding import Rounding
from .catalogue import LANES, MatrixMultiply
from .choices import PAIRWISE, UNSPECIFIED, Choices
from .instructions import MODIFIERS, Written
from .layouts import layout
from .targets import Target

LaneMap = Callable[[Any], Any]
"""A lane's number to the number of the lane whose registers it reads."""


@dataclass(frozen=True)
class Modifiers:
    """What the modifiers of an instruction say; see CDNA4 ISA chapter 7 for their names."""

    cbsz: int = 0
    abid: int = 0
    blgp: int = 0
    neg: int = 0


def modifiers_of(written: Written) -> Modifiers:
    """Return the modifiers of an instruction's text; ``blgp`` of f64 is ``neg`` elsewhere."""
    return Modifiers(**{name: written.modifier(name) for name in MODIFIERS})


def lanes_of_a(row: MatrixMultiply, modifiers: Modifiers, choices: Choices) -> LaneMap | None:
    """Return which lane's A each lane reads, None where it is its own."""
    if row.is_double or not modifiers.cbsz:
        return None
    shared, abid = 1 << modifiers.cbsz, modifiers.abid
    if choices.broadcast == "lanes":
        period = LANES // shared
        return lambda lane: (lane & (period - 1)) | (abid * period)
    own = LANES - 1 - (shared - 1) * row.m
    return lambda lane: (lane & own) | (abid * row.m)


def lanes_of_b(row: MatrixMultiply, modifiers: Modifiers) -> LaneMap | None:
    """Return which lane's B each lane reads, None where it is its own."""
    match modifiers.blgp:
        case _ if row.is_double or not modifiers.blgp:
            return None
        case 1 | 2:
            return lambda lane: (lane & 31) | (32 * (modifiers.blgp - 1))
        case 3:
            return lambda lane: (lane + 16) & (LANES - 1)
        case _:
            return lambda lane: (lane & 15) | (16 * (modifiers.blgp - 4))


def fetched(held: Layout, lanes: LaneMap | None, matrix: Array) -> Array:
    """Return a matrix as it is seen where every lane reads another lane's registers."""
    if lanes is None:
        return matrix
    shape = tuple(axis.extent for axis in held.target)
    lane, number = held.inverse(*np.indices(shape))
    return matrix[(..., *held.forward(lanes(lane), number))]


def product(
    alg: Algebra,
    row: MatrixMultiply,
    target: Target,
    a: Array,
    b: Array,
    c: Array,
    modifiers: Modifiers,
    choices: Choices,
) -> Array:
    """Return D (…, M, N).

    Parameters
    ----------
    alg : Algebra
        What the encodings are.
    row, target
        The instruction, and who executes it.
    a, b, c : array
        Encodings (…, M, K), (…, K, N) and (…, M, N), with an axis of blocks before the rows where there
        are several.
    modifiers : Modifiers
        What the text says besides.
    choices : Choices
        Readings of the open points.
    """
    a = fetched(layout(row, "a"), lanes_of_a(row, modifiers, choices), a)
    b = fetched(layout(row, "b"), lanes_of_b(row, modifiers), b)
    x, y = paired(a, b)
    formats = [target.format(row.types[operand]) for operand in "abc"]
    if row.result == "i32":
        total = integer_sum(alg, (x, formats[0]), (y, formats[1])) + alg.integer(c, S32)
        return (alg.saturate if choices.integer_overflow == "clamp" else alg.wrap)(total, S32)
    operands = {
        name: Operand(bits, fmt)
        for name, bits, fmt in zip("abc", (x, y, c), formats, strict=True)
        if isinstance(fmt, FloatFormat)
    }
    for place, name in enumerate("abc"):
        if modifiers.neg >> place & 1:
            operands[name] = Operand(alg.negate(operands[name]), operands[name].format)
    flushing = flushes(row, target, choices)
    for name in flushing & operands.keys():
        operands[name] = _flushed(alg, operands[name], choices)
    if row.factors == "xf32":
        operands |= {name: _shortened(alg, operands[name], choices) for name in "ab"}
    left, right, start = operands.values()
    if choices.accumulation == UNSPECIFIED:
        return arbitrary_sum(alg, f"accumulate_{row.name}", (left, right), start, None, start.format)
    if choices.accumulation == PAIRWISE and sums_pairwise(row, target):
        total = pairwise(rounded(alg), start.format, left, right, start, row.elements("a"))
    else:
        total = chain(rounded(alg), start.format, left, right, start)
    return (flushed(alg, total) if "d" in flushing else total).bits


def sums_pairwise(row: MatrixMultiply, target: Target) -> bool:
    """Tell whether an instruction adds groups of products, where that is the choice: of CDNA1 and CDNA2."""
    return target.short_names and row.factors in ("f16", "bf16")


def flushes(row: MatrixMultiply, target: Target, choices: Choices) -> frozenset[str]:
    """Return the operands that lose their subnormals."""
    flushed = choices.subnormals == "flushed"
    if row.factors in ("f16", "bf16") and (
        flushed or (target.flushes_narrow and choices.subnormals != "kept")
    ):
        return frozenset("abcd")
    return frozenset("ab") if row.factors == "f32" and flushed else frozenset()


def _flushed(alg: Algebra, operand: Operand, choices: Choices) -> Operand:
    """Return an operand without subnormals; zeros themselves keep their sign."""
    zeros = flushed(alg, operand)
    if choices.flushed_zero == "signed":
        return zeros
    became_zero = alg.is_zero(zeros) & ~alg.is_zero(operand)
    positive = alg.constant(0, operand.format)
    return Operand(alg.where(became_zero, positive, zeros.bits), operand.format)


def _shortened(alg: Algebra, operand: Operand, choices: Choices) -> Operand:
    """Return f32 numbers with 10 fraction bits: tf32 ignores the others."""
    if choices.xf32 == "rounded":
        return Operand(alg.fused(TF32, Rounding.NEAREST_EVEN, (), [operand]), TF32)
    return Operand(operand.bits, TF32)
