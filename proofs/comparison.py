"""Certificates by comparison: what the specification says, entry by entry, against what a document states.

The tables that documents print are written down again in the packages ``stated``, from the document alone;
they import nothing of the specification, and nothing of the specification imports them. A fault in one of
the two tables is a difference between them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

from .obligation import Certificate

Key = TypeVar("Key", bound=Hashable)

SHOWN = 200
"""Characters of an entry that a message has."""


def compared(stated: Mapping[Key, object], specified: Callable[[], Mapping[Key, object]]) -> Certificate:
    """Return the certificate that two tables have the same entries under the same keys.

    Parameters
    ----------
    stated : mapping
        What the document says.
    specified : callable
        Returns what the specification says.
    """
    return Certificate(lambda: difference(stated, specified()), len(stated))


def difference(stated: Mapping[Key, object], specified: Mapping[Key, object]) -> str | None:
    """Return the first entry in which two tables differ; None where they are equal."""
    for key, entry in stated.items():
        if key not in specified:
            return f"{_spelled(key)} is stated, and not specified"
        if specified[key] != entry:
            return f"{_spelled(key)}: {_spelled(entry)} is stated, {_spelled(specified[key])} specified"
    surplus = next((key for key in specified if key not in stated), None)
    return None if surplus is None else f"{_spelled(surplus)} is specified, and not stated"


def _spelled(entry: object) -> str:
    if isinstance(entry, tuple):
        text = " ".join(map(_spelled, entry))
    else:
        text = str(sorted(map(str, entry))) if isinstance(entry, (set, frozenset)) else str(entry)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
