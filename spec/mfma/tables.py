"""The tables of MFMA: its instructions, from the catalogue, and who holds which element of an operand."""

from __future__ import annotations

from typing import Any

from ..element_table import ElementTable, element_table
from ..errors import InputError
from .catalogue import ROWS, MatrixMultiply
from .layouts import layout
from .targets import TARGETS, Target

Row = dict[str, str]

SYNTAX = "D, A, B, C"
"""The operands; modifiers follow."""


def row(instruction: MatrixMultiply) -> Row:
    """Return an instruction's row."""
    having = [target for target in TARGETS.values() if instruction.opcode(target) is not None]
    spellings = dict.fromkeys(name for target in having for name in instruction.names(target))
    opcodes: dict[int | None, list[str]] = {}
    for target in having:
        opcodes.setdefault(instruction.opcode(target), []).append(target.name)
    types = instruction.types
    return {
        "mnemonic": instruction.name,
        "operands": SYNTAX,
        "also": ", ".join(name for name in spellings if name != instruction.name),
        "shape": instruction.shape,
        "blocks": str(instruction.blocks),
        "A": types["a"],
        "B": types["b"],
        "C and D": types["c"],
        **{name.upper() + " registers": str(instruction.registers(name)) for name in "abcd"},
        "opcode": "; ".join(f"0x{code:02x} on {', '.join(names)}" for code, names in opcodes.items()),
        "targets": ", ".join(target.name for target in having),
    }


def rows() -> list[Row]:
    """Return one row for each instruction."""
    return [row(instruction) for instruction in ROWS]


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

    def holders(lane: Any, element: Any) -> dict[str, Any]:
        bit = element * fmt.bits
        return {"lane": lane, "element": element, "register": bit // 32, "bit": bit % 32}

    return element_table(f"{operand} of {row}", str(fmt), fmt.bits, layout(row, operand), holders)
