"""A kernel's arguments at one set of sizes: scalars, arrays, addresses in arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import InputError
from ...spec.formats import Bits, Format, IntegerFormat
from ...spec.ptx.asynchronous.tensor_map import TensorMap
from ..formula.index_arithmetic import Expression
from .footprint import FAR, Footprint
from .parameters import Access, ArrayParameter, BufferParameter, Covers, Gaps, Parameter, PointerParameter

Extents = tuple[int, ...]

MOST_ELEMENTS = 2**31 - 1
"""Of an array: linear indices are numbers of 31 bits."""

HELD_ELEMENTS = 1 << 26
"""Of all arrays together: each is a term or more."""

MOST_BYTES = 1 << 44
"""From the first to the last of an array, by far more than any memory has."""

FARTHEST = 1 << 31
"""Bytes from the beginning of an array that an address in it may be, at most."""

MOST_PIECES = 1 << 16
"""Of an array: runs of elements that lie far apart."""


@dataclass(frozen=True)
class Scalar:
    """A parameter passed by value, at one set of sizes.

    Attributes
    ----------
    name, format
        As in `ScalarParameter`.
    value : int, optional
        Its encoding; None for any value at all.
    of_launch : bool
        Whether it is the number of the block instead.
    """

    name: str
    format: Format
    value: int | None
    of_launch: bool = False

    @property
    def integer(self) -> int | None:
        """The integer it is, where it is a known integer."""
        if self.value is None or not isinstance(self.format, IntegerFormat):
            return None
        negative = self.format.signed and self.value > self.format.maximum
        return self.value - (1 << self.format.bits) if negative else self.value


@dataclass(frozen=True)
class Array:
    """An array in global memory, at one set of sizes.

    Attributes
    ----------
    name, format, access, alignment, element_bits, low_bit, gaps, covers
        As in `ArrayParameter`.
    shape, strides : tuple of int
        Extents, and distances of neighbours in elements.
    contents : array (elements,), optional
        Encodings by linear index where they are given.
    within : str, optional
        The buffer that it lies in, if it has none of its own.
    at : int
        How many bytes behind the beginning of that buffer.
    variable : str, optional
        As in `ArrayParameter`.
    """

    name: str
    format: Format
    access: Access
    shape: Extents
    strides: Extents
    alignment: int
    element_bits: int
    low_bit: int
    contents: Bits | None
    gaps: Gaps = Gaps.KEPT
    within: str | None = None
    at: int = 0
    covers: Covers = Covers.WHOLE
    variable: str | None = None

    @property
    def is_given(self) -> bool:
        """Whether it holds something before the kernel that may be read."""
        return self.access in (Access.IN, Access.INOUT) or self.contents is not None

    @property
    def elements(self) -> int:
        """How many elements it has."""
        return prod(self.shape)

    @property
    def size(self) -> int:
        """Bytes from its address to the end of its last element."""
        if not self.elements:
            return 0
        last = sum((extent - 1) * stride for extent, stride in zip(self.shape, self.strides, strict=True))
        return -(-(last + 1) * self.element_bits // 8)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The distance (shape) of each element from the first, in elements."""
        axes = np.indices(self.shape, sparse=True)
        zero = np.zeros(self.shape, dtype=np.int64)
        return sum((axis * stride for axis, stride in zip(axes, self.strides, strict=True)), start=zero)

    @cached_property
    def footprint(self) -> Footprint:
        """The bytes that it lies in."""
        if self.is_contiguous:
            return Footprint.whole(self.size)
        bits = max(8, self.element_bits)
        return Footprint.around(self.places.reshape(-1) * self.element_bits // 8, bits // 8)

    @property
    def is_contiguous(self) -> bool:
        """Whether its elements' memory has no gaps."""
        return self.size == -(-self.elements * self.element_bits // 8)

    @property
    def is_packed(self) -> bool:
        """Whether its elements' memory has no gaps, and ends with a byte."""
        return 8 * self.size == self.elements * self.element_bits

    @property
    def is_zero_padded(self) -> bool:
        """Whether its elements take a byte only because bytes are the least that has an address."""
        return self.format.bits == 6 and self.element_bits == 8 and self.low_bit == 0

    @cached_property
    def occupied(self) -> NDArray[np.int64]:
        """The bytes (n,) that elements take, from the array's address, in increasing order."""
        first = self.places.reshape(-1) * self.element_bits // 8
        count = max(1, self.element_bits // 8)
        return np.unique(first[:, None] + np.arange(count))

    @property
    def bit_offsets(self) -> NDArray[np.int64]:
        """The bit (shape) at which the encoding of each element begins, from the array's address."""
        return self.places * self.element_bits + self.low_bit


@dataclass(frozen=True)
class SharedBuffer:
    """A buffer that holds several arrays, at one set of sizes.

    Attributes
    ----------
    name, alignment
        As in `BufferParameter`.
    size : int
        Bytes.
    arrays : tuple of Array
        What lies in it, each in bytes of its own.
    """

    name: str
    size: int
    alignment: int
    arrays: tuple[Array, ...]

    @property
    def is_written(self) -> bool:
        """Whether the kernel may write some of it."""
        return any(array.access.is_written for array in self.arrays)


@dataclass(frozen=True)
class Pointers:
    """Addresses in arrays, at one set of sizes.

    Attributes
    ----------
    name, in_memory, alignment
        As in `PointerParameter`.
    targets : tuple of (str, int)
        Arrays, and bytes from their beginnings.
    tensor : TensorMap, optional
        Of a tensor map, what it says.
    """

    name: str
    targets: tuple[tuple[str, int], ...]
    in_memory: bool
    alignment: int
    tensor: TensorMap | None = None


def pointers_of(parameter: PointerParameter, sizes: Mapping[str, int]) -> Pointers:
    """Return addresses at one set of sizes."""
    targets = tuple((name, offset.value(sizes, -FARTHEST, FARTHEST)) for name, offset in parameter.targets)
    return Pointers(parameter.name, targets, parameter.in_memory, parameter.alignment)


def argument_of(parameter: Parameter, sizes: Mapping[str, int]) -> Scalar | Array:
    """Return a parameter at one set of sizes.

    Raises
    ------
    InputError
        If an extent, a stride or a value is not possible at these sizes.
    """
    fmt = parameter.format
    if isinstance(parameter, ArrayParameter):
        return _array(parameter, sizes)
    value = parameter.value
    if isinstance(value, Expression):
        assert isinstance(fmt, IntegerFormat)
        value = value.value(sizes, fmt.minimum, fmt.maximum) & ((1 << fmt.bits) - 1)
    return Scalar(parameter.name, fmt, value, parameter.of_launch)


def _array(parameter: ArrayParameter, sizes: Mapping[str, int]) -> Array:
    fewest = (
        1 if parameter.access.is_written else 0
    )  # of what is read, there may be nothing: a product of no depth
    shape = tuple(extent.value(sizes, fewest, MOST_ELEMENTS) for extent in parameter.shape)
    elements = prod(shape)
    for most in (MOST_ELEMENTS, HELD_ELEMENTS):
        if elements > most:
            raise InputError(f"{parameter.name} has {elements} elements; at most {most}", parameter.where)
    if isinstance(parameter.strides, str):
        strides = _dense(shape, column_major=parameter.strides == "column-major")
    else:
        strides = tuple(stride.value(sizes, 0, 2**40) for stride in parameter.strides)
    span = (
        sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)) if elements else 0
    )
    if span * parameter.element_bits > 8 * MOST_BYTES:
        raise InputError(
            f"{parameter.name} spans {span + 1} elements of {parameter.element_bits} bits; at most "
            f"{MOST_BYTES} bytes",
            parameter.where,
        )
    contents = None if parameter.contents is None else np.resize(parameter.contents, elements)
    array = Array(
        parameter.name,
        parameter.format,
        parameter.access,
        shape,
        strides,
        parameter.alignment,
        parameter.element_bits,
        parameter.low_bit,
        contents,
        parameter.gaps,
        parameter.within,
        0 if parameter.at is None else parameter.at.value(sizes, 0, MOST_BYTES),
        parameter.covers,
        parameter.variable,
    )
    if not _are_distinct(array):
        raise InputError(
            f"elements of {array.name} share memory: shape {list(shape)}, strides {list(strides)}",
            parameter.where,
        )
    pieces = len(array.footprint.offsets)
    if pieces > MOST_PIECES:
        raise InputError(
            f"{array.name} lies in {pieces} pieces with {FAR} bytes or more between them; at most "
            f"{MOST_PIECES}",
            parameter.where,
        )
    return array


def _dense(shape: Extents, *, column_major: bool) -> Extents:
    if column_major:
        return tuple(prod(shape[:axis]) for axis in range(len(shape)))
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _are_distinct(array: Array) -> bool:
    """Tell whether no two elements are at one place."""
    axes = sorted(
        (stride, extent) for extent, stride in zip(array.shape, array.strides, strict=True) if extent > 1
    )
    reach = 0
    for stride, extent in axes:
        if stride <= reach:
            break
        reach += (extent - 1) * stride
    else:
        return True
    return len(np.unique(array.places)) == array.elements


def buffer_of(
    parameter: BufferParameter, sizes: Mapping[str, int], arrays: Iterable[tuple[Array, str]]
) -> SharedBuffer:
    """Return a buffer at one set of sizes, with the arrays in it, each with where the contract says it.

    Raises
    ------
    InputError
        If an array does not fit, shares a byte with another one, or does not take whole bytes.
    """
    size = parameter.size.value(sizes, 1, HELD_ELEMENTS)
    owners = np.full(size, -1)
    inside: list[Array] = []
    for array, where in arrays:
        if array.within != parameter.name:
            continue
        if array.at + array.size > size:
            raise InputError(
                f"{array.name}, {array.size} bytes at {array.at}, does not fit {parameter.name} of {size}",
                where,
            )
        if 8 * len(array.occupied) != array.elements * array.format.bits:
            raise InputError(f"elements of {array.name} do not fill whole bytes of {parameter.name}", where)
        taken = owners[array.at + array.occupied]
        if (taken >= 0).any():
            byte = int(array.at + array.occupied[np.argmax(taken >= 0)])
            other = inside[int(taken.max())].name
            raise InputError(f"{array.name} and {other} share byte {byte} of {parameter.name}", where)
        owners[array.at + array.occupied] = len(inside)
        inside.append(array)
    return SharedBuffer(parameter.name, size, parameter.alignment, tuple(inside))
