"""What PTX's operands may be, those without a result, and what messages say is allowed.

Sources: PTX ISA 9.1 sections 9.7.14.4 to 9.7.14.6 (fragments), 9.2 (operand type checking), 4.5 (constants);
ptxas of CUDA 13.0 on every type.

Sources: PTX ISA 9.1 sections 9.7.14.3 (scale factors, selectors), 9.7.14.5 (padding, types), 9.7.14.6
(metadata); names of choices: docs/contracts.md.
"""

from __future__ import annotations

from ...text_tables import table

TYPES = ("b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f16x2",
         "bf16", "bf16x2", "f32", "f64", "pred", "b128")  # fmt: skip
"""Types that a register may be declared with, and some that no operand takes."""

CONSTANTS = {"integer": "5", "0f": "0f3F800000", "0d": "0d3FF0000000000000", "decimal": "1.5"}
"""A constant of each spelling."""


IMMEDIATES = ("selector", "scale-a", "scale-b", "trans-a", "trans-b", "N")
"""Operands that are constants."""

OPERANDS = {
    (row["operand"], element): (row["registers"].split(), row["constants"].split())
    for row in table(__package__, "operand_types_operands")
    for element in (row["element type"].split() or [""])
}
"""Types of registers, and constants that may stand for one, by operand and element type."""


def operand(role: str, opcode: str, types: tuple[str, ...]) -> tuple[str, str]:
    """Return which operand a role is, and its element type.

    Parameters
    ----------
    role : str
        As the syntax lines name it.
    opcode : str
        Without modifiers.
    types : tuple of str
        The element types of the mnemonic: D A B C, D C, or the one that is moved.
    """
    if role == "p":
        return "address", ""
    if opcode.startswith("wgmma") and role != "metadata":
        named = {"d": "warpgroup accumulator", "a": "warpgroup factor", "scale-d": "predicate"}
        return named.get(role, "descriptor"), types["da".index(role)] if role in ("d", "a") else ""
    if role in ("metadata", "stride"):
        return role, ""
    if role.startswith(("scale", "selectors")):
        return role.partition("_")[0], ""
    if opcode in ("ldmatrix", "stmatrix", "movmatrix"):
        return "row", types[0]
    if len(types) == 1:
        return ("accumulator" if opcode[-1] in "cd" else "factor"), types[0]
    of = {"d": types[0], "c": types[-1 if len(types) < 5 else 3]}
    if role in of:
        return "accumulator", of[role]
    return "factor", "f16" if len(types) == 2 else types[1 if role == "a" else 2]


def reads(role: str, opcode: str) -> bool:
    """Whether an instruction reads an operand; it writes the others."""
    if opcode.startswith("wmma.load"):
        return role not in "abc"
    return role != "d" or opcode.startswith(("wmma.store", "wgmma"))


_SPARSE = "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
_ORDERED = _SPARSE.replace("mma.sp", "mma.sp::ordered_metadata")
_TF32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
_F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
_S8 = "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32"
_F64 = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"
_NARROW = "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32"
_NVF4 = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"
_MX = "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"

_C4, _A4, _B2 = "{%f0, %f1, %f2, %f3}", "{%r0, %r1, %r2, %r3}", "{%r4, %r5}"
_A2, _B4 = "{%r0, %r1}", "{%r4, %r5, %r6, %r7}"
_SCALED = f"{_MX} {_C4}, {_A4}, {_B2}, {_C4}"
_SP = f"{_SPARSE} {_C4}, {_A2}, {_B2}, {_C4}, %r6"
_HALF = (
    f"{_SP}, 0",
    f"{_ORDERED} {_C4}, {_A2}, {_B2}, {_C4}, %r6, 3",
    f"{_SPARSE.replace('f16', 'bf16')} {_C4}, {_A2}, {_B2}, {_C4}, %r6, 0",
    f"mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {_C4}, {_A2}, {_B2}, {_C4}, %r6, 0",
    f"mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {_C4}, {_A2}, {_B2}, {_C4}, %r6, 0",
    f"mma.sp.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {_C4}, {_A2}, {_B2}, {_C4}, %r6, 1",
)
"""Sparse products of half a K, whose metadata are an open point."""

_WHOLE = (
    f"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {_C4}, {_A4}, {_B4}, {_C4}, %r6, 0",
    f"mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {_C4}, {_A4}, {_B4}, {_C4}, %r6, 0",
    f"mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {_C4}, {_A4}, {_B4}, {_C4}, %r6, 0",
    f"mma.sp.sync.aligned.m16n8k128.row.col.s32.u4.u4.s32 {_C4}, {_A4}, {_B4}, {_C4}, %r6, 0",
)
"""Those of twice the K."""

MATRICES = (
    # instruction, choice, operand, element, encoding, whether it is executed
    (_SPARSE, "", "metadata", (3, 1), 0b0100, True), (_SPARSE, "", "metadata", (3, 1), 0b0000, False),
    (_SPARSE, "", "metadata", (15, 3), 0b1111, False), (_SPARSE, "", "metadata", (0, 0), 0b0001, True),
    (_SPARSE, "half-k-metadata=unspecified", "metadata", (3, 1), 0b0100, True),
    (_ORDERED, "", "metadata", (0, 0), 0b0001, False), (_ORDERED, "", "metadata", (0, 0), 0b1110, True),
    (_TF32, "tf32-low-bits=zero", "a", (15, 7), 1 << 12, False),
    (_TF32, "tf32-low-bits=zero", "b", (7, 7), 1, False),
    (_TF32, "tf32-low-bits=zero", "a", (15, 7), 1 << 13, True),
    (_TF32, "tf32-low-bits=ignored", "a", (15, 7), 1 << 12, True),
    (_NVF4, "", "scale_a", (15, 3), 0x80, False), (_NVF4, "", "scale_b", (3, 7), 0x80, False),
    (_NVF4, "", "scale_a", (15, 3), 0x7F, True), (_MX, "", "scale_a", (15, 1), 0x80, True),
    (_F16, "accumulation=unspecified", "a", (0, 0), 0, False),
    (_S8, "accumulation=unspecified", "a", (0, 0), 0, True),
    (_F64, "accumulation=unspecified", "a", (0, 0), 0, True),
)  # fmt: skip
"""Matrices of zeros (metadata 0100) with one other element."""

_INCREASING = [0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110]
_DIFFERENT = [0b0001, 0b0010, 0b0011, 0b0110, 0b0111, 0b1011]
_HALVES = [0b0100, 0b1110]
_WIDE = ("f16", "bf16", "s8", "u8", "s4", "u4")


def nibbles(a: str, b: str, ordered: bool) -> list[int]:
    """Return the metadata of a chunk that a product of these types takes (9.7.14.6.1).

    Of tf32 the two that keep a whole element; else two different quarters, which have to increase in ordered
    metadata and of 8-, 6- and 4-bit floats.
    """
    if a == "tf32":
        return _HALVES
    return _INCREASING if ordered or not {a, b} <= {*_WIDE} else sorted(_INCREASING + _DIFFERENT)


REGISTERS = (
    # instruction, choice, operand, (lane, register), word, whether it is executed
    (_NARROW, "padding=zero", "a", (31, 3), 0x3C3C3C3C, True),
    (_NARROW, "padding=zero", "a", (31, 3), 0x40000000, False),
    (_NARROW, "padding=zero", "a", (0, 0), 0x00000002, False),
    (_NARROW, "padding=zero", "b", (31, 1), 0x3F3F3F3F, True),
    (_NARROW, "padding=zero", "b", (5, 0), 0x00400000, False),
    (_NARROW, "padding=ignored", "b", (5, 0), 0x00400000, True),
    (_F16, "padding=zero", "b", (5, 0), 0xFFFFFFFF, True),
    (_SPARSE, "", "a", (0, 0), 0, False),  # the selector is not spelled
    (f"{_SP}, 0", "", "metadata", (0, 0), 0x44444444, True),
    (f"{_SP}, 0", "", "metadata", (0, 0), 0x44444440, False),
    *((text, "half-k-metadata=as-twice-k", "metadata", (0, 0), 0x44444444, True) for text in _WHOLE + _HALF),
    *((text, "half-k-metadata=unspecified", "metadata", (0, 0), 0x44444444, True) for text in _WHOLE),
    *((text, "half-k-metadata=unspecified", "metadata", (0, 0), 0x44444444, False) for text in _HALF),
    (f"{_SCALED}, %r8, {{0, 0}}, %r9, {{0, 0}}", "", "a", (0, 0), 0, True),
    (f"{_SCALED}, %r8, {{0, 0}}, %r9, {{%h0, 0}}", "", "a", (0, 0), 0, False),
)  # fmt: skip
"""Registers of zeros (metadata 0100 everywhere) with one other word."""

SELECTORS: dict[str, object] = {
    _F16: (None, None, None),
    _F16.replace(".sync", ""): "refused",
    _F16.replace(".aligned", ""): "refused",
    _SPARSE: "refused",
    f"{_SP}, 0": (None, None, 0),
    f"{_SP}, 3": (None, None, 3),
    _MX: "refused",
    f"{_SCALED}, %r8, {{2, 1}}, %r9, {{0, 1}}": ((2, 1), (0, 1), None),
    f"{_SCALED}, %r8, {{0, 0}}, %r9, {{%h0, 0}}": "refused",
    f"{_SCALED}, %r8, {{0, %h0}}, %r9, {{0, 0}}": "refused",
}
"""``{byte_id, thread_id}`` of the scale factors of A and of B, and the sparsity selector."""


ELEMENTS = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")
SCALES = ("ue8m0", "ue4m3")
"""Types of scaled elements and of their factors."""
