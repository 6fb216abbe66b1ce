"""Uses of memory by asynchronous copies, products and reductions under way.

Between what was written through the generic proxy and an access through the asynchronous one a fence is
needed. That goes for what is written over, too: without a proxy fence on the path, writes through two proxies
are in no causality order. Source: PTX ISA 9.1 sections 8.3 (proxies), 8.9.5 (proxy-preserved base causality
order) and 9.7.13.4 (fence.proxy.async).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...findings.finding import Kind
from ...machine.memory import Offsets
from ..registers.threads import Indices
from ..state.execution import Execution
from ..state.state_space import Space


def report_asynchronous_reads(execution: Execution, part: Space, places: Offsets, threads: Indices) -> None:
    """Report writes to what products and copies under way may still read."""
    assert part.history is not None
    lines = part.history.read_asynchronously(execution.ordering, places, threads)
    if not lines.any():
        return
    first = int(np.flatnonzero(lines)[0])
    execution.report(
        Kind.RACE,
        f"{execution.instruction.mnemonic} writes {part.place(int(places[first]) * part.history.granule)}, "
        f"which line {int(lines[first])} may still read asynchronously: no wait covers it",
        threads[lines > 0],
        other_line=int(lines[first]),
    )


def refuse_reduced(execution: Execution, part: Space, places: Offsets) -> None:
    """Refuse reads and writes of what bulk reductions change: when they are done is not kept."""
    assert part.history is not None
    reduced = part.history.reduced
    if reduced is not None and reduced[places].any():
        execution.unsupported(f"{execution.instruction.mnemonic} of memory that a bulk reduction changes")


OVERWRITTEN_ADDRESS = (
    "where tcgen05.alloc has written an address, a later asynchronous copy may write with no "
    "fence.proxy.async between, as Triton's kernels do"
)
"""What is taken for granted of kernels that do; PTX asks for the fence."""


def check_proxy(
    execution: Execution, places: NDArray[np.int64], threads: list[int], does: str = "reads"
) -> None:
    """Report granules of shared memory that were written, in order before, with no proxy fence between.

    Parameters
    ----------
    execution : Execution
        What runs.
    places : array (n,)
        What each of the threads accesses.
    threads : list of int
        Who does; the first that does not see what was written is told.
    does : str
        What they do.
    """
    part, ordering = execution.memory.shared, execution.ordering
    history = part.history
    assert history is not None
    writers, times = history.plain_writes(places)
    generic = (writers >= 0) & ~history.by_proxy[places]
    for thread in threads:
        unseen = generic & ~ordering.proxied(thread, writers, times)
        some = writers[unseen], times[unseen]
        unseen[unseen] = ordering.over(np.full(len(some[0]), thread), *some) | (
            some[0] == ordering.names[thread]
        )
        if does == "writes" and unseen.any():
            unseen &= ~_hold_addresses(execution, history.line[places], unseen)
        if unseen.any():
            place = int(places[unseen][0])
            line = int(history.line[place])
            execution.report(
                Kind.PROXY,
                f"{execution.instruction.mnemonic} {does} {part.place(place * history.granule)} through the "
                f"asynchronous proxy, which line {line} writes with no fence.proxy.async between",
                np.array([thread]),
                other_line=line,
            )
            return


def note_addresses(execution: Execution) -> None:
    """Note that the instruction that runs writes an address of tensor memory to shared memory."""
    _lines_of_addresses(execution).add(execution.instruction.line)


def _lines_of_addresses(execution: Execution) -> set[int]:
    found = execution.state.setdefault("lines that write addresses of tensor memory", set())
    assert isinstance(found, set)
    return found


def _hold_addresses(
    execution: Execution, lines: NDArray[np.int32], unseen: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Tell what was last written by allocations of tensor memory; that it may be written over is assumed."""
    held = np.isin(lines, list(_lines_of_addresses(execution)))
    if (held & unseen).any():
        execution.assumptions[OVERWRITTEN_ADDRESS] = None
    return held


def refuse_written(
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
