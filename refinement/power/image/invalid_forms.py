"""Invalid forms: words with the opcode of an instruction whose operands the manual excludes.

What a processor does with one is undefined. GNU as and objdump refuse them, QEMU most.

Source: Power ISA 3.1 Book I section 1.6, chapters 2 (branches, CR) and 3 (loads and stores with update).
"""

from __future__ import annotations

from .fixed_point_forms import STORAGE
from .instruction_forms import Instruction, mnemonics

_STORAGE = frozenset(mnemonics(STORAGE))
_UPDATES = "(RA)", ",RA,RB"
"""How loads and stores end whose RA is updated."""


def invalid(instruction: Instruction) -> str | None:
    """Return why the form of an instruction is invalid, None if it is not.

    Parameters
    ----------
    instruction : Instruction
        One that was decoded.
    """
    given = {operand.name: value for operand, value in instruction.pairs}
    name = instruction.mnemonic
    if given.get("R") and given.get("RA0"):
        return f"R is 1, and RA is r{given['RA0']}, not 0"
    if name in _STORAGE and instruction.form.syntax.endswith(_UPDATES):
        if given["RA"] == 0:
            return "RA, which is updated, is 0"
        if given["RA"] == given.get("RT"):
            return f"r{given['RT']} is both loaded and updated"
    if name in ("bcctr", "bcctrl") and not given["BO"] & 4:
        return "CTR can't be both decremented and where to branch"
    if name in ("mtocrf", "mfocrf") and given["FXM"].bit_count() != 1:
        return f"FXM is {given['FXM']}, not one bit"
    return None
