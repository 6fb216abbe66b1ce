"""Products and moves on whole numbers: which instructions are executed, and what is no address.

Sources: PTX ISA 9.1 section 9.7.14 (D = A*B + C; sparse A by metadata; scale factors by block; addresses of
rows are multiples of 16).
"""

from __future__ import annotations

PRODUCTS = (
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",
    "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
    "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32",
    "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32",
    "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32",
    "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16",
    "wmma.mma.sync.aligned.col.row.m32n8k16.s32.s8.s8.s32",
    "wmma.mma.sync.aligned.row.row.m8n32k16.f32.bf16.bf16.f32",
    "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32",
    "wmma.mma.sync.aligned.col.col.m8n8k4.f64.f64.f64.f64",
)
"""Dense products of signed factors."""

SPARSE = (
    # mnemonic, elements of a chunk, stored ones of a chunk, metadata of each chunk, columns that it keeps
    ("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, (0b0100, (0, 1)), (0b1110, (2, 3))),
    ("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32", 4,
     (0b1001, (1, 2)), (0b1101, (1, 3))),
    ("mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32", 4, (0b1000, (0, 2)), (0b1100, (0, 3))),
    ("mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 2, (0b0100, (0,)), (0b1110, (1,))),
    ("mma.sp.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", 8, (0b1101, (2, 3, 6, 7)), (0b0100, (0, 1, 2, 3))),
)  # fmt: skip
"""Sparse products: chunks of A alternate between the two nibbles, which keep the columns."""

SCALED = (
    # mnemonic, factors along K, and the K of one
    ("mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e5m2.f32.ue8m0", 1, 32),
    ("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", 2, 32),
    ("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3",
     4, 16),
)  # fmt: skip
"""Products with scale factors."""

WRONG_ADDRESSES = (
    # lane, address in a memory of 1024 bytes, whether x1, x2, x4 read it, and whether x1 does on sm_75
    (0, 8, True, True, True), (0, -16, True, True, True), (0, 1024, True, True, True),
    (0, 1008, False, False, False), (7, 1, True, True, True), (8, 1, False, True, True),
    (15, 1016, False, True, True), (16, 4, False, False, True), (31, 1024, False, False, True),
)  # fmt: skip
"""Where ldmatrix is not defined, by the number of matrices."""

WMMA_MEMORY = (
    # role, layout, shape, type, extents of the matrix, bytes of an element, numpy type
    ("a", "row", "m16n16k16", "f16", (16, 16), "<f2"), ("b", "col", "m16n16k16", "f16", (16, 16), "<f2"),
    ("a", "col", "m32n8k16", "s8", (32, 16), "i1"), ("b", "row", "m8n32k16", "u8", (16, 32), "u1"),
    ("c", "row", "m32n8k16", "s32", (32, 8), "<i4"), ("c", "col", "m16n16k16", "f32", (16, 16), "<f4"),
    ("a", "row", "m8n8k4", "f64", (8, 4), "<f8"), ("b", "col", "m16n16k8", "tf32", (8, 16), "<f4"),
)  # fmt: skip
"""Loads: rows (of ``col`` columns) follow each other at the stride."""

_HALVES, _BYTES = "wmma.load.a.sync.aligned.row.m16n16k16.f16", "wmma.load.a.sync.aligned.col.m32n8k16.s8"
_STORE = "wmma.store.d.sync.aligned.row.m16n16k16.f32"

WMMA_STRIDES = (
    # instruction, pointer, elements from line to line, bytes of memory; fragments have 32, 16 and 32 bytes
    (_HALVES, 0, 16, 512, "taken"), (_HALVES, 0, 16, 511, "refused"), (_HALVES, 32, 16, 543, "refused"),
    (_HALVES, 32, 16, 544, "taken"), (_HALVES, 16, 16, 544, "refused"), (_HALVES, 1, 16, 544, "refused"),
    (_HALVES, -32, 16, 544, "refused"), (_HALVES, 0, 32, 992, "taken"), (_HALVES, 0, 32, 991, "refused"),
    (_HALVES, 0, 24, 2048, "refused"), (_HALVES, 0, 17, 2048, "refused"), (_HALVES, 0, 8, 2048, "refused"),
    (_HALVES, 0, 0, 2048, "refused"), (_HALVES, 0, -16, 2048, "refused"),
    (_BYTES, 0, 32, 512, "taken"), (_BYTES, 16, 32, 528, "taken"), (_BYTES, 8, 32, 528, "refused"),
    (_BYTES, 0, 48, 752, "taken"), (_BYTES, 0, 48, 751, "refused"), (_BYTES, 0, 40, 2048, "refused"),
    (_BYTES, 0, 16, 2048, "refused"),
    (_STORE, 0, 16, 1024, "taken"), (_STORE, 0, 16, 1023, "refused"), (_STORE, 16, 16, 2048, "refused"),
    (_STORE, 0, 20, 2048, "refused"), (_STORE, 0, 24, 1504, "taken"), (_STORE, 0, 24, 1503, "refused"),
)  # fmt: skip
"""A line is as long as the matrix at least, and begins at a multiple of the fragment of a thread."""
