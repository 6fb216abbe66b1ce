"""Syntax trees of formulas: output elements in index notation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property

from ...spec.errors import InputError
from ...spec.formats import Format


@dataclass(frozen=True)
class Source:
    """The source text and place of a formula or expression.

    Attributes
    ----------
    text : str
        The whole text.
    what : str
        What it is called in messages: ``formula``, ``shape``.
    where : str, optional
        ``file:line``.
    """

    text: str
    what: str = "formula"
    where: str | None = None

    def error(self, at: int, message: str) -> InputError:
        """Return an error about the text at an offset."""
        line = self.text.count("\n", 0, at)
        column = at - self.text.rfind("\n", 0, at)
        place = f"line {line + 1}, column {column}" if "\n" in self.text.strip() else f"column {column}"
        return InputError(f"{self.what}, {place}: {message}", self.where)


@dataclass(frozen=True)
class Node:
    """A part of a formula.

    Attributes
    ----------
    at : int
        Offset in the source, for messages.
    """

    at: int = field(compare=False)

    @cached_property
    def operands(self) -> tuple[Node, ...]:
        """The parts that it is made of, in the order of the text."""
        values = (getattr(self, each.name) for each in fields(self))
        parts = (part for value in values for part in (value if isinstance(value, tuple) else (value,)))
        return tuple(part for part in parts if isinstance(part, Node) and not isinstance(part, Bound))


@dataclass(frozen=True)
class Number(Node):
    """A literal; whole ones are integers, those with a point or an exponent real numbers."""

    value: Fraction
    whole: bool


@dataclass(frozen=True)
class Infinite(Node):
    """``inf``."""


@dataclass(frozen=True)
class Name(Node):
    """An index variable, a size or a scalar parameter."""

    name: str


@dataclass(frozen=True)
class Element(Node):
    """An element of an array, for an array that is written its value before the kernel (``old``)."""

    array: str
    indices: tuple[Node, ...]
    old: bool = False


@dataclass(frozen=True)
class Negative(Node):
    """Negation."""

    operand: Node


@dataclass(frozen=True)
class Binary(Node):
    """Arithmetic ``+ - * / // % << >> &``, relations ``< <= > >= == !=``, ``and``, ``or``."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Inverse(Node):
    """Logical not."""

    operand: Node


@dataclass(frozen=True)
class Bound(Node):
    """A summation index and how many values it takes; None where the arrays say.

    Attributes
    ----------
    is_guarded : bool
        Whether the body counts only where the index is below the extent, which other indices decide.
    """

    name: str
    extent: Node | None
    is_guarded: bool = False


@dataclass(frozen=True)
class Reduction(Node):
    """Numbers over indices made into one."""

    indices: tuple[Bound, ...]
    body: Node


@dataclass(frozen=True)
class Sum(Reduction):
    """A sum over indices."""


@dataclass(frozen=True)
class ReducedProduct(Reduction):
    """A product over indices, a real number."""


@dataclass(frozen=True)
class ReducedExtremum(Reduction):
    """``max`` or ``min`` over indices."""

    which: str


@dataclass(frozen=True)
class Choice(Node):
    """``where(condition, then, otherwise)``."""

    condition: Node
    then: Node
    otherwise: Node


@dataclass(frozen=True)
class Extremum(Node):
    """``max`` or ``min`` of two."""

    which: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Cast(Node):
    """A value converted to a format.

    Attributes
    ----------
    nearest : bool
        Whether a real number becomes the nearest integer (``s8(round(x))``), else the next towards zero.
    """

    format: Format
    operand: Node
    nearest: bool = False


@dataclass(frozen=True)
class Function(Node):
    """A function of real numbers of which the verifier knows nothing else, or ``fma``."""

    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class Lookup(Node):
    """``lookup(x, v0, v1, …)``: the real number that an integer counts off in a table of numbers or data."""

    entry: Node
    table: tuple[Node, ...]


RELATIONS = ("<", "<=", ">", ">=", "==", "!=")
LOGICAL = ("and", "or")


def is_truth(node: Node) -> bool:
    """Tell whether a node is true or false, rather than a number."""
    return isinstance(node, Inverse) or (isinstance(node, Binary) and node.operator in (*RELATIONS, *LOGICAL))


@dataclass(frozen=True)
class Formula:
    """``target = body if condition``: what an output's elements are.

    Attributes
    ----------
    source : Source
        The text.
    target : Element
        The output; an index that is a new name ranges over the output's extent.
    body : Node
        The value.
    condition : Node, optional
        Where it holds; other elements keep what they were.
    """

    source: Source
    target: Element
    body: Node
    condition: Node | None = None

    @property
    def output(self) -> str:
        """The name of the output."""
        return self.target.array


@dataclass(frozen=True)
class Requirement:
    """A condition on the inputs, which a kernel may rely on.

    Attributes
    ----------
    source : Source
        The text.
    condition : Node
        The condition, without ``not`` and ``!=``, so that it holds of numbers only: no NaN meets it.
    guard : Node, optional
        At which indices it holds, decided by indices, sizes and given contents; at all of them by default.
    indices : mapping of str to (str, int)
        The free indices, each with an array and the axis of it that the index goes along.
    """

    source: Source
    condition: Node
    guard: Node | None
    indices: Mapping[str, tuple[str, int]]

    def __str__(self) -> str:
        return self.source.text.strip()


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and everything in it, in the order of the text."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        pending += reversed(node.operands)


def factors(node: Node) -> list[Node]:
    """Return the factors of a product."""
    if isinstance(node, Binary) and node.operator == "*":
        return [*factors(node.left), *factors(node.right)]
    return [node]
