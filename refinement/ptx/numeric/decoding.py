"""Decoders of all instructions that run on numbers, by opcode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....spec.errors import UnsupportedError
from ..text.module import InstructionStatement
from . import accesses, atomics, conversions, integers, warps
from .floating import FLOATING
from .state import Code, State, Step
from .threads import Lanes

Decoder = Callable[[Code, InstructionStatement], Step]


def _nothing(_: Code, __: InstructionStatement) -> Step:
    """Decode what orders a warp or memory, which threads that go on together find in order."""
    return lambda state, lanes: None


def _trap(_: Code, instruction: InstructionStatement) -> Step:
    def step(state: State, lanes: Lanes) -> None:
        raise UnsupportedError(f"{instruction.mnemonic} is reached")

    return step


def _of_numbers(code: Code, instruction: InstructionStatement) -> Step:
    """Decode an instruction that is of integers or of floats."""
    kinds = [type_ for type_ in instruction.types if type_ != "pred"]
    decode = FLOATING.get(instruction.opcode) if kinds and "f" in kinds[0] else None
    if decode is not None:
        return decode(code, instruction)
    if instruction.opcode == "setp":
        return integers.comparison(code, instruction)
    return integers.integer(code, instruction)


_OTHERS: dict[str, Decoder] = {
    "mov": integers.move, "selp": integers.select, "cvt": conversions.conversion,
    "cvta": conversions.generic, "ld": accesses.load, "ldu": accesses.load, "st": accesses.store,
    "cp": accesses.copy, "atom": atomics.atomic, "red": atomics.atomic, "shfl": warps.shuffle,
    "vote": warps.vote, "activemask": warps.active_mask, "elect": warps.elect, "redux": warps.reduced,
    "mma": warps.product, "ldmatrix": warps.load_matrices, "stmatrix": warps.store_matrices,
    "movmatrix": warps.transpose,
    "membar": _nothing, "fence": _nothing, "prefetch": _nothing, "prefetchu": _nothing,
    "nanosleep": _nothing, "discard": _nothing, "applypriority": _nothing, "trap": _trap, "brkpt": _trap,
    "bar": _nothing, "barrier": _nothing,
}  # fmt: skip

_REFUSED = (
    "call",
    "brx",
    "tex",
    "wgmma",
    "tcgen05",
    "mbarrier",
    "wmma",
    "griddepcontrol",
    "clusterlaunchcontrol",
)


def decoded(code: Code, instruction: InstructionStatement) -> Step:
    """Decode an instruction that neither branches nor waits.

    Raises
    ------
    UnsupportedError
        If it is not modelled on numbers; with its line.
    """
    try:
        if instruction.opcode in _REFUSED:
            raise UnsupportedError(f"{instruction.mnemonic} on numbers")
        return _OTHERS.get(instruction.opcode, _of_numbers)(code, instruction)
    except UnsupportedError as reason:
        where = instruction.source or f"line {instruction.line} of the PTX"
        raise UnsupportedError(f"{where}: {reason}") from None
    except (KeyError, ValueError, AttributeError, IndexError) as reason:
        where = instruction.source or f"line {instruction.line} of the PTX"
        raise UnsupportedError(f"{where}: {instruction.text} on numbers ({reason!r})") from None


def guarded(step: Step, truth: Any, *, negated: bool) -> Step:
    """Return a step of those threads alone of which a predicate holds."""

    def act(state: State, lanes: Lanes) -> None:
        chosen = truth(state, lanes)
        if negated:
            chosen = ~chosen
        if chosen.all():
            step(state, lanes)
        elif chosen.any():
            step(state, state.indices(lanes)[chosen])

    return act
