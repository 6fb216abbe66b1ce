"""Sparse A of ``mma.sp``: which columns are stored, as metadata says, and which lane holds the metadata.

A row of A is cut into chunks; of each, half of the columns are stored. A nibble of metadata describes
a chunk: its two 2-bit indices name the two quarters of the chunk that are stored, a quarter being half
an element (tf32, 1:2), one element (2:4) or a pair (4:8 pairwise). The stored half is a matrix M x K/2,
laid out as `fragments.in_runs` says. Which bits of a register are the metadata of the shapes of half a K is
the open point ``half-k-metadata``; `Sparsity.layout` has its default reading.
Warp w of a warpgroup holds the metadata of its 16 rows.
Source: PTX ISA 9.1 sections 9.7.14.6.1, 9.7.14.6.2 and 9.7.15.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Algebra, Array
from ..errors import InputError
from ..formats import U4, U32, IntegerFormat
from ..fragment import Fragment, Packing, Selection
from ..layout import Axis, Layout
from ..numpy_algebra import NumpyAlgebra
from ..rearrangement import rearranged
from .fragments import QUAD_LANES, QUADS, ROWS, threads
from .variant import Shape

INDEX = IntegerFormat("metadata index", 2, signed=False)
"""Format of the number of a quarter of a chunk."""

QUARTERS = 4

_NIBBLES = Packing(U4, U4.bits)


class MetadataSlot(NamedTuple):
    """Where a nibble of metadata is: a lane, and which nibble of its register, 0 in bits 3 to 0."""

    lane: Any
    nibble: Any


@dataclass(frozen=True)
class Sparsity:
    """How A is sparse.

    Attributes
    ----------
    shape : Shape
        The instruction's logical shape.
    container : int
        Bits that an element of A occupies in a register.
    chunk : int
        Logical columns that one nibble describes: 2, 4 or 8.
    ordered : bool
        Whether the indices of a nibble must increase (else they must only differ).
    """

    shape: Shape
    container: int
    chunk: int
    ordered: bool

    @property
    def chunks(self) -> int:
        """Chunks of a row."""
        return self.shape.k // self.chunk

    @property
    def kept(self) -> int:
        """Stored columns of a chunk."""
        return self.chunk // 2

    # -- where the metadata is
    @property
    def run(self) -> int:
        """Chunks that a quad stores of a row of A with one register of each lane."""
        return QUAD_LANES * U32.bits // (self.kept * self.container)

    @property
    def threads(self) -> int:
        """Lanes of a quad that hold the metadata of its two rows."""
        return ROWS // QUADS * self.chunks // _NIBBLES.per_register

    @property
    def is_of_half_k(self) -> bool:
        """Whether there is a shape of twice the K, which the bits of the metadata are taken from."""
        return self.chunks == self.run

    @property
    def selectors(self) -> int:
        """The sparsity selector is less than this: it names one of the groups of `threads` in a quad."""
        return QUAD_LANES // self.threads

    def slot(self, row: Any, chunk: Any, selector: Any) -> MetadataSlot:
        """Return where the nibble of a chunk is.

        A selector picks the lanes `threads` further for each, whether or not they are of the quad.
        """
        lane, nibble = self.layout.inverse(0, row, chunk)
        return MetadataSlot(lane + selector * self.threads, nibble)

    @cached_property
    def layout(self) -> Layout:
        """(lane or thread, nibble of its register) ↔ (selector that picks it, row, chunk).

        A run of a row g < 8 is followed by the same run of row g + 8, then come the next runs; this
        fills the nibbles of the selected lanes of quad g.
        """
        return rearranged(
            f"{self.shape} metadata of {self.container}-bit elements",
            (threads(self.shape.m // ROWS), Axis("nibble", _NIBBLES.per_register)),
            (Axis("selector", self.selectors), Axis("row", self.shape.m), Axis("chunk", self.chunks)),
            "warp quad selector piece half run -> selector warp half quad piece run",
            warp=self.shape.m // ROWS,
            quad=QUADS,
            selector=self.selectors,
            piece=self.chunks // self.run,
            half=ROWS // QUADS,
            run=self.run,
        )

    def held(self, selector: int) -> Selection:
        """Return where the nibbles (M, chunks) are that a selector picks of the lanes' registers.

        Raises
        ------
        InputError
            If the selector is not legal.
        """
        self.require_selector(selector)
        return Selection(Fragment(self.layout, _NIBBLES), (selector,))

    def require_selector(self, selector: int) -> None:
        """Refuse a sparsity selector that names no lanes of a quad.

        Raises
        ------
        InputError
            If it is out of range.
        """
        if not 0 <= selector < self.selectors:
            allowed = ", ".join(map(str, range(self.selectors)))
            raise InputError(f"sparsity selector {selector} of {self.shape}: allowed is {allowed}")

    # -- what the metadata says
    @cached_property
    def legal_nibbles(self) -> tuple[int, ...]:
        """The values that a nibble may have."""
        return tuple(filter(self._is_legal, range(1 << U4.bits)))

    def _is_legal(self, nibble: int) -> bool:
        first, second = nibble & 3, nibble >> 2
        if self.kept == 1:  # both halves of one element
            return first % 2 == 0 and second == first + 1
        return first < second if self.ordered else first != second

    def allows(self, alg: Algebra, nibbles: Array) -> Array:
        """Tell which nibbles are legal."""
        legal = alg.same(nibbles, alg.constant(self.legal_nibbles[0], U4))
        for value in self.legal_nibbles[1:]:
            legal = legal | alg.same(nibbles, alg.constant(value, U4))
        return legal

    def require_valid(self, nibbles: Array) -> None:
        """Refuse metadata (…, M, chunks) whose meaning is undefined.

        Raises
        ------
        InputError
            If a nibble is not one of `legal_nibbles`.
        """
        illegal = np.argwhere(~self.allows(NumpyAlgebra(), nibbles))
        if illegal.size:
            *_, row, chunk = first = tuple(map(int, illegal[0]))
            allowed = ", ".join(f"{nibble:04b}" for nibble in self.legal_nibbles)
            raise InputError(
                f"metadata {int(nibbles[first]):04b} of row {row}, chunk {chunk} is undefined "
                f"for {self.shape}; allowed are {allowed}"
            )

    def _half(self, slot: int) -> int:
        """Return which index of a nibble places a stored column of a chunk: 0 or 1."""
        return 2 * slot // self.kept

    def _offset(self, slot: int, index: Any) -> Any:
        """Return the column within the chunk at which a stored column is."""
        return ((index << _log2(self.chunk)) >> 2) + slot % max(1, self.chunk // QUARTERS)

    def column(self, stored: int, nibble: Any) -> Any:
        """Return the logical column of a stored column, from its chunk's nibble."""
        chunk, slot = divmod(stored, self.kept)
        index = (nibble >> (INDEX.bits * self._half(slot))) & (QUARTERS - 1)
        return chunk * self.chunk + self._offset(slot, index)

    def select(self, alg: Algebra, b: Array, metadata: Array) -> Array:
        """Return the element of B that meets each stored element of A.

        Parameters
        ----------
        b : array (…, K, N)
            The second factor.
        metadata : array (…, M, chunks)
            Nibbles.

        Returns
        -------
        array (…, M, K / 2, N)
            ``b[column of stored element (m, s), n]``; nothing depends on the other elements of B.
        """
        rows = b.reshape(*b.shape[:-2], 1, self.chunks, self.chunk, b.shape[-1])
        indices = [alg.extract(metadata, INDEX.bits * half, INDEX)[..., None] for half in (0, 1)]
        met = []
        for slot in range(self.kept):
            index = indices[self._half(slot)]
            chosen = rows[..., self._offset(slot, 0), :]
            for quarter in range(1, QUARTERS):
                named = alg.same(index, alg.constant(quarter, INDEX))
                chosen = alg.where(named, rows[..., self._offset(slot, quarter), :], chosen)
            met.append(chosen)
        columns = np.stack(met, axis=-2)
        return columns.reshape(*columns.shape[:-3], self.chunks * self.kept, b.shape[-1])

    def expand(self, alg: Algebra, stored: Array, metadata: Array, zero: Array) -> Array:
        """Return the logical A (…, M, K).

        Parameters
        ----------
        stored : array (…, M, K / 2)
            What is stored of it.
        metadata : array (…, M, chunks)
            Nibbles.
        zero : array ()
            The element in every place that is not stored.
        """
        slots = stored.reshape(*stored.shape[:-1], self.chunks, self.kept)
        indices = [alg.extract(metadata, INDEX.bits * half, INDEX) for half in (0, 1)]
        columns = [np.broadcast_to(zero, metadata.shape)] * self.chunk
        for slot in range(self.kept):
            for quarter in range(QUARTERS):
                named = alg.same(indices[self._half(slot)], alg.constant(quarter, INDEX))
                place = self._offset(slot, quarter)
                columns[place] = alg.where(named, slots[..., slot], columns[place])
        chunks = np.stack(columns, axis=-1)
        return chunks.reshape(*chunks.shape[:-2], self.shape.k)


def _log2(power: int) -> int:
    return power.bit_length() - 1
