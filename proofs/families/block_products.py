"""What a multiplication adds to a sum, sums as they are stated, and what theorems on loops need to know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...spec.algebra import Algebra, Array, Encodings, Operand
from ...spec.formats import FloatFormat, Format, IntegerFormat, as_float
from ...spec.rounding import Rounding
from ..obligation import Inputs, Variable


@dataclass(frozen=True)
class BlockOperand:
    """An operand of a multiplication.

    Attributes
    ----------
    format : Format
        Of its elements.
    axes : tuple of (str or int)
        ``m`` for the rows of D, ``n`` for its columns; a number is an extent that D does not have.
    """

    format: Format
    axes: tuple[str | int, ...] = ()

    def shape(self, m: int, n: int) -> tuple[int, ...]:
        """Return the extents for a D of m rows and n columns."""
        extents = {"m": m, "n": n}
        return tuple(extents[axis] if isinstance(axis, str) else axis for axis in self.axes)

    def part(self, array: Array, rows: slice, columns: slice) -> Array:
        """Return what a tile of D needs of the operand."""
        if not self.axes:
            return array
        places: dict[str | int, slice] = {"m": rows, "n": columns}
        index: Any = (..., *(places.get(axis, slice(None)) for axis in self.axes))
        part: Array = array[index]
        return part


def variables(operands: Mapping[str, BlockOperand], m: int = 1, n: int = 1) -> tuple[Variable, ...]:
    """Return operands for a D of m rows and n columns."""
    return tuple(Variable(name, operand.format, operand.shape(m, n)) for name, operand in operands.items())


def sum_of_products(v: Inputs) -> Array:
    """Return the polynomials Σ a[i, k]·b[k, j] (…, m, n)."""
    total: Array = (v["a"][..., :, :, None] * v["b"][..., None, :, :]).sum(axis=-2)
    return total


def sum_onto_c(v: Inputs) -> Array:
    """Return the polynomials c[i, j] + Σ a[i, k]·b[k, j]."""
    total: Array = v["c"] + sum_of_products(v)
    return total


Compute = Callable[[Algebra, Inputs, Any], Array]
"""Computes D (…, m, n) from operands by name, in a reading of what an instruction set leaves open."""


@dataclass(frozen=True)
class BlockProduct:
    """A multiplication that adds a block of products to a sum.

    Attributes
    ----------
    operands : mapping of str to BlockOperand
        By name; one of format `RN` is a rounding direction, and called ``rounding``.
    result : Format
        Of D.
    multiply : callable
        The instruction.
    expected : callable
        The sum as it is stated without the instruction.
    readings : tuple
        The readings that theorems compare the two in.
    choices : str
        What obligations on bits call these readings.
    accumulator : str
        The operand that the sum starts from: the D of the block before.
    total : callable
        The sum as a polynomial.
    pinned : mapping
        For floats, encodings of operands and of ``q``, for which it shows whether q is added to the
        accumulator or to D.
    """

    operands: Mapping[str, BlockOperand]
    result: Format
    multiply: Compute
    expected: Compute
    readings: tuple[Any, ...]
    choices: str = "all"
    accumulator: str = "c"
    total: Callable[[Inputs], Array] = sum_onto_c
    pinned: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_integer(self) -> bool:
        """Whether it sums integers."""
        return isinstance(self.result, IntegerFormat)

    @property
    def repeats(self) -> bool:
        """Whether D can be the accumulator of the next block."""
        return self.accumulator in self.operands and self.operands[self.accumulator].format == self.result

    def variables(self, m: int = 1, n: int = 1) -> tuple[Variable, ...]:
        """Return the operands for a D of m rows and n columns; every element is the same function."""
        return variables(self.operands, m, n)


Blocks = Mapping[str, BlockProduct]
"""Blocks by the names that obligations have."""


Factors = tuple[Encodings, Encodings]
"""What is multiplied: encodings with their formats."""


def outer(a: Array, b: Array, formats: tuple[Format, Format]) -> list[Factors]:
    """Return the factors of A (…, m, k) times B (…, k, n) for each k in turn, to broadcast to (…, m, n)."""
    return [((a[..., :, k, None], formats[0]), (b[..., k, None, :], formats[1])) for k in range(a.shape[-1])]


def exact_product(alg: Algebra, x: Encodings, y: Encodings) -> Array:
    """Return the exact product of integers."""
    assert isinstance(x[1], IntegerFormat)
    assert isinstance(y[1], IntegerFormat)
    return alg.integer(x[0], x[1]) * alg.integer(y[0], y[1])


def one_after_the_other(
    alg: Algebra,
    start: Array,
    factors: Iterable[Factors],
    fmt: Format,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    multiply: Callable[[Algebra, Encodings, Encodings], Array] = exact_product,
) -> Array:
    """Return the sum that begins with `start` and takes one product after the other.

    Integers, whose products `multiply` says, wrap to `fmt` after every product; floats take one fused
    multiply-add for each.
    """
    total = start
    for x, y in factors:
        if isinstance(fmt, IntegerFormat):
            total = alg.wrap(multiply(alg, x, y) + alg.integer(total, fmt), fmt)
        else:
            addend = float_operand((total, fmt))
            total = alg.fused(addend.format, rounding, [(float_operand(x), float_operand(y))], [addend])
    return total


def float_operand(encodings: Encodings) -> Operand:
    """Return encodings of floats as an operand."""
    bits, fmt = encodings
    return Operand(bits, as_float(fmt))


def added(
    alg: Algebra, left: Array, right: Array, fmt: Format, rounding: Rounding = Rounding.NEAREST_EVEN
) -> Array:
    """Return the sum of two encodings, modulo 2**bits or rounded."""
    if isinstance(fmt, IntegerFormat):
        return alg.wrap(alg.integer(left, fmt) + alg.integer(right, fmt), fmt)
    addends = float_operand((left, fmt)), float_operand((right, fmt))
    return alg.fused(addends[0].format, rounding, (), addends)


def power_of_two(fmt: Format, exponent: int) -> int:
    """Return the encoding of 2**exponent, of a float a normal number."""
    if isinstance(fmt, FloatFormat):
        return (exponent + fmt.bias) << (fmt.fraction_bits + fmt.padding_bits)
    return 1 << exponent
