"""Every theorem, and how patterns select obligations.

Theorems are imported by families (``power/layout``), and the obligations of a theorem built, when a pattern
may select some of them; or neither, where a cache says what they say (`remember`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module
from operator import methodcaller
from pathlib import Path

from ..spec.errors import InputError
from ..spec.instruction_set import NAMES
from .obligation import Obligation, Theorem

_remembered: dict[tuple[str, ...], tuple[Theorem, ...]] = {}
"""What stands for the theorems of all families, by these; see `remember`."""


ENGINE = "engine"
"""What theorems are about besides instruction sets: the verifier itself."""


@cache
def families() -> dict[str, tuple[str, ...]]:
    """Return the modules that have the theorems of a family, by the prefix of the theorems' ids."""
    return {
        f"{subject}/{family}/": tuple(f"{__package__}.{subject}.{module}" for module in modules)
        for subject in (*NAMES, ENGINE)
        for family, modules in import_module(f".{subject}", __package__).FAMILIES.items()
    }


def theorems(patterns: Sequence[str] = ()) -> tuple[Theorem, ...]:
    """Return the theorems of which a pattern may select an obligation (all for none), in their order."""
    known = _remembered.get(tuple(families()))
    if known is None:
        return _imported(patterns)
    return tuple(theorem for theorem in known if _may_be_under(theorem.id + "/", patterns))


def remember(directory: Path, patterns: Sequence[str]) -> None:
    """Take from now on what theorems and obligations say from a cache, if it is of this state of the code.

    What they claim is built where it is asked for. When everything is selected, the cache gets what it lacks.

    Parameters
    ----------
    directory : Path
        Of the cache.
    patterns : sequence of str
        What is going to be selected.
    """
    from .remembered import RememberedTheorem, remembered, said

    known = tuple(families())
    if known in _remembered:
        return
    build = (
        None if patterns else lambda: [said(theorem, _obligations_of(theorem)) for theorem in _imported(())]
    )
    found = remembered(directory, f"theorems {' '.join(known)}", build)
    if found is None:
        return
    _remembered[known] = tuple(
        RememberedTheorem(identifier, title, statement, source, lambda: iter(()), members, _built)
        for identifier, title, statement, source, members in found
    )


def _built(identifier: str) -> Obligation:
    """Return an obligation of the catalogue that is built from its theorem's module."""
    found = [_obligations_of(theorem) for theorem in _imported((identifier,))]
    return next(members[identifier] for members in found if identifier in members)


def _imported(patterns: Sequence[str]) -> tuple[Theorem, ...]:
    return tuple(
        theorem
        for family, modules in families().items()
        if _may_be_under(family, patterns)
        for module in modules
        for theorem in import_module(module).THEOREMS
        if theorem.id.startswith(family) and _may_be_under(theorem.id + "/", patterns)
    )


def _may_be_under(prefix: str, patterns: Sequence[str]) -> bool:
    """Tell whether a pattern may select an id that begins so: what it has before any wildcard tells."""
    fixed = (re.split(r"[*?[]", pattern, maxsplit=1)[0] for pattern in patterns)
    return not patterns or any(start.startswith(prefix) or prefix.startswith(start) for start in fixed)


@cache
def _obligations_of(theorem: Theorem) -> dict[str, Obligation]:
    found: dict[str, Obligation] = {}
    for obligation in theorem.obligations():
        if obligation.id in found or not obligation.id.startswith(theorem.id + "/"):
            raise ValueError(f"{obligation.id}: not unique, or not under {theorem.id}")
        found[obligation.id] = obligation
    return found


class Catalogue(Mapping[str, Obligation]):
    """Every obligation by id, built with the others of its theorem when it is asked for.

    Raises
    ------
    ValueError
        If two obligations of a theorem have one id, or one does not belong to its theorem.
    """

    def __init__(self) -> None:
        self._found: dict[str, Obligation] = {}
        self._remembered: tuple[Theorem, ...] | None = None

    def __getitem__(self, identifier: str) -> Obligation:
        if (known := _remembered.get(tuple(families()))) is not self._remembered:
            self._found, self._remembered = {}, known
        if identifier not in self._found:
            for theorem in theorems((identifier,)):
                self._found |= _obligations_of(theorem)
        return self._found[identifier]

    def __iter__(self) -> Iterator[str]:
        return (identifier for theorem in theorems() for identifier in _obligations_of(theorem))

    def __len__(self) -> int:
        return sum(len(_obligations_of(theorem)) for theorem in theorems())


@cache
def obligations() -> Mapping[str, Obligation]:
    """Return the catalogue."""
    return Catalogue()


_WILDCARDS = frozenset("*?[")


def matches(identifier: str, pattern: str) -> bool:
    """Tell whether a pattern (a prefix, or a glob) selects an id."""
    return identifier.startswith(pattern) or (
        not _WILDCARDS.isdisjoint(pattern) and fnmatchcase(identifier, pattern)
    )


def selects(patterns: Sequence[str], identifier: str) -> bool:
    """Tell whether any of the patterns selects an id; no patterns select everything."""
    return selecting(tuple(patterns))(identifier)


@cache
def selecting(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    """Return what tells whether any of the patterns selects an id; no patterns select everything."""
    if all(_WILDCARDS.isdisjoint(pattern) for pattern in patterns):
        return methodcaller("startswith", patterns or ("",))
    return lambda identifier: any(matches(identifier, pattern) for pattern in patterns)


def matching(patterns: Sequence[str]) -> list[Obligation]:
    """Return the obligations that any of the patterns selects (all for no pattern)."""
    return [
        obligation
        for theorem in theorems(patterns)
        for obligation in _obligations_of(theorem).values()
        if selects(patterns, obligation.id)
    ]


def select(patterns: Sequence[str]) -> list[Obligation]:
    """Return the obligations that any of the patterns selects (all for no pattern).

    Raises
    ------
    InputError
        If a pattern selects nothing.
    """
    for pattern in patterns:
        if not matching((pattern,)):
            raise InputError(f"no obligation matches {pattern!r}; {near(pattern)}")
    return matching(patterns)


def near(pattern: str) -> str:
    """Return what to say of a pattern that selects nothing: theorems with its parts, or spelled like it."""
    ids = sorted(theorem.id for theorem in theorems())
    parts = [part for part in re.split(r"[/*?\[\]]+", pattern) if part]
    alike = [identifier for identifier in ids if parts and all(part in identifier for part in parts)]
    alike += get_close_matches(pattern[:80], ids, n=3, cutoff=0.6)
    close = list(dict.fromkeys(alike))[:3]
    return f"did you mean {' or '.join(close)}?" if close else "mmaproof list shows what there is"
