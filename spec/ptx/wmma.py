"""The memory operand of ``wmma.load`` and ``wmma.store``: addresses, strides, alignment.

Which thread holds which element of a ``wmma`` fragment is unspecified, so nothing here says it.
Source: PTX ISA 9.1 sections 9.7.14.4.1 to 9.7.14.4.4 (matrix fragments, storage, load and store).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..algebra import Array
from ..errors import InputError
from ..formats import Format, format_named
from ..numpy_algebra import NumpyAlgebra
from ..operand_arrays import common_batch
from .memory import from_bytes, to_bytes
from .variant import Shape, Variant
from .wmma_forms import WMMA_FORMS

STRIDE_BITS = 32
"""Width of the stride operand."""


@dataclass(frozen=True)
class MemoryOperand:
    """A matrix in memory: lines (rows if stored ``row``, columns if ``col``), each contiguous.

    Attributes
    ----------
    shape : Shape
        The instruction's shape.
    role : str
        ``a``, ``b``, ``c`` or ``d``.
    format : Format
        Element type.
    layout : str
        ``row`` or ``col``.
    """

    shape: Shape
    role: str
    format: Format
    layout: str

    def __str__(self) -> str:
        return f"{self.shape} {self.format} {self.role} .{self.layout}"

    @property
    def extents(self) -> tuple[int, int]:
        """Rows and columns."""
        m, n, k = self.shape
        return {"a": (m, k), "b": (k, n)}.get(self.role, (m, n))

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return self.extents[self.layout == "col"]

    @property
    def minimum_stride(self) -> int:
        """Elements of a line: the least distance from line to line, and the one taken by default."""
        return self.extents[self.layout == "row"]

    @cached_property
    def fragment_bytes(self) -> int:
        """Size of a thread's fragment in bytes, to a multiple of which every line must be aligned."""
        registers = {
            form.registers(self.role, self.format.name)
            for form in WMMA_FORMS
            if form.shape == self.shape and self.format.name in form.role_types(self.role)
        }
        (count,) = registers
        return count * max(self.format.bits, 32) // 8

    def element(self, row: Any, column: Any, stride: Any) -> Any:
        """Return how many elements lie between the pointer and element (row, column); no range check."""
        line, place = (row, column) if self.layout == "row" else (column, row)
        return line * stride + place

    def address(self, pointer: Any, row: Any, column: Any, stride: Any) -> tuple[Any, Any]:
        """Return the byte address of element (row, column), and its lowest bit there.

        Evaluates on ints, and modulo 2**64 on uint64 arrays and 64-bit Z3 terms.
        """
        offset = self.element(row, column, stride) * self.format.bits
        return pointer + (offset >> 3), offset & 7

    def span(self, stride: int) -> int:
        """Return how many bytes there are from the pointer to the end of the last line."""
        elements = (self.lines - 1) * stride + self.minimum_stride
        return -(-elements * self.format.bits // 8)

    def check(self, pointer: int, stride: int, size: int) -> None:
        """Check what the instruction requires of its pointer and stride.

        Parameters
        ----------
        pointer : int
            Byte address of the matrix.
        stride : int
            Elements from line to line.
        size : int
            Bytes of the memory.

        Raises
        ------
        InputError
            If the stride is less than a line or too wide, a line is misaligned, or the matrix is not
            inside the memory.
        """
        unit, line = self.fragment_bytes, "row" if self.layout == "row" else "column"
        if not self.minimum_stride <= stride < 1 << STRIDE_BITS:
            raise InputError(
                f"{self}: the stride is {stride} elements; allowed: "
                f"{self.minimum_stride} (a whole {line}) to 2^{STRIDE_BITS} - 1"
            )
        if pointer % unit:
            raise InputError(
                f"{self}: the pointer {pointer:#x} must be a multiple of {unit}, the fragment's bytes"
            )
        if stride * self.format.bits % (8 * unit):
            raise InputError(
                f"{self}: a stride of {stride} elements is {stride * self.format.bits / 8:g} bytes; "
                f"it must be a multiple of {unit}, the fragment's bytes, so that every {line} is aligned"
            )
        if pointer < 0 or pointer + self.span(stride) > size:
            raise InputError(
                f"{self}: bytes {pointer:#x} to {pointer + self.span(stride) - 1:#x} are not inside a memory "
                f"of {size}"
            )

    def load(self, memory: Array, pointer: int, stride: int | None = None) -> Array:
        """Return the matrix (…, rows, columns) of encodings that ``wmma.load`` reads.

        Parameters
        ----------
        memory : array of uint8 (…, bytes)
            What the pointer points into.
        pointer : int
            Byte address.
        stride : int, optional
            Elements from line to line.

        Raises
        ------
        InputError
            If `check` finds fault.
        """
        stride = self.minimum_stride if stride is None else stride
        self.check(pointer, stride, memory.shape[-1])
        data = memory[..., pointer : pointer + self.span(stride)]
        elements = from_bytes(NumpyAlgebra(), data, self.format)
        return elements[..., self._places(stride)]

    def store(self, memory: Array, pointer: int, matrix: Array, stride: int | None = None) -> Array:
        """Return the memory after ``wmma.store`` of a matrix (…, rows, columns); see `load`."""
        stride = self.minimum_stride if stride is None else stride
        self.check(pointer, stride, memory.shape[-1])
        if matrix.shape[-2:] != self.extents:
            raise InputError(f"{self}: a matrix of {self.extents} is stored, not {matrix.shape}")
        batch = common_batch({"memory": memory, "d": matrix}, {"memory": 1, "d": 2})
        written = np.broadcast_to(memory, (*batch, memory.shape[-1])).copy()
        data = slice(pointer, pointer + self.span(stride))
        alg = NumpyAlgebra()
        elements = from_bytes(alg, written[..., data], self.format)
        elements[..., self._places(stride)] = matrix
        written[..., data] = to_bytes(alg, elements, self.format)
        return written

    def _places(self, stride: int) -> Array:
        rows, columns = np.indices(self.extents)
        places: Array = self.element(rows, columns, stride)
        return places


def memory_operand(variant: Variant) -> MemoryOperand:
    """Return the memory operand of a legal ``wmma.load`` or ``wmma.store``."""
    assert variant.shape is not None
    assert variant.role is not None
    return MemoryOperand(variant.shape, variant.role, format_named(variant.types[0]), variant.layouts[0])


def memory_operands() -> Iterator[MemoryOperand]:
    """Yield every memory operand of ``wmma`` once."""
    found = (
        MemoryOperand(form.shape, role, format_named(name), layout)
        for form in WMMA_FORMS
        for role in "abcd"
        for name in form.role_types(role)
        for layout in form.role_layouts(role)
    )
    yield from dict.fromkeys(found)
