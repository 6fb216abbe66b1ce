"""Legal and nearly legal variants and texts of the PTX matrix instructions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from ptx_assembler import DECLARATIONS, REGISTER_TYPES

from mmaproof.spec.ptx.assembly import parse
from mmaproof.spec.ptx.catalogue import ALL_FORMS, WARP_FORMS, Form, forms
from mmaproof.spec.ptx.instructions import Instruction
from mmaproof.spec.ptx.mma_forms import KINDS, NARROW_FLOATS, ROUNDINGS, MmaForm
from mmaproof.spec.ptx.operands import (
    Address,
    Decimal,
    HexFloat,
    Integer,
    Operand,
    Register,
    Scalar,
    Sink,
    Vector,
)
from mmaproof.spec.ptx.signatures import OperandForm, Sort, signature
from mmaproof.spec.ptx.targets import Availability
from mmaproof.spec.ptx.variant import Family, Shape, Variant
from mmaproof.spec.ptx.variant_rules import narrow

LEGAL = tuple(dict.fromkeys(variant for form in ALL_FORMS for variant in form.variants()))
"""Every legal variant."""

LEGAL_OF_WARPS = tuple(dict.fromkeys(variant for form in WARP_FORMS for variant in form.variants()))
"""Every legal variant of the instructions of a warp."""

SCALE_TYPES = ("ue8m0", "ue4m3")
PRODUCTS = (Family.MMA, Family.MMA_SP, Family.WMMA_MMA)


def register(name: str, number: int) -> Register:
    """Return a register of a type, as `ptx_assembler` declares it."""
    return Register(f"{name}_{number}", name)


def legal_operand(form: OperandForm, first: int, element_class: str | None = None) -> Operand:
    """Return an operand that suits a form, with registers from number `first` on."""
    name = element_class or (form.classes[0] if form.classes else "")
    match form.sort:
        case Sort.VECTOR:
            return Vector(tuple(register(name, (first + i) % 20) for i in range(form.registers)))
        case Sort.PAIR:
            return Vector(tuple(Integer(values[-1]) for values in form.values))
        case Sort.ADDRESS:
            return Address(register("b64" if name == "b32" else name, first % 20))
        case Sort.CONSTANT:
            return Integer(form.values[0][-1])
        case _:
            return register(name, first % 20)


def legal_operands(form: Form, variant: Variant) -> tuple[Operand, ...]:
    """Return operands that a form's variant takes."""
    return tuple(
        legal_operand(operand, 2 * place)
        for place, operand in enumerate(signature(form, variant))
        if not operand.optional
    )


def legal_instruction(form: Form, variant: Variant) -> Instruction:
    """Return a variant with operands."""
    return Instruction(variant, legal_operands(form, variant))


def plausible_instructions(variant: Variant) -> Iterator[Instruction]:
    """Yield a variant with every list of operands that it could take if it were legal."""
    rows: list[Form] = list(narrow(variant).forms)
    types = variant.element_types
    if (
        variant.family in (Family.MMA, Family.MMA_SP)
        and variant.shape
        and {"d", "a", "b", "c"} <= types.keys()
    ):
        spelled = variant.scale_vec if variant.scale_vec in ("1X", "2X", "4X") else "1X"
        scale = spelled if variant.block_scale else None
        for container in _containers(types["a"]):
            imagined = MmaForm(
                variant.family, variant.shape, ((types["a"], types["b"]),), ((types["d"], types["c"]),),
                Availability((6, 0)), container, scale_vec=scale, selectors=1,
            )  # fmt: skip
            if types["d"] in ("f16", "f32", "s32", "f64") and types["c"] in ("f16", "f32", "s32", "f64"):
                rows.append(imagined)
    for instruction in dict.fromkeys(Instruction(variant, legal_operands(row, variant)) for row in rows):
        if Vector(()) not in (instruction.operands or ()):
            yield instruction


def _containers(name: str) -> tuple[int, ...]:
    if name in NARROW_FLOATS:
        return (8, 4)
    return (int(name.lstrip("abcdefghijklmnopqrstuvwxyz").partition("x")[0] or 32) if name != "tf32" else 32,)


SHAPES = (
    *dict.fromkeys(variant.shape for variant in LEGAL_OF_WARPS), Shape(16, 8, 48), Shape(8, 8, 8),
    Shape(8, 16), None,
)  # fmt: skip
MULTIPLICANDS = tuple(
    product(("f16", "bf16", "tf32", "f64", "s8", "u8", "s4", "u4", "b1", *NARROW_FLOATS, "f32"), repeat=2)
)
ACCUMULATORS = tuple(product(("f16", "f32", "s32", "f64", "bf16"), repeat=2))
MOVED = (
    ("b16",), ("b8",), ("b8x16", "b6x16_p32"), ("b8x16", "b4x16_p64"), ("b8x16",), ("b32",), ("f16",),
    ("bf16",), ("tf32",), ("f32",), ("f64",), ("s32",), ("s8",), ("u8",), ("s4",), ("u4",), ("b1",), (),
)  # fmt: skip
LAYOUTS: tuple[tuple[str, ...], ...] = (
    *product(("row", "col"), repeat=2), ("row",), ("col",), (), ("row", "col", "row")
)  # fmt: skip


def neighbours(variant: Variant) -> Iterator[Variant]:
    """Yield the variants that differ in one aspect, legal or not."""
    for shape in SHAPES:
        yield replace(variant, shape=shape)
    for layouts in LAYOUTS:
        yield replace(variant, layouts=layouts)
    yield from (replace(variant, kind=kind) for kind in (None, *KINDS, "f16", "tf32", "i8"))
    yield from (replace(variant, scale_vec=size) for size in (None, "1X", "2X", "4X", "block16", "block32"))
    yield from (replace(variant, rounding=rounding) for rounding in (None, *ROUNDINGS, "rna"))
    yield from (replace(variant, count=count) for count in (None, "x1", "x2", "x4", "x8"))
    for flag in ("block_scale", "satfinite", "trans", "sync", "aligned"):
        yield replace(variant, **{flag: not getattr(variant, flag)})
    for operation in (None, "xor", "and", "or"):
        yield replace(variant, bit_operation=operation, popc=operation is not None)
    if variant.bit_operation:
        yield replace(variant, popc=False)
    for space in (None, "global", "shared", "shared::cta", "shared::cluster", "local", "const"):
        yield replace(variant, space=space)
    if variant.family is Family.MMA_SP:
        yield replace(variant, ordered_metadata=not variant.ordered_metadata)
    yield from (replace(variant, types=types) for types in _other_types(variant))


def _other_types(variant: Variant) -> Iterator[tuple[str, ...]]:
    types = variant.types
    if variant.family not in PRODUCTS:
        yield from MOVED
    elif len(types) < 4:
        yield from ACCUMULATORS
        yield from ((d, "f16", "f16", c) for d, c in ACCUMULATORS)
    else:
        d, a, b, c, *scale = types
        yield from ((d, *pair, c, *scale) for pair in MULTIPLICANDS)
        yield from ((first, a, b, second, *scale) for first, second in ACCUMULATORS)
        yield from ((d, a, b, c, *other) for other in ((), *((name,) for name in SCALE_TYPES)))
        yield types[:3]


def form_of_legal(variant: Variant) -> Form:
    """Return a row of a legal variant."""
    return next(form for form in forms(variant.family) if variant in form.variants())


def operand_neighbours(form: Form, variant: Variant) -> Iterator[Instruction]:
    """Yield a variant with operands that are wrong, or unusual, in one place."""
    legal = legal_operands(form, variant)
    yield Instruction(variant, (*legal, register("b32", 19)))
    if len(legal) > 1:
        yield Instruction(variant, legal[:-1])
    for place, operand_form in enumerate(signature(form, variant)):
        for other in _operand_neighbours(operand_form, legal[place] if place < len(legal) else None):
            yield Instruction(variant, (*legal[:place], other, *legal[place + 1 :]))


def braced_neighbours(form: Form, variant: Variant) -> Iterator[Instruction]:
    """Yield a variant with one operand that is a single register, bare and as a vector of one."""
    legal = legal_operands(form, variant)
    for place, operand in enumerate(legal):
        match operand:
            case Vector((single,)):
                others: tuple[Operand, ...] = (operand, single)
            case Vector() | Address():
                continue
            case single:
                others = (single, Vector((single,)))
        yield from (Instruction(variant, (*legal[:place], other, *legal[place + 1 :])) for other in others)


CONSTANTS = (Integer(0), HexFloat(0, 32), HexFloat(0, 64), Decimal("0.0"))


def _operand_neighbours(form: OperandForm, legal: Operand | None) -> Iterator[Operand]:
    scalars: list[Scalar] = [*(register(name, 3) for name in REGISTER_TYPES), *CONSTANTS]
    match form.sort:
        case Sort.VECTOR:
            for name in REGISTER_TYPES:
                yield legal_operand(form, 4, name)
            for length in (1, 2, 4, 8):
                yield Vector(tuple(register(form.classes[0], i) for i in range(length)))
            yield from (Vector((constant,) * form.registers) for constant in CONSTANTS)
            assert isinstance(legal, Vector)
            yield Vector((Sink(), *legal.elements[1:]))
            yield legal.elements[0]
        case Sort.PAIR:
            fixed = [Integer(values[0]) for values in form.values]
            for value in range(-1, 6):
                yield Vector((Integer(value), fixed[1]))
                yield Vector((fixed[0], Integer(value)))
            for scalar in scalars:
                yield Vector((scalar, fixed[1]))
                yield Vector((fixed[0], scalar))
            yield from (Vector((fixed[0],)), Vector((*fixed, fixed[0])), fixed[0])
        case Sort.CONSTANT:
            yield from (Integer(value) for value in range(-1, 6))
            yield from scalars
        case Sort.SCALAR:
            yield from scalars
            yield from (Vector((scalar,)) for scalar in (*scalars, Sink()))
        case Sort.ADDRESS:
            yield from (Address(register(name, 3)) for name in REGISTER_TYPES)
            yield from (Address(register("b64", 3), offset) for offset in (16, -16))
            yield from (Address(Integer(16)), register("b64", 3), Address(Register("in_shared"), 32))
        case Sort.NUMBER:
            yield from scalars
            yield from (Integer(stride) for stride in (-16, 4, 8, 15, 16, 17, 32, 64, 128, 1024))


legal_variants: SearchStrategy[Variant] = st.sampled_from(LEGAL)
near_legal_variants: SearchStrategy[Variant] = legal_variants.flatmap(
    lambda variant: st.sampled_from(list(neighbours(variant)))
)


def instructions(variant_strategy: SearchStrategy[Variant]) -> SearchStrategy[Instruction]:
    """Give variants operands that suit them, or none."""
    return variant_strategy.flatmap(
        lambda variant: st.sampled_from([Instruction(variant), *plausible_instructions(variant)])
    )


@st.composite
def mutated_texts(draw: st.DrawFn) -> str:
    """Draw the text of an instruction with characters deleted, inserted or replaced."""
    text = str(draw(instructions(near_legal_variants)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.text(max_size=3)) + text[at + draw(st.integers(0, 3)) :]
    return text


def reparsed(instruction: Instruction) -> Instruction:
    """Return what the parser makes of an instruction's text, registers declared by their names."""
    return parse(str(instruction), DECLARATIONS)
