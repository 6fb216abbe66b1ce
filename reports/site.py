"""A static reference of every instruction, written from the specification: pages that need no server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..proofs.catalogue import theorems
from ..proofs.obligation import Status
from ..proofs.pinned import pinned
from ..proofs.recorded_methods import recorded_methods
from ..spec.element_table import ElementTable
from ..spec.errors import InputError, UnsupportedError
from ..spec.instruction_set import NAMES, Instruction, InstructionSet, instruction_set
from ..version import __version__
from . import explanation
from .html import environment
from .layout_drawing import page as layout_page

STYLE = "style.css"
INDEX = "search.js"

MARK = 'index.html">mmaproof</a>'
"""What every page has, and the first page of nothing else."""


@dataclass(frozen=True)
class Page:
    """A file of the site.

    Attributes
    ----------
    path : str
        Where it is, from the top of the site.
    text : str
        What is in it.
    """

    path: str
    text: str


@dataclass(frozen=True)
class Family:
    """What one row of a table of instructions stands for.

    Attributes
    ----------
    isa : InstructionSet
        Of which instruction set.
    row : mapping of str to str
        The row.
    spellings : tuple of str
        The instructions that it stands for, whatever the target; the first is described.
    """

    isa: InstructionSet
    row: Mapping[str, str]
    spellings: tuple[str, ...]

    @property
    def name(self) -> str:
        """What it is called."""
        return self.spellings[0] if self.spellings else next(iter(self.row.values()))

    @property
    def path(self) -> str:
        """The page, from the top of the site."""
        return f"{self.isa.name}/{_file_name(self.name)}.html"

    @property
    def layout_path(self) -> str:
        """The page of the operands' layouts."""
        return f"{self.isa.name}/{_file_name(self.name)}.layout.html"


def families(isa: InstructionSet) -> list[Family]:
    """Return the rows of an instruction set's table, each with the instructions that it stands for.

    A name that newer targets give to another instruction leads to that one's row; its own has none then.
    """
    spelled: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for instruction in isa.instructions():
        row = isa.read(instruction["mnemonic"]).row()
        spelled.setdefault(tuple(row.items()), []).append(instruction["mnemonic"])
    return [
        Family(isa, row, tuple(spelled.get(tuple(row.items()), ()))) for row in isa.tables["instructions"]()
    ]


def count(names: Sequence[str] = NAMES) -> int:
    """Return how many pages describe instructions, about: layouts have pages of their own."""
    return 2 * sum(len(families(instruction_set(name))) for name in names)


def pages(names: Sequence[str] = NAMES) -> Iterator[Page]:
    """Yield every page of the site, about the instruction sets of these names."""
    templates = environment()
    entries: list[dict[str, str]] = []
    sets = [instruction_set(name) for name in names]
    for isa in sets:
        rows = families(isa)
        known = theorems((f"{isa.name}/",))
        yield Page(
            f"{isa.name}/index.html",
            templates.get_template("site_isa.html.j2").render(
                title=isa.title,
                top="../",
                isa=isa,
                families=rows,
                columns=list(dict.fromkeys(column for row in rows for column in row.row)),
                tables={name: isa.tables[name]() for name in ("rules", "contradictions")},
                theorems=[(each, *_standing(each.id)) for each in known],
            ),
        )
        entries.append({"title": isa.title, "path": f"{isa.name}/index.html", "words": isa.name})
        for family in rows:
            yield from _family_pages(family)
            words = " ".join([*family.spellings, *family.row.values()])
            entries.append({"title": family.name, "path": family.path, "words": words})
        for theorem in known:
            path = f"{isa.name}/index.html#{theorem.id}"
            entries.append({"title": theorem.id, "path": path, "words": f"{theorem.id} {theorem.title}"})
        for row in isa.tables["rules"]():
            path = f"{isa.name}/index.html#rule-{row['rule']}"
            entries.append(
                {"title": f"{isa.name}/{row['rule']}", "path": path, "words": " ".join(row.values())}
            )
    yield Page(
        "index.html",
        templates.get_template("site_index.html.j2").render(
            title="mmaproof",
            top="",
            isas={isa.name: isa.title for isa in sets},
            version=__version__,
        ),
    )
    yield Page(STYLE, templates.get_template("site.css.j2").render())
    yield Page(INDEX, f"const entries = {json.dumps(entries)};\n")


def _family_pages(family: Family) -> Iterator[Page]:
    """Yield the page of a family, and that of its layouts where the instruction set states them."""
    tables: dict[str, ElementTable] = {}
    sections: tuple[tuple[str, tuple[str, ...]], ...] = ()
    if family.spellings:
        tables = _layouts(family.isa.read(family.name))
        sections = explanation.explain(family.name).sections
    if tables:
        yield Page(family.layout_path, layout_page(family.name, tables))
    template = environment().get_template("site_family.html.j2")
    yield Page(
        family.path,
        template.render(
            title=family.name,
            called=family.isa.title,
            top="../",
            family=family,
            sections=[(heading, lines) for heading, lines in sections if lines and heading != "Table row"],
            layout=family.layout_path.rpartition("/")[2] if tables else None,
        ),
    )


def _layouts(instruction: Instruction) -> dict[str, ElementTable]:
    """Return the layouts of an instruction's operands, none where the instruction set leaves them open."""
    found = {}
    for operand in instruction.laid_out():
        try:
            found[operand] = instruction.layout(operand)
        except (InputError, UnsupportedError):  # PTO: of a type that is not in the text
            continue
    return found


def _standing(theorem: str) -> tuple[int, int, tuple[str, ...]]:
    """Return how many obligations of a theorem are proved, how many refuted as pinned, and by what."""
    expected = {each: status for each, status in pinned().items() if each.startswith(theorem + "/")}
    proved = sum(status is Status.PROVED for status in expected.values())
    return proved, len(expected) - proved, recorded_methods(expected)


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.-]+", "_", text)
