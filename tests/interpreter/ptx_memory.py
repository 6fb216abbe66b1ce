"""Memory as bytes: regions at addresses, and of each byte whether anybody has written it."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

WINDOWS = {"shared": 0x7700_0000_0000, "local": 0x7701_0000_0000, "param": 0x7702_0000_0000}
"""What the generic address of a byte has more than the address in its space."""

WINDOW = 1 << 32


class Fault(Exception):
    """An access that no memory answers: out of bounds, misaligned, or to what is only for reading."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass
class Region:
    """Neighbouring bytes.

    Attributes
    ----------
    name : str
        For messages.
    base : int
        Address of the first.
    data, written : bytearray
        What they hold, and 1 where somebody has written.
    writable : bool
        Whether the kernel may store there.
    stale : bytearray, optional
        1 where a store has no ``fence.proxy.async`` after it; None where no product of a warpgroup reads.
    """

    name: str
    base: int
    data: bytearray
    written: bytearray
    writable: bool = True
    stale: bytearray | None = None

    @property
    def end(self) -> int:
        """Address behind the last byte."""
        return self.base + len(self.data)


def region(name: str, base: int, size: int, noise: random.Random) -> Region:
    """Return bytes that nobody has written, which hold anything."""
    return Region(name, base, bytearray(noise.randbytes(size)), bytearray(size))


@dataclass
class Space:
    """The regions of a state space that one thread sees, in increasing order of their addresses."""

    regions: list[Region]
    bases: list[int] = field(default_factory=list)
    stores: int = 0
    """How often it was written."""

    def __post_init__(self) -> None:
        self.regions.sort(key=lambda each: each.base)
        self.bases = [each.base for each in self.regions]

    def find(self, address: int, size: int) -> Region:
        """Return the region of an access.

        Raises
        ------
        Fault
            If it is in none.
        """
        place = bisect_right(self.bases, address) - 1
        if place < 0 or address + size > self.regions[place].end:
            raise Fault("out of bounds", f"{size} bytes at {address:#x}")
        return self.regions[place]

    def load(self, address: int, size: int) -> tuple[bytes, bool]:
        """Return bytes, and whether all of them have been written."""
        found = self.find(address, size)
        at = address - found.base
        return bytes(found.data[at : at + size]), 0 not in found.written[at : at + size]

    def store(self, address: int, data: bytes) -> None:
        """Write bytes."""
        found = self.find(address, len(data))
        if not found.writable:
            raise Fault("out of bounds", f"{found.name} is only for reading")
        at = address - found.base
        self.stores += 1
        found.data[at : at + len(data)] = data
        found.written[at : at + len(data)] = b"\1" * len(data)
        if found.stale is not None:
            found.stale[at : at + len(data)] = b"\1" * len(data)


def copy_of(regions: Iterable[Region]) -> list[Region]:
    """Return regions with the same bytes, for another run."""
    return [
        Region(each.name, each.base, bytearray(each.data), bytearray(each.written), each.writable)
        for each in regions
    ]
