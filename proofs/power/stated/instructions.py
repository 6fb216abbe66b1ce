"""Instructions, built-ins and kernels of Power MMA, as the ISA, the assemblers and Moreira et al. print them.

Words are whole, with every operand 0, and a second time put together from opcodes. Sources: Power ISA 3.1
Book I, sections 7.2 and 7.6 and the instruction formats XX3, X, DQ, D, B and MMIRR (field positions); Book I
appendix of opcodes (words); Moreira et al., "A matrix math facility for Power ISA processors", Table I.

A is the accumulator, x, y, z and t are vectors, Q is a pair of vectors; u2, u4 and u8 are literals of so many
bits. The table's xvi4ger8[ppp] is written [pp], as in Table I: see the contradiction table-2-suffix.
"""

from __future__ import annotations

import re

from ...text_tables import bits, table

UPDATES = {row["mnemonic"]: row for row in table(__package__, "updates")}
"""The 29 rank-k updates; `accumulator` is the sign of the old accumulator, empty where it is not read."""

MASKS = {
    row.pop("X and Y"): {mask: tuple(bits(at)) for mask, at in row.items() if at}
    for row in table(__package__, "masks")
}
"""The bits of the prefix that each mask of a ``pm`` form occupies, by the type of X."""

PREFIX = 0x07900000
"""The prefix of every ``pm`` form, with the masks 0."""

_OPCODES = {row["mnemonic"]: row for row in table(__package__, "opcodes")}


def word_of_opcodes(mnemonic: str) -> int:
    """Put a word together from primary and extended opcode and fixed fields, with every operand 0.

    A rank-k update has primary opcode 59 and the extended one in bits 21 to 28; its prefix has primary opcode
    1, type 3 (modified, in bits 6 and 7) and the subtype 9 in bits 8 to 11.
    """
    row = UPDATES.get(mnemonic.removeprefix("pm"))
    if row is not None:
        suffix = 59 << 26 | int(row["XO"]) << 3
        return (1 << 26 | 3 << 24 | 9 << 20) << 32 | suffix if mnemonic.startswith("pm") else suffix
    opcodes = _OPCODES[mnemonic]
    found = int(opcodes["PO"]) << 26
    for field in (opcodes["XO"], opcodes["others"]):
        if field:
            value, _, at = field.partition(" at ")
            found |= int(value) << 31 - max(bits(at))
    return found


FACTORS = {"D": 16, "target": 4, "XAp": 2, "XTp": 2, "XSp": 2}
"""The number that a value is divided by before it stands in its field."""


def operands(mnemonic: str) -> dict[str, tuple[int, ...]]:
    """Return an instruction's operands in the order of the text, and the bits each one occupies.

    Bits are numbered from the most significant one of the word; those of a ``pm`` form's word from 32 on.
    """
    word = mnemonic.removeprefix("pm")
    if word not in UPDATES:
        listed = (part.strip().partition(" ") for part in OTHERS[mnemonic]["operands"].split(","))
        return {name: tuple(bits(at)) for name, _, at in listed}
    pair = UPDATES[word]["X"] == "f64"
    found = {"AT": "6-8", "XAp" if pair else "XA": "29 11-14" if pair else "29 11-15", "XB": "30 16-20"}
    if word == mnemonic:
        return {name: tuple(bits(at)) for name, at in found.items()}
    suffix = {name: tuple(32 + bit for bit in bits(at)) for name, at in found.items()}
    return {**suffix, **MASKS[UPDATES[word]["X"]]}


OTHERS = {row["mnemonic"]: row for row in table(__package__, "others")}
"""The accumulator moves, the loads and stores, and what surrounds them in a loop."""

MNEMONICS = (*UPDATES, *(f"pm{mnemonic}" for mnemonic in UPDATES), *OTHERS)
"""Every instruction."""

TARGETS = {
    row["target"]: (float(row["ISA"]), row["accumulators of their own"] == "yes")
    for row in table(__package__, "targets")
}
"""The version of the ISA that processors implement, and whether accumulators are registers of their own."""


def isa(mnemonic: str) -> float:
    """Return the version of the Power ISA that introduced an instruction."""
    return float(OTHERS[mnemonic]["ISA"]) if mnemonic in OTHERS else 3.1


def word(mnemonic: str) -> int:
    """Return an instruction's word, or its prefix and word, with every operand 0."""
    if mnemonic in OTHERS:
        return int(OTHERS[mnemonic]["word"], 16)
    suffix = int(UPDATES[mnemonic.removeprefix("pm")]["word"], 16)
    return PREFIX << 32 | suffix if mnemonic.startswith("pm") else suffix


def _names(spelled: str) -> list[str]:
    """Return every name that brackets, each with one of its suffixes or none, stand for."""
    name, *brackets = re.split(r"[\[\]]+", spelled.rstrip("]"))
    names = [name]
    for suffixes in brackets:
        names = [known + suffix for known in names for suffix in ("", *suffixes.split(","))]
    return names


OPERANDS = {
    name: tuple(row["operands"].split())
    for row in table(__package__, "built_ins")
    for name in _names(row["built-in"])
}
"""Operands by built-in, without its ``__builtin_mma_``."""

VECTORS = {"A": 4, "Q": 2, "x": 1, "y": 1}
"""Vectors of 16 bytes that the operands have: a group of four, a pair, and one."""


LISTING = """
10001750: 40 00 a4 19 lxvp vs44,64(r4)
10001754: 60 00 24 18 lxvp vs32,96(r4)
10001758: 40 00 a5 38 addi r5,r5,64
1000175c: 40 00 84 38 addi r4,r4,64
10001760: 09 00 05 f5 lxv vs40,0(r5)
10001764: 19 00 25 f5 lxv vs41,16(r5)
10001768: 29 00 45 f5 lxv vs42,32(r5)
1000176c: 39 00 65 f5 lxv vs43,48(r5)
10001770: d6 41 0c ee xvf64gerpp a4,vs44,vs40
10001774: d6 41 80 ed xvf64gerpp a3,vs32,vs40
10001778: d6 49 8c ee xvf64gerpp a5,vs44,vs41
1000177c: d6 49 80 ec xvf64gerpp a1,vs32,vs41
10001780: d6 51 0c ef xvf64gerpp a6,vs44,vs42
10001784: d6 51 00 ed xvf64gerpp a2,vs32,vs42
10001788: d6 59 8c ef xvf64gerpp a7,vs44,vs43
1000178c: d6 59 00 ec xvf64gerpp a0,vs32,vs43
10001790: c0 ff 00 42 bdnz 10001750
"""
"""Figure 7: address, bytes in memory (little-endian), text."""
