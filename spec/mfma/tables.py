"""The table of MFMA, generated from the catalogue."""

from __future__ import annotations

from .catalogue import ROWS, MatrixMultiply
from .targets import TARGETS

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
