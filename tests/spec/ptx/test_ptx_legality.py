from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ptx_assembler import DECLARATIONS, REGISTER_TYPES
from ptx_variants import form_of_legal, legal_instruction, legal_variants, near_legal_variants

from mmaproof.spec.errors import InputError
from mmaproof.spec.ptx.assembly import parse
from mmaproof.spec.ptx.catalogue import ALL_FORMS, Form
from mmaproof.spec.ptx.contradictions import CONTRADICTIONS
from mmaproof.spec.ptx.declarations import read_declarations
from mmaproof.spec.ptx.instructions import Instruction
from mmaproof.spec.ptx.legality import RULES, violations
from mmaproof.spec.ptx.operands import UNDECLARED
from mmaproof.spec.ptx.special_registers import SPECIAL
from mmaproof.spec.ptx.targets import NEWEST, TARGETS, VERSIONS, target_named, version_named
from mmaproof.spec.ptx.variant import Variant
from mmaproof.spec.ptx.variant_rules import ASPECTS, form_of, narrow

targets = st.sampled_from(list(TARGETS.values()))
versions = st.sampled_from(VERSIONS)

MMA = "mma.sync.aligned"
F32 = "{f32_0, f32_1, f32_2, f32_3}"
WORDS4, WORDS2 = "{b32_0, b32_1, b32_2, b32_3}", "{b32_0, b32_1}"
HALF = f"{MMA}.m16n8k16.row.col.f32.f16.f16.f32"
SCALED = (
    f"{MMA}.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 {F32}, {WORDS4}, {WORDS2}, {F32}"
)
SPARSE = f"mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {WORDS4}, {WORDS2}, {WORDS2}, {WORDS4}"
COMPLETE = read_declarations(
    ", ".join(
        [*(f"{name}_<20>: {name}" for name in REGISTER_TYPES if name != "b8"), "tile: global, row: .shared"]
    )
)
LOAD = "ldmatrix.sync.aligned.m8n8.x2.shared.b16"
WGMMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
WMMA_LOAD = "wmma.load.a.sync.aligned.row.m16n16k16.s8 {b32_0, b32_1}, [b64_0]"

ILLEGAL = [
    (
        f"{MMA}.m16n8k48.row.col.f32.f16.f16.f32", "sm_90", "8.0",
        {"shape": "shape m16n8k48 is not allowed; allowed: m8n8k4"},
    ),
    (
        f"{MMA}.m16n8k32.row.col.f32.f16.f16.f32", "sm_90", "8.0",
        {"multiplicand-types": "f16.f16 are not allowed with m16n8k32"},
    ),
    (
        f"{MMA}.m16n8k32.row.col.f32.e2m1.e2m1.f32", "sm_120a", "8.7",
        {"kind": "kind missing .*; allowed: f8f6f4, mxf8f6f4"},
    ),
    (
        f"{MMA}.m16n8k64.row.col.kind::mxf4.f32.e2m1.e2m1.f32.ue8m0", "sm_120a", "8.7",
        {"block-scale": "block scale missing"},
    ),
    (
        f"{MMA}.m16n8k64.row.col.kind::mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", "sm_120a", "8.7",
        {"scale-vector": "scale vector missing .*; allowed: 2X, 4X"},
    ),
    (
        f"{MMA}.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue4m3", "sm_120a", "8.7",
        {"scale-type": "scale type ue4m3 is not allowed .*; allowed: ue8m0"},
    ),
    (
        f"{MMA}.m16n8k16.row.col.f32.f16.f16.f16", "sm_90", "8.0",
        {"accumulator-types": r"f32.f16 .*; allowed: f16.f16, f32.f32"},
    ),
    (
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16.f16.f32", "sm_90", "8.0",
        {"type-count": "4 is not allowed .*: 2"},
    ),
    (
        f"{MMA}.m16n8k16.row.row.f32.f16.f16.f32", "sm_90", "8.0",
        {"layout": "row.row is not allowed .*; allowed: row.col"},
    ),
    (f"{HALF}.satfinite", "sm_90", "8.0", {"satfinite": ".satfinite is not allowed .*; allowed: none"}),
    (f"{HALF}.rn", "sm_90", "8.0", {"rounding": "rounding rn is not allowed"}),
    (
        f"{MMA}.m8n8k128.row.col.s32.b1.b1.s32", "sm_90", "8.0",
        {"bit-operation": "missing .*; allowed: xor, and", "popc": "popc missing"},
    ),
    (
        "mma.sp.sync.aligned.m16n8k64.row.col.f16.e4m3.e4m3.f16", "sm_120a", "8.7",
        {"metadata-variant": "sp is not allowed .*; allowed: sp::ordered_metadata"},
    ),
    (
        "stmatrix.sync.aligned.m16n8.x4.b8", "sm_120a", "8.7",
        {"transposition": "missing with m16n8; allowed: .trans"},
    ),
    ("ldmatrix.sync.aligned.m16n16.x4.trans.b8", "sm_120a", "8.7", {"count": "x4 is not allowed .*: x1, x2"}),
    (f"{LOAD.replace('shared', 'global')}", "sm_90", "8.0", {"state-space": "global is not allowed"}),
    (
        f"{LOAD.replace('b16', 'b8')}", "sm_90", "8.0",
        {"element-type": "b8 is not allowed with m8n8; allowed: b16"},
    ),
    (HALF, "sm_90", "7.0", {"target-version": "sm_90 needs PTX 7.8, not 7.0"}),
    (HALF, "sm_75", "7.0", {"target": r"needs sm_80\+, not sm_75"}),
    (HALF.replace("k16", "k8"), "sm_75", "6.4", {"ptx-version": "needs PTX 6.5, not 6.4"}),
    (LOAD.replace("shared", "shared::cta"), "sm_80", "7.7", {"cta-version": "needs PTX 7.8, not 7.7"}),
    (
        "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16.satfinite", "sm_75", "6.5",
        {"satfinite-removed": "ended with PTX 6.5"},
    ),
    (
        "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16", "sm_70", "6.2",
        {"aligned": "since PTX 6.3, not in 6.2"},
    ),
    ("wmma.mma.sync.row.col.m16n16k16.f16.f16", "sm_75", "6.3", {"aligned": "without .aligned"}),
    (HALF.replace(".sync", ""), "sm_90", "8.0", {"sync": "without .sync"}),
    (
        f"{HALF} {F32}, {WORDS4}, {WORDS2}", "sm_90", "8.0",
        {"operand-count": "takes d, a, b, c, not 3 operands"},
    ),
    (
        f"{HALF} {F32}, b32_0, {WORDS2}, {F32}", "sm_90", "8.0",
        {"operand-sort": "a must be a brace-enclosed vector, not b32_0"},
    ),
    (
        f"{HALF} {F32}, {WORDS2}, {WORDS2}, {F32}", "sm_90", "8.0",
        {"register-count": "a takes 4 registers, not 2"},
    ),
    (
        f"{HALF} {F32}, {F32}, {WORDS2}, {F32}", "sm_90", "8.0",
        {"register-class": "a takes .f16x2 or .b32, not f32_"},
    ),
    (
        f"{HALF} {F32}, {WORDS4}, {WORDS2}, {{0, 0, 0, 0}}", "sm_90", "8.0",
        {"constant": r"c takes registers or 0f... constants, not 0"},
    ),
    (f"{HALF} {F32}, {WORDS4}, {{_, b32_1}}, {F32}", "sm_90", "8.0", {"sink": "b is read and can't have _"}),
    (f"{HALF} {{_, _, _, _}}, {WORDS4}, {WORDS2}, {F32}", "sm_90", "8.0", {"sink": "d must have a register"}),
    (f"{SPARSE}, b32_0, 2", "sm_90", "8.0", {"selector": "selector must be one of 0, 1, not 2"}),
    (f"{SPARSE}, {{b32_0}}, 0", "sm_100", "8.6", {"braces": "metadata must be b32_0 on sm_100, not {b32_0}"}),
    (
        f"{SPARSE}, b32_0, b32_1", "sm_90", "8.0",
        {"operand-sort": "selector must be an integer constant, not b32_1"},
    ),
    (
        f"{SCALED}, b32_0, {{1, 0}}, b32_1, {{0, 3}}", "sm_120a", "8.7",
        {"selector": "byte_id_a must be one of 0, 2, not 1"},
    ),
    (
        f"{SCALED}, b32_0, {{0, 2}}, b32_1, {{0, 3}}", "sm_120a", "8.7",
        {"selector": "thread_id_a must be one of 0, 1, not 2"},
    ),
    (
        f"{SCALED}, b32_0, {{0, b32_1}}, b32_1, {{0, 3}}", "sm_120a", "8.7",
        {"register-class": "takes .b16 or .u16 or .s16"},
    ),
    (f"@b32_0 {HALF}", "sm_90", "8.0", {"guard": "the guard must be a register of .pred, not b32_0 of .b32"}),
    (f"@!tile {HALF}", "sm_90", "8.0", {"guard": "not tile of .global"}),
    (f"@nothing {HALF}", "sm_90", "8.0", {"declaration": "the guard nothing is not declared"}),
    (f"{LOAD} {WORDS2}, [nothing]", "sm_90", "8.0", {"declaration": "p: nothing is not declared"}),
    (
        f"{LOAD} {{b32_0, b32_20}}, [b32_1]", "sm_90", "8.0",
        {"declaration": "d: b32_20 is not declared"},
    ),
    (
        f"{LOAD} {WORDS2}, [tile+16]", "sm_90", "8.0",
        {"address-space": ".shared takes the address of a variable in .shared, not tile in .global"},
    ),
    (
        f"{LOAD.replace('shared', 'shared::cta')} {WORDS2}, [tile]", "sm_90", "8.0",
        {"address-space": "not tile in .global"},
    ),
    (
        f"{WGMMA} {{f32_0, f32_1, f32_2, f32_3}}, b64_0, b64_1, !pred_0, 1, 0, 0, 0", "sm_90a", "8.0",
        {"immediate": "scale-b must be one of -1, 1, not 0"},
    ),
    (
        f"{WGMMA} {{b32_0, b32_1, b32_2, b32_3}}, {{b32_4, b32_5, b32_6, b32_3}}, b64_1, 1, 1, 1, 0",
        "sm_90a", "8.0", {"distinct-registers": "b32_3 stands for more than one register of d and a"},
    ),
    (f"{WGMMA.replace('.f32.', '.f16.')}", "sm_90", "8.0", {"target": "needs sm_90a, not sm_90"}),
    (
        "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.u8", "sm_90a", "8.3",
        {"ptx-version": "of this form needs PTX 8.4, not 8.3"},
    ),
    (f"{WMMA_LOAD}, 8", "sm_90", "8.0", {"stride": "must be 16 elements or more, not 8"}),
    (
        f"{WMMA_LOAD}, 17", "sm_90", "8.0",
        {"stride": r"must be a multiple of 8 elements \(8 bytes\), not 17"},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "target", "ptx", "expected"), ILLEGAL)
def test_an_illegal_instruction_violates_exactly_the_rules_it_breaks(
    text: str, target: str, ptx: str, expected: dict[str, str]
) -> None:
    found = violations(parse(text, COMPLETE), target_named(target), version_named(ptx))
    assert {violation.rule.id for violation in found} == set(expected)
    for violation in found:
        with pytest.raises(ValueError, match=expected[violation.rule.id]):
            raise ValueError(violation.message)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        (f"{SCALED}, {{b32_0}}, {{0, 0}}, {{b32_1}}, {{0, 0}}", "sm_120a"),
        (f"{SPARSE}, {{b32_0}}, 0", "sm_90"),
        (f"{SPARSE.replace('mma.sp', 'mma.sp::ordered_metadata')}, {{b32_0}}, 0", "sm_120a"),
    ],
)
def test_braces_may_stand_around_the_register_of_scale_factors_and_metadata(text: str, target: str) -> None:
    assert not violations(parse(text, DECLARATIONS), target_named(target), NEWEST)


@pytest.mark.parametrize("scalar", ["f64_0", "0", "_", "b32_0, b32_1"])
def test_only_a_suitable_register_may_stand_in_the_braces_of_a_scale_factor(scalar: str) -> None:
    text = f"{SCALED}, {{{scalar}}}, {{0, 0}}, b32_1, {{0, 0}}"
    found = {violation.rule.id for violation in violations(parse(text, DECLARATIONS), TARGETS["sm_120a"])}
    assert found in ({"operand-sort"}, {"register-class"})


@pytest.mark.parametrize(
    ("text", "target"),
    [
        (f"@pred_1 {LOAD} {WORDS2}, [row+(16*2)]", "sm_90"),
        (f"{LOAD.replace('.shared', '')} {WORDS2}, [tile]", "sm_90"),
        ("wmma.load.a.sync.aligned.row.m16n16k16.s8 {b32_0, b32_1}, [b64_0], 16+16", "sm_90"),
        (f"{MMA}.m8n8k16.row.col.s32.s8.s8.s32 {WORDS2}, {{b32_0}}, {{b32_1}}, {{%tid.x, b32_1}}", "sm_90"),
    ],
)
def test_declared_names_are_legal(text: str, target: str) -> None:
    assert violations(parse(text, COMPLETE), target_named(target), NEWEST) == []


def test_what_is_not_known_to_be_declared_breaks_no_rule() -> None:
    assert violations(parse(f"@p {LOAD} {WORDS2}, [tile]"), target_named("sm_90"), NEWEST) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%r", "a declaration is NAME:TYPE"),
        ("%r<x>:b32", "a declaration is NAME:TYPE"),
        ("%r:b33", "%r has the unknown type 'b33'"),
        ("%r:b32, %r:f32", "%r is declared twice"),
        ("tile<3>:shared", "only registers are numbered"),
    ],
)
def test_what_is_no_declaration_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_declarations(text)


def test_declarations_are_those_of_ptx() -> None:
    found = read_declarations("%r<3>:b32, %v:.v4.f32, %p: pred, tile:shared,")
    names = ("%r0", "%r2", "%r3", "%r01", "%v", "%v.x", "%p", "tile", "%q", "%tid.x")
    expected = ["b32", "b32", UNDECLARED, UNDECLARED, "v4.f32", "f32", "pred", ".shared", UNDECLARED, SPECIAL]
    assert [found[name] for name in names] == expected
    assert (len(found), list(found)[-1]) == (6, "%r2")


def test_every_rule_is_broken_by_an_example() -> None:
    broken = {rule for *_, expected in ILLEGAL for rule in expected}
    assert broken == {rule.id for rule in RULES}


@given(legal_variants, targets, versions)
def test_legality_only_grows_with_the_version_of_a_target(variant: Variant, target, ptx) -> None:
    instruction = legal_instruction(form_of_legal(variant), variant)
    if not violations(instruction, target, ptx):
        assert not violations(instruction, target, NEWEST)
        later = [other for other in TARGETS.values() if other.number >= target.number and other.suffix == ""]
        if target.suffix == "":
            assert all(not violations(instruction, other, NEWEST) for other in later)


@given(near_legal_variants, targets)
def test_a_variant_is_illegal_exactly_if_it_leads_to_no_row(variant: Variant, target) -> None:
    of_the_variant = {aspect.id for aspect in ASPECTS} | {"sync", "aligned"}
    wrong = [v for v in violations(Instruction(variant), target) if v.rule.id in of_the_variant]
    try:
        form = form_of(variant)
    except InputError as refused:
        assert "\n" not in str(refused)
        assert wrong or not variant.aligned
        return
    assert form in narrow(variant).forms
    assert not wrong or not variant.aligned


@given(near_legal_variants)
def test_a_message_names_the_bad_value_or_says_what_is_missing(variant: Variant) -> None:
    for message in narrow(variant).messages.values():
        assert "; allowed: " in message
        assert " missing" in message or " not allowed" in message


def test_rules_and_contradictions_have_names_of_their_own() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    assert len({contradiction.id for contradiction in CONTRADICTIONS}) == len(CONTRADICTIONS)
    assert all(rule.reason and rule.source for rule in RULES)
    assert {contradiction for rule in RULES for contradiction in rule.contradictions} < set(CONTRADICTIONS)


@pytest.mark.parametrize(
    "form", ALL_FORMS, ids=lambda form: f"{form.families[0]}.{getattr(form, 'shape', None)}"
)
def test_rows_speak_of_nothing_but_aspects(form: Form) -> None:
    known = {aspect.id for aspect in ASPECTS}
    for variant in form.variants():
        assert form.allowed(variant).keys() <= known
