"""Integer sums that read or set the carry flag.

Source: PTX ISA 9.1 section 9.7.2.
"""

from __future__ import annotations

from functools import partial
from types import MappingProxyType

from ....spec.ptx.operands import Register
from ...terms import operations
from ...terms.truth_tables import A, B, C
from ..registers.threads import Indices
from ..registers.value_operations import applied, widened
from ..registers.values import Value
from ..state.execution import Decoders, Execution, Step
from ..state.handlers import Modifiers
from ..text.module import TYPE_BITS, InstructionStatement
from ..text.operands import Operand
from .bits import combined
from .integer import add, high_product, integers_named, product, subtract

CARRY = Register("CC.CF", "pred")
"""The carry flag, which no name in PTX can mean."""


def _with_carry(instruction: InstructionStatement, *, borrow: bool, carries_in: bool) -> Step:
    """Decode ``add.cc``, ``addc``, ``sub.cc``, ``subc``: one more bit tells the carry."""
    modifiers = Modifiers(instruction)
    sets = modifiers.flag("cc")
    width = TYPE_BITS[modifiers.type(("u32", "s32", "u64", "s64"))]
    modifiers.finish()
    destination, left, right = modifiers.operands(3)

    def step(execution: Execution, active: Indices) -> None:
        a, b = (execution.read(operand, width, active) for operand in (left, right))
        carry = execution.read(CARRY, 1, active) if carries_in else None
        _write_sum(execution, active, destination, a, b, carry, borrow=borrow, sets=sets)

    return step


def _multiplied_with_carry(instruction: InstructionStatement, *, carries_in: bool) -> Step:
    """Decode ``mad.cc`` and ``madc``."""
    modifiers = Modifiers(instruction)
    sets = modifiers.flag("cc")
    part = modifiers.one_of(("lo", "hi"))
    kind = integers_named(modifiers.type(("u32", "s32", "u64", "s64")))
    modifiers.finish()
    destination, *sources = modifiers.operands(4)

    def step(execution: Execution, active: Indices) -> None:
        a, b, c = (execution.read(operand, kind.width, active) for operand in sources)
        found = product(execution.store, a, b) if part == "lo" else high_product(execution.store, kind, a, b)
        carry = execution.read(CARRY, 1, active) if carries_in else None
        _write_sum(execution, active, destination, found, c, carry, borrow=False, sets=sets)

    return step


def _write_sum(
    execution: Execution,
    active: Indices,
    destination: Operand,
    a: Value,
    b: Value,
    carry: Value | None,
    *,
    borrow: bool,
    sets: bool,
) -> None:
    store, width = execution.store, a.width
    combine = subtract if borrow else add
    if carry is None:
        total = combine(store, a, b)
    else:
        total = combine(store, combine(store, a, b), widened(store, carry, width, signed=False))
    execution.write(destination, total, active)
    if not sets:
        return
    left, right = (a, b) if borrow else (total, a)
    out = applied(store, operations.compare(operations.unsigned(width), "lt"), left, right)
    if carry is not None:
        equal = applied(store, operations.compare(operations.unsigned(width), "eq"), left, right)
        out = combined(store, A | B & C, out, equal, carry)
    execution.write(CARRY, out, active)


HANDLERS: Decoders = MappingProxyType(
    {
        "add": partial(_with_carry, borrow=False, carries_in=False),
        "sub": partial(_with_carry, borrow=True, carries_in=False),
        "mad": partial(_multiplied_with_carry, carries_in=False),
        "addc": partial(_with_carry, borrow=False, carries_in=True),
        "subc": partial(_with_carry, borrow=True, carries_in=True),
        "madc": partial(_multiplied_with_carry, carries_in=True),
    }
)
"""Decoders of the forms that set or read the carry flag."""
