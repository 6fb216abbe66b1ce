"""Comparisons of arrays of terms that ranges decide, and those of truths that have been numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mmaproof.refinement.analysis.intervals import Interval
from mmaproof.refinement.expected.array_functions import term_space
from mmaproof.refinement.expected.term_arithmetic import Value
from mmaproof.refinement.expected.term_arrays import TermArray
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F32, FORMATS

STORE = TermStore()
SPACE = term_space(STORE, F32)
S64 = FORMATS["s64"]


def data(name: str, fmt: Any, within: Interval | None = None) -> Any:
    return TermArray(SPACE, Value(STORE.inputs(name, fmt, np.arange(3)), fmt), within)


def test_truths_that_have_been_numbers_are_truths_again() -> None:
    truths: Any = data("x", F32) < 1.0
    numbers = np.where(truths, 1, 0)
    for again in (numbers != 0, numbers > 0, numbers == 1):
        assert (again.value.terms == truths.value.terms).all()
    for other in (numbers == 0, numbers != 1, numbers >= 0, numbers < 0):
        assert not (other.value.terms == truths.value.terms).any()


def test_ranges_decide_comparisons() -> None:
    index = data("index", S64, Interval(0, 3))
    for truths, wanted in ((index != -100, 1), (index == 4, 0), (index < 4, 1), (index >= 7, 0)):
        assert (STORE.constant_values(truths.value.terms) == wanted).all()
    for undecided in (index < 3, index == 0, index != 3, data("any", S64) != -100):
        assert STORE.operation(int(undecided.value.terms[0])).name == "compare"


def test_the_least_number_needs_no_more_bits() -> None:
    assert Interval(-(2**63), 2**63 - 1).narrowest() == S64
    assert Interval(-128, 5).narrowest().bits == 8 and Interval(-129, 5).narrowest().bits == 9
