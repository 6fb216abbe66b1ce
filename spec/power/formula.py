"""What a rank-k update computes, as mathematics printed by the semantics themselves."""

from __future__ import annotations

import numpy as np

from ..formula_algebra import FormulaAlgebra, named
from ..formula_contraction import contracted
from ..formula_text import written
from ..rounding import Rounding
from .catalogue import RankKUpdate
from .choices import Choices
from .rank_k_update import Live, rank_k_update


def formula(update: RankKUpdate, *, masked: bool) -> str:
    """Return the formula of accumulator element (i, j).

    Parameters
    ----------
    update : RankKUpdate
        The instruction.
    masked : bool
        Whether the ``pm`` form is meant.
    """
    alg = FormulaAlgebra()
    steps = update.family.rank
    if masked:
        products = named("PMSK", steps) if steps > 1 else np.ones(1, dtype=bool)
        live = Live(named("XMSK", "i"), named("YMSK", "j"), products)
    else:
        live = Live(np.ones(1, dtype=bool), np.ones(1, dtype=bool), np.ones(steps, dtype=bool))
    x, y, acc = named("X", "i", steps), named("Y", "j", steps), named("ACC", "i", "j")
    result = rank_k_update(alg, update, x, y, acc, live, Rounding.NEAREST_EVEN, Choices())
    return f"ACC[i,j] ← {written(contracted(result[0, 0]))}"
