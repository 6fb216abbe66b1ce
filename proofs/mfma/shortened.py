"""The readings of xf32: which numbers of f32 they take as they are, and where they differ."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import F32, TF32, IntegerFormat
from ...spec.mfma.catalogue import ROWS
from ...spec.mfma.choices import Choices
from ...spec.mfma.product import Modifiers, product
from ...spec.mfma.targets import TARGETS
from ..families.sums import power_of_two
from ..obligation import Case, Equality, Equation, Inputs, Property, Status, Variable, theorem

SOURCE = "CDNA3 ISA; MMA-Sim (arXiv 2511.10909); see the open point xf32"

READINGS = ("truncated", "rounded")

TARGET = TARGETS["gfx942"]

ROW = next(row for row in ROWS if row.factors == "xf32")

LOW = IntegerFormat("low", TF32.padding_bits, signed=False)
"""The bits that are dropped, or rounded away."""


@theorem(
    "mfma/numerics/xf32",
    "both readings of xf32 take numbers of 10 fraction bits as they are; of others they differ (pinned)",
    "bits 12 to 0 of x are 0 ⇒ x · 1 + 0 = x, truncated and rounded, for every number x, infinities included",
    SOURCE,
)
def xf32() -> Iterator[Case]:
    """Yield each reading, and that they are the same for every number, which they are not."""
    for name in READINGS:
        yield Case(name, partial(_kept, name), equality=Equality.IEEE, choices=f"xf32={name}")
    yield Case(
        "same", _same, Status.REFUTED, Equality.IEEE,
        statement="x · 1 + 0 is the same in both readings: not for x = 1 + 2^-10 - 2^-23",
    )  # fmt: skip


def _times_one(alg: Algebra, x: Array, reading: str) -> Array:
    """Return x · 1 + 0 (…, 1, 1), of x (…, 1, 1)."""
    one = alg.constant(power_of_two(F32, 0), F32)
    zeros = np.broadcast_to(alg.constant(0, F32), (*x.shape[:-1], ROW.k - 1))
    row = np.concatenate([x, zeros], axis=-1)
    column = np.concatenate([np.broadcast_to(one, x.shape), zeros], axis=-1).swapaxes(-1, -2)
    c = np.broadcast_to(alg.constant(0, F32), x.shape)
    return product(alg, ROW, TARGET, row, column, c, Modifiers(), Choices(xf32=reading))


def _kept(reading: str) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        yield Equation(_times_one(alg, v["x"], reading), v["x"], F32, label="x · 1 + 0 = x")

    def short(alg: Algebra, v: Inputs) -> Iterator[Array]:
        yield alg.same(alg.extract(v["x"], 0, LOW), alg.constant(0, LOW))
        yield ~alg.is_nan(Operand(v["x"], F32))

    return Property((Variable("x", F32, (1, 1)),), claim, short, abstract=False)


def _same() -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        one, other = (_times_one(alg, v["x"], reading) for reading in READINGS)
        yield Equation(one, other, F32, label="truncated = rounded")

    below = power_of_two(F32, 0) + (1 << TF32.padding_bits) - 1
    return Property((Variable("x", F32, (1, 1)),), claim, pinned={"x": below}, abstract=False)


THEOREMS = (xf32,)
