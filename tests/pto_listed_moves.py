"""Operands of PTO's moves as the table of listed verdicts spells them, read without the specification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from mmaproof.proofs.pto.stated import names as spelling
from mmaproof.proofs.pto.stated import tables

WIDTHS = {name: width for width, names in tables.BYTES.items() for name in names}

Extents = Sequence[int | None]


def number(text: str) -> int | None:
    return None if text == "?" else int(text)


@dataclass
class Listed:
    """A tile as the table spells it, on a profile."""

    text: str
    profile: str

    def __post_init__(self) -> None:
        self.place, extent, order, *rest = self.text.split()
        rows, columns, self.element = extent.split("x", 2)
        self.rows, self.columns = int(rows), int(columns)
        self.order = spelling.LEFT[self.profile] if order == "L" else order
        if self.place == "left" and self.profile != "CPU":  # a text's order of the blocks is replaced
            by_rows = self.profile == "A2A3"
            unboxed = self.order in ("ND", "DN")
            self.order = ("ND" if by_rows else "DN") if unboxed else "NZ"[by_rows] + self.order[1]
        named = dict(each.split("=") for each in rest)
        self.valid = [number(each) for each in named.get("valid", f"{rows}x{columns}").split("x")]
        usual = {"acc": 1024, "scale_left": 32, "scale_right": 32}.get(self.place, 512)
        self.fractal = int(named.get("fractal", usual))
        self.width = WIDTHS[self.element]
        self.boxed, self.inner_rows = self.order[0] in "ZN" and self.order[1] in "zn", self.order[1] == "z"
        self.row_bytes = self.columns * self.width

    @property
    def extent(self) -> tuple[int, int]:
        return self.rows, self.columns

    @property
    def box(self) -> tuple[int, int]:
        along = {512: 32 // self.width, 1024: 16, 32: 2}[self.fractal]
        return (16, along) if self.inner_rows else (along, 16)

    def last(self) -> int:
        """Return the greatest element offset of a corner; a single row of 16-row boxes is linear."""
        if not self.boxed or (self.rows == 1 and self.inner_rows):
            return self.rows * self.columns - 1
        high, wide = self.box
        row_stride, column_stride = (self.columns * high, high * wide)
        if self.order[0] == "N":
            row_stride, column_stride = (high * wide, self.rows * wide)
        corners = product({0, self.rows - 1}, {0, self.columns - 1})
        inner = (wide, 1) if self.inner_rows else (1, high)
        return max(
            r // high * row_stride + c // wide * column_stride + r % high * inner[0] + c % wide * inner[1]
            for r, c in corners
        )


@dataclass
class View:
    """A view of global memory: at most five dimensions, open ones None."""

    text: str

    def __post_init__(self) -> None:
        spelled = self.text.split()[1]
        self.element = spelled.lstrip("0123456789x?")
        shape = spelled.removesuffix(self.element).split("x")[:-1]
        self.rank, self.place, self.width = len(shape), "memory", WIDTHS[self.element]
        self.shape = [1] * (5 - len(shape)) + [number(each) for each in shape]

    def holds(self, rows: int | None, columns: int | None) -> bool:
        """Whether it has so many rows and columns as ND, DN or NZ."""
        orders: list[tuple[list[int], list[int]]] = [([0, 1, 2, 3], [4])]
        if self.rank > 2:
            orders += [([3], [0, 1, 2, 4]), ([2, 3], [0, 1, 4])]

        def enough(axes: list[int], needed: int | None) -> bool:
            extents = [extent for axis in axes if (extent := self.shape[axis]) is not None]
            return needed is None or len(extents) < len(axes) or prod(extents) >= needed

        return any(enough(first, rows) and enough(second, columns) for first, second in orders)


@dataclass
class Move:
    """A row of the table on a profile."""

    operation: str
    source: Listed | View | None
    target: Listed | View | None
    given: dict[str, str]
    profile: str

    @property
    def route(self) -> tuple[str, str]:
        return self.source.place if self.source else "", self.target.place if self.target else ""

    @property
    def simulated(self) -> bool:
        return self.profile == "CPU"

    @property
    def quantised(self) -> bool:
        by = self.given.get("q", "")
        return (bool(by) and by.split()[0] in ("i64", "scaling")) or "quantPre" in self.given

    @property
    def tiles(self) -> tuple[Listed, Listed] | None:
        if isinstance(self.source, Listed) and isinstance(self.target, Listed):
            return self.source, self.target
        return None

    def index(self, name: str) -> int:
        return int(self.given.get(name, 0))


def read(text: str, profile: str) -> Listed | View | None:
    """Return the tile or the view that the table spells; None for anything else."""
    if text.startswith("view "):
        return View(text)
    return Listed(text, profile) if len(text.split()) > 2 else None
