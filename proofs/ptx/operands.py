"""The operands that theorems on multiplications quantify over, and some that show what is rounded when."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...spec.formats import U4
from ...spec.ptx.choices import SEQUENTIAL, Choices
from ...spec.ptx.resolution import Multiplication
from ..families.block_products import BlockOperand, power_of_two

IN_ORDER = 0b0100
"""A nibble of metadata that every granularity allows: indices 0 and 1."""


def operands_of(form: Multiplication) -> dict[str, BlockOperand]:
    """Return A (of a sparse one the stored elements), B, C, and the metadata and scale factors there are."""
    found = {
        "a": BlockOperand(form.a, ("m", form.products)),
        "b": BlockOperand(form.b, (form.shape.k, "n")),
        "c": BlockOperand(form.c, ("m", "n")),
    }
    if form.sparsity is not None:
        found["metadata"] = BlockOperand(U4, ("m", form.sparsity.chunks))
    if (scale := form.block_scale) is not None:
        found["scale_a"] = BlockOperand(scale.format, ("m", scale.vector))
        found["scale_b"] = BlockOperand(scale.format, (scale.vector, "n"))
    return found


def lost_one_by_one(form: Multiplication, *, first_of_halves: bool = False) -> dict[str, Any]:
    """Return operands with two products of half a last place of C = 2^n: rounded alone, each is lost.

    They are the first two of the row, or the first ones of its halves.
    """
    a, b, c = (form.floats(form.format(role)) for role in "abc")
    exponents = [max(fmt.minimum_exponent, -12) for fmt in (a, b)]
    row = np.zeros((1, form.products), dtype=np.uint64)
    row[0, [0, form.products // 2 if first_of_halves else 1]] = power_of_two(a, exponents[0])
    last_place = form.floats(form.d).fraction_bits
    return {
        "a": row,
        "b": power_of_two(b, exponents[1]),
        "c": power_of_two(c, sum(exponents) + last_place + 1),
        "metadata": IN_ORDER,
    }


def read_as(form: Multiplication) -> str:
    """Return the reading that a sequential sum of products depends on."""
    return f"f64-order={Choices().f64_order}" if form.is_double else SEQUENTIAL
