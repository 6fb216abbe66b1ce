"""Writes down which blocks of a specification a process enters for a test.

A process that the environment tells so begins before anything else is imported (`STARTED_FIRST`). One that
runs tests tells of each what it entered (`recording_plugin`); one that a test starts, or forks, writes every
place as soon as it is entered, for the test that started it, since it may be killed. What modules do when
they are imported is told apart.

A process has a file of its own, of JSON lines: ``["place", file, line]``, which numbers places from 0,
``["test", id, seconds, failed, places]``, ``["import", places]``, and ``["started by", id]``. Sets of places
are hexadecimal numbers with a bit for each.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from tempfile import mkstemp
from typing import Any, Self

from .dependencies import Place, Recorder

FOLDER = "MMAPROOF_ENTERED_PLACES"
"""The variable that says where files are written; `WATCHED` in there names the files of the specification."""

TEST = "MMAPROOF_ENTERED_BY"
"""The variable that says for which test a process runs."""

WATCHED = "watched"

STARTED_FIRST = f"from {__name__} import begin\nbegin()\n"
"""What every process executes first, as its ``sitecustomize``."""


class Writing:
    """The file of a process."""

    def __init__(self, folder: Path) -> None:
        self._stream, _ = mkstemp(".jsonl", dir=folder)
        self._numbers: dict[Place, int] = {}

    def line(self, *entry: Any) -> None:
        """Write an entry at once."""
        os.write(self._stream, f"{json.dumps(entry)}\n".encode())

    def places(self, found: Iterable[Place]) -> str:
        """Return a set of places, those that are new written before."""
        bits = 0
        for place in found:
            if place not in self._numbers:
                self._numbers[place] = len(self._numbers)
                self.line("place", *place)
            bits |= 1 << self._numbers[place]
        return f"{bits:x}"


class _WrittenAtOnce(set[Place]):
    """Places that are written when they are entered."""

    def __init__(self, writing: Writing) -> None:
        super().__init__()
        self._writing = writing

    def add(self, place: Place) -> None:
        """Write a place that is new."""
        if place not in self:
            super().add(place)
            self._writing.places((place,))

    def __ior__(self, places: Iterable[Place]) -> Self:  # type: ignore[override,misc]
        for place in places:
            self.add(place)
        return self


class EnteredPlaces:
    """What this process enters.

    Parameters
    ----------
    folder : Path
        Where it writes.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._recorder = Recorder(frozenset((folder / WATCHED).read_text(encoding="utf-8").splitlines()))
        self._recorder.start()
        os.register_at_fork(after_in_child=self._continue_apart)
        self.writing: Writing | None = None
        self._continue_apart()

    def _continue_apart(self) -> None:
        """Write for the test that started this process, if one did."""
        if test := os.environ.get(TEST):
            writing = Writing(self._folder)
            writing.line("started by", test)
            self._recorder.redirect(_WrittenAtOnce(writing))

    def into(self, found: set[Place], read: str = "") -> None:
        """Record in a set from now on, and what a file does when it is imported."""
        self._recorder.redirect(found, read)

    def write_test(self, test: str, seconds: float, failed: bool, found: set[Place]) -> None:
        """Write what a test entered."""
        writing = self._opened()
        writing.line("test", test, round(seconds, 4), failed, writing.places(found))

    def write_imports(self) -> None:
        """Write what was entered when modules were imported."""
        writing = self._opened()
        writing.line("import", writing.places(self._recorder.shared))

    def _opened(self) -> Writing:
        self.writing = self.writing or Writing(self._folder)
        return self.writing


_ENTERED: list[EnteredPlaces] = []


def begin() -> None:
    """Begin, if the environment says so; what is imported from now on records."""
    if folder := os.environ.get(FOLDER):
        _ENTERED.append(EnteredPlaces(Path(folder)))


def entered_places() -> EnteredPlaces:
    """Return what this process enters; it must have begun."""
    return _ENTERED[0]
