"""``atom.add`` and ``red.add``: sums that threads make in memory, in an order that nobody knows.

The final value of an integer does not depend on the order, a float's does; it is summed in the order of
the threads, and the run is marked as unordered. What ``atom`` returns is undefined, as it depends on who
came first. That ``.acquire`` and ``.release`` put other accesses in order is not modelled: without it
there are more races, never fewer. Source: PTX ISA 9.1 sections 9.7.13.5 and 9.7.13.7.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from ...spec.errors import InputError
from ...spec.formats import BF16, F16, F32, F64, FloatFormat
from ...spec.ptx.operands import Sink, Vector
from .. import bit_slices, operations
from ..evaluation import apply
from ..interning import Ids
from ..memory import Offsets
from ..terms import Operation
from .addressing import addresses, located, space_of
from .execution import Decoders, Execution, undecoded
from .memory_access import read, write
from .module import TYPE_BITS, InstructionStatement
from .operands import Operand
from .state_space import Space
from .threads import Indices

_FLOATS = MappingProxyType({fmt.name: fmt for fmt in (F16, BF16, F32, F64)})
_INTEGERS = ("u32", "s32", "u64", "s64")
_PACKED = MappingProxyType({"f16x2": "f16", "bf16x2": "bf16"})
_LANES = MappingProxyType({"v2": 2, "v4": 4, "v8": 8})
_ORDERS = ("relaxed", "acquire", "release", "acq_rel")
_NARROW_SCOPES = ("cta", "cluster")
_SCOPES = (*_NARROW_SCOPES, "gpu", "sys")
_TAKEN = frozenset(
    {
        *_FLOATS,
        *_INTEGERS,
        *_PACKED,
        *_LANES,
        *_ORDERS,
        *_SCOPES,
        "add",
        "noftz",
        "global",
        "shared",
        "shared::cta",
    }
)


def _atom(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    destination, *given = instruction.taking(3, 5)
    width, lanes = _sum(execution, instruction, given, active)
    for element in () if isinstance(destination, Sink) else _elements(destination, lanes):
        execution.write_terms(element, execution.store.undefined(len(active), width), width, active)


def _red(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    _sum(execution, instruction, list(instruction.taking(2, 4)), active)


def _elements(operand: Operand, lanes: int) -> tuple[Operand, ...]:
    elements = operand.elements if isinstance(operand, Vector) else (operand,)
    if len(elements) != lanes:
        raise InputError(f"{operand} must have {lanes} elements")
    return elements


def _sum(
    execution: Execution, instruction: InstructionStatement, given: list[Operand], active: Indices
) -> tuple[int, int]:
    """Add to memory, and return the width and number of the registers added."""
    place, source, *rest = given
    (named,) = instruction.types or ("",)
    kind = _PACKED.get(named, named)
    unknown = not _TAKEN.issuperset(instruction.modifiers)
    if not instruction.has("add") or rest or unknown or kind not in {*_FLOATS, *_INTEGERS}:
        execution.unsupported(f"{instruction.mnemonic}; of atomics, add of numbers of one type is modelled")
    width, bits = TYPE_BITS[named], TYPE_BITS[kind]
    vector = instruction.one_of(_LANES)
    lanes = 1 if vector is None else _LANES[vector]
    space = space_of(execution, instruction, ordering=True)
    at = addresses(execution, place, active)
    registers = [execution.terms(element, width, active) for element in _elements(source, lanes)]
    added = [
        bit_slices.extract(execution.store, terms, low, bits)
        for terms in registers
        for low in range(0, width, bits)
    ]
    execution.unordered |= kind in _FLOATS
    total = lanes * width // 8
    for part, members, offsets in located(execution, space, at, total, active, total, stores=True):
        _check_scope(execution, instruction, part)
        for some in _rounds(offsets):
            chosen = members[some]
            for index, terms in enumerate(added):
                _add(execution, part, offsets[some] + index * bits // 8, terms[chosen], kind, active[chosen])
    return width, lanes


def _check_scope(execution: Execution, instruction: InstructionStatement, part: Space) -> None:
    """Refuse sums that are atomic only within a block where other blocks may take part."""
    narrow = instruction.one_of(_NARROW_SCOPES)
    if narrow is not None and part.name == "global" and execution.threads.launch.blocks > 1:
        execution.unsupported(f"{instruction.mnemonic}: .{narrow} in global memory, for more than one block")


def _rounds(offsets: Offsets) -> list[Indices]:
    """Return indices of the accesses in groups, none of which has one place twice, in order."""
    order = np.argsort(offsets, kind="stable")
    ordered = offsets[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    lengths = np.diff(np.concatenate([first, [len(ordered)]]))
    rank = np.arange(len(ordered)) - np.repeat(first, lengths)
    return [np.sort(order[rank == each]) for each in range(int(rank.max(initial=-1)) + 1)]


def _add(
    execution: Execution, part: Space, offsets: Offsets, added: Ids, kind: str, threads: Indices
) -> None:
    size = TYPE_BITS[kind] // 8
    before = read(execution, part, offsets, size, 1, threads, atomic=True)[:, 0]
    lost = before < 0
    if lost.any():
        before = before.copy()
        before[lost] = execution.store.undefined(int(lost.sum()), 8 * size)
    after = apply(execution.store, _operation(kind, part), before, added)
    write(execution, part, offsets, after[:, None], size, threads, atomic=True)


def _operation(kind: str, part: Space) -> Operation:
    fmt = _FLOATS.get(kind)
    if fmt is None:
        return operations.ring(TYPE_BITS[kind], 0, 2)
    assert isinstance(fmt, FloatFormat)
    return operations.fused(fmt, addends=(fmt, fmt), flush=kind == "f32" and part.name == "global")


HANDLERS: Decoders = MappingProxyType({"atom": undecoded(_atom), "red": undecoded(_red)})
"""The instructions of this module."""
