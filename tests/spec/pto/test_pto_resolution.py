"""What texts leave out is filled in from the profile, or said to be open."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pto_texts import INSTRUCTIONS, PAGE_LISTINGS

from mmaproof.spec.errors import InputError
from mmaproof.spec.pto.assembly import parse
from mmaproof.spec.pto.catalogue import OPERATIONS
from mmaproof.spec.pto.element_types import ELEMENT_TYPES
from mmaproof.spec.pto.resolution import applied, resolve, resolve_known, tile_of_type, written_type
from mmaproof.spec.pto.targets import A2A3, A5, CPU, PROFILES, Profile, alias
from mmaproof.spec.pto.tile import DYNAMIC, Compact, Location, Order, Pad, Tile

F16, F32 = ELEMENT_TYPES["f16"], ELEMENT_TYPES["f32"]


@pytest.mark.parametrize("profile", PROFILES.values(), ids=str)
def test_documents_types_stand_for_the_aliases_of_the_profile(profile: Profile) -> None:
    resolved = resolve(parse(INSTRUCTIONS["E1"]), profile)
    assert resolved.tiles == {
        "a": alias(profile, Location.LEFT, F16, (16, 32)),
        "b": alias(profile, Location.RIGHT, F16, (32, 16)),
        "d": alias(profile, Location.ACC, F32, (16, 16)),
    }
    assert len(resolved.notes) == 1


def test_the_assemblers_types_have_the_assemblers_defaults() -> None:
    text = (
        "pto.tmatmul ins(%a, %b : !pto.tile_buf<left, 16x32xf16>, !pto.tile_buf<right, 32x16xf16>) "
        "outs(%c : !pto.tile_buf<acc, 16x16xf32, valid=?x8, pad=1, compact=1>)"
    )
    tiles = resolve(parse(text), A2A3).tiles
    assert tiles["b"] == Tile(Location.RIGHT, F16, 32, 16, 32, 16)
    assert tiles["d"] == Tile(
        Location.ACC, F32, 16, 16, DYNAMIC, 8, pad=Pad.ZERO, compact=Compact.NORMAL
    )  # fmt: skip


@pytest.mark.parametrize(("profile", "blocks"), [(A2A3, Order.ROW_MAJOR), (A5, Order.COL_MAJOR), (CPU, None)])
@pytest.mark.parametrize("written", ["row_major", "col_major"])
def test_blayout_of_left_is_the_npus_whatever_is_written_and_the_written_one_on_cpu(
    profile: Profile, blocks: Order | None, written: str
) -> None:
    blocks = blocks or Order(written)
    text = INSTRUCTIONS["E10"].replace(
        "16x64xi8, blayout=col_major", f"16x64xi8, blayout={written}"
    )  # fmt: skip
    resolved = resolve(parse(text), profile)
    assert resolved.tiles["a"].blocks is blocks
    assert bool(resolved.notes) is (written != blocks)


def test_scale_factors_are_spelled_scaling() -> None:
    tiles = resolve(parse(INSTRUCTIONS["E16"]), A5).tiles
    assert (tiles["scale_a"].location, tiles["scale_b"].location) == (
        Location.SCALE_LEFT, Location.SCALE_RIGHT,
    )  # fmt: skip


def test_one_row_of_a_document_is_a_row_of_a_block_where_the_matrix_unit_has_blocks() -> None:
    gemv, matmul = parse(INSTRUCTIONS["E4"]), parse(INSTRUCTIONS["E4"].replace("tgemv", "tmatmul"))
    for profile, product, rows in (
        (A5, gemv, (1, 16)), (A2A3, gemv, (1, 16)), (A2A3, matmul, (16, 16)), (CPU, matmul, (1, 1)),
    ):  # fmt: skip
        tiles = resolve(product, profile).tiles
        assert (tiles["a"].rows, tiles["d"].rows) == rows
        assert (tiles["a"].valid_rows, tiles["d"].valid_rows) == (1, 1)


@pytest.mark.parametrize("text", PAGE_LISTINGS)
def test_opaque_types_are_open(text: str) -> None:
    instruction = parse(text)
    assert not resolve_known(instruction, A5).tiles
    with pytest.raises(InputError, match=r"can't be resolved: !pto.tile<...> says nothing"):
        resolve(instruction, A5)


def test_a_move_between_types_without_places_is_open_but_has_extents() -> None:
    resolved = resolve_known(parse(INSTRUCTIONS["E5"]), A5)
    assert not resolved.tiles
    assert (resolved.extent("source"), resolved.extent("target")) == ((64, 128), (64, 32))
    assert resolved.element("source") == ELEMENT_TYPES["bf16"]


def test_a_view_of_memory_is_no_tile_and_not_open() -> None:
    resolved = resolve(parse(INSTRUCTIONS["E13 load"]), A5)
    assert resolved.tiles.keys() == {"target"}
    assert resolved.extent("source") == (64, 128)


@given(
    st.builds(
        Tile,
        st.sampled_from([location for location in Location if location is not Location.LEFT]),
        st.sampled_from(list(ELEMENT_TYPES.values())),
        *[st.integers(1, 64)] * 2,
        *[st.integers(1, 64) | st.just(DYNAMIC)] * 2,
        blocks=st.sampled_from([Order.ROW_MAJOR, Order.COL_MAJOR]),
        inner=st.sampled_from(Order),
        fractal=st.sampled_from([512, 1024, 32]),
        pad=st.sampled_from(Pad),
        compact=st.sampled_from(Compact),
    ),
    st.sampled_from(list(PROFILES.values())),
)
def test_a_type_that_says_everything_is_taken_at_its_word(tile: Tile, profile: Profile) -> None:
    assert tile_of_type(written_type(tile), profile) == tile


def test_tiles_of_a_program_are_taken_as_they_are() -> None:
    odd = Tile(Location.LEFT, F16, 3, 5, 3, 5, blocks=Order.COL_MAJOR)
    resolved = applied(OPERATIONS["tmatmul.acc"], {"a": odd, "d": odd}, A2A3)
    assert resolved.tiles == {"a": odd, "d": odd, "c": odd}
    assert resolved.open.keys() == {"b"}
