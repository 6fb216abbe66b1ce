"""Ends of a size: how many tiles there are before a block, and how many behind it."""

from __future__ import annotations

from dataclasses import dataclass, replace

_MOST_SPLITS = 3
"""How often one end of a size is split."""


@dataclass(frozen=True)
class Side:
    """How many whole tiles there are on one side of a block: one number, or from there on."""

    least: int = 0
    exact: bool = False

    def halves(self) -> tuple[Side, Side] | None:
        """Return the least number alone, and all others."""
        if self.exact or self.least >= _MOST_SPLITS:
            return None
        return Side(self.least, True), Side(self.least + 1)


@dataclass(frozen=True)
class Ends:
    """A position by the tiles on both sides of its block.

    Attributes
    ----------
    before : Side
        Tiles before the block.
    behind : Side, optional
        Whole tiles behind it; None where the block's own is the last and need not be whole.
    most : int
        Whole tiles that there are at most, the block's included if it is one.
    step : int
        What the size is a multiple of; the tile where all tiles are whole.
    """

    before: Side
    behind: Side | None
    most: int
    step: int

    def halves(self, *, before: bool) -> list[Ends]:
        """Return the ends with one side split; empty where it is not split."""
        side = self.before if before else self.behind
        parts = side.halves() if side is not None else None
        found = [replace(self, before=part) if before else replace(self, behind=part) for part in parts or ()]
        return found if all(each.is_possible for each in found) else found[:1] if found else []

    @property
    def is_possible(self) -> bool:
        """Whether any size has such a position."""
        if self.behind is None:
            return self.before.least <= self.most
        return self.before.least + self.behind.least < self.most

    def largest(self, tile: int) -> int | None:
        """Return the largest size that has such a position; None where that is not told by it."""
        if not self.before.exact or (self.behind is not None and not self.behind.exact):
            return None
        tiles = self.before.least + 1
        if self.behind is not None:
            tiles += self.behind.least + (self.step != tile)
        return tile * tiles

    @property
    def name(self) -> str:
        """Which blocks these are."""
        sides = [(self.before, "before"), *([(self.behind, "behind")] if self.behind is not None else [])]
        return ", ".join(
            f"{side.least}{'' if side.exact else ' or more'} {where} it"
            for side, where in sides
            if side != Side()
        )
