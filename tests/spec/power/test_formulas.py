"""Printed formulas compute what the semantics compute: they are parsed by Python and evaluated."""

from __future__ import annotations

import numpy as np
import pytest
from printed_formulas import evaluated

from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.power.catalogue import UPDATES, IntegerFamily, RankKUpdate
from mmaproof.spec.power.choices import Choices
from mmaproof.spec.power.formula import formula
from mmaproof.spec.power.rank_k_update import rank_k_update
from mmaproof.spec.rounding import Rounding

EXACT = dict.fromkeys(("round_f32", "round_f64", "round_significand"), lambda value: value)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("mnemonic", UPDATES)
def test_a_formula_computes_what_the_semantics_compute_on_small_integers(mnemonic: str, masked: bool) -> None:
    update = UPDATES[mnemonic]
    family = update.family
    rng = np.random.default_rng(7)
    right = formula(update, masked=masked).partition("←")[2].strip()
    for _ in range(20):
        x, y = (rng.integers(0, 8, (rows, family.rank)) for rows in (4, family.columns))
        acc = rng.integers(0, 8, (4, family.columns))
        masks = [rng.random(width) < (0.6 if masked else 2) for width in (4, family.columns, family.rank)]
        if family.rank == 1:
            masks[2][:] = True
        names = dict(zip(("XMSK", "YMSK", "PMSK"), masks, strict=True))
        expected = computed(update, x, y, acc, masks)
        for i, j in np.ndindex(4, family.columns):
            elements = {"X": x.astype(object), "Y": y.astype(object), "ACC": acc.astype(object)}
            assert evaluated(right, i=i, j=j, **EXACT, **names, **elements) == expected[i, j]


def computed(update: RankKUpdate, x, y, acc, masks) -> np.ndarray:
    from mmaproof.spec.power.rank_k_update import Live
    from mmaproof.spec.values import encodings_of_values, values_of_encodings

    family = update.family
    operands = [
        encodings_of_values("v", v, f) for v, f in ((x, family.x), (y, family.y), (acc, family.result))
    ]
    bits = rank_k_update(NumpyAlgebra(), update, *operands, Live(*masks), Rounding.NEAREST_EVEN, Choices())
    values = values_of_encodings(bits, family.result)
    return values.view(np.uint32) if isinstance(family, IntegerFamily) and not update.saturates else values
