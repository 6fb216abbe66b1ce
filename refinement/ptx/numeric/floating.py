"""Floating-point arithmetic, functions and comparisons on numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ....spec.errors import UnsupportedError
from ..text.module import InstructionStatement
from ..text.operands import Pair
from .float_kinds import KINDS, FloatKind, encoded
from .state import Code, State, Step
from .threads import Lanes

ROUNDINGS = ("rn", "rz", "rm", "rp")


def kind_of(instruction: InstructionStatement) -> FloatKind:
    """Return the type of floats that an instruction is about.

    Raises
    ------
    UnsupportedError
        If numpy does not have it.
    """
    if len(set(instruction.types)) != 1 or instruction.types[0] not in KINDS:
        raise UnsupportedError(f"{instruction.mnemonic} on numbers")
    return KINDS[instruction.types[0]]


def require_nearest(instruction: InstructionStatement, kind: FloatKind) -> None:
    """Refuse directed roundings of double precision, and saturation to finite numbers.

    Raises
    ------
    UnsupportedError
        Of these.
    """
    directed = instruction.one_of(ROUNDINGS) not in (None, "rn")
    if (kind.name == "f64" and directed) or instruction.has("satfinite"):
        raise UnsupportedError(f"{instruction.mnemonic} on numbers")


def _applied(
    code: Code, instruction: InstructionStatement, compute: Callable[..., Any], *, arity: int
) -> Step:
    """Return a step that computes of floats of one type one of the same."""
    kind = kind_of(instruction)
    mode = instruction.one_of(ROUNDINGS) or ""
    require_nearest(instruction, kind)
    write = code.writer(instruction.operands[0])
    readers = [code.reader(operand, kind.register_bits) for operand in instruction.operands[1 : arity + 1]]
    saturated, rectified = instruction.has("sat"), instruction.has("relu")

    def step(state: State, lanes: Lanes) -> None:
        found = compute(*(kind.numbers(read(state, lanes)) for read in readers))
        if saturated:
            found = np.where(np.isnan(found), 0, np.clip(found, 0, 1)).astype(found.dtype)
        if rectified:
            found = np.where(found < 0, np.zeros_like(found), found)
        write(state, lanes, encoded(state, found, kind, mode))

    return step


def _wide(number: Any) -> Any:
    return np.asarray(number, dtype=np.float64)


def _multiplied(x: Any, y: Any) -> Any:
    return _wide(x) * _wide(y)


def _fused(x: Any, y: Any, z: Any) -> Any:
    return _wide(x) * _wide(y) + _wide(z)


_ARITHMETIC: dict[str, tuple[int, Callable[..., Any]]] = {
    "add": (2, lambda x, y: _wide(x) + _wide(y)),
    "sub": (2, lambda x, y: _wide(x) - _wide(y)),
    "mul": (2, _multiplied),
    "fma": (3, _fused),
    "mad": (3, _fused),
    "div": (2, lambda x, y: _wide(x) / _wide(y)),
    "rcp": (1, lambda x: 1 / _wide(x)),
    "sqrt": (1, lambda x: np.sqrt(_wide(x))),
    "rsqrt": (1, lambda x: 1 / np.sqrt(_wide(x))),
    "ex2": (1, lambda x: np.exp2(_wide(x))),
    "lg2": (1, lambda x: np.log2(_wide(x))),
    "sin": (1, lambda x: np.sin(_wide(x))),
    "cos": (1, lambda x: np.cos(_wide(x))),
    "tanh": (1, lambda x: np.tanh(_wide(x))),
}


def _extremum(code: Code, instruction: InstructionStatement) -> Step:
    smaller = instruction.opcode == "min"
    if instruction.has("xorsign"):
        raise UnsupportedError(f"{instruction.mnemonic} on numbers")
    both = (np.minimum if smaller else np.maximum) if instruction.has("NaN") else None
    choose: Any = both or (np.fmin if smaller else np.fmax)
    if instruction.has("abs"):
        return _applied(code, instruction, lambda x, y: choose(np.abs(x), np.abs(y)), arity=2)
    if len(instruction.operands) == 4:  # three sources
        return _applied(code, instruction, lambda x, y, z: choose(choose(x, y), z), arity=3)
    return _applied(code, instruction, choose, arity=2)


def _unordered(x: Any, y: Any) -> Any:
    return np.isnan(x) | np.isnan(y)


_RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: (x != y) & ~_unordered(x, y),
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "equ": lambda x, y: (x == y) | _unordered(x, y),
    "neu": lambda x, y: x != y,
    "ltu": lambda x, y: ~(x >= y),
    "leu": lambda x, y: ~(x > y),
    "gtu": lambda x, y: ~(x <= y),
    "geu": lambda x, y: ~(x < y),
    "num": lambda x, y: ~_unordered(x, y),
    "nan": _unordered,
}


def comparison(code: Code, instruction: InstructionStatement) -> Step:
    """Decode ``setp`` of floats."""
    kind = KINDS.get(instruction.types[0])
    if kind is None or kind.lanes > 1:
        raise UnsupportedError(f"{instruction.mnemonic} on numbers")
    relation = _RELATIONS[instruction.modifiers[0]]
    destination, first, second, *more = instruction.operands
    readers = [code.reader(each, kind.bits) for each in (first, second)]

    def compare(state: State, lanes: Lanes) -> Any:
        return relation(*(kind.numbers(read(state, lanes)) for read in readers))

    return truth_step(code, instruction, destination, compare, more)


_COMBINED: dict[str, Callable[[Any, Any], Any]] = {
    "and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor,
}  # fmt: skip


def truth_step(
    code: Code,
    instruction: InstructionStatement,
    destination: Any,
    compare: Callable[[State, Lanes], Any],
    more: list[Any],
) -> Step:
    """Return a step that writes one or two predicates: a comparison, combined with another predicate."""
    pair = (destination.first, destination.second) if isinstance(destination, Pair) else (destination,)
    writers = [code.writer(each) for each in pair]
    combined = _COMBINED[instruction.one_of(_COMBINED) or "and"] if more else None
    other = code.truth_reader(more[0]) if more else None

    def step(state: State, lanes: Lanes) -> None:
        found = compare(state, lanes)
        results = (found, ~found) if len(writers) > 1 else (found,)
        for write, result in zip(writers, results, strict=True):
            if combined is not None and other is not None:
                write(state, lanes, combined(result, other(state, lanes)))
            else:
                write(state, lanes, result)

    return step


def _testp(code: Code, instruction: InstructionStatement) -> Step:
    kind = kind_of(instruction)
    tests: dict[str, Callable[[Any], Any]] = {
        "finite": np.isfinite, "infinite": np.isinf, "notanumber": np.isnan,
        "number": lambda x: ~np.isnan(x),
    }  # fmt: skip
    if (test := tests.get(instruction.modifiers[0])) is None:
        raise UnsupportedError(f"{instruction.mnemonic} on numbers")
    write, read = code.writer(instruction.operands[0]), code.reader(instruction.operands[1], kind.bits)
    return lambda state, lanes: write(state, lanes, test(kind.numbers(read(state, lanes))))


def _copysign(code: Code, instruction: InstructionStatement) -> Step:
    return _applied(code, instruction, lambda a, b: np.copysign(b, a), arity=2)


def _decoder(opcode: str) -> Callable[[Code, InstructionStatement], Step]:
    arity, compute = _ARITHMETIC[opcode]
    return partial(_applied, compute=compute, arity=arity)


FLOATING: dict[str, Callable[[Code, InstructionStatement], Step]] = {
    **{opcode: _decoder(opcode) for opcode in _ARITHMETIC},
    "neg": partial(_applied, compute=np.negative, arity=1),
    "abs": partial(_applied, compute=np.abs, arity=1),
    "min": _extremum,
    "max": _extremum,
    "setp": comparison,
    "testp": _testp,
    "copysign": _copysign,
}
"""Decoders of instructions of floats, by opcode."""
