"""The symbolic algebras: encodings as Z3 bit-vector terms in numpy object arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import z3

from ..spec.algebra import Array, Encodings, Operand, Product
from ..spec.dot_add_model import DotAddModel
from ..spec.errors import UnsupportedError
from ..spec.formats import FloatFormat, Format, IntegerFormat, Special
from .bit_fields import applied, cut, function, join
from .dot_add_terms import dot_add_term
from .exact_integer import ExactInteger, OpaqueInteger
from .float_terms import Direction, fused_term, is_nan, magnitude_of, rounding_bits

_OPERANDS_OF_UFUNCS = 32
"""So many, the result among them, numpy's functions of elements take in every release."""


def element(term: Any) -> Array:
    """Return a zero-dimensional array that holds `term`."""
    array = np.empty((), dtype=object)
    array[()] = term
    return array


def elementwise(function: Callable[..., Any], *arrays: Any) -> Array:
    """Apply a function of terms over broadcast arrays; always returns an array."""
    if len(arrays) < _OPERANDS_OF_UFUNCS:
        result = np.frompyfunc(function, len(arrays), 1)(*arrays)
        return result if isinstance(result, np.ndarray) else element(result)
    given = np.broadcast_arrays(*arrays)
    terms = np.empty(given[0].shape, dtype=object)
    for index in np.ndindex(terms.shape):
        terms[index] = function(*(each[index] for each in given))
    return terms


def variable(name: str, shape: tuple[int, ...], fmt: Format) -> Array:
    """Return an array of fresh bit-vector constants ``name_i_j`` of the width of `fmt`."""
    terms = np.empty(shape, dtype=object)
    sort, context = z3.BitVecSort(fmt.bits).ast, z3.main_ctx()
    for index in np.ndindex(shape):
        symbol = z3.Z3_mk_string_symbol(context.ref(), "_".join([name, *map(str, index)]))
        terms[index] = z3.BitVecRef(z3.Z3_mk_const(context.ref(), symbol, sort), context)
    return terms


class Z3Algebra:
    """Bit-vectors, with exact floating point; see `Algebra` for what each operation means.

    Conditions are Z3 Booleans. A rounding direction may be symbolic.
    """

    integers: type[ExactInteger] = ExactInteger

    def constant(self, encoding: int, fmt: Format) -> Array:
        """Return the numeral of an encoding."""
        return element(z3.BitVecVal(encoding, fmt.bits))

    def where(self, condition: Array, then: Array, otherwise: Array) -> Array:
        """Build if-then-else terms; constant conditions choose at once."""
        return elementwise(_choose, condition, then, otherwise)

    def same(self, left: Array, right: Array) -> Array:
        """Build equalities."""
        return elementwise(_same, left, right)

    def flags(self, immediate: Any, count: int) -> Array:
        """Extract the bits of an immediate, most significant first."""
        if isinstance(immediate, int):
            return np.array(
                [z3.BoolVal(bool(immediate >> i & 1)) for i in reversed(range(count))], dtype=object
            )
        immediate = np.asarray(immediate, dtype=object)[..., None]
        positions = np.arange(count - 1, -1, -1)
        return elementwise(lambda term, i: z3.Extract(int(i), int(i), term) == 1, immediate, positions)

    def unpack(self, data: Array, fmt: Format) -> Array:
        """Concatenate bytes to elements, or split them to nibbles."""
        if fmt.bits == 4:
            halves = [elementwise(lambda byte, low=low: cut(low + 3, low, byte), data) for low in (4, 0)]
            return np.stack(halves, axis=-1).reshape(*data.shape[:-1], 2 * data.shape[-1])
        size = fmt.bits // 8
        grouped = data.reshape(*data.shape[:-1], data.shape[-1] // size, size)
        return elementwise(join, *(grouped[..., i] for i in range(grouped.shape[-1])))

    def pack(self, elements: Array, fmt: Format) -> Array:
        """Extract bytes of elements, or concatenate nibbles."""
        if fmt.bits == 4:
            return elementwise(join, elements[..., 0::2], elements[..., 1::2])
        lows = range(fmt.bits - 8, -1, -8)
        parts = [elementwise(lambda e, low=low: cut(low + 7, low, e), elements) for low in lows]
        return np.stack(parts, axis=-1).reshape(*elements.shape[:-1], len(parts) * elements.shape[-1])

    def extract(self, words: Array, low: int, fmt: Format) -> Array:
        """Cut bits out of terms."""
        return elementwise(lambda word: cut(low + fmt.bits - 1, low, word), words)

    def assemble(self, fields: Array, fmt: Format, positions: Sequence[int], word: Format) -> Array:
        """Concatenate terms and zeros."""
        shape = fields.shape[:-1]
        words = np.empty(shape, dtype=object)
        ends = [position + fmt.bits for position in positions]
        gaps = [after - end for end, after in zip([0, *ends], [*positions, word.bits], strict=True)]
        zeros = [z3.BitVecVal(0, gap) if gap else None for gap in gaps]
        for place in np.ndindex(shape):
            from_below = [zeros[0]]
            for field, zero in zip(fields[place], zeros[1:], strict=True):
                from_below += [field, zero]
            words[place] = join(*(part for part in reversed(from_below) if part is not None))
        return words

    def arbitrary(self, name: str, arguments: Sequence[Encodings], result: Format) -> Array:
        """Apply an uninterpreted function of the name and signature."""
        signature = "_".join(f"{bits.shape[-1]}{fmt}" for bits, fmt in arguments)
        widths = (fmt.bits for bits, fmt in arguments for _ in range(bits.shape[-1]))
        of_arguments = function(f"{name}_{signature}_to_{result}", *widths, result.bits).ast
        # straight to Z3's C interface: an application has hundreds of arguments of known sorts
        shape = np.broadcast_shapes(*(bits.shape[:-1] for bits, _ in arguments))
        groups = [elementwise(lambda term: term.as_ast(), bits) for bits, _ in arguments]
        wide = [np.broadcast_to(group, (*shape, group.shape[-1])) for group in groups]
        rows = np.concatenate(wide, axis=-1)
        context, count = z3.main_ctx(), rows.shape[-1]
        pointers = z3.Ast * count
        values = np.empty(shape, dtype=object)
        for place in np.ndindex(shape):
            application = z3.Z3_mk_app(context.ref(), of_arguments, count, pointers(*rows[place]))
            values[place] = z3.BitVecRef(application, context)
        return values

    def integer(self, bits: Array, fmt: IntegerFormat) -> Array:
        """Read encodings as signed terms (an unsigned one grows by a zero bit)."""
        return elementwise(lambda b: self.integers.decode(b, fmt.signed), bits)

    def whole(self, value: int) -> Array:
        """Return the numeral of an exact integer."""
        return element(self.integers.of(value))

    def wrap(self, value: Array, fmt: IntegerFormat) -> Array:
        """Keep the low bits."""
        return elementwise(lambda v: z3.Extract(fmt.bits - 1, 0, v.extended(fmt.bits)), value)

    def saturate(self, value: Array, fmt: IntegerFormat) -> Array:
        """Clamp by comparison."""
        low, high = (z3.BitVecVal(limit, fmt.bits) for limit in (fmt.minimum, fmt.maximum))

        def clamp(v: ExactInteger) -> Any:
            below, above = _outside(v, fmt)
            return z3.If(below, low, z3.If(above, high, z3.Extract(fmt.bits - 1, 0, v.extended(fmt.bits))))

        return elementwise(clamp, value)

    def in_range(self, value: Array, fmt: IntegerFormat) -> Array:
        """Compare with the range's ends."""
        return elementwise(lambda v: z3.Not(z3.Or(*_outside(v, fmt))), value)

    def fused(
        self,
        result: FloatFormat,
        rounding: Direction,
        products: Sequence[Product] = (),
        addends: Sequence[Operand] = (),
    ) -> Array:
        """Build a floating-point term with one rounding; see `float_terms`."""
        operands = [factor for product in products for factor in product] + list(addends)
        formats = [operand.format for operand in operands]

        def build(*bits: Any) -> Any:
            return self._fused(result, rounding, len(products), formats, bits)

        return elementwise(build, *(operand.bits for operand in operands))

    def _fused(
        self, result: FloatFormat, rounding: Direction, products: int, formats: list[FloatFormat], bits: Any
    ) -> Any:
        return fused_term(result, rounding, products, formats, bits)

    def dot_add(
        self,
        result: FloatFormat,
        model: DotAddModel,
        left: Operand,
        right: Operand,
        addend: Operand,
        scales: Product | None = None,
    ) -> Array:
        """Build an exact term with one rounding; see `dot_add_terms`."""
        operands = [left, right, Operand(addend.bits[..., None], addend.format), *(scales or ())]
        shape = np.broadcast_shapes(*(operand.bits.shape[:-1] for operand in operands))
        wide = [np.broadcast_to(bits, (*shape, bits.shape[-1])) for bits, _ in operands]
        sums = np.empty(shape, dtype=object)
        for place in np.ndindex(shape):
            rows = [Operand(part[place], fmt) for part, (_, fmt) in zip(wide, operands, strict=True)]
            pair = (rows[3], rows[4]) if scales else None
            sums[place] = dot_add_term(result, model, rows[0], rows[1], rows[2], pair)
        return sums

    def propagate_nan(self, outcome: Operand, operands: Sequence[Operand]) -> Array:
        """Put the first NaN operand, made quiet, in place of an outcome that is a NaN."""
        bits = outcome.bits
        for operand in reversed(operands):
            quiet = elementwise(lambda b, f=operand.format: _quiet(b, f, outcome.format), operand.bits)
            bits = self.where(self.is_nan(operand), quiet, bits)
        return self.where(self.is_nan(outcome), bits, outcome.bits)

    def replace_nan(self, operand: Operand, nan: int) -> Array:
        """Replace every NaN."""
        return self.where(self.is_nan(operand), self.constant(nan, operand.format), operand.bits)

    def negate(self, operand: Operand) -> Array:
        """Flip the sign bit of what is not a NaN; negating twice gives the term itself back."""
        fmt = operand.format

        def negated(bits: Any) -> Any:
            if z3.is_app_of(bits, z3.Z3_OP_ITE) and _negation(bits.arg(1), fmt).eq(bits):
                return bits.arg(1)
            return _negation(bits, fmt)

        return elementwise(negated, operand.bits)

    def is_nan(self, operand: Operand) -> Array:
        """Compare the magnitude with infinity's (or the only NaN's)."""
        return elementwise(lambda bits: is_nan(bits, operand.format), operand.bits)

    def is_zero(self, operand: Operand) -> Array:
        """Compare the magnitude with 0."""
        if not operand.format.subnormals:
            return elementwise(lambda _: z3.BoolVal(False), operand.bits)
        if operand.format.special is Special.FNUZ:
            return elementwise(lambda b: b == 0, operand.bits)
        return elementwise(lambda b: magnitude_of(b, operand.format) == 0, operand.bits)

    def is_infinite(self, operand: Operand) -> Array:
        """Compare the magnitude with infinity's."""
        fmt = operand.format
        if fmt.infinity is None:
            return elementwise(lambda _: z3.BoolVal(False), operand.bits)
        return elementwise(lambda b: magnitude_of(b, fmt) == fmt.infinity, operand.bits)

    def ieee_equal(self, left: Operand, right: Operand) -> Array:
        """Identical encodings (padding aside), two zeros, or two NaNs."""
        if left.format != right.format:
            raise UnsupportedError(f"{left.format} and {right.format} can't be compared")
        fmt = left.format
        identical = elementwise(
            lambda a, b: (
                z3.Extract(fmt.bits - 1, fmt.padding_bits, a) == z3.Extract(fmt.bits - 1, fmt.padding_bits, b)
            ),
            left.bits,
            right.bits,
        )
        equal: Array = (
            identical | (self.is_zero(left) & self.is_zero(right)) | (self.is_nan(left) & self.is_nan(right))
        )
        return equal


class UninterpretedAlgebra(Z3Algebra):
    """Integer products, floating-point sums and NaN propagation as uninterpreted functions.

    A claim that holds here holds whatever those operations compute, in particular for every rounding
    direction and every rule for overflow, underflow and NaN operands; one that fails here may still
    hold exactly.
    """

    integers: type[ExactInteger] = OpaqueInteger

    def _fused(
        self, result: FloatFormat, rounding: Direction, products: int, formats: list[FloatFormat], bits: Any
    ) -> Any:
        name = "_".join(["fused", str(products), *map(str, formats), "to", str(result)])
        widths = [fmt.bits for fmt in (*formats, result)]
        return applied(function(name, 2, *widths), rounding_bits(rounding), *bits)

    def dot_add(
        self,
        result: FloatFormat,
        model: DotAddModel,
        left: Operand,
        right: Operand,
        addend: Operand,
        scales: Product | None = None,
    ) -> Array:
        """Apply an uninterpreted function named after the model."""
        terms = [left, right, Operand(addend.bits[..., None], addend.format), *(scales or ())]
        return self.arbitrary(str(model), terms, result)

    def propagate_nan(self, outcome: Operand, operands: Sequence[Operand]) -> Array:
        """Apply an uninterpreted rule to the outcome and those operands that are NaNs, in their order."""
        formats = [operand.format for operand in operands]
        name = "_".join(["nan", *map(str, formats), "to", str(outcome.format)])
        rule = function(name, *(fmt.bits for fmt in (outcome.format, *formats, outcome.format)))
        nans = [
            self.where(self.is_nan(operand), operand.bits, self.constant(0, operand.format))
            for operand in operands
        ]
        return elementwise(partial(applied, rule), outcome.bits, *nans)


def _choose(condition: Any, then: Any, otherwise: Any) -> Any:
    if isinstance(condition, bool | np.bool_):
        return then if condition else otherwise
    if z3.is_true(condition):
        return then
    if z3.is_false(condition):
        return otherwise
    if isinstance(then, ExactInteger):
        return then.chosen(condition, otherwise)
    if isinstance(then, z3.BitVecRef) and isinstance(otherwise, z3.BitVecRef):
        nodes = (term.as_ast() for term in (condition, then, otherwise))  # as in `applied`
        return z3.BitVecRef(z3.Z3_mk_ite(then.ctx.ref(), *nodes), then.ctx)
    return z3.If(condition, then, otherwise)


def _same(left: Any, right: Any) -> Any:
    if isinstance(left, ExactInteger):
        width = max(left.width, right.width)
        return left.extended(width) == right.extended(width)
    if z3.is_expr(left) and z3.is_expr(right) and left.eq(right):
        return z3.BoolVal(True)
    return left == right


def _outside(value: ExactInteger, fmt: IntegerFormat) -> tuple[Any, Any]:
    """Return the conditions that a value lies below and above the range of a format."""
    width = max(value.width, fmt.bits + 1)
    term = value.extended(width)
    return term < z3.BitVecVal(fmt.minimum, width), term > z3.BitVecVal(fmt.maximum, width)


def _negation(bits: Any, fmt: FloatFormat) -> Any:
    return z3.If(is_nan(bits, fmt), bits, bits ^ z3.BitVecVal(fmt.sign_mask, fmt.bits))


def _quiet(bits: Any, fmt: FloatFormat, result: FloatFormat) -> Any:
    """Widen a NaN: sign, the all-ones exponent, quiet bit, payload left-aligned."""
    payload = z3.Extract(fmt.padding_bits + fmt.fraction_bits - 1, fmt.padding_bits, bits)
    gain = result.fraction_bits - fmt.fraction_bits
    if gain > 0:
        payload = z3.Concat(payload, z3.BitVecVal(0, gain))
    elif gain < 0:
        payload = z3.Extract(fmt.fraction_bits - 1, -gain, payload)
    above = result.bits - payload.size()
    wide = z3.ZeroExt(above, payload) << result.padding_bits
    sign = z3.If(
        bits & fmt.sign_mask != 0, z3.BitVecVal(result.sign_mask, result.bits), z3.BitVecVal(0, result.bits)
    )
    return wide | z3.BitVecVal((result.default_nan or 0) << result.padding_bits, result.bits) | sign
