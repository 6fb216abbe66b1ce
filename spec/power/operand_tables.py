"""Who holds which element of an operand of a rank-k update, as a table: VSRs, and rows of an accumulator."""

from __future__ import annotations

from ..algebra import Array
from ..element_table import ElementTable, element_table
from ..errors import InputError
from .catalogue import RankKUpdate
from .instructions import Instruction
from .registers import REGISTER_BITS, accumulator_layout, x_layout, y_layout

OPERANDS = ("x", "y", "acc")
"""The operands that have elements."""


def operand_table(instruction: Instruction, operand: str) -> ElementTable:
    """Return which register holds which element of an operand.

    A register is counted from the operand's first: VSR XA of ``x`` (f64: the pair XA and XA + 1), XB of
    ``y``, row 0 of ``acc``, which is VSR 4·AT when the accumulator is moved. Fields, bytes and bits of a
    register are numbered as the ISA does, from the most significant; a byte or bit is an element's first.

    Raises
    ------
    InputError
        If the instruction is no rank-k update, or has no such operand.
    """
    update = instruction.operation
    if not isinstance(update, RankKUpdate):
        raise InputError(f"{instruction.mnemonic} is no rank-k update; only their x, y and acc have elements")
    if operand not in OPERANDS:
        raise InputError(f"{instruction.mnemonic} has no operand {operand!r}; it has {', '.join(OPERANDS)}")
    family = update.family
    layout, fmt = {
        "x": (x_layout(family), family.x),
        "y": (y_layout(family), family.y),
        "acc": (accumulator_layout(family.result), family.result),
    }[operand]
    width = REGISTER_BITS // layout.target[1].extent

    def holders(register: Array, field: Array) -> dict[str, Array]:
        bit = field * width
        return {"register": register, "field": field, "byte": bit // 8, "bit": bit}

    return element_table(
        f"{operand} of {instruction}", str(fmt), fmt.bits, layout.inverted, holders, formula=layout.formula
    )
