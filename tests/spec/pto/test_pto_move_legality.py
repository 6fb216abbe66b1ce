"""Which moves are illegal, on which profile, and by which rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.spec.pto.assembly import parse, parse_module
from mmaproof.spec.pto.elements import ELEMENT_TYPES
from mmaproof.spec.pto.legality import judge
from mmaproof.spec.pto.module_legality import judge_module
from mmaproof.spec.pto.move_rules import MOVE_RULES
from mmaproof.spec.pto.operations import OPERATIONS
from mmaproof.spec.pto.profiles import A2A3, A5, CPU, PROFILES, Profile
from mmaproof.spec.pto.resolution import applied, resolve_known
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
    (move(ACC, "!pto.partition_tensor_view<32x48xi8>", "tstore"), A5, "move-types"),
    (move(ACC, "!pto.partition_tensor_view<16x48xf32>", "tstore"), A5, "view-extent"),
    (move(VIEW, MAT.replace("64x128", "64x144"), "tload"), A5, "view-extent"),
    (move(VIEW, "!pto.tile_buf<mat, 64x128xf16, slayout=row_major>", "tload"), A5, "load-layout"),
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
    assert [violation.rule.id for violation in wrong] == ["extract-left-blocks"]
    assert {rule for _, _, rule in ILLEGAL} | {"extract-left-blocks"} == {rule.id for rule in MOVE_RULES}


def test_windows_are_physical_on_the_npu_and_valid_on_the_simulator() -> None:
    part = MAT.replace("f16,", "f16, valid=64x40,")
    assert broken(extract(0, 32, part), A5) == {}
    assert "extract-window" in broken(extract(0, 32, part), CPU)


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


def test_addresses_assigned_to_allocated_tiles() -> None:
    text = """%b = pto.alloc_tile : !pto.tile_buf<bias, 1x16xf32>
    pto.tassign %b, @tile(0x3000)"""
    found = [
        (each.statement, [violation.rule.id for violation in each.findings.violations])
        for each in judge_module(parse_module(text), A5)
    ]
    assert found == [("alloc_tile %b", []), ("tassign %b", ["address-range"])]
