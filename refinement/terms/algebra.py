"""The specification's element algebra over terms: how matrix instructions execute symbolically.

Elements are term ids. Exact integers stay products and sums of vectors until they are wrapped or
clamped, so an integer product of matrices is one `dot` for each of its elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...spec.algebra import Array, Encodings, Operand, Product
from ...spec.dot_add_model import DotAddModel
from ...spec.errors import UnsupportedError
from ...spec.formats import U8, FloatFormat, Format, IntegerFormat
from ...spec.rounding import Rounding
from . import bit_slices, operations
from .evaluation import apply
from .interning import Ids
from .store import CONSTANT, TermStore
from .truth_tables import A, B, Table


@dataclass(frozen=True)
class Conditions:
    """Booleans that depend on data: terms of one bit."""

    store: TermStore
    terms: Ids

    def _combined(self, table: Table, other: Any) -> Conditions:
        others = other.terms if isinstance(other, Conditions) else self.store.constants(other, 1)
        left, right = np.broadcast_arrays(self.terms, others)
        flat = bit_slices.bitwise(self.store, table, left.reshape(-1), right.reshape(-1), left.reshape(-1))
        return Conditions(self.store, flat.reshape(left.shape))

    def __and__(self, other: Any) -> Conditions:
        return self._combined(A & B, other)

    def __or__(self, other: Any) -> Conditions:
        return self._combined(A | B, other)

    def __invert__(self) -> Conditions:
        return self._combined(0xFF ^ A, self)

    __rand__ = __and__
    __ror__ = __or__

    def __getitem__(self, index: Any) -> Conditions:
        return Conditions(self.store, self.terms[index])


@dataclass(frozen=True)
class Factor:
    """Encodings of integers."""

    terms: Ids
    format: IntegerFormat


@dataclass(frozen=True)
class ExactInteger:
    """A sum of products of integers, each perhaps summed over its last axis.

    Attributes
    ----------
    products : tuple of (factors, summed)
        One or two factors, and whether the product is summed over its last axis.
    """

    products: tuple[tuple[tuple[Factor, ...], bool], ...]

    def __mul__(self, other: ExactInteger) -> ExactInteger:
        ((left, left_summed),), ((right, right_summed),) = self.products, other.products
        if left_summed or right_summed or len(left) + len(right) > 2:
            raise UnsupportedError("an integer product of more than two data elements")
        return ExactInteger((((*left, *right), False),))

    def __add__(self, other: ExactInteger) -> ExactInteger:
        return ExactInteger(self.products + other.products)

    def sum(self, axis: int) -> ExactInteger:
        """Sum over the last axis."""
        ((factors, summed),) = self.products
        if summed or axis != -1:
            raise UnsupportedError("a sum of integers over more than the last axis")
        return ExactInteger(((factors, True),))


class TermAlgebra:
    """The element algebra of terms; see `Algebra`. Operations that kernels don't need are refused.

    Attributes
    ----------
    store : TermStore
        Of the terms.
    """

    def __init__(self, store: TermStore) -> None:
        self.store = store

    # -- encodings and conditions
    def constant(self, encoding: int, fmt: Format) -> Array:
        """Return the constant of an encoding."""
        return self.store.constants(encoding, fmt.bits)

    def where(self, condition: Any, then: Any, otherwise: Any) -> Any:
        """Choose elementwise; a choice that depends on data becomes a term."""
        if isinstance(then, ExactInteger):
            return self._chosen_integer(condition, then, otherwise)
        if not isinstance(condition, Conditions):
            return np.where(condition, then, otherwise)
        width = int(self.store.widths(np.asarray(then).reshape(-1)[:1])[0])
        return apply(self.store, operations.select(width), condition.terms, then, otherwise)

    def _chosen_integer(self, condition: Any, then: ExactInteger, otherwise: ExactInteger) -> ExactInteger:
        (((one, *factors), _),), (((other,), _),) = then.products, otherwise.products
        if factors:
            return self._live_products(condition, then, otherwise)
        return ExactInteger((((Factor(self.where(condition, one.terms, other.terms), one.format),), False),))

    def _live_products(self, live: Any, products: ExactInteger, otherwise: ExactInteger) -> ExactInteger:
        """Choose between products and 0, by conditions that are known: one of the factors becomes 0."""
        (((one, *factors), summed),), (((zero,), _),) = products.products, otherwise.products
        if isinstance(live, Conditions) or int(self.store.constant_values(zero.terms)) != 0:
            raise UnsupportedError("a data-dependent select between products of integers")
        terms = np.where(live, one.terms, self.store.constants(0, one.format.bits))
        return ExactInteger((((Factor(terms, one.format), *factors), summed),))

    def same(self, left: Any, right: Any) -> Any:
        """Compare encodings; identical terms are the same, constants are compared at once."""
        left, right = np.broadcast_arrays(left, right)
        known = (left == right) | (self.store.are(CONSTANT, left) & self.store.are(CONSTANT, right))
        if known.all():
            return left == right
        width = int(self.store.widths(left.reshape(-1)[:1])[0])
        terms = apply(self.store, operations.compare(operations.unsigned(width), "eq"), left, right)
        return Conditions(self.store, np.where(known, self.store.constants(left == right, 1), terms))

    def flags(self, immediate: Any, count: int) -> Array:
        """Return the bits of a concrete immediate, most significant first."""
        return np.array([bool(int(immediate) >> i & 1) for i in reversed(range(count))])

    # -- fields of words
    def extract(self, words: Array, low: int, fmt: Format) -> Array:
        """Return the bits of a field of each word."""
        flat = bit_slices.extract(self.store, np.asarray(words).reshape(-1), low, fmt.bits)
        return flat.reshape(np.shape(words))

    def assemble(self, fields: Array, fmt: Format, positions: Sequence[int], word: Format) -> Array:
        """Put fields into words, zeros between them."""
        flat = np.asarray(fields).reshape(-1, fields.shape[-1])
        parts: list[Ids] = []
        end = 0
        for column, position in enumerate(positions):
            parts += [*self._zeros(len(flat), position - end), flat[:, column]]
            end = position + fmt.bits
        parts += self._zeros(len(flat), word.bits - end)
        return bit_slices.concatenate(self.store, parts).reshape(fields.shape[:-1])

    def _zeros(self, count: int, width: int) -> list[Ids]:
        return [self.store.constants(np.zeros(count, dtype=np.uint64), width)] if width else []

    def unpack(self, data: Array, fmt: Format) -> Array:
        """Split bytes into encodings, most significant first."""
        size = fmt.bits // 8
        if not size:
            fields = [self.extract(data, low, fmt) for low in reversed(range(0, U8.bits, fmt.bits))]
            return np.stack(fields, axis=-1).reshape(*data.shape[:-1], -1)
        grouped = data.reshape(*data.shape[:-1], -1, size)[..., ::-1]
        return self.assemble(grouped, U8, range(0, fmt.bits, 8), fmt)

    def pack(self, elements: Array, fmt: Format) -> Array:
        """Join encodings into bytes, most significant first."""
        data = [self.extract(elements, low, U8) for low in reversed(range(0, fmt.bits, 8))]
        return np.stack(data, axis=-1).reshape(*elements.shape[:-1], -1)

    # -- what an ISA leaves open
    def arbitrary(self, name: str, arguments: Sequence[Encodings], result: Format) -> Array:
        """Return the accumulation of a matrix unit as a term, a choice left open."""
        left, right, addend = (fmt for _, fmt in arguments[:3])
        x, y = (self.store.vectors(terms) for terms, _ in arguments[:2])
        c = arguments[2][0][..., 0]
        how = operations.Accumulation(name, np.shape(arguments[0][0])[-1])
        if len(arguments) == 3:
            return apply(self.store, operations.dot(result, left, right, addend, how), x, y, c)
        scales = [self.store.vectors(terms) for terms, _ in arguments[3:]]
        how = how._replace(order=f"{name}_scale_{np.shape(arguments[3][0])[-1]}")
        rest = self.store.vectors(np.stack(np.broadcast_arrays(c, *scales), axis=-1))
        operation = operations.scaled_dot(result, left, right, addend, arguments[3][1], how)
        return apply(self.store, operation, x, y, rest)

    # -- integers
    def integer(self, bits: Array, fmt: IntegerFormat) -> Any:
        """Return the exact integers of encodings."""
        return ExactInteger((((Factor(np.asarray(bits), fmt),), False),))

    def whole(self, value: int) -> Any:
        """Return one exact integer."""
        fmt = operations.signed(max(1, value.bit_length()) + 1)
        return self.integer(self.store.constants(value & ((1 << fmt.bits) - 1), fmt.bits), fmt)

    def wrap(self, value: Any, fmt: IntegerFormat) -> Array:
        """Encode a sum modulo a power of two."""
        return self._encoded(value, fmt, saturate=False)

    def saturate(self, value: Any, fmt: IntegerFormat) -> Array:
        """Encode a sum, clamped."""
        return self._encoded(value, fmt, saturate=True)

    def _encoded(self, value: ExactInteger, fmt: IntegerFormat, *, saturate: bool) -> Array:
        (products, summed), *rest = value.products
        addends = [factors[0] for factors, _ in rest] or [Factor(self.store.constants(0, fmt.bits), fmt)]
        if not summed or len(addends) != 1 or any(len(factors) > 1 for factors, _ in rest):
            raise UnsupportedError("an integer sum that is not a dot product plus an addend")
        x, *others = products
        y = others[0] if others else Factor(self._ones(x), operations.unsigned(1))
        how = operations.Accumulation("exact", x.terms.shape[-1], saturate)
        operation = operations.dot(fmt, x.format, y.format, addends[0].format, how)
        vectors = (self.store.vectors(factor.terms) for factor in (x, y))
        return apply(self.store, operation, *vectors, addends[0].terms)

    def _ones(self, like: Factor) -> Ids:
        return np.broadcast_to(self.store.constants(1, 1), like.terms.shape[-1:])

    def in_range(self, value: Any, fmt: IntegerFormat) -> Array:
        """Refuse: no matrix instruction asks for it."""
        raise UnsupportedError("a range check on data")

    # -- floating point
    def fused(
        self,
        result: FloatFormat,
        rounding: Rounding | Any,
        products: Sequence[Product] = (),
        addends: Sequence[Operand] = (),
    ) -> Array:
        """Return the rounded sum of products and addends."""
        factors = [factor for product in products for factor in product]
        operation = operations.fused(
            result,
            tuple((x.format, y.format) for x, y in products),
            tuple(addend.format for addend in addends),
            rounding,
        )
        return apply(self.store, operation, *(term.bits for term in (*factors, *addends)))

    def dot_add(
        self,
        result: FloatFormat,
        model: DotAddModel,
        left: Operand,
        right: Operand,
        addend: Operand,
        scales: Product | None = None,
    ) -> Array:
        """Refuse: kernels are verified for any accumulation, or for the sequential one."""
        raise UnsupportedError("an architecture's accumulation in a kernel; choose unspecified or sequential")

    def negate(self, operand: Operand) -> Array:
        """Flip signs."""
        return apply(self.store, operations.negate(operand.format), operand.bits)

    def propagate_nan(self, outcome: Operand, operands: Sequence[Operand]) -> Array:
        """Return the outcome: which NaN an operation gives is left open in kernels."""
        return outcome.bits

    def replace_nan(self, operand: Operand, nan: int) -> Array:
        """Return the operand: which NaN an operation gives is left open in kernels."""
        return operand.bits

    def is_nan(self, operand: Operand) -> Array:
        """Refuse: no matrix instruction branches on it."""
        raise UnsupportedError("a test for NaN on data")

    is_zero = is_infinite = is_nan

    def ieee_equal(self, left: Operand, right: Operand) -> Array:
        """Refuse: no matrix instruction asks for it."""
        raise UnsupportedError("a comparison of floats on data")
