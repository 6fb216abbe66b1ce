"""Channels between the two cores of a block: tiles, first in, first out.

How many tiles a channel holds, and whether it is full, is not modelled. Source: PTO IR manual (tpush, tpop).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from ....spec.formats import Format
from ...terms.interning import Ids


class Pushed(NamedTuple):
    """A tile in a channel: its valid region.

    Attributes
    ----------
    elements : array (rows, columns)
        Terms.
    format : Format
        Of the elements.
    line : int
        Who pushed it.
    """

    elements: Ids
    format: Format
    line: int


Key = tuple[str, str]
"""To which core, and the channel's number."""


@dataclass
class Channels:
    """All channels of a block."""

    _held: dict[Key, deque[Pushed]] = field(default_factory=dict)

    def push(self, key: Key, pushed: Pushed) -> None:
        """Put a tile in."""
        self._held.setdefault(key, deque()).append(pushed)

    def has(self, key: Key) -> bool:
        """Whether there is a tile to take."""
        return bool(self._held.get(key))

    def pop(self, key: Key) -> Pushed:
        """Take the first tile."""
        return self._held[key].popleft()

    def left(self) -> dict[Key, Pushed]:
        """Return the first tile of each channel that nobody took."""
        return {key: held[0] for key, held in self._held.items() if held}

    def clear(self) -> None:
        """Begin with another block."""
        self._held.clear()
