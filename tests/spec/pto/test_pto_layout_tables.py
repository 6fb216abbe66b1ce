"""Tables of where elements lie: the reference's test vectors, and bijections of any extent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pto_texts import INSTRUCTIONS, PAGE_LISTINGS

from mmaproof.spec.element_table import ElementTable
from mmaproof.spec.errors import InputError, UnsupportedError
from mmaproof.spec.pto.assembly import parse
from mmaproof.spec.pto.catalogue import OPERATIONS
from mmaproof.spec.pto.element_types import ELEMENT_TYPES
from mmaproof.spec.pto.fractal import is_row_of_scales
from mmaproof.spec.pto.operand_tables import operand_table
from mmaproof.spec.pto.resolution import applied
from mmaproof.spec.pto.targets import A2A3, A5, CPU, PROFILES, Profile, alias
from mmaproof.spec.pto.tile import Location, Tile


def table_of(role: str, tile: Tile, profile: Profile) -> ElementTable:
    operation = OPERATIONS["tmatmul.mx.bias"]
    return operand_table(applied(operation, {role: tile}, profile).instruction, role, profile)


@pytest.mark.parametrize(
    ("role", "location", "element", "extent", "place", "profile", "offset"),
    [
        ("a", Location.LEFT, "f16", (32, 48), (17, 20), A5, 788),
        ("a", Location.LEFT, "f16", (32, 48), (17, 20), CPU, 788),
        ("a", Location.LEFT, "f16", (32, 48), (17, 20), A2A3, 1044),
        ("b", Location.RIGHT, "f16", (32, 48), (17, 20), A5, 1089),
        ("b", Location.RIGHT, "i8", (64, 32), (33, 20), A5, 1665),
        ("b", Location.RIGHT, "f32", (24, 48), (9, 20), A2A3, 545),
        ("d", Location.ACC, "f32", (32, 48), (17, 20), A5, 788),
        ("scale_a", Location.SCALE_LEFT, "f8E8M0FNU", (32, 4), (17, 3), A5, 99),
        ("scale_b", Location.SCALE_RIGHT, "f8E8M0FNU", (4, 32), (3, 17), A5, 99),
        ("bias", Location.BIAS, "f32", (1, 64), (0, 33), A5, 33),
        ("a", Location.LEFT, "f16", (1, 256), (0, 200), A2A3, 200),
    ],
)
def test_vectors_of_the_reference(
    role: str,
    location: Location,
    element: str,
    extent: tuple[int, int],
    place: tuple[int, int],
    profile: Profile,
    offset: int,
) -> None:
    tile = alias(profile, location, ELEMENT_TYPES[element], extent)
    (row,) = table_of(role, tile, profile).at(*place).rows()
    assert row["offset"] == offset
    assert row["bit"] == offset * tile.element.bits
    assert row["byte"] == row["bit"] // 8


@pytest.mark.parametrize(("extent", "said"), [((1, 4), True), ((1, 2), False), ((16, 4), False)])
def test_a_table_names_the_reading_of_scale_factors_in_one_row(extent: tuple[int, int], said: bool) -> None:
    tile = alias(CPU, Location.SCALE_LEFT, ELEMENT_TYPES["f8E8M0FNU"], extent)
    assert is_row_of_scales(tile) == said
    if extent != (1, 2):  # less than a box of the order that is said
        assert ("one-row-scales=line" in table_of("scale_a", tile, CPU).title) == said


@given(
    st.sampled_from([("a", Location.LEFT), ("b", Location.RIGHT), ("d", Location.ACC)]),
    st.sampled_from(["f32", "f16", "i8"]),
    st.integers(1, 4),
    st.integers(1, 4),
    st.sampled_from(list(PROFILES.values())),
)
def test_every_element_is_in_one_place_and_every_block_is_full(
    operand: tuple[str, Location], element: str, rows: int, columns: int, profile: Profile
) -> None:
    role, location = operand
    tile = alias(profile, location, ELEMENT_TYPES[element], (32 * rows, 32 * columns))
    table = table_of(role, tile, profile)
    assert np.array_equal(table.holders["offset"], np.arange(tile.rows * tile.columns))
    places = table.coordinates["row"] * tile.columns + table.coordinates["column"]
    assert np.array_equal(np.sort(places), np.arange(tile.rows * tile.columns))
    counts = np.bincount(table.holders["block"], minlength=table.owners.extent)
    assert (counts == tile.box[0] * tile.box[1]).all()
    first = table.held_by("block", 0)
    assert set(zip(first.coordinates["row"], first.coordinates["column"], strict=True)) == {
        (r, c) for r in range(tile.box[0]) for c in range(tile.box[1])
    }


def test_a_tile_of_the_size_of_its_buffer_has_a_table() -> None:
    tile = alias(A5, Location.ACC, ELEMENT_TYPES["f32"], (256, 256))
    assert len(table_of("d", tile, A5)) == 65536


def test_operands_of_a_move() -> None:
    load = parse(INSTRUCTIONS["E13 load"])
    assert operand_table(load, "target", A5).at(0, 16).rows()[0]["offset"] == 1024
    with pytest.raises(InputError, match="needs its extent and element type: it is a view of global memory"):
        operand_table(load, "source", A5)


@pytest.mark.parametrize(
    ("text", "role", "message"),
    [
        (INSTRUCTIONS["E1"], "c", "tmatmul has no operand 'c' in a buffer; it has a, b, d"),
        (INSTRUCTIONS["E1"], "register", "no operand 'register'"),
        (INSTRUCTIONS["E5"], "row", "no operand 'row' in a buffer; it has source, target"),
        (INSTRUCTIONS["E5"], "source", "does not say where the tile is"),
        (PAGE_LISTINGS[0], "a", "needs its extent and element type: !pto.tile<...> says nothing"),
        (INSTRUCTIONS["E1"].replace("16x32", "17x32"), "a", "whole-blocks: a has 17 rows of f16"),
        (INSTRUCTIONS["E1"].replace("16x32", "0x32"), "a", "tile-extent: a has 0 rows"),
        (INSTRUCTIONS["E1"].replace("16x32", "65536x65536"), "a", "capacity: a: 65536x65536 f16 are"),
    ],
)
def test_what_has_no_layout(text: str, role: str, message: str) -> None:
    with pytest.raises(InputError) as refusal:
        operand_table(parse(text), role, A5)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_four_bit_elements_are_not_modelled() -> None:
    tile = alias(A5, Location.LEFT, ELEMENT_TYPES["f4E2M1x2"], (16, 64))
    with pytest.raises(UnsupportedError, match="f4E2M1x2"):
        table_of("a", tile, A5)
