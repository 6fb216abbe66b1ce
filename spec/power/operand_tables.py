"""Who holds which element of an operand of a rank-k update, as a table: VSRs, and rows of an accumulator."""

from __future__ import annotations

from ..element_table import ElementTable, fragment_table
from ..errors import InputError
from .instructions import Instruction
from .registers import accumulator_fragment, x_fragment, y_fragment

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
    if (update := instruction.form.update) is None:
        raise InputError(f"{instruction.mnemonic} is no rank-k update; only their x, y and acc have elements")
    if operand not in OPERANDS:
        raise InputError(f"{instruction.mnemonic} has no operand {operand!r}; it has {', '.join(OPERANDS)}")
    family = update.family
    held = {
        "x": x_fragment(family),
        "y": y_fragment(family),
        "acc": accumulator_fragment(family.result),
    }[operand]
    formula = held.layout.inverted.formula
    return fragment_table(f"{operand} of {instruction}", held, number="field", formula=formula)
