"""Open points of an instruction set, each a named choice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OpenPoint:
    """Something the documents leave open or tools disagree on.

    Attributes
    ----------
    name : str
        How ``--choice`` names it.
    options : mapping of str to str
        Every reading, with what it means.
    default : str
        The reading taken unless told otherwise.
    source : str
        Who says what, and how sure it is.
    """

    name: str
    options: tuple[tuple[str, str], ...]
    default: str
    source: str

    @property
    def option_names(self) -> tuple[str, ...]:
        """The readings' names."""
        return tuple(name for name, _ in self.options)
