"""An operand's elements as a picture: a square for each, coloured and labelled by who holds it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, NamedTuple

from ..spec.element_table import ElementTable
from .element_grids import MARKS, cell_text, grid_name, grids, owner_text
from .html import environment

CELL, MARGIN, LEGEND = 46, 44, 22
"""Units of the picture: the side of a square, the space around grids, the height of a row of the legend."""

BAND = 32
"""Columns beside each other; those of a wider grid go on beneath, where they can be read on a page."""

HUES = 8
"""Hues that are told apart; further owners take other lightnesses, and every square names its owner."""


class Square(NamedTuple):
    """A square: where it is, whose it is, what stands in it, and what is said of it when it is pointed at."""

    x: int
    y: int
    owner: int
    text: str
    title: str


class Label(NamedTuple):
    """A text, and which part of it is where: its ``start``, ``middle`` or ``end``."""

    x: int
    y: int
    text: str
    anchor: str


class Colour(NamedTuple):
    """The colours of an owner, on a light page and on a dark one."""

    owner: int
    light: str
    dark: str


class Picture(NamedTuple):
    """What a template draws."""

    title: str
    formula: str
    width: int
    height: int
    cell: int
    squares: list[Square]
    labels: list[Label]
    legend: list[Square]
    colours: list[Colour]


def svg(table: ElementTable) -> str:
    """Return the picture of an operand's elements as SVG that fits the width it is given."""
    return environment().get_template("layout.svg.j2").render(picture(table)._asdict()) + "\n"


def page(instruction: str, operands: Mapping[str, ElementTable]) -> str:
    """Return a web page of operands, beside each other, in which lanes and elements can be pointed at.

    Parameters
    ----------
    instruction : str
        What it is about.
    operands : mapping of str to ElementTable
        Its operands, by name; the first is shown at first.
    """
    data = [_data(name, table) for name, table in operands.items()]
    owners = {table.owners: MARKS[table.owners.name] for table in operands.values()}
    most = max(owner.extent for owner in owners)
    colours = [_colour(owner) for owner in range(most)]
    text = environment().get_template("layout.html.j2")
    return text.render(title=instruction, operands=data, colours=colours) + "\n"


def _data(name: str, table: ElementTable) -> dict[str, Any]:
    """Return what the page's program knows of an operand."""
    return {
        "name": name,
        "title": table.title,
        "formula": table.formula,
        "format": table.format,
        "axes": [[axis.name, axis.extent] for axis in table.axes],
        "owner": table.owners.name,
        "mark": MARKS[table.owners.name],
        "owners": table.owners.extent,
        "holders": list(table.holders),
        "elements": [list(row.values()) for row in table.rows()],
    }


def picture(table: ElementTable) -> Picture:
    """Return what is drawn: one grid beneath another, then who the colours stand for."""
    first, second = table.axes[-2:]
    squares: list[Square] = []
    labels: list[Label] = []
    width = max(min(second.extent, BAND), 8) * CELL + 2 * MARGIN
    bottom = 0
    for leading, grid in grids(table).items():
        top = bottom + (2 if leading else 1) * MARGIN
        labels.append(Label(MARGIN, top - MARGIN, grid_name(table, leading), "start"))
        below = first.extent * CELL + MARGIN  # from one band to the next
        for column in range(second.extent):
            x = MARGIN + column % BAND * CELL + CELL // 2
            labels.append(Label(x, top + column // BAND * below - 8, str(column), "middle"))
        bands = (second.extent + BAND - 1) // BAND
        for band, row in product(range(bands), range(first.extent)):
            y = top + band * below + row * CELL + CELL // 2 + 4
            labels.append(Label(MARGIN - 14, y, str(row), "end"))
        for (row, column), held in sorted(grid.items()):
            place = f"{first.name} {row}, {second.name} {column}"
            holders = "; ".join(", ".join(f"{name} {each[name]}" for name in table.holders) for each in held)
            x, y = MARGIN + column % BAND * CELL, top + column // BAND * below + row * CELL
            owner = held[0][table.owners.name]
            squares.append(Square(x, y, owner, cell_text(table, held), f"{place}: {holders}"))
        bottom = top + bands * below - MARGIN
    owners = sorted({square.owner for square in squares})
    across = (width - 2 * MARGIN) // CELL
    legend = [
        Square(
            MARGIN + (place % across) * CELL,
            bottom + MARGIN + place // across * LEGEND,
            owner,
            owner_text(table, owner),
            f"{table.owners.name} {owner}",
        )
        for place, owner in enumerate(owners)
    ]
    height = bottom + 2 * MARGIN + (len(owners) + across - 1) // across * LEGEND
    labels.append(Label(MARGIN, bottom + MARGIN - 8, f"{table.owners.name}s", "start"))
    colours = [_colour(owner) for owner in owners]
    return Picture(table.title, table.formula, width, height, CELL, squares, labels, legend, colours)


def _colour(owner: int) -> Colour:
    hue = owner % HUES * 360 // HUES
    shade = owner // HUES % 4
    return Colour(owner, f"hsl({hue}, 75%, {90 - 7 * shade}%)", f"hsl({hue}, 45%, {16 + 6 * shade}%)")
