"""Fragments: which thread of a warp holds which matrix element, in which bits of which register.

One formula gives every fragment of ``mma`` and ``mma.sp`` except the f16 ``m8n8k4``'s (`quad_pairs`):
a lane holds *runs* of consecutive elements of a row; the four lanes of a quad lie side by side along
the row, the eight quads below each other, then come the second eight rows, then the next columns.
A, the stored half of a sparse A, C and D are held by rows, B by columns. Source: PTX ISA 9.1 sections
9.7.14.5 and 9.7.14.6, the per-shape formulas (which `proofs` compares with this one).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..algebra import Algebra, Array
from ..formats import E2M1, U32, U64, Format
from ..layout import Axis, Layout
from .variant import WARP_LANES

LANE = Axis("lane", WARP_LANES)

QUADS = 8
"""Quads of a warp: lane = 4 * quad + position in the quad."""

QUAD_LANES = WARP_LANES // QUADS
"""Lanes of a quad."""


@dataclass(frozen=True)
class Packing:
    """How elements lie in a thread's registers, the first in the least significant bits.

    Attributes
    ----------
    format : Format
        The elements' encodings.
    container : int
        Bits that one element occupies.
    """

    format: Format
    container: int

    @property
    def word(self) -> Format:
        """Format of a register: b32, for f64 b64."""
        return U64 if self.container > U32.bits else U32

    @property
    def per_register(self) -> int:
        """Elements in one register."""
        return self.word.bits // self.container

    @property
    def low(self) -> int:
        """Lowest bit of an encoding in its container: 2 for e2m1 in 8 bits, else 0."""
        return 2 if self.format == E2M1 and self.container == 8 else 0

    @cached_property
    def positions(self) -> tuple[int, ...]:
        """Lowest bit of each element of a register."""
        return tuple(range(self.low, self.word.bits, self.container))

    @cached_property
    def padding(self) -> int:
        """The bits of a register that no encoding occupies."""
        used = sum(((1 << self.format.bits) - 1) << position for position in self.positions)
        return ~used & ((1 << self.word.bits) - 1)

    def unpack(self, alg: Algebra, registers: Array) -> Array:
        """Split registers (…, r) into encodings (…, per_register * r), those in one position together."""
        return np.concatenate([alg.extract(registers, low, self.format) for low in self.positions], axis=-1)

    def pack(self, alg: Algebra, elements: Array) -> Array:
        """Join encodings (…, n) to registers (…, n / per_register), padding 0."""
        fields = elements.reshape(*elements.shape[:-1], -1, self.per_register)
        return alg.assemble(fields, self.format, self.positions, self.word)


@dataclass(frozen=True)
class Fragment:
    """A matrix in a warp's registers.

    Attributes
    ----------
    layout : Layout
        (lane, element) ↔ coordinates in the matrix: (row, column), or for ``m8n8k4`` on f16
        (computation, row, column).
    packing : Packing
        How a lane's elements lie in its registers, in the order of their numbers.
    """

    layout: Layout
    packing: Packing

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the matrix."""
        return tuple(axis.extent for axis in self.layout.target)

    @property
    def elements(self) -> int:
        """Elements that a lane holds."""
        return self.layout.source[1].extent

    @property
    def registers(self) -> int:
        """Registers that a lane holds them in."""
        return self.elements // self.packing.per_register

    @cached_property
    def _places(self) -> Array:
        """Where every matrix element is among the warp's fields: by position, lane and register."""
        lane, number = self.layout.inverse(*np.indices(self.shape))
        register, position = divmod(number, self.packing.per_register)
        places: Array = (position * WARP_LANES + lane) * self.registers + register
        return places

    @cached_property
    def _held(self) -> tuple[Array, ...]:
        """Matrix coordinates of every (lane, element)."""
        return tuple(map(np.asarray, self.layout.forward(*np.indices((WARP_LANES, self.elements)))))

    def gather(self, alg: Algebra, registers: Array) -> Array:
        """Read registers (…, 32, r) as the matrix (…, *shape) of encodings."""
        fields = self.packing.unpack(alg, registers.reshape(*registers.shape[:-2], -1))
        matrix: Array = fields.take(self._places, axis=-1)
        return matrix

    def scatter(self, alg: Algebra, matrix: Array) -> Array:
        """Write a matrix (…, *shape) of encodings to registers (…, 32, r), the inverse of `gather`."""
        held: tuple[Any, ...] = (..., *self._held)
        return self.packing.pack(alg, matrix[held])


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
