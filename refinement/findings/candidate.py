"""Candidates: kernels that a file contains, with their matrix instructions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Candidate:
    """A kernel of a file.

    Attributes
    ----------
    name : str
        What a contract calls it: `entry`.
    address : int
        Where it begins, of object code; else 0.
    size : int
        Its bytes, of object code.
    products : mapping of str to int
        Its matrix instructions, and how often each stands in it.
    """

    name: str
    address: int
    size: int
    products: Mapping[str, int]

    def __str__(self) -> str:
        mix = (
            ", ".join(f"{count} {name}" for name, count in self.products.items()) or "no matrix instructions"
        )
        place = f" at {self.address:#x}, {self.size} bytes" if self.size else ""
        return f"{self.name}{place}: {mix}"
