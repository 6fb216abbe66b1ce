"""Cells in the words of an instruction set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from ...spec.errors import InputError
from ...spec.instruction_set import NAMES, of_instruction, of_target
from . import columns
from .columns import INSTRUCTION, ISA, SHAPE, Values
from .rows import Statement
from .vocabulary import Vocabulary, first_word, vocabulary


def statement_of(cells: Mapping[str, Any], target: str) -> Statement:
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
def _shared_statement(items: tuple[tuple[str, str], ...], target: str) -> Statement:
    return _read(items, target)


def _read(items: tuple[tuple[str, Any], ...], target: str) -> Statement:
    cells = dict(items)
    text = cells.get(INSTRUCTION)
    words = _vocabulary(cells.pop(ISA, None), text, target)
    if isinstance(text, str) and _is_full(words, text, cells):
        return _of_text(words, text, cells)
    return Statement(words, None, {name: _values(words, name, cell) for name, cell in cells.items()})


def _isa_of(text: str, target: str) -> str:
    if not target:
        return of_instruction(text, None).name
    if re.match(r"\s*>?=?\s*(sm|compute|cc)?[_ ]?\d", target.lower()) or target.lower().startswith("sm"):
        return "ptx"
    if re.match(r"\s*(pwr|power_?)\d", target.lower()):
        return "power"
    if "*" in target or "?" in target or target.endswith("+"):
        return of_instruction(text, None).name
    return of_target(target).name


_PTX_WORDS = ("mma", "wmma", "ldmatrix", "stmatrix", "movmatrix", "wgmma", "tcgen05", "nvgpu", "nvvm")


def _vocabulary(isa: Any, text: Any, target: str) -> Vocabulary:
    if isa is not None:
        if isa not in NAMES:
            raise InputError(f"unknown ISA {isa!r}; known: {', '.join(NAMES)}")
        return vocabulary(isa)
    first = text if isinstance(text, str) else str(text[0]) if isinstance(text, list) and text else ""
    if not target and (not first or first_word(first) in _PTX_WORDS):
        return vocabulary("ptx")
    return vocabulary(_isa_of(first, target))


def _is_full(words: Vocabulary, text: str, stated: Mapping[str, Any]) -> bool:
    """Whether an instruction is written in full, not only named."""
    plain = text.strip()
    if len(stated) == 1 and words.isa.name != "ptx":
        return not columns.is_pattern(plain)
    if columns.is_pattern(plain) or "|" in plain:
        return False
    return words.normal(INSTRUCTION, plain) not in _names(words) if words.isa.name != "pto" else "%" in plain


@cache
def _names(words: Vocabulary) -> frozenset[str]:
    return frozenset(point.cells[INSTRUCTION] for point in words.points())


def _of_text(words: Vocabulary, text: str, cells: Mapping[str, Any]) -> Statement:
    words.name_of(text)
    plain = " ".join(text.split())
    read = words.read(plain)
    for name, cell in cells.items():
        if name == INSTRUCTION or read is None:
            continue
        said = _values(words, name, cell)
        if read.get(name) not in said:
            raise InputError(
                f"column {name!r} says {'|'.join(said)}, the instruction {read.get(name, 'nothing')}"
            )
    return Statement(words, plain, {})


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
            if value not in _names(words) and not columns.is_pattern(value):
                words.name_of(value)
    return values


@cache
def _columns(words: Vocabulary) -> tuple[str, ...]:
    stated = dict.fromkeys(column for point in words.points() for column in point.cells)
    return (*stated, *words.free_columns)


@lru_cache(maxsize=65536)
def _normal(words: Vocabulary, name: str, value: str) -> str:
    return value if columns.is_pattern(value) else words.normal(name, value)
