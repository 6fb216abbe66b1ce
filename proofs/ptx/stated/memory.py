"""The memory operand of ``wmma``: default strides, and the bytes that lines are aligned to.

Sources: PTX ISA 9.1 section 9.7.14.4.2 (matrix storage: the table of leading dimensions) and 9.7.14.4.3
(alignment: the size of the fragment in registers); registers of the fragments' tables.
"""

from __future__ import annotations

from ...text_tables import rows

_STRIDES = """
shape     | a row | a col | b row | b col | c row | c col
m16n16k16 | 16    | 16    | 16    | 16    | 16    | 16
m8n32k16  | 16    | 8     | 32    | 16    | 32    | 8
m32n8k16  | 16    | 32    | 8     | 16    | 8     | 32
m8n8k32   | 32    |       |       | 32    | 8     | 8
m8n8k128  | 128   |       |       | 128   | 8     | 8
m16n16k8  | 8     | 16    | 16    | 8     | 16    | 16
m8n8k4    | 4     | 8     | 8     | 4     | 8     | 8
"""

STRIDES = {
    (row["shape"], *column.split()): int(row[column])
    for row in rows(_STRIDES)
    for column in row
    if column != "shape" and row[column]
}
"""Elements from line to line where no stride is given, by shape, operand and layout."""

_ALIGNED = """
shape     | type | a  | b  | c
m16n16k16 | f16  | 32 | 32 | 16
m16n16k16 | f32  |    |    | 32
m16n16k16 | bf16 | 16 | 16 |
m8n32k16  | bf16 | 8  | 32 |
m32n8k16  | bf16 | 32 | 8  |
m16n16k8  | tf32 | 16 | 16 |
m16n16k16 | s8   | 8  | 8  |
m8n32k16  | u8   | 4  | 16 |
m32n8k16  | s8   | 16 | 4  |
m16n16k16 | s32  |    |    | 32
m8n8k32   | s4   | 4  | 4  |
m8n8k32   | s32  |    |    | 8
m8n8k128  | b1   | 4  | 4  |
m8n8k4    | f64  | 8  | 8  | 16
"""

ALIGNED = {
    (row["shape"], row["type"], operand): int(row[operand])
    for row in rows(_ALIGNED)
    for operand in "abc"
    if row[operand]
}
"""Bytes of a thread's fragment, by shape, element type and operand."""

_MODELS = """
name            | target  | F  | row bits | F of fp8 | row bits of fp8
volta           | sm_70   | 23 | 64       |          |
turing          | sm_75   | 24 | 128      |          |
ampere          | sm_80   | 24 | 128      |          |
ada             | sm_89   | 24 | 128      | 13       | 128
hopper          | sm_90a  | 25 |          |          |
blackwell-sm100 | sm_100a | 25 |          |          |
blackwell       | sm_120a | 25 |          |          |
"""

_EXECUTED = """
product | architectures
mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 | volta turing
mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 | turing ampere ada hopper blackwell-sm100 blackwell
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 | ampere ada hopper blackwell-sm100 blackwell
mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 | ada hopper blackwell-sm100 blackwell
mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 | blackwell
"""

EXECUTED = {row["product"]: set(row["architectures"].split()) for row in rows(_EXECUTED)}
"""On which architectures a matrix unit executes a product: from sm_80 on, m8n8k4 of f16 is none of its."""

MODELS = {
    row["name"]: tuple(int(cell) if cell.isdigit() else cell or None for cell in row.values())
    for row in rows(_MODELS)
}
"""The published models of the matrix units: fraction bits F of aligned terms, bits of a row of A in one step.

Sources: MMA-Sim, arXiv 2511.10909; Khattak and Mikaitis, arXiv 2512.07004; Valpey et al., arXiv 2502.15999.
"""
