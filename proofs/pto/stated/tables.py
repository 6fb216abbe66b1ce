"""PTO's products, buffers and tiles, as the headers decide them.

Sources: pto-isa headers at 3186c381 (TMatmul.hpp and CheckStaticMad of each profile, pto_tile.hpp, TASSIGN,
buffer sizes); ptoas at a56b18c3; pages for what no header checks.
"""

from __future__ import annotations

from ...text_tables import rows

PROFILES = ("A2A3", "A5", "CPU")

_TRIPLES = """
C   | A        | B        | plain       | mx
i32 | i8       | i8       | A2A3 A5 CPU |
f32 | f16      | f16      | A2A3 A5 CPU |
f32 | bf16     | bf16     | A2A3 A5 CPU |
f32 | f32      | f32      | A2A3 A5 CPU |
f32 | f8E4M3FN | f8E4M3FN | A5          | A5 CPU
f32 | f8E4M3FN | f8E5M2   | A5          | A5 CPU
f32 | f8E5M2   | f8E4M3FN | A5          | A5 CPU
f32 | f8E5M2   | f8E5M2   | A5          | A5 CPU
f32 | hif8     | hif8     | A5          |
f32 | f4E1M2x2 | f4E1M2x2 |             | A5 CPU
f32 | f4E1M2x2 | f4E2M1x2 |             | A5 CPU
f32 | f4E2M1x2 | f4E1M2x2 |             | A5 CPU
f32 | f4E2M1x2 | f4E2M1x2 |             | A5 CPU
"""

TRIPLES = frozenset(
    (profile, column, row["C"], row["A"], row["B"])
    for row in rows(_TRIPLES)
    for column in ("plain", "mx")
    for profile in row[column].split()
)
"""Profile, product without or with scale factors, element types of the accumulator, A and B."""

FACTORS = ("i4", "i8", "ui8", "f16", "bf16", "f32", "f8E4M3FN", "f8E5M2", "hif8", "f4E2M1x2",
           "f4E1M2x2", "f8E8M0FNU")  # fmt: skip
ACCUMULATORS = ("i32", "f32", "f16")

_BYTES = """
location    | A2A3   | A5     | CPU
vec         | 196608 | 262144 | 524288
mat         | 524288 | 524288 | 524288
left        | 65536  | 65536  | 65536
right       | 65536  | 65536  | 65536
acc         | 131072 | 262144 | 262144
bias        | 1024   | 4096   | 524288
scaling     | 2048   | 4096   | 524288
scale_left  | 0      | 4096   | 4096
scale_right | 0      | 4096   | 4096
"""

CAPACITIES = {(profile, row["location"]): int(row[profile]) for row in rows(_BYTES) for profile in PROFILES}
"""Bytes of every buffer; the simulator's bias table and fixpipe buffer lie in its vector buffer."""

_BLOCKS = """
fractal | inner     | 4 bytes | 2 bytes | 1 byte
512     | row_major | 16x8    | 16x16   | 16x32
512     | col_major | 8x16    | 16x16   | 32x16
1024    | row_major | 16x16   | 16x16   | 16x16
1024    | col_major | 16x16   | 16x16   | 16x16
32      | row_major | 16x2    | 16x2    | 16x2
32      | col_major | 2x16    | 2x16    | 2x16
"""

BLOCKS = {
    (int(row["fractal"]), row["inner"], width): tuple(map(int, row[width].split("x")))
    for row in rows(_BLOCKS)
    for width in ("4 bytes", "2 bytes", "1 byte")
}
"""Rows and columns of a block."""

_ALIASES = """
location    | profiles    | blocks    | inner     | fractal | name
left        | A2A3        | row_major | row_major | 512     | Zz
left        | A5 CPU      | col_major | row_major | 512     | Nz
right       | A2A3 A5 CPU | row_major | col_major | 512     | Zn
acc         | A2A3 A5 CPU | col_major | row_major | 1024    | Nz
scale_left  | A2A3 A5 CPU | row_major | row_major | 32      | Zz
scale_right | A2A3 A5 CPU | col_major | col_major | 32      | Nn
bias        | A2A3 A5 CPU | row_major | none_box  | 512     | ND
mat         | A2A3 A5 CPU | col_major | row_major | 512     | Nz
"""

ALIASES = {
    (profile, row["location"]): (row["blocks"], row["inner"], int(row["fractal"]), row["name"])
    for row in rows(_ALIASES)
    for profile in row["profiles"].split()
}
"""Order of the blocks, order inside, bytes of a block, and name of the predefined tiles."""

_OFFSETS = """
blocks    | inner     | fractal | element   | rows | columns | row | column | offset
col_major | row_major | 512     | f16       | 32   | 48      | 17  | 20     | 788
row_major | row_major | 512     | f16       | 32   | 48      | 17  | 20     | 1044
row_major | col_major | 512     | f16       | 32   | 48      | 17  | 20     | 1089
row_major | col_major | 512     | i8        | 64   | 32      | 33  | 20     | 1665
row_major | col_major | 512     | f32       | 24   | 48      | 9   | 20     | 545
col_major | row_major | 1024    | f32       | 32   | 48      | 17  | 20     | 788
row_major | row_major | 32      | f8E8M0FNU | 32   | 4       | 17  | 3      | 99
col_major | col_major | 32      | f8E8M0FNU | 4    | 32      | 3   | 17     | 99
row_major | none_box  | 512     | f32       | 1    | 64      | 0   | 20     | 20
col_major | none_box  | 512     | f16       | 32   | 48      | 17  | 20     | 657
col_major | row_major | 512     | f16       | 1    | 64      | 0   | 40     | 40
row_major | row_major | 512     | f16       | 1    | 64      | 0   | 40     | 40
"""

OFFSETS = rows(_OFFSETS)
"""Where elements lie in a buffer, computed by hand from the headers' formulas."""

_SIZES = """
operations               | profiles    | m              | k                 | n
tmatmul                  | A2A3 A5 CPU | valid rows of a | valid columns of a | valid columns of b
tmatmul.acc              | A2A3 A5 CPU | valid rows of a | valid columns of a | valid columns of b
tmatmul.bias             | A2A3 A5 CPU | valid rows of a | valid columns of a | valid columns of b
tmatmul.mx               | A5 CPU      | valid rows of a | valid columns of a | valid columns of b
tmatmul.mx.acc           | A5 CPU      | valid rows of a | valid columns of a | valid columns of b
tmatmul.mx.bias          | A5 CPU      | valid rows of a | valid columns of a | valid columns of b
tgemv                    | A2A3 A5     | 1               | valid rows of b    | valid columns of b
tgemv.acc                | A2A3 A5     | 1               | valid rows of b    | valid columns of b
tgemv.bias               | A2A3 A5     | 1               | valid rows of b    | valid columns of b
tgemv                    | CPU         | valid rows of a | valid columns of a | valid columns of b
tgemv.acc                | CPU         | valid rows of a | valid columns of a | valid columns of b
tgemv.bias               | CPU         | valid rows of a | valid columns of a | valid columns of b
tgemv.mx                 | A5          | 1               | valid columns of a | valid columns of b
tgemv.mx.acc             | A5          | 1               | valid columns of a | valid columns of b
tgemv.mx.bias            | A5          | 1               | valid columns of a | valid columns of b
tgemv.mx                 | CPU         | valid rows of a | valid columns of a | valid columns of b
tgemv.mx.acc             | CPU         | valid rows of a | valid columns of a | valid columns of b
tgemv.mx.bias            | CPU         | valid rows of a | valid columns of a | valid columns of b
"""

SIZES = {
    (row["operations"], profile): (row["m"], row["k"], row["n"])
    for row in rows(_SIZES)
    for profile in row["profiles"].split()
}
"""Where the sizes of a product come from."""

_EXTENTS = """
operand | rows   | columns
a       | m      | k
b       | k      | n
c       | m      | n
d       | m      | n
bias    | 1      | n
scale_a | m      | k / 32
scale_b | k / 32 | n
"""

EXTENTS = {row["operand"]: (row["rows"], row["columns"]) for row in rows(_EXTENTS)}
"""Rows and columns of the operands of a product; one scale factor belongs to 32 elements or fewer of K."""
