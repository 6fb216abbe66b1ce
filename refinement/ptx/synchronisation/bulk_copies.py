"""``cp.async.bulk`` to shared memory of the own block, or of others of a cluster.

A copy is made through the asynchronous proxy. It is put in place where it is issued, and its bytes complete
on a barrier object: a thread that looks or writes there races until it knows the phase to be over that they
count for. A multicast copy does the same in each block that its mask names. Copies to global memory are in
`bulk_stores`. Source: PTX ISA 9.1 section 9.7.9.25.4 (cp.async.bulk).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError
from ....spec.ptx.operands import Integer
from ...findings.finding import Kind
from ..memory.addressing import addresses
from ..memory.asynchronous_uses import check_proxy, refuse_written
from ..memory.memory_access import load_bytes, store_bytes
from ..order.fetches import Fetcher
from ..registers.threads import Indices
from ..state.execution import Execution
from ..state.handlers import Modifiers
from ..state.loose_races import Bytes
from ..state.remote_accesses import RemoteAccesses
from ..text.module import InstructionStatement
from ..text.operands import Operand
from .barrier_objects import BarrierObject, BarrierObjects
from .bulk_stores import UNIT, BulkStores, box_reduced, box_to_global, policy, reduced, sizes_of, to_global
from .mbarrier import REMOTE, barriers_at_addresses
from .multicast import MULTICAST, in_blocks, ranks_of_mask
from .tensor_copies import DIMENSIONS, box
from .tensor_map_objects import note_copy

_Destination = tuple[NDArray[np.uint64], BarrierObject]
"""Where a copy goes, and the barrier object there that its bytes complete on."""

_COMPLETION = "mbarrier::complete_tx::bytes"
_PAIR = "cta_group::2"
"""The modifier of a copy whose bytes complete on a barrier of either CTA of a pair."""

_SPACES = {"shared::cluster": REMOTE, "shared::cta": "shared"}
"""Where copies go, by how that is written."""


def bulk(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    """Carry out an instruction whose mnemonic begins with ``cp.async.bulk`` or ``cp.reduce.async.bulk``."""
    if execution.path is not None:
        execution.unsupported(f"{instruction.mnemonic} under a data-dependent branch")
    modifiers = Modifiers(instruction)
    for each in ("async", "bulk"):
        if not modifiers.flag(each):
            raise modifiers.unsupported(f"lacks .{each}")
    if modifiers.flag("commit_group"):
        modifiers.finish()
        modifiers.operands(0)
        BulkStores.of(execution).commit(active)
    elif modifiers.flag("wait_group"):
        reads = modifiers.flag("read")
        modifiers.finish()
        (count,) = modifiers.operands(1)
        if not isinstance(count, Integer):
            raise InputError(f"{instruction.mnemonic} takes an integer literal, not {count}")
        BulkStores.of(execution).wait(execution, active, count.value, reads=reads)
    elif not modifiers.flag("prefetch"):
        kind = (
            modifiers.flag("reduce"),
            modifiers.one_of((_COMPLETION, "bulk_group")),
            modifiers.flag("tensor"),
        )
        if kind not in _COPIES:
            raise modifiers.unsupported("only reductions in global memory are modelled")
        _COPIES[kind](execution, modifiers, active)


def _to_shared(execution: Execution, modifiers: Modifiers, active: Indices) -> None:
    """Copy from global to shared memory, or from a block's own to that of another."""
    space = _SPACES[modifiers.one_of(_SPACES)]
    source_space = modifiers.one_of(("global", "shared::cta"))
    masks = int(modifiers.flag(MULTICAST))
    hints = policy(modifiers)
    modifiers.finish()
    to, source, size, place, *mask = modifiers.operands(4 + masks + hints)[: 4 + masks]
    starts, targets = addresses(execution, source, active), addresses(execution, to, active)
    places = addresses(execution, place, active)
    sizes, named = sizes_of(execution, size, active), _masks(execution, mask, active)
    of_own = source_space != "global"
    for member, count in enumerate(sizes):
        thread, at = active[member : member + 1], slice(member, member + 1)
        if not count:
            continue
        destinations = [
            *_destinations(execution, space, targets[at], places[at], named[member], thread, other=of_own)
        ]
        fetchers = _fetchers(execution, destinations)
        if of_own:
            data = _own_bytes(execution, starts[at], count, thread, fetchers)
        else:
            data = load_bytes(execution, "global", starts[at], count, thread, UNIT, fetchers)
            refuse_written(execution, starts[at], count, thread)
        for target, barrier in destinations:
            granules = granules_of_bytes(execution, target, count, thread)
            check_proxy(execution, granules, thread.tolist(), "writes")
            store_bytes(execution, space, target, data, thread, UNIT)
            complete_copy(execution, barrier, granules, thread, count)


def _box_to_shared(execution: Execution, modifiers: Modifiers, active: Indices) -> None:
    """Copy boxes of tensors to shared memory."""
    space = _SPACES[modifiers.one_of(_SPACES)]
    modifiers.one_of(("global",))
    modifiers.flag("tile")
    modifiers.one_of(DIMENSIONS)
    masks = int(modifiers.flag(MULTICAST))
    paired = modifiers.one_of(("cta_group::1", _PAIR), default="") == _PAIR
    hints = policy(modifiers)
    modifiers.finish()
    to, source, place, *mask = modifiers.operands(3 + masks + hints)[: 3 + masks]
    targets, places = addresses(execution, to, active), addresses(execution, place, active)
    named = _masks(execution, mask, active)
    for member in range(len(active)):
        thread, at = active[member : member + 1], slice(member, member + 1)
        found = box(execution, source, targets[member], thread)
        if found is None:
            continue
        destinations = [
            *_destinations(execution, space, targets[at], places[at], named[member], thread, paired=paired)
        ]
        data = found.load(execution, thread, _fetchers(execution, destinations))
        some = found.outside[found.inside]
        refuse_written(execution, some, found.tensor.element_bytes, np.repeat(thread, len(some)))
        for target, barrier in destinations:
            there = replace(found, shared=found.shared + (target - targets[at]))
            granules = there.places(execution, thread)
            check_proxy(execution, granules, thread.tolist(), "writes")
            there.put(execution, data, thread, space)
            note_copy(execution, found.at, (barrier.agent(execution.ordering), barrier.phase))
            complete_copy(execution, barrier, granules, thread, found.tensor.box_bytes)


# -- where a copy goes
def _masks(execution: Execution, mask: list[Operand], active: Indices) -> list[int | None]:
    """Return the multicast mask of each thread, None where there is none."""
    if not mask:
        return [None] * len(active)
    found: list[int | None] = execution.numbers(mask[0], 16, active, "the mask").tolist()
    return found


def _destinations(
    execution: Execution,
    space: str,
    target: NDArray[np.uint64],
    place: NDArray[np.uint64],
    mask: int | None,
    thread: Indices,
    *,
    other: bool = False,
    paired: bool = False,
) -> Iterator[_Destination]:
    """Yield where a thread's copy goes (1,), and the barrier object that its bytes complete on.

    Without a mask the two must be in one block; with `other`, in another one than the thread's. If `paired`
    the barrier may be in the other CTA of the pair of ranks 2i and 2i + 1: with a mask, of each destination's
    pair it is the one with the odd, or even, rank that the address of the barrier has.
    """
    peers = execution.memory.shared.peers
    mnemonic = execution.instruction.mnemonic
    rank, of_barrier = (0, 0) if peers is None else (int(peers.ranks_of(at)[0]) for at in (target, place))
    pairs = [(target, place)]
    if mask is not None:
        ranks = ranks_of_mask(execution, mask, thread)
        told = tuple(each // 2 * 2 + of_barrier % 2 for each in ranks) if paired else ranks
        places = (in_blocks(execution, *each, space) for each in ((target, ranks), (place, told)))
        pairs = [*zip(*places, strict=True)]
    elif rank // (1 + paired) != of_barrier // (1 + paired):
        message = f"{mnemonic} copies to the block of rank {rank}, and names a barrier of rank {of_barrier}"
        execution.report(Kind.UNDEFINED, message, thread)
        return
    own = 0 if peers is None else int(peers.ranks[execution.threads.block[thread[0]]])
    if other and (peers is None or rank == own):
        execution.report(Kind.UNDEFINED, f"{mnemonic} copies within one block", thread)
        return
    for to, of in pairs:
        for barrier, _ in barriers_at_addresses(execution, space, of, thread):
            yield to, barrier


def granules_of_bytes(
    execution: Execution, at: NDArray[np.uint64], count: int, thread: Indices
) -> NDArray[np.int64]:
    """Return the granules of shared memory that `count` bytes at an address (1,) take."""
    part = execution.memory.shared
    assert part.history is not None
    inside, offsets = part.locate(at, count, thread)
    return part.history.places(offsets[inside], count).reshape(-1)


def _fetchers(execution: Execution, destinations: list[_Destination]) -> tuple[Fetcher, ...]:
    """Return who reads what is copied: a copy to each destination, until the phase there is over."""
    return tuple(Fetcher(barrier.agent(execution.ordering), barrier.phase) for _, barrier in destinations)


def _own_bytes(
    execution: Execution, at: NDArray[np.uint64], count: int, thread: Indices, fetchers: tuple[Fetcher, ...]
) -> Bytes:
    """Return bytes of the block's own shared memory, which must not end before they are read."""
    check_proxy(execution, granules_of_bytes(execution, at, count, thread), thread.tolist())
    own = int(execution.threads.block[thread[0]])
    for agent, phase in fetchers:
        RemoteAccesses.of(execution).note_copy(execution, own, agent, phase)
    return load_bytes(execution, "shared", at, count, thread, UNIT, fetchers)


def complete_copy(
    execution: Execution,
    barrier: BarrierObject,
    places: NDArray[np.int64],
    thread: Indices,
    count: int,
) -> None:
    """Let what was copied to places be there for who knows the phase to be over, and its bytes complete."""
    history, agent = execution.memory.shared.history, barrier.agent(execution.ordering)
    assert history is not None
    history.hand_copies(places, agent, barrier.phase)
    history.by_proxy[places] = True
    if len(places):
        block = int(execution.memory.shared.blocks_of(places[:1] * history.granule)[0])
        RemoteAccesses.of(execution).note_copy(execution, block, agent, barrier.phase)
    BarrierObjects.of(execution).ended += barrier.complete_bytes(execution, thread, count)


_COPIES: Mapping[tuple[bool, str, bool], Callable[[Execution, Modifiers, Indices], None]] = MappingProxyType(
    {
        (False, _COMPLETION, False): _to_shared,
        (False, _COMPLETION, True): _box_to_shared,
        (False, "bulk_group", False): to_global,
        (False, "bulk_group", True): box_to_global,
        (True, "bulk_group", False): reduced,
        (True, "bulk_group", True): box_reduced,
    }
)
"""Copies by whether they are reductions, how they complete, and whether they are of tensors."""
