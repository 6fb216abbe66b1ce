"""Loads, moves, extracted blocks and stores: logical indices survive every change of order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.spec.errors import InputError, UnsupportedError
from mmaproof.spec.formats import BF16, E4M3, F16, F32, S8, S32, Bits
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.pto import movers
from mmaproof.spec.pto.buffers import read, write
from mmaproof.spec.pto.catalogue import OPERATIONS
from mmaproof.spec.pto.choices import Choices, choices_of
from mmaproof.spec.pto.element_types import element_type_named
from mmaproof.spec.pto.global_memory import GlobalView, ViewOrder, contiguous
from mmaproof.spec.pto.placement import alignment, mover_placement, source_placement
from mmaproof.spec.pto.sizes import Extents
from mmaproof.spec.pto.targets import A2A3, A5, CPU, PROFILES, Profile, alias
from mmaproof.spec.pto.tile import DYNAMIC, Compact, Location, Order, Pad, Tile

ALG = NumpyAlgebra()
TMOV, TEXTRACT, TSTORE = (OPERATIONS[name] for name in ("tmov", "textract", "tstore"))
every_profile = pytest.mark.parametrize("profile", PROFILES.values(), ids=str)


def tile(profile: Profile, location: Location, rows: int, columns: int, element: str = "f16") -> Tile:
    return alias(profile, location, element_type_named(element), (rows, columns))


def numbered(rows: int, columns: int) -> Bits:
    """Return a matrix of distinct f16 encodings."""
    return np.arange(rows * columns, dtype=np.uint16).reshape(rows, columns)


def held(profile: Profile, of: Tile, matrix: Bits) -> Bits:
    empty = np.full(of.rows * of.columns, 0xFFFF, dtype=np.uint16)
    return write("source", empty, mover_placement(profile, of, matrix.shape), matrix)


def moved(
    profile: Profile,
    source: Tile,
    target: Tile,
    matrix: Bits,
    row: int = 0,
    column: int = 0,
    name: str = "textract",
) -> Bits:
    """Move a matrix from tile to tile and return the target's buffer, which held 0xFFFF everywhere."""
    before = np.full(target.rows * target.columns, 0xFFFF, dtype=np.uint16)
    valid = (Extents(*matrix.shape), Extents(target.valid_rows, target.valid_columns))
    return movers.move(
        ALG, OPERATIONS[name], profile, (source, target), (F16, F16), (held(profile, source, matrix), before),
        valid, Choices(), row, column,
    )  # fmt: skip


def content(profile: Profile, of: Tile, buffer: Bits, rows: int, columns: int) -> Bits:
    return read("target", buffer, mover_placement(profile, of, (rows, columns)), rows, columns)


@every_profile
@pytest.mark.parametrize("target", [Location.LEFT, Location.RIGHT])
@pytest.mark.parametrize("blocks", [Order.COL_MAJOR, Order.ROW_MAJOR])
def test_a_move_keeps_logical_indices(profile: Profile, target: Location, blocks: Order) -> None:
    inner = Order.ROW_MAJOR if blocks is Order.COL_MAJOR else Order.COL_MAJOR
    source = replace(tile(profile, Location.MAT, 32, 48), blocks=blocks, inner=inner)
    there = tile(profile, target, 32, 48)
    after = moved(profile, source, there, numbered(32, 48), name="tmov")
    np.testing.assert_array_equal(content(profile, there, after, 32, 48), numbered(32, 48))


@every_profile
@settings(max_examples=30, deadline=None)
@given(row=st.integers(0, 3), column=st.integers(0, 3), data=st.data())
def test_a_block_is_extracted_from_where_its_indices_say(
    profile: Profile, row: int, column: int, data: st.DataObject
) -> None:
    rows, columns = (data.draw(st.integers(1, 4 - index)) * 16 for index in (row, column))
    location = data.draw(st.sampled_from([Location.LEFT, Location.RIGHT]))
    source, target = tile(profile, Location.MAT, 64, 64), tile(profile, location, rows, columns)
    after = moved(profile, source, target, numbered(64, 64), 16 * row, 16 * column)
    wanted = numbered(64, 64)[16 * row : 16 * row + rows, 16 * column : 16 * column + columns]
    np.testing.assert_array_equal(content(profile, target, after, rows, columns), wanted)


def test_a_partial_target_keeps_what_is_outside_its_valid_region() -> None:
    target = replace(tile(A5, Location.LEFT, 32, 32), valid_rows=20, valid_columns=20)
    after = moved(A5, tile(A5, Location.MAT, 32, 32), target, numbered(32, 32))
    whole = content(A5, target, after, 32, 32)
    np.testing.assert_array_equal(whole[:20, :20], numbered(32, 32)[:20, :20])
    assert (whole[20:] == 0xFFFF).all()
    assert (whole[:, 20:] == 0xFFFF).all()


def test_compact_tiles_are_packed_on_the_npu_only() -> None:
    target = replace(tile(A5, Location.LEFT, 64, 64), valid_rows=20, valid_columns=40, compact=Compact.NORMAL)
    used = {}
    for profile in (A5, CPU):
        after = moved(profile, tile(profile, Location.MAT, 64, 64), target, numbered(64, 64))
        used[profile.name] = int(np.flatnonzero(after != 0xFFFF).max())
        np.testing.assert_array_equal(content(profile, target, after, 20, 40), numbered(64, 64)[:20, :40])
    assert used == {"A5": 2 * 32 * 16 + 19 * 16 + 7, "CPU": 2 * 64 * 16 + 19 * 16 + 7}


@pytest.mark.parametrize(
    ("location", "row", "column", "message"),
    [
        (Location.LEFT, 8, 0, "row 8 of f16 elements must be a multiple of 16"),
        (Location.RIGHT, 16, 8, "column 8 of f16 elements must be a multiple of 16"),
        (Location.LEFT, 48, 0, "row 48 \\+ 32 of the target exceeds the 64 rows of the source"),
        (Location.LEFT, 0, -16, "column -16"),
    ],
)
def test_refused_indices(location: Location, row: int, column: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        moved(A5, tile(A5, Location.MAT, 64, 64), tile(A5, location, 32, 32), numbered(64, 64), row, column)


@pytest.mark.parametrize(
    ("element", "location", "inner", "granules"),
    [
        ("f16", Location.LEFT, Order.ROW_MAJOR, (16, 16)),
        ("i8", Location.LEFT, Order.ROW_MAJOR, (16, 32)),
        ("f32", Location.LEFT, Order.ROW_MAJOR, (16, 8)),
        ("i8", Location.RIGHT, Order.COL_MAJOR, (32, 16)),
        ("i8", Location.RIGHT, Order.ROW_MAJOR, (32, 32)),
        ("f32", Location.RIGHT, Order.ROW_MAJOR, (16, 16)),
    ],
)
def test_alignment_of_extracted_blocks(
    element: str, location: Location, inner: Order, granules: tuple[int, int]
) -> None:
    source = replace(tile(A5, Location.MAT, 64, 64, element), inner=inner)
    assert alignment(source, tile(A5, location, 32, 32, element)) == granules


def test_a_one_row_left_tile_is_filled_in_chunks_of_512_bytes() -> None:
    linear = replace(tile(A5, Location.MAT, 1, 512), blocks=Order.ROW_MAJOR, inner=Order.NONE_BOX)
    left = tile(A5, Location.LEFT, 1, 256)
    after = moved(A5, linear, left, numbered(1, 512), 0, 256)
    np.testing.assert_array_equal(after, np.arange(256, 512))
    with pytest.raises(InputError, match="column 128 of f16 elements must be a multiple of 256"):
        moved(A5, linear, left, numbered(1, 512), 0, 128)


def test_the_simulator_compares_valid_regions() -> None:
    source = replace(tile(CPU, Location.MAT, 64, 64), valid_rows=40)
    target = tile(CPU, Location.LEFT, 32, 32)
    with pytest.raises(InputError, match="row 16 \\+ 32 of the target exceeds the 40 rows of the source"):
        moved(CPU, source, target, numbered(40, 64), 16, 0)
    moved(A5, source, target, numbered(40, 64), 16, 0)


def test_a5_takes_run_time_rows_of_the_accumulator_as_physical() -> None:
    acc = tile(A5, Location.ACC, 64, 32, "f32")
    assert source_placement(TMOV, A5, acc, (20, 32)).pitch == 64 * 16
    assert source_placement(TMOV, A5, replace(acc, valid_rows=DYNAMIC), (20, 32)).pitch == 32 * 16
    assert source_placement(TSTORE, A5, replace(acc, valid_rows=DYNAMIC), (20, 32)).pitch == 64 * 16
    assert source_placement(TMOV, A2A3, replace(acc, valid_rows=DYNAMIC), (20, 32)).pitch == 64 * 16


def test_conversions_round_once_and_quantisation_is_not_modelled() -> None:
    values = np.array([1 + 2.0**-8, 1 + 3 * 2.0**-8, 1e30], dtype=np.float32).view(np.uint32)
    narrow = movers.converted(ALG, values, F32, F16, Choices())
    assert narrow.view(np.float16).tolist() == [1 + 2.0**-8, 1 + 3 * 2.0**-8, np.inf]
    assert movers.converted(ALG, values, F32, BF16, Choices())[:2].tolist() == [0x3F80, 0x3F82]
    assert movers.converted(ALG, narrow, F16, F32, Choices())[0] == values[0]
    unspecified = replace(Choices(), conversion="unspecified")
    assert movers.converted(ALG, narrow, F16, F32, unspecified)[0] == values[0]
    assert movers.converted(ALG, values, F32, F16, unspecified).dtype == np.uint16
    with pytest.raises(UnsupportedError, match="s32 to f16"):
        movers.converted(ALG, values, S32, F16, Choices())


# -- global memory


views = st.tuples(*[st.integers(1, 3)] * 5)


@given(shape=views, order=st.sampled_from(ViewOrder))
def test_a_view_without_gaps_is_a_bijection(shape: tuple[int, int, int, int, int], order: ViewOrder) -> None:
    strides = tuple(int(np.prod(shape[axis + 1 :])) for axis in range(5))
    view = GlobalView(shape, strides, order)  # type: ignore[arg-type]
    offsets = view.offset(*np.indices(view.extents))
    assert sorted(offsets.ravel().tolist()) == list(range(int(np.prod(shape))))


def test_views_fold_rows_and_columns_as_documented() -> None:
    strides = (10**8, 10**6, 10**4, 100, 1)
    shape = (2, 3, 4, 16, 8)
    assert (
        GlobalView(shape, strides, ViewOrder.ND).offset(16 * 4 * 1 + 16 * 2 + 5, 7) == 10**6 + 2 * 10**4 + 507
    )
    assert (
        GlobalView(shape, strides, ViewOrder.DN).offset(5, 8 * 4 * 1 + 8 * 2 + 7) == 10**6 + 2 * 10**4 + 507
    )
    assert GlobalView(shape, strides, ViewOrder.NZ).offset(16 * 2 + 5, 8 * 3 * 1 + 8 * 2 + 7) == (
        10**8 + 2 * 10**6 + 2 * 10**4 + 507
    )


def test_a_view_beyond_memory_is_refused() -> None:
    memory = np.zeros(20, dtype=np.uint16)
    with pytest.raises(InputError, match="element 23 of a memory of 20"):
        contiguous(4, 6).read(memory, 4, 6)
    with pytest.raises(InputError, match="5x4 elements exceed the view"):
        contiguous(4, 5).read(memory, 5, 4)


def loaded(target: Tile, matrix: Bits, fill: str, profile: Profile = A5) -> Bits:
    before = np.full(target.rows * target.columns, 0xFFFF, dtype=np.uint16)
    choices = replace(choices_of(profile), load_fill=fill)
    return movers.load(
        ALG, profile, contiguous(*matrix.shape), matrix.ravel(), target, F16, before,
        Extents(*matrix.shape), choices,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("location", "zeroed"), [(Location.MAT, (20, 32)), (Location.RIGHT, (32, 20))], ids=["Nz", "Zn"]
)
def test_what_a_load_writes_beyond_the_valid_region(location: Location, zeroed: tuple[int, int]) -> None:
    target, matrix = tile(A5, location, 64, 64), numbered(20, 20)
    expected = {"none": (20, 20), "granule": zeroed, "buffer": (64, 64)}
    for fill, (rows, columns) in expected.items():
        whole = content(A5, target, loaded(target, matrix, fill), 64, 64)
        wanted = np.full((64, 64), 0xFFFF)
        wanted[:rows, :columns] = 0
        wanted[:20, :20] = matrix
        np.testing.assert_array_equal(whole, wanted)


@pytest.mark.parametrize("pad", Pad)
def test_the_simulator_fills_with_the_pad_value(pad: Pad) -> None:
    target = replace(tile(CPU, Location.MAT, 32, 32), pad=pad)
    after = content(CPU, target, loaded(target, numbered(20, 20), "buffer", CPU), 32, 32)
    wanted = {Pad.NULL: 0.0, Pad.ZERO: 0.0, Pad.MAX: np.inf, Pad.MIN: -np.inf}[pad]
    assert (after.view(np.float16)[20:] == wanted).all()


def test_pad_values_of_types_without_infinities_are_their_extremes() -> None:
    assert [movers.pad_encoding(pad, S8) for pad in (Pad.MAX, Pad.MIN)] == [0x7F, 0x80]
    assert [movers.pad_encoding(pad, E4M3) for pad in (Pad.MAX, Pad.MIN)] == [0x7E, 0xFE]


@every_profile
def test_a_store_of_what_was_loaded_is_the_matrix(profile: Profile) -> None:
    mat, matrix = tile(profile, Location.MAT, 32, 48), numbered(20, 40)
    mat = replace(mat, valid_rows=20, valid_columns=40)
    buffer = loaded(mat, matrix, choices_of(profile).load_fill, profile)
    view = GlobalView((1, 1, 1, 20, 40), (0, 0, 0, 50, 1))
    stored = movers.store(
        ALG, TSTORE, profile, mat, (F16, F16), buffer, Extents(20, 40), view,
        np.full(20 * 50, 0xFFFF, dtype=np.uint16), choices_of(profile),
    ).reshape(20, 50)  # fmt: skip
    np.testing.assert_array_equal(stored[:, :40], matrix)
    assert (stored[:, 40:] == 0xFFFF).all()
