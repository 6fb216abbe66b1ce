"""The dense MFMAs and their words, by the names of CDNA3 and later, and by those of CDNA1 and CDNA2.

Sources: AMD CDNA4 ISA, chapter 7 and the format VOP3P-MAI; llvm-mc 14 to 22 (names, opcodes, numbers of
registers, targets), which took none of 149,544 lines with other numbers of registers.
"""

from __future__ import annotations

import re

from ...text_tables import table

TARGETS = ("gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950", "gfx9-4-generic")


_PROCESSORS = {
    "908": ("gfx908",),
    "90a": ("gfx90a",),
    "940": ("gfx940", "gfx941", "gfx942"),
    "950": ("gfx950",),
    "generic": ("gfx9-4-generic",),
}


FORMATS = {
    (row["type"], target): row[column]
    for row in table(__package__, "formats")
    for column in row
    if column != "type"
    for target in column.split()
}
"""The number format of an element type, as mnemonics spell it, on a target."""


def _spellings(row: dict[str, str]) -> list[str]:
    result = row["name"][:3]
    old, *suffix = row.get("also", "").split() or [""]
    return [
        row["name"],
        *([f"{result}_{old}"] if old else []),
        *(f"{result}_{old}_{each}" for each in suffix),
    ]


INSTRUCTIONS = {
    (target, f"v_mfma_{spelling}"): row
    for row in [*table(__package__, "later"), *table(__package__, "earlier")]
    for processor in row["targets"].split()
    for target in _PROCESSORS[processor]
    for spelling in _spellings(row)
}
"""Row of the tables by target and mnemonic."""


_NAME = re.compile(r"v_mfma_[a-z0-9]+_([0-9]+)x([0-9]+)x([0-9]+)(?:_[0-9]+b)?_?([a-z].*)")


def shape(name: str) -> tuple[int, int, int]:
    """Return M, N and K of an instruction by its name."""
    m, n, k = _parts(name)[:3]
    return int(m), int(n), int(k)


def types(name: str) -> tuple[str, str]:
    """Return the element types of A and B by an instruction's name."""
    a, _, b = _parts(name)[3].removesuffix("_1k").partition("_")
    return a, b or a


def permutes_lanes(mnemonic: str, target: str) -> bool:
    """Return whether AMD's calculator has ``blgp`` for an instruction of a target."""
    if "f64" in types(mnemonic):
        return False
    if target in ("gfx908", "gfx90a"):
        return True
    return types(mnemonic) == ("f32", "f32") or int(INSTRUCTIONS[target, mnemonic]["blocks"]) > 1


def _parts(name: str) -> tuple[str, ...]:
    found = _NAME.fullmatch(name)
    assert found is not None, name
    return found.groups()


def word(row: dict[str, str], fields: dict[str, int]) -> int:
    """Return the 64-bit word of an instruction: the given fields where the format has them."""
    found = 0xD3800000 | int(row["opcode"], 16) << 16
    for name, value in fields.items():
        found |= value << FIELDS[name]
    return found


FIELDS = {"D": 0, "cbsz": 8, "abid": 11, "AGPRs of C and D": 15, "A": 32, "B": 41, "C": 50,
          "AGPRs of A": 59, "AGPRs of B": 60, "blgp": 61}  # fmt: skip
"""The lowest bit of each field of a word."""

CONSTANTS = {
    **{str(number): 128 + number for number in range(65)},
    **{str(-number): 192 + number for number in range(1, 17)},
    "0.5": 240, "-0.5": 241, "1.0": 242, "-1.0": 243, "2.0": 244, "-2.0": 245, "4.0": 246, "-4.0": 247,
    "0.15915494309189532": 248,
}  # fmt: skip
"""The constants that C may be, and their codes."""
