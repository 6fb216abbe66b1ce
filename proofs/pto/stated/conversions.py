"""Where moves of PTO go, and the element types they take and make, as decision tables.

Sources: pto-isa headers at 3186c381: TLOAD, TMOV, TEXTRACT, TINSERT, TSTORE of each profile,
CheckTMovAccToMat of A2A3, CheckTMovAccValid of A5, CheckAcc2gm, CheckStaticAcc, TMovToBt, CheckTExtract.
"""

from __future__ import annotations

from ...text_tables import rows

PLACES = ("vec", "mat", "left", "right", "acc", "bias", "scaling", "scale_left", "scale_right")

_ROUTES = """
operation | from   | to                              | profiles
tload     | memory | mat vec                         | A2A3 A5
tmov      | mat    | left right bias scaling         | A2A3 A5
tmov      | mat    | scale_left scale_right          | A5
tmov      | acc    | mat                             | A2A3 A5
tmov      | vec    | vec                             | A2A3 A5
tmov      | acc    | vec                             | A5
tmov      | vec    | mat                             | A5
textract  | mat    | left right                      | A2A3 A5
textract  | mat    | scaling scale_left scale_right  | A5
textract  | acc    | mat                             | A2A3 A5
textract  | acc    | vec                             | A5
textract  | vec    | vec mat                         | A5
tinsert   | acc    | mat                             | A2A3 A5
tinsert   | acc    | vec                             | A5
tinsert   | vec    | vec mat                         | A5
tstore    | acc    | memory                          | A2A3 A5
tstore    | vec    | memory                          | A2A3 A5
tstore    | mat    | memory                          | A2A3
"""

ROUTES = frozenset(
    (row["operation"], row["from"], target, profile)
    for row in rows(_ROUTES)
    for target in row["to"].split()
    for profile in row["profiles"].split()
)
"""Operation, where from, where to (a boxed tile), profile. The simulator moves from anywhere to anywhere.

The assembler has one keyword for the buffers of scale factors: a boxed tile in scaling is one of those of a
microscaled product, which A5's textract fills.
"""

ELEMENTS = (
    "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "i4", "f16", "bf16", "f32", "f8E4M3FN",
    "f8E5M2", "hif8", "f4E2M1x2", "f4E1M2x2", "f8E8M0FNU",
)  # fmt: skip

_FROM_ACCUMULATOR = """
to     | quantised | from | A2A3            | A5
buffer | no        | f32  | f16 bf16        | f16 bf16 f32
buffer | no        | i32  |                 | i32
buffer | yes       | f32  | i8              | i8 ui8 hif8 f16 bf16 f8E4M3FN f32
buffer | yes       | i32  | i8 ui8 f16 i16  | i8 ui8 f16 bf16
memory | no        | f32  | i32 f32 f16 bf16 | i32 f32 f16 bf16
memory | no        | i32  | i32 f32 f16 bf16 | i32 f32 f16 bf16
memory | yes       | f32  | i8 ui8          | i8 ui8 hif8 f16 bf16 f8E4M3FN f32
memory | yes       | i32  | i8 ui8 f16      | i8 ui8 f16 bf16
"""

FROM_ACCUMULATOR = frozenset(
    (row["to"], row["quantised"] == "yes", row["from"], target, profile)
    for row in rows(_FROM_ACCUMULATOR)
    for profile in ("A2A3", "A5")
    for target in row[profile].split()
)
"""To a buffer or to memory, with a quantisation or not, from, to, profile."""

_TO_BIAS = """
from | to  | profiles
i32  | i32 | A2A3 A5
f32  | f32 | A2A3 A5
f16  | f32 | A2A3 A5
bf16 | f32 | A5
"""

TO_BIAS = frozenset(
    (row["from"], row["to"], profile) for row in rows(_TO_BIAS) for profile in row["profiles"].split()
)
"""From, to, profile."""

EXTRACTED = {
    "A2A3": frozenset(("i8", "f16", "bf16", "f32")),
    "A5": frozenset(("i8", "f16", "bf16", "f32", "f8E4M3FN", "f8E5M2", "hif8", "f4E2M1x2", "f4E1M2x2",
                     "f8E8M0FNU")),
}  # fmt: skip
"""The element types that textract has, and on A5 tmov out of mat and from vec to mat."""

IN_VEC = frozenset(("i32",))
"""What textract has besides from vec to vec."""

BYTES = {
    1: ("i8", "ui8", "i4", "f8E4M3FN", "f8E5M2", "hif8", "f4E2M1x2", "f4E1M2x2", "f8E8M0FNU"),
    2: ("i16", "ui16", "f16", "bf16"),
    4: ("i32", "ui32", "f32"),
    8: ("i64", "ui64"),
}
"""Bytes of a unit of storage; of 4-bit types it holds two elements."""
