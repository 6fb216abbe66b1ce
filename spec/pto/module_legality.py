"""Judging a whole PTO text: every statement, and the tiles and addresses it declares.

Rules on a sequence of statements (flags, hazards, phases) are not judged here.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from ..instruction_set import Judgement
from ..legality import Note, NoteKind, Violation, listed_lines
from .assembly import only_instruction
from .global_memory import written_layout
from .legality import address_violations, judge, tile_violations
from .resolution import resolve_known, tile_of_type
from .targets import Profile
from .text.module import Module, Other
from .text.statements import (
    Allocation,
    ConstantDefinition,
    InstructionStatement,
    PartitionView,
    TensorView,
)
from .text.syntax import Region, Statement
from .text.types import OtherType, TileType
from .tile import Tile
from .view_declarations import KnownNames, inferred_orders, known_names

_ASSIGNED = re.compile(r"@\w+\s*\(\s*(0x[0-9a-fA-F]{1,16}|[0-9]{1,18})\s*\)")
"""The address in ``pto.tassign %tile, @tile(0x1000)``."""


class JudgedStatement(NamedTuple):
    """A statement of a text, as far as rules look at it: an instruction, or where a tile is.

    Attributes
    ----------
    line : int
        Where it stands.
    name : str
        What it is, shortly.
    judgement : Judgement
        What is wrong with it.
    """

    line: int
    name: str
    judgement: Judgement


@dataclass(frozen=True)
class _Names:
    """What names stand for at some place in a text."""

    numbers: ChainMap[str, int] = field(default_factory=ChainMap)
    tiles: ChainMap[str, Tile] = field(default_factory=ChainMap)
    layouts: ChainMap[str, tuple[str, ...]] = field(default_factory=ChainMap)

    def inner(self) -> _Names:
        return _Names(self.numbers.new_child(), self.tiles.new_child(), self.layouts.new_child())

    def of_view(self, statement: InstructionStatement) -> tuple[str, ...]:
        """Return the layouts that the view of a load or store may have; none where that is not known."""
        operand = statement.operands().get(statement.operation.view or "")
        return () if operand is None else self.layouts.get(operand.name, ())

    def number(self, written: str) -> int | None:
        if written in self.numbers:
            return self.numbers[written]
        return int(written, 0) if re.fullmatch(r"0x[0-9a-fA-F]{1,16}|[1-9][0-9]{0,17}|0", written) else None


def judge_module(module: Module, profile: Profile) -> Judgement:
    """Judge every instruction, allocation and address assignment, and say of each violation where it is.

    Raises
    ------
    InputError
        If there is none.
    """
    judged = list(judged_statements(module.body, profile, known=known_names(module.body)))
    if not judged:
        only_instruction(module)  # says what is expected
    violations: list[Violation] = []
    notes: list[Note] = []
    for line, name, judgement in judged:
        where = f"line {line}, {name}: " if len(judged) > 1 else ""
        violations += (
            Violation(violation.rule, where + violation.message) for violation in judgement.violations
        )
        notes += (replace(note, where=where) for note in judgement.notes)
    unknown: dict[str, list[int]] = {}
    for statement in module.walk():
        if (operation := _without_rules(statement)) is not None:
            unknown.setdefault(operation, []).append(statement.line)
    for operation, places in sorted(unknown.items()):
        notes.append(
            Note(NoteKind.NOT_JUDGED, f"no rule is known on {operation}", f"{listed_lines(places)}: ")
        )
    return Judgement(profile.name, tuple(violations), tuple(notes))


def _without_rules(statement: Statement) -> str | None:
    """Return the name of an operation on tiles that no rule knows."""
    if not isinstance(statement, Other) or statement.name == "pto.tassign":
        return None
    name = statement.name.strip('"')
    on_tiles = any(isinstance(piece, str) and "!pto.tile" in piece for piece in statement.pieces)
    return name if name.startswith("pto.") and on_tiles else None


def judged_statements(
    region: Region,
    profile: Profile,
    names: _Names | None = None,
    known: Mapping[int, KnownNames] = MappingProxyType({}),
) -> Iterator[JudgedStatement]:
    """Judge the statements of a region one by one, in the order of the text.

    Parameters
    ----------
    region : Region
        The statements.
    profile : Profile
        For whom.
    names : optional
        What names of outer regions stand for.
    known : mapping of int to KnownNames
        Which numbers of each view ptoas may know, see `known_names`.
    """
    names = names or _Names()
    for statement in region:
        match statement:
            case InstructionStatement(operation=operation):
                resolved = resolve_known(statement, profile)
                placed = replace(resolved, layouts=names.of_view(statement), numbers=names.numbers)
                yield JudgedStatement(statement.line, operation.name, judge(placed))
            case ConstantDefinition(name=name):
                if statement.integer is not None:
                    names.numbers[name] = statement.integer
            case TensorView(name=name) if id(statement) in known:
                names.layouts[name] = _layouts(statement, known[id(statement)], names.numbers)
            case PartitionView(name=name, source=source):
                names.layouts[name] = names.layouts.get(source, ())
            case Allocation() | Other():
                for name, wrong in _declared(statement, profile, names):
                    yield JudgedStatement(statement.line, name, Judgement(profile.name, wrong))
        for inner in statement.regions:
            yield from judged_statements(inner, profile, names.inner(), known)


def _layouts(statement: TensorView, known: KnownNames, numbers: Mapping[str, int]) -> tuple[str, ...]:
    """Return the layouts that a view may have; none where folded arithmetic may tell."""
    if (written := written_layout(statement.attributes)) is not None:
        return (written,)
    element = statement.type.element if isinstance(statement.type, OtherType) else None
    if known.derived or element is None:
        return ()
    return inferred_orders(statement, element, {name: numbers[name] for name in known.constants})


def _declared(
    statement: Statement, profile: Profile, names: _Names
) -> Iterator[tuple[str, tuple[Violation, ...]]]:
    """Yield what a statement declares of a tile, and what is wrong with it."""
    match statement:
        case Allocation(name=name, type=TileType() as written, address=address):
            if (tile := tile_of_type(written, profile)) is not None:
                names.tiles[name] = tile
                wrong = tile_violations(name, tile, profile)
                if address is not None and (number := names.number(address)) is not None:
                    wrong += address_violations(tile, number, profile)
                yield f"alloc_tile {name}", wrong
        case Other(name=operation) if operation.removeprefix("pto.") == "tassign":
            text = " ".join(piece for piece in statement.pieces if isinstance(piece, str))
            found = _ASSIGNED.search(text)
            for name in statement.values[:1]:
                if found is not None and name in names.tiles:
                    yield f"tassign {name}", address_violations(names.tiles[name], int(found[1], 0), profile)
