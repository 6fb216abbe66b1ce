"""``atom.add`` and ``red.add``: sums that threads make in memory, in an order that nobody knows.

The final value of an integer does not depend on the order, a float's does; it is summed in the order of
the threads, and the run is marked as unordered. What ``atom`` returns is undefined, as it depends on who
came first. Source: PTX ISA 9.1 sections 9.7.13.5 and 9.7.13.7.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from ...spec.formats import BF16, F16, F32, F64, FloatFormat
from .. import operations
from ..evaluation import apply
from ..interning import Ids
from ..memory import Offsets
from ..terms import Operation
from .addressing import addresses, located, space_of
from .execution import Decoders, Execution, undecoded
from .memory_access import read, write
from .module import TYPE_BITS, Instruction
from .operands import Operand
from .state_space import Space
from .threads import Indices

_FLOATS = MappingProxyType({fmt.name: fmt for fmt in (F16, BF16, F32, F64)})
_INTEGERS = ("u32", "s32", "u64", "s64")
_PLAIN = ("relaxed", "weak", "cta", "gpu", "sys", "noftz", "global", "shared", "shared::cta", "add")


def _atom(execution: Execution, instruction: Instruction, active: Indices) -> None:
    destination, place, source, *rest = instruction.operands
    width = _sum(execution, instruction, place, source, rest, active)
    if instruction.one_of(_FLOATS) or instruction.one_of(_INTEGERS):
        execution.write_terms(destination, execution.store.undefined(len(active), width), width, active)


def _red(execution: Execution, instruction: Instruction, active: Indices) -> None:
    place, source, *rest = instruction.operands
    _sum(execution, instruction, place, source, rest, active)


def _sum(
    execution: Execution,
    instruction: Instruction,
    place: Operand,
    source: Operand,
    rest: list[Operand],
    active: Indices,
) -> int:
    """Add to memory, and return the width of the numbers."""
    (kind,) = instruction.types or ("",)
    space = space_of(execution, instruction)
    unknown = [each for each in instruction.modifiers if each not in (*_PLAIN, kind)]
    if not instruction.has("add") or rest or unknown or kind not in {*_FLOATS, *_INTEGERS}:
        execution.unsupported(f"{instruction.mnemonic}; of atomics, add of one number is modelled")
    width = TYPE_BITS[kind]
    at = addresses(execution, place, active)
    added = execution.terms(source, width, active)
    execution.unordered |= kind in _FLOATS
    for part, members, offsets in located(execution, space, at, width // 8, active, width // 8, stores=True):
        for some in _rounds(offsets):
            chosen = members[some]
            _add(execution, part, offsets[some], added[chosen], kind, active[chosen])
    return width


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
