"""Instructions on bits: logic, shifts, bit fields and permutations.

Source: PTX ISA 9.1 sections 9.7.1 and 9.7.8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import MappingProxyType

from ....spec.ptx.operands import Integer
from ...terms import bit_slices, operations
from ...terms.evaluation import Words, apply, evaluate
from ...terms.interning import Ids
from ...terms.store import Operation, TermStore
from ...terms.store import bits as raw
from ...terms.truth_tables import A, B
from ..registers.bit_moves import Field, Fill, Pieces, moved, moving
from ..registers.threads import Indices
from ..registers.value_operations import applied, chosen, constant
from ..registers.values import KNOWN, Rule, Value, compute
from ..state.execution import Decoders, Execution, Step
from ..state.handlers import Modifiers, pointwise
from ..text.module import TYPE_BITS, InstructionStatement
from ..text.operands import Operand, Pair
from .byte_permutation import permutation

_UNTYPED = ("pred", "b16", "b32", "b64")


# -- logic


def combined(store: TermStore, table: int, *values: Value) -> Value:
    """Combine words bit by bit with a truth table of the first, second and third."""
    width = values[0].width
    a, b, c = (values[min(index, len(values) - 1)] for index in range(3))
    operation = Operation(operations.BITWISE, raw(width), (raw(width),) * 3, attribute=table)
    on_numbers = _PLAIN.get(table, lambda *words: evaluate(operation, words))
    return compute(store, width, [a, b, c], on_numbers, partial(bit_slices.bitwise, store, table))


_PLAIN: MappingProxyType[int, Callable[[Words, Words, Words], Words]] = MappingProxyType(
    {
        A & B: lambda a, b, c: a & b,
        A | B: lambda a, b, c: a | b,
        A ^ B: lambda a, b, c: a ^ b,
        A ^ 0xFF: lambda a, b, c: ~a,
    }
)
"""The usual tables, as one operation of the processor."""


def _logic(table: int, arity: int, modifiers: Modifiers) -> tuple[Sequence[int], Rule]:
    width = TYPE_BITS[modifiers.type(_UNTYPED)]
    return (width,) * arity, lambda store, values: combined(store, table, *values)


def _cnot(modifiers: Modifiers) -> tuple[Sequence[int], Rule]:
    width = TYPE_BITS[modifiers.type(_UNTYPED[1:])]
    equal = operations.compare(operations.unsigned(width), "eq")

    def on_terms(store: TermStore, a: Ids) -> Ids:
        zero = store.constants(0, width)
        return bit_slices.zero_extend(store, apply(store, equal, a, zero), width)

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        return compute(store, width, values, lambda a: a == 0, partial(on_terms, store))

    return (width,), rule


def results(destination: Operand) -> tuple[Operand, Operand | None]:
    """Return the one or two registers that an instruction writes."""
    if isinstance(destination, Pair):
        return destination.first, destination.second
    return destination, None


def _lop3(instruction: InstructionStatement) -> Step:
    """Decode ``lop3``; a second form also combines "the result is not zero" with a predicate."""
    modifiers = Modifiers(instruction)
    boolean = modifiers.one_of(("or", "and"), default="")
    modifiers.type(("b32",))
    modifiers.finish()
    destination, a, b, c, table, *others = modifiers.operands(6 if boolean else 5)
    if not isinstance(table, Integer) or not 0 <= table.value <= 0xFF:
        raise modifiers.unsupported(f"the table must be a number from 0 to 255, not {table}")
    if isinstance(destination, Pair) is not bool(boolean):
        raise modifiers.unsupported("writes a predicate with .or and .and, and only then")
    first, second = (
        (destination.first, destination.second) if isinstance(destination, Pair) else (destination, None)
    )

    def step(execution: Execution, active: Indices) -> None:
        values = [execution.read(operand, 32, active) for operand in (a, b, c)]
        result = combined(execution.store, table.value, *values)
        execution.write(first, result, active)
        if second is not None:
            differs = applied(execution.store, _NOT_ZERO, result, constant(0, 32, result))
            other = execution.read(others[0], 1, active)
            execution.write(second, combined(execution.store, BOOLEANS[boolean], differs, other), active)

    return step


_NOT_ZERO = operations.compare(operations.unsigned(32), "ne")

BOOLEANS = MappingProxyType({"and": A & B, "or": A | B, "xor": A ^ B})
"""Truth tables by the name of a modifier."""


# -- shifts and fields


def _shift_left(width: int, amount: int) -> Pieces:
    amount = min(amount, width)
    return [Fill(0, amount), Field(0, width - amount)]


def _shift_right(width: int, signed: bool, amount: int) -> Pieces:
    if signed:
        amount = min(amount, width - 1)
        return [Field(amount, width - amount, extended=width)]
    amount = min(amount, width)
    return [Field(amount, width - amount), Fill(0, amount)]


def _shifting(plan: Callable[[int], Pieces], width: int) -> Rule:
    """Return the rule of a shift; by data it is one by each power of two that the amount has."""
    steered = moving(plan, 1, "the amount of a shift")
    bits = width.bit_length() - 1
    is_set = operations.compare(operations.unsigned(32 - bits), "ne")

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        data, amount = values
        if amount.terms is None or (amount.terms == KNOWN).all():
            return steered(store, values)
        result = data
        for bit in range(bits):
            wanted = moved(store, [Field(bit, 1)], amount)
            result = chosen(store, wanted, moved(store, plan(1 << bit), result), result)
        more = moved(store, [Field(bits, 32 - bits)], amount)
        beyond = applied(store, is_set, more, constant(0, 32 - bits, more))
        return chosen(store, beyond, moved(store, plan(width), data), result)

    return rule


def _shl(modifiers: Modifiers) -> tuple[Sequence[int], Rule]:
    width = TYPE_BITS[modifiers.type(_UNTYPED[1:])]
    return (width, 32), _shifting(partial(_shift_left, width), width)


def _shr(modifiers: Modifiers) -> tuple[Sequence[int], Rule]:
    name = modifiers.type([f"{sort}{width}" for sort in "bus" for width in (16, 32, 64)])
    width = TYPE_BITS[name]
    return (width, 32), _shifting(partial(_shift_right, width, name[0] == "s"), width)


def _shf(modifiers: Modifiers) -> tuple[Sequence[int], Rule]:
    left = modifiers.one_of(("l", "r")) == "l"
    clamp = modifiers.one_of(("clamp", "wrap")) == "clamp"
    modifiers.type(("b32",))

    def plan(amount: int) -> Pieces:
        amount = min(amount, 32) if clamp else amount & 31
        low = 32 - amount if left else amount  # of the window of 32 bits on {b, a}
        return [Field(low, 32 - low, 0), Field(0, low, 1)]

    return (32, 32, 32), moving(plan, 1, "the amount of a shift")


def _bfe(modifiers: Modifiers) -> tuple[Sequence[int], Rule]:
    name = modifiers.type(("u32", "u64", "s32", "s64"))
    width, signed = TYPE_BITS[name], name[0] == "s"

    def plan(position: int, length: int) -> Pieces:
        position, length = position & 0xFF, length & 0xFF
        if not length:
            return [Fill(0, width)]
        inside = min(length, width - position)
        if signed and inside <= 0:
            return [Field(width - 1, 1, extended=width)]
        if signed:
            return [Field(position, inside, extended=width)]
        inside = max(inside, 0)
        return [Field(position, inside), Fill(0, width - inside)]

    return (width, 32, 32), moving(plan, 2, "the place of a bit field")


def _bfi(modifiers: Modifiers) -> tuple[Sequence[int], Rule]:
    width = TYPE_BITS[modifiers.type(("b32", "b64"))]

    def plan(position: int, length: int) -> Pieces:
        position = min(position & 0xFF, width)
        length = min(length & 0xFF, width - position)
        end = position + length
        return [Field(0, position, 1), Field(0, length, 0), Field(end, width - end, 1)]

    return (width, width, 32, 32), moving(plan, 2, "the place of a bit field")


def _bmsk(modifiers: Modifiers) -> tuple[Sequence[int], Rule]:
    clamp = modifiers.one_of(("clamp", "wrap")) == "clamp"
    modifiers.type(("b32",))

    def plan(position: int, length: int) -> Pieces:
        position, length = (min(n, 32) if clamp else n & 31 for n in (position, length))
        inside = min(length, 32 - position)
        return [Fill(0, position), Fill((1 << inside) - 1, inside), Fill(0, 32 - position - inside)]

    return (32, 32), moving(plan, 2, "the place of a bit field")


def _szext(modifiers: Modifiers) -> tuple[Sequence[int], Rule]:
    clamp = modifiers.one_of(("clamp", "wrap")) == "clamp"
    signed = modifiers.type(("u32", "s32")) == "s32"

    def plan(length: int) -> Pieces:
        length = min(length, 32) if clamp else length & 31
        if signed:
            return [Field(0, length, extended=32)] if length else [Fill(0, 32)]
        return [Field(0, length), Fill(0, 32 - length)]

    return (32, 32), moving(plan, 1, "a width")


def _brev(modifiers: Modifiers) -> tuple[Sequence[int], Rule]:
    width = TYPE_BITS[modifiers.type(("b32", "b64"))]
    return (width,), moving(lambda: [Field(low, 1) for low in reversed(range(width))])


_POINTWISE: MappingProxyType[str, Callable[[Modifiers], tuple[Sequence[int], Rule]]] = MappingProxyType(
    {
        "and": partial(_logic, A & B, 2),
        "or": partial(_logic, A | B, 2),
        "xor": partial(_logic, A ^ B, 2),
        "not": partial(_logic, A ^ 0xFF, 1),
        "cnot": _cnot,
        "shl": _shl,
        "shr": _shr,
        "shf": _shf,
        "bfe": _bfe,
        "bfi": _bfi,
        "bmsk": _bmsk,
        "szext": _szext,
        "brev": _brev,
        "prmt": permutation,
    }
)

HANDLERS: Decoders = MappingProxyType(
    {"lop3": _lop3, **{opcode: pointwise(rule) for opcode, rule in _POINTWISE.items()}}
)
"""Decoders of this module's instructions."""
