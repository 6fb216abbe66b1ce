"""Tensor maps: those that a kernel is given, and those that it makes.

Where the elements of a box lie is written from the driver's documentation, without the specification's
layouts. Source: PTX ISA 9.1 sections 5.5 and 9.7.9.26 to 9.7.9.28; the CUDA driver API.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from interpreter.ptx_accesses import placed, space_named, where
from interpreter.ptx_integers import Unknown
from interpreter.ptx_memory import Fault
from interpreter.ptx_threads import Code, Decoder, Run, Thread
from numpy.typing import NDArray

from mmaproof.refinement.ptx.text.module import InstructionStatement
from mmaproof.spec.ptx.operands import Integer

_CHUNKS = {0: 0, 32: 1, 64: 3, 128: 7}
"""Bits of a row's number that are added to the number of a 16-byte chunk, by the bytes of a swizzled row."""


@dataclass(frozen=True)
class Map:
    """A tensor map.

    Attributes
    ----------
    address : int
        Of the tensor, in global memory.
    size : int
        Bytes of an element.
    extents, strides : tuple of int
        Elements along each dimension, and bytes from one to the next.
    box, steps : tuple of int
        Elements of a box along each dimension, and every how many are copied.
    swizzle : int
        Bytes of a swizzled row, or 0.
    kind : str
        Type of the elements, for reductions.
    """

    address: int
    size: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...]
    swizzle: int
    kind: str

    @property
    def bytes(self) -> int:
        """Of a box."""
        count = self.size
        for box, step in zip(self.box, self.steps, strict=True):
            count *= -(-box // step)
        return count

    def elements(self, corner: Sequence[int]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return each element's address, whether the tensor has it, and its place in the box."""
        counts = [-(-box // step) for box, step in zip(self.box, self.steps, strict=True)]
        row = counts[0] * self.size
        if self.swizzle and row != self.swizzle:
            raise Unknown(f"rows of {row} bytes, swizzled by {self.swizzle}")
        places = np.indices(counts[::-1])[::-1]
        address, inside, number, below = np.int64(self.address), np.bool_(True), np.int64(0), 1
        for axis, place in enumerate(places):
            at = corner[axis] + place * self.steps[axis]
            inside = inside & (at >= 0) & (at < self.extents[axis])
            address, number = address + at * self.strides[axis], number + place * below
            below *= counts[axis]
        return address.reshape(-1), inside.reshape(-1), (number * self.size).reshape(-1)

    def swizzled(self, address: NDArray[Any]) -> NDArray[Any]:
        """Return where bytes of shared memory lie."""
        found: NDArray[Any] = address ^ ((address >> 7 & _CHUNKS[self.swizzle]) << 4)
        return found


MAP_BYTES = 128

_PLAIN = {("interleave_layout", 0): 0, ("fill_mode", 0): 0, ("swizzle_mode", 0): 0}
"""What a map that nobody has written to says."""

_ELEMENTS = ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "", "f64", "bf16")
"""Types of elements, by the numbers that kernels write; what others become nobody says."""

_SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}
_SWIZZLES = (0, 32, 64, 128)

Fields = Mapping[tuple[str, int], int]
"""What a kernel has written to a map: by the field and which of its numbers it is."""


def map_of(found: Map | Fields) -> Map:
    """Return a map, also from what a kernel has written to it.

    Raises
    ------
    Fault
        If it has not written all.
    """
    if isinstance(found, Map):
        return found
    try:
        rank = found["rank", 0] + 1
        kind = _ELEMENTS[found["elemtype", 0]]
        if found["interleave_layout", 0] or found["fill_mode", 0] or not kind:
            raise Unknown(f"a tensor map with {dict(found)}")
        size = _SIZES[kind.strip("usbf")]
        box, extents, steps = (
            tuple(found[name, axis] for axis in range(rank))
            for name in ("box_dim", "global_dim", "element_stride")
        )
        strides = (size, *(found["global_stride", axis] for axis in range(rank - 1)))
        swizzle = _SWIZZLES[found["swizzle_mode", 0]]
        return Map(found["global_address", 0], size, extents, strides, box, (1, *steps[1:]), swizzle, kind)
    except KeyError as missing:
        raise Fault("undefined", f"a tensor map without {missing}") from None


def _replace(code: Code, i: InstructionStatement) -> Run:
    """Decode ``tensormap.replace``."""
    at, field = where(code, i.operands[0]), i.modifiers[2]
    number = i.operands[1].value if len(i.operands) == 3 and isinstance(i.operands[1], Integer) else 0
    value = code.reader(i.operands[-1], 64 if i.types[-1] == "b64" else 32)
    space = space_named(i)

    def run(thread: Thread) -> None:
        fields = _fields(code, thread, space, at(thread))
        fields[field, number] = value(thread)

    return run


def _fields(code: Code, thread: Thread, space: str, address: int) -> dict[tuple[str, int], int]:
    """Return what has been written to a map, to be written on; all of it zero if nothing is known of it."""
    space, address = placed(space, address)
    held = thread.block.made if space in ("shared", "cluster") else code.maps
    found = held.setdefault(
        address, {("interleave_layout", 0): 0, ("fill_mode", 0): 0, ("swizzle_mode", 0): 0}
    )
    if not isinstance(found, dict):
        raise Unknown("a change of a tensor map that the launch has made")
    return found


def _copy(code: Code, i: InstructionStatement) -> Run:
    """Decode ``tensormap.cp_fenceproxy``."""
    to, of = where(code, i.operands[0]), where(code, i.operands[1])

    def run(thread: Thread) -> None:
        address = placed("generic", to(thread))[1]
        code.maps[address] = dict(_fields(code, thread, "shared", of(thread)))
        thread.spaces["global"].store(address, code.noise.randbytes(MAP_BYTES))

    return run


def _tensormap(code: Code, i: InstructionStatement) -> Run:
    if i.has("replace") and i.has("tile"):
        return _replace(code, i)
    if i.has("cp_fenceproxy"):
        return _copy(code, i)
    raise Unknown(i.mnemonic)


TENSOR_MAPS: dict[str, Decoder] = {"tensormap": _tensormap}
"""How each instruction is decoded."""
