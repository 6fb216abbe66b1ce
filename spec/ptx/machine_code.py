"""What machine code a multiply-accumulate becomes on a target, as far as its sums depend on it.

Where the matrix unit lacks a form, ptxas emulates it, and the emulation is what runs: 8-bit floats on
sm_90 and sm_100 are widened to f16, summed from +0, and C is added last, but by ``wgmma``. Source: ptxas of
CUDA 13.0, read
with nvdisasm for every form on every target it compiles for (tests/conformance/test_machine_code.py).
sm_70 and sm_72 it does not compile for; for them `chained` steps follow from HMMA.884 (MMA-Sim).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ..formats import F16, TF32, Format
from .mma_forms import EIGHT_BIT_FLOATS
from .resolution import Multiplication
from .targets import Target
from .variant import Family

TOGETHER = 2
"""Neighbouring 8-bit floats of a register that are widened into one register of f16."""


@dataclass(frozen=True)
class MachineCode:
    """How a matrix unit is used for a form.

    Attributes
    ----------
    factors : Format
        Element type that the matrix unit multiplies; that of A, or a wider one.
    products : int
        Products of one element of D in one matrix instruction.
    instructions : int
        Matrix instructions chained for one element of D.
    accumulator : Format
        Type that they accumulate in; C is widened to it before, and D rounded to nearest from it.
    interleaved : bool
        Whether product k is taken by instruction ``k // 2 % instructions`` instead of
        ``k // products``.
    addend_last : bool
        Whether the chain begins with +0 and C is added to its end, rounded to nearest.
    reordered : bool
        Whether the metadata and A are put in increasing order before.
    exact : bool
        Whether other instructions replace it that compute the same integers.
    """

    factors: Format
    products: int
    instructions: int
    accumulator: Format
    interleaved: bool = False
    addend_last: bool = False
    reordered: bool = False
    exact: bool = False

    def is_native(self, form: Multiplication) -> bool:
        """Whether one matrix instruction computes the form's elements, nothing around it."""
        same_types = form.c == form.d or form.is_quad_pairs
        return same_types and self == MachineCode(form.a, form.products, 1, form.d)

    def described(self, form: Multiplication) -> str:
        """Say in a few words how a form is executed."""
        if self.is_native(form):
            return "native"
        parts = ["integer emulation"] if self.exact else []
        if self.reordered:
            parts.append("metadata reordered")
        if self.factors != form.a:
            parts.append(f"widened to {self.factors}")
        if self.instructions > 1:
            parts.append(f"{self.instructions} of k{self.products}{' interleaved' * self.interleaved}")
        if self.addend_last:
            parts.append("C added last")
        elif self.accumulator != form.c:
            parts.append(f"C widened to {self.accumulator}")
        if self.accumulator != form.d:
            parts.append(f"D rounded from {self.accumulator}")
        return ", ".join(parts)


@cache
def machine_code(form: Multiplication, target: Target) -> MachineCode | None:
    """Return how a target executes a form; None if by scalar instructions alone.

    Parameters
    ----------
    form : Multiplication
        The instruction.
    target : Target
        A target that has it.
    """
    if form.is_quad_pairs and target.number >= 80:
        return None
    if form.is_integer:
        return _of_integers(form, target)
    accumulator = form.accumulator
    if form.is_double:
        taken = 4 if target.number >= 100 else form.products
        return MachineCode(form.a, taken, form.products // taken, accumulator)
    if _is_eight_bit(form) and not (form.is_of_warpgroup or target.multiplies_fp8):
        half = form.products // 2
        return MachineCode(F16, half, 2, accumulator, interleaved=True, addend_last=True)
    taken = min(form.products, _longest(form, target))
    reordered = form.sparsity is not None and form.a == F16 and _needs_order(form, target)
    return MachineCode(form.a, taken, form.products // taken, accumulator, reordered=reordered)


def _is_eight_bit(form: Multiplication) -> bool:
    return {form.a.name, form.b.name} <= set(EIGHT_BIT_FLOATS) and form.variant.kind is None


def _longest(form: Multiplication, target: Target) -> int:
    """Return the most products of a ``wmma`` that one matrix instruction takes."""
    if form.variant.family is not Family.WMMA_MMA:
        return form.products
    if form.a == TF32:
        return 4
    return {7: 4 if target.number < 75 else 8}.get(target.number // 10, form.products)


def _needs_order(form: Multiplication, target: Target) -> bool:
    return target.number >= 100 and not form.variant.ordered_metadata


def _of_integers(form: Multiplication, target: Target) -> MachineCode:
    operation = form.variant.bit_operation
    if operation is not None:
        emulated = target.number >= (90 if operation == "xor" else 100)
    else:
        emulated = form.a.bits == 4 and target.number >= 90
    reordered = form.sparsity is not None and _needs_order(form, target) and not emulated
    return MachineCode(form.a, form.products, 1, form.d, reordered=reordered, exact=emulated)
