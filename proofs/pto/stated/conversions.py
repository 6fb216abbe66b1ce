"""Where moves of PTO go, and the element types they take and make, as decision tables.

Sources: pto-isa headers at 3186c381: TLOAD, TMOV, TEXTRACT, TINSERT, TSTORE of each profile,
CheckTMovAccToMat of A2A3, CheckTMovAccValid of A5, CheckAcc2gm, CheckStaticAcc, TMovToBt, CheckTExtract.
"""

from __future__ import annotations

from ...text_tables import table

PLACES = ("vec", "mat", "left", "right", "acc", "bias", "scaling", "scale_left", "scale_right")


ROUTES = frozenset(
    (row["operation"], row["from"], target, profile)
    for row in table(__package__, "routes")
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


FROM_ACCUMULATOR = frozenset(
    (row["to"], row["quantised"] == "yes", row["from"], target, profile)
    for row in table(__package__, "from_accumulator")
    for profile in ("A2A3", "A5")
    for target in row[profile].split()
)
"""To a buffer or to memory, with a quantisation or not, from, to, profile."""


TO_BIAS = frozenset(
    (row["from"], row["to"], profile)
    for row in table(__package__, "to_bias")
    for profile in row["profiles"].split()
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
