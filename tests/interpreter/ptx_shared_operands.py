"""Where a matrix descriptor says that elements lie in shared memory, and what a product finds there.

Written from the manual's canonical layouts and swizzling modes, without the specification's descriptors.
Source: PTX ISA 9.1 section 9.7.15 (matrix descriptor, strides, swizzling modes).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from interpreter.ptx_integers import Unknown
from interpreter.ptx_threads import Code, Thread
from numpy.typing import NDArray

_WIDTHS = {0: 0, 1: 128, 2: 64, 3: 32}
"""Bytes of a swizzled row, by bits 63 and 62."""

_USED = 0x3FFF << 0 | 0x3FFF << 16 | 0x3FFF << 32 | 3 << 62


def places(descriptor: int, extents: tuple[int, int], bits: int, *, transposed: bool) -> NDArray[Any]:
    """Return the lowest bit (lines, k) of each element of A, or of B with its columns as lines.

    Addresses are of bits: eight times the byte's.

    Raises
    ------
    Unknown
        If the descriptor or the operand is one whose meaning no document tells.
    """
    if descriptor & ~_USED:
        raise Unknown(f"descriptor {descriptor:#x}")
    start, leading, stride = ((descriptor >> low & 0x3FFF) << 4 for low in (0, 16, 32))
    width = _WIDTHS[descriptor >> 62]
    line, k = np.indices(extents)
    if transposed:
        if bits != 16:
            raise Unknown("elements along M or N that are not of 16 bits")
        x = line * 2
        if width:
            byte = start + x % width + x // width * leading + k % 8 * width + k // 8 * stride
        else:
            byte = start + x % 16 + x // 16 * stride + k % 8 * 16 + k // 8 * leading
        bit = np.zeros_like(byte)
    else:
        x, bit = k * bits // 8, k * bits % 8
        if width:
            if x.max() + max(bits // 8, 1) + start % width > width:
                raise Unknown("a row that does not fit the swizzled one")
            byte = start + line % 8 * width + line // 8 * stride + x
        else:
            byte = start + line % 8 * 16 + line // 8 * stride + x % 16 + x // 16 * leading
    chunks = {0: 0, 32: 1, 64: 3, 128: 7}[width]
    swizzled = byte ^ ((byte >> 7 & chunks) << 4)
    found: NDArray[Any] = 8 * swizzled + bit
    return found


def elements(code: Code, thread: Thread, where: NDArray[Any], bits: int, line: int) -> NDArray[Any]:
    """Read elements where they lie; bytes that products do not see yet hold anything.

    Raises
    ------
    Fault
        If they are in no variable.
    """
    size = max(bits // 8, 1)
    byte = where // 8
    least, end = int(byte.min()), int(byte.max()) + size
    window = thread.block.window
    region = thread.spaces["shared"].find(window + least, end - least)
    used = byte[..., None] + np.arange(size) + window - region.base
    data = np.frombuffer(bytes(region.data), dtype=np.uint8)[used].astype(np.uint64)
    if not np.frombuffer(bytes(region.written), dtype=np.uint8)[used].all():
        code.undefined.add(f"uninitialised:{line}")
    assert region.stale is not None
    stale = np.frombuffer(bytes(region.stale), dtype=np.uint8)[used] != 0
    if stale.any():
        code.undefined.add(f"proxy:{line}")
        data[stale] = np.frombuffer(code.noise.randbytes(int(stale.sum())), dtype=np.uint8)
    words = np.bitwise_or.reduce(data << (8 * np.arange(size, dtype=np.uint64)), axis=-1)
    found: NDArray[Any] = words >> (where % 8).astype(np.uint64) & np.uint64((1 << bits) - 1)
    return found
