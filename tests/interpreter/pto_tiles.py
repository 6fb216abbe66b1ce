"""Tiles and views of the PTO interpreter: where elements lie, by the formulas of the headers, on bytes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mmaproof.spec.pto.element_types import ElementType
from mmaproof.spec.pto.targets import Profile
from mmaproof.spec.pto.tile import Compact, Location, Order, Tile

Words = NDArray[np.uint64]
"""Encodings of elements."""

STORAGE = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class BrokenError(Exception):
    """A program does what has no meaning: it leaves memory, waits for ever, or is not modelled here."""


def words_of(memory: NDArray[np.uint8], offsets: NDArray[np.int64], size: int) -> Words:
    """Return the words of so many bytes at offsets (…), little-endian."""
    if offsets.size and (offsets.min() < 0 or offsets.max() + size > len(memory)):
        raise BrokenError("outside of memory")
    taken = memory[offsets[..., None] + np.arange(size)]
    return np.ascontiguousarray(taken).view(STORAGE[size])[..., 0].astype(np.uint64)


def put(memory: NDArray[np.uint8], offsets: NDArray[np.int64], words: Words, size: int) -> None:
    """Write words of so many bytes at offsets (…)."""
    if offsets.size and (offsets.min() < 0 or offsets.max() + size > len(memory)):
        raise BrokenError("outside of memory")
    data = np.ascontiguousarray(words.astype(STORAGE[size]))[..., None].view(np.uint8)
    memory[offsets[..., None] + np.arange(size)] = data


@dataclass(eq=False)
class Buffer:
    """A tile: its type, the bytes it lies in, and its valid extent of now."""

    tile: Tile
    memory: list[NDArray[np.uint8]]
    address: int
    valid: tuple[int, int]

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return self.tile.element.storage_bytes

    def snapshot(self) -> Buffer:
        """Return it with the valid extent of now."""
        return replace(self)

    def offsets(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64], *, compact: bool
    ) -> NDArray[np.int64]:
        """Return the numbers of elements (…) in the buffer."""
        tile = self.tile
        box_rows, box_columns = box_of(tile)
        height, width = tile.rows, tile.columns
        if compact:
            height, width = (
                -(-extent // granule) * granule
                for extent, granule in zip(self.valid, (box_rows, box_columns), strict=True)
            )
        outer_row, inner_row = rows // box_rows, rows % box_rows
        outer_column, inner_column = columns // box_columns, columns % box_columns
        block = box_rows * box_columns
        if tile.inner is Order.COL_MAJOR:
            within = inner_column * box_rows + inner_row
        else:
            within = inner_row * box_columns + inner_column
        if tile.blocks is Order.COL_MAJOR:
            return outer_column * height * box_columns + outer_row * block + within
        return outer_row * width * box_rows + outer_column * block + within

    def is_compact(self, profile: Profile) -> bool:
        """Whether movers of a profile take its pitch from its valid extent."""
        if self.tile.compact not in (Compact.NULL, Compact.NORMAL):
            raise BrokenError("a compact mode of vectors")
        return profile.cube and self.tile.compact is Compact.NORMAL

    def read(
        self, profile: Profile, rows: NDArray[np.int64], columns: NDArray[np.int64], *, compact: bool = False
    ) -> Words:
        """Return elements (…)."""
        numbers = self.offsets(rows, columns, compact=compact or self.is_compact(profile))
        self._require(numbers)
        return words_of(self.memory[0], self.address + numbers * self.size, self.size)

    def write(
        self, profile: Profile, rows: NDArray[np.int64], columns: NDArray[np.int64], words: Words
    ) -> None:
        """Write elements (…)."""
        numbers = self.offsets(rows, columns, compact=self.is_compact(profile))
        self._require(numbers)
        put(self.memory[0], self.address + numbers * self.size, words, self.size)

    def _require(self, numbers: NDArray[np.int64]) -> None:
        if numbers.size and numbers.max() >= self.tile.rows * self.tile.columns:
            raise BrokenError("outside of a tile")

    def whole(self) -> Words:
        """Return every element, in the order of the buffer."""
        numbers = np.arange(self.tile.rows * self.tile.columns)
        return words_of(self.memory[0], self.address + numbers * self.size, self.size)

    def overwrite(self, words: Words) -> None:
        """Write every element, in the order of the buffer."""
        numbers = np.arange(self.tile.rows * self.tile.columns)
        put(self.memory[0], self.address + numbers * self.size, words, self.size)


def box_of(tile: Tile) -> tuple[int, int]:
    """Return rows and columns of a block."""
    if tile.inner is Order.NONE_BOX or (tile.rows == 1 and tile.inner is Order.ROW_MAJOR):
        return 1, 1
    across = {1024: 16, 512: 32 // tile.element.storage_bytes, 32: 2}[tile.fractal]
    return (16, across) if tile.inner is Order.ROW_MAJOR else (across, 16)


@dataclass(frozen=True)
class Pointer:
    """An address in an array."""

    array: str
    offset: int
    element: ElementType | None


@dataclass(frozen=True)
class View:
    """A view of an array, or a part of one; `order` where the text says it."""

    pointer: Pointer
    element: ElementType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    order: str | None

    def part(self, offsets: tuple[int, ...], sizes: tuple[int, ...]) -> View:
        """Return a partition."""
        if any(at < 0 or at + size > held for at, size, held in zip(offsets, sizes, self.shape, strict=True)):
            raise BrokenError("a partition outside of its view")
        moved = sum(at * stride for at, stride in zip(offsets, self.strides, strict=True))
        pointer = replace(self.pointer, offset=self.pointer.offset + moved * self.element.storage_bytes)
        return replace(self, pointer=pointer, shape=sizes)

    def offsets(self, tile: Tile, rows: int, columns: int) -> NDArray[np.int64]:
        """Return the bytes (rows, columns) at which the elements for a tile begin."""
        shape = (1,) * (5 - len(self.shape)) + self.shape
        strides = (0,) * (5 - len(self.strides)) + self.strides
        row, column = np.indices((rows, columns))
        order = self.order
        if order is None:
            fractals = len(self.shape) == 5 and shape[3:] == (16, 32 // self.element.storage_bytes)
            by_columns = tile.blocks is Order.COL_MAJOR and tile.inner is Order.NONE_BOX
            order = "NZ" if fractals and tile.inner is Order.ROW_MAJOR else "DN" if by_columns else "ND"
        axes = {"ND": ((3, 2, 1, 0), (4,)), "DN": ((3,), (4, 2, 1, 0)), "NZ": ((3, 2), (4, 1, 0))}[order]
        found = np.zeros((rows, columns), dtype=np.int64)
        for index, dimensions in zip((row, column), axes, strict=True):
            rest = index
            for axis in dimensions:
                found += rest % shape[axis] * strides[axis]
                rest = rest // shape[axis]
            if rest.any():
                raise BrokenError("a tile exceeds its view")
        return self.pointer.offset + found * self.element.storage_bytes


SHARED = (Location.VEC, Location.MAT, Location.LEFT, Location.RIGHT, Location.ACC, Location.BIAS)
