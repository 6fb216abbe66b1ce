"""Random kernels: the interpreter, and blocks on numbers side by side, which flush nothing to zero."""

from __future__ import annotations

import re

import pytest
from interpreter.ptx_comparison import Given, Memory, interpreted
from interpreter.ptx_interpreter import SCHEDULES
from interpreter.ptx_numeric_runs import run_numeric
from interpreter.ptx_programs import program

from mmaproof.spec.errors import UnsupportedError
from mmaproof.spec.formats import FORMATS, FloatFormat

LEFT_OUT = re.compile(r"ftz|mma|tanh|ex2|lg2|sin|cos|cvt\.r[zmp]|\.r[zmp]\.bf16")
"""What the runs on numbers round otherwise: products of matrices, approximations, subnormal numbers."""


def _differences(arrays: tuple[Given, ...], wanted: Memory, got: Memory) -> list[str]:
    """Return what differs by more than the last bit of a float."""
    found = []
    for array in arrays:
        one, other = wanted[array.name], got[array.name]
        is_float = isinstance(FORMATS.get(array.kind), FloatFormat)
        for index in (one.defined & (one.words != other.words)).nonzero()[0].tolist():
            pair = int(one.words[index]), int(other.words[index])
            if not (is_float and abs(pair[0] - pair[1]) <= 1):
                found.append(
                    f"{array.name}[{index}]: {pair[0]:#x} by the interpreter, {pair[1]:#x} on numbers"
                )
    return found


def compared(seed: int) -> tuple[bool, list[str]]:
    """Return whether a program runs on numbers, and what differs."""
    given = program(seed)
    if LEFT_OUT.search(given.text):
        return False, []
    try:
        got = run_numeric(given.text, given.arrays, given.grid, given.block)
    except UnsupportedError:
        return False, []
    schedule = SCHEDULES[seed % len(SCHEDULES)]
    wanted = interpreted(given.text, given.arrays, given.grid, given.block, schedule, seed)
    return True, [f"{seed}: {difference}" for difference in _differences(tuple(given.arrays), wanted, got)]


@pytest.mark.sample(2)
@pytest.mark.parametrize("first", [0, 20, 40])
def test_programs_on_numbers(first: int) -> None:
    outcomes = [compared(seed) for seed in range(first, first + 20)]
    assert [each for _, found in outcomes for each in found] == []
    assert sum(done for done, _ in outcomes) >= 3


@pytest.mark.sweep
@pytest.mark.parametrize("first", range(60, 2000, 100))
def test_more_programs_on_numbers(first: int) -> None:
    assert [each for seed in range(first, first + 100) for each in compared(seed)[1]] == []
