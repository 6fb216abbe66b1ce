"""Judging a whole PTO text: every statement, and the tiles and addresses it declares.

Rules on a sequence of statements (flags, hazards, phases) are not judged here.
"""

from __future__ import annotations

import re
from collections import ChainMap, Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from .legality import Findings, address_violations, judge, tile_violations
from .resolution import resolve_known, tile_of_type
from .targets import Profile
from .text.instructions import InstructionStatement
from .text.module import Module, Other
from .text.statements import Allocation, ConstantDefinition
from .text.syntax import Region, Statement
from .text.types import TileType
from .tile import Tile

_ASSIGNED = re.compile(r"@\w+\s*\(\s*(0x[0-9a-fA-F]{1,16}|[0-9]{1,18})\s*\)")
"""The address in ``pto.tassign %tile, @tile(0x1000)``."""


@dataclass(frozen=True)
class StatementFindings:
    """What the rules say about a statement of a text.

    Attributes
    ----------
    line : int
        Where it stands.
    statement : str
        What it is, shortly.
    findings : Findings
        What is wrong with it.
    """

    line: int
    statement: str
    findings: Findings


@dataclass(frozen=True)
class _Names:
    """What names stand for at some place in a text."""

    numbers: ChainMap[str, int] = field(default_factory=ChainMap)
    tiles: ChainMap[str, Tile] = field(default_factory=ChainMap)

    def inner(self) -> _Names:
        return _Names(self.numbers.new_child(), self.tiles.new_child())

    def number(self, written: str) -> int | None:
        if written in self.numbers:
            return self.numbers[written]
        return int(written, 0) if re.fullmatch(r"0x[0-9a-fA-F]{1,16}|[1-9][0-9]{0,17}|0", written) else None


def judge_module(module: Module, profile: Profile) -> Iterator[StatementFindings]:
    """Judge every instruction, allocation and address assignment, in the order of the text."""
    yield from _judge_block(module.body, profile, _Names())


def unjudged(module: Module) -> dict[str, int]:
    """Return the operations on tiles that no rule knows, as the text has them, and how often they occur."""
    return Counter(
        statement.name.strip('"')
        for statement in module.walk()
        if isinstance(statement, Other) and _on_tiles(statement)
    )


def _on_tiles(statement: Other) -> bool:
    named = statement.name.strip('"').startswith("pto.") and statement.name != "pto.tassign"
    return named and any(isinstance(piece, str) and "!pto.tile" in piece for piece in statement.pieces)


def _judge_block(block: Region, profile: Profile, names: _Names) -> Iterator[StatementFindings]:
    for statement in block:
        match statement:
            case InstructionStatement(operation=operation):
                found = judge(resolve_known(statement, profile))
                yield StatementFindings(statement.line, operation.name, found)
            case ConstantDefinition(name=name):
                if statement.integer is not None:
                    names.numbers[name] = statement.integer
            case Allocation() | Other():
                yield from _declaration(statement, profile, names)
        for region in statement.regions:
            yield from _judge_block(region, profile, names.inner())


def _declaration(statement: Statement, profile: Profile, names: _Names) -> Iterator[StatementFindings]:
    match statement:
        case Allocation(name=name, type=TileType() as written, address=address):
            tile = tile_of_type(written, profile)
            if tile is not None:
                names.tiles[name] = tile
                wrong = [*tile_violations(name, tile, profile)]
                if address is not None and (number := names.number(address)) is not None:
                    wrong += address_violations(tile, number, profile)
                yield StatementFindings(statement.line, f"alloc_tile {name}", Findings(tuple(wrong), ()))
        case Other(name=operation) if operation.removeprefix("pto.") == "tassign":
            text = " ".join(piece for piece in statement.pieces if isinstance(piece, str))
            found = _ASSIGNED.search(text)
            for name in statement.values[:1]:
                if found is not None and name in names.tiles:
                    wrong = [*address_violations(names.tiles[name], int(found[1], 0), profile)]
                    yield StatementFindings(statement.line, f"tassign {name}", Findings(tuple(wrong), ()))
