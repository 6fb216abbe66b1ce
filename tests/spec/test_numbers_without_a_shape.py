"""Numbers that come without a shape are as many as an operand has elements, or one for all."""

from __future__ import annotations

import numpy as np
import pytest

from mmaproof.spec.drawn_arrays import DrawnArrays
from mmaproof.spec.errors import InputError
from mmaproof.spec.instruction_set import instruction_set
from mmaproof.spec.operand_arrays import ByteArray, read


@pytest.mark.parametrize("count", [1, 2, 16])
def test_memory_has_as_many_bytes_as_are_given(count: int) -> None:
    given = DrawnArrays({"memory": np.arange(count, dtype=np.uint8)}, None)
    assert read("ldmatrix", {"memory": ByteArray()}, given)["memory"].tolist() == list(range(count))


def test_one_number_is_no_memory_of_a_load() -> None:
    load = instruction_set("ptx").read("ldmatrix.sync.aligned.m8n8.x1.shared.b16")
    given = DrawnArrays({"memory": np.array([5]), "addresses": np.array([0])}, None)
    with pytest.raises(InputError, match="memory has dtype"):
        load.execute(given, as_registers=False, rounding=None, choices=[])
