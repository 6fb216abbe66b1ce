"""What tables of PTO's statements spell, as tiles, and the rules a statement breaks, as they list them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from ...spec.pto.element_types import ELEMENT_TYPES
from ...spec.pto.legality import RULES
from ...spec.pto.resolution import Resolved
from ...spec.pto.rules.enforcement import findings
from ...spec.pto.tile import DYNAMIC, Compact, Extent, Location, Order, Tile
from ..text_tables import rows
from .stated.operand_spelling import SpelledTile, operand


def stated_table(name: str) -> list[list[dict[str, str]]]:
    """Return the tables of a file of `stated`: an empty line is between them."""
    text = files(f"{__package__}.stated").joinpath(name).read_text(encoding="utf-8")
    return [rows(table) for table in text.split("\n\n")]


@cache
def spelled_tile(text: str, profile: str) -> Tile:
    """Return the tile that a table spells for a profile.

    Raises
    ------
    ValueError
        If it is the type of something else.
    """
    spelled = operand(text, profile)
    if not isinstance(spelled, SpelledTile):
        raise ValueError(f"{text} is no tile")
    rows_valid, columns_valid = map(_extent, spelled.valid)
    return Tile(
        Location(spelled.place), ELEMENT_TYPES[spelled.element], spelled.rows, spelled.columns, rows_valid,
        columns_valid, Order(spelled.blocks), Order(spelled.inner), spelled.fractal,
        compact=Compact(spelled.compact),
    )  # fmt: skip


def _extent(text: str) -> Extent:
    return DYNAMIC if text == "?" else int(text)


def rules_of(resolved: Resolved) -> str:
    """Return the rules that a statement breaks, then in parentheses those that forbid nothing; else ``-``."""
    found = {
        violation.rule.id if kind.forbids else f"({violation.rule.id})"
        for kind, violation in findings(RULES, resolved, resolved.profile, resolved.operation)
    }
    return " ".join(sorted(found, key=lambda name: (name.startswith("("), name))) or "-"
