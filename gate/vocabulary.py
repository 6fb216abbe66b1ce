"""What a table can say about an instruction set, in the columns of a row and in instruction text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from typing import Protocol, cast

from ..spec.errors import UnsupportedError
from ..spec.instruction_set import InstructionSet

Cells = Mapping[str, str]
"""Values by column."""

NONE, YES, NO = "none", "yes", "no"
"""What columns say about modifiers that are not there, or are there or not."""


@dataclass(frozen=True)
class Point:
    """An instruction that the ISA has, somewhere.

    Attributes
    ----------
    text : str
        As the ISA spells it.
    cells : mapping of str to str
        What its columns say.
    source : str
        Where it is stated.
    """

    text: str
    cells: Cells
    source: str


class Vocabulary(Protocol):
    """The words of one instruction set."""

    isa: InstructionSet
    free_columns: tuple[str, ...]
    """Columns that rows may state and points leave open."""

    def __hash__(self) -> int: ...

    def points(self) -> Sequence[Point]:
        """Return every instruction."""
        ...

    def normal(self, column: str, value: str) -> str:
        """Return the ISA's spelling of a value; of one that it does not have, the value.

        Raises
        ------
        InputError
            If the column does not go with the instruction set.
        """
        ...

    def completed(self, cells: Mapping[str, str]) -> Mapping[str, str]:
        """Return cells with what follows from them: the instruction, where it is left out."""
        ...

    def in_full(self, text: str, *, alone: bool) -> bool:
        """Whether a text, alone in its row or beside other cells, is an instruction and not only a name."""
        ...

    def name_of(self, text: str) -> str:
        """Return the name of the instruction that a text spells, right or wrong.

        Raises
        ------
        UnsupportedError
            If mmaproof does not model one of that name.
        """
        ...

    def read(self, text: str) -> Cells | None:
        """Return what the columns of an instruction say; None where it can't be told."""
        ...

    def spell(self, cells: Cells) -> str | None:
        """Return text with the given cells, right or wrong; None where there is no way to say it."""
        ...

    def as_of(self, text: str, version: str | None) -> str:
        """Return what spells a point's text in a version that spells it otherwise."""
        ...

    def spells_target(self, value: str) -> bool:
        """Whether a cell names a target, or some, as other tools do; in lower case."""
        ...

    def targets(self, value: str) -> tuple[str, ...]:
        """Return the targets that a cell names.

        Raises
        ------
        UnsupportedError
            If mmaproof knows none of that name.
        """
        ...

    def versions(self, value: str) -> tuple[str | None, ...]:
        """Return the versions that a cell names; see `targets`.

        Raises
        ------
        InputError
            If it is no version.
        """
        ...

    def knows(self, target: str, version: str | None) -> bool:
        """Whether a version of the ISA has a target."""
        ...


@cache
def vocabulary(isa: str) -> Vocabulary:
    """Return the words of an instruction set."""
    module = import_module(f".{isa}_vocabulary", __package__)
    return cast(Vocabulary, module.VOCABULARY)


def matching_names(value: str, names: Sequence[str], what: str) -> tuple[str, ...]:
    """Return the names that a pattern matches, in any case.

    Raises
    ------
    UnsupportedError
        If none does: there may be one that mmaproof does not know.
    """
    found = tuple(name for name in names if fnmatchcase(name.lower(), value.lower()))
    if not found:
        raise UnsupportedError(f"unknown {what} {value!r}; known: {', '.join(names)}")
    return found


def first_word(text: str) -> str:
    """Return the name in front of an instruction's modifiers and operands."""
    match = re.match(r"\s*(?:@!?[\w$%]+\s+)?([A-Za-z_][\w]*)", text)
    return match[1] if match else text.strip()[:40]
