"""Contracts: what a kernel is launched with, and what it is to compute (`docs/contracts.md`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..spec.errors import InputError
from ..spec.formats import Bits, Format, IntegerFormat
from .footprint import FAR, Footprint
from .formula import Formula, Source
from .index_arithmetic import Expression
from .parameters import Access, ArrayParameter, Gaps, Parameter, Passed, PointerParameter, Structure
from .result import Equality
from .scalar_cases import EVERY, Case

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


class Accumulate(StrEnum):
    """How floating-point sums are added up."""

    UNSPECIFIED = "unspecified"
    SEQUENTIAL = "sequential"


@dataclass(frozen=True)
class Scalar:
    """A parameter passed by value, at one set of sizes.

    Attributes
    ----------
    name, format
        As in `ScalarParameter`.
    value : int, optional
        Its encoding; None for any value at all.
    """

    name: str
    format: Format
    value: int | None

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
    name, format, access, alignment, element_bits, low_bit, gaps
        As in `ArrayParameter`.
    shape, strides : tuple of int
        Extents, and distances of neighbours in elements.
    contents : array (elements,), optional
        Encodings by linear index where they are given.
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

    @property
    def elements(self) -> int:
        """How many elements it has."""
        return prod(self.shape)

    @property
    def size(self) -> int:
        """Bytes from its address to the end of its last element."""
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

    @property
    def bit_offsets(self) -> NDArray[np.int64]:
        """The bit (shape) at which the encoding of each element begins, from the array's address."""
        return self.places * self.element_bits + self.low_bit


@dataclass(frozen=True)
class Pointers:
    """Addresses in arrays, at one set of sizes.

    Attributes
    ----------
    name, in_memory, alignment
        As in `PointerParameter`.
    targets : tuple of (str, int)
        Arrays, and bytes from their beginnings.
    """

    name: str
    targets: tuple[tuple[str, int], ...]
    in_memory: bool
    alignment: int


@dataclass(frozen=True)
class Instance:
    """A contract at one set of sizes.

    Attributes
    ----------
    contract : Contract
        The contract.
    sizes : mapping of str to int
        Values of the sizes.
    grid, block : tuple of int
        Three extents each.
    dynamic_shared : int, optional
        Bytes; None where the contract does not say.
    arguments : tuple of Scalar and Array
        In the order of the kernel's parameters, those in structures one by one.
    pointers : tuple of Pointers
        Addresses in arrays.
    passed : tuple of Structure or str
        What the kernel takes, in its order; see `Contract.passing`.
    case : Case
        What is supposed of scalars that may be anything; nothing by default.
    """

    contract: Contract
    sizes: Mapping[str, int]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared: int | None
    arguments: tuple[Scalar | Array, ...]
    pointers: tuple[Pointers, ...]
    passed: tuple[Structure | str, ...]
    case: Case = EVERY

    def in_case(self, case: Case) -> Instance:
        """Return the same, of scalars of which something is supposed."""
        arguments = tuple(
            replace(each, value=case.values[each.name])
            if isinstance(each, Scalar) and each.name in case.values
            else each
            for each in self.arguments
        )
        return replace(self, arguments=arguments, case=case)

    @cached_property
    def arrays(self) -> Mapping[str, Array]:
        """The arrays by name."""
        return {each.name: each for each in self.arguments if isinstance(each, Array)}

    @cached_property
    def scalars(self) -> Mapping[str, Scalar]:
        """The scalars by name."""
        return {each.name: each for each in self.arguments if isinstance(each, Scalar)}

    @property
    def outputs(self) -> tuple[Array, ...]:
        """The arrays that are compared: those that formulas describe, or all that may be written."""
        if self.contract.formulas:
            return tuple(self.arrays[formula.output] for formula in self.contract.formulas)
        return tuple(array for array in self.arrays.values() if array.access.is_output)

    def __str__(self) -> str:
        sizes = (f"{name} = {value}" for name, value in self.sizes.items())
        return ", ".join((*sizes, *self.case.statements))


@dataclass(frozen=True)
class LaunchExtents:
    """With what a kernel is launched.

    Attributes
    ----------
    grid, block : tuple of Expression
        Up to three extents.
    dynamic_shared : Expression, optional
        Bytes; None where it does not say.
    """

    grid: tuple[Expression, ...]
    block: tuple[Expression, ...]
    dynamic_shared: Expression | None


@dataclass(frozen=True)
class FormerKernel:
    """The kernel that another one is compared with.

    Attributes
    ----------
    entry : str, optional
        Its name in its module.
    launch : LaunchExtents
        Its own.
    equality : Equality
        The weakest that is enough.
    """

    entry: str | None
    launch: LaunchExtents
    equality: Equality = Equality.VALUE


@dataclass(frozen=True)
class Contract:
    """What a kernel is launched with, and what it is to compute.

    Attributes
    ----------
    path : str
        The file.
    isa : str
        ``ptx``, ``power`` or ``pto``.
    entry, target : str, optional
        The kernel's name in its module, and the processor it is for.
    launch : LaunchExtents
        Its launch.
    former : FormerKernel
        The kernel that it is compared with, where it is compared with one.
    sizes : tuple of mapping
        The sets of sizes at which it is to hold.
    parameters : tuple of Parameter
        In the kernel's order, those in structures one by one.
    pointers : tuple of PointerParameter
        Parameters that are addresses in arrays, or that point to such.
    passing : tuple of Structure or str
        What the kernel takes, in its order: structures, and names of parameters that stand alone.
    formulas : tuple of Formula
        One for each output; none where only accesses to memory are to be looked at.
    accumulate : Accumulate
        The order of floating-point sums.
    equality : Equality
        The weakest that is enough.
    reference : Stated, optional
        The function, as ``file.py:name``, that says what all outputs are, instead of formulas.
    """

    path: str
    isa: str
    entry: str | None
    target: str | None
    launch: LaunchExtents
    former: FormerKernel
    sizes: tuple[Mapping[str, int], ...]
    parameters: tuple[Parameter, ...]
    pointers: tuple[PointerParameter, ...]
    passing: tuple[Structure | str, ...]
    formulas: tuple[Formula, ...]
    accumulate: Accumulate = Accumulate.UNSPECIFIED
    equality: Equality = Equality.VALUE
    reference: Source | None = None

    @property
    def says_values(self) -> bool:
        """Whether it says what is computed, and not only what is in memory."""
        return bool(self.formulas) or self.reference is not None

    def passed(self, *, former: bool = False) -> tuple[Structure | str, ...]:
        """Return what the kernel takes, or the former one, in its order."""
        other = Passed.NEW if former else Passed.OLD
        gone = {each.name for each in (*self.parameters, *self.pointers) if each.passed is other}
        return tuple(
            each
            for each in self.passing
            if (each not in gone if isinstance(each, str) else each.passed is not other)
        )

    def formula(self, output: str) -> Formula:
        """Return the formula of an output."""
        return next(formula for formula in self.formulas if formula.output == output)

    def instances(self) -> Iterator[Instance]:
        """Yield the contract at every set of its sizes; raises as `instance`."""
        for sizes in self.sizes:
            yield self.instance(sizes)

    def instance(self, sizes: Mapping[str, int], *, former: bool = False) -> Instance:
        """Return the contract at one set of sizes, for the kernel or for the former one.

        Raises
        ------
        InputError
            If an extent, a stride or a value is not possible at these sizes.
        """
        launch = self.former.launch if former else self.launch
        shared = None if launch.dynamic_shared is None else launch.dynamic_shared.value(sizes, 0)
        grid, block = (_three(extents, sizes) for extents in (launch.grid, launch.block))
        other = Passed.NEW if former else Passed.OLD
        arguments = tuple(_argument(each, sizes) for each in self.parameters if each.passed is not other)
        elements = sum(each.elements for each in arguments if isinstance(each, Array))
        if elements > HELD_ELEMENTS:
            raise InputError(f"the arrays have {elements} elements; at most {HELD_ELEMENTS}", self.path)
        pointers = tuple(_pointers(each, sizes) for each in self.pointers if each.passed is not other)
        return Instance(self, sizes, grid, block, shared, arguments, pointers, self.passed(former=former))


def _three(extents: tuple[Expression, ...], sizes: Mapping[str, int]) -> tuple[int, int, int]:
    found = [extent.value(sizes, 1) for extent in extents]
    x, y, z = [*found, 1, 1, 1][:3]
    return x, y, z


def _pointers(parameter: PointerParameter, sizes: Mapping[str, int]) -> Pointers:
    targets = tuple((name, offset.value(sizes, -FARTHEST, FARTHEST)) for name, offset in parameter.targets)
    return Pointers(parameter.name, targets, parameter.in_memory, parameter.alignment)


def _argument(parameter: Parameter, sizes: Mapping[str, int]) -> Scalar | Array:
    fmt = parameter.format
    if isinstance(parameter, ArrayParameter):
        return _array(parameter, sizes)
    value = parameter.value
    if isinstance(value, Expression):
        assert isinstance(fmt, IntegerFormat)
        value = value.value(sizes, fmt.minimum, fmt.maximum) & ((1 << fmt.bits) - 1)
    return Scalar(parameter.name, fmt, value)


def _array(parameter: ArrayParameter, sizes: Mapping[str, int]) -> Array:
    shape = tuple(extent.value(sizes, 1, MOST_ELEMENTS) for extent in parameter.shape)
    elements = prod(shape)
    for most in (MOST_ELEMENTS, HELD_ELEMENTS):
        if elements > most:
            raise InputError(f"{parameter.name} has {elements} elements; at most {most}", parameter.where)
    if isinstance(parameter.strides, str):
        strides = _dense(shape, column_major=parameter.strides == "column-major")
    else:
        strides = tuple(stride.value(sizes, 0, 2**40) for stride in parameter.strides)
    span = sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
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
