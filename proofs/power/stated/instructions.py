"""The instruction table of Power MMA, as the ISA and the assemblers print it.

Words are whole, with every operand 0, and a second time put together from opcodes. Sources: Power ISA 3.1
Book I, sections 7.2 and 7.6 and the instruction formats XX3, X, DQ, D, B and MMIRR (field positions); Book I
appendix of opcodes (words); Moreira et al., "A matrix math facility for Power ISA processors", Table I.
"""

from __future__ import annotations

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
