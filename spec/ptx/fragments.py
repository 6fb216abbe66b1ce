"""Fragments: which thread of a warp holds which matrix element, in which bits of which register.

One formula gives every fragment of ``mma`` and ``mma.sp`` except the f16 ``m8n8k4``'s (`quad_pairs`):
a lane holds *runs* of consecutive elements of a row; the four lanes of a quad lie side by side along
the row, the eight quads below each other, then come the second eight rows, then the next columns.
A, the stored half of a sparse A, C and D are held by rows, B by columns. Source: PTX ISA 9.1 sections
9.7.14.5 and 9.7.14.6, the per-shape formulas (which `proofs` compares with this one).
"""

from __future__ import annotations

from typing import Any

from ..formats import E2M1, Format
from ..fragment import Packing
from ..layout import Axis, Layout
from .variant import WARP_LANES

LANE = Axis("lane", WARP_LANES)

QUADS = 8
"""Quads of a warp: lane = 4 * quad + position in the quad."""

QUAD_LANES = WARP_LANES // QUADS
"""Lanes of a quad."""


def packing(fmt: Format, container: int) -> Packing:
    """Return how elements lie in b32 registers, f64 in b64: e2m1 in 8 bits occupies bits 5 to 2."""
    return Packing(fmt, container, low=2 if fmt == E2M1 and container == 8 else 0)


def in_runs(name: str, lines: int, length: int, run: int, *, by: str = "row") -> Layout:
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
    """
    run_bits, half_bits = _log2(run), _log2(lines // QUADS)

    def forward(lane: Any, i: Any) -> tuple[Any, Any]:
        piece = i >> run_bits
        line = (lane >> 2) + ((piece & (lines // QUADS - 1)) << 3)
        place = ((lane & 3) << run_bits) + (i & (run - 1)) + ((piece >> half_bits) << (run_bits + 2))
        return line, place

    def inverse(line: Any, place: Any) -> tuple[Any, Any]:
        lane = ((line & (QUADS - 1)) << 2) + ((place >> run_bits) & 3)
        piece = ((place >> (run_bits + 2)) << half_bits) + (line >> 3)
        return lane, (piece << run_bits) + (place & (run - 1))

    line, place = Axis("row", lines), Axis("column", length)
    formula = _formula(lines, length, run)
    source = (LANE, Axis("i", lines * length // WARP_LANES))
    if by == "row":
        return Layout(name, source, (line, place), forward, inverse, "row = {}; column = {}".format(*formula))
    return Layout(
        name,
        source,
        (Axis("row", length), Axis("column", lines)),
        lambda lane, i: forward(lane, i)[::-1],
        lambda row, column: inverse(column, row),
        "row = {1}; column = {0}".format(*formula),
    )


def _formula(lines: int, length: int, run: int) -> tuple[str, str]:
    """Return line and place as text, without the terms that are always 0."""
    run_bits, half_bits = _log2(run), _log2(lines // QUADS)
    piece = f"(i >> {run_bits})" if run_bits else "i"
    line, place = ["lane >> 2"], [f"{run}·(lane & 3)" if run_bits else "(lane & 3)"]
    if half_bits:
        line = [f"(lane >> 2) + 8·({piece} & 1)"]
    if run_bits:
        place.append(f"(i & {run - 1})")
    if length > 4 * run:
        place.append(f"{4 * run}·(i >> {run_bits + half_bits})" if run_bits + half_bits else f"{4 * run}·i")
    return "".join(line), " + ".join(place)


def _log2(power: int) -> int:
    return power.bit_length() - 1
