"""Instruction words: VOP3P-MAI, 64 bits, little-endian, to and from instructions of a target.

Source: AMD, "AMD Instinct MI300" Instruction Set Architecture, VOP3P-MAI; checked against llvm-mc.
"""

from __future__ import annotations

from types import MappingProxyType

from ..errors import InputError
from .catalogue import MatrixMultiply, on
from .instructions import INLINE_FLOATS, INVERSE_OF_TWO_PI, OPERANDS, Constant, Registers, Written
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
        if not 0 <= fields.get(name, -1) < 1 << width:
            raise InputError(f"{written} has no encoding on {target.name}: {name} does not fit")
        word |= fields[name] << low
    return word


def _in_accumulators(operand: Registers | Constant) -> bool:
    return isinstance(operand, Registers) and operand.file == "a"


def _constant_bits(row: MatrixMultiply) -> int:
    return 64 if row.is_double else 32


def decode(word: int, target: Target) -> Written:
    """Return the instruction of a word, under the name that the target prints.

    Raises
    ------
    InputError
        If the word is no instruction of the target that is modelled.
    """
    fields = {name: word >> low & ((1 << width) - 1) for name, (low, width) in FIELDS.items()}
    row = next((row for row in on(target) if row.opcode(target) == fields["opcode"]), None)
    sources = [fields[name] >= REGISTER for name in "abc"]
    constant = None if sources[2] else _constant(fields["c"])
    known = fields["format"] == FORMAT and word >> 64 == 0 and all(sources[:2])
    if row is None or not known or (not sources[2] and constant is None):
        raise InputError(f"{word:#018x} is no dense MFMA of {target.name}")
    if not target.unified_registers and (fields["accumulators_cd"] or constant):
        raise InputError(f"{word:#018x} is no dense MFMA of {target.name}: C and D are AGPRs there")
    in_accumulators = {
        "a": fields["accumulators_a"],
        "b": fields["accumulators_b"],
        **dict.fromkeys("cd", fields["accumulators_cd"] or not target.unified_registers),
    }
    operands = tuple(
        constant
        if name == "c" and constant is not None
        else Registers("va"[in_accumulators[name]], fields[name] % REGISTER, row.registers(name))
        for name in OPERANDS
    )
    last = "neg" if row.is_double and target.negates else "blgp"
    modifiers = {"cbsz": fields["cbsz"], "abid": fields["abid"], last: fields["blgp"]}
    return Written(row.names(target)[0], operands, tuple((n, v) for n, v in modifiers.items() if v))


def _constant(code: int) -> Constant | None:
    if 128 <= code <= 208:
        value = code - 128 if code <= 192 else 192 - code
        return Constant(value, str(value))
    if code == INVERSE_OF_TWO_PI:
        return Constant(0.15915494309189532, "0.15915494309189532")
    return next((Constant(n, str(n)) for n, known in INLINE_FLOATS.items() if known == code), None)
