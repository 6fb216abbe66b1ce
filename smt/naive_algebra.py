"""Naive translations: terms as the operations state them, nothing looked through, sorted or shortened.

What rewriting proved is asked of a solver in these terms, so that a fault of the rewriting can't hide itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import z3

from ..spec.algebra import Array, Encodings, Operand, Product
from ..spec.errors import UnsupportedError
from ..spec.formats import F64, FloatFormat, Format
from .exact_integer import ExactInteger
from .float_terms import Direction, is_nan, rounding_bits
from .number_algebra import NumberAlgebra
from .ring_algebra import RingAlgebra
from .z3_algebra import Z3Algebra, elementwise


class NaiveAlgebra(Z3Algebra):
    """`Z3Algebra` with plain extractions, concatenations, choices and equalities."""

    def where(self, condition: Array, then: Array, otherwise: Array) -> Array:
        """Build if-then-else terms; only Python's own truth values choose at once."""
        return elementwise(_choose, condition, then, otherwise)

    def same(self, left: Array, right: Array) -> Array:
        """Build equalities."""
        return elementwise(_same, left, right)

    def unpack(self, data: Array, fmt: Format) -> Array:
        """Concatenate bytes to elements, or split them to nibbles."""
        if fmt.bits == 4:
            halves = [elementwise(lambda b, low=low: z3.Extract(low + 3, low, b), data) for low in (4, 0)]
            return np.stack(halves, axis=-1).reshape(*data.shape[:-1], -1)
        grouped = data.reshape(*data.shape[:-1], -1, fmt.bits // 8)
        return elementwise(_joined, *(grouped[..., i] for i in range(grouped.shape[-1])))

    def pack(self, elements: Array, fmt: Format) -> Array:
        """Extract bytes of elements, or concatenate nibbles."""
        if fmt.bits == 4:
            return elementwise(_joined, elements[..., 0::2], elements[..., 1::2])
        lows = range(fmt.bits - 8, -1, -8)
        parts = [elementwise(lambda e, low=low: z3.Extract(low + 7, low, e), elements) for low in lows]
        return np.stack(parts, axis=-1).reshape(*elements.shape[:-1], -1)

    def extract(self, words: Array, low: int, fmt: Format) -> Array:
        """Cut bits out of terms."""
        return elementwise(lambda word: z3.Extract(low + fmt.bits - 1, low, word), words)

    def assemble(self, fields: Array, fmt: Format, positions: Sequence[int], word: Format) -> Array:
        """Combine each field, extended and shifted to its position, by or."""

        def word_of(*parts: Any) -> Any:
            placed = (
                z3.ZeroExt(word.bits - fmt.bits, part) << position
                for part, position in zip(parts, positions, strict=True)
            )
            return reduce(lambda left, right: left | right, placed)

        return elementwise(word_of, *(fields[..., i] for i in range(fields.shape[-1])))

    def arbitrary(self, name: str, arguments: Sequence[Encodings], result: Format) -> Array:
        """Apply an uninterpreted function, declared anew for each application."""
        rows = np.broadcast_arrays(*(bits[..., i] for bits, _ in arguments for i in range(bits.shape[-1])))
        widths = [fmt.bits for bits, fmt in arguments for _ in range(bits.shape[-1])]
        counts = "_".join(f"{bits.shape[-1]}{fmt}" for bits, fmt in arguments)
        function = _uninterpreted(f"{name}_{counts}_to_{result}", widths, result)
        return elementwise(function, *rows)

    def negate(self, operand: Operand) -> Array:
        """Flip the sign bit of what is not a NaN."""
        fmt = operand.format

        def negated(bits: Any) -> Any:
            return z3.If(is_nan(bits, fmt), bits, bits ^ z3.BitVecVal(fmt.sign_mask, fmt.bits))

        return elementwise(negated, operand.bits)


class GuardedProduct(ExactInteger):
    """An exact integer whose products are uninterpreted where no factor is 0.

    A sum is kept as its addends, in their order, and has one width for all of them: solvers see through the
    order of additions of one width, but not through sums that each have a bit more than the last.
    """

    __slots__ = ("_addends",)

    def __init__(self, body: Any, *more: Any) -> None:
        super().__init__(body)
        self._addends = (body, *more)

    @property
    def term(self) -> Any:
        """The bit-vector term."""
        carries = (len(self._addends) - 1).bit_length()
        width = max(addend.size() for addend in self._addends) + carries
        return reduce(add, (z3.SignExt(width - addend.size(), addend) for addend in self._addends))

    def __add__(self, other: object) -> GuardedProduct:
        addend = self._other(other)
        return NotImplemented if addend is None else GuardedProduct(*self._addends, *addend._addends)

    __radd__ = __add__

    def _product(self, factor: ExactInteger) -> GuardedProduct:
        left, right = self.term, factor.term
        widths = (left.size(), right.size(), left.size() + right.size())
        product = z3.Function(f"product_{widths[0]}_{widths[1]}", *map(z3.BitVecSort, widths))
        zero = z3.BitVecVal(0, widths[2])
        return GuardedProduct(z3.If(z3.Or(left == 0, right == 0), zero, product(left, right)))


class NaiveNumberAlgebra(NaiveAlgebra, NumberAlgebra):
    """`NumberAlgebra` in the same plain terms; integers multiply as `GuardedProduct`."""

    integers = GuardedProduct

    dot_add = NumberAlgebra.dot_add
    propagate_nan = NumberAlgebra.propagate_nan

    def fused(
        self,
        result: FloatFormat,
        rounding: Direction,
        products: Sequence[Product] = (),
        addends: Sequence[Operand] = (),
    ) -> Array:
        """Apply a function of the direction and of the numbers of the factors, then of the addends."""
        operands = [*(factor for product in products for factor in product), *addends]
        numbers = [self._number(operand) for operand in operands]
        if result == F64 and not products and len(numbers) == 1:
            return numbers[0]
        name = f"fused_{len(products)}_of_{len(numbers)}_to_{result}"
        function = _uninterpreted(name, [2] + [F64.bits] * len(numbers), result)
        direction = rounding_bits(rounding)
        return elementwise(lambda *terms: function(direction, *terms), *numbers)

    def _number(self, operand: Operand) -> Array:
        """Apply the function from encodings to the f64 of the same number."""
        function = _uninterpreted(f"number_{operand.format}", [operand.format.bits], F64)
        return elementwise(function, operand.bits)


class RealAlgebra(RingAlgebra):
    """Real numbers as terms: polynomials that are equal as functions of the reals are equal."""

    def constant(self, encoding: int, fmt: Format) -> Array:
        """Return the numeral of the number an encoding stands for."""
        return elementwise(_numeral, super().constant(encoding, fmt))

    def where(self, condition: Array, then: Array, otherwise: Array) -> Array:
        """Build if-then-else terms; only Python's own truth values choose at once."""
        return elementwise(_choose_number, condition, then, otherwise)

    def same(self, left: Array, right: Array) -> Array:
        """Build equalities."""
        return elementwise(lambda a, b: _numeral(a) == _numeral(b), left, right)

    def is_zero(self, operand: Operand) -> Array:
        """Compare with 0."""
        return self.same(operand.bits, np.array(0, dtype=object))


def real_variables(shapes: dict[str, tuple[int, ...]]) -> dict[str, Array]:
    """Return arrays of real constants ``name_i_j``."""
    arrays = {}
    for name, shape in shapes.items():
        arrays[name] = np.empty(shape, dtype=object)
        for index in np.ndindex(shape):
            arrays[name][index] = z3.Real("_".join([name, *map(str, index)]))
    return arrays


def _numeral(value: Any) -> Any:
    if z3.is_expr(value):
        return value
    if not isinstance(value, int | Fraction | np.integer):
        raise UnsupportedError(f"a {type(value).__name__} (which is truncated) is no term over the reals")
    return z3.RealVal(str(value))


def _choose_number(condition: Any, then: Any, otherwise: Any) -> Any:
    return _choose(condition, _numeral(then), _numeral(otherwise))


def _uninterpreted(name: str, widths: Sequence[int], result: Format) -> Any:
    return z3.Function(name, *map(z3.BitVecSort, widths), z3.BitVecSort(result.bits))


def _joined(*parts: Any) -> Any:
    return z3.Concat(*parts) if len(parts) > 1 else parts[0]


def _choose(condition: Any, then: Any, otherwise: Any) -> Any:
    if isinstance(condition, bool | np.bool_):
        return then if condition else otherwise
    if isinstance(then, ExactInteger):
        return then.chosen(condition, otherwise)
    return z3.If(condition, then, otherwise)


def _same(left: Any, right: Any) -> Any:
    if isinstance(left, ExactInteger):
        width = max(left.width, right.width)
        return left.extended(width) == right.extended(width)
    return left == right
