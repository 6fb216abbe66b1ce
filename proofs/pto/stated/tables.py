"""PTO's products, buffers and tiles, as the headers decide them.

Sources: pto-isa headers at 3186c381 (TMatmul.hpp and CheckStaticMad of each profile, pto_tile.hpp, TASSIGN,
buffer sizes); ptoas at a56b18c3; pages for what no header checks.
"""

from __future__ import annotations

from ...text_tables import table

PROFILES = ("A2A3", "A5", "CPU")


TRIPLES = frozenset(
    (profile, column, row["C"], row["A"], row["B"])
    for row in table(__package__, "triples")
    for column in ("plain", "mx")
    for profile in row[column].split()
)
"""Profile, product without or with scale factors, element types of the accumulator, A and B."""

FACTORS = ("i4", "i8", "ui8", "f16", "bf16", "f32", "f8E4M3FN", "f8E5M2", "hif8", "f4E2M1x2",
           "f4E1M2x2", "f8E8M0FNU")  # fmt: skip
ACCUMULATORS = ("i32", "f32", "f16")


CAPACITIES = {
    (profile, row["location"]): int(row[profile])
    for row in table(__package__, "bytes")
    for profile in PROFILES
}
"""Bytes of every buffer; the simulator's bias table and fixpipe buffer lie in its vector buffer."""


BLOCKS = {
    (int(row["fractal"]), row["inner"], width): tuple(map(int, row[width].split("x")))
    for row in table(__package__, "blocks")
    for width in ("4 bytes", "2 bytes", "1 byte")
}
"""Rows and columns of a block."""


ALIASES = {
    (profile, row["location"]): (row["blocks"], row["inner"], int(row["fractal"]), row["name"])
    for row in table(__package__, "aliases")
    for profile in row["profiles"].split()
}
"""Order of the blocks, order inside, bytes of a block, and name of the predefined tiles."""


OFFSETS = table(__package__, "offsets")
"""Where elements lie in a buffer, computed by hand from the headers' formulas."""


SIZES = {
    (row["operations"], profile): (row["m"], row["k"], row["n"])
    for row in table(__package__, "sizes")
    for profile in row["profiles"].split()
}
"""Where the sizes of a product come from."""


EXTENTS = {row["operand"]: (row["rows"], row["columns"]) for row in table(__package__, "extents")}
"""Rows and columns of the operands of a product; one scale factor belongs to 32 elements or fewer of K."""
