"""The matrix descriptor of ``wgmma``, and where it says that elements of A or B lie in shared memory.

A descriptor has a start address, two byte offsets and a swizzle; the instruction says which extents and
elements there are, and whether neighbours in memory are along K (K-major) or along M or N (``trans-a``,
``trans-b``). A line is a row of A or a column of B. Addresses are those of the shared window.

Source: PTX ISA 9.1 section 9.7.15 (matrix descriptor, canonical layouts, swizzling modes); CuTe's
``make_gmma_desc``; Triton's ``createDescriptor``. That unused bits are zero is what both write.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..algebra import Algebra, Array
from ..errors import InputError, UnsupportedError
from ..formats import U8, Format
from ..layout import Axis, Digit, Layout
from ..layout_terms import log2

UNIT = 16
"""Bytes that fields count in; lower bits of addresses and offsets are lost."""

FIELD_BITS = 14
ADDRESS_BITS = 18
"""Bits of an address of shared memory that a field keeps, the lowest four of them zero."""

SWIZZLE_MODES = {0: 0, 128: 1, 64: 2, 32: 3}
"""Code in bits 63 and 62, by the bytes of a row that is swizzled; 0 is no swizzling."""

PATTERN_ROWS = 8
"""Rows (or columns of K, where memory goes along M or N) that a swizzling pattern covers."""

PATTERN_BYTES = 1024
"""Addresses that differ by it are swizzled alike."""

_FIELDS = {"start": 0, "leading": 16, "stride": 32}
"""The lowest bit of each field."""

_MODE_BIT = 62
_BASE_OFFSET = 0b111 << 49


def swizzled(address: Any, width: int, atom: int = UNIT) -> Any:
    """Return the address to which swizzling of a width moves what lies at an address: it is its own inverse.

    Bits 4 to 6 are xored with bits 7 to 9, as many of them as the width has; where 32 bytes stay together,
    bits 5 and 6 with bits 7 and 8.
    """
    mask = max(width // atom, 1) - 1
    return address ^ (((address >> 7) & mask) << log2(atom))


@dataclass(frozen=True)
class MatrixDescriptor:
    """The fields of a descriptor, in bytes.

    Attributes
    ----------
    start : int
        Address of the first element, but for swizzling.
    leading, stride : int
        The leading and the stride dimension byte offset; what they step over depends on the layout.
    swizzle : int
        Bytes of a swizzled row: 32, 64 or 128; 0 for none.
    atom : int
        Bytes that swizzling leaves together: 16, of ``tcgen05`` 32, too.
    """

    start: int = 0
    leading: int = UNIT
    stride: int = 1024
    swizzle: int = 128
    atom: int = UNIT

    def __post_init__(self) -> None:
        if self.swizzle not in SWIZZLE_MODES:
            raise InputError(
                f"the swizzle must be one of {', '.join(map(str, SWIZZLE_MODES))}, not {self.swizzle}"
            )
        for name in _FIELDS:
            value = getattr(self, name)
            if not 0 <= value < 1 << ADDRESS_BITS or value % UNIT:
                raise InputError(
                    f"{name} must be a multiple of {UNIT} below 2^{ADDRESS_BITS}, not {value:#x}"
                )

    @property
    def encoding(self) -> int:
        """The 64 bits of ``wgmma``, which has no other atoms than those of 16 bytes."""
        fields: int = sum(getattr(self, name) // UNIT << low for name, low in _FIELDS.items())
        return fields | SWIZZLE_MODES[self.swizzle] << _MODE_BIT

    @classmethod
    def decoded(cls, encoding: int) -> MatrixDescriptor:
        """Return the fields of 64 bits.

        Raises
        ------
        UnsupportedError
            If the base offset is not zero, or another bit without a known meaning is set.
        """
        fields = {name: (encoding >> low & (1 << FIELD_BITS) - 1) * UNIT for name, low in _FIELDS.items()}
        widths = {code: width for width, code in SWIZZLE_MODES.items()}
        found = cls(**fields, swizzle=widths[encoding >> _MODE_BIT & 3])
        if unknown := encoding ^ found.encoding:
            what = "the base offset" if unknown & _BASE_OFFSET else f"bits {unknown:#x}"
            raise UnsupportedError(
                f"descriptor {encoding:#018x}: no document says what {what} not zero means"
            )
        return found

    @classmethod
    def read(cls, text: str) -> tuple[MatrixDescriptor, bool]:
        """Read ``start=0x400 stride=1024 swizzle=128 transposed``; also say whether it is ``transposed``.

        Raises
        ------
        InputError
            If a word is none of them.
        """
        fields, transposed = {}, False
        for word in text.replace(",", " ").split():
            name, equals, value = word.partition("=")
            if word == "transposed":
                transposed = True
            elif equals and name in (*_FIELDS, "swizzle"):
                fields[name] = _number(name, value)
            else:
                known = ", ".join(f"{field}=BYTES" for field in (*_FIELDS, "swizzle"))
                raise InputError(f"{word[:40]!r} is no field of a descriptor; there are {known}, transposed")
        return cls(**fields), transposed

    def __str__(self) -> str:
        return f"start={self.start:#x} leading={self.leading} stride={self.stride} swizzle={self.swizzle}"


def _number(name: str, text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise InputError(f"{name}={text[:40]} is no number of bytes") from None


@dataclass(frozen=True)
class SharedMatrix:
    """A matrix in shared memory, as a descriptor and an instruction say.

    Attributes
    ----------
    descriptor : MatrixDescriptor
        The fields.
    lines, length : int
        Rows of A or columns of B, and elements of each along K that are stored.
    bits : int
        Width of an element.
    transposed : bool
        Whether neighbours in memory are neighbours along M or N.
    transposable : tuple of int
        Widths of elements that may lie so: those of ``wgmma``, where nothing else is said.
    """

    descriptor: MatrixDescriptor
    lines: int
    length: int
    bits: int
    transposed: bool = False
    transposable: tuple[int, ...] = (16,)

    def __post_init__(self) -> None:
        width, row = self.descriptor.swizzle, self.length * self.bits // 8
        if self.transposed and self.bits not in self.transposable:
            widths = " and ".join(f"{bits}-bit" for bits in self.transposable)
            raise InputError(
                f"only {widths} elements can be transposed in shared memory, not those of {self.bits} bits"
            )
        if width and not self.transposed and self.descriptor.start % width + row > width:
            raise InputError(
                f"{row} bytes of K from byte {self.descriptor.start % width} on do not fit a row of {width} "
                f"bytes"
            )

    @cached_property
    def offsets(self) -> Layout:
        """(line, k) ↦ byte from the start (of 1-bit elements and bit), not swizzled: digits and strides."""
        axes = Axis("line", self.lines), Axis("k", self.length)
        target = (Axis("byte", 1 << ADDRESS_BITS), Axis("bit", 8))[: 1 + (self.bits < 8)]
        digits = [
            Digit(axis, weight, extent, step[: len(target)])
            for axis, weight, extent, step in self._digits()
            if extent > 1
        ]
        return Layout("offsets", axes, target, tuple(digits), carries=True)

    def _digits(self) -> Iterator[tuple[int, int, int, tuple[int, int]]]:
        """Yield the axis, weight, extent and step (bytes, bits) of every digit."""
        fields = self.descriptor
        width = fields.swizzle or UNIT
        along, across = (0, 1) if self.transposed else (1, 0)
        extents = self.lines, self.length
        together = width * 8 // self.bits
        if self.bits < 8:
            yield along, 1, 8 // self.bits, (0, self.bits)
            yield along, 8 // self.bits, min(together, extents[along]) * self.bits // 8, (1, 0)
        else:
            yield along, 1, min(together, extents[along]), (self.bits // 8, 0)
        # Without swizzling the leading offset goes along K, whatever is contiguous.
        one, other = (fields.leading, fields.stride) if fields.swizzle else (fields.stride, fields.leading)
        step_along, step_across = (one, other) if self.transposed else (fields.leading, fields.stride)
        yield along, together, -(-extents[along] // together), (step_along, 0)
        rows = PATTERN_ROWS * UNIT // fields.atom
        yield across, 1, rows, (width, 0)
        yield across, rows, -(-extents[across] // rows), (step_across, 0)

    def address(self, line: Any, k: Any, start: Any = None) -> tuple[Any, Any]:
        """Return the address of an element, and the bit of that byte where it begins.

        Another start than the descriptor's may be given: an int, an array or a Z3 term.
        """
        byte, *bits = self.offsets.forward(line, k)
        moved = byte + (self.descriptor.start if start is None else start)
        fields = self.descriptor
        return swizzled(moved, fields.swizzle, fields.atom), bits[0] if bits else 0 * byte

    @property
    def extent(self) -> int:
        """The least number of bytes from address 0 that has every element."""
        byte, _ = self.address(*np.indices((self.lines, self.length)))
        return int(byte.max()) + max(1, self.bits // 8)

    def gather(self, alg: Algebra, memory: Array, fmt: Format) -> Array:
        """Read the elements (…, lines, length) from the bytes (…, n) of shared memory.

        Raises
        ------
        InputError
            If the memory ends before.
        """
        if self.extent > memory.shape[-1]:
            raise InputError(
                f"{self.descriptor} reads up to byte {self.extent} of a memory of {memory.shape[-1]}"
            )
        byte, bit = self.address(*np.indices((self.lines, self.length)))
        if self.bits < 8:
            single = np.stack([alg.extract(memory, low, fmt) for low in range(0, 8, self.bits)], axis=-1)
            return single[..., byte, bit // self.bits]
        size = self.bits // 8
        held = memory[..., byte[..., None] + np.arange(size)]
        return alg.assemble(held, U8, range(0, self.bits, 8), fmt)

    @property
    def pattern(self) -> int:
        """Where the swizzling pattern begins that the start is in; without swizzling the start."""
        if not self.descriptor.swizzle:
            return self.descriptor.start
        return self.descriptor.start - self.descriptor.start % PATTERN_BYTES

    @property
    def linear(self) -> Layout:
        """(line, k) ↦ (byte from `pattern`, bit of it) as a map over F2.

        Lines are as many as a power of two.

        Raises
        ------
        UnsupportedError
            If sums of the strides carry, so that there is no such map.
        """
        start = self.descriptor.start - self.pattern
        reached, digits = start, []
        for digit in self.offsets.digits:
            for bit in range((digit.extent - 1).bit_length()):
                byte, *low = (step << bit for step in digit.image)
                if byte & reached or byte >> ADDRESS_BITS:
                    raise UnsupportedError(
                        f"{self.descriptor}: its offsets carry, no map of bits to bits is equal"
                    )
                reached |= byte
                image = swizzled(byte, self.descriptor.swizzle, self.descriptor.atom), *low
                digits.append(Digit(digit.axis, digit.weight << bit, 2, image))
        source = tuple(Axis(axis.name, 1 << (axis.extent - 1).bit_length()) for axis in self.offsets.source)
        origin = (
            swizzled(start, self.descriptor.swizzle, self.descriptor.atom),
            *(0 for _ in self.offsets.target[1:]),
        )
        return Layout("shared memory", source, self.offsets.target, tuple(digits), origin)

    @property
    def cute(self) -> str:
        """The map of (line, k) to elements in CuTe's notation."""
        shapes: list[str] = []
        strides: list[str] = []
        for axis in (0, 1):
            digits = [digit for digit in self.offsets.digits if digit.axis == axis]
            steps = [(8 * digit.image[0] + sum(digit.image[1:])) // self.bits for digit in digits]
            for found, numbers, none in (
                (shapes, [digit.extent for digit in digits], 1),
                (strides, steps, 0),
            ):
                text = ",".join(map(str, numbers)) or str(none)
                found.append(f"({text})" if len(numbers) > 1 else text)
        plain = f"({','.join(shapes)}):({','.join(strides)})"
        if not self.descriptor.swizzle:
            return plain
        atom = self.descriptor.atom
        bits = log2(self.descriptor.swizzle // atom)
        start = self.descriptor.start % PATTERN_BYTES * 8 // self.bits
        between = f"{start} o " * bool(start)
        moved = 3 - log2(atom // UNIT)  # bit 7 of an address is the first that is xored with
        return f"Swizzle<{bits},{log2(8 * atom // self.bits)},{moved}> o {between}{plain}"
