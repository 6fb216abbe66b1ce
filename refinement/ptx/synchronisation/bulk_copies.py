"""``cp.async.bulk``: bulk copies between global and shared memory, through the asynchronous proxy.

A copy to shared memory is put in place where it is issued, and its bytes complete on a barrier object: a
thread that looks or writes there races until it knows the phase to be over that they count for. A copy to
global memory reads shared memory until its thread has waited for its group. Source: PTX ISA 9.1 section
9.7.9.25.4 (cp.async.bulk, cp.async.bulk.commit_group, cp.async.bulk.wait_group).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError
from ....spec.ptx.operands import Integer
from ...findings.finding import Kind
from ..memory.addressing import addresses
from ..memory.memory_access import load_bytes, store_bytes
from ..memory.proxy_reads import check_proxy
from ..memory.symbolic_accesses import is_of_any_size
from ..order.fetches import Fetcher
from ..registers.threads import Indices
from ..state.execution import Execution
from ..state.handlers import Modifiers
from ..text.module import InstructionStatement
from ..text.operands import Operand
from .barrier_objects import BarrierObject, BarrierObjects
from .mbarrier import barriers_at
from .tensor_copies import DIMENSIONS, box

UNIT = 16
"""Bytes that addresses and sizes are multiples of."""

_COMPLETION = "mbarrier::complete_tx::bytes"


@dataclass
class _Store:
    """A copy to global memory that is not waited for.

    Attributes
    ----------
    thread : array (1,)
        Who issued it.
    group : int
        How many groups the thread had committed before.
    read, written : array (granules,)
        Where it reads shared memory, and writes global memory.
    line : int
        Where it was issued.
    """

    thread: Indices
    group: int
    read: NDArray[np.int64]
    written: NDArray[np.int64]
    line: int
    is_read: bool = False


@dataclass
class BulkStores:
    """Copies to global memory under way.

    Attributes
    ----------
    committed : dict of int to int
        Groups that each thread has committed.
    pending : list of _Store
        What is not waited for.
    """

    committed: dict[int, int] = field(default_factory=dict)
    pending: list[_Store] = field(default_factory=list)

    @classmethod
    def of(cls, execution: Execution) -> BulkStores:
        """Return those of an execution."""
        found = execution.state.setdefault("bulk stores", cls())
        assert isinstance(found, BulkStores)
        return found

    def commit(self, threads: Indices) -> None:
        """End the group of each of some threads."""
        for thread in threads.tolist():
            self.committed[thread] = self.committed.get(thread, 0) + 1

    def wait(self, execution: Execution, threads: Indices, allowed: int, *, reads: bool) -> None:
        """Make threads wait for all but the last `allowed` groups; with `reads`, only for what they read."""
        waiting, left = set(threads.tolist()), []
        shared, everywhere = execution.memory.shared.history, execution.memory.globals.history
        assert shared is not None
        for each in self.pending:
            thread = int(each.thread[0])
            done = thread in waiting and each.group < self.committed.get(thread, 0) - allowed
            if done and not each.is_read:
                who = np.repeat(each.thread, len(each.read))
                shared.end_reads(execution.ordering, each.read, who, each.line)
                each.is_read = True
            if not done or reads:
                left.append(each)
            elif everywhere is not None and len(each.written):
                who = np.repeat(each.thread, len(each.written))
                everywhere.end_copies(execution.ordering, each.written, who)
        self.pending = left
        if everywhere is not None:
            everywhere.copies = len(left)

    def report_unread(self, execution: Execution) -> None:
        """Report copies that may still read shared memory when the threads that issued them have ended."""
        for each in self.pending:
            if not each.is_read:
                execution.report(
                    Kind.UNDEFINED,
                    f"the thread ends while the bulk copy of line {each.line} may still read shared memory: "
                    "no cp.async.bulk.wait_group covers it",
                    each.thread,
                    other_line=each.line,
                )


def bulk(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    """Carry out an instruction whose mnemonic begins with ``cp.async.bulk``."""
    if is_of_any_size(execution):
        execution.unsupported(f"{instruction.mnemonic} where sizes are not numbers")
    if execution.path is not None:
        execution.unsupported(f"{instruction.mnemonic} where data decide over it")
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
            raise InputError(f"{instruction.mnemonic} takes a number, not {count}")
        BulkStores.of(execution).wait(execution, active, count.value, reads=reads)
    elif modifiers.flag("prefetch"):
        return
    elif modifiers.flag(_COMPLETION):
        (_box_to_shared if modifiers.flag("tensor") else _to_shared)(execution, modifiers, active)
    elif modifiers.flag("bulk_group"):
        (_box_to_global if modifiers.flag("tensor") else _to_global)(execution, modifiers, active)
    else:
        raise modifiers.unsupported("is not modelled")


def _policy(modifiers: Modifiers) -> int:
    """Take the cache hint, and return how many operands it has."""
    return int(modifiers.flag("L2::cache_hint"))


def _sizes(execution: Execution, operand: Operand, active: Indices) -> list[int]:
    """Return the bytes that each thread copies."""
    sizes = execution.numbers(operand, 32, active, "the size").astype(np.int64)
    wrong = (sizes % UNIT != 0) | (sizes == 0)
    if wrong.any():
        name, given = execution.instruction.mnemonic, int(sizes[wrong][0])
        message = f"{name} copies multiples of {UNIT} bytes, not {given}"
        execution.report(Kind.UNDEFINED, message, active[wrong])
    found: list[int] = (sizes // UNIT * UNIT).tolist()
    return found


def _to_shared(execution: Execution, modifiers: Modifiers, active: Indices) -> None:
    """Copy from global to shared memory."""
    modifiers.one_of(("shared::cta", "shared::cluster"))
    modifiers.one_of(("global",))
    hints = _policy(modifiers)
    modifiers.finish()
    to, source, size, place = modifiers.operands(4 + hints)[:4]
    starts, targets = addresses(execution, source, active), addresses(execution, to, active)
    sizes = _sizes(execution, size, active)
    history = execution.memory.shared.history
    assert history is not None
    for barrier, members in barriers_at(execution, "shared", place, active):
        for member in members.tolist():
            thread, count, at = active[member : member + 1], sizes[member], slice(member, member + 1)
            if not count:
                continue
            fetcher = Fetcher(barrier.agent(execution.ordering), barrier.phase)
            data = load_bytes(execution, "global", starts[at], count, thread, UNIT, fetcher)
            _refuse_written(execution, starts[at], count, thread)
            inside, offsets = execution.memory.shared.locate(targets[at], count, thread)
            places = history.places(offsets[inside], count).reshape(-1)
            check_proxy(execution, places, thread.tolist(), "writes")
            store_bytes(execution, "shared", targets[at], data, thread, UNIT)
            _complete(execution, barrier, places, thread, count)


def _complete(
    execution: Execution,
    barrier: BarrierObject,
    places: NDArray[np.int64],
    thread: Indices,
    count: int,
) -> None:
    """Let what was copied to places be there for who knows the phase to be over, and its bytes complete."""
    history = execution.memory.shared.history
    assert history is not None
    history.hand_copies(places, barrier.agent(execution.ordering), barrier.phase)
    history.by_proxy[places] = True
    BarrierObjects.of(execution).ended += barrier.complete_bytes(execution, thread, count)


def _box_to_shared(execution: Execution, modifiers: Modifiers, active: Indices) -> None:
    """Copy boxes of tensors to shared memory."""
    modifiers.one_of(("shared::cta", "shared::cluster"))
    modifiers.one_of(("global",))
    modifiers.flag("tile")
    modifiers.one_of(DIMENSIONS)
    hints = _policy(modifiers)
    modifiers.finish()
    to, source, place = modifiers.operands(3 + hints)[:3]
    targets = addresses(execution, to, active)
    for barrier, members in barriers_at(execution, "shared", place, active):
        for member in members.tolist():
            thread = active[member : member + 1]
            found = box(execution, source, targets[member], thread)
            if found is None:
                continue
            fetcher = Fetcher(barrier.agent(execution.ordering), barrier.phase)
            data = found.load(execution, thread, fetcher)
            some = found.outside[found.inside]
            _refuse_written(execution, some, found.tensor.element_bytes, np.repeat(thread, len(some)))
            places = found.places(execution, thread)
            check_proxy(execution, places, thread.tolist(), "writes")
            found.put(execution, data, thread)
            _complete(execution, barrier, places, thread, found.tensor.box_bytes)


def _box_to_global(execution: Execution, modifiers: Modifiers, active: Indices) -> None:
    """Copy boxes of tensors from shared memory."""
    modifiers.one_of(("global",))
    modifiers.one_of(("shared::cta",))
    modifiers.flag("tile")
    modifiers.one_of(DIMENSIONS)
    hints = _policy(modifiers)
    modifiers.finish()
    to, source = modifiers.operands(2 + hints)[:2]
    starts = addresses(execution, source, active)
    for member in range(len(active)):
        thread = active[member : member + 1]
        found = box(execution, to, starts[member], thread)
        if found is None:
            continue
        read = found.places(execution, thread)
        check_proxy(execution, read, thread.tolist())
        size, who = found.tensor.element_bytes, np.repeat(thread, len(found.shared))
        terms, lows = load_bytes(execution, "shared", found.shared, size, who, 1)
        some = np.flatnonzero(found.inside)
        data = terms[some], lows[some]
        _refuse_written(execution, found.outside[some], size, who[some], "over")
        store_bytes(execution, "global", found.outside[some], data, who[some], 1)
        _begin_store(execution, thread, read, found.outside[some], size)


def _refuse_written(
    execution: Execution, at: NDArray[np.uint64], count: int, thread: Indices, does: str = "of"
) -> None:
    """Refuse to copy what the kernel has written to global memory, or over it, by other instructions.

    Which proxy fences were run for global memory is not kept.
    """
    part = execution.memory.globals
    inside, offsets = part.locate(at, count, thread)
    offsets = offsets[inside & (offsets < part.read_only_from)]
    if part.history is None:
        return
    places = part.history.places(offsets, count)
    if ((part.history.writer[places] >= 0) & ~part.history.by_proxy[places]).any():
        execution.unsupported(f"{execution.instruction.mnemonic} {does} what the kernel has written")


def _to_global(execution: Execution, modifiers: Modifiers, active: Indices) -> None:
    """Copy from shared to global memory."""
    modifiers.one_of(("global",))
    modifiers.one_of(("shared::cta",))
    hints = _policy(modifiers)
    modifiers.finish()
    to, source, size = modifiers.operands(3 + hints)[:3]
    starts, targets = addresses(execution, source, active), addresses(execution, to, active)
    sizes = _sizes(execution, size, active)
    shared = execution.memory.shared
    assert shared.history is not None
    for member, count in enumerate(sizes):
        thread, at = active[member : member + 1], slice(member, member + 1)
        if not count:
            continue
        inside, offsets = shared.locate(starts[at], count, thread)
        read = shared.history.places(offsets[inside], count).reshape(-1)
        check_proxy(execution, read, thread.tolist())
        data = load_bytes(execution, "shared", starts[at], count, thread, UNIT)
        _refuse_written(execution, targets[at], count, thread, "over")
        store_bytes(execution, "global", targets[at], data, thread, UNIT)
        _begin_store(execution, thread, read, targets[at], count)


def _begin_store(
    execution: Execution,
    thread: Indices,
    read: NDArray[np.int64],
    targets: NDArray[np.uint64],
    count: int,
) -> None:
    """Note a copy to global memory: granules read of shared memory, and where `count` bytes each go."""
    shared, everywhere = execution.memory.shared.history, execution.memory.globals
    stores, line = BulkStores.of(execution), execution.instruction.line
    assert shared is not None
    shared.begin_reads(read, line)
    inside, offsets = everywhere.locate(targets, count, np.repeat(thread, len(targets)))
    offsets = offsets[inside & (offsets < everywhere.read_only_from)]
    written = np.zeros(0, dtype=np.int64)
    if everywhere.history is not None:
        written = everywhere.history.places(offsets, count).reshape(-1)
        everywhere.history.begin_copies(written)
        everywhere.history.by_proxy[written] = True
    group = stores.committed.get(int(thread[0]), 0)
    stores.pending.append(_Store(thread, group, read, written, line))
    if everywhere.history is not None:
        everywhere.history.copies = len(stores.pending)
