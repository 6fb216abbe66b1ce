"""Registers, memory, built-ins and the paper's kernels on real numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.spec.errors import InputError
from mmaproof.spec.formats import IntegerFormat, numpy_type
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.power import memory, registers
from mmaproof.spec.power.builtins import Builtins, rank_k_updates
from mmaproof.spec.power.catalogue import FAMILIES, I8, UPDATES, Family
from mmaproof.spec.power.choices import Choices
from mmaproof.spec.power.kernels import dgemm_kernel, sconv_kernel
from mmaproof.spec.power.memory import Endian
from mmaproof.spec.power.rank_k_update import Live, rank_k_update
from mmaproof.spec.rounding import Rounding

ALG = NumpyAlgebra()
ORDER = {Endian.LITTLE: "<", Endian.BIG: ">"}


def in_memory(values: Any, kind: str, endian: Endian) -> Any:
    return np.ascontiguousarray(values).astype(ORDER[endian] + kind).reshape(-1).view(np.uint8)


@pytest.mark.parametrize("endian", list(Endian))
@pytest.mark.parametrize("n", [1, 2, 37])
def test_dgemm_is_the_matrix_product_in_eight_blocks(endian: Endian, n: int) -> None:
    rng = np.random.default_rng(n)
    x, y = rng.integers(-9, 9, (2, n, 8)).astype(float)
    stored = dgemm_kernel(Builtins(ALG, endian), in_memory(x, "f8", endian), in_memory(y, "f8", endian), n)
    blocks = stored.view(ORDER[endian] + "f8").reshape(2, 4, 4, 2)
    assert (blocks.transpose(0, 2, 1, 3).reshape(8, 8) == x.T @ y).all()


def test_dgemm_with_no_step_stores_nothing() -> None:
    empty = np.zeros(0, dtype=np.uint8)
    assert dgemm_kernel(Builtins(ALG, Endian.LITTLE), empty, empty, 0).size == 0


@pytest.mark.parametrize("endian", list(Endian))
@pytest.mark.parametrize("n", [18, 31])
def test_sconv_is_the_convolution(endian: Endian, n: int) -> None:
    rng = np.random.default_rng(n)
    h = rng.integers(-9, 9, (27, 8))
    image = rng.integers(-9, 9, (3, 3, n))
    rows = [[in_memory(row, "f4", endian) for row in channel] for channel in image]
    stored = sconv_kernel(Builtins(ALG, endian), in_memory(h, "f4", endian), rows)
    blocks = stored.view(ORDER[endian] + "f4").reshape(2, 4, 4, 4)
    windows = np.lib.stride_tricks.sliding_window_view(image, 3, axis=-1)[:, :, :16]
    expected = np.einsum("crjs,crsi->ij", windows, h.reshape(3, 3, 3, 8))
    assert (blocks.transpose(0, 2, 1, 3).reshape(8, 16) == expected).all()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_grid_of_accumulators_is_the_full_product(family: Family) -> None:
    rng = np.random.default_rng(7)
    rows, columns, depth = 12, 8, 4 * family.rank
    low = 0 if family is I8 else -4
    a, b = rng.integers(-4, 4, (rows, depth)), rng.integers(low, 4, (columns, depth))

    def encoded(values: Any, fmt: Any) -> Any:
        if isinstance(fmt, IntegerFormat):
            return (values & ((1 << fmt.bits) - 1)).astype(fmt.storage)
        return values.astype(numpy_type(fmt)).view(fmt.storage)

    one = Live(np.ones(4, bool), np.ones(family.columns, bool), np.ones(family.rank, bool))
    result = np.zeros((rows, columns))
    for i in range(0, rows, 4):
        for j in range(0, columns, family.columns):
            acc = np.zeros((4, family.columns), dtype=family.result.storage)
            for t in range(0, depth, family.rank):
                update = UPDATES[family.name + ("pp" if t else "")]
                x = encoded(a[i : i + 4, t : t + family.rank], family.x)
                y = encoded(b[j : j + family.columns, t : t + family.rank], family.y)
                acc = rank_k_update(ALG, update, x, y, acc, one, Rounding.NEAREST_EVEN, Choices())
            result[i : i + 4, j : j + family.columns] = acc.view(numpy_type(family.result))
    assert (result == a @ b.T).all()


@given(st.binary(min_size=64, max_size=64), st.sampled_from(list(Endian)), st.sampled_from([1, 2, 4]))
def test_store_inverts_load(data: bytes, endian: Endian, count: int) -> None:
    source = np.frombuffer(data, dtype=np.uint8)[: 16 * count]
    assert (memory.store(memory.load(source, endian), endian) == source).all()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_layouts_are_bijections(family: Family) -> None:
    for layout in (
        registers.x_layout(family),
        registers.y_layout(family),
        registers.accumulator_layout(family.result),
    ):
        assert layout.defect() is None


def test_the_pair_of_lxvp_is_swapped_on_little_endian() -> None:
    data = np.arange(32, dtype=np.uint8)
    even, odd = memory.load(data, Endian.LITTLE)
    assert even.tolist() == list(range(31, 15, -1)) and odd.tolist() == list(range(15, -1, -1))


@pytest.mark.parametrize(
    ("name", "masks", "message"),
    [
        ("xvf33ger", (), "unknown built-in"),
        ("xvf32ger", (1, 1), "takes no masks"),
        ("pmxvf32ger", (1,), "takes 2 masks, not 1"),
        ("pmxvf32ger", (16, 1), "XMSK of pmxvf32ger must be 0 to 15, not 16"),
        ("xvf32gerpp", (), "needs a primed accumulator"),
    ],
)
def test_wrong_calls_are_refused(name: str, masks: tuple[int, ...], message: str) -> None:
    vector = np.zeros(16, dtype=np.uint8)
    with pytest.raises(InputError, match=message):
        Builtins(ALG, Endian.LITTLE).rank_k_update(name, None, vector, vector, *masks)


def test_there_are_58_rank_k_update_built_ins() -> None:
    assert len(rank_k_updates()) == 58
