"""What the products compute, on logical matrices of encodings, once for every algebra.

D[i, j] = start[i, j] + sum over t < k of (A[i, t]·SA[i, t div 32]) · (B[t, j]·SB[t div 32, j]), where the
start is 0, the accumulator or the bias row, and the scale factors are those of the ``.mx`` forms.
Source: pto-isa headers at 3186c381 (TMatmul, TGemv, TMatmul_MX).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from math import prod
from operator import add

import numpy as np

from ..algebra import Algebra, Array, Operand, Product
from ..errors import UnsupportedError
from ..formats import B1, F32, F64, FloatFormat, Format, IntegerFormat
from ..operand_arrays import blocks
from ..rounding import Rounding
from .catalogue import Operation
from .choices import ADDED_LAST, TF32_FORMATS, UNSPECIFIED, Choices
from .sizes import SCALE_GROUP
from .tile import Tile

SCALED = FloatFormat("scaled", 13, exponent_bits=9, fraction_bits=3, bias=255)
"""Holds the product of any 8- or 4-bit element and any scale factor exactly."""

_NEAREST = Rounding.NEAREST_EVEN

_BLOCK = 1 << 22
"""Integer products held at a time."""


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

    Integer sums wrap modulo ``2**32``: so does the CPU simulator; no document speaks of the NPU.

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
    if isinstance(result, IntegerFormat):
        return _integer_sum(alg, (a, formats["a"]), (b, formats["b"]), start, result)
    assert isinstance(result, FloatFormat)
    x, y = (_factor(alg, bits, formats[role], choices) for role, bits in (("a", a), ("b", b)))
    if start is not None:
        start = _flushed(alg, Operand(start, result), choices).bits
    scales = None
    if operation.microscaled:
        assert scale_a is not None
        assert scale_b is not None
        scales = (
            Operand(scale_a, _float(formats["scale_a"])),
            Operand(scale_b, _float(formats["scale_b"])),
        )
    if choices.accumulation == UNSPECIFIED:
        return _arbitrary_sum(alg, x, y, start, scales, result)
    if scales is None:
        return _float_sum(alg, x, y, start, result, choices)
    x, y = _scaled(alg, x, scales[0], axis=-1), _scaled(alg, y, scales[1], axis=-2)
    if choices.microscaled_sum == "f64":
        return _double_sum(alg, operation, x, y, start, result)
    return _float_sum(alg, x, y, start, result, choices)


def _integer_sum(
    alg: Algebra,
    a: tuple[Array, Format],
    b: tuple[Array, Format],
    start: Array | None,
    result: IntegerFormat,
) -> Array:
    (x, x_format), (y, y_format) = ((bits, _integer(fmt)) for bits, fmt in (a, b))
    rows, columns = x[..., :, None, :], y.swapaxes(-1, -2)[..., None, :, :]
    shape = _product_shape(x, y)
    addends = []
    for part in blocks(x.shape[-1], _BLOCK // max(1, prod(shape))):
        left, right = alg.integer(rows[..., part], x_format), alg.integer(columns[..., part], y_format)
        addends.append((left * right).sum(-1))
    if start is not None:
        addends.append(alg.integer(start, result))
    total = reduce(add, addends) if addends else alg.whole(0)
    return _broadcast(alg.wrap(total, result), shape)


def _float_sum(
    alg: Algebra, x: Operand, y: Operand, start: Array | None, result: FloatFormat, choices: Choices
) -> Array:
    """Chain fused multiply-adds from the start; or from +0, and add the start to their sum."""
    zero = alg.constant(0, result)
    last = choices.accumulation == ADDED_LAST
    total = _chain(alg, x, y, Operand(zero if last or start is None else start, result), choices)
    if last and start is not None:
        added = alg.fused(result, _NEAREST, (), [Operand(start, result), total])
        total = _flushed(alg, Operand(added, result), choices)
    return total.bits


def _chain(alg: Algebra, x: Operand, y: Operand, total: Operand, choices: Choices | None = None) -> Operand:
    """Add the products of x (…, m, k) and y (…, k, n) to a total one after the other, k increasing."""
    for t in range(x.bits.shape[-1]):
        pair = (Operand(x.bits[..., :, t, None], x.format), Operand(y.bits[..., t, None, :], y.format))
        total = Operand(alg.fused(total.format, _NEAREST, [pair], [total]), total.format)
        if choices is not None:
            total = _flushed(alg, total, choices)
    return Operand(_broadcast(total.bits, _product_shape(x.bits, y.bits)), total.format)


def _double_sum(
    alg: Algebra, operation: Operation, x: Operand, y: Operand, start: Array | None, result: FloatFormat
) -> Array:
    """Add in f64 and round at the end, as the CPU simulator does for scaled factors."""
    total = _chain(alg, x, y, Operand(alg.constant(0, F64), F64))
    if start is not None and operation.accumulates:
        total = Operand(alg.fused(F64, _NEAREST, (), [Operand(start, result), total]), F64)
    rounded = alg.fused(result, _NEAREST, (), [total])
    if start is not None and operation.biased:
        rounded = alg.fused(result, _NEAREST, (), [Operand(rounded, result), Operand(start, result)])
    return rounded


def _arbitrary_sum(
    alg: Algebra, x: Operand, y: Operand, start: Array | None, scales: Product | None, result: FloatFormat
) -> Array:
    """Apply an arbitrary function of a row of A, a column of B, the start and their scale factors.

    It is one function for every form and profile: an order that nobody states, but always the same.
    """
    zero = alg.constant(0, result)
    factors = [(x, y)] if scales is None else [(x, y), scales]
    arguments = [
        group
        for left, right in factors
        for group in (
            (left.bits[..., :, None, :], left.format),
            (right.bits.swapaxes(-1, -2)[..., None, :, :], right.format),
        )
    ]
    addend = ((zero if start is None else start)[..., None], result)
    return alg.arbitrary("accumulate", [*arguments, addend], result)


def _product_shape(x: Array, y: Array) -> tuple[int, ...]:
    """Return (…, m, n)."""
    return (*np.broadcast_shapes(x.shape[:-2], y.shape[:-2]), x.shape[-2], y.shape[-1])


def _broadcast(total: Array, shape: tuple[int, ...]) -> Array:
    """Return a sum in the shape of the product, which an empty one does not have by itself."""
    whole = np.broadcast_shapes(total.shape, shape)
    return total if total.shape == whole else np.broadcast_to(total, whole).copy()


def _scaled(alg: Algebra, elements: Operand, factors: Operand, axis: int) -> Operand:
    """Return the exact products of elements and the scale factors of their groups along an axis."""
    length = elements.bits.shape[axis]
    spread = factors.bits.repeat(SCALE_GROUP, axis=axis).take(range(length), axis=axis)
    pair = (elements, Operand(spread, factors.format))
    return Operand(alg.fused(SCALED, _NEAREST, [pair]), SCALED)


def _factor(alg: Algebra, bits: Array, fmt: Format, choices: Choices) -> Operand:
    """Return factors as the multiplier takes them: flushed, and rounded in the TF32 mode."""
    factor = _flushed(alg, Operand(bits, _float(fmt)), choices)
    narrow = TF32_FORMATS.get(choices.tf32)
    if narrow is None or fmt != F32:
        return factor
    return Operand(alg.fused(narrow, _NEAREST, (), [factor]), narrow)


def _flushed(alg: Algebra, operand: Operand, choices: Choices) -> Operand:
    """Return encodings with the subnormal ones zeros of their sign, where the choice is to flush them."""
    if choices.subnormals == "kept":
        return operand
    bits, fmt = operand
    exponent = IntegerFormat("exponent", fmt.exponent_bits, signed=False)
    field = alg.extract(bits, fmt.fraction_bits + fmt.padding_bits, exponent)
    sign = alg.extract(bits, fmt.bits - 1, B1)
    zero = alg.where(
        alg.same(sign, alg.constant(1, B1)), alg.constant(fmt.sign_mask, fmt), alg.constant(0, fmt)
    )
    return Operand(alg.where(alg.same(field, alg.constant(0, exponent)), zero, bits), fmt)


def _integer(fmt: Format) -> IntegerFormat:
    assert isinstance(fmt, IntegerFormat)
    return fmt


def _float(fmt: Format) -> FloatFormat:
    assert isinstance(fmt, FloatFormat)
    return fmt
