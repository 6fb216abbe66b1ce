"""Tensor and bulk copies on numbers, against loops over elements; what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from mmaproof.spec.errors import InputError, UnsupportedError
from mmaproof.spec.instruction_set import read
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.ptx.asynchronous.bulk_copies import BulkGroups, bulk_copy
from mmaproof.spec.ptx.asynchronous.tensor_copies import tensor_load, tensor_reduce, tensor_store
from mmaproof.spec.ptx.asynchronous.tensor_map import TensorMap, read_tensor_map

ALG = NumpyAlgebra()
RANDOM = np.random.default_rng(7)


def memory(count: int) -> np.ndarray:
    return RANDOM.integers(0, 256, count, dtype=np.uint8)


@pytest.mark.parametrize("corner", [(0, 0, 0), (-3, 2, 1), (15, 4, 2), (100, 0, 0)])
def test_a_load_of_a_box_in_three_dimensions(corner: tuple[int, int, int]) -> None:
    tensor = read_tensor_map("element=u32 sizes=20x6x3 strides=96x640 box=8x4x3 steps=2x2x1 swizzle=32")
    assert tensor.extents == (8, 2, 3) and tensor.box_bytes == 8 * 2 * 3 * 4
    data, before = memory(3 * 640), memory(1024)
    after = tensor_load(ALG, tensor, corner, data, before, 256)
    words, expected = data.reshape(-1, 4), before.copy()
    for i2, i1, i0 in np.ndindex(3, 2, 8):
        x, y, z = corner[0] + i0, corner[1] + 2 * i1, corner[2] + i2
        inside = 0 <= x < 20 and 0 <= y < 6 and 0 <= z < 3
        place = 256 + 4 * (i0 + 8 * (i1 + 2 * i2))
        place ^= (place >> 7 & 1) << 4
        expected[place : place + 4] = words[(x * 4 + y * 96 + z * 640) // 4] if inside else 0
    assert (after == expected).all()


def test_a_store_takes_back_what_a_load_brought() -> None:
    tensor = read_tensor_map("element=f16 sizes=256x64 strides=512 box=64x16 swizzle=128")
    data = memory(64 * 512)
    shared = tensor_load(ALG, tensor, (64, 8), data, memory(4096), 1024)
    assert (tensor_store(ALG, tensor, (64, 8), data, shared, 1024) == data).all()
    elsewhere = tensor_store(ALG, tensor, (128, 56), data, shared, 1024)
    rows = data.reshape(64, 512)
    assert (elsewhere.reshape(64, 512)[56:, 256:384] == rows[8:16, 128:256]).all()


@pytest.mark.parametrize("start", [0, 128, 512, 1920])
def test_the_pattern_is_that_of_the_address(start: int) -> None:
    """CUDA's guide: row y, chunk x is in ``[y][((y + offset) % 8) ^ x]``, offset = start / 128 % 8."""
    tensor = read_tensor_map("element=f16 sizes=64x16 strides=128 box=64x16 swizzle=128")
    data = memory(16 * 128)
    after = tensor_load(ALG, tensor, (0, 0), data, memory(4096), start)
    chunks, held = data.reshape(16, 8, 16), after[start : start + 2048].reshape(16, 8, 16)
    y, x = np.indices((16, 8))
    assert (held[y, ((y + start // 128) % 8) ^ x] == chunks).all()


@pytest.mark.parametrize("operation", ["add", "min", "max", "inc", "dec"])
def test_reductions(operation: str) -> None:
    tensor = TensorMap("u32", (4, 2), (16,), (4, 2))
    old = np.array([0, 1, 7, 2**32 - 1, 5, 5, 9, 0], dtype=np.uint32)
    new = np.array([3, 2**32 - 1, 7, 4, 4, 6, 8, 0], dtype=np.uint32)
    shared = np.concatenate([new.view(np.uint8), memory(128)])
    after = tensor_reduce(ALG, tensor, (0, 0), old.view(np.uint8), shared, 0, operation=operation)
    expected = {
        "add": old + new,
        "min": np.minimum(old, new),
        "max": np.maximum(old, new),
        "inc": np.where(old >= new, 0, old + 1),
        "dec": np.where((old == 0) | (old > new), new, old - 1),
    }[operation]
    assert (after.view(np.uint32) == expected).all()
    signed = TensorMap("s32", (4, 2), (16,), (4, 2))
    if operation in ("min", "max"):
        after = tensor_reduce(ALG, signed, (0, 0), old.view(np.uint8), shared, 0, operation=operation)
        choice = np.minimum if operation == "min" else np.maximum
        assert (after.view(np.int32) == choice(old.view(np.int32), new.view(np.int32))).all()


MAP = TensorMap("f16", (64, 8), (128,), (64, 8), swizzle=128)


@pytest.mark.parametrize(
    ("changed", "corner", "start", "reason"),
    [
        ({"box": (72, 8)}, (0, 0), 0, "map-row"),
        ({}, (0,), 0, "takes 2 coordinates, not 1"),
        ({}, (1 << 31, 0), 0, "signed integers of 32 bits, not 2147483648"),
        ({}, (0, 0), 576, "begins at a multiple of 128, not at 0x240"),
        ({"swizzle": 0}, (0, 0), 64, "begins at a multiple of 128"),
        ({}, (0, 0), 4096, "needs byte 5119 of a shared memory of 4096"),
    ],
)
def test_what_is_wrong(changed: dict[str, object], corner: tuple[int, ...], start: int, reason: str) -> None:
    fields = {**vars(MAP), **changed}
    tensor = TensorMap(**{name: fields[name] for name in TensorMap.__dataclass_fields__})
    with pytest.raises(InputError, match=reason):
        tensor_load(ALG, tensor, corner, memory(1024), memory(4096), start)


@pytest.mark.parametrize(
    ("text", "corner", "reason"),
    [
        ("element=f16 box=32x8 swizzle=128", (0, 0), "no document says where rows of 64 bytes lie"),
        ("element=tf32 box=32x8 swizzle=128", (0, 0), "no document says what copies make of"),
        ("element=f32 box=32x8 swizzle=128 fill=nan", (-1, 0), "no document says which NaN"),
        ("element=f16 box=8x8x2 interleave=16", (0, 0, 0), "interleaved boxes"),
    ],
)
def test_what_no_document_says_is_refused(text: str, corner: tuple[int, ...], reason: str) -> None:
    with pytest.raises(UnsupportedError, match=reason):
        tensor_load(ALG, read_tensor_map(text), corner, memory(4096), memory(4096), 0)


def test_stores_and_reductions_that_are_refused() -> None:
    with pytest.raises(InputError, match="coordinates of stores are not negative"):
        tensor_store(ALG, MAP, (-1, 0), memory(1024), memory(1024), 0)
    with pytest.raises(UnsupportedError, match=r"what \.add makes of elements"):
        tensor_reduce(ALG, MAP, (0, 0), memory(1024), memory(1024), 0, operation="add")


@pytest.mark.parametrize(
    "text", ["box=64", "box=axb", "sizes=64", "element=s8 box=64", "box=64 box=64", "banana"]
)
def test_texts_of_maps(text: str) -> None:
    if text == "box=64":
        assert read_tensor_map(text) == TensorMap("f16", (64,), (), (64,))
        return
    with pytest.raises(InputError):
        read_tensor_map(text)


def test_plain_copies() -> None:
    source, destination = memory(256), memory(128)
    after = bulk_copy(ALG, source, 64, destination, 32, 48)
    assert (after[32:80] == source[64:112]).all() and (after[:32] == destination[:32]).all()
    for begin, to, size in ((8, 0, 16), (0, 8, 16), (0, 0, 24), (0, 112, 32), (240, 0, 32), (0, 0, 1 << 20)):
        with pytest.raises(InputError):
            bulk_copy(ALG, source, begin, destination, to, size)


def test_groups_are_done_in_order() -> None:
    state = BulkGroups().issued("a").issued("b").committed().committed().issued("c").committed().issued("d")
    assert state.waited(3) == ((), state)
    done, state = state.waited(1)
    assert done == ("a", "b")
    done, state = state.waited(0)
    assert done == ("c",) and state == BulkGroups(("d",), ())


LOAD = "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes"


def test_the_layout_of_a_box() -> None:
    table = read(LOAD).layout("dstMem element=f16 box=64x8 swizzle=128 start=0x400")
    assert table.swizzled == "Swizzle<3,3,3> o (8,64):(64,1)"
    assert "address = 0x400 + byte" in table.formula and len(table) == 512
    at = {
        (int(r), int(c)): int(a)
        for r, c, a in zip(*table.coordinates.values(), table.holders["address"], strict=True)
    }
    assert at[0, 0] == 0x400 and at[1, 0] == 0x490 and at[3, 8] == 0x5A0
    assert all(table.layout.forward(address - 0x400) == place for place, address in at.items())
    three = read(LOAD.replace("2d", "3d")).layout("dstMem element=u8 box=32x2x4")
    assert int(three.coordinates["row"].max()) == 7 and three.swizzled == "(8,32):(32,1)"


@pytest.mark.parametrize(
    ("text", "operand", "error"),
    [
        (LOAD, "dstMem", InputError),
        (LOAD, "srcMem element=f16 box=64x8", InputError),
        (LOAD, "dstMem element=f16 box=64", InputError),
        (LOAD, "dstMem element=f16 box=64x8 swizzle=128 start=512", InputError),
        (LOAD, "dstMem element=f16 box=64x8 start=x", InputError),
        (LOAD, "dstMem element=f16 box=64x9", UnsupportedError),
        (LOAD, "dstMem element=f16 box=32x8 swizzle=128", UnsupportedError),
        (
            LOAD.replace("2d.", "3d.").replace("global.", "global.im2col."),
            "dstMem box=8x8x8",
            UnsupportedError,
        ),
        ("fence.proxy.async", "dstMem box=8x8", UnsupportedError),
    ],
)
def test_layouts_that_are_refused(text: str, operand: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        read(text).layout(operand)
