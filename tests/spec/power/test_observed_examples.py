"""The specification reproduces every single result that was observed or posted."""

from __future__ import annotations

import numpy as np
import pytest
from power_observed_examples import EXAMPLES, Example
from power_vectors import ALGEBRA

from mmaproof.spec.power.choices import PRESETS, Choices
from mmaproof.spec.power.rank_k_update import rank_k_update, saturation

CASES = [(example, preset) for example in EXAMPLES for preset in example.presets]


def computed(example: Example, choices: Choices) -> np.ndarray:
    v = example.vectors()
    batches = (v.where([n]) for n in range(len(example.roundings)))
    return np.concatenate([
        rank_k_update(ALGEBRA, example.update, b.x, b.y, b.acc, b.live(), rounding, choices)
        for b, rounding in zip(batches, example.roundings, strict=True)
    ])  # fmt: skip


@pytest.mark.parametrize(("example", "preset"), CASES, ids=str)
def test_observed_example(example: Example, preset: str) -> None:
    np.testing.assert_array_equal(computed(example, PRESETS[preset]), example.expected())


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_saturation_flag_of_observed_example(example: Example) -> None:
    v = example.vectors()
    clamped = saturation(ALGEBRA, example.update, v.x, v.y, v.acc, v.live())
    assert clamped.any(axis=(1, 2)).tolist() == [example.saturated] * len(example.roundings)


@pytest.mark.parametrize("example", [e for e in EXAMPLES if len(e.presets) == 1], ids=str)
def test_an_example_recorded_for_one_preset_tells_it_from_the_others(example: Example) -> None:
    for name in PRESETS.keys() - set(example.presets):
        assert not np.array_equal(computed(example, PRESETS[name]), example.expected())
