"""What the products compute, on logical matrices of encodings, once for every algebra.

D[i, j] = start[i, j] + sum over t < k of (A[i, t]·SA[i, t div 32]) · (B[t, j]·SB[t div 32, j]), where the
start is 0, the accumulator or the bias row, and the scale factors are those of the ``.mx`` forms.
Source: pto-isa headers at 3186c381 (TMatmul, TGemv, TMatmul_MX).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..algebra import Algebra, Array, Operand
from ..errors import UnsupportedError
from ..formats import F32, F64, FloatFormat, Format, IntegerFormat, as_float
from ..matrix_product import (
    Step,
    arbitrary_sum,
    block_scaled,
    chain,
    converted,
    flushed,
    integer_sum,
    paired,
    rounded,
)
from .catalogue import Operation
from .choices import ADDED_LAST, DIRECTIONS, TF32_FORMATS, UNSPECIFIED, Choices
from .sizes import SCALE_GROUP
from .tile import Tile

SCALED = FloatFormat("scaled", 13, exponent_bits=9, fraction_bits=3, bias=255)
"""Holds the product of any 8- or 4-bit element and any scale factor exactly."""


def formats_of(tiles: Mapping[str, Tile]) -> dict[str, Format]:
    """Return the format of every tile's elements.

    Raises
    ------
    UnsupportedError
        If no public document gives the encoding of one (``hif8``).
    """
    formats = {}
    for role, tile in tiles.items():
        if tile.element.format is None:
            raise UnsupportedError(f"{role} is of {tile.element}, whose encoding no public document gives")
        formats[role] = tile.element.format
    return formats


def product(
    alg: Algebra,
    operation: Operation,
    a: Array,
    b: Array,
    *,
    c: Array | None = None,
    bias: Array | None = None,
    scale_a: Array | None = None,
    scale_b: Array | None = None,
    formats: Mapping[str, Format],
    choices: Choices,
) -> Array:
    """Return D (…, m, n), encodings of ``formats["d"]``.

    Parameters
    ----------
    alg : Algebra
        What the encodings are.
    operation : Operation
        A product.
    a : array (…, m, k)
        The first factor.
    b : array (…, k, n)
        The second factor.
    c : array (…, m, n), optional
        The accumulator that is read, where the operation accumulates.
    bias : array (…, 1, n), optional
        The bias row, where the operation is biased.
    scale_a : array (…, m, ceil(k / 32)), optional
        Scale factors of A, where the operation is microscaled.
    scale_b : array (…, ceil(k / 32), n), optional
        Scale factors of B.
    formats : mapping of str to Format
        The formats of the operands by role, ``d`` included.
    choices : Choices
        Readings of what the documents leave open.
    """
    start = c if operation.accumulates else bias if operation.biased else None
    result = formats["d"]
    rows, columns = paired(a, b)
    if isinstance(result, IntegerFormat):
        exact = integer_sum(alg, (rows, formats["a"]), (columns, formats["b"]))
        if start is not None:
            exact = exact + alg.integer(start, result)
        encode = alg.saturate if choices.integer_overflow == "clamp" else alg.wrap
        return _broadcast(encode(exact, result), rows, columns)
    assert isinstance(result, FloatFormat)
    x, y = (_factor(alg, bits, formats[role], choices) for role, bits in (("a", rows), ("b", columns)))
    zero = Operand(alg.constant(0, result), result)
    added = None if start is None else _flushed(alg, Operand(start, result), choices)
    scales = None
    if operation.microscaled:
        assert scale_a is not None
        assert scale_b is not None
        of_rows, of_columns = paired(scale_a, scale_b)
        scales = (
            Operand(of_rows, as_float(formats["scale_a"])),
            Operand(of_columns, as_float(formats["scale_b"])),
        )
    if choices.accumulation == UNSPECIFIED:
        # one function for every form and profile: an order that nobody states, but always the same
        return arbitrary_sum(alg, "accumulate", (x, y), added or zero, scales, result)
    if scales is not None:
        x, y = (
            block_scaled(alg, factor, scale, SCALE_GROUP, SCALED)
            for factor, scale in zip((x, y), scales, strict=True)
        )
        if choices.microscaled_sum == "f64":
            return _double_sum(alg, operation, x, y, added, result)
    step = _step(alg, choices)
    last = added is not None and choices.accumulation == ADDED_LAST
    total = chain(step, result, x, y, zero if last else added or zero)
    if added is not None and last:
        total = step(result, (), [added, total])
    return _broadcast(total.bits, rows, columns)


def _double_sum(
    alg: Algebra, operation: Operation, x: Operand, y: Operand, start: Operand | None, result: FloatFormat
) -> Array:
    """Add in f64 and round at the end, as the CPU simulator does for scaled factors."""
    step = rounded(alg)
    total = chain(step, F64, x, y, Operand(alg.constant(0, F64), F64))
    if start is not None and operation.accumulates:
        total = step(F64, (), [start, total])
    total = step(result, (), [total])
    if start is not None and operation.biased:
        total = step(result, (), [total, start])
    return _broadcast(total.bits, x.bits, y.bits)


def _broadcast(total: Array, x: Array, y: Array) -> Array:
    """Return a sum in the shape of the product, which a sum of nothing does not have by itself."""
    whole = np.broadcast_shapes(total.shape, x.shape[:-1], y.shape[:-1])
    return total if total.shape == whole else np.broadcast_to(total, whole).copy()


def _step(alg: Algebra, choices: Choices) -> Step:
    """Return a fused multiply-add in the chosen direction, its results flushed where that is the choice."""
    step = rounded(alg, DIRECTIONS[choices.accumulator_rounding])
    return step if choices.subnormals == "kept" else lambda *terms: _flushed(alg, step(*terms), choices)


def _factor(alg: Algebra, bits: Array, fmt: Format, choices: Choices) -> Operand:
    """Return factors as the multiplier takes them: flushed, and rounded in the TF32 mode."""
    factor = _flushed(alg, Operand(bits, as_float(fmt)), choices)
    narrow = TF32_FORMATS.get(choices.tf32)
    if narrow is None or fmt != F32:
        return factor
    return converted(rounded(alg), factor, narrow)


def _flushed(alg: Algebra, operand: Operand, choices: Choices) -> Operand:
    """Return encodings with the subnormal ones zeros of their sign, where the choice is to flush them."""
    return operand if choices.subnormals == "kept" else flushed(alg, operand)
