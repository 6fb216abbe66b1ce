"""Bulk copies to global memory, and bulk reductions there, which threads wait for in groups.

Each reads shared memory, through the asynchronous proxy, until its thread has waited for its group. A
reduction updates elements as atomic operations do. Source: PTX ISA 9.1 sections 9.7.9.25.4 (cp.async.bulk,
cp.async.bulk.commit_group, cp.async.bulk.wait_group) and 9.7.9.25.5 (cp.reduce.async.bulk).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...findings.finding import Kind
from ..memory.addressing import addresses
from ..memory.asynchronous_uses import check_proxy, refuse_written
from ..memory.memory_access import load, load_bytes, store_bytes
from ..order.snapshots import Snapshot
from ..registers.threads import Indices
from ..state.execution import Execution
from ..state.handlers import Modifiers
from ..state.held import Held
from ..text.module import TYPE_BITS
from ..text.operands import Operand
from .atomics import MODELLED, update_words
from .tensor_copies import DIMENSIONS, Box, box
from .tensor_map_objects import note_copy

UNIT = 16
"""Bytes that addresses and sizes are multiples of."""


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
class BulkStores(Held):
    """Copies to global memory under way.

    Attributes
    ----------
    committed : dict of int to int
        Groups that each thread has committed.
    pending : list of _Store
        What is not waited for.
    """

    KEY = "bulk stores"

    committed: dict[int, int] = field(default_factory=dict)
    pending: list[_Store] = field(default_factory=list)

    def record_in(self, snapshot: Snapshot) -> None:
        """See `snapshots`."""
        snapshot.take(len(self.pending))
        for each in self.pending:
            snapshot.take(self.committed.get(int(each.thread[0]), 0) - each.group)
            snapshot.rest(each, "group")

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
            for each in left:
                everywhere.begin_copies(each.written)  # several may copy to one place
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


def policy(modifiers: Modifiers) -> int:
    """Take the cache hint, and return how many operands it has."""
    return int(modifiers.flag("L2::cache_hint"))


def sizes_of(execution: Execution, operand: Operand, active: Indices) -> list[int]:
    """Return the bytes that each thread copies."""
    sizes = execution.numbers(operand, 32, active, "the size").astype(np.int64)
    wrong = (sizes % UNIT != 0) | (sizes == 0)
    if wrong.any():
        name, given = execution.instruction.mnemonic, int(sizes[wrong][0])
        message = f"{name} copies multiples of {UNIT} bytes, not {given}"
        execution.report(Kind.UNDEFINED, message, active[wrong])
    found: list[int] = (sizes // UNIT * UNIT).tolist()
    return found


def box_to_global(execution: Execution, modifiers: Modifiers, active: Indices) -> None:
    """Copy boxes of tensors from shared memory."""
    modifiers.one_of(("global",))
    modifiers.one_of(("shared::cta",))
    modifiers.flag("tile")
    modifiers.one_of(DIMENSIONS)
    hints = policy(modifiers)
    modifiers.finish()
    to, source = modifiers.operands(2 + hints)[:2]
    starts = addresses(execution, source, active)
    before: Box | None = None
    for member in range(len(active)):
        thread = active[member : member + 1]
        found = box(execution, to, starts[member], thread)
        if found is None:
            continue
        note_copy(execution, found.at, None)
        read = found.places(execution, thread)
        check_proxy(execution, read, thread.tolist())
        size, who = found.tensor.element_bytes, np.repeat(thread, len(found.shared))
        data = load_bytes(execution, "shared", found.shared, size, who, 1)
        if before is None or not found.is_same_as(before):  # a warp that elects nobody copies one box often
            found.store(execution, data, thread)
        before = found
        targets = found.outside[found.inside] if found.rows is None else np.zeros(0, dtype=np.uint64)
        _begin_store(execution, thread, read, targets, size)


def to_global(execution: Execution, modifiers: Modifiers, active: Indices) -> None:
    """Copy from shared to global memory."""
    modifiers.one_of(("global",))
    modifiers.one_of(("shared::cta",))
    hints = policy(modifiers)
    modifiers.finish()
    to, source, size = modifiers.operands(3 + hints)[:3]
    starts, targets = addresses(execution, source, active), addresses(execution, to, active)
    sizes = sizes_of(execution, size, active)
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
        refuse_written(execution, targets[at], count, thread, "over")
        store_bytes(execution, "global", targets[at], data, thread, UNIT)
        _begin_store(execution, thread, read, targets[at], count)


# -- reductions
def _kind(execution: Execution, name: str, named: str) -> str:
    """Return the type of a reduction's elements.

    Raises
    ------
    UnsupportedError
        If atomics with them are not modelled.
    """
    kind = f"b{TYPE_BITS[named]}" if name in _BITWISE and named[0] in "us" else named
    if kind not in MODELLED[name]:
        execution.unsupported(f"{execution.instruction.mnemonic}: a reduction by {name} of {named}")
    execution.unordered |= kind in ("f16", "bf16", "f32", "f64")
    return kind


def reduced(execution: Execution, modifiers: Modifiers, active: Indices) -> None:
    """Combine elements of global memory with those in shared memory."""
    modifiers.one_of(("global",))
    modifiers.one_of(("shared::cta",))
    hints = policy(modifiers)
    name = modifiers.one_of(MODELLED)
    kind = _kind(execution, name, modifiers.type(TYPE_BITS))
    modifiers.flag("noftz")
    modifiers.finish()
    to, source, size = modifiers.operands(3 + hints)[:3]
    starts, targets = addresses(execution, source, active), addresses(execution, to, active)
    width = TYPE_BITS[kind] // 8
    for member, count in enumerate(sizes_of(execution, size, active)):
        if (starts[member] | targets[member]) % UNIT:
            message = f"{execution.instruction.mnemonic} at an address that is no multiple of {UNIT}"
            execution.report(Kind.MISALIGNED, message, active[member : member + 1])
        steps = (np.arange(count // width) * width).astype(np.uint64)
        _reduce(
            execution,
            active[member : member + 1],
            starts[member] + steps,
            targets[member] + steps,
            name,
            kind,
        )


def box_reduced(execution: Execution, modifiers: Modifiers, active: Indices) -> None:
    """Combine boxes of tensors with those in shared memory."""
    modifiers.one_of(("global",))
    modifiers.one_of(("shared::cta",))
    modifiers.flag("tile")
    modifiers.one_of(DIMENSIONS)
    name, hints = modifiers.one_of(MODELLED), policy(modifiers)
    modifiers.finish()
    to, source = modifiers.operands(2 + hints)[:2]
    starts = addresses(execution, source, active)
    for member in range(len(active)):
        thread = active[member : member + 1]
        found = box(execution, to, starts[member], thread)
        if found is not None:
            note_copy(execution, found.at, None)
            if found.rows is not None:
                what = execution.instruction.mnemonic
                execution.unsupported(f"{what} to an array whose extents depend on sizes")
            kind = _kind(execution, name, found.tensor.element)
            some = found.inside
            _reduce(execution, thread, found.shared[some], found.outside[some], name, kind)


_BITWISE = ("and", "or", "xor")


def _reduce(
    execution: Execution,
    thread: Indices,
    at: NDArray[np.uint64],
    targets: NDArray[np.uint64],
    name: str,
    kind: str,
) -> None:
    """Combine words at addresses in global memory with those at others (n,) in shared memory."""
    shared, everywhere, width = execution.memory.shared, execution.memory.globals, TYPE_BITS[kind] // 8
    assert shared.history is not None
    who = np.repeat(thread, len(at))
    inside, offsets = shared.locate(at, width, who)
    read = np.unique(shared.history.places(offsets[inside], width).reshape(-1))
    check_proxy(execution, read, thread.tolist())
    words = load(execution, "shared", at, width, 1, who)[:, 0]
    update_words(execution, "global", targets, [words], name, kind, who)
    _begin_reading(execution, thread, read, np.zeros(0, dtype=np.int64))
    if everywhere.history is not None:
        inside, offsets = everywhere.locate(targets, width, who)
        offsets = offsets[inside & (offsets < everywhere.read_only_from)]
        everywhere.note_alignment(offsets, UNIT)
        if everywhere.history.reduced is None:
            everywhere.history.reduced = np.zeros(len(everywhere.history.writer), dtype=bool)
        everywhere.history.reduced[everywhere.history.places(offsets, width).reshape(-1)] = True


def _begin_store(
    execution: Execution,
    thread: Indices,
    read: NDArray[np.int64],
    targets: NDArray[np.uint64],
    count: int,
) -> None:
    """Note a copy to global memory: granules read of shared memory, and where `count` bytes each go."""
    everywhere = execution.memory.globals
    inside, offsets = everywhere.locate(targets, count, np.repeat(thread, len(targets)))
    offsets = offsets[inside & (offsets < everywhere.read_only_from)]
    written = np.zeros(0, dtype=np.int64)
    if everywhere.history is not None:
        written = everywhere.history.places(offsets, count).reshape(-1)
        everywhere.history.begin_copies(written)
        everywhere.history.by_proxy[written] = True
    _begin_reading(execution, thread, read, written)
    if everywhere.history is not None:
        everywhere.history.copies = len(BulkStores.of(execution).pending)


def _begin_reading(
    execution: Execution, thread: Indices, read: NDArray[np.int64], written: NDArray[np.int64]
) -> None:
    """Note what reads granules of shared memory, and writes some of global memory, until a wait covers it."""
    shared, stores, line = (
        execution.memory.shared.history,
        BulkStores.of(execution),
        execution.instruction.line,
    )
    assert shared is not None
    shared.begin_reads(read, line)
    group = stores.committed.get(int(thread[0]), 0)
    stores.pending.append(_Store(thread, group, read, written, line))
