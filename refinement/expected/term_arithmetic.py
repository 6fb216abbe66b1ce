"""Arithmetic on terms that stand for arrays of numbers over an index space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import encode
from ...spec.formats import F64, FloatFormat, Format, IntegerFormat
from ...spec.rounding import Rounding
from ..analysis.quantisation import NARROW
from ..terms import bit_slices, operations
from ..terms.chosen_words import word_at
from ..terms.evaluation import apply
from ..terms.interning import Ids
from ..terms.operations import Accumulation
from ..terms.store import CONSTANT, TermStore
from .formula_space import Axes


class Value(NamedTuple):
    """Terms over an index space, one axis per index, with the format in which they are read."""

    terms: Ids
    format: Format

    @property
    def float_format(self) -> FloatFormat:
        """The format of a real number."""
        assert isinstance(self.format, FloatFormat)
        return self.format

    @property
    def integer_format(self) -> IntegerFormat:
        """The format of an integer."""
        assert isinstance(self.format, IntegerFormat)
        return self.format


class TermArithmetic:
    """Makes terms.

    Parameters
    ----------
    store : TermStore
        Where.
    rank : int
        The axes of the index space.
    working : FloatFormat
        What real numbers are computed in.
    """

    def __init__(self, store: TermStore, rank: int, working: FloatFormat) -> None:
        self.store = store
        self.rank = rank
        self.working = working

    def single(self, term: Any) -> Ids:
        """Return one term as an array over the space."""
        return np.asarray(term, dtype=np.int32).reshape((1,) * self.rank)

    # -- integers
    def integers(self, numbers: Any, width: int) -> Ids:
        """Return integers (int64, over the space or a single one) modulo ``2**width``."""
        words = np.asarray(numbers, dtype=np.int64).view(np.uint64) & np.uint64((1 << width) - 1)
        terms = self.store.constants(words, width)
        return terms if terms.ndim else self.single(terms)

    def ring(self, width: int, product: Sequence[Ids], addends: Sequence[Ids] = ()) -> Ids:
        """Return a product of two plus addends modulo ``2**width``."""
        operation = operations.ring(width, len(product) // 2, len(addends))
        return apply(self.store, operation, *product, *addends)

    def negative(self, terms: Ids, width: int, addends: Sequence[Ids] = ()) -> Ids:
        """Return minus integers, plus addends, modulo ``2**width``."""
        return self.ring(width, [terms, self.integers(-1, width)], addends)

    def resized(self, value: Value, width: int) -> Ids:
        """Return integers of any width modulo ``2**width``."""
        terms, fmt = value.terms, value.integer_format
        if not terms.size:
            return terms
        flat = terms.reshape(-1)
        if fmt.bits > width:
            flat = bit_slices.extract(self.store, flat, 0, width)
        elif fmt.bits < width:
            extend = bit_slices.sign_extend if fmt.signed else bit_slices.zero_extend
            flat = extend(self.store, flat, width)
        return flat.reshape(terms.shape)

    def integer_product(self, left: Value, right: Value, most: int) -> Value:
        """Return products of integers, exact if they need at most `most` bits, else modulo ``2**most``."""
        fmt = operations.signed(min(left.format.bits + right.format.bits + 1, most))
        return Value(self.ring(fmt.bits, [self.resized(each, fmt.bits) for each in (left, right)]), fmt)

    # -- real numbers
    def reals(self, numbers: Any, fmt: FloatFormat | None = None) -> Value:
        """Return numbers (float64, over the space or a single one), rounded to a format."""
        fmt = fmt or self.working
        array = np.asarray(numbers, dtype=np.float64)
        words = array.view(np.uint64) if fmt == F64 else encode(array, fmt, Rounding.NEAREST_EVEN)
        terms = self.store.constants(words, fmt.bits)
        return Value(terms if terms.ndim else self.single(terms), fmt)

    def looked_up(self, entries: Ids, table: Sequence[Value]) -> Value:
        """Return values of a table, by terms of 8 bits."""
        values = self._all_alike(table)
        integers, *words = np.broadcast_arrays(entries, *(value.terms for value in values))
        codes = np.arange(len(values), dtype=np.uint64)
        found = word_at(
            self.store, integers.reshape(-1), codes, np.stack(words, axis=-1).reshape(-1, len(codes))
        )
        return Value(found.reshape(integers.shape), values[0].format)

    def fused(
        self, fmt: FloatFormat, products: Sequence[tuple[Value, Value]] = (), addends: Sequence[Value] = ()
    ) -> Value:
        """Return a sum of products and addends, rounded once."""
        pairs = tuple((x.float_format, y.float_format) for x, y in products)
        operation = operations.fused(fmt, pairs, tuple(addend.float_format for addend in addends))
        given = [each.terms for pair in products for each in pair] + [addend.terms for addend in addends]
        return Value(apply(self.store, operation, *given), fmt)

    def product(self, left: Value, right: Value) -> Value:
        """Return products in the working format."""
        return self.fused(self.working, [(left, right)])

    def negated(self, value: Value) -> Value:
        """Return minus real numbers, in a format that has a sign."""
        value = value if value.float_format.signed else self.rounded(value, self.working)
        return Value(apply(self.store, operations.negate(value.format), value.terms), value.format)

    def function(self, name: str, argument: Value) -> Value:
        """Return an uninterpreted function in the working format."""
        operation = operations.function(name, self.working, self.working)
        return Value(self.store.apply(operation, self.rounded(argument, self.working).terms), self.working)

    def quotient(self, left: Value, right: Value) -> Value:
        """Return quotients in the working format."""
        operation = operations.function("div", self.working, self.working, self.working)
        given = np.broadcast_arrays(*(self.rounded(each, self.working).terms for each in (left, right)))
        return Value(self.store.apply(operation, *given), self.working)

    def divided(self, left: Value, divisors: NDArray[Any]) -> Value | None:
        """Return quotients by exact numbers in the working format; None if it does not have them all."""
        numbers = divisors.astype(np.float64)
        words = encode(numbers, self.working, Rounding.NEAREST_EVEN).reshape(-1).tolist()
        if any(self.working.exact(word) != each for word, each in zip(words, divisors.flat, strict=True)):
            return None
        right = self.rounded(self.reals(numbers), self.working)
        given = np.broadcast_arrays(self.rounded(left, self.working).terms, right.terms)
        return Value(self.store.apply(operations.quotient("div", self.working), *given), self.working)

    def rounded(self, value: Value, fmt: FloatFormat) -> Value:
        """Return real numbers in another format; one of at most 8 bits clamps, as every conversion does."""
        if value.format == fmt:
            return value
        if fmt.bits > NARROW:
            return self.fused(fmt, addends=[value])
        operation = operations.convert(fmt, value.format, Rounding.NEAREST_EVEN, saturate=True)
        return Value(apply(self.store, operation, value.terms), fmt)

    def from_integers(self, value: Value, fmt: FloatFormat) -> Value:
        """Return integers as real numbers; a format of at most 8 bits clamps."""
        operation = operations.convert(fmt, value.format, Rounding.NEAREST_EVEN, saturate=fmt.bits <= NARROW)
        return Value(apply(self.store, operation, value.terms), fmt)

    def to_integers(self, value: Value, fmt: IntegerFormat, rounding: Rounding) -> Value:
        """Return real numbers as integers, clamped."""
        operation = operations.convert(fmt, value.format, rounding, saturate=True)
        return Value(apply(self.store, operation, value.terms), fmt)

    def alike(self, left: Value, right: Value) -> tuple[Value, Value]:
        """Return two values in one format, the narrower where the other one is a constant it has."""
        if left.format == right.format:
            return left, right
        if (kept := self._constant_in(left, right.float_format)) is not None:
            return kept, right
        if (kept := self._constant_in(right, left.float_format)) is not None:
            return left, kept
        return self.rounded(left, self.working), self.rounded(right, self.working)

    def _all_alike(self, values: Sequence[Value]) -> list[Value]:
        """Return values in one format, as `alike` chooses it of two."""
        first, *others = values
        for other in others:
            first, _ = self.alike(first, other)
        return [self.alike(value, first)[0] for value in values]

    def _constant_in(self, value: Value, fmt: FloatFormat) -> Value | None:
        """Return constants in another format, where it has them; else None."""
        if not self.store.are(CONSTANT, value.terms).all():
            return None
        numbers = _exact(self.store, value)
        if None in numbers:
            return None
        reals = np.array([float(number) for number in numbers]).reshape(value.terms.shape)
        found = self.reals(reals, fmt)
        return found if _exact(self.store, found) == numbers else None

    # -- sums
    def dot(
        self, result: Format, left: Value, right: Value, addend: Value, axes: Axes, how: Accumulation
    ) -> Value:
        """Return sums of products over axes, plus an addend, as a matrix unit's operation."""
        operation = operations.dot(result, left.format, right.format, addend.format, how)
        vectors = (self.store.vectors(_summands(each.terms, axes)) for each in (left, right))
        return Value(self.store.apply(operation, *vectors, addend.terms), result)

    def extremum(self, which: str, each: Value, axes: Axes) -> Value:
        """Return the greatest or least of numbers over axes, taken in pairs."""
        terms = _summands(each.terms, axes)
        operation = operations.extremum(each.format, which)
        while (length := terms.shape[-1]) > 1:
            half = length // 2
            pairs = apply(self.store, operation, terms[..., :half], terms[..., half : 2 * half])
            terms = np.concatenate([pairs, terms[..., 2 * half :]], axis=-1)
        return Value(terms[..., 0], each.format)

    def products(self, each: Value, axes: Axes) -> Value:
        """Return products of numbers over axes, one after the other; 1 of nothing."""
        if 0 in axes.values():
            return self.reals(1.0)
        terms = _summands(each.terms, axes)
        total = self.rounded(Value(terms[..., 0], each.format), self.working)
        for k in range(1, terms.shape[-1]):
            total = self.product(total, Value(terms[..., k], each.format))
        return total

    def chain(self, start: Value, left: Value, right: Value | None, axes: Axes) -> Value:
        """Return sums over axes by fused multiply-adds (additions where there is one factor), in order."""
        columns = [(each.format, _summands(each.terms, axes)) for each in (left, right) if each]
        total = self.rounded(start, self.working)
        for k in range(columns[0][1].shape[-1]):
            given = [Value(terms[..., k], fmt) for fmt, terms in columns]
            if len(given) == 2:
                total = self.fused(self.working, [(given[0], given[1])], [total])
            else:
                total = self.fused(self.working, addends=[total, *given])
        return total


def _exact(store: TermStore, value: Value) -> list[Any]:
    return [value.float_format.exact(int(word)) for word in store.constant_values(value.terms).reshape(-1)]


def grouped(
    values: Sequence[Value], axes: Axes, multiply: Callable[[Value, Value], Value]
) -> tuple[Value, Value | None]:
    """Return the factors of what is summed as at most two, neither spread over more axes than need be."""
    first, *others = sorted(values, key=lambda each: not any(each.terms.shape[axis] > 1 for axis in axes))
    left, right = first, None
    for each in others:
        fits = np.broadcast_shapes(left.terms.shape, each.terms.shape) == left.terms.shape
        if fits and (right is not None or each is not others[-1]):
            left = multiply(left, each)
        else:
            right = each if right is None else multiply(right, each)
    return left, right


def _summands(terms: Ids, axes: Axes) -> Ids:
    """Return terms over the space with 1 for the axes summed over, and a last axis of summands."""
    shape = tuple(axes.get(axis, size) for axis, size in enumerate(terms.shape))
    last = np.moveaxis(np.broadcast_to(terms, shape), tuple(axes), range(-len(axes), 0))
    flat = last.reshape(*last.shape[: -len(axes)], -1)
    return np.expand_dims(flat, tuple(axes))
