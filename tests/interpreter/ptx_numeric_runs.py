"""Kernels on numbers by blocks side by side (`refinement.ptx.numeric`), as the comparison has them."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from interpreter.ptx_comparison import Extents, Given, Left, Memory, _same

from mmaproof.refinement.ptx.numeric.machine import FILLS, Program
from mmaproof.refinement.ptx.numeric.memory import KNOWN, NOBODY, address, stored
from mmaproof.refinement.ptx.registers.threads import Launch
from mmaproof.refinement.ptx.text.parser import parse


def run_numeric(
    text: str, arrays: Sequence[Given], grid: Extents = (1, 1, 1), block: Extents = (32, 1, 1)
) -> Memory:
    """Return what blocks on numbers leave, run with two fillings of what nobody has written."""
    module = parse(text, "kernel.ptx")
    (entry,) = module.entries
    runs, states = [], {}
    for fill in FILLS:
        held = []
        for array in arrays:
            if array.elements is None:
                content = np.full(array.size, fill, dtype=np.uint8)
                nobody = np.full(array.count, NOBODY)
                held.append(stored(array.name, content, array.bytes, states=nobody))
            else:
                words = np.array(array.elements, dtype=np.uint64).astype(f"u{array.bytes}")
                held.append(stored(array.name, words, array.bytes))
        passed = [address(number, 0).to_bytes(8, "little") for number in range(len(arrays))]
        program = Program(module, entry.name, Launch(grid, block), passed, held)
        blocks = list(range(int(np.prod(grid))))
        program.run(blocks, fill=fill, until=time.process_time() + 60)
        runs.append(
            {each.name: each.data[: each.size].view(f"u{each.unit}").astype(np.uint64) for each in held}
        )
        states = {each.name: each.states for each in held}
    found = {}
    for array in arrays:
        first, second = (run[array.name] for run in runs)
        there = states[array.name]
        known = np.ones(len(first), dtype=bool) if there is None else there == KNOWN
        found[array.name] = Left(first, known & _same(array, first, second))
    return found
