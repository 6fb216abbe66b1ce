"""Conditions of [requires]: what is read, which ends follow, and that inputs are made to meet them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.contract.contract import Instance
from mmaproof.refinement.contract.reading import parse_contract
from mmaproof.refinement.examine.counterexamples import candidates, input_formats
from mmaproof.refinement.examine.trial_inputs import trial_inputs
from mmaproof.refinement.expected.input_bounds import from_above, from_below, numbers_of
from mmaproof.refinement.expected.requirements import Requirements
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.errors import InputError
from mmaproof.spec.formats import FORMATS, FloatFormat

from ..contract_texts import contract_text
from ..elementwise_kernels import result_of

ARRAYS = {"X": "f32 3 4 in", "H": "f16 4 in", "I": "s32 4 in", "Y": "f32 3 out"}


def instance_of(*conditions: str, kind: str = "f32") -> Instance:
    arrays = {**ARRAYS, "X": f"{kind} 3 4 in"}
    ensures = "[launch]\ngrid = 1\nblock = 32\n[requires]\nconditions = " + str(list(conditions))
    scalars = {"s": 'f32 "any"', "n": 's32 "any"', "given": "s32 5"}
    text = contract_text("Y[i] = sum(k, f32(X[i, k]))", arrays, scalars=scalars, ensures=ensures)
    return next(parse_contract(text, "test.toml").instances())


@pytest.mark.parametrize(
    ("condition", "name", "low", "high"),
    [
        ("abs(X[i, k]) <= 1e4", "X", -1e4, 1e4),
        ("X[i, k] > 0", "X", 2.0**-149, np.inf),
        ("H[k] > 0", "H", 2.0**-24, np.inf),
        ("H[k] < 1", "H", -np.inf, 1 - 2.0**-11),
        ("0 <= I[k] < 4", "I", 0, 3),
        ("I[k] > 2 and not (I[k] >= 9)", "I", 3, 8),
        ("-2 * s + 1 >= 3", "s", -np.inf, -1),
        ("s * s <= 4 and s > 0", "s", 2.0**-149, 2),
        ("max(s, 2) < 5", "s", -np.inf, float(np.nextafter(np.float32(5), np.float32(0)))),
        ("min(k, H[k]) >= -1", "H", -1, np.inf),
        ("n < given", "n", -(2.0**31), 4),
        ("n / 4 <= 2", "n", -(2.0**31), 8),
    ],
)
def test_ends_follow_from_conditions(condition: str, name: str, low: float, high: float) -> None:
    ends = Requirements(instance_of(condition)).bounds.ends[name]
    assert (ends.low == low).all()
    assert (ends.high == high).all()
    assert ends.number.all()


def test_a_guard_restricts_what_a_condition_is_about() -> None:
    for text in ("X[i, k] == 0 if k > i", "k <= i or X[i, k] == 0"):
        ends = Requirements(instance_of(text)).bounds.ends["X"]
        above = np.triu(np.ones((3, 4), dtype=bool), 1).reshape(-1)
        assert (ends.low == np.where(above, 0.0, -np.inf)).all()
        assert (ends.high == np.where(above, 0.0, np.inf)).all()


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        (["Z[i] > 0"], "unknown name Z"),
        (["i > 0"], "unknown name i"),
        (["Y[i] > 0"], 'access "out"'),
        (["4 > 3"], "must name an input"),
        (["X[i, i] > 0"], "i takes 4 values as index 2 of X, but 3"),
        (["X[i, k]"], "expected a condition"),
        (["X[i, k] > 0", "X[i, k] < 0"], "cannot hold"),
        (["s * s < 0"], "cannot hold"),
        (["0 < n < 1"], "cannot hold"),
        (["I[k] != 0", "0 <= I[k] <= 0"], "cannot hold"),
        (["1e5 < abs(H[k]) < 1e9"], "cannot hold"),
        (["given > 5"], "must name an input|cannot hold"),
    ],
)
def test_what_cannot_hold_is_an_error_with_its_line(conditions: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        Requirements(instance_of(*conditions))
    assert "test.toml:" in f"{raised.value}{raised.value.where}"


CONDITIONS = (
    "abs(X[i, k]) <= 100", "X[i, k] > 0", "X[i, k] != 0", "X[i, k] < s", "s > 1", "0 <= I[k] < 4",
    "I[k] != 2", "n % 4 == 0", "2 * H[k] - s >= 1", "s * H[k] <= 4", "sum(k, abs(X[i, k])) <= 50",
    "max(k, H[k]) <= 3", "X[i, k] < 5 if k > i", "sqrt(s) <= 2", "log(s) > 0", "n > I[k]", "1 / s > 0.25",
    "H[k] < -1 or H[k] > 1", "s - H[k] > 0", "abs(s) > 1e10 or s == 0",
)  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(st.sets(st.sampled_from(CONDITIONS), min_size=1, max_size=3), st.integers(0, 99))
def test_inputs_are_made_admissible_and_lie_between_the_ends(chosen: set[str], seed: int) -> None:
    instance = instance_of(*sorted(chosen))
    try:
        requirements = Requirements(instance)
    except InputError:
        return
    random = np.random.default_rng(seed)
    raw = {
        name: random.integers(0, 1 << fmt.bits, max(1, int(np.prod(shape))), dtype=np.uint64)
        for name, (fmt, shape) in input_formats(instance).items()
    }
    met = requirements.admissible(raw, random)
    if met is None:
        assert len(chosen) > 1
        return
    assert requirements.hold(met)
    for name, ends in requirements.bounds.ends.items():
        values = numbers_of(met[name], ends.format)
        assert not (np.isnan(values) & ends.number).any()
        assert not ((values < ends.low) | (values > ends.high)).any()
        assert not ((values == 0) & ends.nonzero).any()


@pytest.mark.parametrize("condition", CONDITIONS)
def test_every_candidate_and_trial_meets_the_conditions(condition: str) -> None:
    instance = instance_of(condition)
    requirements = Requirements(instance)
    forms = NormalForms(TermStore())
    found = list(itertools.islice(candidates(instance, forms.quantifier, ()), 12))
    assert found
    assert all(requirements.hold(inputs) for inputs in found)
    assert all(requirements.hold(trial_inputs(instance, seed, finite=True)) for seed in range(3))


def test_no_nan_meets_a_condition_of_its_number() -> None:
    instance = instance_of("s != 0", "not (n < 0)")
    words = {name: np.zeros(12, dtype=np.uint64) for name in "XHI"}
    words["n"] = np.zeros(1, dtype=np.uint64)
    quiet = np.array([0x7FC00000], dtype=np.uint64)
    assert not Requirements(instance).hold({**words, "s": quiet})
    assert Requirements(instance).hold({**words, "s": np.array([0x3F800000], dtype=np.uint64)})


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "e4m3", "e5m2", "e2m1", "s8", "u32"])
@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_ends_are_the_next_numbers_of_a_format(kind: str, data: st.DataObject) -> None:
    fmt = FORMATS[kind]
    end = data.draw(st.floats(-500, 500) | st.integers(-20, 20).map(float))
    word = data.draw(st.integers(0, (1 << fmt.bits) - 1))
    value = numbers_of(np.array([word], dtype=np.uint64), fmt)[0]
    if np.isnan(value):
        return
    for strict in (False, True):
        least = from_below(np.array([end]), fmt, strict=strict)[0]
        most = from_above(np.array([end]), fmt, strict=strict)[0]
        assert (value >= least) == (value > end if strict else value >= end)
        assert (value <= most) == (value < end if strict else value <= end)
        assert isinstance(fmt, FloatFormat) or float(least).is_integer()


# -- verdicts

RELU = "max.f32 %Y, %X, 0f00000000;"
VECTORS = {"X": "f32", "Y": "f32 out"}


def test_a_kernel_is_verified_for_data_that_meet_the_conditions() -> None:
    found = result_of(RELU, "Y[i] = X[i]", VECTORS, requires=["X[i] >= 0"])
    assert found.verdict == "verified", found.findings
    assert found.requires == ("X[i] >= 0",)
    assert result_of(RELU, "Y[i] = X[i]", VECTORS).verdict == "refuted"


def test_a_counterexample_meets_the_conditions() -> None:
    found = result_of(RELU, "Y[i] = X[i]", VECTORS, requires=["X[i] >= -0.25"])
    assert found.verdict == "refuted"


def test_a_kernel_wrong_on_other_data_only_is_not_refuted() -> None:
    body = "setp.gt.f32 %p1, %X, 0f42C80000; selp.f32 %Y, 0f00000000, %X, %p1;"
    assert result_of(body, "Y[i] = X[i]", VECTORS).verdict == "refuted"
    found = result_of(body, "Y[i] = X[i]", VECTORS, requires=["abs(X[i]) <= 100"])
    assert found.verdict != "refuted", found.findings


@pytest.mark.parametrize(
    ("kind", "condition"),
    [
        ("f32", "V[i] <= V[min(i + 1, 63)]"),
        ("f16", "V[i + 1] > V[i] if i < 63"),
        ("s32", "V[i] % 32 == 21"),
        ("s32", "V[i] * V[i] >= 1000000"),
        ("f32", "V[i] >= 0 and abs(sum(k, V[k]) - 1) < 0.5"),
        ("s32", "V[i] >= V[min(i + 1, 63)] and V[i] > 3"),
    ],
)
def test_inputs_are_found_whose_elements_are_related(kind: str, condition: str) -> None:
    ensures = f'[launch]\ngrid = 1\nblock = 64\n[requires]\nconditions = "{condition}"'
    text = contract_text("Y[i] = V[i]", {"V": f"{kind} 64 in", "Y": f"{kind} 64 out"}, ensures=ensures)
    instance = next(parse_contract(text, "test.toml").instances())
    assert Requirements(instance).hold(trial_inputs(instance, 0, finite=True))


def test_what_is_to_be_0_is_drawn_with_both_signs() -> None:
    instance = instance_of("X[i, k] == 0")
    inputs = trial_inputs(instance, 0, finite=True)
    assert set(inputs["X"].tolist()) == {0, 0x80000000}


@pytest.mark.parametrize("condition", ["X[i] >= 1e39", "X[i] > 3.5e38", "-X[i] <= -1e39"])
def test_inputs_between_infinite_ends_are_drawn(condition: str) -> None:
    found = result_of("mov.f32 %Y, %X;", "Y[i] = inf", VECTORS, requires=[condition])
    assert found.verdict != "refuted", found.findings
    found = result_of("mov.f32 %Y, 0f00000000;", "Y[i] = X[i]", VECTORS, requires=[condition])
    assert found.verdict == "refuted", found.findings


@pytest.mark.parametrize(
    "condition", ["M[i] == 0", "M[i] < 1 and M[i] > -1", "M[i] != 1 and M[i] != 2 and 0 <= M[i] <= 2"]
)
def test_inputs_of_special_cases_meet_the_conditions(condition: str) -> None:
    """NaN where a mask that [requires] rules out is set: no inputs that refute are admissible."""
    arrays = {"X": "f32", "M": "s8", "Y": "f32 out"}
    masked = (
        "setp.ne.s32 %p1, %M, 0; selp.f32 %f1, 0f7F800000, %X, %p1; sub.f32 %f2, %f1, %f1; "
        "add.f32 %Y, %f2, %X;"
    )
    assert result_of(masked, "Y[i] = X[i]", arrays).verdict == "refuted"
    assert result_of(masked, "Y[i] = X[i]", arrays, requires=[condition]).verdict != "refuted"
