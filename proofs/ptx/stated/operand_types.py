"""What PTX's operands may be: types of registers, constants, and _, by operand and element type.

Sources: PTX ISA 9.1 sections 9.7.14.4 to 9.7.14.6 (fragments), 9.2 (operand type checking), 4.5 (constants);
ptxas of CUDA 13.0 on every type.
"""

from __future__ import annotations

from ...text_tables import table

TYPES = ("b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f16x2",
         "bf16", "bf16x2", "f32", "f64", "pred", "b128")  # fmt: skip
"""Types that a register may be declared with, and some that no operand takes."""

CONSTANTS = {"integer": "5", "0f": "0f3F800000", "0d": "0d3FF0000000000000", "decimal": "1.5"}
"""A constant of each spelling."""


OPERANDS = {
    (row["operand"], element): (row["registers"].split(), row["constants"].split())
    for row in table(__package__, "operand_types_operands")
    for element in (row["element type"].split() or [""])
}
"""Types of registers, and constants that may stand for one, by operand and element type."""


def operand(role: str, opcode: str, types: tuple[str, ...]) -> tuple[str, str]:
    """Return which operand a role is, and its element type.

    Parameters
    ----------
    role : str
        As the syntax lines name it.
    opcode : str
        Without modifiers.
    types : tuple of str
        The element types of the mnemonic: D A B C, D C, or the one that is moved.
    """
    if role == "p":
        return "address", ""
    if role in ("metadata", "stride"):
        return role, ""
    if role.startswith(("scale", "selectors")):
        return role.partition("_")[0], ""
    if opcode in ("ldmatrix", "stmatrix", "movmatrix"):
        return "row", types[0]
    if len(types) == 1:
        return ("accumulator" if opcode[-1] in "cd" else "factor"), types[0]
    of = {"d": types[0], "c": types[-1 if len(types) < 5 else 3]}
    if role in of:
        return "accumulator", of[role]
    return "factor", "f16" if len(types) == 2 else types[1 if role == "a" else 2]


def reads(role: str, opcode: str) -> bool:
    """Whether an instruction reads an operand; it writes the others."""
    if opcode.startswith("wmma.load"):
        return role not in "abc"
    return role != "d" or opcode.startswith("wmma.store")
