"""The dense MFMAs, their words, their products on whole numbers, and what is not modelled.

Sources: AMD CDNA4 ISA, chapter 7 and the format VOP3P-MAI; llvm-mc 14 to 22 (names, opcodes, numbers of
registers, targets), which took none of 149,544 lines with other numbers of registers.

Sources: CDNA4 ISA, chapter 7 (operands in lanes, cbsz, abid, blgp); AMD matrix instruction calculator 1.3.2
(C and D of f64_4x4x4; neighbours for cbsz).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

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


Matrix = np.ndarray[Any, Any]


def lanes_of_factor(rows: int, blocks: int, held: int) -> tuple[Matrix, Matrix, Matrix]:
    """Return block, row and k of each element (lane, e) of A; of B with its columns for rows."""
    lane, e = np.indices((64, held))
    return lane // rows % blocks, lane % rows, held * (lane // (rows * blocks)) + e


def lanes_of_result(m: int, n: int, blocks: int, double: bool) -> tuple[Matrix, Matrix, Matrix]:
    """Return block, row and column of each element (lane, e) of C and D."""
    lane, e = np.indices((64, m * n * blocks // 64))
    run = 1 if double else 4
    across = max(1, 64 * run // (m * n))
    beside = 64 // (across * n)
    groups = m // (run * beside)
    row = e % run + run * (lane // n // across + beside * (e // run % groups))
    return lane // n % across + across * (e // run // groups), row, lane % n


def broadcast(lane: Matrix, rows: int, cbsz: int, abid: int, reading: str) -> Matrix:
    """Return the lane whose A each lane reads."""
    if reading == "lanes":
        repeated = 64 // 2**cbsz
        return np.asarray(lane % repeated + repeated * abid)
    block, within = lane // rows, lane % rows
    group: Matrix = block - block % 2**cbsz
    return np.where(cbsz > 0, (group + abid) * rows + within, lane)


def permuted(lane: Matrix, blgp: int) -> Matrix:
    """Return the lane whose B each lane reads."""
    readings: list[Matrix] = [
        lane, lane % 32, lane % 32 + 32, (lane + 16) % 64, lane % 16, lane % 16 + 16, lane % 16 + 32,
        lane % 16 + 48,
    ]  # fmt: skip
    return readings[blgp]


MODIFIED = (
    # instruction of gfx942, cbsz, abid, blgp
    ("f32_4x4x4_16b_f16", 1, 1, 0), ("f32_4x4x4_16b_f16", 2, 3, 1), ("f32_4x4x4_16b_f16", 4, 13, 2),
    ("f32_16x16x4_4b_f16", 1, 0, 3), ("f32_16x16x4_4b_f16", 2, 2, 4), ("f32_32x32x4_2b_f16", 1, 1, 5),
    ("i32_4x4x4_16b_i8", 3, 5, 6), ("i32_16x16x4_4b_i8", 1, 1, 7), ("f32_32x32x2_f32", 0, 0, 3),
    ("f32_16x16x4_f32", 0, 0, 6), ("f32_32x32x1_2b_f32", 1, 0, 1),
)  # fmt: skip
"""Instructions whose modifiers have lanes read others."""


UNMODELLED = (
    "v_smfmac_f32_16x16x32_f16",
    "v_smfmac_f32_32x32x16_bf16",
    "v_mfma_scale_f32_16x16x128_f8f6f4",
    "v_mfma_ld_scale_b32",
    "v_mfma_f32_16x16x128_f8f6f4",
    "v_accvgpr_read_b32",
    "v_accvgpr_write_b32",
)
"""What belongs to the instruction set, and is no dense product with fixed types."""

UNKNOWN = ("v_mfma_f32_32x32x9_f16", "v_mfma_f32", "v_fma_f32", "v_mfma_f16_32x32x8_f16")
"""What no target has."""
