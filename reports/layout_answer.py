"""What ``layout`` answers: who holds which element of an operand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal, TypedDict

from ..spec.element_table import ElementTable
from ..spec.json_fields import Keyword

SCHEMA: Final = 1

_PLACES = (
    ("lane",),
    ("register", "field", "byte", "bit"),
    ("block", "offset", "byte", "bit"),
    ("line", "offset", "byte", "bit"),
)
"""By what holders are named."""

Element = Annotated[dict[str, int], Keyword("anyOf", [{"required": list(names)} for names in _PLACES])]
"""Who holds an element, then its coordinates."""


class LayoutDocument(TypedDict):
    """What `layout --format json` prints.

    Attributes
    ----------
    schema : int
        Version of the document.
    instr, operand : str
        What was asked about.
    format : str
        Element type.
    bits : int
        Width of an element.
    formula : str
        The layout in the direction that the instruction set states.
    axes : mapping of str to int
        Extents of the operand.
    elements : list of Element
        Who holds each element, then its coordinates.
    """

    schema: Literal[1]
    instr: str
    operand: str
    format: str
    bits: int
    formula: str
    axes: dict[str, int]
    elements: list[Element]


@dataclass(frozen=True)
class LayoutAnswer:
    """An answer.

    Attributes
    ----------
    instr, operand : str
        What was asked about.
    table : ElementTable
        The elements and their holders.
    others : callable
        Returns the answers about the instruction's other operands.
    """

    instr: str
    operand: str
    table: ElementTable

    others: Callable[[], Sequence[LayoutAnswer]] = field(default=tuple, repr=False, compare=False)

    @property
    def formula(self) -> str:
        """The layout in the direction that the instruction set states."""
        return self.table.formula

    def rows(self) -> list[dict[str, int]]:
        """Return one row for each element: who holds it, then where it is."""
        return self.table.rows()

    def held_by(self, owner: str, number: int) -> LayoutAnswer:
        """Return what one owner holds; see `ElementTable.held_by`."""
        return LayoutAnswer(self.instr, self.operand, self.table.held_by(owner, number))

    def at(self, *coordinates: int) -> LayoutAnswer:
        """Return who holds one element; see `ElementTable.at`."""
        return LayoutAnswer(self.instr, self.operand, self.table.at(*coordinates))

    def document(self) -> LayoutDocument:
        """Return the JSON document."""
        table = self.table
        return {
            "schema": SCHEMA,
            "instr": self.instr,
            "operand": self.operand,
            "format": table.format,
            "bits": table.bits,
            "formula": table.formula,
            "axes": {axis.name: axis.extent for axis in table.axes},
            "elements": table.rows(),
        }

    def page(self) -> str:
        """Return a web page that shows this operand, and on request the others."""
        from .layout_drawing import page

        return page(self.instr, {other.operand: other.table for other in (self, *self.others())})

    def _repr_svg_(self) -> str:
        from .layout_drawing import svg

        return svg(self.table)
