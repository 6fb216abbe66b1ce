"""Blames unwritten output elements on a thread, a block or a launch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..contract.arguments import Array
from ..contract.contract import Instance
from ..machine.array_memory import first_lanes
from ..machine.front_end import LAUNCHED, Outcome
from .absent_writers import should_write


def absent_writers(instance: Instance, outcome: Outcome, output: Array, members: NDArray[np.intp]) -> str:
    """Say which blocks and warps should have written elements, where those that are written tell.

    Parameters
    ----------
    instance, outcome : Instance, Outcome
        What was run.
    output : Array
        The output.
    members : array (n,)
        Its elements that nobody writes, by linear index.
    """
    final, lanes = outcome.arrays[output.name], first_lanes(output)
    writers = np.where(final.lines[lanes] != 0, final.writers[lanes], -1)
    if not instance.launches:
        return should_write(output.shape, writers, members, instance.grid, outcome.block_threads)
    for number, (name, one) in enumerate(outcome.several):
        own = np.where(writers // LAUNCHED == number, writers % LAUNCHED, -1)
        told = should_write(output.shape, own, members, instance.launches[number].grid, one.block_threads)
        if told:
            return f"in {name}, {told}"
    taken = zip(outcome.several, instance.launches, strict=False)
    names = [name for (name, _), launch in taken if output.name in launch.passed]
    if (writers >= 0).any() or not names:
        return ""
    return f"nothing of it is, and {' and '.join(names)} {'is' if len(names) == 1 else 'are'} given it"
