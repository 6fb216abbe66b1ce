"""Where a vector of one register, ``{%r40}``, may stand for the register: scale factors and metadata.

ptxas takes the braces at these operands and no other, where the instruction is one of the target's own. Where
it expands ``mma.sp`` to other instructions, its own code does not suit a vector, and it fails.

Source: ptxas of CUDA 13.0, run at every operand that is one register, for every sparse row of the catalogue
on every target.
"""

from __future__ import annotations

from .instructions import Instruction
from .operands import Register, Vector
from .targets import Target
from .variant import Family, Variant

METADATA = 4
"""Place of the metadata among the operands of ``mma.sp``."""


def braced_metadata(instruction: Instruction) -> Register | None:
    """Return the register of metadata that is written as a vector."""
    if instruction.variant.family is not Family.MMA_SP or len(instruction.operands or ()) <= METADATA:
        return None
    match (instruction.operands or ())[METADATA]:
        case Vector((Register() as register,)):
            return register
    return None


def refuses_braces(variant: Variant, target: Target) -> bool:
    """Whether ptxas expands a sparse product on a target, so that it takes no braces around the metadata."""
    match variant.element_types.get("a"):
        case "s4" | "u4":
            return target.number >= 90
        case "f16" | "s8" | "u8":
            return target.number >= 100 and not variant.ordered_metadata
        case "e4m3" | "e5m2":
            return variant.kind is None and 90 <= target.number < 120
    return False
