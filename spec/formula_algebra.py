"""The algebra of formulas: runs a spec function on names and returns the mathematics it writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from operator import add, mul
from typing import Any

import numpy as np

from .algebra import Array, Encodings, Operand, Product
from .dot_add_model import DotAddModel
from .errors import UnsupportedError
from .formats import FloatFormat, Format, IntegerFormat
from .formula import Formula, bits, call, element
from .formula import integer as number
from .rounding import Rounding


def named(name: str, *axes: str | int) -> Array:
    """Return an array of formulas such as ``NAME[i,0]``, ``NAME[i,1]``.

    Parameters
    ----------
    name : str
        The array's name.
    *axes : str or int
        Of each axis the name of its one index, or how many numbers it is indexed by.
    """
    array = np.empty([1 if isinstance(axis, str) else axis for axis in axes], dtype=object)
    for place in np.ndindex(array.shape):
        indices = (axis if isinstance(axis, str) else n for axis, n in zip(axes, place, strict=True))
        array[place] = element(name, *indices)
    return array


def elementwise(function: Callable[..., Any], *arrays: Any) -> Array:
    """Return what a function makes of each element: an array, of one element too."""
    result = np.frompyfunc(function, len(arrays), 1)(*arrays)
    if isinstance(result, np.ndarray):
        return result
    atom = np.empty((), dtype=object)
    atom[()] = result
    return atom


def _applied(name: str, groups: Sequence[Array]) -> Array:
    """Apply a function to what lies along the last axes of arrays; their leading axes broadcast."""
    return _along(lambda *formulas: call(name, *formulas), groups)


def _along(function: Callable[..., Formula], groups: Sequence[Array]) -> Array:
    shape = np.broadcast_shapes(*(group.shape[:-1] for group in groups))
    wide = [np.broadcast_to(group, (*shape, group.shape[-1])) for group in groups]
    result = np.empty(shape, dtype=object)
    for place in np.ndindex(shape):
        result[place] = function(*(formula for group in wide for formula in group[place]))
    return result


def _plus(left: Formula, right: Formula) -> Formula:
    """Add over the reals, where 0 is nothing."""
    return right if left == number(0) else left if right == number(0) else left + right


def _total(*terms: Formula) -> Formula:
    return reduce(add, terms)


def _has_products(fmt: FloatFormat, x: FloatFormat, y: FloatFormat) -> bool:
    """Tell whether a format has every product of a number of one format and a number of another."""
    carry = min(x.precision, y.precision) > 1  # powers of two move a number's exponent alone
    return (
        fmt.precision >= x.precision + y.precision - 1 + carry
        and fmt.maximum_exponent >= x.maximum_exponent + y.maximum_exponent + carry
        and fmt.quantum <= x.quantum + y.quantum
    )


def _is_field_zero(condition: Formula, encoding: Formula) -> bool:
    if condition.head != "=":
        return False
    field, value = condition.parts
    of_encoding: bool = field.head == "bits" and field.parts[0] == encoding
    return of_encoding and value == number(0)


def _field(word: Formula, low: int, count: int) -> Formula:
    """Return some bits of a word; those of a field that was put into it are the field's."""
    if word.head == "bits" and len(word.parts[1].parts) == 1:
        return bits(word.parts[0], word.parts[1].parts[0] + low, count)
    if word.head == "pack":
        width, *fields = word.parts
        if low // width == (low + count - 1) // width:
            inside = fields[low // width]
            return inside if count == width else _field(inside, low % width, count)
    return bits(word, low, count)


def _word(count: int, width: int, fields: Sequence[Formula]) -> Formula:
    """Return fields of so many bits, so far apart; neighbouring bits of a word are bits of it again."""
    first = fields[0]
    if len(fields) == 1:
        return first
    if count == width and first.head == "bits" and len(first.parts[1].parts) == 1:
        word, low = first.parts[0], first.parts[1].parts[0]
        if all(field == bits(word, low + width * n, width) for n, field in enumerate(fields)):
            return bits(word, low, width * len(fields))
    return Formula("pack", (width, *fields))


class FormulaAlgebra:
    """Formulas; a condition that is known decides at once.

    Parameters
    ----------
    rounds : bool
        Whether roundings are written; else what is written is meant over the reals.
    """

    def __init__(self, *, rounds: bool = True) -> None:
        self.rounds = rounds

    def constant(self, encoding: int, fmt: Format) -> Array:
        """Write 0 as it is, another encoding in hexadecimal."""
        known = isinstance(fmt, IntegerFormat) or not encoding
        return elementwise(lambda value: number(value) if known else Formula(hex(value)), encoding)

    def where(self, condition: Array, then: Array, otherwise: Array) -> Array:
        """Write ``then if condition else otherwise``; or that subnormals count as zeros."""

        def choose(known: Any, left: Formula, right: Formula) -> Formula:
            if isinstance(known, bool | np.bool_):
                return left if known else right
            if _is_field_zero(known, right):  # the only choice by a field of an encoding: its exponent's
                return call("flush", right) if self.rounds else right
            return Formula("if", (left, known, right))

        return elementwise(choose, condition, then, otherwise)

    def same(self, left: Array, right: Array) -> Array:
        """Write an equation, or decide it between register numbers."""
        return elementwise(
            lambda a, b: Formula("=", (a, b)) if isinstance(a, Formula) else a == b, left, right
        )

    def flags(self, immediate: Any, count: int) -> Array:
        """Write the bits of an immediate."""
        return named(str(immediate), count)

    def unpack(self, data: Array, fmt: Format) -> Array:
        """Refuse."""
        raise UnsupportedError("registers have no formula")

    def pack(self, elements: Array, fmt: Format) -> Array:
        """Refuse."""
        raise UnsupportedError("registers have no formula")

    def extract(self, words: Array, low: int, fmt: Format) -> Array:
        """Write some bits."""
        return elementwise(lambda word: _field(word, low, fmt.bits), words)

    def assemble(self, fields: Array, fmt: Format, positions: Sequence[int], word: Format) -> Array:
        """Write fields side by side.

        Raises
        ------
        UnsupportedError
            If they are not equally far apart.
        """
        low, width = positions[0], positions[1] - positions[0] if len(positions) > 1 else word.bits
        if list(positions) != [low + width * place for place in range(len(positions))]:
            raise UnsupportedError("fields of a word that are not equally far apart have no formula")
        placed = elementwise(lambda field: number(1 << low) * field, fields) if low else fields
        return _along(lambda *each: _word(fmt.bits, width, each), [placed])

    def arbitrary(self, name: str, arguments: Sequence[Encodings], result: Format) -> Array:
        """Write a function of all the arguments."""
        return _applied(name, [encodings for encodings, _ in arguments])

    def integer(self, bits: Array, fmt: IntegerFormat) -> Array:
        """Take a name for the number it encodes."""
        return bits

    def whole(self, value: int) -> Array:
        """Write a number."""
        return elementwise(number, value)

    def wrap(self, value: Array, fmt: IntegerFormat) -> Array:
        """Write a residue."""
        return elementwise(lambda v: Formula("mod", (v, fmt.bits)), value)

    def saturate(self, value: Array, fmt: IntegerFormat) -> Array:
        """Write a clamp."""
        return elementwise(partial(call, f"clamp_{fmt}"), value)

    def in_range(self, value: Array, fmt: IntegerFormat) -> Array:
        """Write a membership."""
        return elementwise(lambda v: Formula("∈", (v, Formula(str(fmt)))), value)

    def fused(
        self,
        result: FloatFormat,
        rounding: Rounding | Any,
        products: Sequence[Product] = (),
        addends: Sequence[Operand] = (),
    ) -> Array:
        """Write one rounding of a sum; none where the format has every product, or the one addend."""
        terms = [elementwise(mul, x.bits, y.bits) for x, y in products] + [addend.bits for addend in addends]
        exact = (
            all(_has_products(result, x.format, y.format) for x, y in products)
            and all(result.contains(addend.format) for addend in addends)
            and len(terms) == 1
        )
        total = reduce(partial(elementwise, add if self.rounds else _plus), terms)
        if exact or not self.rounds:
            return total
        direction = "" if rounding is Rounding.NEAREST_EVEN else f"_{rounding.name.lower()}"
        return elementwise(partial(call, f"round_{result}{direction}"), total)

    def dot_add(
        self,
        result: FloatFormat,
        model: DotAddModel,
        left: Operand,
        right: Operand,
        addend: Operand,
        scales: Product | None = None,
    ) -> Array:
        """Write one rounding of a sum of products, as the model does it."""
        factors = [left.bits, right.bits]
        if scales is not None:
            count = max(left.bits.shape[-1], right.bits.shape[-1])
            factors += [np.repeat(scale.bits, count // scale.bits.shape[-1], axis=-1) for scale in scales]
        products = reduce(partial(elementwise, mul), factors)
        total = _along(_total, [products, addend.bits[..., None]])
        return elementwise(partial(call, f"{model}_{result}"), total) if self.rounds else total

    def propagate_nan(self, outcome: Operand, operands: Sequence[Operand]) -> Array:
        """Leave the rule for NaN operands out."""
        return outcome.bits

    def negate(self, operand: Operand) -> Array:
        """Write a minus sign."""
        return elementwise(lambda formula: -formula, operand.bits)

    def replace_nan(self, operand: Operand, nan: int) -> Array:
        """Leave NaNs out."""
        return operand.bits

    def is_nan(self, operand: Operand) -> Array:
        """Write a test."""
        return elementwise(partial(call, "is_nan"), operand.bits)

    def is_zero(self, operand: Operand) -> Array:
        """Write a test."""
        return elementwise(partial(call, "is_zero"), operand.bits)

    def is_infinite(self, operand: Operand) -> Array:
        """Write a test."""
        return elementwise(partial(call, "is_infinite"), operand.bits)

    def ieee_equal(self, left: Operand, right: Operand) -> Array:
        """Write a comparison."""
        return elementwise(partial(call, "ieee_equal"), left.bits, right.bits)
