"""Tensor memory, stated a second time: constants of compiled kernels, shapes, and where elements are.

Sources: PTX ISA 9.1 section 9.7.16 (tables of shapes; instruction and matrix descriptors; sparse metadata);
the constants were read from PTX that Triton compiled; the places are CuTe's traits of UMMA and of copies from
and to tensor memory, as formulas.
"""

from __future__ import annotations

from typing import NamedTuple

from ...text_tables import table


class Constant(NamedTuple):
    """An instruction descriptor of a kernel: its kind, bits, and what it says."""

    kind: str
    word: int
    says: str


CONSTANTS = tuple(
    Constant(row["kind"], int(row["word"], 16), row["says"]) for row in table(__package__, "idesc_constants")
)

SHARED = {128: (1024, 0x40004040), 64: (512, 0x80004020), 32: (256, 0xC0004010)}
"""The stride of packed rows of a swizzle, and the high half of the matrix descriptor."""


class Witness(NamedTuple):
    """Words that a rule alone refuses: the form, fields, and the ones of them that make it illegal."""

    rule: str
    form: str
    legal: str
    illegal: str


WITNESSES = tuple(
    Witness(row["rule"], row["form"], row["legal"], row["illegal"])
    for row in table(__package__, "idesc_witnesses")
)


def rows(text: str) -> tuple[int, ...]:
    """Return the numbers of ``8 16 24``, or of ``8..256 by 8``, and both: ``8 16 24 32..256 by 16``."""
    found: list[int] = []
    words = text.split()
    while words:
        word = words.pop(0)
        if ".." in word:
            first, last = map(int, word.split(".."))
            assert words.pop(0) == "by"
            found += range(first, last + 1, int(words.pop(0)))
        else:
            found.append(int(word))
    return tuple(found)


def shapes() -> dict[tuple[str, str, int, bool], tuple[tuple[int, ...], tuple[int, ...], int]]:
    """Return M, N and K by kind, ``.ws`` or none, CTAs and whether A is sparse."""
    found = {}
    for row in table(__package__, "tensor_shapes"):
        for kind in row["kinds"].split():
            for sparse in (False, True):
                if not row["sparse"] and sparse:
                    continue
                m, n = (
                    (row["M sparse"] or row["M"], row["N sparse"] or row["N"])
                    if sparse
                    else (row["M"], row["N"])
                )
                k = K[kind] * (1 + sparse)
                found[kind, row["form"], int(row["CTAs"]), sparse] = (rows(m), rows(n), k)
    return found


K = {"f16": 16, "tf32": 8, "f8f6f4": 32, "i8": 32, "mxf8f6f4": 32, "mxf4": 64, "mxf4nvf4": 64}
"""Columns of a dense A."""


# -- where elements are
def d_cell(letter: str, n: int, row: int, column: int) -> tuple[int, int, int]:
    """Return CTA, lane and column of an element of D, of layouts C and F in the lower lanes."""
    match letter:
        case "A":
            return row // 128, row % 128, column
        case "B":
            return row // 64, row % 64 + 64 * (column // (n // 2)), column % (n // 2)
        case "C":
            r = row % 64
            return row // 64, r % 16 + 32 * (r // 16), column
        case "D":
            return 0, row, column
        case "E":
            return 0, row + 64 * (column // (n // 2)), column % (n // 2)
        case "F":
            return 0, row % 16 + 32 * (row // 16), column
    return 0, row + 32 * (column // (n // 4)), column % (n // 4)


def a_bit(bits: int, k: int) -> tuple[int, int]:
    """Return the column, and the lowest bit there, of element k of a row of A in tensor memory."""
    return k * bits // 32, k * bits % 32


def scale_cell(identifier: int, line: int, s: int, copy: int) -> tuple[int, int, int]:
    """Return lane, column and byte of a copy of scale factor s of a line of one CTA."""
    return line % 32 + 32 * copy, line // 32, identifier + s


def metadata_cell(wide: bool, selector: int, row: int, chunk: int) -> tuple[int, int, int]:
    """Return lane, column and lowest bit of a nibble, of elements of 16 and 32 bits (wide), or of fewer."""
    if wide:
        lane = row % 8 + 8 * (chunk // 4) + 16 * (row // 16)
        return lane, selector, 4 * (chunk % 4) + 16 * (row // 8 % 2)
    return row, chunk // 8, 4 * (chunk % 8)


def loaded_cell(shape: str, thread: int, register: int) -> tuple[int, int]:
    """Return lane and column of a thread's register; of 16x32bx2 from the address of its half of the warp."""
    match shape:
        case "32x32b":
            return thread, register
        case "16x64b":
            return thread // 4 + 8 * (thread % 2), 2 * register + thread // 2 % 2
        case "16x128b":
            return thread // 4 + 8 * (register % 2), 4 * (register // 2) + thread % 4
        case "16x256b":
            lane = thread // 4 + 8 * (register // 2 % 2)
            return lane, 8 * (register // 4) + 2 * (thread % 4) + register % 2
    return thread % 16, register


def copied_lanes(shape: str, row: int) -> tuple[int, ...]:
    """Return the lanes that a row is copied to; of 4x256b those from the address on, 32 apart."""
    match shape:
        case "64x128b.warpx2::02_13":
            return row, row + 64
        case "64x128b.warpx2::01_23":
            first = row % 32 + 64 * (row // 32)
            return first, first + 32
        case "32x128b.warpx4":
            return row, row + 32, row + 64, row + 96
    return (row,)
