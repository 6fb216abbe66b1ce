"""Deferred races: those that leave one of the stored values count only where it is used."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...findings.finding import Kind
from ...machine.memory import Offsets
from ...terms.interning import Ids
from ..order.conflicts import Conflicts
from ..registers.threads import Indices
from .execution import Execution
from .state_space import Space

Bytes = tuple[Ids, NDArray[np.uint8]]
"""Terms (n, count), and the lowest bit of each byte in its term."""


def with_loose_stores(
    execution: Execution,
    part: Space,
    found: Conflicts,
    places: Offsets,
    threads: Indices,
    data: Bytes,
    size: int,
) -> tuple[Conflicts, Bytes]:
    """Return races of stores of words of `size` bytes, and what is stored, where races are dropped.

    Of two stores of one size one of the values stays (PTX ISA 9.1 section 8.7.1): unknown words stand for it,
    and the race is held until something depends on them.
    """
    assert part.history is not None
    if execution.semaphores is not None:  # what waits depends on each store
        return found, data
    loose = part.history.leave_a_value(places, found, size) & ~(found.copies | found.read_too)
    execution.note_loose_races(bool(loose.any()))
    if not execution.drops_races or not loose.any():
        return found, data
    terms, lows = data[0].copy(), data[1].copy()
    rows = np.unique(found.which[loose] // (len(places) // len(terms)))
    undefined, (terms[rows], lows[rows]) = unknown_words(execution, part, len(rows), terms.shape[1], size)
    report_races(execution, part, found.some(loose), places, threads, "writes", undefined)
    return found.some(~loose), (terms, lows)


def unknown_words(execution: Execution, part: Space, rows: int, total: int, size: int) -> tuple[Ids, Bytes]:
    """Return unknown words for accesses of `total` bytes each, and their bytes."""
    undefined = execution.store.undefined(rows * total // size, 8 * size)
    terms, lows = part.lanes.bytes_of(undefined)
    return undefined, (terms.reshape(rows, total), lows.reshape(rows, total))


_PUBLISHED = (
    " (fence.mbarrier_init makes objects known behind relaxed barriers of the cluster; "
    'mbarrier = "as-assembled" in [kernel] takes them for known without)'
)
"""What a message says of barrier objects of other blocks."""


def report_races(
    execution: Execution,
    part: Space,
    found: Conflicts,
    places: Offsets,
    threads: Indices,
    does: str,
    undefined: Ids | None = None,
    *,
    of_objects: bool = False,
) -> None:
    """Report races, also of uses of barrier objects.

    With `undefined` they are only reported if something comes to depend on what they give.
    """
    if not len(found):
        return
    assert part.history is not None
    copying = found.some(found.copies)
    if len(copying):
        place = part.place(int(places[copying.which[0]]) * part.history.granule)
        execution.report(
            Kind.RACE,
            f"{does} {place}, where the asynchronous copy of line {int(copying.lines[0])} is not waited for",
            threads[copying.which],
            other_line=int(copying.lines[0]),
            undefined=undefined,
        )
    hint = _PUBLISHED * of_objects
    certain = ~np.isin(found.lines, list(part.history.on_data))
    for rest, kind, doubt in (
        (found.some(~found.copies & certain), Kind.RACE, ""),
        (found.some(~found.copies & ~certain), Kind.UNDECIDED, ", if data lead there, which is not known"),
    ):
        if not len(rest):
            continue
        place = part.place(int(places[rest.which[0]]) * part.history.granule)
        other = execution.threads.name_in_grid(int(rest.others[0]))
        of_one_block = bool(execution.ordering.same_block(threads[rest.which[:1]], rest.others[:1])[0])
        of_warp = not rest.reads[0] and part.history.of_warps[places[rest.which[0]]]
        did = f"{'reads' if rest.reads[0] else 'writes'}{' for its whole warp' * bool(of_warp)}"
        did += f" in line {int(rest.lines[0])}{doubt}"
        execution.report(
            kind,
            f"{does} {place}, which {other} {did}, with no barrier between{hint * (not of_one_block)}",
            threads[rest.which],
            other_line=int(rest.lines[0]) if of_one_block else 0,
            cause="" if of_one_block else f"line {int(rest.lines[0])}",
            undefined=undefined,
            with_any_data=not doubt,
        )
