"""Comparisons and selects.

Source: PTX ISA 9.1 sections 9.7.6 and 9.7.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from ....spec.formats import F16, F32, FloatFormat, Format
from ....spec.ptx.scalar.bits import BOOLEANS
from ....spec.ptx.scalar.rows import ElementType
from ....spec.word_algebra import Field
from ...terms import operations
from ...terms.store import TermStore
from ...terms.truth_tables import A
from ..registers.bit_moves import moved
from ..registers.threads import Indices
from ..registers.value_operations import applied, chosen, combined, constant, joined, lanes
from ..registers.values import Rule, Value
from ..state.execution import Decoders, Execution, Step
from ..state.handlers import Modifiers, pointwise
from ..text.module import TYPE_BITS, InstructionStatement
from .floating import TYPES, flushed, one
from .specified import results

_ORDERED = ("eq", "ne", "lt", "le", "gt", "ge")
_UNSIGNED = ("lo", "ls", "hi", "hs")
_UNORDERED = tuple(f"{name}u" for name in _ORDERED)
_RELATIONS = (*_ORDERED, *_UNSIGNED, *_UNORDERED, "num", "nan")

_INTEGERS = tuple(f"{sort}{width}" for sort in "bus" for width in (16, 32, 64))
_WORDS = (*_INTEGERS, "f32", "f64")


class _Comparison:
    """What a comparison compares, and how."""

    def __init__(self, modifiers: Modifiers, name: str) -> None:
        self.relation = modifiers.one_of(_RELATIONS)
        self.boolean = modifiers.one_of(BOOLEANS, default="")
        self.lanes = TYPES[name].lanes if name in TYPES else 1
        self.format = _format(name)
        self.width = self.format.bits * self.lanes
        self.flush = self.format in (F16, F32) and modifiers.flag("ftz")
        if self.relation not in _allowed(name):
            raise modifiers.unsupported(f".{self.relation} is not for .{name}")

    def compared(self, store: TermStore, a: Value, b: Value) -> Value:
        """Return one bit: whether the relation holds."""
        if self.flush:
            assert isinstance(self.format, FloatFormat)
            a, b = flushed(store, a, self.format), flushed(store, b, self.format)
        return applied(store, operations.compare(self.format, self.relation), a, b)

    def answers(self, store: TermStore, a: Value, b: Value, other: Value | None) -> tuple[Value, Value]:
        """Return the two results: of both lanes, or of the relation and its opposite."""
        if self.lanes == 2:
            pairs = zip(lanes(store, a, 2), lanes(store, b, 2), strict=True)
            first, second = (self.compared(store, left, right) for left, right in pairs)
        else:
            first = self.compared(store, a, b)
            second = combined(store, A ^ 0xFF, first)
        if other is None:
            return first, second
        table = BOOLEANS[self.boolean]
        return combined(store, table, first, other), combined(store, table, second, other)


def _format(name: str) -> Format:
    if name in TYPES:
        return TYPES[name].format
    return ElementType(name).format


def _allowed(name: str) -> Sequence[str]:
    if name in TYPES:
        return (*_ORDERED, *_UNORDERED, "num", "nan")
    return {"b": _ORDERED[:2], "s": _ORDERED, "u": (*_ORDERED, *_UNSIGNED)}[name[0]]


def _setp(instruction: InstructionStatement) -> Step:
    modifiers = Modifiers(instruction)
    name = modifiers.type([*_WORDS, "f16", "bf16", "f16x2", "bf16x2"])
    comparison = _Comparison(modifiers, name)
    modifiers.finish()
    destination, left, right, *others = modifiers.operands(4 if comparison.boolean else 3)
    first, second = results(destination)

    def step(execution: Execution, active: Indices) -> None:
        a, b = (execution.read(operand, comparison.width, active) for operand in (left, right))
        other = execution.read(others[0], 1, active) if others else None
        answers = comparison.answers(execution.store, a, b, other)
        execution.write(first, answers[0], active)
        if second is not None:
            execution.write(second, answers[1], active)

    return step


_TRUTHS = ("u16", "s16", "u32", "s32", "f16", "bf16", "f32", "f16x2", "bf16x2")


def _set(modifiers: Modifiers) -> tuple[Sequence[int], Rule]:
    """Decode ``set``: a comparison whose answer is all ones, or 1.0."""
    to, of = modifiers.types(_TRUTHS, [*_WORDS, "f16", "bf16", "f16x2", "bf16x2"])
    comparison = _Comparison(modifiers, of)
    kind = TYPES.get(to)
    if comparison.lanes == 2 and (kind is None or kind.lanes != 2):
        raise modifiers.unsupported(f".{to} of .{of}")
    if comparison.lanes == 1 and kind is not None and kind.lanes != 1:
        raise modifiers.unsupported(f".{to} of .{of}")
    width = TYPE_BITS[to] // comparison.lanes
    true = one(kind.format) if kind is not None else (1 << width) - 1

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        a, b, *others = values
        answers = comparison.answers(store, a, b, others[0] if others else None)
        yes, no = constant(true, width, a), constant(0, width, a)
        return joined(store, [chosen(store, answer, yes, no) for answer in answers[: comparison.lanes]])

    return (*(comparison.width,) * 2, *(1,) * bool(comparison.boolean)), rule


def _selp(modifiers: Modifiers) -> tuple[Sequence[int], Rule]:
    width = TYPE_BITS[modifiers.type(_WORDS)]

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        then, otherwise, condition = values
        return chosen(store, condition, then, otherwise)

    return (width, width, 1), rule


def _slct(modifiers: Modifiers) -> tuple[Sequence[int], Rule]:
    """Decode ``slct``: the first operand where the third is not negative."""
    to, of = modifiers.types(_WORDS, ("s32", "f32"))
    width = TYPE_BITS[to]
    flush = of == "f32" and modifiers.flag("ftz")

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        a, b, c = values
        if of == "s32":
            negative = moved(store, [Field(31, 1)], c)
            return chosen(store, negative, b, a)
        given = flushed(store, c, F32) if flush else c
        holds = applied(store, operations.compare(F32, "ge"), given, constant(0, 32, c))
        return chosen(store, holds, a, b)

    return (width, width, 32), rule


HANDLERS: Decoders = MappingProxyType(
    {"setp": _setp, "set": pointwise(_set), "selp": pointwise(_selp), "slct": pointwise(_slct)}
)
"""Decoders of this module's instructions."""
