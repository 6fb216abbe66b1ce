"""What functions of the code alone return, and what the catalogue says, kept for a state of the code."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..spec.errors import InputError
from .cache import Cache
from .code_state import DECIDING, attributes, code_state, take
from .obligation import Equality, Goal, Method, Obligation, Status, Theorem

_STATE = "state of the code"
"""What the digest of files is kept under, by their attributes."""

Members = Sequence[Sequence[str]]
"""Of each obligation: the last part of its id, its statement (empty for the theorem's), what it expects, the
equality, the method and the choices."""


def remembered(
    directory: Path, name: str, build: Callable[[], Any] | None, folders: Sequence[str] = DECIDING
) -> Any:
    """Return what `build` returns, from the cache where it is of this state of the code.

    Parameters
    ----------
    directory : Path
        Of the cache; one that can't be used remembers nothing.
    name : str
        What it is kept under.
    build : callable
        Returns a JSON value that depends on nothing but the code; None to return None instead.
    folders : sequence of str
        Of the package, that the value depends on.
    """
    known = attributes(folders)
    with suppress(InputError), closing(Cache(directory)) as cache:
        if (digest := cache.text(known, _STATE)) is not None:
            take(known, digest)
        state = code_state(folders, known)
        if digest is None and attributes(folders) == known:
            cache.keep_text(known, _STATE, state)
        if (text := cache.text(state, name)) is not None:
            return json.loads(text)
    if build is None:
        return None
    found = build()
    with suppress(InputError), closing(Cache(directory)) as cache:
        if attributes(folders) == known:  # nobody changed it meanwhile
            cache.keep_text(code_state(folders, known), name, json.dumps(found))
    return found


@dataclass(frozen=True)
class RememberedTheorem(Theorem):
    """A theorem whose obligations say what they said, and build their goals when these are asked for.

    Attributes
    ----------
    members : sequence
        The obligations; see `Members`.
    built : callable
        Returns an obligation that was built, by its id.
    """

    members: Members
    built: Callable[[str], Obligation]

    def __hash__(self) -> int:
        return hash(self.id)

    def obligations(self) -> Iterator[Obligation]:
        """Yield the obligations."""
        for name, statement, expect, equality, method, choices in self.members:
            identifier = f"{self.id}/{name}"
            yield Obligation(
                identifier,
                statement or self.statement,
                self._goal(identifier),
                Status(expect),
                Equality(equality),
                Method(method),
                choices,
                self.source,
            )

    def _goal(self, identifier: str) -> Callable[[], Goal]:
        return lambda: self.built(identifier).goal()


def said(theorem: Theorem, obligations: Mapping[str, Obligation]) -> list[Any]:
    """Return what a theorem and its obligations by id say, as a JSON value."""
    members = [
        [
            obligation.id.removeprefix(f"{theorem.id}/"),
            "" if obligation.statement == theorem.statement else obligation.statement,
            *(obligation.expect, obligation.equality, obligation.method, obligation.choices),
        ]
        for obligation in obligations.values()
    ]
    return [theorem.id, theorem.title, theorem.statement, theorem.source, members]
