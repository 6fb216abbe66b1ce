"""Memory of a run on numbers: arrays, shared and local variables as bytes, and who has written them.

Every array has a window of addresses of its own, so that an address names its array; so have shared memory,
local memory and parameters. An access that ends outside is a fault.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...findings.finding import Kind

WINDOW = 40
"""Bits of an address in an array's window."""

FIRST = 16
"""The number of the first array's window; below are those of the other spaces."""

SHARED, LOCAL, CONSTANT = 1, 2, 3
"""Windows of shared memory, local memory, and parameters."""

NOBODY, KNOWN, UNKNOWN = np.uint8(0), np.uint8(1), np.uint8(2)
"""Of an element: nobody has written it; its number is known; blocks that were not run may have written it."""

Bytes = NDArray[np.uint8]


class Places:
    """Elements that are stored to, of an array that is too large for a flag each.

    Parameters
    ----------
    size : int
        How many elements it has.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._parts: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]

    @property
    def found(self) -> NDArray[np.int64]:
        """Those that are stored to, in order; sorted when they are looked at, not at each store."""
        if len(self._parts) > 1:
            self._parts = [np.unique(np.concatenate(self._parts))]
        return self._parts[0]

    def __len__(self) -> int:
        return self.size

    def __setitem__(self, places: NDArray[np.int64], is_stored: bool) -> None:
        assert is_stored
        self._parts.append(np.array(places, dtype=np.int64).reshape(-1))

    def __getitem__(self, place: int) -> bool:
        return bool((self.found == place).any())

    def any(self) -> bool:
        """Tell whether there is one."""
        return any(map(len, self._parts))

    def copy(self) -> Places:
        """Return those up to now."""
        made = Places(self.size)
        made._parts = [self.found]
        return made

    def since(self, before: Places) -> NDArray[np.int64]:
        """Return those that are not among others."""
        return np.setdiff1d(self.found, before.found)


@dataclass
class Stored:
    """An array.

    Attributes
    ----------
    name : str
        For messages.
    data : uint8 array
        Its bytes, and some more, so that it can be looked at in words of any width.
    size : int
        How many bytes are its own.
    unit : int
        Bytes of an element.
    states : uint8 array, optional
        Of each element `NOBODY`, `KNOWN` or `UNKNOWN`; None where all are known.
    writable : bool
        Whether a kernel may store there.
    stored : bool array or Places, optional
        Which elements this launch has written, or all launches where only memory is looked at.
    added : bool
        Whether this launch has added to elements by atomic operations.
    is_folded : bool
        Whether `data` are fewer bytes, a power of two, that stand for all; stores change none.
    """

    name: str
    data: Bytes
    size: int
    unit: int
    states: NDArray[np.uint8] | None = None
    writable: bool = True
    stored: NDArray[np.bool_] | Places | None = None
    added: bool = False
    is_folded: bool = False
    views: dict[int, NDArray[Any]] = field(default_factory=dict)

    def words(self, width: int) -> NDArray[Any]:
        """Return the bytes as words of some bytes."""
        if width not in self.views:
            self.views[width] = self.data.view(f"u{width}")
        return self.views[width]

    def places(self, first: NDArray[np.int64], width: int) -> NDArray[np.int64]:
        """Return where words are, of `words`."""
        return first & (len(self.data) // width - 1) if self.is_folded else first


def folded(name: str, data: Bytes, size: int, unit: int) -> Stored:
    """Return an array of which only some bytes are held: its bounds count, its numbers do not."""
    return Stored(name, data, size, unit, stored=Places(-(-size // unit)), is_folded=True)


def stored(name: str, content: NDArray[Any] | bytes, unit: int, **more: Any) -> Stored:
    """Return an array of some content, which is changed where it is as long as whole words."""
    given = (
        np.frombuffer(content, np.uint8) if isinstance(content, bytes) else content.reshape(-1).view(np.uint8)
    )
    if len(given) % 16 or not given.flags.writeable:
        data = np.zeros(-(-len(given) // 16) * 16, dtype=np.uint8)
        data[: len(given)] = given
        return Stored(name, data, len(given), unit, **more)
    data = np.asarray(given)
    return Stored(name, data, len(given), unit, **more)


@dataclass
class Variables:
    """Shared or local variables of one block or thread.

    Attributes
    ----------
    valid : bool array
        Which bytes belong to a variable; between variables are some that don't.
    names : list of (int, str)
        Where each begins.
    sizes : list of int
        Their bytes.
    """

    valid: NDArray[np.bool_]
    names: list[tuple[int, str]]
    sizes: list[int]

    def name(self, at: int) -> str:
        """Return the variable that begins at or before a byte."""
        return next((name for start, name in reversed(self.names) if start <= at), "no variable")

    def are_inside(self, least: int, end: int) -> bool:
        """Tell whether bytes from one to before another are all of one variable."""
        return any(
            start <= least and end <= start + size
            for (start, _), size in zip(self.names, self.sizes, strict=True)
        )


GAP = 1 << 16
"""Bytes between variables, in which an index beyond one's end is a fault."""


class Private:
    """Shared memory of some blocks, or local memory of some threads.

    Parameters
    ----------
    variables : Variables
        What each has.
    count : int
        How many blocks or threads.
    fill : int
        The byte that memory nobody has written is full of.
    owners : int array
        Of each thread, whose memory it has.
    """

    def __init__(self, variables: Variables, count: int, fill: int, owners: NDArray[np.intp]) -> None:
        self.variables = variables
        self.stride = -(-len(variables.valid) // 16) * 16
        self.starts = owners * self.stride
        self.data: Bytes = np.full(self.stride * count, fill, dtype=np.uint8)
        self.views: dict[int, NDArray[Any]] = {}

    def words(self, width: int) -> NDArray[Any]:
        """Return the bytes as words of some bytes."""
        if width not in self.views:
            self.views[width] = self.data.view(f"u{width}")
        return self.views[width]

    def places(self, first: NDArray[np.int64], width: int) -> NDArray[np.int64]:
        """Return where words are, of `words`."""
        return first


Report = Callable[[Kind, str, int], None]
"""Raises a fault of a kind, with a message, of one of the threads that act."""


@dataclass
class Memory:
    """All memory of a run.

    Attributes
    ----------
    arrays : list of Stored
        By number.
    shared, local : Private
        Of the blocks, and of the threads, that run now.
    parameters : Stored
        Parameters and constant variables.
    """

    arrays: list[Stored]
    shared: Private
    local: Private
    parameters: Stored

    def find(self, addresses: NDArray[np.uint64], size: int, report: Report) -> tuple[Stored, Any]:
        """Return the array that all addresses name, with their offsets.

        An access of several arrays at once is for the caller to split: ``None`` stands for the array then.
        """
        windows = addresses >> np.uint64(WINDOW)
        first = int(windows.reshape(-1)[0])
        if np.ndim(windows) and (windows != windows[0]).any():
            raise SeveralArraysError
        number = first - FIRST
        offsets = (addresses & np.uint64((1 << WINDOW) - 1)).view(np.int64)
        if number == -1 and self.arrays:
            before = int(offsets[0]) - (1 << WINDOW)
            report(Kind.OUT_OF_BOUNDS, f"{size} bytes at byte {before} of {self.arrays[0].name}", 0)
        if not 0 <= number < len(self.arrays):
            report(Kind.OUT_OF_BOUNDS, f"{size} bytes at {int(addresses[0]):#x}, outside every array", 0)
        array = self.arrays[number]
        wrong = offsets + size > array.size
        if wrong.any():
            place = int(np.argmax(wrong))
            self._beyond(number, int(offsets[place]), size, report, place)
        return array, offsets

    def _beyond(self, number: int, offset: int, size: int, report: Report, place: int) -> None:
        """Report an access outside of an array: before the next one's window, it is before that array."""
        array = self.arrays[number]
        before = offset - (1 << WINDOW)
        if number + 1 < len(self.arrays) and -before < offset - array.size:
            array = self.arrays[number + 1]
            report(Kind.OUT_OF_BOUNDS, f"{size} bytes at byte {before} of {array.name}", place)
        report(
            Kind.OUT_OF_BOUNDS,
            f"{size} bytes at byte {offset} of {array.name}, which has {array.size}",
            place,
        )


class SeveralArraysError(Exception):
    """Threads access different arrays by one instruction."""


def address(number: int, offset: int) -> int:
    """Return the address of a byte of an array by its number."""
    return (number + FIRST << WINDOW) + offset
