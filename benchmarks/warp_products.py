"""How long ``mma`` takes on a warp's matrices and registers: one instruction, and each of a batch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mmaproof.spec.algebra import Array
from mmaproof.spec.ptx.assembly import parse
from mmaproof.spec.ptx.choices import PRESETS
from mmaproof.spec.ptx.operand_arrays import execute, operands
from mmaproof.spec.ptx.resolution import Multiplication, multiplication
from mmaproof.spec.ptx.warp import Immediates

from .figure import Figure, shortest_time

BATCH = 1024
REPETITIONS = {1: 500, BATCH: 5}
"""How often a batch of a size is executed."""

PROMISED = "m16n8k16.row.col.f32.f16.f16.f32", "hopper"
TARGETS = {1: 0.2, BATCH: 0.05}
"""Milliseconds for each instruction of a batch of a size; the other products promise nothing."""

PRODUCTS = (
    PROMISED,
    ("m16n8k16.row.col.f32.f16.f16.f32", "sequential"),
    ("m16n8k8.row.col.f32.tf32.tf32.f32", "ampere"),
    ("m16n8k32.row.col.f32.e4m3.e4m3.f32", "hopper"),
    ("m16n8k32.row.col.s32.s8.s8.s32", "sequential"),
    ("m16n8k16.row.col.f64.f64.f64.f64", "sequential"),
)
"""Instructions and how their sums accumulate."""


def figures() -> Iterator[Figure]:
    for name, accumulation in PRODUCTS:
        shape, *_, element, _ = name.split(".")
        for view in ("matrices", "registers"):
            for batch in REPETITIONS:
                yield Figure(
                    f"{shape} {element} {accumulation}, {view} x {batch}",
                    milliseconds(name, accumulation, batch, as_registers=view == "registers"),
                    "ms",
                    TARGETS[batch] if (name, accumulation) == PROMISED else None,
                )


def milliseconds(name: str, accumulation: str, batch: int, *, as_registers: bool) -> float:
    """Execute a batch, a single instruction without a batch axis, and return the time for each."""
    instruction, choices = parse(f"mma.sync.aligned.{name}"), PRESETS[accumulation]
    form = multiplication(instruction.variant)
    arrays = encodings(form, () if batch == 1 else (batch,), as_registers=as_registers)
    seconds = shortest_time(
        lambda: execute(instruction, arrays, choices, as_registers=as_registers), REPETITIONS[batch]
    )
    return 1000 * seconds / batch


def encodings(form: Multiplication, batch: tuple[int, ...], *, as_registers: bool) -> dict[str, Array]:
    """Return random encodings, or registers full of them: every class of number and NaN occurs."""
    read, _ = operands(form, Immediates())
    if as_registers:
        words = {name: each.registers for name, each in read.items()}
        wanted = {name: (8 * each.dtype.itemsize, each.shape) for name, each in words.items()}
    else:
        wanted = {f"{name}_bits": (each.format.bits, each.shape) for name, each in read.items()}
    rng = np.random.default_rng(0)
    return {
        name: rng.integers(0, (1 << bits) - 1, (*batch, *shape), dtype=f"u{max(8, bits) // 8}", endpoint=True)
        for name, (bits, shape) in wanted.items()
    }
