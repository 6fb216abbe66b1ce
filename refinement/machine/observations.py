"""Observations of a run, deduplicated by line and kind."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..analysis.definedness import reaching
from ..findings.finding import KernelFinding, KernelNote, Kind
from ..terms.interning import Ids
from ..terms.store import INPUT, TermStore

KEPT = 3
"""How many findings of one kind are kept for one line."""


class _Held(NamedTuple):
    """What is a finding if something depends on leaves of which nothing is known."""

    finding: KernelFinding
    occurrences: int
    undefined: Ids


class Observations:
    """Findings of a run, deduplicated.

    Parameters
    ----------
    path : str
        The kernel's file.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._kept: dict[tuple[Kind, int], list[KernelFinding]] = {}
        self._causes: set[tuple[Kind, int, str]] = set()
        self._occurrences: dict[tuple[Kind, int], int] = {}
        self._notes: dict[tuple[int, int], KernelNote] = {}
        self._held: list[_Held] = []

    def add(
        self,
        kind: Kind,
        message: str,
        line: int,
        thread: str = "",
        occurrences: int = 1,
        other_line: int = 0,
        cause: str = "",
    ) -> None:
        """Note that something happened at a line, the first time in a thread; of one cause, once."""
        key = kind, line
        self._occurrences[key] = self._occurrences.get(key, 0) + occurrences
        kept = self._kept.setdefault(key, [])
        finding = KernelFinding(kind, message, self._path, line, thread, other_line=other_line)
        if len(kept) < KEPT and finding not in kept and not (cause and (*key, cause) in self._causes):
            kept.append(finding)
        self._causes.add((*key, cause))

    def hold(
        self, kind: Kind, message: str, line: int, thread: str, occurrences: int, undefined: Ids
    ) -> None:
        """Note what is a finding only if something comes to depend on leaves, of which nothing is known."""
        finding = KernelFinding(kind, message, self._path, line, thread)
        self._kept.setdefault((kind, line), [])  # in the order in which they were met
        self._held.append(_Held(finding, occurrences, np.unique(undefined)))

    def note(self, message: str, line: int, other_line: int) -> None:
        """Note what is no fault of two instructions, the first time."""
        note = KernelNote(message, self._path, line, other_line=other_line)
        self._notes.setdefault((line, other_line), note)

    @property
    def empty(self) -> bool:
        """Whether nothing has been noted."""
        return not (self._kept or self._held or self._notes)

    @property
    def notes(self) -> tuple[KernelNote, ...]:
        """What is no fault, once for each pair of instructions."""
        return tuple(self._notes.values())

    def release(self, store: TermStore, terms: Ids, wanted: NDArray[np.uint64] | None = None) -> None:
        """Note what is held of leaves on which some terms, or the bits `wanted` of them, depend."""
        if not self._held:
            return
        leaves = np.unique(np.concatenate([each.undefined for each in self._held]))
        used = reaching(store, leaves, terms, wanted)
        if not len(used):
            return
        kept = []
        for each in self._held:
            if np.isin(each.undefined, used).any():
                one = each.finding
                self.add(one.kind, one.message, one.line, one.thread, each.occurrences)
            else:
                kept.append(each)
        self._held = kept

    def tell_unused(self) -> None:
        """Note, as no fault, what is held still: nothing depends on it. Each line once."""
        for each in self._held:
            one = each.finding
            self.note(f"{one.message}; no result depends on it", one.line, 0)
        self._held = []

    @property
    def refute(self) -> bool:
        """Whether a finding shows the kernel to be wrong."""
        return any(kind.refutes for (kind, _), kept in self._kept.items() if kept)

    @property
    def findings(self) -> tuple[KernelFinding, ...]:
        """The findings kept, in the order in which their kind and line were first met."""
        return tuple(finding for kept in self._kept.values() for finding in kept)

    @property
    def occurrences(self) -> Mapping[tuple[Kind, int], int]:
        """How often each kind was met at each line, counting every thread."""
        return MappingProxyType(self._occurrences)


class Loads:
    """Elements of inputs that each line loaded, from memory and from shared memory."""

    _MANY = 1 << 20
    _SPACES = ("global", "shared")

    def __init__(self) -> None:
        self._terms: dict[tuple[str, int], list[Ids]] = {}
        self._counts: dict[tuple[str, int], int] = {}

    def add(self, space: str, line: int, terms: Ids) -> None:
        """Note that a line loaded terms from a state space."""
        if space not in self._SPACES:
            return
        key = space, line
        self._terms.setdefault(key, []).append(terms.reshape(-1))
        self._counts[key] = self._counts.get(key, 0) + terms.size
        if self._counts[key] > self._MANY:
            self._terms[key] = [np.unique(np.concatenate(self._terms[key]))]
            self._counts[key] = 0

    def by_line(self, store: TermStore, space: str) -> Mapping[int, Ids]:
        """Return the elements (distinct input terms) that each line loaded from a state space."""
        found = {}
        for (where, line), terms in self._terms.items():
            if where == space:
                distinct = np.unique(np.concatenate(terms))
                distinct = distinct[distinct >= 0]
                found[line] = distinct[store.are(INPUT, distinct)]
        return MappingProxyType(found)
