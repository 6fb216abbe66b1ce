"""Reads and writes of memory: contents, undefined bytes, races."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...conditions.feasible_conditions import differ_for_some
from ...findings.finding import Kind
from ...machine.memory import ABSENT, ByteLanes, Offsets
from ...terms.interning import Ids
from ..order.conflicts import Conflicts
from ..order.fetches import Fetcher
from ..order.ordering import NOBODY
from ..registers.threads import Indices
from ..state.execution import Execution
from ..state.loose_races import Bytes, report_races, unknown_words, with_loose_stores
from ..state.state_space import Space
from ..text.product_registers import MULTIPLYING
from .addressing import Addresses, located
from .asynchronous_uses import refuse_reduced, report_asynchronous_reads


def load(
    execution: Execution,
    space: str,
    at: Addresses,
    size: int,
    count: int,
    threads: Indices,
    alignment: int = 0,
    *,
    by_warps: bool = False,
) -> Ids:
    """Return what `count` neighbouring words (n, count) of `size` bytes hold.

    What can't be read is reported, and undefined. Each access must be aligned to all of its bytes, or as
    `alignment` says. What is read `by_warps` is read by all threads of those that name the addresses.
    """
    total = size * count
    words = np.full((len(at), count), ABSENT, dtype=np.int32)
    for part, members, offsets in located(execution, space, at, total, threads, alignment or total):
        if part.name == "param" and len(at) and (offsets == offsets[0]).all():
            each = read(execution, part, offsets[:1], size, count, threads[:1])
            words[members] = each
        else:
            words[members] = read(execution, part, offsets, size, count, threads[members], by_warps=by_warps)
    lost = words == ABSENT
    if lost.any():
        words[lost] = execution.store.undefined(int(lost.sum()), 8 * size)
    return words


def store(
    execution: Execution,
    space: str,
    at: Addresses,
    words: Ids,
    threads: Indices,
    *,
    alignment: int = 0,
    by_warps: bool = False,
) -> None:
    """Write neighbouring words (n, count) of one width; what can't be written is reported and left out.

    What is written `by_warps` is written by all threads of those that name the addresses.
    """
    size = int(execution.store.widths(words[:1, 0])[0]) // 8 if len(words) else 1
    total = size * words.shape[1]
    for part, members, offsets in located(
        execution, space, at, total, threads, alignment or total, stores=True
    ):
        write(execution, part, offsets, words[members], size, threads[members], by_warps=by_warps)


def load_bytes(
    execution: Execution,
    space: str,
    at: Addresses,
    count: int,
    threads: Indices,
    alignment: int,
    fetchers: tuple[Fetcher, ...] = (),
) -> Bytes:
    """Return what `count` neighbouring bytes (n, count) hold, each a term and where in it the byte lies.

    What can't be read is reported, and undefined. Fetchers may read them later.
    """
    terms = np.full((len(at), count), ABSENT, dtype=np.int32)
    lows = np.zeros(terms.shape, dtype=np.uint8)
    for part, members, offsets in located(execution, space, at, count, threads, alignment):
        if part.history is not None and part.read_only_from:
            _note_reading(execution, part, offsets, 0, count, threads[members], fetchers=fetchers)
        places = offsets[:, None] + np.arange(count)
        terms[members], lows[members] = part.lanes.terms[places], part.lanes.lows[places]
        _note_unowned(execution, part, places, threads[members])
        absent = terms[members] == ABSENT
        if absent.any():
            undefined = execution.store.undefined(int(absent.sum()), 8)
            held = terms[members]
            held[absent] = undefined
            terms[members] = held
            _report_absent(execution, part, absent, offsets, count, threads[members], undefined)
        execution.note_loads(part.name, part.lanes, offsets, count)
    lost = terms == ABSENT
    if lost.any():
        terms[lost] = execution.store.undefined(int(lost.sum()), 8)
    return terms, lows


def store_bytes(
    execution: Execution, space: str, at: Addresses, data: Bytes, threads: Indices, alignment: int = 0
) -> None:
    """Write neighbouring bytes, as `load_bytes` returns them; see `store`."""
    terms, lows = data
    total = terms.shape[1]
    for part, members, offsets in located(
        execution, space, at, total, threads, alignment or total, stores=True
    ):
        _write_bytes(execution, part, offsets, (terms[members], lows[members]), threads[members])


def note_reading(execution: Execution, space: str, at: Addresses, size: int, threads: Indices) -> None:
    """Keep that words (n,) of `size` bytes are read by whole warps, too, that threads (n,) stand for."""
    part = execution.memory.space(space)
    inside, offsets = part.locate(at, size, threads)
    _note_reading(execution, part, offsets[inside], size, 1, threads[inside], by_warps=True)


def write(
    execution: Execution,
    part: Space,
    offsets: Offsets,
    words: Ids,
    size: int,
    threads: Indices,
    *,
    atomic: bool = False,
    by_warps: bool = False,
) -> None:
    """Write words (n, count) of `size` bytes to lanes that are there."""
    if not len(words):
        return
    if execution.semaphores is not None and not atomic:
        for index, column in enumerate(words.T):
            execution.note_semaphores(part, offsets + size * index, column, size, threads)
    terms, lows = part.lanes.bytes_of(words.reshape(-1))
    data = terms.reshape(len(words), -1), lows.reshape(len(words), -1)
    _write_bytes(execution, part, offsets, data, threads, words, atomic=atomic, by_warps=by_warps)


def _write_bytes(
    execution: Execution,
    part: Space,
    offsets: Offsets,
    data: Bytes,
    threads: Indices,
    words: Ids | None = None,
    *,
    atomic: bool = False,
    by_warps: bool = False,
) -> None:
    """Write bytes (n, total), of words (n, count) where they are such, to lanes that are there."""
    history, lanes = part.history, part.lanes
    total = data[0].shape[1]
    if words is None and execution.semaphores is not None:
        execution.semaphores.spoil(part, offsets, total, execution.instruction)
    size = 1 if words is None else total // words.shape[1]
    execution.note_store(part, offsets, total, size, threads, atomic=atomic)
    if history is None:
        _put(lanes, offsets, data)
        return
    line = execution.instruction.line
    if execution.on_data(threads):
        history.on_data.add(line)
    grid = history.places(offsets, total)
    places, threads_of = grid.reshape(-1), np.repeat(threads, grid.shape[1])
    report_asynchronous_reads(execution, part, places, threads_of)
    if not atomic:
        refuse_reduced(execution, part, places)
    history.note_sizes(places, 0 if words is None or by_warps else size)
    if atomic:
        found = history.read(execution.ordering, places, threads_of, line, atomic=True)
        history.note_store(execution.ordering, places, threads_of, line)
        if part is execution.memory.shared:
            history.note_atomic_change(places, line)
    else:
        found = history.write(execution.ordering, places, threads_of, line, by_warps=by_warps)
    if len(found) and execution.semaphores is not None:
        ordered = execution.semaphores.puts_in_order(part, places[found.which] * history.granule)
        found = found.some(~ordered | found.reads)
    if len(found) and not atomic:
        changed = np.asarray(_differ(lanes, offsets, data).reshape(len(places), -1).any(axis=1))
        copies = found.copies & execution.instruction.has("bulk_group")  # they write what is there already
        harmless = ~changed[found.which] & (found.idempotent | copies)
        _note_same_values(execution, part, found.some(harmless & ~found.reads), places)
        found = found.some(~harmless)
        found, data = with_loose_stores(
            execution, part, found, places, threads_of, data, 0 if words is None or by_warps else size
        )
        _keep_overwritten(part, found, places)
    report_races(execution, part, found, places, threads_of, "writes")
    _put(lanes, offsets, data)
    if atomic or len(offsets) < 2:
        return
    lost = np.asarray(_differ(lanes, offsets, data).any(axis=1))
    if not lost.any():
        others = np.flatnonzero(history.writer[places] != execution.ordering.names[threads_of])
        _note_same_value(execution, part, places[others[:1]], line)
        return
    _report_lost(execution, part, offsets, data, words, threads, lost, 0 if by_warps else size)


def _report_lost(
    execution: Execution,
    part: Space,
    offsets: Offsets,
    data: Bytes,
    words: Ids | None,
    threads: Indices,
    lost: NDArray[np.bool_],
    size: int,
) -> None:
    """Report stores that others of the same instruction have overwritten, of words of `size` bytes."""
    lanes, history, total = part.lanes, part.history, data[0].shape[1]
    assert history is not None
    what = "different values"
    if words is not None:
        width = total // words.shape[1]
        kept = lanes.read((offsets[lost][:, None] + width * np.arange(words.shape[1])).reshape(-1), width)
        stored = words[lost].reshape(-1)
        if execution.same_numbers(execution.store, kept, stored):
            execution.unordered = True
            return
        if not differ_for_some(execution.store, kept, stored):
            what = "values that are not shown to be the same"
    first = int(np.flatnonzero(lost)[0])
    undefined = None
    if (
        size
        and words is not None
        and execution.semaphores is None
        and history.are_stored_as(history.places(offsets[lost], total), size)
    ):
        execution.note_loose_races(True)
        if execution.drops_races:
            undefined, unknown = unknown_words(execution, part, int(lost.sum()), total, size)
            _put(lanes, offsets[lost], unknown)
    lanes_of = offsets[lost][:, None] + np.arange(total)
    part.note_overwritten(
        lanes_of,
        data[0][lost],
        data[1][lost],
        execution.instruction.line,
        execution.ordering.names[threads[lost]],
    )
    execution.report(
        Kind.RACE if what == "different values" else Kind.UNDECIDED,
        f"two threads write {what} to {part.place(int(offsets[first]))} in one instruction",
        threads[lost],
        undefined=undefined,
    )


def use_atomically(execution: Execution, part: Space, offsets: Offsets, size: int, threads: Indices) -> None:
    """Note that threads use words that only atomic operations may change at the same time."""
    history = part.history
    if history is None or not len(offsets):
        return
    grid = history.places(offsets, size)
    places, threads_of = grid.reshape(-1), np.repeat(threads, grid.shape[1])
    line = execution.instruction.line
    found = history.read(execution.ordering, places, threads_of, line, atomic=True)
    if len(found):
        makers = history.plain_writes(places[found.which])
        made = execution.ordering.sees_barrier_objects(threads_of[found.which], *makers)
        found = found.some(found.reads | found.copies | ~made)
    report_races(execution, part, found, places, threads_of, "uses", of_objects=True)


def _keep_overwritten(part: Space, found: Conflicts, places: Offsets) -> None:
    """Keep what the stores of others put where it is now stored in no order with them."""
    stores = found.some(~found.reads & ~found.copies)
    if part.history is None or not len(stores):
        return
    granule = part.history.granule
    at = places[stores.which][:, None] * granule + np.arange(granule)
    part.note_overwritten(at, part.lanes.terms[at], part.lanes.lows[at], stores.lines, stores.others)


def _note_same_values(execution: Execution, part: Space, found: Conflicts, places: Offsets) -> None:
    """Note that threads write what others wrote, with nothing that orders them."""
    for line in np.unique(found.lines).tolist():
        _note_same_value(execution, part, places[found.which[found.lines == line][:1]], line)


def _note_same_value(execution: Execution, part: Space, places: Offsets, line: int) -> None:
    """Note that threads write what others wrote in a line to the first of some places, if there are any."""
    history = part.history
    if history is None or not len(places) or {line, execution.instruction.line} & history.on_data:
        return
    other = f", one of them in line {line}" if line != execution.instruction.line else ""
    at = part.place(int(places[0]) * history.granule)
    execution.note(f"two threads write the same value to {at}{other}, with no barrier between", line)


def _put(lanes: ByteLanes, offsets: Offsets, data: Bytes) -> None:
    places = offsets[:, None] + np.arange(data[0].shape[1])
    lanes.terms[places], lanes.lows[places] = data


def _differ(lanes: ByteLanes, offsets: Offsets, data: Bytes) -> NDArray[np.bool_]:
    """Tell which bytes (n, total) are not those that the lanes hold."""
    terms, lows = data
    places = offsets[:, None] + np.arange(terms.shape[1])
    return np.asarray((lanes.terms[places] != terms) | (lanes.lows[places] != lows))


def read(
    execution: Execution,
    part: Space,
    offsets: Offsets,
    size: int,
    count: int,
    threads: Indices,
    *,
    atomic: bool = False,
    by_warps: bool = False,
) -> Ids:
    """Return words (n, count) from lanes that are there, with undefined bytes where nobody has written.

    An atomic access is noted when it writes.
    """
    lanes = part.lanes
    spread = (offsets[:, None] + size * np.arange(count)).reshape(-1)
    racing = None
    if part.history is not None and part.read_only_from and not atomic:
        racing = _note_reading(execution, part, offsets, size, count, threads, by_warps=by_warps)
    if part.unowned_reads is not None and not atomic:
        _note_unowned(execution, part, offsets[:, None] + np.arange(size * count), threads)
    there = lanes.written(spread, size)
    if there.all():
        words = lanes.read(spread, size)
    else:
        words, undefined = _partly_written(lanes, spread, size, there)
        held = undefined if part.name != "global" or not atomic else None
        _report_absent(execution, part, ~there.reshape(-1, count), offsets, size * count, threads, held)
    execution.note_loads(part.name, lanes, offsets, size * count)
    words = words.reshape(-1, count)
    if racing is not None:
        words[racing.rows] = racing.words
    return words


def _partly_written(
    lanes: ByteLanes, offsets: Offsets, size: int, there: NDArray[np.bool_]
) -> tuple[Ids, Ids]:
    """Return words (n,) of which some were not written whole, and the undefined terms that are in them."""
    store = lanes.store
    words = np.empty(len(offsets), dtype=np.int32)
    if there.any():
        words[there] = lanes.read(offsets[there], size)
    places = offsets[:, None] + np.arange(size)
    absent = lanes.terms[places] == ABSENT
    none = absent.all(axis=1)
    words[none] = store.undefined(int(none.sum()), 8 * size)
    undefined = [words[none]]
    some = ~there & ~none
    if some.any():
        terms, lows = lanes.terms[places[some]], lanes.lows[places[some]]
        lost = absent[some]
        terms[lost], lows[lost] = store.undefined(int(lost.sum()), 8), 0
        undefined.append(terms[lost])
        words[some] = lanes.joined(terms, lows)
    return words, np.concatenate(undefined)


class _Racing(NamedTuple):
    """Which accesses read what others write, and undefined words in place of what they read."""

    rows: Indices
    words: Ids


def _note_reading(
    execution: Execution,
    part: Space,
    offsets: Offsets,
    size: int,
    count: int,
    threads: Indices,
    *,
    by_warps: bool = False,
    fetchers: tuple[Fetcher, ...] = (),
) -> _Racing | None:
    """Keep who reads, and report races with writers, where somebody may write.

    Words of `size` bytes, or with 0 bytes one by one, are read. Where the execution drops races, those that
    leave some value are held, and what is read so is returned.
    """
    history = part.history
    assert history is not None
    rows = np.arange(len(offsets))
    if part.read_only_from < len(part.lanes):
        rows = np.flatnonzero(offsets < part.read_only_from)
        if not len(rows):
            return None
        offsets, threads = offsets[rows], threads[rows]
    places = history.places(offsets, max(size, 1) * count)
    per_access = places.shape[1]
    threads_of = np.repeat(threads, per_access)
    places = places.reshape(-1)
    refuse_reduced(execution, part, places)
    if execution.on_data(threads):
        history.on_data.add(execution.instruction.line)
    if execution.instruction.has("nc"):
        _report_stale(execution, part, places, threads_of)
    line = execution.instruction.line
    by_products = execution.instruction.opcode == MULTIPLYING
    found = history.read(
        execution.ordering,
        places,
        threads_of,
        line,
        by_warps=by_warps,
        by_products=by_products,
        fetchers=fetchers,
    )
    does = "reads for its whole warp" if by_warps else "reads"
    racing = None
    if len(found) and size:
        loose = history.leave_a_value(places, found, 0 if by_warps else size)
        execution.note_loose_races(bool(loose.any()))
        if execution.drops_races and loose.any():
            which = np.unique(found.which[loose] // per_access)
            undefined = execution.store.undefined(len(which) * count, 8 * size)
            racing = _Racing(rows[which], undefined.reshape(-1, count))
            report_races(execution, part, found.some(loose), places, threads_of, does, undefined)
            found = found.some(~loose)
    report_races(execution, part, found, places, threads_of, does)
    return racing


def _report_stale(execution: Execution, part: Space, places: Offsets, threads: Indices) -> None:
    """Report reads by way of a cache that is not coherent (``.nc``) of what the same kernel has written.

    What is read so may be what was there before, even for who wrote it.
    """
    history = part.history
    assert history is not None
    stale = history.writer[places] != NOBODY
    if not stale.any():
        return
    line = int(history.line[places[stale][0]])
    doubtful = {line, execution.instruction.line} & history.on_data
    execution.report(
        Kind.UNDECIDED if doubtful else Kind.UNDEFINED,
        f"{execution.instruction.mnemonic} reads {part.place(int(places[stale][0]) * history.granule)}, "
        f"which the kernel writes in line {line}: .nc may read the old value",
        threads[stale],
        other_line=line,
    )


def _note_unowned(execution: Execution, part: Space, lanes: Offsets, threads: Indices) -> None:
    """Keep who reads bytes (n, count) that only who writes them may read."""
    if part.unowned_reads is not None:
        instruction = execution.instruction
        readers = execution.ordering.names[threads]
        part.unowned_reads.note(instruction.line, instruction.mnemonic, lanes, readers)


def _report_absent(
    execution: Execution,
    part: Space,
    lost: NDArray[np.bool_],
    offsets: Offsets,
    total: int,
    threads: Indices,
    undefined: Ids | None,
) -> None:
    """Report reads of what nobody has written, if the undefined values that they give are used.

    A software pipeline fetches the fragments of a tile after the last one, as CUTLASS's do, and drops them.
    What atomics change is used.
    """
    who = lost.any(axis=1)
    start = int(offsets[np.flatnonzero(who)[0]])
    absent = start + int(np.argmax(part.lanes.terms[start : start + total] == ABSENT))
    nobodys = part.named_place(absent)
    told = f": {nobodys}" if absent > start or nobodys != part.place(absent) else ""
    execution.report(
        Kind.UNINITIALISED,
        f"{execution.instruction.mnemonic} reads {total} bytes at {part.place(start)}, "
        f"some of them never written{told}",
        threads[who],
        undefined=undefined,
    )
