"""Who supplies which scale factor, and which metadata: the figures and their legends, as tables of threads.

Sources: PTX ISA 9.1 section 9.7.14.3 (which threads of a quad, which bytes) with the rows of each thread from
CuTe's layouts; section 9.7.14.6 (threads by selector); bits of metadata: CUTLASS's reordering on the host and
CuTe's layout of E, for m16n8k32 on 16 bits, m16n8k64 on 8 and m16n8k128 on 4, which those of half the K
(k16 on 16 bits, k8 on tf32, k32 on 8, k64 on 4) are restricted from: the reading ``as-twice-k`` of the open
point ``half-k-metadata``.
"""

from __future__ import annotations

from ...text_tables import bits, table

SCALE_BYTES = {
    (int(row["scale_vec"][0]), int(row["byte-id"])): tuple(bits(row["bytes"]))
    for row in table(__package__, "bytes")
}
"""The bytes of a register that hold the factors of successive chunks of K, by vector size and byte-id."""


def scale_threads(operand: str) -> dict[tuple[int, int], int]:
    """Return the thread that supplies a line's factors, by thread-id and line (row of A, column of B)."""
    return {
        (int(row["thread-id"]), int(row["first line"]) + place): thread
        for row in table(__package__, "scales")
        if row["operand"] == operand
        for place, thread in enumerate(bits(row["threads"]))
    }


GRANULARITIES: dict[int, tuple[int, tuple[int, ...], tuple[int, ...]]] = {
    32: (2, (0b0100, 0b1110), (0b0100, 0b1110)),
    16: (4, (0b0001, 0b0010, 0b0011, 0b0100, 0b0110, 0b0111, 0b1000, 0b1001, 0b1011, 0b1100, 0b1101, 0b1110),
         (0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110)),
}  # fmt: skip
"""Elements of a chunk, legal nibbles of ``sp`` and of ``sp::ordered_metadata``, by bits of an element."""

GRANULARITIES[8] = GRANULARITIES[16]
GRANULARITIES[4] = (8, *GRANULARITIES[16][1:])

STORED_COLUMNS: dict[int, dict[int, tuple[int, ...]]] = {
    2: {0b0100: (0,), 0b1110: (1,)},
    4: {0b0100: (0, 1), 0b1000: (0, 2), 0b1100: (0, 3), 0b1001: (1, 2), 0b1101: (1, 3), 0b1110: (2, 3)},
    8: {0b0100: (0, 1, 2, 3), 0b1000: (0, 1, 4, 5), 0b1100: (0, 1, 6, 7), 0b1001: (2, 3, 4, 5),
        0b1101: (2, 3, 6, 7), 0b1110: (4, 5, 6, 7)},
}  # fmt: skip
"""The columns of a chunk that are stored, as the figures of each granularity show them, by nibble."""


def metadata(shape: str, element_bits: int) -> dict[tuple[int, int, int], tuple[int, int]]:
    """Return the thread, and the nibble of its register, that has a chunk, by selector, row and chunk."""
    found = {}
    for row in table(__package__, "metadata"):
        if (row["shape"], row["bits"]) != (shape, str(element_bits)):
            continue
        for column, first in (("nibbles 0-3", 0), ("nibbles 4-7", 4)):
            half, _, chunks = row[column].partition(" ")
            for nibble, chunk in enumerate(bits(chunks), first):
                for quad in range(8):
                    line = quad if half == "upper" else quad + 8
                    found[int(row["selector"]), line, chunk] = 4 * quad + int(row["thread"]), nibble
    return found


SHAPES = tuple(dict.fromkeys((row["shape"], int(row["bits"])) for row in table(__package__, "metadata")))
"""Shapes of ``mma.sp``, and the bits of an element."""

HALF_K = (("m16n8k16", 16), ("m16n8k8", 32), ("m16n8k32", 8), ("m16n8k64", 4))
"""Those of them whose bits of metadata no source confirms."""
