"""Which moves are illegal, on which profile, and by which rule."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pto_texts import INSTRUCTIONS

from mmaproof.spec.pto.assembly import parse, parse_module
from mmaproof.spec.pto.catalogue import OPERATIONS
from mmaproof.spec.pto.element_types import ELEMENT_TYPES
from mmaproof.spec.pto.legality import judge
from mmaproof.spec.pto.module_legality import judged_statements
from mmaproof.spec.pto.resolution import applied, resolve_known
from mmaproof.spec.pto.rules.memory import MEMORY_RULES
from mmaproof.spec.pto.rules.move_types import MOVE_TYPE_RULES
from mmaproof.spec.pto.rules.moves import MOVE_RULES
from mmaproof.spec.pto.targets import A2A3, A5, CPU, PROFILES, Profile
from mmaproof.spec.pto.tile import Location as L
from mmaproof.spec.pto.tile import Order, Tile

F16 = ELEMENT_TYPES["f16"]
MAT = "!pto.tile_buf<mat, 64x128xf16, blayout=col_major, slayout=row_major>"
LEFT = "!pto.tile_buf<left, 64x32xf16, blayout=col_major, slayout=row_major>"
RIGHT = "!pto.tile_buf<right, 64x32xf16, slayout=col_major>"
ACC = "!pto.tile_buf<acc, 32x48xf32, blayout=col_major, slayout=row_major, fractal=1024>"
VIEW = "!pto.partition_tensor_view<64x128xf16>"


def extract(row: object, column: object, source: str = MAT, target: str = LEFT) -> str:
    return f"pto.textract ins(%s, {row}, {column} : {source}, index, index) outs(%t : {target})"


def move(source: str, target: str, operation: str = "tmov") -> str:
    return f"pto.{operation} ins(%s : {source}) outs(%t : {target})"


def broken(text: str, profile: Profile = A5) -> dict[str, str]:
    found = judge(resolve_known(parse(text), profile)).violations
    return {violation.rule.id: violation.message for violation in found}


@pytest.mark.parametrize("profile", PROFILES.values(), ids=str)
def test_a_load_from_an_accumulator_is_judged_everywhere(profile):
    found = broken(move(ACC, "!pto.tile_buf<vec, 32x48xf16>", "tload"), profile)
    assert found["operand-type"].startswith("source is a tile; it must be a view of global memory")
    assert found["move-types"].startswith("f32 to f16; elements in memory and in the tile have one size")


@pytest.mark.parametrize("profile", (A2A3, A5), ids=str)
def test_where_the_target_is_not_known_what_comes_out_of_mat_has_the_sources_type(profile: Profile) -> None:
    assert set(broken(extract(0, 0, MAT.replace("f16", "i64"), "memref<?xi64>"), profile)) == {
        "extract-types"
    }
    elsewhere = ACC.replace("f32", "i64"), "!pto.tile_buf<vec, 64x128xi64>"  # may be converted on the way
    assert not any("extract-types" in broken(extract(0, 0, each, "index"), profile) for each in elsewhere)


LEGAL = [
    extract(0, 32),
    extract(0, 96),
    extract("%i", "%j"),
    extract(0, 16, MAT, "!pto.tile_buf<right, 64x32xf16, slayout=col_major>"),
    move(MAT, LEFT.replace("64x32", "64x128")),
    move("!pto.tile_buf<mat, 1x256xf16>", "!pto.tile_buf<left, 1x256xf16, slayout=row_major>"),
    move("!pto.tile_buf<mat, 1x32xf32>", "!pto.tile_buf<bias, 1x32xf32>"),
    move("!pto.tile_buf<mat, 1x32xf16>", "!pto.tile_buf<bias, 1x32xf32>"),
    move(ACC, "!pto.tile_buf<mat, 32x48xf16, blayout=col_major, slayout=row_major>"),
    move(VIEW, MAT, "tload"),
    move(VIEW, "!pto.tile_buf<vec, 64x128xf16>", "tload"),
    move(ACC, "!pto.partition_tensor_view<32x48xbf16>", "tstore"),
    move("!pto.tile_buf<vec, 64x128xf16>", VIEW, "tstore"),
]


@pytest.mark.parametrize("profile", PROFILES.values(), ids=str)
@pytest.mark.parametrize("text", LEGAL)
def test_moves_of_a_gemm_are_legal(text: str, profile: Profile) -> None:
    assert broken(text, profile) == {}


NZ = "!pto.tile_buf<mat, 32x48xf16, blayout=col_major, slayout=row_major>"
VEC = "!pto.tile_buf<vec, 64x128xf16>"

SCALES = "!pto.tile_buf<mat, 16x2xf8E8M0FNU, slayout=row_major, fractal=32>"

COMPILED_ON_CPU = [
    move(VEC, VEC.replace("64x128xf16", "128x256xf16, valid=64x128").replace("vec", "left")),
    move(MAT, "!pto.tile_buf<left, 64x128xbf16, blayout=col_major, slayout=row_major>"),
    move(ACC, ACC),
    move("!pto.tile_buf<mat, 64x32xf16>", LEFT),
    move(LEFT, LEFT.replace("left", "mat")),
    move(LEFT.replace("left", "mat"), ACC.replace("32x48xf32", "64x32xf16")),
    move(ACC, NZ.replace("f16", "i32")),
    move(ACC, "!pto.tile_buf<mat, 32x48xf16, slayout=col_major>"),
    move(VIEW, LEFT.replace("64x32", "64x128"), "tload"),
    move(LEFT, "!pto.partition_tensor_view<64x32xf32>", "tstore"),
    move("!pto.tile_buf<mat, 1x32xf16>", "!pto.tile_buf<scaling, 1x32xf16>"),
    extract(0, 0, VEC, "!pto.tile_buf<right, 64x128xf32, slayout=col_major>"),
]  # fmt: skip
"""Source: TMov.hpp, TExtract.hpp, TLoad.hpp and TStore.hpp of cpu/ assert nothing of places and orders."""

REMARKS = [
    (move(ACC.replace("f32", "i32"), "!pto.partition_tensor_view<32x48xf16>", "tstore"), A5, "i32 to f16"),
    (move(ACC.replace("f32", "i32"), "!pto.partition_tensor_view<32x48xf16>", "tstore"), A2A3, "i32 to f16"),
    (move(ACC.replace("f32", "i32"), "!pto.partition_tensor_view<32x48xf16>", "tstore"), CPU, "i32 to f16"),
    (move(ACC, NZ.replace("f16", "i32")), CPU, "f32 to i32: elements are assigned"),
    (move(VIEW, VEC.replace("f16", "i16"), "tload"), A5, "bytes are copied"),
    (move(VEC, VEC.replace("f16", "i16")), A5, "bytes are copied"),
    (extract(0, 0, ACC, "!pto.tile_buf<mat, 32x48xf16, blayout=col_major>"), A5, "target is DN"),
]

ILLEGAL = [
    (extract(16, 16, MAT.replace("f16", "i8"), LEFT.replace("f16", "i8")), A5, "extract-alignment"),
    (extract(8, 0, MAT, RIGHT), A5, "extract-alignment"),
    (extract(0, 112), A5, "extract-window"),
    (extract(-16, 0), A5, "extract-window"),
    (extract("%i", 0, LEFT.replace("left", "mat"), LEFT.replace("64x32", "128x32")), A5, "extract-window"),
    (extract(0, 0, MAT.replace("f16", "i32"), LEFT.replace("f16", "i32")), A5, "extract-types"),
    (extract(0, 0, MAT.replace("f16", "f8E4M3FN"), LEFT.replace("f16", "f8E4M3FN")), A2A3, "extract-types"),
    (extract(0, 0, MAT, LEFT.replace("f16", "bf16")), A5, "move-types"),
    (move(MAT, LEFT), A5, "move-extent"),
    (move(ACC, ACC), A5, "move-places"),
    (move(ACC, "!pto.tile_buf<vec, 32x48xf32>"), A2A3, "move-places"),
    (move(VIEW, LEFT, "tload"), A5, "move-places"),
    (move(MAT, VIEW, "tstore"), A5, "move-places"),
    (move("!pto.tile_buf<mat, 64x32xf16>", LEFT), A5, "move-source-layout"),
    (
        move("!pto.tile_buf<mat, 1x128xf16>", "!pto.tile_buf<left, 1x128xf16, slayout=row_major>"),
        A5,
        "row-chunks",
    ),
    (move("!pto.tile_buf<mat, 1x32xbf16>", "!pto.tile_buf<bias, 1x32xf32>"), A2A3, "move-types"),
    (move("!pto.tile_buf<mat, 1x16xf16>", "!pto.tile_buf<bias, 1x16xf32>"), A2A3, "bias-move"),
    (move("!pto.tile_buf<mat, 1x8xi32>", "!pto.tile_buf<bias, 1x8xi32>"), A5, "bias-move"),
    (move(ACC, "!pto.tile_buf<mat, 32x48xf16, slayout=col_major>"), A5, "accumulator-to-mat"),
    (move(ACC, "!pto.tile_buf<mat, 32x48xf16>"), A2A3, "accumulator-to-mat"),
    (move(ACC, "!pto.tile_buf<mat, 32x48xf16, blayout=col_major>"), A2A3, "accumulator-to-mat"),
    (move(ACC, "!pto.partition_tensor_view<32x48xi8>", "tstore"), A5, "move-types"),
    (move(ACC, NZ.replace("f16", "i8")), A5, "move-types"),
    (move(ACC, "!pto.tile_buf<vec, 32x48xi8>"), A5, "move-types"),
    (extract(0, 0, ACC, NZ.replace("f16", "i8")), A5, "move-types"),
    (move(ACC.replace("f32", "i32"), NZ), A2A3, "move-types"),
    (extract(0, 0, ACC.replace("f32", "i32"), NZ.replace("f16", "i32")), A5, "extract-types"),
    (move(f"{ACC}, i64", NZ.replace("f16", "i32")).replace("%s", "%s, %q"), A5, "move-types"),
    (move(f"{MAT}, i64", MAT.replace("mat", "vec")).replace("%s", "%s, %q"), A5, "quantisation"),
    (move(f"{ACC}, {MAT}", NZ).replace("%s", "%s, %q"), A5, "quantisation"),
    (move("!pto.tile_buf<mat, 1x32xf32>", "!pto.tile_buf<scaling, 1x32xf32>"), A5, "scaling-move"),
    (move("!pto.tile_buf<mat, 1x8xi64>", "!pto.tile_buf<scaling, 1x8xi64>"), A2A3, "scaling-move"),
    (move(SCALES, SCALES.replace("mat", "scaling")), A2A3, "scaling-move"),
    (extract(0, 0, MAT, "!pto.tile_buf<scaling, 1x64xf16>"), A5, "move-places"),
    (move(MAT.replace("f16", "i32"), LEFT.replace("64x32xf16", "64x128xi32")), A5, "extract-types"),
    (move(VEC.replace("f16", "i32"), MAT.replace("f16", "i32")), A5, "extract-types"),
    (move(VEC.replace("f16", "f32"), VEC), A5, "vec-size"),
    (move(VEC.replace("f16", "f32"), VEC), A2A3, "vec-size"),
    (move(f"{VEC}, {VEC}", VEC).replace("%s", "%s, %q"), A2A3, "quantisation"),
    (move(ACC.replace("col_major", "row_major", 1), NZ), A5, "accumulator-source"),
    (extract(16, 0, ACC, NZ).replace("textract", "tinsert"), A5, "insert-window"),
    (extract(0, -16, ACC, NZ.replace("32x48", "64x96")).replace("textract", "tinsert"), A2A3,
     "insert-window"),
    (extract(0, 0, VEC, MAT).replace("textract", "tinsert"), A2A3, "move-places"),
    (move(ACC, NZ.replace("32x48", "32x32")), A2A3, "move-extent"),
    (move(VEC, VEC.replace("64x128", "32x128")), A2A3, "move-extent"),
    (move(VEC, VEC.replace("64x128", "32x128")), CPU, "move-valid-rows"),
    (move(VEC, VEC.replace("64x128", "64x64")), CPU, "move-valid-columns"),
    (move(VIEW, VEC.replace("f16", "f32"), "tload"), CPU, "move-types"),
    (move(MAT, "!pto.tile_buf<right, 64x128xf16, blayout=col_major, slayout=col_major>"), A5,
     "move-target-layout"),
    (move(MAT, RIGHT.replace("slayout=col_major", "slayout=row_major").replace("64x32", "64x128")), A2A3,
     "filled-order"),
    (move(VIEW, MAT, "tload") + " {layout = #pto.layout<dn>}", A2A3, "load-layout"),
    (move(VIEW, VEC.replace("64x128xf16", "64x128xf16, blayout=col_major, slayout=col_major"), "tload"), A5,
     "load-layout"),
    (move(ACC, "!pto.partition_tensor_view<32x48xf32>", "tstore") + " {layout = #pto.layout<dn>}", A5,
     "store-layout"),
    (move(VEC, VIEW, "tstore") + " {layout = #pto.layout<dn>}", A2A3, "store-layout"),
    (move(ACC, "!pto.partition_tensor_view<32x48xf32>", "tstore") + " {layout = #pto.layout<nz>}", A5,
     "store-extent"),
    (move(ACC, "!pto.partition_tensor_view<16x48xf32>", "tstore"), A5, "view-extent"),
    (move(VIEW, MAT.replace("64x128", "64x144"), "tload"), A5, "view-extent"),
    (move(VIEW, "!pto.tile_buf<mat, 64x128xf16, slayout=row_major>", "tload"), A5, "load-layout"),
    (move("!pto.partition_tensor_view<2x32x128xf16>", MAT, "tload"), A5, "load-dimensions"),
    (
        move(
            ACC.replace("32x48xf32", "16x4096xf32"), "!pto.partition_tensor_view<16x4096xf32>", "tstore"
        ),
        A5,
        "store-extent",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "profile", "rule"), ILLEGAL)
def test_moves_are_illegal(text: str, profile: Profile, rule: str) -> None:
    assert rule in broken(text, profile)


def test_every_rule_on_moves_is_broken_by_a_test() -> None:
    left = Tile(L.LEFT, F16, 16, 32, 16, 32, Order.COL_MAJOR, Order.ROW_MAJOR)
    source = Tile(L.MAT, F16, 16, 32, 16, 32, Order.COL_MAJOR, Order.ROW_MAJOR)
    wrong = judge(applied(OPERATIONS["textract"], {"source": source, "target": left}, A2A3)).violations
    assert [violation.rule.id for violation in wrong] == ["move-target-layout"]
    rules = {rule.id for rule in (*MOVE_RULES, *MOVE_TYPE_RULES, *MEMORY_RULES)}
    remarks = {"move-conversion", "extract-columns"}
    assert {rule for _, _, rule in ILLEGAL} | {"move-target-layout"} | remarks == rules


@pytest.mark.parametrize(("text", "profile", "remark"), REMARKS)
def test_what_headers_take_without_a_documented_result_is_legal_with_a_note(
    text: str, profile: Profile, remark: str
) -> None:
    found = judge(resolve_known(parse(text), profile))
    assert found.violations == ()
    assert any(remark in note and "(unspecified: " in note for note in map(str, found.notes))


@pytest.mark.parametrize("text", COMPILED_ON_CPU)
def test_the_simulator_compiles_moves_between_any_tiles(text: str) -> None:
    assert broken(text, CPU) == {}
    assert broken(text, A5)


@pytest.mark.parametrize(
    "text",
    [
        move(SCALES, SCALES.replace("mat", "scaling")),
        move(SCALES, SCALES.replace("mat", "scale_left")),
        extract(0, 0, SCALES, SCALES.replace("mat", "scaling")),
        extract(0, 0, VEC, MAT),
        extract(0, 0, VEC, VEC.replace("64x128", "32x64")),
        extract(0, 0, VEC, MAT).replace("textract", "tinsert"),
        move(f"{VEC}, {VEC}", VEC).replace("%s", "%s, %q"),
        move(ACC, "!pto.tile_buf<mat, 32x48xf32>"),
        move(ACC, "!pto.tile_buf<vec, 32x48xf32, blayout=col_major>"),
        extract(0, 0, ACC, "!pto.tile_buf<vec, 32x48xf32>"),
    ],
)
def test_a5_moves_in_more_ways(text: str) -> None:
    """Source: TMov.hpp, TExtract.hpp and TInsert.hpp of A5."""
    assert broken(text, A5) == {}
    assert broken(text, A2A3)


@pytest.mark.parametrize("role", ["source", "target"])
@pytest.mark.parametrize("profile", PROFILES.values(), ids=str)
def test_a_memref_is_undecided(role: str, profile: Profile) -> None:
    memref = "memref<64x128xf32, #pto.address_space<mat>>"
    tiles = {"source": MAT, "target": LEFT.replace("64x32", "64x128"), role: memref}
    found = judge(resolve_known(parse(move(tiles["source"], tiles["target"])), profile))
    assert found.violations == ()
    assert any(note.startswith(f"undecided: {role}: {memref} does not say") for note in map(str, found.notes))
    product = f"pto.tmatmul ins(%a, %b : {memref}, {memref}) outs(%c : {memref})"
    assert broken(product, profile) == {}


@pytest.mark.parametrize("text", ["index", "i64", "f32", "!pto.ptr<f32>", VIEW])
def test_what_is_no_tile_is_no_operand(text: str) -> None:
    assert "operand-type" in broken(move(MAT, text))


def test_a_view_has_the_rows_of_all_its_dimensions_but_the_last() -> None:
    nz = "!pto.tile_buf<mat, ROWSx16xf16, blayout=col_major, slayout=row_major>"
    for rows, legal in ((256, True), (128, True), (272, False)):
        for view in ("1x1x16x16x16", "16x16x16", "4x2x2x16x16", "256x16"):
            text = move(f"!pto.partition_tensor_view<{view}xf16>", nz.replace("ROWS", str(rows)), "tload")
            assert ("view-extent" not in broken(text)) is legal, (rows, view)
    wide = "!pto.tile_buf<vec, 16x64xf16, blayout=col_major>"
    assert "view-extent" not in broken(move("!pto.partition_tensor_view<4x16x16xf16>", wide, "tload"))
    assert "view-extent" in broken(move("!pto.partition_tensor_view<3x16x16xf16>", wide, "tload"))
    assert "view-extent" not in broken(move("!pto.partition_tensor_view<?x16x16xf16>", wide, "tload"))


def test_a_row_major_left_is_kept_on_cpu_and_no_operand_of_mx() -> None:
    """Source: cpu/TMatmul.hpp, CheckMadValid and CheckMadMxValid."""
    plain = INSTRUCTIONS["E8"].replace("v_col=64, blayout=col_major", "v_col=64, blayout=row_major", 1)
    assert resolve_known(parse(plain), CPU).tiles["a"].blocks is Order.ROW_MAJOR
    assert broken(plain, CPU) == {}
    scaled = INSTRUCTIONS["E16"].replace("blayout=col_major", "blayout=row_major", 1)
    assert set(broken(scaled, CPU)) == {"left-blocks"}
    assert "static" in broken(scaled, CPU)["left-blocks"]
    assert broken(scaled, A5) == {}


def test_windows_are_physical_on_the_npu_and_valid_on_the_simulator() -> None:
    part = MAT.replace("f16,", "f16, valid=64x40,")
    assert broken(extract(0, 32, part), A5) == {}
    assert "extract-window" in broken(extract(0, 32, part), CPU)


def test_the_simulator_inserts_valid_elements_into_physical_ones() -> None:
    part = ACC.replace("fractal", "valid=16x48, fractal")
    text = extract(16, 0, part, NZ).replace("textract", "tinsert")
    assert "insert-window" in broken(text, A5)
    assert "insert-window" not in broken(text, CPU)
    assert "insert-window" not in broken(text.replace("32x48xf16,", "32x48xf16, valid=8x48,"), CPU)
    assert "insert-window" in broken(text.replace("valid=16x48", "valid=17x48"), CPU)
    assert "insert-window" in broken(extract(0, -16, part, NZ).replace("textract", "tinsert"), CPU)


def test_a_quantised_store_is_not_judged_by_types() -> None:
    text = move(ACC, "!pto.partition_tensor_view<32x48xi8>", "tstore") + " {quantPre = 1 : i64}"
    assert "move-types" not in broken(text)


@given(st.integers(0, 4), st.integers(0, 8), st.sampled_from(list(PROFILES.values())))
def test_blocks_at_whole_fractals_inside_the_source_are_legal(
    row: int, column: int, profile: Profile
) -> None:
    target = LEFT.replace("64x32", "16x32")
    wrong = broken(extract(16 * row, 16 * column, MAT, target), profile)
    assert ("extract-window" in wrong) is (row > 3 or column > 6)
    assert "extract-alignment" not in wrong


def broken_in(text: str) -> list[str]:
    statements = judged_statements(parse_module(text).body, A5)
    return [violation.rule.id for each in statements for violation in each.judgement.violations]


def test_indices_that_are_constants_of_the_text_are_judged() -> None:
    constants = "%c0 = arith.constant 0 : index\n%c8 = arith.constant 8 : index\n"
    loop = "scf.for %i = %c0 to %c8 step %c8 {\n  %c112 = arith.constant 112 : index\n  EXTRACT\n}"
    assert broken_in(constants + extract("%c8", "%c0", MAT, RIGHT)) == ["extract-window", "extract-alignment"]
    assert broken_in(constants + loop.replace("EXTRACT", extract("%c0", "%c112"))) == ["extract-window"]
    assert broken_in(constants + extract("%c0", "%n")) == []


def test_addresses_assigned_to_allocated_tiles() -> None:
    text = """%b = pto.alloc_tile : !pto.tile_buf<bias, 1x16xf32>
    pto.tassign %b, @tile(0x3000)"""
    found = [
        (judged_statement.name, [violation.rule.id for violation in judged_statement.judgement.violations])
        for judged_statement in judged_statements(parse_module(text).body, A5)
    ]
    assert found == [("alloc_tile %b", []), ("tassign %b", ["address-range"])]


ROUTES = {
    ("tmov", "A2A3"): "vec>vec mat>left mat>right acc>mat",
    ("tmov", "A5"): "vec>vec mat>left mat>right acc>mat acc>vec vec>mat",
    ("textract", "A2A3"): "mat>left mat>right acc>mat",
    ("textract", "A5"): "mat>left mat>right acc>mat acc>vec vec>vec vec>mat",
    ("tinsert", "A2A3"): "acc>mat",
    ("tinsert", "A5"): "acc>mat acc>vec vec>vec vec>mat",
}
"""Where f16 goes (f32 of acc as f16). Source: TMov.hpp, TExtract.hpp, TInsert.hpp."""

PLACED = {
    "vec": "!pto.tile_buf<vec, 32x32xf16>",
    "mat": "!pto.tile_buf<mat, 32x32xf16, blayout=col_major, slayout=row_major>",
    "left": "!pto.tile_buf<left, 32x32xf16, blayout=col_major, slayout=row_major>",
    "right": "!pto.tile_buf<right, 32x32xf16, slayout=col_major>",
    "acc": "!pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>",
    "bias": "!pto.tile_buf<bias, 32x32xf16>",
    "scaling": "!pto.tile_buf<scaling, 32x32xf16>",
}


@pytest.mark.parametrize("operation", ["tmov", "textract", "tinsert"])
@pytest.mark.parametrize("profile", PROFILES.values(), ids=str)
def test_moves_go_where_the_headers_take_them(operation: str, profile: Profile) -> None:
    found = set()
    for source, target in product(PLACED, PLACED):
        text = move(PLACED[source], PLACED[target])
        if operation != "tmov":
            text = extract(0, 0, PLACED[source], PLACED[target]).replace("textract", operation)
        if not broken(text, profile):
            found.add(f"{source}>{target}")
    everywhere = {f"{source}>{target}" for source, target in product(PLACED, PLACED)}
    routes = ROUTES.get((operation, profile.name))
    assert found == (everywhere if routes is None else set(routes.split()))


@pytest.mark.parametrize("profile", [A2A3, A5])
def test_types_of_what_comes_from_who_knows_where_are_not_compared(profile: Profile) -> None:
    assert (
        broken("%t = pto.tmov %s : (!pto.tile<16x32xf32>) -> !pto.tile<loc=left, f16, 16, 32>", profile) == {}
    )


@pytest.mark.parametrize("profile", [A2A3, A5])
def test_what_may_be_a_bias_may_be_converted(profile: Profile) -> None:
    text = "%t = pto.tmov %s : (!pto.tile<loc=mat, {}, 1, 32>) -> !pto.tile<1x32x{}>"
    assert broken(text.format("f16", "f32"), profile) == {}
    assert [*broken(text.format("f32", "f16"), profile)] == ["move-types"]
