"""ptxas takes exactly the instructions that the rules allow, the named contradictions apart.

Ordinary runs judge a sample that touches every row of the catalogue, every target and every rule. The
full sweep is ``pytest -m sweep tests/conformance/test_legality_with_ptxas.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

import numpy as np
import pytest
from ptx_assembler import DECLARATIONS, Question, assembler
from ptx_disagreements import NEWEST_MODULE, around, disagreements, sampled
from ptx_variants import (
    ACCUMULATORS,
    LEGAL_OF_WARPS,
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
from mmaproof.spec.ptx.assembly import parse
from mmaproof.spec.ptx.catalogue import WARP_FORMS
from mmaproof.spec.ptx.declarations import Declarations
from mmaproof.spec.ptx.instructions import Instruction
from mmaproof.spec.ptx.legality import ASPECT_RULES, Module, violations
from mmaproof.spec.ptx.leniency import LENIENCIES, Leniency, may_be_taken
from mmaproof.spec.ptx.mma_forms import KINDS
from mmaproof.spec.ptx.targets import TARGETS, VERSIONS
from mmaproof.spec.ptx.variant import Family, Variant

MMA = "mma.sync.aligned"
C4 = "{f32_0, f32_1, f32_2, f32_3}"
A4, B2 = "{b32_0, b32_1, b32_2, b32_3}", "{b32_4, b32_5}"
A2 = "{b32_0, b32_1}"

VARIANTS_OF_A_FORM = 1
"""Variants of each row that an ordinary run asks about."""

MODULES_APART = 3
"""Of targets and versions, an ordinary run asks about one of so many, for the next row about the next."""

BRACED_ON = 3
"""Targets on which an ordinary run asks about each sparse variant with braces; all have their turn."""

NEIGHBOURS = 1000
"""Nearly legal variants of an ordinary run."""

OPERAND_NEIGHBOURS = 1000
"""Nearly legal lists of operands of an ordinary run."""


def test_ptxas_has_every_form_exactly_on_its_targets_and_versions() -> None:
    rng = np.random.default_rng(0)
    judged = [
        (legal_instruction(form, variant), module)
        for number, form in enumerate(WARP_FORMS)
        for variant in sampled(list(form.variants()), VARIANTS_OF_A_FORM, rng)
        for module in islice(around(form, variant), number % MODULES_APART, None, MODULES_APART)
    ]
    assert {module.target for _, module in judged} == set(TARGETS.values())
    assert disagreements(judged) == []


def test_ptxas_generates_code_for_a_variant_of_every_form() -> None:
    judged = []
    for form in WARP_FORMS:
        variant = next(form.variants())
        targets = [target for target in TARGETS.values() if form.availability(variant).on(target)]
        judged.append((legal_instruction(form, variant), Module(targets[-1], NEWEST_MODULE.ptx)))
    assert disagreements(judged, generate=True) == []


def all_neighbours() -> list[Variant]:
    return list(dict.fromkeys(other for variant in LEGAL_OF_WARPS for other in neighbours(variant)))


def test_ptxas_rejects_nearly_legal_variants_as_the_rules_do() -> None:
    rng = np.random.default_rng(1)
    judged = [
        (instruction, NEWEST_MODULE)
        for variant in sampled(all_neighbours(), NEIGHBOURS, rng)
        for instruction in plausible_instructions(variant)
    ]
    violated = {v.rule.id for i, m in judged for v in violations(i, m.target, m.ptx)}
    assert violated >= {rule.id for rule in ASPECT_RULES}
    assert disagreements(judged) == []


def all_operand_neighbours() -> list[Instruction]:
    return list(
        dict.fromkeys(
            instruction
            for form in WARP_FORMS
            for variant in form.variants()
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


@pytest.mark.parametrize("most", [BRACED_ON, pytest.param(len(TARGETS), marks=pytest.mark.sweep)])
def test_ptxas_takes_braces_around_one_register_where_the_rules_do(most: int) -> None:
    """Every row, every operand that is one register, bare and as a vector of one."""
    newest = NEWEST_MODULE.ptx
    rng = np.random.default_rng(4)
    judged = []
    for form in WARP_FORMS:
        chosen = {variant.types[1:2]: variant for variant in form.variants()}
        for variant in chosen.values():
            everywhere = variant.family is Family.MMA_SP  # where ptxas expands it depends on the target
            targets = list(TARGETS.values()) if everywhere else [NEWEST_MODULE.target]
            fitting = [target for target in targets if form.availability(variant).on(target)]
            fitting = [fitting[int(place)] for place in rng.permutation(len(fitting))[:most]]
            judged += [(i, Module(t, newest)) for i in braced_neighbours(form, variant) for t in fitting]
    verdicts = {(i.variant.family, not violations(i, m.target, m.ptx)) for i, m in judged}
    assert verdicts >= {(family, legal) for family in (Family.MMA, Family.MMA_SP) for legal in (True, False)}
    assert {module.target for _, module in judged} == {t for t in TARGETS.values() if t.number >= 80}
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


@pytest.mark.parametrize("hole", LENIENCIES, ids=lambda hole: hole.contradiction.id)
def test_every_contradiction_named_here_shows(hole: Leniency) -> None:
    instruction = parse(hole.shown, DECLARATIONS)
    violated = {v.rule.id for v in violations(instruction, hole.module.target, hole.module.ptx)}
    assert violated and violated <= hole.rules
    wrong = violations(instruction, hole.module.target, hole.module.ptx)
    assert hole.contradiction in may_be_taken(instruction, hole.module, wrong)
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
    for form in WARP_FORMS:
        assert form.available.on(NEWEST_MODULE.target)
        for variant in sampled(list(form.variants()), VARIANTS_OF_A_FORM, rng):
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
        for variant in LEGAL_OF_WARPS
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
