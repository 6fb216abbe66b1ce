"""The tables of ``mma``, ``mma.sp`` and ``wmma.mma``, and which products and moves are executed.

Every row is a set of instructions. Sources: PTX ISA 9.1, the shapes and types of section 9.7.14.2, the
fragments' tables of 9.7.14.4 to 9.7.14.6 (registers), the target and ISA notes of each instruction (targets,
versions), the tables of block scaling of 9.7.14.3, the notes on the sparsity selector of 9.7.14.6; ptxas.

Sources: PTX ISA 9.1 section 9.7.14 (D = A*B + C; sparse A by metadata; scale factors by block; addresses of
rows are multiples of 16).
"""

from __future__ import annotations

from itertools import product

from ...text_tables import table

SELECTORS = {
    "1X": ("0 1 2 3", "0 1", "0 1 2 3", "0 1 2 3"),
    "2X": ("0 2", "0 1", "0 2", "0 1 2 3"),
    "4X": ("0", "0 1", "0", "0 1 2 3"),
}
"""Byte-id and thread-id of A, byte-id and thread-id of B, by the vector size of block scaling."""

GROUPS = {"narrow": ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")}
"""Element types by the name that rows have for them."""

KINDS = ("f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4")
ROUNDINGS = ("rn", "rz", "rm", "rp")
LAYOUTS = ("row", "col")
WMMA_SPACES = ("", ".global", ".shared", ".shared::cta")

Entry = tuple[str, tuple[str, ...], tuple[str, str]]
"""Mnemonic, operands (``name registers`` or ``name values``), and PTX version and targets."""


def _numbers(text: str) -> str:
    return ",".join(text.split())


def _modifiers(more: str) -> list[tuple[str, str, str]]:
    """Return what stands before the types, behind them, and the type of scale factors, for each spelling."""
    words = more.split()
    if "satfinite" in words:
        return [("", "", ""), (".satfinite", "", "")]
    if "rounding" in words:
        return [("", "", ""), *(("", f".{rounding}", "") for rounding in ROUNDINGS)]
    if words and words[0] in ("xor", "and"):
        return [("", f".{words[0]}.popc", "")]
    if words == ["f8f6f4"]:
        return [(".kind::f8f6f4", "", "")]
    if words and words[0] in KINDS:
        kind, size, scale_type = words[:3]
        sizes = [f".scale_vec::{size}", *([""] if "default" in words else [])]
        return [(f".kind::{kind}.block_scale{spelled}", "", f".{scale_type}") for spelled in sizes]
    return [("", "", "")]


def _registers(row: dict[str, str]) -> list[str]:
    d_type, c_type = row["D.C"].split(".")
    d, a, b = row["D"], row["A"], row["B"]
    c = d if c_type == d_type else {"f16": "4", "f32": "8"}[c_type]
    return [f"d {d}", f"a {a}", f"b {b}", f"c {c}"]


def _scales(more: str) -> list[str]:
    words = more.split()
    if not words or words[0] not in KINDS[1:]:
        return []
    byte_a, thread_a, byte_b, thread_b = map(_numbers, SELECTORS[words[1]])
    return ["scale_a", f"selectors_a {byte_a} x {thread_a}", "scale_b", f"selectors_b {byte_b} x {thread_b}"]


def multiplications() -> list[Entry]:
    """Return every ``mma`` and ``mma.sp``, a row once for each spelling of what may be left out."""
    found = []
    for row in table(__package__, "mma"):
        layouts = product(LAYOUTS, LAYOUTS) if row["more"] == "any layouts" else [("row", "col")]
        operands = (*_registers(row), *_scales(row["more"]))
        where = row["PTX"], row["targets"]
        for (of_a, of_b), mnemonic in product(layouts, _spelled(row)):
            text = mnemonic.format(f"mma.sync.aligned.{row['shape']}.{of_a}.{of_b}")
            found.append((text, operands, where))
    for row in table(__package__, "mma_sp"):
        sparse = ("metadata", f"selector {_numbers(row['sel'])}")
        operands = (*_registers(row), *sparse, *_scales(row["more"]))
        for column, opcode in (("sp", "mma.sp"), ("ordered", "mma.sp::ordered_metadata")):
            for mnemonic in _spelled(row) if row[column] else ():
                text = mnemonic.format(f"{opcode}.sync.aligned.{row['shape']}.row.col")
                found.append((text, operands, (row[column], row["targets"])))
    return found


def _spelled(row: dict[str, str]) -> list[str]:
    (d, c) = row["D.C"].split(".")
    types = GROUPS.get(row["A B"]) or row["A B"].split()
    return [
        f"{{}}{before}.{d}.{a}.{b}.{c}{scale}{behind}"
        for a, b in product(types, types)
        for before, behind, scale in _modifiers(row["more"])
    ]


def wmma() -> list[Entry]:
    """Return every ``wmma``: loads and stores of each operand, and products."""
    registers = {(row["shape"], row["type"]): row for row in table(__package__, "wmma_registers")}
    found: list[Entry] = []
    for row in table(__package__, "wmma"):
        shape, ab, where = row["shape"], row["A B"], (row["PTX"], row["targets"])
        counts = registers[shape, ab]
        accumulator = dict(part.split(":") for part in counts["C and D"].split())
        free = row["layouts"] == "any"
        for role, types, layouts in (
            ("a", {ab: counts["A"]}, LAYOUTS if free else ("row",)),
            ("b", {ab: counts["B"]}, LAYOUTS if free else ("col",)),
            ("c", accumulator, LAYOUTS),
            ("d", accumulator, LAYOUTS),
        ):
            if row["more"] != "and":  # loads and stores came with the first operation
                found += _wmma_moves(shape, role, types, layouts, where)
        for pair, (of_a, of_b), (_, behind, _) in product(
            row["D.C"].split(),
            product(LAYOUTS, LAYOUTS) if free else [("row", "col")],
            _modifiers(row["more"]) if row["more"] != "satfinite" else [("", "", ""), ("", ".satfinite", "")],
        ):
            d, c = pair.split(".")
            types_text = f"{d}.{c}" if ab == "f16" else f"{d}.{ab}.{ab}.{c}"
            head = f"wmma.mma{behind if 'popc' in behind else ''}.sync.aligned.{of_a}.{of_b}.{shape}"
            rounding = behind if row["more"] == "rounding" else ""
            saturation = behind if row["more"] == "satfinite" else ""
            operands = (f"d {accumulator[d]}", f"a {counts['A']}", f"b {counts['B']}", f"c {accumulator[c]}")
            found.append((f"{head}{rounding}.{types_text}{saturation}", operands, where))
    return found


def _wmma_moves(
    shape: str, role: str, types: dict[str, str], layouts: tuple[str, ...], where: tuple[str, str]
) -> list[Entry]:
    stored = role == "d"
    opcode = "wmma.store.d" if stored else f"wmma.load.{role}"
    found: list[Entry] = []
    for (element, count), layout, space in product(types.items(), layouts, WMMA_SPACES):
        held = f"{role} {count}"
        operands = ("p", held, "stride") if stored else (held, "p", "stride")
        found.append((f"{opcode}.sync.aligned.{layout}.{shape}{space}.{element}", operands, where))
    return found


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
