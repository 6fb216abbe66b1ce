"""Instruction words: VOP3P-MAI, 64 bits, little-endian, of instructions on a target.

Source: AMD, "AMD Instinct MI300" Instruction Set Architecture, VOP3P-MAI; checked against llvm-mc.
"""

from __future__ import annotations

from types import MappingProxyType

from ..errors import InputError
from .catalogue import MatrixMultiply
from .instructions import OPERANDS, Constant, Registers, Written
from .targets import Target

FIELDS = MappingProxyType(
    {
        "d": (0, 8), "cbsz": (8, 3), "abid": (11, 4), "accumulators_cd": (15, 1), "opcode": (16, 7),
        "format": (23, 9), "a": (32, 9), "b": (41, 9), "c": (50, 9), "accumulators_a": (59, 1),
        "accumulators_b": (60, 1), "blgp": (61, 3),
    }
)  # fmt: skip
"""Lowest bit and width of each field; together they are all 64 bits."""

FORMAT = 0x1A7
"""What the field ``format`` has in every MFMA."""

REGISTER = 256
"""Codes from here on are registers in the fields ``a``, ``b`` and ``c``."""


def encode(written: Written, target: Target) -> int:
    """Return the word of a legal instruction.

    Raises
    ------
    InputError
        If operands are missing, or the target does not have the instruction.
    """
    row = written.on(target)
    opcode = None if row is None else row.opcode(target)
    if row is None or opcode is None or written.operands is None:
        raise InputError(f"{written} has no encoding on {target.name}")
    given, fields = written.given, {"format": FORMAT, "opcode": opcode}
    for name in OPERANDS:
        operand = given[name]
        if isinstance(operand, Registers):
            fields[name] = operand.first + (REGISTER if name != "d" else 0)
        elif (code := operand.code(_constant_bits(row))) is not None:
            fields[name] = code
    fields["accumulators_cd"] = int(target.unified_registers and _in_accumulators(given["d"]))
    fields["accumulators_a"], fields["accumulators_b"] = (int(_in_accumulators(given[n])) for n in "ab")
    fields |= {name: written.modifier(name) for name in ("cbsz", "abid")}
    fields["blgp"] = written.modifier("neg") or written.modifier("blgp")
    word = 0
    for name, (low, width) in FIELDS.items():
        if fields.get(name) not in range(1 << width):
            raise InputError(f"{written} has no encoding on {target.name}: {name} does not fit")
        word |= fields[name] << low
    return word


def _in_accumulators(operand: Registers | Constant) -> bool:
    return isinstance(operand, Registers) and operand.file == "a"


def _constant_bits(row: MatrixMultiply) -> int:
    return 64 if row.is_double else 32
