"""In which fused steps an architecture's model sums one element of D.

A machine instruction (`machine_code`) takes its products in one step or, where the published model says
so, in several, each through the accumulator's type.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..dot_add_model import DotAddModel
from ..formats import E2M1, F16
from ..rounding import Rounding
from .architectures import Architecture
from .machine_code import TOGETHER, MachineCode, machine_code
from .resolution import Multiplication
from .targets import target_named

if TYPE_CHECKING:
    from numpy.typing import NDArray

MXF4_FRACTION = 35
"""F of the block-scaled products of 4-bit elements in 4-bit containers."""

MXF4_GROUP = 16
"""How many of their products are summed exactly before the sum is scaled and aligned."""


@dataclass(frozen=True)
class StepSequence:
    """The fused steps of one element of D.

    Attributes
    ----------
    model : DotAddModel
        What a step computes.
    products : int
        How many products it takes.
    total : int
        How many there are.
    code : MachineCode
        What the factors are multiplied as, the accumulator's type, and whether C comes first or last.
    """

    model: DotAddModel
    products: int
    total: int
    code: MachineCode

    def parts(self) -> Iterator[slice | NDArray[np.intp]]:
        """Yield which products each step takes."""
        each = np.arange(self.total)
        order = np.argsort(each // TOGETHER % self.code.instructions, kind="stable")
        for start in range(0, self.total, self.products):
            part = slice(start, start + self.products)
            yield order[part] if self.code.interleaved else part

    @property
    def composes(self) -> bool:
        """Whether a longer row of such steps is the same as one row after the other."""
        return not (self.code.interleaved or self.code.addend_last)


def step_sequence(architecture: Architecture, form: Multiplication) -> StepSequence:
    """Return the steps in which an architecture sums a float instruction that it executes."""
    code = machine_code(form, target_named(architecture.target))
    assert code is not None, f"{form.variant} is executed by a matrix unit"
    accumulator = form.floats(code.accumulator)
    rounding = Rounding.NEAREST_EVEN if accumulator == F16 else Rounding.TOWARD_ZERO
    if form.a == E2M1 and form.container == E2M1.bits:  # mxf4 and mxf4nvf4: whole groups are summed exactly
        return StepSequence(
            DotAddModel(MXF4_FRACTION, rounding, group=MXF4_GROUP), form.products, form.products, code
        )
    fraction, bits, kept = architecture.fraction_bits, architecture.step_bits, None
    container = form.container
    if code.factors != form.a:
        container = code.factors.bits
    elif container == 8:
        bits = architecture.fp8_step_bits
        if architecture.fp8_fraction_bits is not None:
            fraction = architecture.fp8_fraction_bits
            kept = None if accumulator == F16 else fraction
    taken = code.products if bits is None else min(code.products, bits // container)
    return StepSequence(DotAddModel(fraction, rounding, kept), taken, form.products, code)
