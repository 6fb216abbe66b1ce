"""Fragments: which thread of a warp or warpgroup holds which matrix element, in which bits of which register.

One formula gives every fragment of ``mma``, ``mma.sp`` and ``wgmma`` except the f16 ``m8n8k4``'s
(`quad_pairs`):
a lane holds *runs* of consecutive elements of a row; the four lanes of a quad lie side by side along
the row, the eight quads below each other, then come the second eight rows, then the next columns.
A, the stored half of a sparse A, C and D are held by rows, B by columns. Warp w of a warpgroup holds rows
16w to
16w + 15 as a warp does its 16. Source: PTX ISA 9.1 sections 9.7.14.5, 9.7.14.6 and
9.7.15, the per-shape formulas (which `proofs` compares with this one).
"""

from __future__ import annotations

from types import MappingProxyType

from ..formats import E2M1, Format
from ..fragment import Packing
from ..layout import Axis, Layout
from ..rearrangement import rearranged
from .variant import WARP_LANES

LANE = Axis("lane", WARP_LANES)

ROWS = 16
"""Rows that a warp of a warpgroup holds."""

QUADS = 8
"""Quads of a warp: lane = 4 * quad + position in the quad."""

QUAD_LANES = WARP_LANES // QUADS
"""Lanes of a quad."""


def threads(warps: int) -> Axis:
    """Return the axis of the lanes of a warp, or of the threads of some."""
    return LANE if warps == 1 else Axis("thread", warps * WARP_LANES)


def packing(fmt: Format, container: int) -> Packing:
    """Return how elements lie in b32 registers, f64 in b64: e2m1 in 8 bits occupies bits 5 to 2."""
    return Packing(fmt, container, low=2 if fmt == E2M1 and container == 8 else 0)


_RUNS = MappingProxyType(
    {
        "row": "warp quad lane count piece half run -> count warp half quad piece lane run",
        "column": "warp quad lane count piece half run -> count piece lane run warp half quad",
    }
)
"""The bits of (lane, i) and where they are in (row, column), by what the lines are."""


def in_runs(
    name: str, lines: int, length: int, run: int, *, by: str = "row", count: Axis | None = None
) -> Layout:
    """Return the uniform layout: lanes hold runs of `run` consecutive elements of a line.

    With g = lane >> 2, t = lane & 3 and i = run·p + j (0 <= j < run), element i of a lane is in line
    ``g + 8·(p mod (lines / 8))``, at place ``run·t + j + 4·run·(p div (lines / 8))`` of it.

    Parameters
    ----------
    name : str
        What is laid out.
    lines, length, run : int
        8 or 16 lines, or 16 for each warp, of ``length`` elements.
    by : str
        Whether the lines are rows (``row``) or columns (``column``) of the matrix.
    count : Axis, optional
        Counts matrices, which follow each other in a lane's elements.
    """
    matrix = Axis("row", lines), Axis("column", length)
    if by == "column":
        matrix = Axis("row", length), Axis("column", lines)
    matrices, warps = count.extent if count else 1, max(1, lines // ROWS)
    return rearranged(
        name,
        (threads(warps), Axis("i", matrices * lines * length // (warps * WARP_LANES))),
        (*([count] if count else []), *matrix),
        _RUNS[by],
        quad=QUADS,
        lane=QUAD_LANES,
        count=matrices,
        piece=length // (QUAD_LANES * run),
        half=lines // (warps * QUADS),
        run=run,
        warp=warps,
    )
