"""``cvt`` and ``cvta`` on numbers. Source: PTX ISA 9.1 sections 9.7.9.21 and 9.7.9.20."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....spec.errors import UnsupportedError
from ..text.module import TYPE_BITS, InstructionStatement
from .float_kinds import KINDS, encoded
from .floating import ROUNDINGS, require_nearest
from .integers import number_type
from .memory import CONSTANT, LOCAL, SHARED
from .state import WORDS, Code, State, Step
from .threads import Lanes

_INTEGRAL: dict[str, Callable[[Any], Any]] = {
    "rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil,
}  # fmt: skip

SPACE_WINDOW = 38
"""Bits of a generic address below which the space stands."""

_SPACES = {"shared": SHARED, "local": LOCAL, "param": CONSTANT, "const": CONSTANT}


def conversion(code: Code, instruction: InstructionStatement) -> Step:
    """Decode ``cvt``.

    Raises
    ------
    UnsupportedError
        Of types that are not modelled.
    """
    types = instruction.types
    if len(types) != 2:
        raise UnsupportedError(f"{instruction.mnemonic} on numbers")
    target, source = types
    if len(instruction.operands) == 3 or target.endswith("x2"):  # two numbers into one register
        return _packed(code, instruction, target, source)
    if source not in KINDS and source[0] not in "usb":
        raise UnsupportedError(f"{instruction.mnemonic} on numbers")
    read = code.reader(instruction.operands[1], TYPE_BITS[source])
    if source in KINDS:
        if target in KINDS:
            return _between_floats(code, instruction, target, source)
        return _to_integer(code, instruction, target, source)
    if target in KINDS:
        return _from_integer(code, instruction, target, source)
    write = code.signed_writer(instruction.operands[0], TYPE_BITS[target])
    signed, held = number_type(source), number_type(target)
    limits = np.iinfo(held) if instruction.has("sat") else None

    def step(state: State, lanes: Lanes) -> None:
        numbers = np.atleast_1d(read(state, lanes)).view(signed)
        if limits is not None:
            numbers = np.clip(
                numbers, max(limits.min, np.iinfo(signed).min), min(limits.max, np.iinfo(signed).max)
            )
        write(state, lanes, numbers.astype(held))

    if held.kind == "u":
        plain = code.writer(instruction.operands[0])

        def unsigned_step(state: State, lanes: Lanes) -> None:
            numbers = np.atleast_1d(read(state, lanes)).view(signed)
            if limits is not None:
                numbers = np.clip(numbers, 0, min(limits.max, np.iinfo(signed).max))
            plain(state, lanes, numbers.astype(held))

        return unsigned_step
    return step


def _between_floats(code: Code, instruction: InstructionStatement, target: str, source: str) -> Step:
    read = code.reader(instruction.operands[1], TYPE_BITS[source])
    write = code.writer(instruction.operands[0])
    into, of = KINDS[target], KINDS[source]
    require_nearest(instruction, into)
    mode = instruction.one_of(ROUNDINGS) or ""
    integral = _INTEGRAL.get(instruction.one_of(_INTEGRAL) or "")
    saturated, rectified = instruction.has("sat"), instruction.has("relu")
    cut = target == "tf32"

    def step(state: State, lanes: Lanes) -> None:
        numbers = np.asarray(of.numbers(read(state, lanes)))
        if integral is not None:
            numbers = integral(numbers)
        if saturated:
            numbers = np.where(np.isnan(numbers), 0, np.clip(numbers, 0, 1)).astype(numbers.dtype)
        if rectified:
            numbers = np.where(numbers < 0, np.zeros_like(numbers), numbers)
        if cut:
            numbers = _cut(numbers.astype(np.float32), mode)
        write(state, lanes, encoded(state, numbers.astype(np.float64), into, mode))

    return step


def _cut(numbers: Any, mode: str) -> Any:
    """Return f32 numbers rounded to the ten bits of tf32: ties away from zero, to even, or toward zero."""
    words = numbers.view(np.uint32)
    ties = {"rz": np.uint32(0), "rn": np.uint32(0xFFF) + (words >> np.uint32(13) & np.uint32(1))}
    return (words + ties.get(mode, np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)


def _packed(code: Code, instruction: InstructionStatement, target: str, source: str) -> Step:
    """Decode ``cvt.rn.f16x2.f32 d, a, b``: a is the upper half."""
    kind = KINDS.get(target)
    if (
        kind is None
        or kind.lanes != 2
        or source != "f32"
        or instruction.has("rs")
        or instruction.has("satfinite")
    ):
        raise UnsupportedError(f"{instruction.mnemonic} on numbers")
    write = code.writer(instruction.operands[0])
    high, low = (code.reader(operand, 32) for operand in instruction.operands[1:3])
    rectified, mode = instruction.has("relu"), instruction.one_of(ROUNDINGS) or ""

    def step(state: State, lanes: Lanes) -> None:
        parts = [np.atleast_1d(read(state, lanes)).view(np.float32) for read in (low, high)]
        numbers = np.stack(np.broadcast_arrays(*parts), axis=-1)
        if rectified:
            numbers = np.where(numbers < 0, np.zeros_like(numbers), numbers)
        write(state, lanes, encoded(state, numbers.astype(np.float64), kind, mode))

    return step


def _to_integer(code: Code, instruction: InstructionStatement, target: str, source: str) -> Step:
    of, held = KINDS[source], number_type(target)
    read = code.reader(instruction.operands[1], TYPE_BITS[source])
    write = (code.signed_writer if held.kind == "i" else lambda o, _: code.writer(o))(
        instruction.operands[0], TYPE_BITS[target]
    )
    integral = _INTEGRAL[instruction.one_of(_INTEGRAL) or "rzi"]
    least, most = float(np.iinfo(held).min), float(np.iinfo(held).max)
    of_nan = np.array(1 << 63 if held.itemsize == 8 else 0, np.uint64).view(np.int64).astype(held)

    def step(state: State, lanes: Lanes) -> None:
        numbers = integral(np.asarray(of.numbers(read(state, lanes)), dtype=np.float64))
        unordered = np.isnan(numbers)
        numbers = np.where(unordered, 0, numbers)
        inside = np.clip(numbers, least, most)
        found = np.where(inside >= most, 0, inside).astype(held)
        found = np.where(inside >= most, np.iinfo(held).max, found).astype(held)
        write(state, lanes, np.where(unordered, of_nan, found))

    return step


def _from_integer(code: Code, instruction: InstructionStatement, target: str, source: str) -> Step:
    into, signed = KINDS[target], number_type(source)
    require_nearest(instruction, into)
    read, write = (
        code.reader(instruction.operands[1], TYPE_BITS[source]),
        code.writer(instruction.operands[0]),
    )
    mode = instruction.one_of(ROUNDINGS) or ""

    def step(state: State, lanes: Lanes) -> None:
        numbers = np.atleast_1d(read(state, lanes)).view(signed).astype(np.float64)
        write(state, lanes, encoded(state, numbers.astype(np.float64), into, mode))

    return step


def generic(code: Code, instruction: InstructionStatement) -> Step:
    """Decode ``cvta``: generic addresses of other spaces have the space above their offset."""
    bits = TYPE_BITS[instruction.types[-1]]
    write, read = code.writer(instruction.operands[0]), code.reader(instruction.operands[1], bits)
    space = next(
        (
            modifier.partition("::")[0]
            for modifier in instruction.modifiers
            if modifier.partition("::")[0] in _SPACES
        ),
        "",
    )
    base = WORDS[bits](_SPACES[space] << SPACE_WINDOW if space else 0)
    if instruction.has("to"):
        return lambda state, lanes: write(state, lanes, read(state, lanes) - base)
    return lambda state, lanes: write(state, lanes, read(state, lanes) + base)
