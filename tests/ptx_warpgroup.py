"""Products of a warpgroup that ptxas is asked about: legal ones, and those that differ in one place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

from ptx_assembler import DECLARATIONS, REGISTER_TYPES

from mmaproof.spec.ptx.instructions import Instruction
from mmaproof.spec.ptx.operands import HexFloat, Integer, Negated, Operand, Register, Sink, Vector
from mmaproof.spec.ptx.signatures import OperandForm, Sort, signatures
from mmaproof.spec.ptx.variant import Shape, Variant
from mmaproof.spec.ptx.wgmma_forms import WGMMA_FORMS, WgmmaForm

TYPES = ("f16", "bf16", "tf32", "f32", "s32", "s8", "u8", "s4", "b1", "e4m3", "e5m2", "e2m1")


def register(kind: str, number: int) -> Register:
    return Register(f"{kind}_{number}", DECLARATIONS[f"{kind}_{number}"])


def operand(form: OperandForm, first: int = 0) -> Operand:
    """Return an operand that fits."""
    match form.sort:
        case Sort.VECTOR:
            return Vector(tuple(register(form.classes[0], first + i) for i in range(form.registers)))
        case Sort.CONSTANT:
            return Integer(form.values[0][-1])
        case Sort.COUNT:
            return Integer(1)
        case _:
            return register(form.classes[0], first)


def operands(signature: tuple[OperandForm, ...]) -> tuple[Operand, ...]:
    return tuple(
        operand(form, 150 if form.name == "metadata" else 130 * (form.name == "a")) for form in signature
    )


def legal(form: WgmmaForm, variant: Variant) -> Iterator[Instruction]:
    """Yield a variant with each list of operands that it may have."""
    for signature in signatures(form, variant):
        yield Instruction(variant, operands(signature))


def near_variants() -> Iterator[tuple[WgmmaForm, Variant]]:
    """Yield variants of shapes and types near the legal ones, with a row whose operands they have."""
    shapes = {*(Shape(64, n, k) for n in (4, 8, 24, 40, 120, 256, 264) for k in (4, 8, 16, 32, 64, 128, 256))}
    shapes |= {Shape(32, 64, 16), Shape(128, 64, 16), Shape(64, 8, 512)}
    listed = [(form, next(form.variants())) for form in WGMMA_FORMS]
    for (form, variant), shape, (d, a, b) in product(listed, sorted(shapes), product(TYPES, repeat=3)):
        types = variant.types
        if sum((shape not in form.shapes, d != types[0], a != types[1], b != types[2])) > 2:
            continue
        yield form, replace(variant, shape=shape, types=(d, a, b))


def modified(form: WgmmaForm, variant: Variant) -> Iterator[Variant]:
    """Yield a variant with one modifier more, less or another."""
    changes: tuple[Mapping[str, object], ...] = (
        {"sync": False}, {"aligned": False}, {"satfinite": not variant.satfinite},
        {"popc": not variant.popc, "bit_operation": None if variant.popc else "and"},
        {"popc": True, "bit_operation": "xor"}, {"ordered_metadata": True}, {"layouts": ("row", "col")},
        {"layouts": ("col", "row")}, {"trans": True}, {"rounding": "rn"}, {"kind": "f16"},
        {"space": "shared"},
        {"types": (*variant.types, variant.types[0])}, {"types": variant.types[:2]}, {"count": "x2"},
    )  # fmt: skip
    for change in changes:
        if change == {"ordered_metadata": True} and not form.sparse:
            continue
        yield replace(variant, **change)  # type: ignore[arg-type]


def operand_neighbours(form: WgmmaForm, variant: Variant) -> Iterator[Instruction]:
    """Yield instructions that differ from a legal one in one operand."""
    for signature in signatures(form, variant):
        fitting = operands(signature)
        for place, each in enumerate(signature):
            for other in _others(each, fitting[place]):
                yield Instruction(variant, (*fitting[:place], other, *fitting[place + 1 :]))
        yield Instruction(variant, fitting[:-1])
        yield Instruction(variant, (*fitting, Integer(0)))


def _others(form: OperandForm, fitting: Operand) -> Iterator[Operand]:
    yield from (Integer(value) for value in (-2, -1, 0, 1, 2, 3, 4))
    yield from (HexFloat(0, 32), Sink())
    for kind in REGISTER_TYPES:
        single = register(kind, 155)
        yield single
        if isinstance(fitting, Vector):
            yield Vector(tuple(register(kind, i) for i in range(len(fitting.elements))))
        elif form.sort is Sort.SCALAR:
            yield Vector((single,))
        if form.sort is Sort.PREDICATE:
            yield Negated(single)
    if isinstance(fitting, Vector):
        elements = fitting.elements
        yield Vector(elements[:-1])
        yield Vector((*elements, register(form.classes[0], 159)))
        yield Vector((*elements[:-1], elements[0]))
        yield Vector((*elements[:-1], Sink()))
        yield Vector((*elements[:-1], Integer(0)))
        yield Vector((*elements[:-1], register("b32", 0)))
