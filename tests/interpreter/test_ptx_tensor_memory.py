"""Kernels of tensor memory: the interpreter in several orders and the machine, bit for bit."""

import random

import numpy as np
import pytest
from interpreter.ptx_comparison import Given, Memory, differences, interpreted, run_machine
from interpreter.ptx_interpreter import SCHEDULES
from sweep_parameters import few
from tensor_memory_faults import FAULTS, edited
from tensor_memory_kernels import PAIRS, RIGHT, Kernel

from mmaproof.spec.formats import FloatFormat, format_named


def arrays_of(kernel: Kernel, seed: int) -> list[Given]:
    """Return A and B, floats small but for a few that are anything, scale factors, and room for D."""
    d, a = kernel.types
    fmt, noise = format_named(a), random.Random(seed)

    def element() -> int:
        word = noise.getrandbits(fmt.bits)
        small = isinstance(fmt, FloatFormat) and noise.random() < 0.99
        return word & ~(1 << fmt.bits - 2) if small else word

    given = [
        Given(name, a, tuple(element() for _ in range(count * kernel.k)))
        for name, count in (("a", kernel.m), ("b", kernel.n))
    ]
    given.append(Given("d", d, None, kernel.m * kernel.n))
    if kernel.scaled:
        for name, lines in (("p", kernel.m), ("q", 32)):
            given.append(Given(name, "u8", tuple(noise.randrange(124, 130) for _ in range(4 * lines))))
    return given


def left(kernel: Kernel, text: str, schedule: str, seed: int) -> tuple[list[Given], Memory]:
    """Return what the interpreter leaves."""
    arrays = arrays_of(kernel, seed)
    grid = (kernel.ctas, 1, 1)
    return arrays, interpreted(text, arrays, grid, (128, 1, 1), schedule, seed, cluster=grid)


@pytest.mark.parametrize("number", few(map(str, range(len(RIGHT))), "1", "6", "8", "11", "19", "20"))
def test_products(number: str) -> None:
    check(RIGHT[int(number)], int(number))


@pytest.mark.parametrize("number", few([str(n) for n, each in enumerate(PAIRS) if not each.sparse], "1", "5"))
def test_products_of_pairs(number: str) -> None:
    check(PAIRS[int(number)], int(number))


def check(kernel: Kernel, seed: int) -> None:
    """Compare what the interpreter leaves, in an order that the seed says, with what the machine does."""
    arrays, found = left(kernel, kernel.text, SCHEDULES[seed % len(SCHEDULES)], seed)
    grid = (kernel.ctas, 1, 1)
    got, done = run_machine(kernel.text, arrays, grid, (128, 1, 1), on_terms=False, cluster=grid)
    assert [str(finding) for finding in done.findings] == []
    assert differences(arrays, found, got) == []
    assert found["d"].defined.all()
    assert len(np.unique(found["d"].words)) > 0.1 * kernel.m * kernel.n


SEEN = (
    "D is read before it is there",
    "the next part of K",
    "A is multiplied before it is there",
    "columns are swapped",
)
"""Faults of `FAULTS` that numbers show."""


@pytest.mark.parametrize("fault", few(SEEN, "A is multiplied before it is there"))
def test_a_fault_changes_what_the_interpreter_leaves_in_some_order(fault: str) -> None:
    kernel, old, new, _ = FAULTS[fault]
    _, right = left(kernel, kernel.text, SCHEDULES[0], 0)
    wrong = [left(kernel, edited(kernel, old, new), schedule, 0)[1]["d"] for schedule in SCHEDULES]
    same = right["d"].words
    assert any((each.words != same).any() or not each.defined.all() for each in wrong)
