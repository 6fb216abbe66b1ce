"""An operand's elements as a picture: a square for each, coloured and labelled by who holds it."""

from __future__ import annotations

from typing import NamedTuple

from ..spec.element_table import ElementTable
from .element_grids import cell_text, grid_name, grids, owner_text

CELL, MARGIN, LEGEND = 46, 44, 22
"""Units of the picture: the side of a square, the space around grids, the height of a row of the legend."""

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
    """A text: where it ends, and what it is."""

    x: int
    y: int
    text: str


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
    return _rendered("layout.svg.j2", picture(table))


def page(table: ElementTable) -> str:
    """Return a web page with the picture and the formula."""
    return _rendered("layout.html.j2", picture(table))


def picture(table: ElementTable) -> Picture:
    """Return what is drawn: one grid beneath another, then who the colours stand for."""
    first, second = table.axes[-2:]
    squares: list[Square] = []
    labels: list[Label] = []
    width = max(second.extent * CELL, 8 * CELL) + 2 * MARGIN
    bottom = 0
    for leading, grid in grids(table).items():
        top = bottom + 2 * MARGIN
        labels.append(Label(MARGIN, top - MARGIN, grid_name(table, leading)))
        labels += [
            Label(MARGIN + column * CELL + CELL // 2, top - 8, str(column)) for column in range(second.extent)
        ]
        for row in range(first.extent):
            labels.append(Label(MARGIN - 14, top + row * CELL + CELL // 2 + 4, str(row)))
        for (row, column), held in sorted(grid.items()):
            place = f"{first.name} {row}, {second.name} {column}"
            holders = "; ".join(", ".join(f"{name} {each[name]}" for name in table.holders) for each in held)
            x, y = MARGIN + column * CELL, top + row * CELL
            owner = held[0][table.owners.name]
            squares.append(Square(x, y, owner, cell_text(table, held), f"{place}: {holders}"))
        bottom = top + first.extent * CELL
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
    labels.append(Label(MARGIN, bottom + MARGIN - 8, f"{table.owners.name}s"))
    colours = [_colour(owner) for owner in owners]
    return Picture(table.title, table.formula, width, height, CELL, squares, labels, legend, colours)


def _colour(owner: int) -> Colour:
    hue = owner % HUES * 360 // HUES
    shade = owner // HUES % 4
    return Colour(owner, f"hsl({hue}, 75%, {90 - 7 * shade}%)", f"hsl({hue}, 45%, {20 + 7 * shade}%)")


def _rendered(template: str, drawn: Picture) -> str:
    from .html import environment

    return environment().get_template(template).render(drawn._asdict()) + "\n"
