"""Who holds which element of an operand, as a table: lanes, and their registers counted from the first."""

from __future__ import annotations

from ..algebra import Array
from ..element_table import ElementTable, element_table
from ..errors import InputError
from .catalogue import MatrixMultiply
from .layouts import layout
from .targets import Target


def operand_table(row: MatrixMultiply, operand: str, target: Target) -> ElementTable:
    """Return which lane holds which element of an operand.

    Raises
    ------
    InputError
        If there is no such operand.
    """
    if operand not in row.types:
        raise InputError(f"{row} has no operand {operand!r}; it has {', '.join(row.types)}")
    fmt = target.format(row.types[operand])

    def holders(lane: Array, element: Array) -> dict[str, Array]:
        bit = element * fmt.bits
        return {"lane": lane, "element": element, "register": bit // 32, "bit": bit % 32}

    return element_table(f"{operand} of {row}", str(fmt), fmt.bits, layout(row, operand), holders)
