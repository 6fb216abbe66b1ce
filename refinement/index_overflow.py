"""Sizes at which an index of a kernel overflows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Overflow:
    """An integer that some thread extends, or compares, and that does not fit its format.

    Attributes
    ----------
    file, line : str, int
        The instruction.
    sizes : mapping of str to int
        At which sizes.
    value, limit : int
        The integer, and the largest that fits.
    """

    file: str
    line: int
    sizes: Mapping[str, int]
    value: int
    limit: int

    def __str__(self) -> str:
        at = ", ".join(f"{name} = {number}" for name, number in self.sizes.items())
        return f"at {at} an integer is {self.value}, and the largest that fits is {self.limit}"
