"""Numbers that a verified kernel is run on: no scalar is 0, 1 or another's, and every input counts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.refinement.contract.contract import Instance
from mmaproof.refinement.examine.trial_inputs import more_trial_inputs, redrawn, trial_inputs
from mmaproof.refinement.expected.requirements import Requirements
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.float_encoding import decode
from mmaproof.spec.formats import FORMATS, FloatFormat

from ..contract_texts import contract_of
from ..elementwise_kernels import result_of

KINDS = ["f16", "bf16", "f32", "f64", "e4m3", "e5m2", "s8", "u8", "s32", "u64"]


LAUNCH = "[launch]\ngrid = 1\nblock = 32"


@pytest.fixture
def instance() -> Instance:
    """Give a contract with arrays of all kinds and three scalars."""
    contract = contract_of(
        "C[i] = F32[i, 0] * alpha",
        {**{kind.upper(): f"{kind} 6 8 in" for kind in KINDS}, "C": "f32 6 out"},
        scalars={"alpha": "f32", "beta": "f32", "gamma": "f16"},
        ensures=LAUNCH,
    )
    return next(iter(contract.instances()))


def sets(instance: Instance) -> Iterator[dict[str, np.ndarray]]:
    yield trial_inputs(instance, 1, finite=True)
    yield from more_trial_inputs(instance, TermStore(), Requirements(instance), 1)


def test_scalars_are_neither_0_nor_1_nor_each_other(instance: Instance) -> None:
    seen = 0
    for inputs in sets(instance):
        numbers = [
            abs(float(decode(inputs[name].astype(fmt.storage), fmt)[0]))
            for name, fmt in (("alpha", FORMATS["f32"]), ("beta", FORMATS["f32"]), ("gamma", FORMATS["f16"]))
        ]
        assert not {0.0, 1.0} & set(numbers)
        assert all(x not in (y, 1 / y) for x, y in combinations(numbers, 2))
        seen += 1
    assert seen > 8


def test_all_sets_are_of_finite_numbers_of_their_formats(instance: Instance) -> None:
    for inputs in sets(instance):
        for kind in KINDS:
            fmt = FORMATS[kind]
            words = inputs[kind.upper()]
            assert len(words) == 48 and (fmt.bits == 64 or (words < 1 << fmt.bits).all())
            if isinstance(fmt, FloatFormat):
                assert np.isfinite(decode(words.astype(fmt.storage), fmt)).all()


@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 1000))
def test_what_is_drawn_anew_differs_in_part(kind: str, seed: int) -> None:
    contract = contract_of("C[i] = 1.5", {"A": f"{kind} 64 in", "C": "f32 64 out"}, ensures=LAUNCH)
    instance = next(iter(contract.instances()))
    inputs = trial_inputs(instance, seed, finite=True)
    again = redrawn(instance, inputs, "A", seed)
    differ = inputs["A"] != again["A"]
    assert differ.any() and not differ.all()


def test_an_input_that_makes_no_difference_is_told() -> None:
    result = result_of(
        "mul.f32 %f0, %B, 0f00000000; add.f32 %C, %A, %f0;",
        "C[i] = A[i] + 0 * B[i]",
        {"A": "f32", "B": "f32", "C": "f32 out"},
    )
    assert result.verdict == "verified"
    assert result.stats["runs"]["not_shown"] == ["C depends on B"]
    assert "the runs on numbers could not show that C depends on B" in [note.message for note in result.notes]


@pytest.mark.parametrize(
    ("body", "formula"),
    [
        ("fma.rn.f32 %C, %A, %B, %A;", "A[i] * B[i] + A[i]"),
        ("max.f32 %C, %A, %B;", "max(A[i], B[i])"),
        ("sqrt.rn.f32 %f0, %A; mul.f32 %C, %f0, %B;", "sqrt(A[i]) * B[i]"),
        ("mul.f32 %f0, %B, 0f358637BD; add.f32 %C, %A, %f0;", "A[i] + B[i] * 1e-6"),
    ],
)
def test_an_input_that_counts_is_seen_to(body: str, formula: str) -> None:
    result = result_of(body, f"C[i] = {formula}", {"A": "f32", "B": "f32", "C": "f32 out"})
    assert result.verdict == "verified" and result.stats["runs"]["not_shown"] == []
