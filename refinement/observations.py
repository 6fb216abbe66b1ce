"""What a run notices, told once for each line and kind however many threads and times it concerns."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from .findings import KernelFinding, KernelNote, Kind
from .interning import Ids
from .terms import INPUT, TermStore

KEPT = 3
"""How many findings of one kind are kept for one line."""


class Observations:
    """Findings of a run.

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
        self._held: dict[int, list[tuple[Kind, str, int, str, int]]] = {}

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

    def hold(self, kind: Kind, message: str, line: int, thread: str = "", occurrences: int = 1) -> None:
        """Note what is a finding only if the values that the line loads are used for something."""
        self._held.setdefault(line, []).append((kind, message, line, thread, occurrences))

    def note(self, message: str, line: int, other_line: int) -> None:
        """Note what is no fault of two instructions, the first time."""
        note = KernelNote(message, self._path, line, other_line=other_line)
        self._notes.setdefault((line, other_line), note)

    @property
    def notes(self) -> tuple[KernelNote, ...]:
        """What is no fault, once for each pair of instructions."""
        return tuple(self._notes.values())

    @property
    def held_lines(self) -> NDArray[np.int32]:
        """Lines of which something is held."""
        return np.array(sorted(self._held), dtype=np.int32)

    def release(self, lines: NDArray[np.int32]) -> None:
        """Note what is held of some lines, as their values are used."""
        for line in np.unique(lines).tolist():
            for each in self._held.pop(line, ()):
                self.add(*each)

    @property
    def refute(self) -> bool:
        """Whether a finding shows the kernel to be wrong."""
        return any(kind.refutes for kind, _ in self._kept)

    @property
    def findings(self) -> tuple[KernelFinding, ...]:
        """The findings kept, in the order in which their kind and line were first met."""
        return tuple(finding for kept in self._kept.values() for finding in kept)

    @property
    def occurrences(self) -> Mapping[tuple[Kind, int], int]:
        """How often each kind was met at each line, counting every thread."""
        return MappingProxyType(self._occurrences)


class Loads:
    """Which lines loaded which elements of the kernel's inputs, from memory and from shared memory."""

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
