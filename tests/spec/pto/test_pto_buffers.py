"""Products on buffers: the matrix unit's pitches, its one-row modes, and what it reads beyond the sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pto_products import element_types, formats_by_role, operand_bits, product_tiles

from mmaproof.spec.errors import InputError, UnsupportedError
from mmaproof.spec.formats import Bits
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.pto.buffers import read, write
from mmaproof.spec.pto.catalogue import OPERATIONS, Operation
from mmaproof.spec.pto.choices import choices_of
from mmaproof.spec.pto.cube import multiply
from mmaproof.spec.pto.element_types import element_type_named
from mmaproof.spec.pto.placement import LINEAR, mover_placement, physical, rounded, unit_placement
from mmaproof.spec.pto.products import product
from mmaproof.spec.pto.sizes import executed_rows, sizes
from mmaproof.spec.pto.targets import A2A3, A5, CPU, PROFILES, Profile, alias
from mmaproof.spec.pto.tile import Compact, Location, Tile

ALG = NumpyAlgebra()
Buffers = dict[str, Bits]


def filled(
    profile: Profile, tiles: Mapping[str, Tile], matrices: Mapping[str, Bits], fill: int = 0
) -> Buffers:
    """Put matrices where the profile's movers would, and a constant everywhere else."""
    buffers = {}
    for role, tile in tiles.items():
        fmt = tile.element.format
        assert fmt is not None
        buffers[role] = np.full(tile.rows * tile.columns, fill, dtype=fmt.storage)
        if role in matrices:
            place = mover_placement(profile, tile, matrices[role].shape)
            buffers[role] = write(role, buffers[role], place, matrices[role])
    return buffers


def run(
    operation: Operation, profile: Profile, tiles: Mapping[str, Tile], buffers: Buffers, **changed: str
) -> Bits:
    valid = {role: (tiles[role].valid_rows, tiles[role].valid_columns) for role in ("a", "b")}
    choices = replace(choices_of(profile), **changed)  # type: ignore[arg-type]
    return multiply(ALG, operation, profile, tiles, buffers, sizes(operation, profile, valid), choices)


def logical(
    operation: Operation, profile: Profile, tiles: Mapping[str, Tile], matrices: Mapping[str, Bits]
) -> Bits:
    formats = formats_by_role({role: tile.element for role, tile in tiles.items()})
    return product(ALG, operation, **matrices, formats=formats, choices=choices_of(profile))


def unused_lanes_aside(profile: Profile, tiles: Mapping[str, Tile], buffer: Bits, m: int, n: int) -> Bits:
    place = mover_placement(profile, tiles["d"], (m, n))
    return read("d", buffer, place, m, n)


@pytest.mark.parametrize(
    ("location", "element", "extent", "at", "profile", "offset"),
    [
        (Location.LEFT, "f16", (32, 48), (17, 20), A5, 788),
        (Location.LEFT, "f16", (32, 48), (17, 20), A2A3, 1044),
        (Location.RIGHT, "f16", (32, 48), (17, 20), A5, 1089),
        (Location.RIGHT, "i8", (64, 32), (33, 20), A5, 1665),
        (Location.RIGHT, "f32", (24, 48), (9, 20), A5, 545),
        (Location.ACC, "f32", (32, 48), (17, 20), A5, 788),
        (Location.SCALE_LEFT, "e8m0", (32, 4), (17, 3), A5, 99),
        (Location.SCALE_RIGHT, "e8m0", (4, 32), (3, 17), A5, 99),
    ],
)
def test_published_offsets(
    location: Location,
    element: str,
    extent: tuple[int, int],
    at: tuple[int, int],
    profile: Profile,
    offset: int,
) -> None:
    tile = alias(profile, location, element_type_named(element), extent)
    assert physical(tile).offset(*at) == offset


@pytest.mark.parametrize("factor", ["i8", "f16", "f32"])
@pytest.mark.parametrize("profile", PROFILES.values(), ids=str)
@pytest.mark.parametrize("name", ["tmatmul", "tmatmul.acc", "tmatmul.bias"])
@settings(max_examples=10, deadline=None)
@given(m=st.integers(2, 40), k=st.integers(1, 40), n=st.integers(1, 40), seed=st.integers(0, 99))
def test_compact_tiles_are_multiplied_as_matrices(
    name: str, profile: Profile, factor: str, m: int, k: int, n: int, seed: int
) -> None:
    operation = OPERATIONS[name]
    types = element_types(operation, factor, factor, "i32" if factor == "i8" else "f32")
    tiles = product_tiles(operation, profile, (64, 64, 64), types, (m, k, n), Compact.NORMAL)
    matrices = operand_bits(operation, types, (m, k, n), np.random.default_rng(seed))
    buffers = filled(profile, tiles, matrices, fill=0x5A)
    if operation.accumulates:
        buffers["d"] = buffers["c"]
    after = run(operation, profile, tiles, buffers)
    wanted = logical(operation, profile, tiles, matrices)
    np.testing.assert_array_equal(unused_lanes_aside(profile, tiles, after, m, n), wanted)
    untouched = write("d", after, mover_placement(profile, tiles["d"], (m, n)), np.full_like(wanted, 0))
    before = write("d", buffers["d"], mover_placement(profile, tiles["d"], (m, n)), np.full_like(wanted, 0))
    np.testing.assert_array_equal(untouched, before)


@pytest.mark.parametrize("name", ["tmatmul.mx", "tmatmul.mx.acc", "tmatmul.mx.bias", "tgemv.mx"])
@pytest.mark.parametrize("profile", [A5, CPU], ids=str)
def test_scale_factors_are_found_in_their_buffers(name: str, profile: Profile) -> None:
    operation = OPERATIONS[name]
    m = 1 if name.startswith("tgemv") else 32
    types = element_types(operation, "f8E4M3FN", "f8E5M2", "f32")
    tiles = product_tiles(operation, profile, (m, 128, 32), types)
    matrices = operand_bits(operation, types, (m, 128, 32), np.random.default_rng(0))
    if m == 1:
        tiles["scale_a"] = replace(tiles["scale_a"], rows=16)
        tiles["d"] = replace(tiles["d"], rows=16)
    buffers = filled(profile, tiles, matrices)
    if operation.accumulates:
        buffers["d"] = buffers["c"]
    after = run(operation, profile, tiles, buffers)
    found = read("d", after, physical(tiles["d"]), m, 32)
    np.testing.assert_array_equal(found, logical(operation, profile, tiles, matrices))


@pytest.mark.parametrize("profile", [A2A3, A5], ids=str)
def test_narrow_tiles_are_read_at_the_wrong_pitch_unless_compact(profile: Profile) -> None:
    operation = OPERATIONS["tmatmul"]
    types = element_types(operation, "f16", "f16", "f32")
    matrices = operand_bits(operation, types, (20, 20, 20), np.random.default_rng(5))
    right = {}
    for compact in (Compact.NULL, Compact.NORMAL):
        tiles = product_tiles(operation, profile, (64, 64, 64), types, (20, 20, 20), compact)
        after = run(operation, profile, tiles, filled(profile, tiles, matrices))
        wanted = logical(operation, profile, tiles, matrices)
        right[compact] = bool((unused_lanes_aside(profile, tiles, after, 20, 20) == wanted).all())
    assert right == {Compact.NULL: False, Compact.NORMAL: True}


def test_the_simulator_does_not_see_wrong_pitches() -> None:
    operation = OPERATIONS["tmatmul"]
    types = element_types(operation, "f16", "f16", "f32")
    matrices = operand_bits(operation, types, (20, 20, 20), np.random.default_rng(5))
    tiles = product_tiles(operation, CPU, (64, 64, 64), types, (20, 20, 20))
    after = run(operation, CPU, tiles, filled(CPU, tiles, matrices))
    wanted = logical(operation, CPU, tiles, matrices)
    np.testing.assert_array_equal(unused_lanes_aside(CPU, tiles, after, 20, 20), wanted)


def test_one_row_is_sixteen_on_a2a3() -> None:
    assert [executed_rows(OPERATIONS["tmatmul"], profile, 1) for profile in (A2A3, A5, CPU)] == [16, 1, 1]
    assert executed_rows(OPERATIONS["tmatmul"], A2A3, 2) == 2
    operation = OPERATIONS["tmatmul"]
    types = element_types(operation, "f16", "f16", "f32")
    matrices = operand_bits(operation, types, (16, 32, 16), np.random.default_rng(6))
    written = {}
    for profile in (A2A3, A5, CPU):
        tiles = product_tiles(operation, profile, (16, 32, 16), types, (1, 32, 16))
        after = run(operation, profile, tiles, filled(profile, tiles, matrices))
        rows = read("d", after, physical(tiles["d"]), 16, 16)
        wanted = logical(operation, profile, tiles, matrices)
        np.testing.assert_array_equal(rows[0], wanted[0])
        written[profile.name] = bool((rows[1:] == wanted[1:]).all())
    assert written == {"A2A3": True, "A5": False, "CPU": False}


def test_one_row_of_a_that_is_no_sixteen_rows_is_read_beyond_its_buffer() -> None:
    operation = OPERATIONS["tmatmul"]
    types = element_types(operation, "f16", "f16", "f32")
    tiles = product_tiles(operation, A2A3, (1, 32, 16), types)
    with pytest.raises(InputError, match=r"a\[0, 16\] is read at element 256 of a buffer of 32"):
        run(operation, A2A3, tiles, filled(A2A3, tiles, {}))


@pytest.mark.parametrize("profile", [A2A3, A5], ids=str)
def test_gemv_takes_one_linear_row_and_k_from_b(profile: Profile) -> None:
    operation = OPERATIONS["tgemv"]
    types = element_types(operation, "f16", "f16", "f32")
    tiles = product_tiles(operation, profile, (1, 256, 32), types)
    tiles["b"] = replace(tiles["b"], valid_rows=200)
    tiles["d"] = replace(tiles["d"], rows=16)
    matrices = operand_bits(operation, types, (1, 256, 32), np.random.default_rng(7))
    buffers = filled(profile, tiles, {"b": matrices["b"]})
    buffers["a"] = matrices["a"][0]
    after = run(operation, profile, tiles, buffers)
    shorter = {"a": matrices["a"][:, :200], "b": matrices["b"][:200]}
    wanted = logical(operation, profile, tiles, shorter)
    np.testing.assert_array_equal(read("d", after, physical(tiles["d"]), 1, 32), wanted)
    assert unit_placement(operation, profile, "a", types["a"], 1, 200, 32).layout == LINEAR


def test_sizes_come_from_the_operands_that_the_headers_read() -> None:
    valid = {"a": (3, 48), "b": (64, 20)}
    found = {
        (name, profile.name): sizes(OPERATIONS[name], profile, valid)
        for name in ("tmatmul", "tgemv", "tgemv.mx")
        for profile in (A5, CPU)
    }
    assert found == {
        ("tmatmul", "A5"): (3, 48, 20),
        ("tmatmul", "CPU"): (3, 48, 20),
        ("tgemv", "A5"): (1, 64, 20),
        ("tgemv", "CPU"): (3, 48, 20),
        ("tgemv.mx", "A5"): (1, 48, 20),
        ("tgemv.mx", "CPU"): (3, 48, 20),
    }
    wide = {"a": (65536 + 5, 70000), "b": (8, 65536)}
    assert sizes(OPERATIONS["tmatmul"], A5, wide) == (5, 70000 - 65536, 0)


def test_npu_accumulates_in_place_and_never_reads_c() -> None:
    operation = OPERATIONS["tmatmul.acc"]
    types = element_types(operation, "f16", "f16", "f32")
    matrices = operand_bits(operation, types, (16, 16, 16), np.random.default_rng(8))
    held = np.full((16, 16), 0x41000000, dtype=np.uint32)  # 8.0
    for profile, start in ((A5, held), (CPU, matrices["c"])):
        tiles = product_tiles(operation, profile, (16, 16, 16), types)
        after = run(operation, profile, tiles, filled(profile, tiles, {**matrices, "d": held}))
        wanted = logical(operation, profile, tiles, {**matrices, "c": start})
        np.testing.assert_array_equal(read("d", after, physical(tiles["d"]), 16, 16), wanted)


def test_lanes_beyond_k_count_where_whole_granules_are_consumed() -> None:
    operation = OPERATIONS["tmatmul"]
    types = element_types(operation, "i8", "i8", "i32")
    tiles = product_tiles(operation, A5, (16, 32, 16), types, (16, 20, 16))
    matrices = operand_bits(operation, types, (16, 32, 16), np.random.default_rng(9))
    valid = {"a": matrices["a"][:, :20], "b": matrices["b"][:20]}
    wanted = {
        "stale": logical(operation, A5, tiles, matrices),
        "zero": logical(operation, A5, tiles, valid),
    }
    stale, zero = filled(A5, tiles, matrices), filled(A5, tiles, valid)
    for buffers, name in ((stale, "stale"), (zero, "zero")):
        after = run(operation, A5, tiles, buffers, k_tail="granules")
        np.testing.assert_array_equal(unused_lanes_aside(A5, tiles, after, 16, 16), wanted[name])
    after = run(operation, A5, tiles, stale, k_tail="valid")
    np.testing.assert_array_equal(unused_lanes_aside(A5, tiles, after, 16, 16), wanted["zero"])


def test_pitches_of_the_matrix_unit_are_those_of_the_reference() -> None:
    operation, f16, i8 = OPERATIONS["tmatmul"], element_type_named("f16"), element_type_named("i8")
    m, k, n = 20, 40, 50

    def pitch(profile: Profile, role: str, element: object) -> int:
        return int(unit_placement(operation, profile, role, element, m, k, n).pitch)  # type: ignore[arg-type]

    assert pitch(A2A3, "a", f16) == 48 * 16
    assert pitch(A2A3, "a", i8) == 64 * 16
    assert pitch(A5, "a", f16) == 32 * 16
    assert pitch(A5, "a", i8) == 32 * 32
    assert pitch(A5, "b", f16) == 64 * 16
    assert pitch(A5, "b", i8) == 64 * 32
    assert pitch(A5, "d", element_type_named("f32")) == 32 * 16


def test_pitches_are_the_same_expression_on_bit_vectors() -> None:
    import z3

    tile = alias(A5, Location.RIGHT, element_type_named("f16"), (64, 64))
    columns, row, column = z3.BitVecs("columns row column", 32)
    term = rounded(physical(tile).layout, 64, columns).offset(row, column)
    for c, i, j in ((33, 17, 20), (64, 63, 63), (1, 40, 0)):
        values = [(columns, c), (row, i), (column, j)]
        numeral = z3.simplify(z3.substitute(term, *((v, z3.BitVecVal(x, 32)) for v, x in values)))
        assert numeral.as_long() == rounded(physical(tile).layout, 64, c).offset(i, j)


def test_four_bit_elements_have_no_known_order() -> None:
    operation = OPERATIONS["tmatmul.mx"]
    types = element_types(operation, "f4E2M1x2", "f4E2M1x2", "f32")
    tiles = product_tiles(operation, A5, (16, 64, 16), types)
    buffers = {role: np.zeros(tile.rows * tile.columns, np.uint8) for role, tile in tiles.items()}
    with pytest.raises(UnsupportedError, match="f4E2M1x2"):
        run(operation, A5, tiles, buffers)


def test_a_simulated_bias_beyond_the_valid_region_is_not_guessed() -> None:
    operation = OPERATIONS["tmatmul.bias"]
    types = element_types(operation, "f16", "f16", "f32")
    tiles = product_tiles(operation, CPU, (16, 16, 16), types)
    tiles["d"] = replace(tiles["d"], valid_rows=8)
    buffers = filled(CPU, tiles, {})
    with pytest.raises(UnsupportedError, match="versions of the CPU simulator"):
        run(operation, CPU, tiles, buffers)
