"""Batches computed on values are, bit for bit, what the specification computes on encodings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from power_vectors import random_vectors

from mmaproof.spec.formats import F32
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.power import batches
from mmaproof.spec.power.catalogue import UPDATES
from mmaproof.spec.power.choices import Choices, every_choice
from mmaproof.spec.power.rank_k_update import Live, rank_k_update
from mmaproof.spec.rounding import Rounding

ALGEBRA = NumpyAlgebra()


@pytest.mark.parametrize("mnemonic", UPDATES)
@given(
    seed=st.integers(0, 2**32 - 1),
    rounding=st.sampled_from(Rounding),
    choices=st.sampled_from([*every_choice("bf16-sum", "bf16-direction", "negation", "nan")]),
    masks=st.tuples(st.integers(0, 15), st.integers(0, 15), st.integers(0, 255)),
)
def test_a_batch_is_its_updates(
    mnemonic: str, seed: int, rounding: Rounding, choices: Choices, masks: tuple[int, int, int]
) -> None:
    update = UPDATES[mnemonic]
    widths = (4, update.family.columns, update.family.rank)
    live = Live(*(ALGEBRA.flags(mask, width) for mask, width in zip(masks, widths, strict=True)))
    v = random_vectors(update, False, 50, np.random.default_rng(seed))
    expected = rank_k_update(ALGEBRA, update, v.x, v.y, v.acc, live, rounding, choices)
    found = batches.rank_k_updates(update, v.x, v.y, v.acc, live, rounding, choices)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype


def test_blocks_are_joined_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_BLOCK", 7)
    update = UPDATES["xvbf16ger2pp"]
    v = random_vectors(update, False, 40, np.random.default_rng(0))
    live = Live(*(np.ones(width, dtype=bool) for width in (4, 4, 2)))
    of_all = (live, Rounding.NEAREST_EVEN, Choices())
    expected = rank_k_update(ALGEBRA, update, v.x, v.y, v.acc, *of_all)
    assert (expected & F32.infinity == F32.infinity).any()  # NaNs are in several blocks
    np.testing.assert_array_equal(batches.rank_k_updates(update, v.x, v.y, v.acc, *of_all), expected)
