"""Cells in the words of an instruction set."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from typing import Any

from ..spec.errors import InputError, UnsupportedError
from ..spec.instruction_set import NAMES, of_target, recognised
from . import columns
from .columns import INSTRUCTION, ISA, SHAPE, Values
from .rows import RowStatement
from .vocabulary import Vocabulary, first_word, vocabulary

UNNAMED = "ptx"
"""What rows are about that name neither the instruction set, nor an instruction or a target of it."""


def statement_of(cells: Mapping[str, Any], target: str) -> RowStatement:
    """Return what a row's cells are about; the same cells again cost little.

    Raises
    ------
    InputError
        If they make no sense in the instruction set.
    UnsupportedError
        If they are about something that is not modelled.
    """
    items = tuple(cells.items())
    return (
        _shared_statement(items, target)
        if all(type(cell) is str for _, cell in items)
        else _read(items, target)
    )


@lru_cache(maxsize=1 << 17)
def _shared_statement(items: tuple[tuple[str, str], ...], target: str) -> RowStatement:
    return _read(items, target)


def _read(items: tuple[tuple[str, Any], ...], target: str) -> RowStatement:
    cells = dict(items)
    text = cells.get(INSTRUCTION)
    first = text if isinstance(text, str) else str(text[0]) if isinstance(text, list) and text else ""
    words = vocabulary_of(cells.pop(ISA, None), first, target)
    if isinstance(text, str) and _is_full(words, text, cells):
        return _of_text(words, text, cells)
    named = (
        {INSTRUCTION: cells[INSTRUCTION]} if INSTRUCTION in cells else {}
    )  # what is not modelled comes first
    return RowStatement(
        words, None, {name: _values(words, name, cell) for name, cell in {**named, **cells}.items()}
    )


def vocabulary_of(isa: Any, text: str, target: str) -> Vocabulary:
    """Return the words of a row's instruction set, told by its cells.

    Parameters
    ----------
    isa : cell, optional
        What the row says it is.
    text : str
        The instruction, or the beginning of a list of some; empty where there is none.
    target : str
        The first target; empty where there is none.

    Raises
    ------
    InputError
        If the cell is no name.
    UnsupportedError
        If it is of no instruction set that is modelled.
    """
    if isa is None:
        return vocabulary(_isa_of_target(target) or _isa_of_text(text))
    if not isinstance(isa, str):
        raise InputError(f"an ISA is one of {', '.join(NAMES)}, not {isa!r}")
    name = isa.strip().lower()
    if name not in NAMES:
        raise UnsupportedError(f"ISA {isa!r} is not modelled; {', '.join(NAMES)} are")
    return vocabulary(name)


def require_known(isa: str | None, target: str | None, ptx: str | None = None) -> None:
    """Refuse an option that no row could be judged by; of a row such a cell is undecided.

    Raises
    ------
    InputError
        If there is no such ISA or version of PTX, or no ISA has such a target.
    """
    if ptx:
        with suppress(UnsupportedError):  # a future version: rows say so
            vocabulary("ptx").versions(ptx)
    if isa is not None and isa not in NAMES:
        raise InputError(f"unknown ISA {isa!r}; known: {', '.join(NAMES)}")
    if target is not None:
        try:
            _isa_of_target(target)
        except UnsupportedError as reason:
            raise InputError(str(reason)) from None


@lru_cache(maxsize=1024)
def _isa_of_target(target: str) -> str | None:
    """Return the instruction set that a target executes; None for a pattern, which may be of any."""
    for name in NAMES:
        if vocabulary(name).spells_target(target.lower()):
            return name
    if not target or columns.is_pattern(target):
        return None
    try:
        return of_target(target.removesuffix("+")).name
    except InputError as reason:
        raise UnsupportedError(str(reason)) from None


@lru_cache(maxsize=65536)
def _isa_of_text(text: str) -> str:
    if not text:
        return UNNAMED
    if (isa := recognised(text)) is not None:
        return isa.name
    word = first_word(text)
    for name in NAMES:
        if any(fnmatchcase(mnemonic, word) for mnemonic in vocabulary(name).names):
            return name
    raise UnsupportedError(f"{word!r} belongs to no modelled instruction set; modelled: {', '.join(NAMES)}")


def _is_full(words: Vocabulary, text: str, stated: Mapping[str, Any]) -> bool:
    """Whether an instruction is written in full, not only named."""
    plain = text.strip()
    if columns.is_pattern(plain) or "|" in plain:
        return False
    return words.in_full(plain, alone=len(stated) == 1)


def _of_text(words: Vocabulary, text: str, cells: Mapping[str, Any]) -> RowStatement:
    words.name_of(text)
    plain = " ".join(text.split())
    others = [(name, cell) for name, cell in cells.items() if name != INSTRUCTION]
    read = words.read(plain) if others else None
    for name, cell in others if read is not None else ():
        assert read is not None
        said = _values(words, name, cell)
        if read.get(name) not in said:
            raise InputError(
                f"column {name!r} says {'|'.join(said)}, the instruction {read.get(name, 'nothing')}"
            )
    return RowStatement(words, plain, {})


def _values(words: Vocabulary, name: str, cell: Any) -> Values:
    if name not in _columns(words):
        raise InputError(
            f"rows about {words.isa.name} have no column {name!r}; they have {', '.join(_columns(words))}"
        )
    if name == SHAPE:
        values = columns.shapes(cell)
    else:
        values = tuple(_normal(words, name, value) for value in columns.listed(name, cell))
    if name in words.free_columns and any(map(columns.is_pattern, values)):
        raise InputError(f"column {name!r} is no pattern in rows about {words.isa.name}: {'|'.join(values)}")
    if name == INSTRUCTION:
        for value in values:
            if value not in words.names and not columns.is_pattern(value):
                words.name_of(value)
    return values


@cache
def _columns(words: Vocabulary) -> tuple[str, ...]:
    stated = dict.fromkeys(column for point in words.points for column in point.cells)
    return (*stated, *words.free_columns)


@lru_cache(maxsize=65536)
def _normal(words: Vocabulary, name: str, value: str) -> str:
    return value if columns.is_pattern(value) else words.normal(name, value)
