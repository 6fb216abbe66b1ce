"""The algebra that remembers: executes a spec function on numbers, and keeps for each what it came from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..spec.algebra import Array, Encodings, Operand, Product
from ..spec.dot_add_model import DotAddModel
from ..spec.formats import FloatFormat, Format, IntegerFormat
from ..spec.formula_algebra import elementwise
from ..spec.numpy_algebra import NumpyAlgebra
from ..spec.rounding import Rounding

NUMBERS = NumpyAlgebra()


@dataclass(frozen=True)
class Fused:
    """A sum of products and addends, rounded once.

    Attributes
    ----------
    rounding : Rounding
        The direction.
    products, addends : tuple of Node
        The terms.
    """

    rounding: Rounding
    products: tuple[tuple[Node, Node], ...]
    addends: tuple[Node, ...]


@dataclass(frozen=True)
class DotAdd:
    """A fused dot-add of a matrix unit.

    Attributes
    ----------
    model : DotAddModel
        How terms are aligned and the sum is rounded.
    left, right : tuple of Node (K,)
        Factors.
    addend : Node
        The last term.
    scales : pair of tuple of Node (G,), optional
        Scale factors of the left and of the right factors.
    """

    model: DotAddModel
    left: tuple[Node, ...]
    right: tuple[Node, ...]
    addend: Node
    scales: tuple[tuple[Node, ...], tuple[Node, ...]] | None


@dataclass(frozen=True)
class Encoded:
    """An exact integer as an encoding, wrapped or clamped."""

    exact: Node
    how: str


@dataclass(frozen=True)
class Changed:
    """What was done to one number besides arithmetic.

    Attributes
    ----------
    before : Node
        What it was.
    how : str
        What it is now, ``{before}`` and ``{value}`` being what it was and its value.
    """

    before: Node
    how: str


@dataclass(frozen=True)
class IntegerOperation:
    """A sum or a product of exact integers."""

    symbol: str
    parts: tuple[Node, Node]


@dataclass(frozen=True)
class Compared:
    """One of two constants, by whether two elements are the same."""

    left: Node
    right: Node
    same: bool


Origin = str | Fused | DotAdd | Encoded | Changed | IntegerOperation | Compared
"""What a number came from; a string is the name of an operand's element, or empty of a constant."""


@dataclass(frozen=True, eq=False)
class Node:
    """A number and what it came from.

    Attributes
    ----------
    value : int
        An encoding; of an exact integer the integer.
    format : Format, optional
        Of the encoding; None of an exact integer.
    origin : Origin
        What it came from.
    """

    value: int
    format: Format | None
    origin: Origin = ""

    def __add__(self, other: Node) -> Node:
        return Node(self.value + other.value, None, IntegerOperation("+", (self, other)))

    def __mul__(self, other: Node) -> Node:
        return Node(self.value * other.value, None, IntegerOperation("·", (self, other)))

    def __sub__(self, other: Node) -> Node:
        return Node(self.value - other.value, None, IntegerOperation("−", (self, other)))

    def terms(self) -> Iterator[tuple[Node, bool]]:
        """Yield the terms of a sum of exact integers in their order, and whether each is subtracted."""
        waiting = [(self, False)]
        while waiting:
            node, negative = waiting.pop()
            origin = node.origin
            if isinstance(origin, IntegerOperation) and origin.symbol in ("+", "−"):
                left, right = origin.parts
                waiting += [(right, negative != (origin.symbol == "−")), (left, negative)]
            else:
                yield node, negative


def named(name: str, bits: Array, fmt: Format) -> Array:
    """Return the elements of an operand as nodes that have its name and their indices."""
    nodes = np.empty(bits.shape, dtype=object)
    for place in np.ndindex(bits.shape):
        nodes[place] = Node(int(bits[place]), fmt, f"{name}[{','.join(map(str, place))}]")
    return nodes


def numbers(array: Array, dtype: Any) -> Array:
    """Return the numbers of nodes; other arrays stay as they are."""
    if array.dtype != object:
        return array
    return np.frompyfunc(lambda node: node.value, 1, 1)(array).astype(dtype)  # type: ignore[no-any-return]


def _nodes(array: Array, fmt: Format | None) -> Array:
    """Return encodings as nodes of a format: constants, or what they are, also if they had another format."""

    def node(value: Any) -> Node:
        if not isinstance(value, Node):
            return Node(int(value), fmt)
        return value if value.format == fmt else Node(value.value, fmt, value.origin)

    return elementwise(node, array)


class _Truths(np.ndarray[Any, np.dtype[np.bool_]]):
    """Conditions that remember the elements that were compared."""

    sides: tuple[Array, Array]


def _packed(array: Array) -> Array:
    """Return what lies along the last axis as tuples."""
    wide = np.empty(array.shape[:-1], dtype=object)
    for place in np.ndindex(wide.shape):
        wide[place] = tuple(array[place])
    return wide


class TracingAlgebra(NumpyAlgebra):
    """Computes as `NumpyAlgebra` does; what isn't arithmetic on elements loses where it came from."""

    def _bits(self, operand: Operand) -> Operand:
        return Operand(numbers(operand.bits, operand.format.storage), operand.format)

    def where(self, condition: Array, then: Array, otherwise: Array) -> Array:
        """Choose; a constant in place of an element remembers the element."""
        if object not in (then.dtype, otherwise.dtype):
            return NUMBERS.where(condition, then, otherwise)

        def choose(known: bool, left: Any, right: Any) -> Node:
            chosen, other = (left, right) if known else (right, left)
            if isinstance(chosen, Node) and chosen.origin:
                return chosen
            value, fmt = (chosen.value, chosen.format) if isinstance(chosen, Node) else (int(chosen), None)
            fmt = fmt or (other.format if isinstance(other, Node) else None)
            if isinstance(other, Node) and other.origin and other.value != value:
                return Node(value, fmt, Changed(other, "({value}, not {before})"))
            return Node(value, fmt)

        chosen = elementwise(choose, condition, then, otherwise)
        if not isinstance(condition, _Truths):
            return chosen
        return elementwise(
            lambda node, left, right, same: (
                node if node.origin else Node(node.value, node.format, Compared(left, right, bool(same)))
            ),
            chosen,
            *condition.sides,
            condition,
        )

    def same(self, left: Array, right: Array) -> Array:
        """Compare numbers."""
        found = NUMBERS.same(numbers(left, np.int64), numbers(right, np.int64))
        if left.dtype != object or right.dtype != object:
            return found
        truths = found.view(_Truths)
        truths.sides = left, right
        return truths

    def extract(self, words: Array, low: int, fmt: Format) -> Array:
        """Return some bits."""
        return NUMBERS.extract(numbers(words, np.uint64), low, fmt)

    def integer(self, bits: Array, fmt: IntegerFormat) -> Array:
        """Return exact integers that remember their encodings."""
        values = NUMBERS.integer(numbers(bits, fmt.storage), fmt)
        nodes = _nodes(bits, fmt)
        return elementwise(lambda value, node: Node(int(value), None, node.origin), values, nodes)

    def whole(self, value: int) -> Array:
        """Return an exact integer."""
        return _nodes(NUMBERS.whole(value), None)

    def wrap(self, value: Array, fmt: IntegerFormat) -> Array:
        """Encode modulo a power of two."""
        bits = NUMBERS.wrap(numbers(value, np.int64), fmt)
        return self._encoded(bits, value, fmt, f"modulo 2^{fmt.bits}")

    def saturate(self, value: Array, fmt: IntegerFormat) -> Array:
        """Encode, clamped."""
        bits = NUMBERS.saturate(numbers(value, np.int64), fmt)
        return self._encoded(bits, value, fmt, f"clamped to {fmt}")

    def _encoded(self, bits: Array, value: Array, fmt: IntegerFormat, how: str) -> Array:
        return elementwise(
            lambda bit, node: Node(int(bit), fmt, Encoded(node, how)), bits, _nodes(value, None)
        )

    def in_range(self, value: Array, fmt: IntegerFormat) -> Array:
        """Compare with a range."""
        return NUMBERS.in_range(numbers(value, np.int64), fmt)

    def fused(
        self,
        result: FloatFormat,
        rounding: Rounding | Any,
        products: Sequence[Product] = (),
        addends: Sequence[Operand] = (),
    ) -> Array:
        """Round a sum once, and remember its terms."""
        pairs = [(self._bits(x), self._bits(y)) for x, y in products]
        bits = NUMBERS.fused(result, rounding, pairs, [self._bits(addend) for addend in addends])
        factors = [factor for pair in products for factor in pair]

        def node(bit: Any, *terms: Node) -> Node:
            read = terms[: 2 * len(products)]
            origin = Fused(
                rounding, tuple(zip(read[::2], read[1::2], strict=True)), terms[2 * len(products) :]
            )
            return Node(int(bit), result, origin)

        return elementwise(node, bits, *(_nodes(each.bits, each.format) for each in (*factors, *addends)))

    def dot_add(
        self,
        result: FloatFormat,
        model: DotAddModel,
        left: Operand,
        right: Operand,
        addend: Operand,
        scales: Product | None = None,
    ) -> Array:
        """Add products as a matrix unit does, and remember them."""
        operands = [left, right, *(scales or ())]
        plain = [self._bits(operand) for operand in operands]
        pair = (plain[2], plain[3]) if scales is not None else None
        bits = NUMBERS.dot_add(result, model, plain[0], plain[1], self._bits(addend), pair)

        def node(bit: Any, last: Node, *read: tuple[Node, ...]) -> Node:
            held = (read[2], read[3]) if scales is not None else None
            return Node(int(bit), result, DotAdd(model, read[0], read[1], last, held))

        packed = [_packed(_nodes(operand.bits, operand.format)) for operand in operands]
        return elementwise(node, bits, _nodes(addend.bits, addend.format), *packed)

    def propagate_nan(self, outcome: Operand, operands: Sequence[Operand]) -> Array:
        """Take the NaN of an operand, and remember the outcome."""
        bits = NUMBERS.propagate_nan(self._bits(outcome), [self._bits(operand) for operand in operands])
        return self._changed(bits, outcome, "({value}, the NaN of an operand)")

    def replace_nan(self, operand: Operand, nan: int) -> Array:
        """Replace NaNs, and remember them."""
        plain = self._bits(operand)
        replaced = np.where(NUMBERS.is_nan(plain), operand.format.storage.type(nan), plain.bits)
        return self._changed(replaced, operand, "({value}, the only NaN there is)")

    def negate(self, operand: Operand) -> Array:
        """Flip the sign, and remember the number."""
        return self._changed(NUMBERS.negate(self._bits(operand)), operand, "−{before}")

    def _changed(self, bits: Array, operand: Operand, how: str) -> Array:
        def node(bit: Any, before: Node) -> Node:
            if int(bit) == before.value:
                return before
            return Node(int(bit), operand.format, Changed(before, how))

        return elementwise(node, bits, _nodes(operand.bits, operand.format))

    def is_nan(self, operand: Operand) -> Array:
        """Tell NaNs."""
        return NUMBERS.is_nan(self._bits(operand))

    def is_zero(self, operand: Operand) -> Array:
        """Tell zeros."""
        return NUMBERS.is_zero(self._bits(operand))

    def is_infinite(self, operand: Operand) -> Array:
        """Tell infinities."""
        return NUMBERS.is_infinite(self._bits(operand))

    def ieee_equal(self, left: Operand, right: Operand) -> Array:
        """Compare numbers."""
        return NUMBERS.ieee_equal(self._bits(left), self._bits(right))

    def arbitrary(self, name: str, arguments: Sequence[Encodings], result: Format) -> Array:
        """Compute the function; what it came from is lost."""
        plain = [(numbers(bits, fmt.storage), fmt) for bits, fmt in arguments]
        return _nodes(NUMBERS.arbitrary(name, plain, result), result)
