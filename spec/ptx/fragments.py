"""Fragments: which thread of a warp holds which matrix element, in which bits of which register.

One formula gives every fragment of ``mma`` and ``mma.sp`` except the f16 ``m8n8k4``'s (`quad_pairs`):
a lane holds *runs* of consecutive elements of a row; the four lanes of a quad lie side by side along
the row, the eight quads below each other, then come the second eight rows, then the next columns.
A, the stored half of a sparse A, C and D are held by rows, B by columns. Source: PTX ISA 9.1 sections
9.7.14.5 and 9.7.14.6, the per-shape formulas (which `proofs` compares with this one).
"""

from __future__ import annotations

from types import MappingProxyType

from ..formats import E2M1, Format
from ..fragment import Packing
from ..layout import Axis, Layout
from ..rearrangement import rearranged
from .variant import WARP_LANES

LANE = Axis("lane", WARP_LANES)

QUADS = 8
"""Quads of a warp: lane = 4 * quad + position in the quad."""

QUAD_LANES = WARP_LANES // QUADS
"""Lanes of a quad."""


def packing(fmt: Format, container: int) -> Packing:
    """Return how elements lie in b32 registers, f64 in b64: e2m1 in 8 bits occupies bits 5 to 2."""
    return Packing(fmt, container, low=2 if fmt == E2M1 and container == 8 else 0)


_RUNS = MappingProxyType(
    {
        "row": "quad lane count piece half run -> count half quad piece lane run",
        "column": "quad lane count piece half run -> count piece lane run half quad",
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
        Powers of two; 8 or 16 lines, of ``length`` elements.
    by : str
        Whether the lines are rows (``row``) or columns (``column``) of the matrix.
    count : Axis, optional
        Counts matrices, which follow each other in a lane's elements.
    """
    matrix = Axis("row", lines), Axis("column", length)
    if by == "column":
        matrix = Axis("row", length), Axis("column", lines)
    matrices = count.extent if count else 1
    return rearranged(
        name,
        (LANE, Axis("i", matrices * lines * length // WARP_LANES)),
        (*([count] if count else []), *matrix),
        _RUNS[by],
        quad=QUADS,
        lane=QUAD_LANES,
        count=matrices,
        piece=length // (QUAD_LANES * run),
        half=lines // QUADS,
        run=run,
    )
