"""Tensor maps in memory: those of parameters, and those that a kernel makes of their fields.

The 128 bytes of a map are opaque. Those of one that ``tensormap.replace`` has changed are terms of which
nothing is known but which map they are, so that they may be moved as other bytes. A map in global memory is
read through a proxy of its own: what ``tensormap.cp_fenceproxy`` has released there is seen behind a
``fence.proxy.tensormap::generic.acquire`` for its bytes. Source: PTX ISA 9.1 sections 5.5, 8.3, 9.7.9
(tensormap.replace) and 9.7.13 (fence.proxy, tensormap.cp_fenceproxy).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError, UnsupportedError
from ....spec.ptx.asynchronous.tensor_map import (
    ELEMENTS,
    FILLS,
    INTERLEAVES,
    MAP_ALIGNMENT,
    MAP_BYTES,
    SWIZZLES,
    TensorMap,
    require_legal,
)
from ....spec.ptx.operands import Address, Integer, Register
from ...findings.finding import Kind
from ..memory.addressing import addresses, in_window
from ..memory.memory_access import load, store
from ..memory.symbolic_accesses import is_of_any_size
from ..registers.threads import Indices
from ..scalar.fences import fence
from ..state.execution import Decoders, Execution, undecoded
from ..state.held import Held
from ..state.state_space import WINDOWS
from ..text.module import InstructionStatement

ZEROS = (
    "fields that are bytes of 0 in a tensor map, as no tensormap.replace has set them, say no interleave, no "
    "swizzle and zeros outside"
)
"""What a verdict rests on where a kernel leaves these fields of a map that it makes of zeros."""

_TYPES = ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f32.ftz", "f64", "bf16", "tf32", "tf32.ftz")
_VALUES: Mapping[str, tuple[object, ...]] = MappingProxyType(
    {
        "elemtype": _TYPES,
        "interleave_layout": INTERLEAVES,
        "swizzle_mode": SWIZZLES,
        "fill_mode": FILLS,
    }
)
"""Fields that take numbers of choices, with these. Source: PTX ISA 9.1, tables of tensormap.replace."""

_SINGLE = MappingProxyType({"global_address": 64, "rank": 32})
_NUMBERED = MappingProxyType({"box_dim": 32, "global_dim": 32, "element_stride": 32, "global_stride": 64})
"""Bits of fields, of which there is one, or one for each dimension."""

Fields = Mapping[tuple[str, int], int]
"""Numbers of a map's fields, by name and dimension."""


@dataclass
class _Published:
    """A map that was released for the tensor map proxy.

    Attributes
    ----------
    line : int
        Of the instruction.
    terms : array (bytes,)
        The map.
    names : frozenset of int
        The threads that released it, by number in the grid.
    name, time : int
        One of them, and the interval in which it did.
    acquired : list of (int, int)
        Threads that acquired it, by number in the grid, and their intervals.
    copies : list of (int, int), optional
        Of copies with it: the agent and the phase of their barrier object; None where one has no such.
    """

    line: int
    terms: NDArray[np.int32]
    names: frozenset[int]
    name: int
    time: int
    acquired: list[tuple[int, int]] = field(default_factory=list)
    copies: list[tuple[int, int] | None] = field(default_factory=list)


@dataclass
class _Objects(Held):
    """Tensor maps that the kernel has made.

    Attributes
    ----------
    made : dict of int to (array, Fields)
        By the first byte's term: the terms of all bytes, and the fields.
    published : dict of int to _Published
        Of maps in global memory, by address.
    """

    KEY = "tensor maps"

    made: dict[int, tuple[NDArray[np.int32], Fields]] = field(default_factory=dict)
    published: dict[int, _Published] = field(default_factory=dict)


def map_at(execution: Execution, at: np.uint64, thread: Indices) -> TensorMap | None:
    """Return the tensor map at a generic address, for a thread (1,); None if it can't be used.

    Raises
    ------
    UnsupportedError
        If it is not known which map lies there.
    """
    where = np.array([at], dtype=np.uint64)
    if in_window(where, "param").all():
        within = where - np.uint64(WINDOWS["param"])
        inside, lanes = execution.memory.parameters.locate(within, 1, thread)
        if inside.all() and int(lanes[0]) in execution.memory.tensor_maps:
            _require_aligned(execution, int(within[0]))
            return execution.memory.tensor_maps[int(lanes[0])]
    published = _Objects.of(execution).published.get(int(at))
    if published is None:
        execution.unsupported(
            f"{execution.instruction.mnemonic} with a tensor map that is neither a parameter of the contract "
            'with type = "tensor_map" nor copied to global memory by tensormap.cp_fenceproxy'
        )
    (terms,) = load(execution, "generic", where, 1, MAP_BYTES, thread, MAP_ALIGNMENT)
    if (terms != published.terms).any():
        execution.unsupported(
            f"{execution.instruction.mnemonic} with a tensor map that was overwritten after line "
            f"{published.line} copied it to global memory"
        )
    _check_acquired(execution, published, int(thread[0]))
    return _tensor_map(execution, _fields(execution, terms), thread)


def _require_aligned(execution: Execution, at: int) -> None:
    """Refuse a map of which the parameters' alignments do not say that it is where the driver has maps."""
    parameters = execution.memory.parameters
    for region, parameter in zip(parameters.regions, execution.function.parameters, strict=True):
        inside = region.address <= at < region.address + region.size
        if inside and (parameter.alignment % MAP_ALIGNMENT or at % MAP_ALIGNMENT):
            execution.unsupported(
                f"{execution.instruction.mnemonic} with a tensor map at byte {at - region.address} of "
                f"{region.name}, which has .align {parameter.alignment}; maps begin at multiples of "
                f"{MAP_ALIGNMENT}"
            )


def _check_acquired(execution: Execution, published: _Published, thread: int) -> None:
    """Report a thread that does not see a map through the tensor map proxy."""
    ordering = execution.ordering
    for name, time in published.acquired:
        other, when = np.array([name], dtype=np.int64), np.array([time], dtype=np.int32)
        if name == int(ordering.names[thread]) or ordering.over(np.array([thread]), other, when).all():
            return
    execution.report(
        Kind.PROXY,
        f"{execution.instruction.mnemonic} reads a tensor map that line {published.line} releases, with no "
        "fence.proxy.tensormap::generic.acquire between",
        np.array([thread]),
        other_line=published.line,
    )


def _fields(execution: Execution, terms: NDArray[np.int32]) -> Fields:
    """Return the fields of a map of which bytes are; none of one that is zeros."""
    objects, memory = _Objects.of(execution), execution.memory
    held, fields = objects.made.get(int(terms[0]), (None, {}))
    if held is not None and (held == terms).all():
        return fields
    if (terms == execution.store.constants(0, 8)).all():
        return {}
    for start, tensor in memory.tensor_maps.items():
        if (memory.parameters.lanes.read(start + np.arange(MAP_BYTES), 1) == terms).all():
            return _fields_of(tensor)
    execution.unsupported(
        f"{execution.instruction.mnemonic} on an unknown tensor map: it is neither a "
        "parameter of the contract, nor zeros, nor made by tensormap.replace"
    )


def _fields_of(tensor: TensorMap) -> Fields:
    """Return the fields of a map."""
    choices = (tensor.element, tensor.interleave, tensor.swizzle, tensor.fill)
    rows: dict[str, tuple[int, ...]] = {
        "global_address": (tensor.address,),
        "rank": (tensor.rank - 1,),
        "box_dim": tensor.box,
        "global_dim": tensor.sizes,
        "global_stride": tensor.strides,
        "element_stride": tensor.steps or (1,) * tensor.rank,
        **{
            name: (values.index(choice),)
            for (name, values), choice in zip(_VALUES.items(), choices, strict=True)
        },
    }
    return {(name, place): number for name, numbers in rows.items() for place, number in enumerate(numbers)}


def _tensor_map(execution: Execution, fields: Fields, thread: Indices) -> TensorMap | None:
    """Return the map that fields make; report those that make none."""

    def numbers(name: str, count: int) -> tuple[int, ...]:
        return tuple(fields[name, place] for place in range(count))

    def choice(name: str) -> object:
        if (name, 0) not in fields:
            execution.assumptions[ZEROS] = None
        return _VALUES[name][fields.get((name, 0), 0)]

    try:
        rank = fields["rank", 0] + 1
        found = TensorMap(
            str(_VALUES["elemtype"][fields["elemtype", 0]]),
            numbers("global_dim", rank),
            numbers("global_stride", rank - 1),
            numbers("box_dim", rank),
            numbers("element_stride", rank),
            int(str(choice("swizzle_mode"))),
            int(str(choice("interleave_layout"))),
            str(choice("fill_mode")),
            fields["global_address", 0],
        )
        return require_legal(found)
    except KeyError as missing:
        name, place = missing.args[0]
        message = f"the tensor map has no {name}" + (f" {place}" if name in _NUMBERED else "")
    except InputError as error:
        message = str(error)
    execution.report(Kind.UNDEFINED, f"{execution.instruction.mnemonic}: {message}", thread)
    return None


# -- instructions
def _refuse(execution: Execution, instruction: InstructionStatement) -> None:
    if is_of_any_size(execution):
        execution.unsupported(f"{instruction.mnemonic} in a proof for every size")
    if execution.path is not None:
        execution.unsupported(f"{instruction.mnemonic} under a data-dependent branch")


def _tensormap(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    _refuse(execution, instruction)
    if instruction.has("cp_fenceproxy"):
        _publish(execution, instruction, active)
    elif instruction.has("replace", "tile"):
        _replace(execution, instruction, active)
    else:
        execution.unsupported(f"{instruction.mnemonic} is not modelled")


def _space(instruction: InstructionStatement) -> str:
    return (
        "shared" if instruction.has("shared::cta") else "global" if instruction.has("global") else "generic"
    )


def _replace(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    """Change one field of a map."""
    name = instruction.one_of((*_VALUES, *_SINGLE, *_NUMBERED))
    if name is None:
        raise UnsupportedError(f"{instruction.mnemonic} is not modelled")
    ordinal, operands = 0, instruction.taking(2, 3)
    if name in _NUMBERED:
        number = operands[1]
        if len(operands) != 3 or not isinstance(number, Integer) or not 0 <= number.value < 5:
            raise InputError(f"{instruction.mnemonic} takes [map], 0 to 4, and a value")
        ordinal = number.value
    value, width = operands[-1], {**_SINGLE, **_NUMBERED}.get(name, 32)
    if name == "global_address" and isinstance(value, Register):
        values = addresses(execution, Address(value), active)
    else:
        values = execution.numbers(value, width, active, f"the {name}")
    if name in _VALUES and (values >= len(_VALUES[name])).any():
        execution.unsupported(f"{instruction.mnemonic} with {int(values.max())}")
    where, space = addresses(execution, operands[0], active), _space(instruction)
    for member in range(len(active)):
        thread, at = active[member : member + 1], where[member : member + 1]
        (terms,) = load(execution, space, at, 1, MAP_BYTES, thread, MAP_ALIGNMENT)
        fields = {**_fields(execution, terms), (name, ordinal): int(values[member])}
        fresh = execution.store.undefined(MAP_BYTES, 8)
        _Objects.of(execution).made[int(fresh[0])] = (fresh, fields)
        store(execution, space, at, fresh[None], thread, alignment=MAP_ALIGNMENT)


def _publish(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    """Copy a map from shared to global memory, and release it for who acquires it there."""
    to, source, size = instruction.taking(3, 3)
    if not isinstance(size, Integer) or size.value != MAP_BYTES:
        raise InputError(f"{instruction.mnemonic} takes {MAP_BYTES} bytes, not {size}")
    objects, ordering = _Objects.of(execution), execution.ordering
    for warp in execution.whole_warps(active):
        targets, sources = addresses(execution, to, warp), addresses(execution, source, warp)
        if len(np.unique(targets)) > 1 or len(np.unique(sources)) > 1:
            message = f"{instruction.mnemonic}: the threads of a warp have different addresses"
            execution.report(Kind.UNDEFINED, message, warp)
            continue
        words = load(execution, "shared", sources, 1, MAP_BYTES, warp, MAP_ALIGNMENT)
        fields = _fields(execution, words[0])
        at = int(targets[0])
        before = objects.published.get(at)
        if before is not None and not all(_is_over(execution, copy, warp) for copy in before.copies):
            execution.unsupported(
                f"{instruction.mnemonic} over a tensor map of line {before.line} that copies may still use"
            )
        if not fields:
            execution.unsupported(f"{instruction.mnemonic} of a tensor map with no fields")
        store(execution, "global", targets[:1], words[:1], warp[:1], alignment=MAP_ALIGNMENT)
        names = ordering.names[warp].tolist()
        time = int(ordering.times(warp[:1])[0])
        objects.published[at] = _Published(instruction.line, words[0], frozenset(names), names[0], time)


def note_copy(execution: Execution, at: np.uint64, phase: tuple[int, int] | None) -> None:
    """Note a copy with the map at an address.

    Parameters
    ----------
    execution : Execution
        What runs.
    at : uint64
        Where the map lies.
    phase : (int, int), optional
        The agent of a barrier object and the phase that is over only when the copy is; None if there is none.
    """
    published = _Objects.of(execution).published.get(int(at))
    if published is not None and phase not in published.copies:
        published.copies.append(phase)


def _is_over(execution: Execution, phase: tuple[int, int] | None, threads: Indices) -> bool:
    """Tell whether all of some threads know a copy to be over."""
    if phase is None:
        return False
    agents, phases = np.full(len(threads), phase[0], dtype=np.int64), np.full(len(threads), phase[1])
    return bool(execution.ordering.over(threads, agents, phases.astype(np.int32)).all())


def _fence(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    """Acquire maps for the tensor map proxy, or run another fence."""
    fence(execution, instruction, active)
    if not (instruction.has("tensormap::generic") and instruction.has("acquire")):
        return
    _refuse(execution, instruction)
    place, size = instruction.taking(2, 2)
    if not isinstance(size, Integer) or size.value != MAP_BYTES:
        raise InputError(f"{instruction.mnemonic} takes {MAP_BYTES} bytes, not {size}")
    published, ordering = _Objects.of(execution).published, execution.ordering
    where = addresses(execution, place, active)
    for thread, at in zip(active.tolist(), where.tolist(), strict=True):
        found = published.get(at)
        if found is None:
            continue
        name = int(ordering.names[thread])
        told = np.array([found.name], dtype=np.int64), np.array([found.time], dtype=np.int32)
        if name in found.names or ordering.over(np.array([thread]), *told).all():
            found.acquired.append((name, int(ordering.times(np.array([thread]))[0])))


HANDLERS: Decoders = MappingProxyType({"tensormap": undecoded(_tensormap), "fence": undecoded(_fence)})
"""The instructions of this module."""

assert set(_TYPES) == set(ELEMENTS)
