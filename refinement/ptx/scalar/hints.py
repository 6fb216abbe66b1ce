"""Instructions that change no value a kernel may rely on: cache hints, fences, sleeps, markers.

What ``createpolicy`` gives only other hints take, and what ``discard`` leaves in memory is indeterminate;
both are undefined. Source: PTX ISA 9.1 sections 9.7.9.15 to 9.7.9.18 and 9.7.20.
"""

from __future__ import annotations

from types import MappingProxyType

from ....spec.errors import InputError
from ....spec.ptx.open_results import CACHE_POLICY, DISCARDED
from ....spec.ptx.operands import Integer
from ...findings.finding import Kind
from ..memory.addressing import addresses, space_of
from ..memory.memory_access import store
from ..registers.threads import Indices
from ..state.execution import Decoders, Execution, undecoded
from ..text.module import InstructionStatement
from .fences import fence

_LINE = 128
"""Bytes of a line of the cache, all that ``discard`` takes."""


def _nothing(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    """Do nothing."""


def _griddepcontrol(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    """Do nothing: arrays hold what a contract says when the kernel begins."""
    if instruction.has("wait"):
        execution.assumptions["grids that this grid depends on have ended when it begins"] = None


def _createpolicy(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    destination = instruction.taking(1, 5)[0]
    execution.write_terms(destination, execution.store.undefined(len(active), 64, CACHE_POLICY), 64, active)


def _discard(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    place, size = instruction.taking(2, 2)
    if not isinstance(size, Integer) or size.value != _LINE:
        raise InputError(f"{instruction.mnemonic} takes {_LINE} bytes, not {size}")
    space = space_of(execution, instruction)
    lost = execution.store.undefined(len(active) * _LINE, 8, DISCARDED).reshape(len(active), _LINE)
    store(execution, space, addresses(execution, place, active), lost, active)


def _trap(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    execution.report(Kind.UNDEFINED, "trap aborts the kernel", active)


WITHOUT_EFFECT: Decoders = MappingProxyType(
    {
        **{
            opcode: undecoded(_nothing)
            for opcode in (
                "applypriority",
                "brkpt",
                "membar",
                "nanosleep",
                "pmevent",
                "prefetch",
                "prefetchu",
            )
        },
        "fence": undecoded(fence),
        "griddepcontrol": undecoded(_griddepcontrol),
    }
)
"""The instructions that do nothing to values."""

HANDLERS: Decoders = MappingProxyType(
    {
        **{opcode: decoder for opcode, decoder in WITHOUT_EFFECT.items() if opcode != "fence"},
        "createpolicy": undecoded(_createpolicy),
        "discard": undecoded(_discard),
        "trap": undecoded(_trap),
    }
)
"""The instructions of this module; for fences of tensor maps see `tensor_map_objects`."""
