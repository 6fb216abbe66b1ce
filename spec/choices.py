"""Open points of an instruction set, each a named choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from .errors import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Choices = TypeVar("Choices", bound=DataclassInstance)
else:
    Choices = TypeVar("Choices")


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

    @property
    def attribute(self) -> str:
        """The field of a record of choices that holds the reading taken."""
        return self.name.replace("-", "_")


def choose(
    names: Sequence[str], default: Choices, presets: Mapping[str, Choices], open_points: Sequence[OpenPoint]
) -> Choices:
    """Read ``--choice`` arguments: preset names or ``point=option``, later ones win.

    Parameters
    ----------
    names : sequence of str
        The arguments.
    default : dataclass
        The readings where no argument says otherwise; its fields are the points' attributes.
    presets : mapping
        Named combinations.
    open_points : sequence of OpenPoint
        What is open.

    Raises
    ------
    InputError
        If a preset, point or option does not exist.
    """
    choices = default
    points = {point.name: point for point in open_points}
    for name in names:
        point, equals, option = name.partition("=")
        if not equals:
            if name not in presets:
                allowed = ", ".join(
                    [*presets, *(f"{p.name}={'|'.join(p.option_names)}" for p in open_points)]
                )
                raise InputError(f"unknown choice {name!r}; known: {allowed}")
            choices = presets[name]
        elif point not in points:
            raise InputError(f"unknown open point {point!r}; known: {', '.join(points)}")
        elif option not in points[point].option_names:
            raise InputError(f"{point} can't be {option!r}; known: {', '.join(points[point].option_names)}")
        else:
            choices = replace(choices, **{points[point].attribute: option})
    return choices
