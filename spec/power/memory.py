"""Vector loads and stores, in both byte orders.

Memory is bytes at increasing addresses. Source: Power ISA 3.1 section 7.6 (lxv, lxvp, stxv, stxvp);
the orders were measured with compiled code under QEMU on both byte orders.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Literal

import numpy as np

from ..algebra import Algebra, Array
from ..formats import Format
from ..layout import Axis, Layout
from ..rearrangement import rearranged


class Endian(StrEnum):
    """Byte order of storage (MSR.LE)."""

    LITTLE = "little"
    BIG = "big"

    @property
    def byteorder(self) -> Literal["little", "big"]:
        """What ``int.to_bytes`` calls it."""
        return "little" if self is Endian.LITTLE else "big"


def byte_layout(endian: Endian, count: int) -> Layout:
    """Return memory byte ↔ (register, ISA byte) of a load or store of `count` consecutive VSRs.

    ``lxv`` and ``stxv`` are count 1, ``lxvp`` and ``stxvp`` count 2: on little-endian the low half
    of memory belongs to the odd register. Count 4 is how GCC stores an accumulator.
    """
    in_order = rearranged(
        f"{count} VSR{'s' * (count > 1)} in {endian}-endian memory",
        (Axis("address", 16 * count),),
        (Axis("register", count), Axis("byte", 16)),
        "byte -> byte",
        byte=16 * count,
    )
    return in_order if endian is Endian.BIG else replace(in_order, origin=(count - 1, 15))


def load(data: Array, endian: Endian) -> Array:
    """Load registers (…, r, 16) from memory (…, 16 r): ``lxv`` (r = 1), ``lxvp`` (r = 2)."""
    count = data.shape[-1] // 16
    register, byte = np.indices((count, 16))
    (address,) = byte_layout(endian, count).inverse(register, byte)
    return data[..., address]


def store(registers: Array, endian: Endian) -> Array:
    """Store registers (…, r, 16) to memory (…, 16 r): ``stxv``, ``stxvp``; the inverse of `load`."""
    count = registers.shape[-2]
    register, byte = byte_layout(endian, count).forward(np.arange(16 * count))
    return registers[..., register, byte]


def to_memory(alg: Algebra, elements: Array, fmt: Format, endian: Endian) -> Array:
    """Lay an array of elements (…, n) out in memory, in index order.

    Elements of 4 bits go to the low nibble of a byte first on little-endian.
    """
    reversed_bytes = alg.pack(elements[..., ::-1], fmt)[..., ::-1]
    return reversed_bytes if endian is Endian.LITTLE else alg.pack(elements, fmt)


def from_memory(alg: Algebra, data: Array, fmt: Format, endian: Endian) -> Array:
    """Read memory as an array of elements, the inverse of `to_memory`."""
    if endian is Endian.LITTLE:
        return alg.unpack(data[..., ::-1], fmt)[..., ::-1]
    return alg.unpack(data, fmt)
