"""What the statements of PTO text are made of: text and regions, values with their types, attributes.

Source: PTO IR manual; ptoas at a56b18c3.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .types import Type, in_destination_passing_style

Attributes = tuple[tuple[str, str], ...]
"""An attribute dictionary: keys, and values as written."""

_INDENT = "  "
_BARE_KEY = re.compile(r"[A-Za-z_][\w$]*(?:\.[\w$]+)*", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What stands somewhere in a text; ``str`` prints it as it is read.

    Attributes
    ----------
    line, column : int
        Where it starts, from 1; statements that differ in nothing else are equal.
    """

    line: int = field(default=1, compare=False)
    column: int = field(default=1, compare=False)

    @property
    def regions(self) -> tuple[Region, ...]:
        """Its regions, in the order of the text."""
        return ()

    def lines(self) -> Iterator[str]:
        """Yield the lines of its text; only statements with regions have several."""
        yield str(self)


@dataclass(frozen=True)
class Region:
    """The statements of a region."""

    statements: tuple[Statement, ...] = ()

    def __iter__(self) -> Iterator[Statement]:
        return iter(self.statements)

    def walk(self) -> Iterator[Statement]:
        """Yield every statement, outer ones first, in the order of the text."""
        for statement in self:
            yield statement
            for region in statement.regions:
                yield from region.walk()

    def lines(self) -> Iterator[str]:
        """Yield the lines of its text."""
        for statement in self:
            yield from statement.lines()


class Structured(Statement, ABC):
    """A statement with regions."""

    @abstractmethod
    def _parts(self) -> Iterator[str | Region]:
        """Yield its text and its regions, as they stand in the text."""

    @property
    def regions(self) -> tuple[Region, ...]:
        """Its regions, in the order of the text."""
        return tuple(part for part in self._parts() if isinstance(part, Region))

    def lines(self) -> Iterator[str]:
        """Yield the lines of its text."""
        line = ""
        for part in self._parts():
            if isinstance(part, Region):
                yield f"{line}{{" if line.endswith("(") else f"{line} {{"
                yield from (_INDENT + each for each in part.lines())
                line = "}"
            else:
                line += part if not line or part.startswith(("(", "[", ")", ",")) else f" {part}"
        yield line

    def __str__(self) -> str:
        return "\n".join(self.lines())


@dataclass(frozen=True)
class TypedValue:
    """A value with its type.

    Attributes
    ----------
    name : str
        ``%a``, or a literal.
    type : Type, optional
        None where the text gives none.
    indices : tuple of str
        Of an indexed operand ``%panel[%z, %kk]``.
    index_types : tuple of Type
        Of the indices, where the text gives them.
    """

    name: str
    type: Type | None = None
    indices: tuple[str, ...] = ()
    index_types: tuple[Type, ...] = ()

    def __str__(self) -> str:
        return self.name + (f"[{', '.join(self.indices)}]" if self.indices else "")


def dictionary(attributes: Attributes) -> str:
    """Return the text of an attribute dictionary."""
    return f"{{{', '.join(_attribute(key, value) for key, value in attributes)}}}"


def behind(attributes: Attributes) -> str:
    """Return the text of an attribute dictionary behind something, if it is not empty."""
    return f" {dictionary(attributes)}" if attributes else ""


def defined(names: Sequence[str]) -> str:
    """Return the text in front of an operation that defines values."""
    return f"{', '.join(names)} = " if names else ""


def operand_types(operands: Sequence[TypedValue]) -> Iterator[Type]:
    """Yield the types of operands and of their indices.

    Raises
    ------
    ValueError
        If one has none.
    """
    for operand in operands:
        if operand.type is None:
            raise ValueError("an operand without a type among others that have one")
        yield operand.type
        yield from operand.index_types


def arguments(operands: Sequence[TypedValue]) -> str:
    """Return operands with their types in parentheses, as they stand behind ``ins`` and ``outs``."""
    listed = ", ".join(map(in_destination_passing_style, operand_types(operands)))
    return f"({', '.join(map(str, operands))} : {listed})"


def _attribute(key: str, value: str) -> str:
    name = key if _BARE_KEY.fullmatch(key) else f'"{key}"'
    return f"{name} = {value}" if value else name
