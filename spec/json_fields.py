"""What fields of JSON documents may hold beyond what Python's types say, for the published schemas.

Documents are described once, by the dataclasses and typed dictionaries that they are written from; the
schemas in ``docs/schemas`` are generated from these, with the descriptions of their attributes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class Keyword:
    """A keyword of JSON Schema that an annotated value satisfies.

    Attributes
    ----------
    name : str
        Such as ``minimum``.
    value : object
        What it is set to.
    """

    name: str
    value: object


@dataclass(frozen=True, eq=False)
class WrittenAs:
    """The shape that an annotated value has in documents, where its type does not tell.

    Attributes
    ----------
    shape : object
        A type, or an annotated one.
    """

    shape: object


OPEN = Keyword("additionalProperties", True)
"""Of what may have more fields than those that are named."""

Natural = Annotated[int, Keyword("minimum", 0)]
Positive = Annotated[int, Keyword("minimum", 1)]
Amount = Annotated[float, Keyword("minimum", 0)]
Share = Annotated[float, Keyword("minimum", 0), Keyword("maximum", 1)]
ObligationId = Annotated[str, Keyword("pattern", "^[a-z0-9]+(/[^/]+)+$")]
Some = Annotated[list[Item], Keyword("minItems", 1)]
