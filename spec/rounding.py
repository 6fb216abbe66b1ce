"""IEEE 754 rounding directions."""

from __future__ import annotations

from enum import Enum


class Rounding(Enum):
    """The four IEEE 754 rounding directions; the value is Power's ``FPSCR.RN`` code."""

    NEAREST_EVEN = 0
    TOWARD_ZERO = 1
    UPWARD = 2
    DOWNWARD = 3

    @property
    def mirrored(self) -> Rounding:
        """The direction that rounds ``-v`` to minus what this one rounds ``v`` to."""
        return _MIRRORED.get(self, self)


_MIRRORED = {Rounding.UPWARD: Rounding.DOWNWARD, Rounding.DOWNWARD: Rounding.UPWARD}
