"""The algebra of formulas: runs a spec function on names and returns the mathematics it writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .algebra import Array, Encodings, Operand, Product
from .dot_add_model import DotAddModel
from .errors import UnsupportedError
from .formats import FloatFormat, Format, IntegerFormat
from .rounding import Rounding


@dataclass(frozen=True)
class Formula:
    """A piece of mathematics.

    Attributes
    ----------
    text : str
        How it is written.
    binds : int
        How strongly its outermost operator binds: 0 a choice, 1 a sum or condition, 2 a product, 3 an atom.
    """

    text: str
    binds: int = 3

    def within(self, binds: int) -> str:
        """Return the text, in parentheses where the surroundings bind more strongly."""
        return self.text if self.binds >= binds else f"({self.text})"

    def __add__(self, other: Formula) -> Formula:
        sign, term = ("−", other.text[1:]) if other.text[0] == "−" else ("+", other.within(1))
        return Formula(f"{self.within(1)} {sign} {term}", 1)

    def __mul__(self, other: Formula) -> Formula:
        return Formula(f"{self.within(2)}·{other.within(2)}", 2)

    def __neg__(self) -> Formula:
        return Formula(f"−{self.within(2)}", 2)

    def __and__(self, other: Any) -> Any:
        if isinstance(other, bool | np.bool_):
            return self if other else other
        return Formula(f"{self.within(2)} ∧ {other.within(2)}", 1)

    def __or__(self, other: Formula) -> Formula:
        return Formula(f"{self.within(2)} ∨ {other.within(2)}", 1)

    def __invert__(self) -> Formula:
        return Formula(f"¬{self.within(3)}", 2)


def named(name: str, *indices: Sequence[str]) -> Array:
    """Return an array of formulas ``NAME[i,0]``, ``NAME[i,1]``, … over the given index names."""
    array = np.empty(tuple(map(len, indices)), dtype=object)
    for place in np.ndindex(array.shape):
        subscript = ",".join(axis[position] for axis, position in zip(indices, place, strict=True))
        array[place] = Formula(f"{name}[{subscript}]")
    return array


def _each(function: Callable[..., Any], *arrays: Any) -> Array:
    result = np.frompyfunc(function, len(arrays), 1)(*arrays)
    if isinstance(result, np.ndarray):
        return result
    atom = np.empty((), dtype=object)
    atom[()] = result
    return atom


def _folded(function: Callable[..., Formula], groups: Sequence[Array]) -> Array:
    """Apply a function to what lies along the last axes of arrays; their leading axes broadcast."""
    shape = np.broadcast_shapes(*(group.shape[:-1] for group in groups))
    wide = [np.broadcast_to(group, (*shape, group.shape[-1])) for group in groups]
    result = np.empty(shape, dtype=object)
    for place in np.ndindex(shape):
        result[place] = function(*(formula for group in wide for formula in group[place]))
    return result


def _call(name: str) -> Callable[..., Formula]:
    return lambda *formulas: Formula(f"{name}({', '.join(formula.text for formula in formulas)})")


class FormulaAlgebra:
    """Formulas; a condition that is known decides at once. Registers have no formula."""

    def constant(self, encoding: int, fmt: Format) -> Array:
        """Write 0 as it is, another encoding in hexadecimal."""
        return _each(Formula, hex(encoding) if encoding else "0")

    def where(self, condition: Array, then: Array, otherwise: Array) -> Array:
        """Write ``then if condition else otherwise``."""

        def choose(known: Any, left: Formula, right: Formula) -> Formula:
            if isinstance(known, bool | np.bool_):
                return left if known else right
            return Formula(f"{left.within(1)} if {known.text} else {right.within(1)}", 0)

        return _each(choose, condition, then, otherwise)

    def same(self, left: Array, right: Array) -> Array:
        """Write an equation."""
        return _each(lambda a, b: Formula(f"{a.within(1)} = {b.within(1)}", 1), left, right)

    def flags(self, immediate: Any, count: int) -> Array:
        """Write the bits of an immediate."""
        return named(str(immediate), [str(bit) for bit in range(count)])

    def unpack(self, data: Array, fmt: Format) -> Array:
        """Refuse."""
        raise UnsupportedError("registers have no formula")

    def pack(self, elements: Array, fmt: Format) -> Array:
        """Refuse."""
        raise UnsupportedError("registers have no formula")

    def extract(self, words: Array, low: int, fmt: Format) -> Array:
        """Refuse."""
        raise UnsupportedError("registers have no formula")

    def assemble(self, fields: Array, fmt: Format, positions: Sequence[int], word: Format) -> Array:
        """Refuse."""
        raise UnsupportedError("registers have no formula")

    def arbitrary(self, name: str, arguments: Sequence[Encodings], result: Format) -> Array:
        """Write a function of all the arguments."""
        return _folded(_call(name), [bits for bits, _ in arguments])

    def integer(self, bits: Array, fmt: IntegerFormat) -> Array:
        """Take a name for the number it encodes."""
        return bits

    def whole(self, value: int) -> Array:
        """Write a number."""
        return _each(Formula, str(value))

    def wrap(self, value: Array, fmt: IntegerFormat) -> Array:
        """Write a residue."""
        return _each(lambda v: Formula(f"{v.within(2)} mod 2^{fmt.bits}", 1), value)

    def saturate(self, value: Array, fmt: IntegerFormat) -> Array:
        """Write a clamp."""
        return _each(_call(f"clamp_{fmt}"), value)

    def in_range(self, value: Array, fmt: IntegerFormat) -> Array:
        """Write a membership."""
        return _each(lambda v: Formula(f"{v.within(1)} ∈ {fmt}", 1), value)

    def fused(
        self,
        result: FloatFormat,
        rounding: Rounding | Any,
        products: Sequence[Product] = (),
        addends: Sequence[Operand] = (),
    ) -> Array:
        """Write one rounding of a sum."""
        terms = [_each(lambda x, y: x * y, x.bits, y.bits) for x, y in products]
        terms += [addend.bits for addend in addends]
        total = terms[0]
        for term in terms[1:]:
            total = _each(lambda left, right: left + right, total, term)
        return _each(_call(f"round_{result}"), total)

    def dot_add(
        self,
        result: FloatFormat,
        model: DotAddModel,
        left: Operand,
        right: Operand,
        addend: Operand,
        scales: Product | None = None,
    ) -> Array:
        """Write one rounding of a sum of products."""
        factors = [left.bits, right.bits]
        if scales is not None:
            count = max(left.bits.shape[-1], right.bits.shape[-1])
            factors += [np.repeat(scale.bits, count // scale.bits.shape[-1], axis=-1) for scale in scales]
        products = factors[0]
        for factor in factors[1:]:
            products = _each(lambda x, y: x * y, products, factor)

        def total(*terms: Formula) -> Formula:
            return _call(f"round_{result}")(sum(terms[1:], terms[0]))

        return _folded(total, [products, addend.bits[..., None]])

    def propagate_nan(self, outcome: Operand, operands: Sequence[Operand]) -> Array:
        """Leave the rule for NaN operands out."""
        return outcome.bits

    def negate(self, operand: Operand) -> Array:
        """Write a minus sign."""
        return _each(lambda formula: -formula, operand.bits)

    def replace_nan(self, operand: Operand, nan: int) -> Array:
        """Leave NaNs out."""
        return operand.bits

    def is_nan(self, operand: Operand) -> Array:
        """Write a test."""
        return _each(_call("is_nan"), operand.bits)

    def is_zero(self, operand: Operand) -> Array:
        """Write a test."""
        return _each(_call("is_zero"), operand.bits)

    def is_infinite(self, operand: Operand) -> Array:
        """Write a test."""
        return _each(_call("is_infinite"), operand.bits)

    def ieee_equal(self, left: Operand, right: Operand) -> Array:
        """Write a comparison."""
        return _each(_call("ieee_equal"), left.bits, right.bits)
