"""ptxas takes exactly the instructions that the rules allow, the named contradictions apart.

Ordinary runs judge a sample that touches every row of the catalogue, every target and every rule. The
full sweep is ``pytest -m sweep tests/conformance/test_legality_with_ptxas.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from ptx_assembler import DECLARATIONS, Question, assembler
from ptx_variants import (
    ACCUMULATORS,
    LEGAL,
    MULTIPLICANDS,
    SHAPES,
    braced_neighbours,
    form_of_legal,
    legal_instruction,
    neighbours,
    operand_neighbours,
    plausible_instructions,
)

from mmaproof.spec.legality import Contradiction
from mmaproof.spec.ptx import contradictions as known
from mmaproof.spec.ptx.aspects import narrow
from mmaproof.spec.ptx.assembly import parse
from mmaproof.spec.ptx.catalogue import ALL_FORMS, Form, availability, variants
from mmaproof.spec.ptx.declarations import Declarations
from mmaproof.spec.ptx.legality import RULES, Module, violations
from mmaproof.spec.ptx.mma_forms import KINDS
from mmaproof.spec.ptx.operands import Address, Instruction, Register, Sink, Vector
from mmaproof.spec.ptx.signatures import Sort, signature
from mmaproof.spec.ptx.targets import TARGETS, VERSIONS, Version, target_named
from mmaproof.spec.ptx.variant import Family, Shape, Variant

FP8 = {"e4m3", "e5m2"}
NEWEST_MODULE = Module(target_named("sm_120a"), (9, 0))

VARIANTS_OF_A_FORM = 2
"""Variants of each row that an ordinary run asks about on every target."""

NEIGHBOURS = 4000
"""Nearly legal variants of an ordinary run."""

OPERAND_NEIGHBOURS = 4000
"""Nearly legal lists of operands of an ordinary run."""


def on_fp8(variant: Variant) -> bool:
    types = variant.element_types
    return {types.get("a"), types.get("b")} <= FP8


def width(register_type: str | None) -> int:
    """Return the bits of a register; of a predicate those that ptxas takes it for."""
    return {"f16x2": 32, "pred": 32}.get(register_type or "", 0) or int((register_type or "b0")[1:])


def registers_have_the_size(instruction: Instruction) -> bool:
    """Say whether every register of a vector or scalar operand has as many bits as it must."""
    operands = signature(narrow(instruction.variant).forms[0], instruction.variant)
    return all(
        width(register.type) == width(form.classes[0])
        for form, operand in zip(operands, instruction.operands or (), strict=False)
        if form.sort in (Sort.VECTOR, Sort.SCALAR)
        for register in (operand.elements if isinstance(operand, Vector) else (operand,))
        if isinstance(register, Register)
    )


def has_sink(instruction: Instruction) -> bool:
    vectors = (operand for operand in instruction.operands or () if isinstance(operand, Vector))
    return any(isinstance(element, Sink) for vector in vectors for element in vector.elements)


def register_types(instruction: Instruction) -> set[str | None]:
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
class Hole:
    """Something illegal that ptxas takes.

    Attributes
    ----------
    contradiction : Contradiction
        Its name.
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
    rules: set[str]
    explains: Callable[[Instruction, Module], bool]
    shown: str
    closed: Version | None = None
    module: Module = NEWEST_MODULE


MMA = "mma.sync.aligned"
C4 = "{f32_0, f32_1, f32_2, f32_3}"
A4, B2 = "{b32_0, b32_1, b32_2, b32_3}", "{b32_4, b32_5}"
A2 = "{b32_0, b32_1}"
SCALED = f"{MMA}.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 {C4}, {A4}, {B2}, {C4}"

HOLES = (
    Hole(
        known.F16_SPARSE_SELECTOR, {"selector"},
        lambda i, _: i.variant.family is Family.MMA_SP and i.variant.shape == Shape(16, 8, 32)
        and i.variant.types == ("f32", "f16", "f16", "f32"),
        f"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {C4}, {A4}, {A4}, {C4}, b32_0, 3",
    ),
    Hole(
        known.F8F6F4_K16, {"kind"},
        lambda i, _: on_fp8(i.variant) and i.variant.shape == Shape(16, 8, 16) and i.variant.kind == "f8f6f4",
        f"{MMA}.m16n8k16.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 {C4}, {A2}, {{b32_4}}, {C4}",
    ),
    Hole(
        known.UNSCALED_KINDS,
        # The rules see a block-scaled form whose other parts are missing.
        {"kind", "block-scale", "scale-type", "accumulator-types", "operand-count", "register-count",
         "register-class", "ptx-version", "target"},
        lambda i, _: on_fp8(i.variant) and i.variant.kind in KINDS[1:] and not i.variant.block_scale,
        f"{MMA}.m16n8k32.row.col.kind::mxf4.f32.e4m3.e4m3.f32 {C4}, {A4}, {B2}, {C4}",
    ),
    Hole(
        known.F8F6F4_TARGETS, {"target", "ptx-version", "kind"},
        lambda i, m: on_fp8(i.variant) and i.variant.kind == "f8f6f4"
        and m.target.number in (100, 101, 103, 110) and m.target.suffix != "",
        f"{MMA}.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 {C4}, {A4}, {B2}, {C4}",
        module=Module(target_named("sm_100a"), (8, 6)),
    ),
    Hole(
        known.BF16_M8N8K4, {"multiplicand-types", "register-class"},
        lambda i, _: i.variant.shape == Shape(8, 8, 4) and i.variant.types == ("f32", "bf16", "bf16", "f32"),
        f"{MMA}.m8n8k4.row.col.f32.bf16.bf16.f32 "
        "{f32_0, f32_1, f32_2, f32_3, f32_4, f32_5, f32_6, f32_7}, {b32_0, b32_1}, {b32_2, b32_3}, "
        "{f32_0, f32_1, f32_2, f32_3, f32_4, f32_5, f32_6, f32_7}",
    ),
    Hole(
        known.UNCHECKED_BIT_OPERATION, {"bit-operation", "popc"},
        lambda i, _: i.variant.family is Family.MMA and set(i.variant.types[1:3]) <= {"s4", "u4"},
        f"{MMA}.m16n8k32.row.col.s32.s4.s4.s32.xor.popc {A4}, {A2}, {{b32_4}}, {A4}",
    ),
    Hole(
        known.FP8_K16_B, {"register-count"},
        lambda i, _: on_fp8(i.variant) and i.variant.shape == Shape(16, 8, 16),
        f"{MMA}.m16n8k16.row.col.f32.e4m3.e4m3.f32 {C4}, {A2}, {B2}, {C4}", closed=(13, 5),
    ),
    Hole(
        known.MANY_MATRICES, {"count"},
        lambda i, _: i.variant.count == "x8" and i.variant.family in (Family.LDMATRIX, Family.STMATRIX),
        "ldmatrix.sync.aligned.m8n8.x8.shared.b16 {b32_0}, [b64_0]",
    ),
    Hole(
        known.UNCHECKED_LAYOUT, {"layout"},
        lambda i, _: i.variant.family in (Family.LDMATRIX, Family.STMATRIX, Family.MOVMATRIX),
        f"ldmatrix.sync.aligned.m8n8.x2.row.shared.b16 {A2}, [b64_0]",
    ),
    Hole(
        known.WMMA_F32_ACCUMULATOR, {"element-type", "register-class"},
        lambda i, _: i.variant.types == ("f32",)
        and i.variant.shape in (Shape(8, 8, 32), Shape(8, 8, 128)) and i.variant.role in ("c", "d"),
        f"wmma.load.c.sync.aligned.row.m8n8k32.f32 {A2}, [b64_0]",
    ),
    Hole(
        known.WMMA_STRIDE, {"stride"}, lambda i, _: True,
        "wmma.load.a.sync.aligned.row.m16n16k16.s8 {b32_0, b32_1}, [b64_0], 17",
    ),
    Hole(
        known.UNCHECKED_CLASSES, {"register-class"},
        lambda i, _: registers_have_the_size(i),
        "movmatrix.sync.aligned.m8n8.trans.b16 pred_0, b32_1",
    ),
    Hole(
        known.UNCHECKED_CLASSES, {"register-class"},
        lambda i, _: i.variant.block_scale,
        f"{SCALED}, b32_0, {{0, b64_1}}, b32_1, {{0, 0}}",
    ),
    Hole(
        known.UNCHECKED_CLASSES, {"register-class"},
        lambda i, _: bool(register_types(i) & {"b8", "u8", "s8", "b16", "u16", "s16"})
        and i.variant.space is not None,
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {b32_0}, [b8_0]",
    ),
    Hole(
        known.UNCHECKED_CLASSES, {"register-class"},
        lambda i, _: False,  # vectors of mixed classes are only shown
        f"{MMA}.m16n8k16.row.col.f32.f16.f16.f32 {C4}, {{b32_0, f32_1, f32_2, f32_3}}, {B2}, {C4}",
    ),
    Hole(
        known.UNCHECKED_CONSTANTS, {"constant"}, lambda i, _: True,
        f"{MMA}.m16n8k32.row.col.s32.s8.s8.s32 {A4}, {A4}, {{0f00000000, 0f00000000}}, {A4}",
    ),
    Hole(
        known.UNCHECKED_CONSTANTS, {"operand-sort"},
        lambda i, _: i.variant.family not in (Family.LDMATRIX, Family.WMMA_LOAD),
        f"{SCALED}, 0f00000000, {{0, 0}}, b32_1, {{0, 0}}",
    ),
    Hole(
        known.SM_88_VERSION, {"target-version"}, lambda i, m: m.target.number == 88,
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {b32_0}, [b64_0]",
        closed=(13, 5), module=Module(target_named("sm_88"), (7, 8)),
    ),
)  # fmt: skip


def explained(instruction: Instruction, module: Module, rules: set[str]) -> bool:
    """Say whether ptxas may take an instruction although it violates rules."""
    release = assembler().release
    found: set[str] = set()
    for hole in HOLES:
        if (hole.closed is None or release < hole.closed) and hole.explains(instruction, module):
            found |= hole.rules
    return bool(rules) and rules <= found


def disagreements(judged: Iterable[tuple[Instruction, Module]], *, generate: bool = False) -> list[str]:
    """Return where ptxas and the rules differ for no known reason."""
    oracle = assembler()
    cases = [(instruction, module) for instruction, module in judged if module.ptx <= oracle.ptx]
    assert cases
    questions = [Question(f"{instruction}", module.target, module.ptx) for instruction, module in cases]
    found = []
    answers = oracle.accepts(questions, generate=generate)
    for (instruction, module), question, complaint in zip(cases, questions, answers, strict=True):
        violated = violations(instruction, module.target, module.ptx)
        if (complaint is None) == (not violated):
            continue
        if complaint is not None and not violated and has_sink(instruction):
            continue  # known.REFUSED_SINK
        if complaint is None and explained(instruction, module, {v.rule.id for v in violated}):
            continue
        found.append(f"{question}: ptxas says {complaint!r}, the rules {[str(v) for v in violated]}")
    return found


def around(form: Form, variant: Variant) -> Iterator[Module]:
    """Yield modules of every target, at the versions of the form and the target, and those before."""
    needed = availability(form, variant).ptx
    for target in TARGETS.values():
        places = {VERSIONS.index(max(version, VERSIONS[1])) for version in (needed, target.since)}
        versions = {VERSIONS[place - step] for place in places for step in (0, 1)}
        yield from (Module(target, version) for version in sorted({*versions, NEWEST_MODULE.ptx}))


def sampled(variants_of: list[Variant], count: int, rng: np.random.Generator) -> list[Variant]:
    chosen = rng.permutation(len(variants_of))[:count]
    return [variants_of[int(place)] for place in chosen]


def test_ptxas_has_every_form_exactly_on_its_targets_and_versions() -> None:
    rng = np.random.default_rng(0)
    judged = [
        (legal_instruction(form, variant), module)
        for form in ALL_FORMS
        for variant in sampled(list(variants(form)), VARIANTS_OF_A_FORM, rng)
        for module in around(form, variant)
    ]
    assert disagreements(judged) == []


def test_ptxas_generates_code_for_a_variant_of_every_form() -> None:
    judged = []
    for form in ALL_FORMS:
        variant = next(variants(form))
        targets = [target for target in TARGETS.values() if availability(form, variant).on(target)]
        judged.append((legal_instruction(form, variant), Module(targets[-1], NEWEST_MODULE.ptx)))
    assert disagreements(judged, generate=True) == []


def all_neighbours() -> list[Variant]:
    return list(dict.fromkeys(other for variant in LEGAL for other in neighbours(variant)))


def test_ptxas_rejects_nearly_legal_variants_as_the_rules_do() -> None:
    rng = np.random.default_rng(1)
    judged = [
        (instruction, NEWEST_MODULE)
        for variant in sampled(all_neighbours(), NEIGHBOURS, rng)
        for instruction in plausible_instructions(variant)
    ]
    violated = {v.rule.id for i, m in judged for v in violations(i, m.target, m.ptx)}
    assert violated >= {rule.id for rule in RULES[: len(RULES) // 2]}
    assert disagreements(judged) == []


def all_operand_neighbours() -> list[Instruction]:
    return list(
        dict.fromkeys(
            instruction
            for form in ALL_FORMS
            for variant in variants(form)
            if variant.space in (None, "shared")
            for instruction in operand_neighbours(form, variant)
        )
    )


def test_ptxas_rejects_wrong_operands_as_the_rules_do() -> None:
    rng = np.random.default_rng(2)
    every = all_operand_neighbours()
    judged = [
        (every[int(place)], NEWEST_MODULE) for place in rng.permutation(len(every))[:OPERAND_NEIGHBOURS]
    ]
    assert disagreements(judged) == []


def test_ptxas_takes_braces_around_one_register_where_the_rules_do() -> None:
    """Every row, every operand that is one register, bare and as a vector of one, on every target."""
    newest = NEWEST_MODULE.ptx
    judged = []
    for form in ALL_FORMS:
        chosen = {variant.types[1:2]: variant for variant in variants(form)}
        for variant in chosen.values():
            everywhere = variant.family is Family.MMA_SP  # where ptxas expands it depends on the target
            targets = TARGETS.values() if everywhere else (NEWEST_MODULE.target,)
            fitting = [target for target in targets if availability(form, variant).on(target)]
            judged += [(i, Module(t, newest)) for i in braced_neighbours(form, variant) for t in fitting]
    verdicts = {(i.variant.family, not violations(i, m.target, m.ptx)) for i, m in judged}
    assert verdicts >= {(family, legal) for family in (Family.MMA, Family.MMA_SP) for legal in (True, False)}
    assert disagreements(judged) == []


def test_ptxas_looks_at_declarations_as_the_rules_do() -> None:
    guards = ("", "@pred_1 ", "@!pred_1 ", "@b32_1 ", "@!b16_0 ", "@nothing ", "@in_shared ")
    texts = (
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{b32_0}}, [{}];",
        "ldmatrix.sync.aligned.m8n8.x1.b16 {{b32_0}}, [{}+16];",
        "stmatrix.sync.aligned.m8n8.x1.shared::cta.b16 [{}+(16*2)], {{b32_0}};",
        "wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {{b32_0, b32_1}}, [{}], 16+16;",
        "wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [{}], {{b32_0, b32_1, b32_2, b32_3}}, (16);",
    )
    names = Declarations({**DECLARATIONS, "in_shared": ".shared", "in_global": ".global"}, {})
    module = NEWEST_MODULE
    asked = [
        f"{guard}{text.format(variable)}"
        for guard, text, variable in product(guards, texts, ("in_shared", "in_global", "nothing"))
    ]
    complaints = assembler().accepts([Question(text, module.target, module.ptx) for text in asked])
    wrong = [bool(violations(parse(text, names), module.target, module.ptx)) for text in asked]
    refused = [complaint is not None for complaint in complaints]
    differing = [text for text, ours, theirs in zip(asked, wrong, refused, strict=True) if ours != theirs]
    assert differing == [] and {True, False} <= set(wrong)


@pytest.mark.parametrize("hole", HOLES, ids=lambda hole: hole.contradiction.id)
def test_every_contradiction_named_here_shows(hole: Hole) -> None:
    instruction = parse(hole.shown, DECLARATIONS)
    violated = {v.rule.id for v in violations(instruction, hole.module.target, hole.module.ptx)}
    assert violated and violated <= hole.rules
    (complaint,) = assembler().accepts([Question(f"{hole.shown};", hole.module.target, hole.module.ptx)])
    assert (complaint is None) == (hole.closed is None or assembler().release < hole.closed), complaint


@pytest.mark.parametrize(
    ("contradiction", "text", "accepted"),
    [
        (known.MIXED_SIGNEDNESS, f"{MMA}.m16n8k32.row.col.s32.s8.u8.s32 {A4}, {A4}, {B2}, {A4}", True),
        (known.FP8_SPARSE_F16, f"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f16.e4m3.e4m3.f16 "
         f"{A2}, {A4}, {A4}, {A2}, b32_0, 0", True),
        (known.FP8_SPARSE_F16, f"mma.sp.sync.aligned.m16n8k64.row.col.f16.e4m3.e4m3.f16 "
         f"{A2}, {A4}, {A4}, {A2}, b32_0, 0", False),
        (known.FP8_SPARSE_K32, f"mma.sp.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
         f"{C4}, {A2}, {B2}, {C4}, b32_0, 0", False),
        (known.STMATRIX_TRANS, f"stmatrix.sync.aligned.m16n8.x4.b8 [b64_0], {A4}", False),
        (known.WMMA_F64_FRAGMENT, "wmma.load.c.sync.aligned.row.m8n8k4.f64 {f64_0, f64_1}, [b64_0]", True),
        (known.WMMA_F64_FRAGMENT, "wmma.load.c.sync.aligned.row.m8n8k4.f64 {f64_0}, [b64_0]", False),
        (known.WMMA_ROUNDING_POSITION, "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rz "
         "{f64_0, f64_1}, {f64_2}, {f64_3}, {f64_4, f64_5}", True),
        (known.F64_ROUNDING, f"{MMA}.m8n8k4.row.col.f64.f64.f64.f64.rp "
         "{f64_0, f64_1}, {f64_2}, {f64_3}, {f64_4, f64_5}", True),
        (known.BIT_OPERATION_POSITION, "mma.xor.popc.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32 "
         "{b32_0, b32_1}, {b32_2}, {b32_3}, {b32_4, b32_5}", True),
        (known.EXAMPLE_OPERANDS, "wmma.load.a.sync.aligned.row.m16n16k8.tf32 {b32_0, b32_1}, [b64_0]", False),
        (known.TF32_K16, f"{MMA}.m16n8k16.row.col.f32.tf32.tf32.f32 {C4}, "
         "{b32_0, b32_1, b32_2, b32_3, b32_4, b32_5, b32_6, b32_7}, {b32_8, b32_9, b32_10, b32_11}, "
         f"{C4}", False),
    ],
    ids=lambda value: getattr(value, "id", None),
)  # fmt: skip
def test_the_side_taken_is_that_of_ptxas(contradiction: Contradiction, text: str, accepted: bool) -> None:
    assert contradiction in known.CONTRADICTIONS
    instruction = parse(text, DECLARATIONS)
    assert (not violations(instruction, NEWEST_MODULE.target, NEWEST_MODULE.ptx)) == accepted
    (complaint,) = assembler().accepts(
        [Question(f"{text};", NEWEST_MODULE.target, NEWEST_MODULE.ptx)], generate=True
    )
    assert (complaint is None) == accepted, complaint


def test_a_sink_is_refused_where_the_form_is_expanded() -> None:
    """`known.REFUSED_SINK`: the only legal thing that ptxas rejects."""
    taken = f"{MMA}.m16n8k16.row.col.f32.f16.f16.f32 {{_, f32_1, _, f32_3}}, {A4}, {B2}, {C4};"
    refused = (
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64.rm {_, f64_1, f64_2, f64_3}, "
        "{f64_2, f64_3, f64_4, f64_5}, {f64_4, f64_5}, {f64_6, f64_7, f64_8, f64_9};"
    )
    questions = [Question(text, NEWEST_MODULE.target, NEWEST_MODULE.ptx) for text in (taken, refused)]
    for question in questions:
        assert not violations(parse(question.text, DECLARATIONS), question.target, question.ptx)
    answers = assembler().accepts(questions)
    assert [answer is None for answer in answers] == [True, False]


def shuffled(variant: Variant, rng: np.random.Generator) -> str:
    """Return a spelling with the modifiers in another order, types and layouts kept in theirs."""
    modifiers = str(variant).removeprefix(variant.opcode)[1:].replace("xor.popc", "xor popc")
    words = modifiers.replace("and.popc", "and popc").split(".")
    order = [words[int(place)] for place in rng.permutation(len(words))]
    for kept in (variant.types, variant.layouts):
        places = iter(kept)
        order = [next(places) if word in kept else word for word in order]
    return ".".join([variant.opcode, *order]).replace(" ", ".")


def test_modifiers_may_stand_in_any_order() -> None:
    rng = np.random.default_rng(3)
    questions = []
    for form in ALL_FORMS:
        assert form.available.on(NEWEST_MODULE.target)
        for variant in sampled(list(variants(form)), VARIANTS_OF_A_FORM, rng):
            text = shuffled(variant, rng)
            assert parse(text).variant == variant
            operands = ", ".join(map(str, legal_instruction(form, variant).operands or ()))
            if form.available.ptx <= NEWEST_MODULE.ptx:
                questions.append(Question(f"{text} {operands};", NEWEST_MODULE.target, NEWEST_MODULE.ptx))
    answers = assembler().accepts(questions)
    assert [(str(q), answer) for q, answer in zip(questions, answers, strict=True) if answer] == []


@pytest.mark.sweep
def test_sweep_every_variant_on_every_target_and_version() -> None:
    judged = (
        (legal_instruction(form_of_legal(variant), variant), Module(target, version))
        for variant in LEGAL
        for target in TARGETS.values()
        for version in VERSIONS
    )
    assert disagreements(judged) == []


@pytest.mark.sweep
def test_sweep_every_nearly_legal_variant() -> None:
    judged = ((i, NEWEST_MODULE) for variant in all_neighbours() for i in plausible_instructions(variant))
    assert disagreements(judged) == []


@pytest.mark.sweep
def test_sweep_all_operands() -> None:
    assert disagreements((instruction, NEWEST_MODULE) for instruction in all_operand_neighbours()) == []


@pytest.mark.sweep
@pytest.mark.parametrize("family", [Family.MMA, Family.MMA_SP])
def test_sweep_shapes_types_and_kinds(family: Family) -> None:
    def crossed() -> Iterator[tuple[Instruction, Module]]:
        shapes = [shape for shape in SHAPES if shape and shape.k]
        for shape, (a, b), (d, c), kind in product(shapes, MULTIPLICANDS, ACCUMULATORS, (None, *KINDS)):
            operation = "xor" if "b1" in (a, b) else None
            variant = Variant(
                family, shape, (d, a, b, c), ("row", "col"),
                kind=kind, ordered_metadata=family is Family.MMA_SP,
                bit_operation=operation, popc=operation is not None,
            )  # fmt: skip
            yield from ((instruction, NEWEST_MODULE) for instruction in plausible_instructions(variant))

    assert disagreements(crossed()) == []
