"""What a table can say about an instruction set, in the columns of a row and in instruction text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import cast

from ..spec.errors import InputError, UnsupportedError
from ..spec.instruction_set import InstructionSet, instruction_set
from .columns import INSTRUCTION, ISA, LEGAL, PTX, SHAPE, TARGET, column_named, shapes
from .type_names import TYPE_COLUMNS, type_name

Cells = Mapping[str, str]
"""Values by column."""

NONE, YES, NO = "none", "yes", "no"
"""What columns say about modifiers that are not there, or are there or not."""

_SHOWN = 6
"""How many names a message lists."""


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


class Vocabulary:
    """The words of one instruction set, as its own tables have them.

    An instruction set of which other tools' tables say more, or say it in other words, has a class of its
    own in ``gating/ISA_vocabulary.py``.

    Parameters
    ----------
    isa : InstructionSet
        Whose.

    Attributes
    ----------
    free_columns : tuple of str
        Columns that rows may state and points leave open.
    """

    free_columns: tuple[str, ...] = ()

    def __init__(self, isa: InstructionSet) -> None:
        self.isa = isa

    @cached_property
    def points(self) -> Sequence[Point]:
        """Every instruction."""
        return tuple(
            Point(row["mnemonic"], dict(self._cells(row)), row.get("source", ""))
            for row in self.isa.tables["instructions"]()
        )

    def _cells(self, row: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        yield INSTRUCTION, row["mnemonic"]
        for title in (each for each in row if row[each]):
            for name in filter(None, map(_column, title.split(" and "))):
                yield name, shapes(row[title])[0] if name == SHAPE else self.normal(name, row[title])

    @cached_property
    def names(self) -> frozenset[str]:
        """What instructions are called."""
        return frozenset(point.cells[INSTRUCTION] for point in self.points)

    @cached_property
    def by_text(self) -> Mapping[str, Cells]:
        """What the columns say of each instruction."""
        return {point.text: point.cells for point in self.points}

    @property
    def modelled(self) -> str:
        """What there is, as messages name it."""
        names = sorted(self.names)
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        return f"of {self.isa.name}, {', '.join(names[:_SHOWN])}{more} are"

    def normal(self, column: str, value: str) -> str:
        """Return the ISA's spelling of a value; of one that it does not have, the value.

        Raises
        ------
        InputError
            If the column does not go with the instruction set.
        """
        return type_name(value) if column in TYPE_COLUMNS else value.strip().lower()

    def completed(self, cells: Cells) -> Cells:
        """Return cells with what follows from them: the instruction, where it is left out."""
        return cells

    def name_of(self, text: str) -> str:
        """Return the name of the instruction that a text spells, right or wrong.

        Raises
        ------
        UnsupportedError
            If mmaproof does not model one of that name.
        """
        word = first_word(text)
        try:
            return self.isa.read(word).mnemonic
        except InputError:
            raise UnsupportedError(f"{word!r} is not modelled; {self.modelled}") from None

    def in_full(self, text: str, *, alone: bool) -> bool:
        """Whether a text, alone in its row or beside other cells, is an instruction and not only a name."""
        return alone or self.normal(INSTRUCTION, text) not in self.names

    def read(self, text: str) -> Cells | None:
        """Return what the columns of an instruction say; None where it can't be told."""
        try:
            return self.by_text.get(self.isa.read(text).mnemonic)
        except InputError:
            return None

    def spell(self, cells: Cells) -> str | None:
        """Return text with the given cells, right or wrong; None where there is no way to say it."""
        return None

    def as_of(self, text: str, target: str, version: str | None) -> str:
        """Return what spells a point's text on a target, or in a version, that spells it otherwise."""
        return text

    def spells_target(self, value: str) -> bool:
        """Whether a cell names a target, or some, as other tools do; in lower case."""
        return False

    def target_name(self, value: str) -> str:
        """Return the ISA's spelling of a target, a pattern, or ``target+``: it and all later ones."""
        return value.strip().lower()

    def targets(self, value: str) -> tuple[str, ...]:
        """Return the targets that a cell names.

        Raises
        ------
        UnsupportedError
            If mmaproof knows none of that name.
        """
        name, known = self.target_name(value), tuple(self.isa.targets)
        if name.endswith("+"):
            return known[known.index(matching_names(name[:-1], known, "target")[0]) :]
        return matching_names(name, known, "target")

    def versions(self, value: str) -> tuple[str | None, ...]:
        """Return the versions that a cell names; see `targets`. An ISA without versions has only None.

        Raises
        ------
        InputError
            If it is no version.
        """
        return (None,)

    def knows(self, target: str, version: str | None) -> bool:
        """Whether a version of the ISA has a target."""
        return True


def _column(title: str) -> str | None:
    """Return the column of a form that a title of an instruction set's own table means."""
    try:
        name = column_named(title)
    except InputError:  # a column for readers
        return None
    return None if name in (INSTRUCTION, ISA, TARGET, PTX, LEGAL) else name


@cache
def vocabulary(isa: str) -> Vocabulary:
    """Return the words of an instruction set."""
    own = f"{__package__}.{isa}_vocabulary"
    if find_spec(own) is None:
        return Vocabulary(instruction_set(isa))
    return cast(Vocabulary, import_module(own).VOCABULARY)


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
