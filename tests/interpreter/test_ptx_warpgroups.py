"""Kernels of warpgroups: the interpreter in several orders and the machine, bit for bit."""

import random

import numpy as np
import pytest
from interpreter.ptx_comparison import Given, Memory, differences, interpreted, run_machine
from interpreter.ptx_interpreter import SCHEDULES
from warpgroup_kernels import RIGHT, Kernel

from mmaproof.spec.formats import FloatFormat, format_named


def arrays_of(kernel: Kernel, seed: int) -> list[Given]:
    """Return A and B, floats small but for a few that are anything, and room for D."""
    d, a = kernel.types
    fmt, noise = format_named(a), random.Random(seed)

    def element() -> int:
        word = noise.getrandbits(fmt.bits)
        small = isinstance(fmt, FloatFormat) and noise.random() < 0.99
        return word & ~(1 << fmt.bits - 2) if small else word

    given = [
        Given(name, a, tuple(element() for _ in range(count * kernel.k)))
        for name, count in (("a", 64), ("b", kernel.n))
    ]
    return [*given, Given("d", d, None, 64 * kernel.n)]


def left(kernel: Kernel, text: str, schedule: str, seed: int) -> tuple[list[Given], Memory]:
    """Return what the interpreter leaves."""
    arrays = arrays_of(kernel, seed)
    return arrays, interpreted(text, arrays, block=(128, 1, 1), schedule=schedule, seed=seed)


@pytest.mark.parametrize("kernel", RIGHT, ids=str)
def test_products(kernel: Kernel) -> None:
    seed = RIGHT.index(kernel)
    arrays, found = left(kernel, kernel.text, SCHEDULES[seed % len(SCHEDULES)], seed)
    got, done = run_machine(kernel.text, arrays, block=(128, 1, 1), on_terms=False)
    assert [str(finding) for finding in done.findings] == []
    assert differences(arrays, found, got) == []
    assert found["d"].defined.all()
    assert len(np.unique(found["d"].words)) > 0.4 * 64 * kernel.n
