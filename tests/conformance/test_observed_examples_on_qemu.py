"""The examples recorded for QEMU are what the QEMU at hand really does."""

from __future__ import annotations

import numpy as np
import pytest
from power_observed_examples import EXAMPLES, INVALID, Example
from power_oracle import Oracle


@pytest.mark.parametrize("example", [e for e in EXAMPLES if "qemu-7.2" in e.presets], ids=str)
def test_observed_example_on_qemu(example: Example, power_oracle: Oracle) -> None:
    outcomes = power_oracle.execute(example.update, example.prefixed, example.vectors())
    np.testing.assert_array_equal(outcomes.acc, example.expected())
    assert outcomes.saturated.tolist() == [example.saturated] * len(example.roundings)
    if example.invalid is not None:
        raised = outcomes.fpscr & np.uint64(sum(INVALID.values()))
        assert set(raised.tolist()) == {sum(INVALID[name] for name in example.invalid)}
