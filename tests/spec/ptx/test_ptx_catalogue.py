"""The catalogue's numbers are those of the manual's tables, which are typed in here."""

from __future__ import annotations

import pytest

from mmaproof.spec.errors import InputError
from mmaproof.spec.ptx.block_scaling import ScaleFactors
from mmaproof.spec.ptx.catalogue import ALL_FORMS, forms
from mmaproof.spec.ptx.instructions import Instruction
from mmaproof.spec.ptx.legality import violations
from mmaproof.spec.ptx.matrix_move_forms import MATRIX_MOVE_FORMS
from mmaproof.spec.ptx.matrix_moves import matrix_move
from mmaproof.spec.ptx.mma_forms import BLOCK_SCALING, DENSE_FORMS, MmaForm
from mmaproof.spec.ptx.sparse_mma_forms import SPARSE_FORMS
from mmaproof.spec.ptx.sparsity import Sparsity
from mmaproof.spec.ptx.targets import NEWEST, TARGETS
from mmaproof.spec.ptx.variant import Family, Shape, Variant
from mmaproof.spec.ptx.variant_rules import form_of, spell_pairs
from mmaproof.spec.ptx.wmma_forms import WMMA_FORMS

DENSE = """
m8n8k4 f16 2 2 f16:4 f32:8
m8n8k4 f64 1 1 f64:2
m16n8k4 f64 2 1 f64:4
m16n8k8 f64 4 2 f64:4
m16n8k16 f64 8 4 f64:4
m16n8k4 tf32 2 1 f32:4
m16n8k8 tf32 4 2 f32:4
m16n8k8 f16 2 1 f16:2 f32:4
m16n8k8 bf16 2 1 f32:4
m16n8k16 f16 4 2 f16:2 f32:4
m16n8k16 bf16 4 2 f32:4
m8n8k16 s8 1 1 s32:2
m16n8k16 s8 2 1 s32:4
m16n8k32 s8 4 2 s32:4
m8n8k32 s4 1 1 s32:2
m16n8k32 s4 2 1 s32:4
m16n8k64 s4 4 2 s32:4
m8n8k128 b1 1 1 s32:2
m16n8k128 b1 2 1 s32:4
m16n8k256 b1 4 2 s32:4
m16n8k16 e4m3 2 1 f16:2 f32:4
m16n8k32 e4m3 4 2 f16:2 f32:4
m16n8k64 e2m1 4 2 f32:4
"""
"""Reference A.2: registers of A, B and of C and D by type; the other types of a group are alike."""

SPARSE = """
m16n8k8 tf32 2 2 f32:4
m16n8k16 tf32 4 4 f32:4
m16n8k16 f16 2 2 f16:2 f32:4
m16n8k16 bf16 2 2 f32:4
m16n8k32 f16 4 4 f16:2 f32:4
m16n8k32 bf16 4 4 f32:4
m16n8k32 s8 2 2 s32:4
m16n8k64 s8 4 4 s32:4
m16n8k64 s4 2 2 s32:4
m16n8k128 s4 4 4 s32:4
m16n8k64 e4m3 4 4 f16:2 f32:4
m16n8k128 e2m1 4 4 f32:4
"""
"""Reference A.3."""

WMMA = """
m16n16k16 f16 8 8 f16:4 f32:8
m8n32k16 f16 8 8 f16:4 f32:8
m32n8k16 f16 8 8 f16:4 f32:8
m16n16k16 bf16 4 4 f32:8
m8n32k16 bf16 2 8 f32:8
m32n8k16 bf16 8 2 f32:8
m16n16k8 tf32 4 4 f32:8
m16n16k16 s8 2 2 s32:8
m8n32k16 s8 1 4 s32:8
m32n8k16 s8 4 1 s32:8
m8n8k32 s4 1 1 s32:2
m8n8k128 b1 1 1 s32:2
m8n8k4 f64 1 1 f64:2
"""
"""Reference A.5."""

MOVES = """
ldmatrix m8n8 b16 x1:1 x2:2 x4:4 rows:8
ldmatrix m16n16 b8 x1:2 x2:4 rows:16
ldmatrix m16n16 b8x16.b6x16_p32 x1:2 x2:4 rows:16
ldmatrix m16n16 b8x16.b4x16_p64 x1:2 x2:4 rows:16
ldmatrix m8n16 b8x16.b6x16_p32 x1:1 x2:2 x4:4 rows:8
ldmatrix m8n16 b8x16.b4x16_p64 x1:1 x2:2 x4:4 rows:8
stmatrix m8n8 b16 x1:1 x2:2 x4:4 rows:8
stmatrix m16n8 b8 x1:1 x2:2 x4:4 rows:8
movmatrix m8n8 b16 rows:0
"""
"""Reference A.4: registers by count, and rows of a matrix in memory."""

Table = dict[tuple[str, str], tuple[int, int, dict[str, int]]]


def table(text: str) -> Table:
    rows = (line.split() for line in text.strip().splitlines())
    return {
        (shape, name): (int(a), int(b), {key: int(n) for key, n in (item.split(":") for item in rest)})
        for shape, name, a, b, *rest in rows
    }


def same_group(name: str) -> str:
    """Name the type that stands for its group in the tables."""
    return {"u8": "s8", "u4": "s4", "e5m2": "e4m3", "e3m2": "e4m3", "e2m3": "e4m3"}.get(name, name)


@pytest.mark.parametrize(("rows", "text"), [(DENSE_FORMS, DENSE), (SPARSE_FORMS, SPARSE)])
def test_register_counts_follow_from_the_shape(rows: tuple[MmaForm, ...], text: str) -> None:
    expected, seen = table(text), set()
    for form in rows:
        for a, b in form.multiplicands:
            nibbles = form.container == 4
            name_a, name_b = (same_group(name) if nibbles or name != "e2m1" else "e4m3" for name in (a, b))
            assert name_a == name_b
            seen.add((str(form.shape), name_a))
            registers_a, registers_b, accumulators = expected[str(form.shape), name_a]
            assert (form.registers("a", a), form.registers("b", b)) == (registers_a, registers_b)
            for d, c in form.accumulators:
                assert (form.registers("d", d), form.registers("c", c)) == (accumulators[d], accumulators[c])
    assert seen == set(expected)


def test_wmma_register_counts_follow_from_the_shape() -> None:
    expected, seen = table(WMMA), set()
    for form in WMMA_FORMS:
        for name in form.role_types("a"):
            seen.add((str(form.shape), same_group(name)))
            a, b, accumulators = expected[str(form.shape), same_group(name)]
            assert (form.registers("a", name), form.registers("b", name)) == (a, b)
        for role in "cd":
            assert {
                role_type: form.registers(role, role_type) for role_type in form.role_types(role)
            } == accumulators
    assert seen == set(expected)


def test_matrix_moves_have_the_registers_and_rows_of_the_tables() -> None:
    lines = []
    for form in MATRIX_MOVE_FORMS:
        counts = [f"{count}:{form.registers(count)}" for count in form.counts]
        rows = 0 if form.family is Family.MOVMATRIX else matrix_move(next(form.variants())).rows
        lines.append(" ".join([form.family, str(form.shape), ".".join(form.types), *counts, f"rows:{rows}"]))
    assert lines == MOVES.strip().splitlines()


def test_block_scaling_selectors_are_those_of_table_37() -> None:
    scaled = [form for form in (*DENSE_FORMS, *SPARSE_FORMS) if form.scale_vec]
    assert len(scaled) == 2 * len(BLOCK_SCALING)
    byte_ids = {"1X": (0, 1, 2, 3), "2X": (0, 2), "4X": (0,)}
    for form in scaled:
        for operand, thread_ids in (("a", (0, 1)), ("b", (0, 1, 2, 3))):
            factors = ScaleFactors(operand, form.scale_factors)
            assert (factors.byte_ids, factors.thread_ids) == (byte_ids[form.scale_vec or ""], thread_ids)


@pytest.mark.parametrize("form", SPARSE_FORMS, ids=lambda form: f"{form.shape}-{form.multiplicands[0][0]}")
def test_the_sparsity_selectors_are_the_groups_of_lanes_with_metadata(form: MmaForm) -> None:
    sparsity = Sparsity(form.shape, form.container, form.chunk, form.ordered_metadata)
    assert form.selectors == sparsity.selectors


def test_every_variant_is_legal_somewhere_and_leads_back_to_a_row_that_has_it() -> None:
    for form in ALL_FORMS:
        for variant in form.variants():
            assert variant.family in form.families
            assert variant in form_of(variant).variants()
            assert form.canonical(variant) == variant
            assert any(
                not violations(Instruction(variant), target, NEWEST)
                for target in TARGETS.values()
                if form.availability(variant).on(target)
            ), variant


def test_the_rows_of_a_family_are_its_own() -> None:
    assert {form for family in Family for form in forms(family)} == set(ALL_FORMS)
    for family in Family:
        assert all(family in form.families for form in forms(family))


def test_the_default_vector_size_is_spelled_by_the_canonical_form() -> None:
    types = ("f32", "e2m1", "e2m1", "f32", "ue8m0")
    short = Variant(Family.MMA, Shape(16, 8, 64), types, ("row", "col"), kind="mxf4", block_scale=True)
    assert form_of(short).canonical(short).scale_vec == "2X"


@pytest.mark.parametrize(
    ("variant", "message"),
    [
        (Variant(Family.MMA, Shape(16, 8, 48)), "shape m16n8k48 is not allowed"),
        (Variant(Family.MOVMATRIX, Shape(8, 8), ("b16",), trans=True, sync=False), "sync"),
    ],
)
def test_an_illegal_variant_has_no_row(variant: Variant, message: str) -> None:
    with pytest.raises(InputError, match=message):
        form_of(variant)


def test_moves_are_of_their_own_sections() -> None:
    sections = {
        Family.LDMATRIX: "9.7.14.5.15",
        Family.STMATRIX: "9.7.14.5.16",
        Family.MOVMATRIX: "9.7.14.5.17",
    }
    for form in MATRIX_MOVE_FORMS:
        assert form.source.startswith(f"PTX ISA {sections[form.family]}; ")


@pytest.mark.parametrize(
    ("pairs", "spelled"),
    [
        ([("f16", "f32")], "f16.f32"),
        ([("f16", "f32"), ("f16", "f16")], "{f16}.{f32, f16}"),
        ([("f16", "f16"), ("f32", "f32")], "f16.f16, f32.f32"),
        ([("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")], "{a, b}.{x, y}"),
    ],
)
def test_all_combinations_of_types_are_spelled_as_a_product(
    pairs: list[tuple[str, str]], spelled: str
) -> None:
    assert spell_pairs(pairs, ".") == spelled
