"""Words that stand in the tables of instructions: families, shapes, types, targets; and element types."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ..spec.errors import InputError
from ..spec.formats import FloatFormat, IntegerFormat, format_named
from ..spec.instruction_set import NAMES, Description, InstructionSet, instruction_set

LISTED = 16
"""Rows and names that are spelled out."""

_WORD = re.compile(r"[\w:.+-]+")

_OPEN_ENDED = re.compile(r"sm_(\d+)\+")


def explained(name: str) -> Iterator[Description]:
    """Yield what a word of the tables stands for: an element type, then once for each instruction set.

    Of several words, the rows that have all of them. Case does not matter.
    """
    words = name.split()
    if not all(_WORD.fullmatch(word) for word in words):
        return
    if len(words) == 1:
        yield from _element_type(name)
    for isa in map(instruction_set, NAMES):
        found = [*_in_table(isa, name.strip())] if len(words) == 1 else [*_in_rows(isa, words)]
        yield from found or (_in_other_tables(isa, words[0]) if len(words) == 1 else ())


_INSTRUCTION = "instruction"
"""The column that has mnemonics, in tables that have any."""

_SHOWN_BY = {"instructions": "", "rules": " --rules", "contradictions": " --contradictions"}
"""Options of ``mmaproof tables``; other tables are named."""


def overview(isa: InstructionSet) -> Description:
    """Return what there is of an instruction set, and what shows it."""
    rows = isa.tables["instructions"]()
    (first, *_) = rows[0]
    tables = (
        f"{len(found())} rows: mmaproof tables {isa.name}{_SHOWN_BY.get(title, f' --table {title}')}"
        for title, found in isa.tables.items()
    )
    points = (
        f"{point.name}: {', '.join(option for option, _ in point.options)}" for point in isa.open_points
    )
    return Description(
        f"{isa.name}: {isa.title}",
        (
            ("Instructions", tuple(_listed([row[first] for row in rows]))),
            ("Targets", (", ".join(isa.targets),)),
            ("Tables", tuple(tables)),
            ("What documents leave open", tuple(points)),
            ("Theorems", (f"mmaproof check {isa.name} proves them",)),
        ),
    )


def words() -> Iterator[str]:
    """Yield the words that stand alone in a cell, or name a target."""
    for isa in map(instruction_set, NAMES):
        yield from isa.targets
        for row in isa.tables["instructions"]():
            yield from (cell for cell in row.values() if _WORD.fullmatch(cell))


def _element_type(word: str) -> Iterator[Description]:
    try:
        found = format_named(word.lower())
    except InputError:
        return
    lines = [f"{found.bits} bits"]
    if isinstance(found, IntegerFormat):
        lines.append(f"integers from {found.minimum} to {found.maximum}")
    if isinstance(found, FloatFormat):
        lines += [
            "a sign" if found.signed else "no sign",
            f"{found.exponent_bits} bits of exponent, bias {found.bias}; {found.fraction_bits} of fraction",
            f"largest finite {float(found.exact(found.largest) or 0):g}; multiples of 2^{found.quantum}",
            "no infinity" if found.infinity is None else "infinities",
            "no NaN" if found.default_nan is None else "NaN",
        ]
    yield Description(f"element type {found}", (("Encoding", tuple(lines)),))


def _in_table(isa: InstructionSet, word: str) -> Iterator[Description]:
    """Yield what the rows say that have a word, or whose instruction begins with it."""
    rows = isa.tables["instructions"]()
    (first, *_) = rows[0]
    titles = dict.fromkeys(title for row in rows for title in row)
    columns = {title: [row for row in rows if _has(row.get(title, ""), word)] for title in titles}
    columns[first] = [row for row in rows if _begins(row[first], word)]
    columns = {title: found for title, found in columns.items() if found}
    is_target = word.lower() in map(str.lower, isa.targets)
    if not columns and not is_target:
        return
    sections: list[tuple[str, tuple[str, ...]]] = []
    if is_target:
        sections.append(("Target", (f"mmaproof legal INSTR --target {word} judges an instruction for it",)))
    for title, found in columns.items():
        heading = f"{title}: {len(found)} of {len(rows)} rows of the table"
        sections.append((heading, tuple(_listed([_shortly(row, title, first) for row in found]))))
    sections.append(("All", (f"mmaproof tables {isa.name}",)))
    yield Description(f"{word} in {isa.name}", tuple(sections))


def _in_other_tables(isa: InstructionSet, word: str) -> Iterator[Description]:
    """Yield the rows of tables other than the one of instructions whose instruction begins with a word."""
    for title, read in isa.tables.items():
        if title in _SHOWN_BY:
            continue
        rows = [row for row in read() if _begins(row.get(_INSTRUCTION, ""), word)]
        if rows:
            lines = tuple(_listed([_shortly(row, _INSTRUCTION, _INSTRUCTION) for row in rows]))
            option = f"mmaproof tables {isa.name} --table {title}"
            yield Description(
                f"{word} in {isa.name}", ((f"{len(rows)} rows of {title}", lines), ("All", (option,)))
            )


def _in_rows(isa: InstructionSet, several: Sequence[str]) -> Iterator[Description]:
    """Yield the rows that have all of several words."""
    rows = isa.tables["instructions"]()
    (first, *_) = rows[0]
    found = [
        row
        for row in rows
        if all(
            _begins(row[first], word) or any(_has(cell, word) for cell in row.values()) for word in several
        )
    ]
    if found:
        heading = f"{len(found)} of {len(rows)} rows of the table"
        lines = tuple(_listed([_shortly(row, first, first) for row in found]))
        sections = ((heading, lines), ("All", (f"mmaproof tables {isa.name}",)))
        yield Description(f"{' '.join(several)} in {isa.name}", sections)


def _has(cell: str, word: str) -> bool:
    """Whether a cell has a word; ``sm_80+`` has every later one."""
    wanted = word.lower()
    if wanted in (found.lower().strip(".") for found in _WORD.findall(cell)):
        return True
    number = re.fullmatch(r"sm_([0-9]+)", wanted) if wanted in instruction_set("ptx").targets else None
    return number is not None and any(int(least) <= int(number[1]) for least in _OPEN_ENDED.findall(cell))


def _begins(mnemonic: str, word: str) -> bool:
    """Whether a mnemonic begins with a word that ends where one of its parts does: not a misspelt one."""
    if not mnemonic.lower().startswith(word.lower()):
        return False
    before, after = word[-1], mnemonic[len(word) : len(word) + 1]
    return not ((before.isalpha() and after.isalpha()) or (before.isdigit() and after.isdigit()))


def _shortly(row: Mapping[str, str], title: str, first: str) -> str:
    """Return the first cells of a row that say something else than the word."""
    cells = [row[first], *(cell for name, cell in row.items() if name not in (first, title) and cell)]
    return " | ".join(cells[:5])


def _listed(lines: Sequence[str]) -> Iterator[str]:
    several = list(dict.fromkeys(lines))
    yield from several[:LISTED]
    if len(several) > LISTED:
        yield f"and {len(several) - LISTED} more"
