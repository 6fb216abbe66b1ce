"""What the rules exclude and ptxas takes all the same: which instructions, and which rules they violate.

Every entry is a contradiction between the manual and the assembler. ptxas of CUDA 13.0 was run on each, and
takes nothing else that the rules exclude; of what an entry is about it may refuse some.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..legality import Contradiction, Violation
from . import contradictions
from .instructions import Instruction
from .legality import Module
from .mma_forms import KINDS
from .operands import Address, Register, Vector
from .signatures import WORDS, Sort, signature, signatures
from .special_registers import SPECIAL
from .targets import Version, target_named
from .variant import WARPGROUP, WARPGROUP_ORDER, Family, Shape, Variant
from .variant_rules import narrow

_NEWEST_MODULE = Module(target_named("sm_120a"), (9, 0))

_FP8 = {"e4m3", "e5m2"}


def _on_fp8(variant: Variant) -> bool:
    types = variant.element_types
    return {types.get("a"), types.get("b")} <= _FP8


def _width(register_type: str | None) -> int | None:
    """Return the bits of a register, of a predicate those that ptxas takes it for; None without a type."""
    if register_type in ("f16x2", "pred"):
        return 32
    bits = re.search(r"\d+$", register_type or "")
    return int(bits[0]) if bits else None


def _registers_have_the_size(instruction: Instruction) -> bool:
    """Say whether every register of a vector or scalar operand has as many bits as it must."""
    operands = signature(narrow(instruction.variant).forms[0], instruction.variant)
    return all(
        _width(register.type) == _width(form.classes[0])
        for form, operand in zip(operands, instruction.operands or (), strict=False)
        if form.sort in (Sort.VECTOR, Sort.SCALAR)
        for register in (operand.elements if isinstance(operand, Vector) else (operand,))
        if isinstance(register, Register)
    )


def _predicates_for_words(instruction: Instruction) -> bool:
    """Say whether all that is wrong with a warpgroup's registers is predicates for words of any type."""
    operands = instruction.operands or ()
    lists = signatures(narrow(instruction.variant).forms[0], instruction.variant)
    in_registers = isinstance(operands[1] if len(operands) > 1 else None, Vector)
    return all(
        register.type in form.classes or (register.type == "pred" and form.classes == WORDS)
        for form, operand in zip(lists[in_registers], operands, strict=False)
        for register in (operand.elements if isinstance(operand, Vector) else (operand,))
        if isinstance(register, Register)
    )


def _register_types(instruction: Instruction) -> set[str | None]:
    """Return the types of the registers of an instruction."""
    scalars: list[object] = []
    for operand in instruction.operands or ():
        match operand:
            case Vector(elements):
                scalars += elements
            case Address(base):
                scalars.append(base)
            case _:
                scalars.append(operand)
    return {scalar.type for scalar in scalars if isinstance(scalar, Register)}


@dataclass(frozen=True)
class Leniency:
    """Something illegal that ptxas takes.

    Attributes
    ----------
    contradiction : Contradiction
        Its name, and who says what.
    rules : set of str
        The rules that may be violated by it, and no others.
    explains : callable (instruction, module) -> bool
        Which instructions it is about.
    shown : str
        An example.
    closed : Version, optional
        The CUDA release whose ptxas rejects it.
    module : Module
        Where the example stands.
    """

    contradiction: Contradiction
    rules: frozenset[str]
    explains: Callable[[Instruction, Module], bool]
    shown: str
    closed: Version | None = None
    module: Module = _NEWEST_MODULE


_MMA = "mma.sync.aligned"
_C4 = "{f32_0, f32_1, f32_2, f32_3}"
_A4, _B2 = "{b32_0, b32_1, b32_2, b32_3}", "{b32_4, b32_5}"
_A2 = "{b32_0, b32_1}"
_WGMMA_MODULE = Module(target_named("sm_90a"), (9, 0))
_WGMMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
_SCALED = (
    f"{_MMA}.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 {_C4}, {_A4}, {_B2}, {_C4}"
)

LENIENCIES = (
    Leniency(
        contradictions.F16_SPARSE_SELECTOR, frozenset({"selector"}),
        lambda i, _: i.variant.family is Family.MMA_SP and i.variant.shape == Shape(16, 8, 32)
        and i.variant.types == ("f32", "f16", "f16", "f32"),
        f"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {_C4}, {_A4}, {_A4}, {_C4}, b32_0, 3",
    ),
    Leniency(
        contradictions.F8F6F4_K16, frozenset({"kind"}),
        lambda i, _: _on_fp8(i.variant) and i.variant.shape == Shape(16, 8, 16)
        and i.variant.kind == "f8f6f4",
        f"{_MMA}.m16n8k16.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 {_C4}, {_A2}, {{b32_4}}, {_C4}",
    ),
    Leniency(
        contradictions.UNSCALED_KINDS,
        # The rules see a block-scaled form whose other parts are missing.
        frozenset({"kind", "block-scale", "scale-type", "accumulator-types", "operand-count",
         "register-count", "register-class", "ptx-version", "target"}),
        lambda i, _: _on_fp8(i.variant) and i.variant.kind in KINDS[1:] and not i.variant.block_scale,
        f"{_MMA}.m16n8k32.row.col.kind::mxf4.f32.e4m3.e4m3.f32 {_C4}, {_A4}, {_B2}, {_C4}",
    ),
    Leniency(
        contradictions.F8F6F4_TARGETS, frozenset({"target", "ptx-version", "kind"}),
        lambda i, m: _on_fp8(i.variant) and i.variant.kind == "f8f6f4"
        and m.target.number in (100, 101, 103, 110) and m.target.suffix != "",
        f"{_MMA}.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 {_C4}, {_A4}, {_B2}, {_C4}",
        module=Module(target_named("sm_100a"), (8, 6)),
    ),
    Leniency(
        contradictions.BF16_M8N8K4, frozenset({"multiplicand-types", "register-class"}),
        lambda i, _: i.variant.shape == Shape(8, 8, 4) and i.variant.types == ("f32", "bf16", "bf16", "f32"),
        f"{_MMA}.m8n8k4.row.col.f32.bf16.bf16.f32 "
        "{f32_0, f32_1, f32_2, f32_3, f32_4, f32_5, f32_6, f32_7}, {b32_0, b32_1}, {b32_2, b32_3}, "
        "{f32_0, f32_1, f32_2, f32_3, f32_4, f32_5, f32_6, f32_7}",
    ),
    Leniency(
        contradictions.UNCHECKED_BIT_OPERATION, frozenset({"bit-operation", "popc"}),
        lambda i, _: i.variant.family is Family.MMA and set(i.variant.types[1:3]) <= {"s4", "u4"},
        f"{_MMA}.m16n8k32.row.col.s32.s4.s4.s32.xor.popc {_A4}, {_A2}, {{b32_4}}, {_A4}",
    ),
    Leniency(
        contradictions.FP8_K16_B, frozenset({"register-count"}),
        lambda i, _: _on_fp8(i.variant) and i.variant.shape == Shape(16, 8, 16),
        f"{_MMA}.m16n8k16.row.col.f32.e4m3.e4m3.f32 {_C4}, {_A2}, {_B2}, {_C4}", closed=(13, 5),
    ),
    Leniency(
        contradictions.MANY_MATRICES, frozenset({"count"}),
        lambda i, _: i.variant.count == "x8" and i.variant.family in (Family.LDMATRIX, Family.STMATRIX),
        "ldmatrix.sync.aligned.m8n8.x8.shared.b16 {b32_0}, [b64_0]",
    ),
    Leniency(
        contradictions.UNCHECKED_LAYOUT, frozenset({"layout"}),
        lambda i, _: i.variant.family in (Family.LDMATRIX, Family.STMATRIX, Family.MOVMATRIX),
        f"ldmatrix.sync.aligned.m8n8.x2.row.shared.b16 {_A2}, [b64_0]",
    ),
    Leniency(
        contradictions.WMMA_F32_ACCUMULATOR, frozenset({"element-type", "register-class"}),
        lambda i, _: i.variant.types == ("f32",)
        and i.variant.shape in (Shape(8, 8, 32), Shape(8, 8, 128)) and i.variant.role in ("c", "d"),
        f"wmma.load.c.sync.aligned.row.m8n8k32.f32 {_A2}, [b64_0]",
    ),
    Leniency(
        contradictions.WMMA_STRIDE, frozenset({"stride"}), lambda i, _: True,
        "wmma.load.a.sync.aligned.row.m16n16k16.s8 {b32_0, b32_1}, [b64_0], 17",
    ),
    Leniency(
        contradictions.UNCHECKED_CLASSES, frozenset({"register-class"}),
        lambda i, _: i.variant.family in WARPGROUP and _predicates_for_words(i),
        "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.s8 {b32_0, b32_1, b32_2, b32_3}, b64_0, b64_1, "
        "pred_1, 0, "
        "pred_0", module=_WGMMA_MODULE,
    ),
    Leniency(
        contradictions.UNCHECKED_CLASSES, frozenset({"register-class"}),
        lambda i, _: i.variant.family not in WARPGROUP and _registers_have_the_size(i),
        "movmatrix.sync.aligned.m8n8.trans.b16 pred_0, b32_1",
    ),
    Leniency(
        contradictions.UNCHECKED_CLASSES, frozenset({"register-class"}),
        lambda i, _: i.variant.block_scale,
        f"{_SCALED}, b32_0, {{0, b64_1}}, b32_1, {{0, 0}}",
    ),
    Leniency(
        contradictions.UNCHECKED_CLASSES, frozenset({"register-class"}),
        lambda i, _: bool(_register_types(i) & {"b8", "u8", "s8", "b16", "u16", "s16", SPECIAL})
        and i.variant.space is not None,
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {b32_0}, [b8_0]",
    ),
    Leniency(
        contradictions.UNCHECKED_CLASSES, frozenset({"register-class"}),
        lambda i, _: False,  # vectors of mixed classes are only shown
        f"{_MMA}.m16n8k16.row.col.f32.f16.f16.f32 {_C4}, {{b32_0, f32_1, f32_2, f32_3}}, {_B2}, {_C4}",
    ),
    Leniency(
        contradictions.UNCHECKED_CONSTANTS, frozenset({"constant"}), lambda i, _: True,
        f"{_MMA}.m16n8k32.row.col.s32.s8.s8.s32 {_A4}, {_A4}, {{0f00000000, 0f00000000}}, {_A4}",
    ),
    Leniency(
        contradictions.UNCHECKED_CONSTANTS, frozenset({"operand-sort"}),
        lambda i, _: i.variant.family not in (Family.LDMATRIX, Family.WMMA_LOAD),
        f"{_SCALED}, 0f00000000, {{0, 0}}, b32_1, {{0, 0}}",
    ),
    Leniency(
        contradictions.WGMMA_ALIGNED, frozenset({"aligned"}),
        lambda i, _: i.variant.family in (*WARPGROUP, *WARPGROUP_ORDER),
        f"{_WGMMA.replace('.aligned', '')} {_C4}, b64_0, b64_1, pred_0, 1, 1, 0, 0", module=_WGMMA_MODULE,
    ),
    Leniency(
        contradictions.WGMMA_LAYOUT, frozenset({"layout"}), lambda i, _: i.variant.family in WARPGROUP,
        f"{_WGMMA}.row.col {_C4}, b64_0, b64_1, pred_0, 1, 1, 0, 0", module=_WGMMA_MODULE,
    ),
    Leniency(
        contradictions.WGMMA_REPEATED_REGISTERS, frozenset({"distinct-registers"}), lambda i, _: True,
        f"{_WGMMA} {{f32_0, f32_1, f32_2, f32_2}}, b64_0, b64_1, pred_0, 1, 1, 0, 0", module=_WGMMA_MODULE,
    ),
    Leniency(
        contradictions.SM_88_VERSION, frozenset({"target-version"}), lambda i, m: m.target.number == 88,
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {b32_0}, [b64_0]",
        closed=(13, 5), module=Module(target_named("sm_88"), (7, 8)),
    ),
)  # fmt: skip


def may_be_taken(
    instruction: Instruction, module: Module, violated: Sequence[Violation]
) -> tuple[Contradiction, ...]:
    """Return why ptxas may take an illegal instruction; nothing if it refuses it, or it is legal."""
    rules = {violation.rule.id for violation in violated}
    applying = [
        leniency
        for leniency in LENIENCIES
        if rules & leniency.rules and leniency.explains(instruction, module)
    ]
    if not rules <= frozenset().union(*(each.rules for each in applying)):
        return ()
    return tuple(dict.fromkeys(each.contradiction for each in applying))
