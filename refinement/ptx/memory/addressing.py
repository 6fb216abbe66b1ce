"""Effective addresses: state space, bytes, bounds and alignment of an access.

Source: PTX ISA 9.1 sections 5.1 (state spaces) and 6.4 (addresses).
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError
from ....spec.ptx.operands import Address, Integer
from ...findings.finding import Kind
from ...machine.memory import Offsets
from ...terms.evaluation import ones
from ..registers.threads import Indices
from ..state.execution import Execution
from ..state.remote_accesses import RemoteAccesses
from ..state.state_space import WINDOW_SIZE, WINDOWS, Space
from ..text.module import TYPE_BITS, InstructionStatement
from ..text.operands import Operand

Addresses = NDArray[np.uint64]

_SPACES = MappingProxyType(
    {
        **{name: name for name in ("global", "shared", "local", "const", "param")},
        **{"shared::cta": "shared", "shared::cluster": "shared::cluster", "param::entry": "param"},
    }
)
_ORDERS = ("acquire", "release", "acq_rel", "sc")
_BY_PROXY = ("clusterlaunchcontrol", "cp")
"""Opcodes that write through the asynchronous proxy."""

NARROW_SCOPES = ("cta", "cluster")
"""Scopes of which other blocks, or at least other clusters, are not."""

_REMOTE = ("param::func",)
_STRONG = ("relaxed", "volatile", "mmio")
"""Loads that may be made again and again, until another thread has written."""

GENERIC = "generic"


def space_of(execution: Execution, instruction: InstructionStatement, *, ordering: bool = False) -> str:
    """Return the state space that an instruction names, `GENERIC` if none.

    Parameters
    ----------
    execution : Execution
        What runs.
    instruction : InstructionStatement
        An access to memory.
    ordering : bool
        Whether it may be said to put other accesses in order.

    Raises
    ------
    UnsupportedError
        If it puts accesses in order and may not, or names a space that is not modelled.
    """
    refused = instruction.one_of(_REMOTE if ordering else (*_ORDERS, *_REMOTE))
    if refused is not None:
        execution.unsupported(f"{instruction.opcode} with .{refused}")
    named = instruction.one_of(_SPACES)
    return GENERIC if named is None else _SPACES[named]


def addresses(execution: Execution, operand: Operand, active: Indices) -> Addresses:
    """Return the addresses (n active,) of a memory operand.

    Raises
    ------
    UnsupportedError
        If they depend on data.
    """
    if not isinstance(operand, Address):
        raise InputError(f"{execution.instruction.mnemonic} takes an [address], not {operand}")
    base = operand.base
    if isinstance(base, Integer):
        return np.full(len(active), base.value + operand.offset, dtype=np.uint64)
    width = 64 if base.type is None else TYPE_BITS.get(base.type, 64)
    found = execution.numbers(base, width, active, "the address")
    return (found + np.uint64(operand.offset & 0xFFFFFFFFFFFFFFFF)) & ones(width)


def located(
    execution: Execution,
    space: str,
    at: Addresses,
    total: int,
    threads: Indices,
    alignment: int,
    *,
    stores: bool = False,
    of_barriers: bool = False,
) -> Iterator[tuple[Space, Indices, Offsets]]:
    """Yield where accesses of `total` bytes are that can be done: space, which accesses, their lanes.

    Only those `of_barriers` may be where barrier objects are.

    Raises
    ------
    InputError
        If they need dynamic shared memory, and nobody said how much there is.
    """
    misaligned = at % np.uint64(alignment) != 0 if alignment > 1 else np.zeros(0, dtype=bool)
    if misaligned.any():
        address = int(at[misaligned][0])
        execution.report(
            Kind.MISALIGNED,
            f"{execution.instruction.mnemonic} at address {address:#x}, which is no multiple of {alignment}",
            threads[misaligned],
        )
    for part, members in _parts(execution, space, at):
        local = at[members] - np.uint64(part.window if space == GENERIC else 0)
        inside, offsets = part.locate(local, total, threads[members])
        if not inside.all():
            outside = threads[members[~inside]]
            address = int(local[~inside][0])
            if (variable := execution.memory.undeclared(part, address)) is not None:
                raise InputError(
                    f"{execution.instruction.mnemonic} uses dynamic shared memory ({variable}), but the "
                    "contract does not say how much there is: dynamic_shared in [launch]",
                    execution.module.where(execution.instruction),
                )
            execution.report(
                Kind.OUT_OF_BOUNDS,
                f"{execution.instruction.mnemonic} of {total} bytes at {part.spelled(address)}",
                outside,
                cause="bounds",
            )
        if stores:
            refused = inside & (offsets >= part.read_only_from)
            if refused.any():
                execution.report(
                    Kind.OUT_OF_BOUNDS,
                    f"{execution.instruction.mnemonic} writes {part.place(int(offsets[refused][0]))}, "
                    "which is read-only",
                    threads[members[refused]],
                )
                inside = inside & ~refused
        if part.peers is not None:
            inside = _within_cluster(execution, part, space, offsets, inside, threads[members], stores=stores)
        if part.barriers is not None and not of_barriers:
            _keep_off_barriers(
                execution, part, offsets[inside], total, threads[members[inside]], stores=stores
            )
        if part.name == "global":
            part.note_alignment(offsets[inside], alignment)
        if inside.all():
            yield part, members, offsets
        elif inside.any():
            yield part, members[inside], offsets[inside]


def _within_cluster(
    execution: Execution,
    part: Space,
    space: str,
    offsets: Offsets,
    inside: NDArray[np.bool_],
    threads: Indices,
    *,
    stores: bool,
) -> NDArray[np.bool_]:
    """Note accesses (n,) to shared memory of other blocks, and return which can be done."""
    blocks = part.blocks_of(offsets)
    remote = np.asarray(inside & (blocks != execution.threads.block[threads]))
    if not remote.any():
        return inside
    if space == "shared":
        execution.report(
            Kind.OUT_OF_BOUNDS,
            f"{execution.instruction.mnemonic} of {part.place(int(offsets[remote][0]))} of another block of "
            "the cluster, which only .shared::cluster reaches",
            threads[remote],
        )
        return np.asarray(inside & ~remote)
    opcode = execution.instruction.opcode
    if opcode == "ld" and execution.instruction.one_of(_STRONG) is not None:
        execution.unsupported(f"{execution.instruction.mnemonic} of shared memory of another block")
    RemoteAccesses.of(execution).note(
        execution, blocks[remote], threads[remote], stores=stores and opcode not in _BY_PROXY
    )
    return inside


def _keep_off_barriers(
    execution: Execution, part: Space, offsets: Offsets, total: int, threads: Indices, *, stores: bool
) -> None:
    """Report accesses to barrier objects by other instructions than those of barriers."""
    assert part.barriers is not None
    instruction = execution.instruction
    touched = part.barriers[offsets[:, None] + np.arange(total)].any(axis=1)
    if not touched.any():
        return
    place = part.place(int(offsets[touched][0]))
    if not stores:
        execution.unsupported(f"{instruction.mnemonic} of {place}, which holds an opaque barrier object")
    execution.report(
        Kind.UNDEFINED,
        f"{instruction.mnemonic} writes {place}, which holds a barrier object; no mbarrier.inval ended it",
        threads[touched],
    )


def _parts(execution: Execution, space: str, at: Addresses) -> Iterator[tuple[Space, Indices]]:
    """Yield the spaces that addresses are in, and which are."""
    everything = np.arange(len(at))
    if space != GENERIC:
        yield execution.memory.space(space), everything
        return
    left = np.ones(len(at), dtype=bool)
    for name in ("shared", "local", "param"):
        within = in_window(at, name)
        if within.any():
            yield execution.memory.space(name), np.flatnonzero(within)
            left &= ~within
    if left.all():
        yield execution.memory.space("global"), everything
    elif left.any():
        yield execution.memory.space("global"), np.flatnonzero(left)


def in_window(at: Addresses, name: str) -> NDArray[np.bool_]:
    """Tell which generic addresses lie in the window of a state space."""
    start = np.uint64(WINDOWS[name])
    return np.asarray((at >= start) & (at - start < np.uint64(WINDOW_SIZE)))
