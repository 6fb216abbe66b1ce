"""Rows of a table: what each of them claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from ..spec.findings import Position
from .columns import INSTRUCTION, SHAPE, Values
from .vocabulary import Vocabulary


@dataclass(frozen=True)
class Defaults:
    """What holds for every row that does not say otherwise.

    Attributes
    ----------
    cells : mapping of str to cell
        By column.
    renamed : mapping of str to str
        The columns that titles of the file mean; "" for one to ignore.
    """

    cells: Mapping[str, Any] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class RowStatement:
    """What a row is about; rows with the same cells share it.

    Attributes
    ----------
    vocabulary : Vocabulary
        Of its instruction set.
    text : str, optional
        The instruction, where it is written in full.
    cells : mapping of str to Values
        What its columns state, where it is not.
    """

    vocabulary: Vocabulary
    text: str | None
    cells: Mapping[str, Values]

    @cached_property
    def words(self) -> str:
        """The statement in words."""
        return self.text if self.text is not None else _describe(self.cells)


@dataclass(frozen=True)
class Row:
    """What a row claims.

    Attributes
    ----------
    at : Position
        Where it stands.
    statement : RowStatement
        What it is about.
    legal : bool
        Whether it calls that legal.
    target, ptx : Values
        As written; empty where nothing is said.
    """

    at: Position
    statement: RowStatement
    legal: bool
    target: Values
    ptx: Values

    @property
    def subject(self) -> str:
        """The row in words."""
        return f"{self.statement.words}{place_words(self.target, self.ptx)}"

    @property
    def verdict(self) -> str:
        """What it says."""
        return "legal" if self.legal else "illegal"


@dataclass(frozen=True)
class LayoutRow:
    """A row that states a layout.

    Attributes
    ----------
    at : Position
        Where it stands.
    instruction, operand : str
        Whose layout.
    layout : cell
        As another tool writes it.
    target : str, optional
        Where layouts depend on it.
    legal : bool
        Whether it is said to be the layout.
    """

    at: Position
    instruction: str
    operand: str
    layout: Any
    target: str | None
    legal: bool

    @property
    def subject(self) -> str:
        """The row in words."""
        return f"{self.operand} of {self.instruction}"


@dataclass(frozen=True)
class Undecidable:
    """A row about something that is not modelled.

    Attributes
    ----------
    at : Position
        Where it stands.
    subject : str
        The row in words.
    verdict : str
        What it says.
    because : str
        What is not modelled.
    """

    at: Position
    subject: str
    verdict: str
    because: str


AnyRow = Row | LayoutRow | Undecidable


@lru_cache(maxsize=4096)
def place_words(target: Values, ptx: Values) -> str:
    """Return where a row says that an instruction is legal or not, in words."""
    at = f" on {'|'.join(target)}" if target else ""
    return at + (f", PTX {'|'.join(ptx)}" if ptx else "")


def _describe(values: Mapping[str, Values]) -> str:
    alone = (INSTRUCTION, SHAPE)
    parts = ["|".join(values[name]) for name in alone if name in values]
    parts += [f"{name}={'|'.join(value)}" for name, value in values.items() if name not in alone]
    return " ".join(parts)
