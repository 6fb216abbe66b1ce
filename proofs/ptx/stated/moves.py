"""Moves and the memory operand of ``wmma``, and which threads supply addresses, factors and metadata.

Sources: PTX ISA 9.1 sections 9.7.14.5.15 to 9.7.14.5.17: syntax, the tables of threads and addresses, the
figures of fragments, target and ISA notes; ptxas (registers). The manual's table of addresses is about
matrices of 8 rows; that of 16 rows follows CUTLASS.

Sources: PTX ISA 9.1 section 9.7.14.4.2 (matrix storage: the table of leading dimensions) and 9.7.14.4.3
(alignment: the size of the fragment in registers); registers of the fragments' tables.

Sources: PTX ISA 9.1 section 9.7.14.3 (which threads of a quad, which bytes) with the rows of each thread from
CuTe's layouts; section 9.7.14.6 (threads by selector); bits of metadata: CUTLASS's reordering on the host and
CuTe's layout of E, for m16n8k32 on 16 bits, m16n8k64 on 8 and m16n8k128 on 4, which those of half the K
(k16 on 16 bits, k8 on tf32, k32 on 8, k64 on 4) are restricted from: the reading ``as-twice-k`` of the open
point ``half-k-metadata``.
"""

from __future__ import annotations

from itertools import product

from ...text_tables import bits, table
from .products import Entry

_SPACES = ("", ".shared", ".shared::cta")
_TRANS = {"optional": ("", ".trans"), "mandatory": (".trans",), "never": ("",)}


def moves() -> list[Entry]:
    """Return every matrix move."""
    found: list[Entry] = [("movmatrix.sync.aligned.m8n8.trans.b16", ("d", "a"), ("7.8", "sm_75+"))]
    for row in table(__package__, "moves"):
        counts = {"x1": row["registers x1"], "x2": row["x2"], "x4": row["x4"]}
        for (count, registers), trans, space in product(counts.items(), _TRANS[row[".trans"]], _SPACES):
            if registers:
                loads = row["mnemonic"] == "ldmatrix"
                operands = (f"d {registers}", "p") if loads else ("p", f"a {registers}")
                text = f"{row['mnemonic']}.sync.aligned.{row['shape']}.{count}{trans}{space}.{row['type']}"
                found.append((text, operands, (row["PTX"], row["targets"])))
    return found


ADDRESSES = {
    (int(row["rows of a matrix"]), row["num"]): tuple(
        tuple(bits(row[matrix])) for matrix in ("first", "second", "third", "fourth") if row[matrix]
    )
    for row in table(__package__, "addresses")
}
"""The threads whose addresses are those of the rows of each matrix, from row 0 on."""

MEMORY_ROWS = {("ldmatrix", "m8n8"): 8, ("ldmatrix", "m8n16"): 8, ("ldmatrix", "m16n16"): 16,
               ("stmatrix", "m8n8"): 8, ("stmatrix", "m16n8"): 8}  # fmt: skip
"""Rows of 16 bytes of a matrix in memory."""

FRAGMENT = """
row 0: T0 T0 T1 T1 T2 T2 T3 T3
row 1: T4 T4 T5 T5 T6 T6 T7 T7
row 2: T8 T8 T9 T9 T10 T10 T11 T11
row 3: T12 T12 T13 T13 T14 T14 T15 T15
row 4: T16 T16 T17 T17 T18 T18 T19 T19
row 5: T20 T20 T21 T21 T22 T22 T23 T23
row 6: T24 T24 T25 T25 T26 T26 T27 T27
row 7: T28 T28 T29 T29 T30 T30 T31 T31
"""
"""The figure of an m8n8 fragment of b16: who holds the elements of each row, the first in the low half."""

HOLDERS = tuple(
    tuple(int(holder.removeprefix("T")) for holder in line.partition(":")[2].split())
    for line in FRAGMENT.strip().splitlines()
)


STRIDES = {
    (row["shape"], *column.split()): int(row[column])
    for row in table(__package__, "strides")
    for column in row
    if column != "shape" and row[column]
}
"""Elements from line to line where no stride is given, by shape, operand and layout."""


ALIGNED = {
    (row["shape"], row["type"], operand): int(row[operand])
    for row in table(__package__, "aligned")
    for operand in "abc"
    if row[operand]
}
"""Bytes of a thread's fragment, by shape, element type and operand."""


EXECUTED = {row["product"]: set(row["architectures"].split()) for row in table(__package__, "executed")}
"""On which architectures a matrix unit executes a product: from sm_80 on, m8n8k4 of f16 is none of its."""

MODELS = {
    row["name"]: tuple(int(cell) if cell.isdigit() else cell or None for cell in row.values())
    for row in table(__package__, "models")
}
"""The published models of the matrix units: fraction bits F of aligned terms, bits of a row of A in one step.

Sources: MMA-Sim, arXiv 2511.10909; Khattak and Mikaitis, arXiv 2512.07004; Valpey et al., arXiv 2502.15999.
"""


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
