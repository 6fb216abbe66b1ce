"""What is too long to be multiplied out is found so once, however deep it lies in functions."""

from __future__ import annotations

from functools import reduce
from typing import Any

import pytest

from mmaproof.refinement.normal_forms import polynomials, shared_expansion
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.normal_forms.polynomials import Expander, ExpansionError
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F32

ADD, MULTIPLY = operations.fused(F32, addends=(F32, F32)), operations.fused(F32, ((F32, F32),))
TANH, DEPTH = operations.function("tanh", F32, F32), 12


@pytest.mark.parametrize("factors", [2, 12])
def test_functions_of_functions_are_each_tried_once(monkeypatch: pytest.MonkeyPatch, factors: int) -> None:
    tried, expand = [], Expander._all_at_once
    for name in ("MOST_CELLS", "_CELLS_AT_FIRST", "_CELLS_OF_FRACTIONS"):
        monkeypatch.setattr(polynomials, name, 1000)
    monkeypatch.setattr(shared_expansion, "MOST_SUMMANDS", 1000)

    def counting(expander: Expander, *given: Any, **options: Any) -> Any:
        tried.append(expander)
        return expand(expander, *given, **options)

    monkeypatch.setattr(Expander, "_all_at_once", counting)
    store = TermStore()
    x, *others = (store.inputs("x", F32, [place]) for place in range(factors + 1))
    term = reduce(lambda left, y: apply(store, MULTIPLY, left, apply(store, ADD, x, y)), others, x)
    for _ in range(DEPTH):
        inner: Ids = apply(store, TANH, term)
        term = apply(store, ADD, apply(store, MULTIPLY, inner, x), inner)
    forms = NormalForms(store)
    if factors == 2:
        forms.polynomials(term, F32)
    else:
        with pytest.raises(ExpansionError):
            forms.polynomials(term, F32)
    assert len(tried) <= 8 * DEPTH
