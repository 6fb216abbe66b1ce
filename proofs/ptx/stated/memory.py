"""The memory operand of ``wmma``: default strides, and the bytes that lines are aligned to.

Sources: PTX ISA 9.1 section 9.7.14.4.2 (matrix storage: the table of leading dimensions) and 9.7.14.4.3
(alignment: the size of the fragment in registers); registers of the fragments' tables.
"""

from __future__ import annotations

from ...text_tables import table

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
