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
        The integer, and the largest that fits; 0 where an access goes wrong for another reason.
    access : str
        What goes wrong where the kernel is run at these sizes; empty where that was not done.
    is_outside : bool
        Whether that is an access outside its array, not one to another element.
    is_smallest : bool
        Whether it is shown to go wrong at no smaller sizes: those of which the largest is smaller.
    """

    file: str
    line: int
    sizes: Mapping[str, int]
    value: int
    limit: int
    access: str = ""
    is_outside: bool = False
    is_smallest: bool = False

    def __str__(self) -> str:
        at = ", ".join(f"{name} = {number}" for name, number in self.sizes.items())
        if self.is_smallest:
            at += (
                ", the smallest such size," if len(self.sizes) == 1 else ", smallest by the largest of them,"
            )
        integer = f"at {at} an integer is {self.value}, above the largest that fits, {self.limit}"
        if not self.access:
            return integer
        return f"{integer}: {self.access}" if self.limit else f"at {at} {self.access}"
