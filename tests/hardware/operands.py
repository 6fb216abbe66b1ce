"""Operands to record: random, near each other in exponent, extreme, subnormal, special, and exact sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mmaproof.spec.formats import FloatFormat, Format, IntegerFormat
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.ptx.matrix_move_forms import ROW_BYTES
from mmaproof.spec.ptx.targets import Target
from mmaproof.spec.ptx.variant import WARP_LANES
from mmaproof.spec.values import encodings_of_values

from .cases import MOVE_MEMORY, Case, is_product
from .models import is_modelled

ALGEBRA = NumpyAlgebra()

EXACT = "exact"
"""Small integers, whose sums every order and every model of accumulation computes exactly."""

PATTERNS = (EXACT, "near", "wide", "edges", "near", "subnormal", "special", "wide")
"""What the floats of a vector are like, in turn; integers are extremes for ``edges``, else random."""

Array = NDArray[np.unsignedinteger]


def draw(
    case: Case, count: int, target: Target, first: int, generator: np.random.Generator
) -> dict[str, Array]:
    """Return the input arrays (vectors, …) of a case.

    Parameters
    ----------
    case : Case
        What is executed.
    count : int
        Vectors. The first is ``exact``.
    target : Target
        Where. All vectors of a product without a model of its accumulation are exact.
    first : int
        Where in `PATTERNS` the second vector begins.
    generator : Generator
        Of random numbers.
    """
    if not is_product(case):
        return _draw_move(case, count, generator)
    turns = [EXACT, *(PATTERNS[(first + i) % len(PATTERNS)] for i in range(count - 1))]
    if not is_modelled(case, target):
        turns = [EXACT] * count
    vectors = [_draw_product(case, pattern, generator) for pattern in turns]
    return {name: np.stack([vector[name] for vector in vectors]) for name in vectors[0]}


def _draw_move(case: Case, count: int, generator: np.random.Generator) -> dict[str, Array]:
    arrays: dict[str, Array] = {}
    for name in case.inputs:
        buffer = case.buffers[name]
        dtype = np.dtype(buffer.dtype)
        arrays[name] = generator.integers(0, 1 << 8 * dtype.itemsize, (count, *buffer.shape), dtype)
    if "addresses" in arrays:
        rows = np.stack([generator.permutation(MOVE_MEMORY // ROW_BYTES)[:WARP_LANES] for _ in range(count)])
        arrays["addresses"] = (rows[..., None] * ROW_BYTES).astype(np.uint32)
    return arrays


def _draw_product(case: Case, pattern: str, generator: np.random.Generator) -> dict[str, Array]:
    form = case.multiplication
    arrays: dict[str, Array] = {}
    for role in "abc":
        matrix = elements(form.format(role), form.matrix_shape(role), role, pattern, generator)
        if case.moves:
            before = generator.integers(0, 256, case.buffers[role].shape, np.uint8)
            arrays[role] = case.memory_operands[role].store(before, 0, matrix, case.stride(role))
        else:
            arrays[role] = form.fragment(role).scatter(ALGEBRA, matrix)
    if case.moves:
        arrays["d"] = generator.integers(0, 256, case.buffers["d"].shape, np.uint8)
    if form.sparsity is not None:
        shape = (form.shape.m, form.sparsity.chunks)
        registers = np.zeros((WARP_LANES, 1), np.uint32)
        for selector in range(form.sparsity.selectors):  # what is not selected is legal, and different
            nibbles = generator.choice(form.sparsity.legal_nibbles, shape).astype(np.uint8)
            registers |= form.sparsity.held(selector).scatter(ALGEBRA, nibbles)
        arrays["metadata"] = registers
    if form.block_scale is not None:
        for name in ("scale_a", "scale_b"):
            factors = elements(form.block_scale.format, (WARP_LANES, 4), "scale", pattern, generator)
            arrays[name] = np.ascontiguousarray(factors).view("<u4")
    return arrays


def elements(
    fmt: Format, shape: tuple[int, ...], role: str, pattern: str, generator: np.random.Generator
) -> Array:
    """Return random encodings of a format after a pattern; ``role`` is a, b, c or scale."""
    if isinstance(fmt, IntegerFormat):
        return _integers(fmt, shape, pattern, generator)
    assert isinstance(fmt, FloatFormat)
    if pattern == EXACT:
        values = {"a": range(-3, 4), "b": range(-1, 2), "c": range(-8, 9), "scale": (0.5, 1, 2)}[role]
        if role == "scale":
            one = fmt.bias << fmt.fraction_bits
            step = generator.integers(-1, 2, shape) << fmt.fraction_bits
            return (one + step).astype(fmt.storage)
        return encodings_of_values(role, generator.choice(np.array(values, np.float64), shape), fmt)
    magnitudes = _magnitudes(fmt, shape, pattern, generator)
    padding = generator.integers(0, 1 << fmt.padding_bits, shape, np.uint64)
    signs = generator.integers(0, 2, shape, np.uint64) * np.uint64(fmt.sign_mask)
    return (signs | magnitudes << np.uint64(fmt.padding_bits) | padding).astype(fmt.storage)


def _integers(
    fmt: IntegerFormat, shape: tuple[int, ...], pattern: str, generator: np.random.Generator
) -> Array:
    mask = np.uint64((1 << fmt.bits) - 1)
    if pattern == "edges":
        extremes = np.array([fmt.minimum, fmt.maximum, fmt.maximum - 1, fmt.minimum + 1, 0, 1, -1])
        return (generator.choice(extremes, shape).astype(np.uint64) & mask).astype(fmt.storage)
    return generator.integers(0, int(mask), shape, np.uint64, endpoint=True).astype(fmt.storage)


def _magnitudes(
    fmt: FloatFormat, shape: tuple[int, ...], pattern: str, generator: np.random.Generator
) -> NDArray[np.uint64]:
    def below(limit: int) -> NDArray[np.uint64]:
        return generator.integers(0, limit, shape, np.uint64, endpoint=True)

    hidden = 1 << fmt.fraction_bits
    match pattern:
        case "near":
            fields = generator.integers(-3, 4, shape) + fmt.bias
            fields = np.clip(fields, 0, (1 << fmt.exponent_bits) - 1).astype(np.uint64)
            return np.minimum(fields * np.uint64(hidden) + below(hidden - 1), np.uint64(fmt.largest))
        case "edges":
            one = fmt.bias << fmt.fraction_bits
            edges = [0, 1, hidden - 1, hidden, one, min(one + 1, fmt.largest), fmt.largest]
            return generator.choice(np.array(edges, np.uint64), shape)
        case "subnormal":
            small = below(min(2 * hidden - 1, fmt.largest))
            return np.where(generator.random(shape) < 0.8, small, _magnitudes(fmt, shape, "near", generator))
        case "special":
            specials = [m for m in (fmt.infinity, fmt.default_nan) if m is not None] or [0]
            chosen = generator.choice(np.array(specials, np.uint64), shape)
            return np.where(
                generator.random(shape) < 0.02, chosen, _magnitudes(fmt, shape, "near", generator)
            )
        case _:
            return below(fmt.largest)
