"""What `explain` adds to the description of an instruction: its layouts, and who disagrees about it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..spec.element_table import ElementTable
from ..spec.errors import InputError, UnsupportedError
from ..spec.instruction_set import Instruction, InstructionSet
from ..spec.shown_text import aligned
from .layout_views import by_elements

_ROOM = 76
"""Characters of a line of a picture; wider ones are left to `mmaproof layout`."""

_TALLEST = 16
"""Rows of a picture."""


def layouts(instruction: Instruction) -> Iterator[str]:
    """Yield the formula of each operand's layout, and the last one's picture where it is small."""
    tables: dict[str, tuple[list[str], ElementTable]] = {}
    for operand in instruction.laid_out():
        try:
            table = instruction.layout(operand)
        except (InputError, UnsupportedError):  # left open by what is written, or by the document
            continue
        tables.setdefault(f"{table.formula} {len(table)}", ([], table))[0].append(operand)
    for operands, table in tables.values():
        yield f"{', '.join(operands)}: {table.formula}"
    if tables:
        operands, table = list(tables.values())[-1]
        pictured = list(_picture(table))
        if len(pictured) <= _TALLEST + 1 and max(map(len, pictured)) <= _ROOM:
            yield from (
                f"{operands[-1]}, held by lane:element" if _has_lanes(table) else operands[-1],
                *pictured,
            )
        yield f"mmaproof layout '{instruction.mnemonic}' --operand {operands[-1]} --format html shows all"


def contradictions(isa: InstructionSet, instruction: Instruction) -> Iterator[str]:
    """Yield where documents and tools disagree by naming the instruction or its shape."""
    names = {instruction.mnemonic.partition(" ")[0], instruction.row().get("shape", "")} - {""}
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?![\w.])" for name in names))
    said: dict[str, list[dict[str, str]]] = {}
    for row in isa.tables["contradictions"]():
        said.setdefault(row["contradiction"], []).append(row)
    for name, claims in said.items():
        if pattern.search(" ".join((name.replace("-", " "), *(claim["says"] for claim in claims)))):
            sides = (f"{claim['who']}: {claim['says']}" for claim in claims)
            yield f"{name}: {'; '.join(sides)}"
            yield f"  taken here: {claims[0]['taken here']}"


def _has_lanes(table: ElementTable) -> bool:
    return table.owners.name == "lane"


def _picture(table: ElementTable) -> Iterator[str]:
    for view in by_elements(table):
        rows = [
            [view.corner, *view.titles],
            *([name, *(cell.text for cell in cells)] for name, cells in view.rows),
        ]
        yield from aligned(rows, numbers=range(len(rows[0])))
