"""Given values of arrays of any size are told by where their elements lie, or not at all."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from cuda_contracts import CORPUS, Edit, for_every_k
from hypothesis import given
from hypothesis import strategies as st
from quantified_kernels import prove_blocks, prove_size

from mmaproof.refinement.sizes.given_elements import GivenElements
from mmaproof.spec.errors import UnsupportedError

KERNEL = CORPUS / "mma_sparse_f16_sm80.ptx"
VALUES = 7
"""Of the metadata of the sparse kernel, which its contract repeats."""

SIZES = st.integers(0, 20)


@given(st.integers(1, 9), st.tuples(SIZES, SIZES, SIZES), SIZES)
def test_values_are_those_of_places(period: int, place: tuple[int, int, int], symbol: int) -> None:
    held = GivenElements(np.arange(period, dtype=np.uint8), np.zeros((1, 3), dtype=np.int64))
    (rows,) = rows_ = np.array([place], dtype=np.int64)
    found = held.at(rows_)
    several = {int(rows @ (1, n, n * n)) % period for n in range(period * 2)}
    if found is None:
        assert rows[1:].any() and (rows[1:] % period).any()
    else:
        assert several == set(found.tolist())


@given(st.integers(1, 9), st.tuples(SIZES, SIZES), st.tuples(SIZES, SIZES), SIZES)
def test_values_that_stay_are_the_same_everywhere(
    period: int, strides: tuple[int, int], moved: tuple[int, int], n: int
) -> None:
    constant, growing = strides
    held = GivenElements(np.arange(period, dtype=np.uint8), np.array([[constant, growing], [1, 0]]))
    if held.stays(moved):
        row = constant + growing * n
        assert (moved[0] * row + moved[1]) % period == 0


def sparse(rows: str, columns: str, depth: str) -> str:
    text = for_every_k("mma_sparse_f16")
    sizes = f"[sizes]\nM = {rows}\nN = {columns}\nK = {depth}\n\n"
    return re.sub(r"\[sizes\]\n(?:\w = .*\n)+\n", sizes, text)


def test_metadata_of_every_block_is_known_where_rows_hold_whole_repetitions() -> None:
    every = '"any multiple of 16"', '"any multiple of 32"'
    found = prove_blocks(KERNEL, sparse(*every, str(32 * VALUES)))
    assert {domain.name: domain.most for domain in found.domains} == {"M": 46352, "N": 46336}
    with pytest.raises(UnsupportedError, match="which given value of E"):
        prove_blocks(KERNEL, sparse(*every, "32"))


@pytest.mark.sweep
def test_metadata_of_every_turn_is_known_by_rests() -> None:
    found = prove_size(sparse("16", "32", f'"any multiple of {4 * 32 * VALUES}"'), KERNEL)
    assert found.domain.most > 1 << 27


def test_metadata_of_another_row_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / KERNEL.name
    path.write_text(Edit(KERNEL.name, "30258", "21520").applied(), encoding="utf-8")
    with pytest.raises(UnsupportedError):
        prove_blocks(path, sparse('"any multiple of 16"', "32", str(32 * VALUES)))
