"""Uses of memory by asynchronous copies, products and reductions under way."""

from __future__ import annotations

import numpy as np

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
        execution.unsupported(f"{execution.instruction.mnemonic} of what a bulk reduction changes")
