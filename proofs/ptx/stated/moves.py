"""The tables of ``ldmatrix``, ``stmatrix`` and ``movmatrix``, and which thread supplies which row's address.

Sources: PTX ISA 9.1 sections 9.7.14.5.15 to 9.7.14.5.17: syntax, the tables of threads and addresses, the
figures of fragments, target and ISA notes; ptxas (registers). The manual's table of addresses is about
matrices of 8 rows; that of 16 rows follows CUTLASS.
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
