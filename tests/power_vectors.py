"""Random and edge-case operands for the rank-k updates, in matrix view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from mmaproof.spec.formats import FloatFormat, Format, IntegerFormat
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.power.catalogue import FloatFamily, RankKUpdate
from mmaproof.spec.power.choices import Choices
from mmaproof.spec.power.rank_k_update import Live, rank_k_update
from mmaproof.spec.rounding import Rounding

ALGEBRA = NumpyAlgebra()


@dataclass(frozen=True)
class Vectors:
    """A batch of inputs of one instruction; the first axis counts the vectors.

    Attributes
    ----------
    x, y, acc : arrays (n, 4, k), (n, columns, k), (n, 4, columns)
        Encodings, ISA element order.
    rounding : array (n,)
        FPSCR.RN.
    x_mask, y_mask, product_mask : arrays (n,)
        Immediates of the ``pm`` form; all ones where the word form is meant.
    """

    x: NDArray[Any]
    y: NDArray[Any]
    acc: NDArray[Any]
    rounding: NDArray[Any]
    x_mask: NDArray[Any]
    y_mask: NDArray[Any]
    product_mask: NDArray[Any]

    def live(self) -> Live:
        """Return the masks as conditions."""
        masks = ((self.x_mask, self.x), (self.y_mask, self.y))
        rows, columns = (ALGEBRA.flags(mask, operand.shape[1]) for mask, operand in masks)
        return Live(rows, columns, ALGEBRA.flags(self.product_mask, self.x.shape[2]))

    def where(self, selected: Any) -> Vectors:
        """Return the selected vectors."""
        return Vectors(**{name: values[selected] for name, values in vars(self).items()})


def random_vectors(update: RankKUpdate, masked: bool, count: int, rng: Generator) -> Vectors:
    """Draw `count` vectors: uniform bits, edge values, near underflow, near overflow, cancelling sums."""
    family = update.family
    shapes = ((count, 4, family.rank), (count, family.columns, family.rank), (count, 4, family.columns))
    draw = _floats if isinstance(family, FloatFamily) else _integers
    x, y, acc = draw(update, shapes, rng)

    def mask(width: int) -> NDArray[Any]:
        everything = (1 << width) - 1
        selective = masked & (rng.random(count) < 0.6)
        return np.where(selective, rng.integers(0, 1 << width, count), everything)

    products = mask(family.rank) if family.rank > 1 else np.ones(count, dtype=np.int64)
    return Vectors(x, y, acc, rng.integers(0, 4, count), mask(4), mask(family.columns), products)


def _uniform(fmt: Format, shape: tuple[int, ...], rng: Generator) -> NDArray[Any]:
    return rng.integers(0, 1 << fmt.bits, shape, dtype=np.uint64).astype(fmt.storage)


def _mixture(choices: list[NDArray[Any]], axes: int, rng: Generator) -> NDArray[Any]:
    """Choose one of the arrays independently for every index of the first `axes` axes."""
    shape = choices[0].shape
    choice = rng.integers(0, len(choices), shape[:axes]).reshape(*shape[:axes], *(1,) * (len(shape) - axes))
    return np.choose(choice, choices)


def _integers(
    update: RankKUpdate, shapes: tuple[tuple[int, ...], ...], rng: Generator
) -> tuple[NDArray[Any], ...]:
    """Draw uniform and extreme operands, and accumulators near both ends of the range."""

    def operand(fmt: IntegerFormat, shape: tuple[int, ...]) -> NDArray[Any]:
        ends = [fmt.minimum, fmt.minimum + 1, -1, 0, 1, fmt.maximum - 1, fmt.maximum]
        edge = ALGEBRA.wrap(rng.choice(np.array(ends, dtype=np.int64), shape), fmt)
        extreme = ALGEBRA.wrap(rng.choice(np.array([fmt.minimum, fmt.maximum]), shape), fmt)
        uniform = _uniform(fmt, shape, rng)
        near_end = ALGEBRA.wrap(extreme + rng.integers(-40, 40, shape), fmt)
        return _mixture([uniform, edge, extreme, _mixture([uniform, near_end], 1, rng)], 1, rng)

    family = update.family
    formats = (family.x, family.y, family.result)
    return tuple(operand(fmt, shape) for fmt, shape in zip(formats, shapes, strict=True))


def edge_values(fmt: FloatFormat) -> NDArray[Any]:
    """Return every kind of encoding: zeros, subnormals, ones, largest, infinities, both kinds of NaN."""
    assert fmt.infinity is not None
    one = fmt.bias << fmt.fraction_bits
    normal = 1 << fmt.fraction_bits
    first_quiet = fmt.infinity | normal >> 1
    signalling = [fmt.infinity | 1, first_quiet - 1]
    quiet = [first_quiet, first_quiet | 1, fmt.infinity | (normal - 1)]
    finite = [0, 1, 2, normal >> 1, normal - 1, normal, normal + 1, one - 1, one, one + 1, fmt.largest]
    magnitudes = [*finite, fmt.infinity, *signalling, *quiet]
    return np.array([m | sign for m in magnitudes for sign in (0, fmt.sign_mask)], dtype=fmt.storage)


def _floats(
    update: RankKUpdate, shapes: tuple[tuple[int, ...], ...], rng: Generator
) -> tuple[NDArray[Any], ...]:
    """Draw operands of one magnitude per vector, a few of their elements replaced by edge values."""
    family = update.family
    assert isinstance(family, FloatFamily)
    result = family.result
    count = shapes[0][0]
    # Exponents of the result at which sums cancel and tie, underflow and overflow; operands have half.
    centre = rng.choice([0, 0, result.quantum, result.minimum_exponent, result.maximum_exponent], count)
    spread = rng.choice([1, 3, 14, result.fraction_bits], count)
    # In some vectors the second product only nudges the first, as it must to tell one rounding from two.
    lag = rng.choice([0, 0, result.precision // 2 + 2], count)

    def operand(fmt: FloatFormat, shape: tuple[int, ...], share: int) -> NDArray[Any]:
        around = np.trunc(centre / share).astype(np.int64)[:, None, None]
        later = np.arange(shape[2]) * lag[:, None, None] if share > 1 else 0
        exponent = around - later + rng.integers(-spread[:, None, None], spread[:, None, None] + 1, shape)
        field = np.clip(exponent + fmt.bias, 0, (1 << fmt.exponent_bits) - 2).astype(np.uint64)
        scaled = (field << np.uint64(fmt.fraction_bits)) | _fractions(fmt, shape, rng)
        scaled |= rng.integers(0, 2, shape, dtype=np.uint64) * np.uint64(fmt.sign_mask)
        uniform = _uniform(fmt, shape, rng)
        magnitudes = _mixture([scaled, scaled, scaled, uniform.astype(np.uint64)], 1, rng).astype(fmt.storage)
        edges = rng.choice(edge_values(fmt), shape)
        return np.where(rng.random(shape) < rng.choice([0, 0.1, 0.5], (count, 1, 1)), edges, magnitudes)

    x = operand(family.x, shapes[0], 2)
    y = operand(family.y, shapes[1], 2)
    acc = operand(result, shapes[2], 1)
    cancelling = _nearly_cancelling(update, x, y, rng)
    return x, y, _mixture([acc, acc, cancelling], 1, rng)


def _fractions(fmt: FloatFormat, shape: tuple[int, ...], rng: Generator) -> NDArray[Any]:
    """Draw fraction fields: uniform, few leading bits (so that sums are exact or tie), zero, extremes."""
    width = fmt.fraction_bits
    uniform = rng.integers(0, 1 << width, shape, dtype=np.uint64)
    short = uniform >> (cleared := rng.integers(0, width, shape, dtype=np.uint64)) << cleared
    extreme = rng.choice(np.array([0, 1, 1 << (width - 1), (1 << width) - 1], dtype=np.uint64), shape)
    return _mixture([uniform, short, np.zeros_like(uniform), extreme], 3, rng)


def _nearly_cancelling(update: RankKUpdate, x: NDArray[Any], y: NDArray[Any], rng: Generator) -> NDArray[Any]:
    """Return accumulators within an encoding of plus or minus the product sum."""
    family = update.family
    plain = RankKUpdate(family, "", update.extended_opcode)
    everything = Live(*(np.ones(width, dtype=bool) for width in (4, family.columns, family.rank)))
    unused = np.zeros((), dtype=family.result.storage)
    products = rank_k_update(
        ALGEBRA, plain, x, y, unused, everything, Rounding.TOWARD_ZERO, Choices()
    )  # fmt: skip
    sign = rng.integers(0, 2, products.shape, dtype=np.uint64) << np.uint64(family.result.bits - 1)
    step = rng.integers(-1, 2, products.shape).astype(np.uint64)
    return ((products.astype(np.uint64) ^ sign) + step).astype(family.result.storage)
