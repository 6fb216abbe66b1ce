"""The dense MFMAs and their words, by the names of CDNA3 and later, and by those of CDNA1 and CDNA2.

Sources: AMD CDNA4 ISA, chapter 7 and the format VOP3P-MAI; llvm-mc 14 to 22 (names, opcodes, numbers of
registers, targets), which took none of 149,544 lines with other numbers of registers.
"""

from __future__ import annotations

import re

from ...text_tables import rows

TARGETS = ("gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950", "gfx9-4-generic")

_LATER = """
name                   | also                 | opcode | blocks | A, B | C, D | targets
f32_32x32x1_2b_f32     | 32x32x1f32           | 40     | 2      | 1    | 32   | 940 950 generic
f32_16x16x1_4b_f32     | 16x16x1f32           | 41     | 4      | 1    | 16   | 940 950 generic
f32_4x4x1_16b_f32      | 4x4x1f32             | 42     | 16     | 1    | 4    | 940 950 generic
f32_32x32x2_f32        | 32x32x2f32           | 44     | 1      | 1    | 16   | 940 950 generic
f32_16x16x4_f32        | 16x16x4f32           | 45     | 1      | 1    | 4    | 940 950 generic
f32_32x32x4_2b_f16     | 32x32x4f16           | 48     | 2      | 2    | 32   | 940 950 generic
f32_16x16x4_4b_f16     | 16x16x4f16           | 49     | 4      | 2    | 16   | 940 950 generic
f32_4x4x4_16b_f16      | 4x4x4f16             | 4a     | 16     | 2    | 4    | 940 950 generic
f32_32x32x8_f16        | 32x32x8f16           | 4c     | 1      | 2    | 16   | 940 950 generic
f32_16x16x16_f16       | 16x16x16f16          | 4d     | 1      | 2    | 4    | 940 950 generic
f32_32x32x4_2b_bf16    | 32x32x4bf16 1k       | 5d     | 2      | 2    | 32   | 940 950 generic
f32_16x16x4_4b_bf16    | 16x16x4bf16 1k       | 5e     | 4      | 2    | 16   | 940 950 generic
f32_4x4x4_16b_bf16     | 4x4x4bf16 1k         | 5f     | 16     | 2    | 4    | 940 950 generic
f32_32x32x8_bf16       | 32x32x8bf16 1k       | 60     | 1      | 2    | 16   | 940 950 generic
f32_16x16x16_bf16      | 16x16x16bf16 1k      | 61     | 1      | 2    | 4    | 940 950 generic
f32_32x32x4_xf32       | 32x32x4xf32          | 3f     | 1      | 2    | 16   | 940
f32_16x16x8_xf32       | 16x16x8xf32          | 3e     | 1      | 2    | 4    | 940
f32_16x16x32_bf8_bf8   |                      | 70     | 1      | 2    | 4    | 940 950
f32_16x16x32_bf8_fp8   |                      | 71     | 1      | 2    | 4    | 940 950
f32_16x16x32_fp8_bf8   |                      | 72     | 1      | 2    | 4    | 940 950
f32_16x16x32_fp8_fp8   |                      | 73     | 1      | 2    | 4    | 940 950
f32_32x32x16_bf8_bf8   |                      | 74     | 1      | 2    | 16   | 940 950
f32_32x32x16_bf8_fp8   |                      | 75     | 1      | 2    | 16   | 940 950
f32_32x32x16_fp8_bf8   |                      | 76     | 1      | 2    | 16   | 940 950
f32_32x32x16_fp8_fp8   |                      | 77     | 1      | 2    | 16   | 940 950
i32_32x32x4_2b_i8      | 32x32x4i8            | 50     | 2      | 1    | 32   | 940 950 generic
i32_16x16x4_4b_i8      | 16x16x4i8            | 51     | 4      | 1    | 16   | 940 950 generic
i32_4x4x4_16b_i8       | 4x4x4i8              | 52     | 16     | 1    | 4    | 940 950 generic
i32_32x32x16_i8        | 32x32x16i8           | 56     | 1      | 2    | 16   | 940 950 generic
i32_16x16x32_i8        | 16x16x32i8           | 57     | 1      | 2    | 4    | 940 950 generic
f64_16x16x4_f64        | 16x16x4f64           | 6e     | 1      | 2    | 8    | 940 950 generic
f64_4x4x4_4b_f64       | 4x4x4f64             | 6f     | 4      | 2    | 2    | 940 950 generic
f32_16x16x32_f16       | 16x16x32f16          | 54     | 1      | 4    | 4    | 950
f32_32x32x16_f16       | 32x32x16f16          | 55     | 1      | 4    | 16   | 950
f32_16x16x32_bf16      | 16x16x32bf16         | 35     | 1      | 4    | 4    | 950
f32_32x32x16_bf16      | 32x32x16bf16         | 37     | 1      | 4    | 16   | 950
i32_16x16x64_i8        | 16x16x64i8           | 36     | 1      | 4    | 4    | 950
i32_32x32x32_i8        | 32x32x32i8           | 38     | 1      | 4    | 16   | 950
"""

_EARLIER = """
name                | opcode | blocks | A, B | C, D | targets
f32_32x32x1f32      | 40     | 2      | 1    | 32   | 908 90a
f32_16x16x1f32      | 41     | 4      | 1    | 16   | 908 90a
f32_4x4x1f32        | 42     | 16     | 1    | 4    | 908 90a
f32_32x32x2f32      | 44     | 1      | 1    | 16   | 908 90a
f32_16x16x4f32      | 45     | 1      | 1    | 4    | 908 90a
f32_32x32x4f16      | 48     | 2      | 2    | 32   | 908 90a
f32_16x16x4f16      | 49     | 4      | 2    | 16   | 908 90a
f32_4x4x4f16        | 4a     | 16     | 2    | 4    | 908 90a
f32_32x32x8f16      | 4c     | 1      | 2    | 16   | 908 90a
f32_16x16x16f16     | 4d     | 1      | 2    | 4    | 908 90a
f32_32x32x4bf16_1k  | 63     | 2      | 2    | 32   | 90a
f32_16x16x4bf16_1k  | 64     | 4      | 2    | 16   | 90a
f32_4x4x4bf16_1k    | 65     | 16     | 2    | 4    | 90a
f32_32x32x8bf16_1k  | 66     | 1      | 2    | 16   | 90a
f32_16x16x16bf16_1k | 67     | 1      | 2    | 4    | 90a
f32_32x32x2bf16     | 68     | 2      | 1    | 32   | 908 90a
f32_16x16x2bf16     | 69     | 4      | 1    | 16   | 908 90a
f32_4x4x2bf16       | 6b     | 16     | 1    | 4    | 908 90a
f32_32x32x4bf16     | 6c     | 1      | 1    | 16   | 908 90a
f32_16x16x8bf16     | 6d     | 1      | 1    | 4    | 908 90a
i32_32x32x4i8       | 50     | 2      | 1    | 32   | 908 90a
i32_16x16x4i8       | 51     | 4      | 1    | 16   | 908 90a
i32_4x4x4i8         | 52     | 16     | 1    | 4    | 908 90a
i32_32x32x8i8       | 54     | 1      | 1    | 16   | 908 90a
i32_16x16x16i8      | 55     | 1      | 1    | 4    | 908 90a
f64_16x16x4f64      | 6e     | 1      | 2    | 8    | 90a
f64_4x4x4f64        | 6f     | 4      | 2    | 2    | 90a
"""

_PROCESSORS = {
    "908": ("gfx908",),
    "90a": ("gfx90a",),
    "940": ("gfx940", "gfx941", "gfx942"),
    "950": ("gfx950",),
    "generic": ("gfx9-4-generic",),
}

_FORMATS = """
type | gfx908 gfx90a | gfx940 gfx941 gfx942 gfx9-4-generic | gfx950
f64  | f64           | f64                                 | f64
f32  | f32           | f32                                 | f32
xf32 | f32           | f32                                 | f32
f16  | f16           | f16                                 | f16
bf16 | bf16          | bf16                                | bf16
i8   | s8            | s8                                  | s8
i32  | s32           | s32                                 | s32
fp8  |               | e4m3fnuz                            | e4m3
bf8  |               | e5m2fnuz                            | e5m2
"""

FORMATS = {
    (row["type"], target): row[column]
    for row in rows(_FORMATS)
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
    for row in [*rows(_LATER), *rows(_EARLIER)]
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
