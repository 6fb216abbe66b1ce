"""The tables of ``mma``, ``mma.sp`` and ``wmma.mma``: what may be multiplied, with how many registers, where.

Every row is a set of instructions. Sources: PTX ISA 9.1, the shapes and types of section 9.7.14.2, the
fragments' tables of 9.7.14.4 to 9.7.14.6 (registers), the target and ISA notes of each instruction (targets,
versions), the tables of block scaling of 9.7.14.3, the notes on the sparsity selector of 9.7.14.6; ptxas.
"""

from __future__ import annotations

from itertools import product

from ...text_tables import rows

_MMA = """
shape     | A B       | D.C     | D | A | B | more                      | PTX | targets
m8n8k4    | f16       | f16.f16 | 4 | 2 | 2 | any layouts               | 6.4 | sm_70+
m8n8k4    | f16       | f32.f16 | 8 | 2 | 2 | any layouts               | 6.4 | sm_70+
m8n8k4    | f16       | f32.f32 | 8 | 2 | 2 | any layouts               | 6.4 | sm_70+
m8n8k4    | f64       | f64.f64 | 2 | 1 | 1 | rounding                  | 7.0 | sm_80+
m16n8k4   | f64       | f64.f64 | 4 | 2 | 1 | rounding                  | 7.8 | sm_90+
m16n8k8   | f64       | f64.f64 | 4 | 4 | 2 | rounding                  | 7.8 | sm_90+
m16n8k16  | f64       | f64.f64 | 4 | 8 | 4 | rounding                  | 7.8 | sm_90+
m16n8k4   | tf32      | f32.f32 | 4 | 2 | 1 |                           | 7.0 | sm_80+
m16n8k8   | tf32      | f32.f32 | 4 | 4 | 2 |                           | 7.0 | sm_80+
m16n8k8   | f16       | f16.f16 | 2 | 2 | 1 |                           | 6.5 | sm_75+
m16n8k8   | f16       | f32.f32 | 4 | 2 | 1 |                           | 6.5 | sm_75+
m16n8k16  | f16       | f16.f16 | 2 | 4 | 2 |                           | 7.0 | sm_80+
m16n8k16  | f16       | f32.f32 | 4 | 4 | 2 |                           | 7.0 | sm_80+
m16n8k8   | bf16      | f32.f32 | 4 | 2 | 1 |                           | 7.0 | sm_80+
m16n8k16  | bf16      | f32.f32 | 4 | 4 | 2 |                           | 7.0 | sm_80+
m8n8k16   | s8 u8     | s32.s32 | 2 | 1 | 1 | satfinite                 | 6.5 | sm_75+
m16n8k16  | s8 u8     | s32.s32 | 4 | 2 | 1 | satfinite                 | 7.0 | sm_80+
m16n8k32  | s8 u8     | s32.s32 | 4 | 4 | 2 | satfinite                 | 7.0 | sm_80+
m8n8k32   | s4 u4     | s32.s32 | 2 | 1 | 1 | satfinite                 | 6.5 | sm_75+
m16n8k32  | s4 u4     | s32.s32 | 4 | 2 | 1 | satfinite                 | 7.0 | sm_80+
m16n8k64  | s4 u4     | s32.s32 | 4 | 4 | 2 | satfinite                 | 7.0 | sm_80+
m8n8k128  | b1        | s32.s32 | 2 | 1 | 1 | xor                       | 7.0 | sm_75+
m8n8k128  | b1        | s32.s32 | 2 | 1 | 1 | and                       | 7.1 | sm_80+
m16n8k128 | b1        | s32.s32 | 4 | 2 | 1 | xor                       | 7.0 | sm_80+
m16n8k128 | b1        | s32.s32 | 4 | 2 | 1 | and                       | 7.1 | sm_80+
m16n8k256 | b1        | s32.s32 | 4 | 4 | 2 | xor                       | 7.0 | sm_80+
m16n8k256 | b1        | s32.s32 | 4 | 4 | 2 | and                       | 7.1 | sm_80+
m16n8k32  | e4m3 e5m2 | f32.f32 | 4 | 4 | 2 |                           | 8.4 | sm_89+
m16n8k32  | e4m3 e5m2 | f16.f16 | 2 | 4 | 2 |                           | 8.7 | sm_89+
m16n8k16  | e4m3 e5m2 | f32.f32 | 4 | 2 | 1 |                           | 8.7 | sm_89+
m16n8k16  | e4m3 e5m2 | f16.f16 | 2 | 2 | 1 |                           | 8.7 | sm_89+
m16n8k32  | narrow    | f32.f32 | 4 | 4 | 2 | f8f6f4                    | 8.7 | 120 family
m16n8k32  | narrow    | f16.f16 | 2 | 4 | 2 | f8f6f4                    | 8.7 | 120 family
m16n8k32  | narrow    | f32.f32 | 4 | 4 | 2 | mxf8f6f4 1X ue8m0 default | 8.7 | 120 family
m16n8k64  | e2m1      | f32.f32 | 4 | 4 | 2 | mxf4 2X ue8m0 default     | 8.7 | 120 family
m16n8k64  | e2m1      | f32.f32 | 4 | 4 | 2 | mxf4nvf4 2X ue8m0         | 8.7 | 120 family
m16n8k64  | e2m1      | f32.f32 | 4 | 4 | 2 | mxf4nvf4 4X ue4m3         | 8.7 | 120 family
m16n8k64  | e2m1      | f32.f32 | 4 | 4 | 2 | mxf4nvf4 4X ue8m0         | 9.1 | 120 family
"""

_MMA_SP = """
shape     | A B       | D.C     | D | A | B | more                      | sel     | sp  | ordered | targets
m16n8k8   | tf32      | f32.f32 | 4 | 2 | 2 |                           | 0 1 2 3 | 7.1 | 8.5     | sm_80+
m16n8k16  | tf32      | f32.f32 | 4 | 4 | 4 |                           | 0 1     | 7.1 | 8.5     | sm_80+
m16n8k16  | f16       | f16.f16 | 2 | 2 | 2 |                           | 0 1 2 3 | 7.1 | 8.5     | sm_80+
m16n8k16  | f16       | f32.f32 | 4 | 2 | 2 |                           | 0 1 2 3 | 7.1 | 8.5     | sm_80+
m16n8k16  | bf16      | f32.f32 | 4 | 2 | 2 |                           | 0 1 2 3 | 7.1 | 8.5     | sm_80+
m16n8k32  | f16       | f16.f16 | 2 | 4 | 4 |                           | 0 1     | 7.1 | 8.5     | sm_80+
m16n8k32  | f16       | f32.f32 | 4 | 4 | 4 |                           | 0 1     | 7.1 | 8.5     | sm_80+
m16n8k32  | bf16      | f32.f32 | 4 | 4 | 4 |                           | 0 1     | 7.1 | 8.5     | sm_80+
m16n8k32  | s8 u8     | s32.s32 | 4 | 2 | 2 | satfinite                 | 0 1     | 7.1 | 8.5     | sm_80+
m16n8k64  | s8 u8     | s32.s32 | 4 | 4 | 4 | satfinite                 | 0       | 7.1 | 8.5     | sm_80+
m16n8k64  | s4 u4     | s32.s32 | 4 | 2 | 2 | satfinite                 | 0 1     | 7.1 | 8.5     | sm_80+
m16n8k128 | s4 u4     | s32.s32 | 4 | 4 | 4 | satfinite                 | 0       | 7.1 | 8.5     | sm_80+
m16n8k64  | e4m3 e5m2 | f32.f32 | 4 | 4 | 4 |                           | 0       | 8.4 | 8.5     | sm_89+
m16n8k64  | e4m3 e5m2 | f16.f16 | 2 | 4 | 4 |                           | 0       |     | 8.7     | 120 family
m16n8k64  | narrow    | f32.f32 | 4 | 4 | 4 | f8f6f4                    | 0       |     | 8.7     | 120 family
m16n8k64  | narrow    | f16.f16 | 2 | 4 | 4 | f8f6f4                    | 0       |     | 8.7     | 120 family
m16n8k64  | narrow    | f32.f32 | 4 | 4 | 4 | mxf8f6f4 1X ue8m0 default | 0       |     | 8.7     | 120 family
m16n8k128 | e2m1      | f32.f32 | 4 | 4 | 4 | mxf4 2X ue8m0 default     | 0       |     | 8.7     | 120a 121a
m16n8k128 | e2m1      | f32.f32 | 4 | 4 | 4 | mxf4nvf4 2X ue8m0         | 0       |     | 8.7     | 120a 121a
m16n8k128 | e2m1      | f32.f32 | 4 | 4 | 4 | mxf4nvf4 4X ue4m3         | 0       |     | 8.7     | 120a 121a
m16n8k128 | e2m1      | f32.f32 | 4 | 4 | 4 | mxf4nvf4 4X ue8m0         | 0       |     | 9.1     | 120a 121a
"""

_WMMA = """
shape     | A B  | D.C                             | layouts | more      | PTX | targets
m16n16k16 | f16  | f16.f16 f32.f16 f16.f32 f32.f32 | any     |           | 6.0 | sm_70+
m8n32k16  | f16  | f16.f16 f32.f16 f16.f32 f32.f32 | any     |           | 6.1 | sm_70+
m32n8k16  | f16  | f16.f16 f32.f16 f16.f32 f32.f32 | any     |           | 6.1 | sm_70+
m16n16k16 | bf16 | f32.f32                         | any     |           | 7.0 | sm_80+
m8n32k16  | bf16 | f32.f32                         | any     |           | 7.0 | sm_80+
m32n8k16  | bf16 | f32.f32                         | any     |           | 7.0 | sm_80+
m16n16k8  | tf32 | f32.f32                         | any     |           | 7.0 | sm_80+
m16n16k16 | s8   | s32.s32                         | any     | satfinite | 6.3 | sm_72+
m16n16k16 | u8   | s32.s32                         | any     | satfinite | 6.3 | sm_72+
m8n32k16  | s8   | s32.s32                         | any     | satfinite | 6.3 | sm_72+
m8n32k16  | u8   | s32.s32                         | any     | satfinite | 6.3 | sm_72+
m32n8k16  | s8   | s32.s32                         | any     | satfinite | 6.3 | sm_72+
m32n8k16  | u8   | s32.s32                         | any     | satfinite | 6.3 | sm_72+
m8n8k32   | s4   | s32.s32                         | row.col | satfinite | 6.3 | sm_75+
m8n8k32   | u4   | s32.s32                         | row.col | satfinite | 6.3 | sm_75+
m8n8k128  | b1   | s32.s32                         | row.col | xor       | 6.3 | sm_75+
m8n8k128  | b1   | s32.s32                         | row.col | and       | 7.1 | sm_80+
m8n8k4    | f64  | f64.f64                         | any     | rounding  | 7.0 | sm_80+
"""

_WMMA_REGISTERS = """
shape     | type | A | B | C and D
m16n16k16 | f16  | 8 | 8 | f16:4 f32:8
m8n32k16  | f16  | 8 | 8 | f16:4 f32:8
m32n8k16  | f16  | 8 | 8 | f16:4 f32:8
m16n16k16 | bf16 | 4 | 4 | f32:8
m8n32k16  | bf16 | 2 | 8 | f32:8
m32n8k16  | bf16 | 8 | 2 | f32:8
m16n16k8  | tf32 | 4 | 4 | f32:8
m16n16k16 | s8   | 2 | 2 | s32:8
m16n16k16 | u8   | 2 | 2 | s32:8
m8n32k16  | s8   | 1 | 4 | s32:8
m8n32k16  | u8   | 1 | 4 | s32:8
m32n8k16  | s8   | 4 | 1 | s32:8
m32n8k16  | u8   | 4 | 1 | s32:8
m8n8k32   | s4   | 1 | 1 | s32:2
m8n8k32   | u4   | 1 | 1 | s32:2
m8n8k128  | b1   | 1 | 1 | s32:2
m8n8k4    | f64  | 1 | 1 | f64:2
"""

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
    for row in rows(_MMA):
        layouts = product(LAYOUTS, LAYOUTS) if row["more"] == "any layouts" else [("row", "col")]
        operands = (*_registers(row), *_scales(row["more"]))
        where = row["PTX"], row["targets"]
        for (of_a, of_b), mnemonic in product(layouts, _spelled(row)):
            text = mnemonic.format(f"mma.sync.aligned.{row['shape']}.{of_a}.{of_b}")
            found.append((text, operands, where))
    for row in rows(_MMA_SP):
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
    registers = {(row["shape"], row["type"]): row for row in rows(_WMMA_REGISTERS)}
    found: list[Entry] = []
    for row in rows(_WMMA):
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
