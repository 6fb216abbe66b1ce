"""Executing PTO on named arrays: extents from texts or arrays, both views, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pto_products import PRODUCTS, element_types, operand_bits, product_tiles

from mmaproof.spec.drawn_arrays import DrawnArrays
from mmaproof.spec.errors import InputError, UnsupportedError
from mmaproof.spec.instruction_set import instruction_set
from mmaproof.spec.pto.buffers import read, write
from mmaproof.spec.pto.catalogue import OPERATIONS, Operation
from mmaproof.spec.pto.choices import Choices, choices_of
from mmaproof.spec.pto.element_types import element_type_named
from mmaproof.spec.pto.formula import semantics
from mmaproof.spec.pto.operand_arrays import execute
from mmaproof.spec.pto.placement import mover_placement
from mmaproof.spec.pto.resolution import Resolved, applied
from mmaproof.spec.pto.targets import A2A3, A5, CPU, PROFILES, Profile, alias
from mmaproof.spec.pto.text.statements import TextualForm
from mmaproof.spec.pto.text.syntax import TypedValue
from mmaproof.spec.pto.text.types import OtherType
from mmaproof.spec.pto.tile import DYNAMIC, Compact, Location, Tile

Arrays = Mapping[str, np.ndarray[Any, Any]]


def resolved(
    name: str,
    profile: Profile,
    size: tuple[int, int, int],
    factor: str = "f16",
    result: str = "f32",
    valid: Any = None,
    compact: Compact = Compact.NULL,
) -> Resolved:
    operation = OPERATIONS[name]
    types = element_types(operation, factor, factor, result)
    return applied(operation, product_tiles(operation, profile, size, types, valid, compact), profile)


def run(of: Resolved, arrays: Arrays, *, as_registers: bool = False, **changed: str) -> dict[str, Any]:
    choices = replace(choices_of(of.profile), **changed)  # type: ignore[arg-type]
    return execute(of, arrays, choices, as_registers=as_registers)


def integers(rng: np.random.Generator, *shape: int) -> Any:
    return rng.integers(-3, 4, shape)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=str)
@pytest.mark.parametrize("operation", PRODUCTS, ids=str)
def test_small_integers_are_multiplied_exactly(operation: Operation, profile: Profile) -> None:
    if operation.microscaled and not profile.microscaling:
        return
    rng, m = np.random.default_rng(0), 1 if operation.name.startswith("tgemv") else 5
    factor = "f8E4M3FN" if operation.microscaled else "f16"
    arrays = {"a": integers(rng, m, 64), "b": integers(rng, 64, 7), "c": integers(rng, m, 7)}
    arrays |= {"bias": integers(rng, 1, 7), "scale_a": np.full((m, 2), 2.0), "scale_b": np.full((2, 7), 0.5)}
    given = {role: arrays[role] for role in operation.inputs}
    of = resolved(operation.name, profile, (16, 64, 16), factor, valid=(m, 64, 7))
    found = run(of, given)
    wanted = arrays["a"] @ arrays["b"] + given.get("c", 0) + given.get("bias", 0)
    np.testing.assert_array_equal(found["d"], wanted)
    np.testing.assert_array_equal(found["d_bits"].view(np.float32), wanted)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=str)
@pytest.mark.parametrize("name", ["tmatmul", "tmatmul.acc", "tmatmul.bias"])
def test_both_views_agree(name: str, profile: Profile) -> None:
    of = resolved(name, profile, (32, 64, 64), "i8", "i32", (20, 40, 50), Compact.NORMAL)
    types = {role: tile.element for role, tile in of.tiles.items()}
    matrices = operand_bits(of.operation, types, (20, 40, 50), np.random.default_rng(2))
    wanted = run(of, {f"{role}_bits": bits for role, bits in matrices.items()})["d_bits"]
    buffers = {"d": np.zeros(32 * 64, dtype=np.uint32)}
    for role, bits in matrices.items():
        tile, fmt = of.tiles[role], of.tiles[role].element.format
        assert fmt is not None
        empty = np.zeros(tile.rows * tile.columns, dtype=fmt.storage)
        buffers[role] = write(role, empty, mover_placement(profile, tile, bits.shape), bits)
    if of.operation.accumulates:
        del buffers["d"]
    after = run(of, buffers, as_registers=True)["d"]
    place = mover_placement(profile, of.tiles["d"], (20, 50))
    np.testing.assert_array_equal(read("d", after, place, 20, 50), wanted)


def test_run_time_extents_come_from_the_arrays() -> None:
    of = resolved("tmatmul", A5, (64, 64, 64), valid=(DYNAMIC, DYNAMIC, DYNAMIC))
    rng = np.random.default_rng(3)
    a, b = integers(rng, 2, 20, 30), integers(rng, 30, 10)
    np.testing.assert_array_equal(run(of, {"a": a, "b": b})["d"], a @ b)
    with pytest.raises(InputError, match=r"a is \(…, 65, 30\); the tile has 64x64"):
        run(of, {"a": integers(rng, 65, 30), "b": b})
    with pytest.raises(InputError, match="reads 40x10 elements of b, whose valid region is 30x10"):
        run(of, {"a": integers(rng, 20, 40), "b": b})
    with pytest.raises(InputError, match="k = 0"):
        run(of, {"a": integers(rng, 20, 0), "b": b})


def test_run_time_extents_of_buffers_are_given() -> None:
    of = resolved("tmatmul", A5, (16, 16, 16), valid=(DYNAMIC, 16, DYNAMIC))
    rng = np.random.default_rng(4)
    buffers = {role: rng.integers(0, 999, 256).astype(np.uint16) for role in "ab"}
    before = np.full(256, 7, dtype=np.uint32)
    with pytest.raises(InputError, match="takes valid_a, its rows and columns"):
        run(of, buffers, as_registers=True)
    sizes = {"valid_a": np.array([5, 16]), "valid_b": np.array([16, 9])}
    with pytest.raises(InputError, match="not all of it is written: no array 'd'"):
        run(of, {**buffers, **sizes}, as_registers=True)
    after = run(of, {**buffers, **sizes, "d": before}, as_registers=True)["d"].reshape(16, 16)
    assert (after[5:] == 7).all()
    assert (after[:, 9:] == 7).all()
    for wrong in ([-1, 16], [17, 16]):
        with pytest.raises(InputError, match=f"valid_a is .*{wrong[0]}.*; the tile has 16x16"):
            run(of, {**buffers, **sizes, "valid_a": np.array(wrong), "d": before}, as_registers=True)
    whole = {"valid_a": np.array([16, 16]), "valid_b": np.array([16, 16])}
    full = run(of, {**buffers, **whole}, as_registers=True)["d"].reshape(16, 16)
    np.testing.assert_array_equal(full[:5, :9], after[:5, :9])


@pytest.mark.parametrize("name", ["valid_a", "valid_b"])
def test_extents_that_nobody_reads_may_be_given_as_numbers(name: str) -> None:
    of = resolved("tmatmul", A5, (16, 16, 16))
    drawn, given = (
        run(of, DrawnArrays(literals, 7), as_registers=True)["d"]
        for literals in ({}, {name: np.array([16, 16])})
    )
    np.testing.assert_array_equal(drawn, given)
    with pytest.raises(InputError, match=f"{name} has 3 numbers; .2. takes 2"):
        run(of, DrawnArrays({name: np.array([16, 16, 16])}, 7), as_registers=True)


def test_gemv_reads_one_row_of_a_on_the_npu_and_all_on_the_simulator() -> None:
    rng = np.random.default_rng(5)
    a, b = integers(rng, 3, 32), integers(rng, 32, 4)
    assert run(resolved("tgemv", A5, (16, 32, 16), valid=(3, 32, 4)), {"a": a, "b": b})["d"].shape == (1, 4)
    assert run(resolved("tgemv", CPU, (16, 32, 16), valid=(3, 32, 4)), {"a": a, "b": b})["d"].shape == (3, 4)


def test_the_simulator_accepts_empty_sums() -> None:
    of = resolved("tmatmul.bias", CPU, (16, 16, 16), valid=(DYNAMIC, DYNAMIC, 2))
    arrays = {"a": np.zeros((3, 0)), "b": np.zeros((0, 2)), "bias": np.array([[1.0, 2.0]])}
    assert run(of, arrays)["d"].tolist() == [[1, 2]] * 3


def _apart(of: Resolved) -> Resolved:
    c, a, b = of.instruction.inputs
    return replace(of, instruction=replace(of.instruction, inputs=(TypedValue("%cin", c.type), a, b)))


def test_another_accumulator_than_the_destination_is_read_by_the_simulator_only() -> None:
    rng = np.random.default_rng(6)
    a, b, c, d = integers(rng, 16, 16), integers(rng, 16, 16), integers(rng, 16, 16), integers(rng, 16, 16)
    npu, cpu = (_apart(resolved("tmatmul.acc", profile, (16, 16, 16))) for profile in (A2A3, CPU))
    np.testing.assert_array_equal(run(npu, {"a": a, "b": b, "d": d})["d"], a @ b + d)
    np.testing.assert_array_equal(run(cpu, {"a": a, "b": b, "c": c})["d"], a @ b + c)
    with pytest.raises(InputError, match="accumulates in place on A2A3"):
        run(npu, {"a": a, "b": b, "c": c})
    np.testing.assert_array_equal(
        run(npu, {"a": a, "b": b, "c": c}, accumulator_read="operand")["d"], a @ b + c
    )
    values = replace(npu, instruction=replace(npu.instruction, form=TextualForm.F2))
    np.testing.assert_array_equal(run(values, {"a": a, "b": b, "c": c})["d"], a @ b + c)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": np.zeros((16, 16))}, "no array 'b'"),
        ({"a": np.zeros((16, 16)), "b": np.zeros((16, 15))}, r"b is \(…, 16, 15\)"),
        ({"a": np.zeros(16), "b": np.zeros((16, 16))}, "a has shape"),
        ({"a": np.zeros((16, 16)), "b": np.full((16, 16), 0.1)}, "not exactly representable"),
        ({"a": np.zeros((16, 16)), "b": np.zeros((16, 16)), "c": np.zeros(1)}, "no operand 'c'"),
        ({"a": np.zeros((2, 16, 16)), "b": np.zeros((3, 16, 16))}, "broadcast"),
    ],
)
def test_refused_arrays(arrays: Arrays, message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(resolved("tmatmul", A5, (16, 16, 16)), arrays)


def test_what_has_no_value_is_refused() -> None:
    zeros = {"a": np.zeros((16, 32)), "b": np.zeros((32, 16))}
    with pytest.raises(InputError, match="unspecified"):
        execute(resolved("tmatmul", A5, (16, 32, 16)), zeros, Choices(accumulation="unspecified"))
    with pytest.raises(UnsupportedError, match="hif8"):
        run(resolved("tmatmul", A5, (16, 32, 16), "hif8"), zeros)


# -- moves


def mat(rows: int, columns: int, element: str = "f16", profile: Profile = A5) -> Tile:
    return alias(profile, Location.MAT, element_type_named(element), (rows, columns))


def left(rows: int, columns: int) -> Tile:
    return alias(A5, Location.LEFT, element_type_named("f16"), (rows, columns))


def through(of: Resolved, role: str, view: OtherType) -> Resolved:
    """Give the side of a move that is in global memory its type."""
    instruction = of.instruction
    if role == "source":
        instruction = replace(instruction, inputs=(TypedValue("%view", view),))
    else:
        instruction = replace(instruction, outputs=(TypedValue("%view", view),))
    return replace(of, instruction=instruction, tiles={r: t for r, t in of.tiles.items() if r != role})


def test_a_block_is_extracted_in_both_views() -> None:
    of = applied(OPERATIONS["textract"], {"source": mat(64, 64), "target": left(32, 16)}, A5)
    matrix = np.arange(64 * 64, dtype=np.uint16).reshape(64, 64)
    at = {"row": np.array(16), "column": np.array(48)}
    found = run(of, {"source_bits": matrix, **at})["target_bits"]
    np.testing.assert_array_equal(found, matrix[16:48, 48:64])
    buffer = write("source", np.zeros(64 * 64, np.uint16), mover_placement(A5, mat(64, 64), (64, 64)), matrix)
    after = run(of, {"source": buffer, **at}, as_registers=True)["target"]
    place = mover_placement(A5, left(32, 16), (32, 16))
    np.testing.assert_array_equal(read("target", after, place, 32, 16), found)
    with pytest.raises(InputError, match=r"row .* it must be one integer"):
        run(of, {"source_bits": matrix, "row": np.zeros(2), "column": np.array(0)})
    with pytest.raises(InputError, match="no array 'row'"):
        run(of, {"source_bits": matrix})


def test_loads_and_stores_of_a_view() -> None:
    view = OtherType("!pto.partition_tensor_view<20x30xf16>", element_type_named("f16"), (20, 30))
    tile = replace(mat(32, 32), valid_rows=20, valid_columns=30)
    tiles = {"source": tile, "target": tile}
    load = through(applied(OPERATIONS["tload"], tiles, A5), "source", view)
    store = through(applied(OPERATIONS["tstore"], tiles, A5), "target", view)
    matrix = np.arange(600, dtype=np.uint16).reshape(20, 30)
    np.testing.assert_array_equal(run(load, {"source_bits": matrix})["target_bits"], matrix)
    memory = {"source": matrix.ravel(), "target": np.zeros(1024, dtype=np.uint16)}
    with pytest.raises(InputError, match="not all of the target is written"):
        run(load, {"source": matrix.ravel()}, as_registers=True)
    buffer = run(load, memory, as_registers=True)["target"]
    np.testing.assert_array_equal(run(store, {"source": buffer}, as_registers=True)["target"], matrix.ravel())
    wide = replace(view, element=element_type_named("f32"))
    with pytest.raises(InputError, match="tload of f32 elements into a tile of f16"):
        run(through(load, "source", wide), {"source_bits": matrix})


def test_a_store_of_the_accumulator_converts() -> None:
    acc = alias(A5, Location.ACC, element_type_named("f32"), (16, 16))
    view = OtherType("!pto.partition_tensor_view<16x16xf16>", element_type_named("f16"), (16, 16))
    store = through(applied(OPERATIONS["tstore"], {"source": acc, "target": acc}, A5), "target", view)
    found = run(store, {"source": np.full((16, 16), 1 + 2.0**-11)})
    assert found["target"].dtype == np.float16
    assert (found["target"] == 1).all()


def test_a_run_time_target_of_a_whole_move_is_as_large_as_the_source() -> None:
    open_left = replace(left(32, 32), valid_rows=DYNAMIC, valid_columns=DYNAMIC)
    of = applied(OPERATIONS["tmov"], {"source": replace(mat(32, 32), valid_rows=20), "target": open_left}, A5)
    matrix = np.arange(20 * 32, dtype=np.uint16).reshape(20, 32)
    np.testing.assert_array_equal(run(of, {"source_bits": matrix})["target_bits"], matrix)
    smaller = {"source_bits": matrix, "valid_target": np.array([3, 4])}
    np.testing.assert_array_equal(run(of, smaller)["target_bits"], matrix[:3, :4])


def test_batches_of_buffers_broadcast_or_are_refused() -> None:
    of = applied(OPERATIONS["tmov"], {"source": mat(32, 32), "target": left(32, 32)}, A5)
    batch = np.arange(3 * 1024, dtype=np.uint16).reshape(3, 1024)
    together = run(of, {"source": batch, "target": np.zeros(1024, np.uint16)}, as_registers=True)["target"]
    alone = [run(of, {"source": one}, as_registers=True)["target"] for one in batch]
    np.testing.assert_array_equal(together, alone)
    with pytest.raises(InputError, match="broadcast"):
        run(of, {"source": batch, "target": np.zeros((2, 1024), np.uint16)}, as_registers=True)


# -- what is said of it


@pytest.mark.parametrize("profile", PROFILES.values(), ids=str)
@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=str)
def test_every_operation_is_explained(operation: Operation, profile: Profile) -> None:
    lines = list(semantics(applied(operation, {}, profile)))
    assert len(lines) > 1
    assert not any("None" in line or "Order." in line for line in lines)


def test_explanations_name_what_profiles_differ_in() -> None:
    def said(name: str, profile: Profile) -> str:
        return "\n".join(semantics(resolved(name, profile, (16, 32, 16))))

    assert "m = 1 is executed as 16 rows" in said("tmatmul", A2A3)
    assert "m = 1 is executed" not in said("tmatmul", A5)
    assert "k = valid rows of b" in said("tgemv", A5)
    assert "k = valid columns of a" in said("tgemv", CPU)
    assert "cIn is never read" in said("tmatmul.acc", A5)
    assert "C is cIn" in said("tmatmul.acc", CPU)
    assert "a: Zz of 16x16 boxes, rows of boxes ceil(k/16)·256 elements apart" in said("tmatmul", A2A3)
    assert "a: Nz of 16x16 boxes, columns of boxes ceil(m/16)·256 elements apart" in said("tmatmul", A5)


MAT = "!pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>"
PART = "!pto.tile_buf<left, 32x16xf16, blayout=col_major, slayout=row_major>"


def test_the_source_of_a_move_is_drawn_and_its_indices_are_given() -> None:
    extract = instruction_set("pto").read(
        f"pto.textract ins(%s, %i, %j : {MAT}, index, index) outs(%t : {PART})"
    )

    def moved(**numbers: int) -> Any:
        arrays = DrawnArrays({name: np.array([number]) for name, number in numbers.items()}, 3)
        return extract.execute(arrays, as_registers=False, rounding=None, choices=())["target_bits"]

    found = moved(row=16, column=48)
    assert found.shape == (32, 16)
    assert not np.array_equal(found, moved(row=0, column=48))
    with pytest.raises(InputError, match="column can't be drawn"):
        moved(row=16)
