"""Theorems by comparison: what documents state, and the specification's answers to the questions behind it.

Tables that documents print stand in TSV files of the packages `stated`. The specification is asked about each
row by the cells of some columns, and has to answer the other cells::

    table_theorem(
        "power/stated/targets",
        "targets implement the versions of the ISA that their manuals name",
        "there are the listed processors and no others; each has the listed version",
        "Power ISA 3.1 section 7.2",
        lambda: {"versions": Table(STATED, "targets", "target", lambda name: TARGETS[name].isa, TARGETS)},
    )
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from .comparison import compared
from .obligation import Case, Certificate, Method, Theorem
from .text_tables import table

Key = TypeVar("Key", bound=Hashable)

Comparisons = Mapping[str, Callable[[], Certificate]]
"""What compares, by the last part of the obligation's id."""


def table_theorem(
    identifier: str, title: str, statement: str, source: str, comparisons: Callable[[], Comparisons]
) -> Theorem:
    """Return a theorem of which every obligation is a certificate.

    Parameters
    ----------
    identifier, title, statement, source : str
        As of `Theorem`.
    comparisons : callable
        Returns the certificates' makers, by the last part of the obligation's id.
    """

    def cases() -> Iterator[Case]:
        return (Case(name, goal, method=Method.CERTIFICATE) for name, goal in comparisons().items())

    return Theorem(identifier, title, statement, source, cases)


@dataclass(frozen=True)
class Table:
    """A table of a document, and the question that its rows answer.

    Attributes
    ----------
    package, name : str
        The package `stated`, and the file there without ``.tsv``.
    asked : str
        The columns that the question is given, by commas.
    question : callable
        Asks the specification; returns what the other column has to say, or a tuple for several.
    every : iterable, optional
        What else the specification is asked, of one column: all that it has, where the table has to have it.
    only : mapping, optional
        The rows that are meant: what columns, which then are none, have to say.
    """

    package: str
    name: str
    asked: str
    question: Callable[..., object]
    every: Iterable[str] = ()
    only: Mapping[str, str] | None = None

    def __call__(self) -> Certificate:
        """Return the certificate that the specification answers as the table says."""
        columns, only = self.asked.split(", "), self.only or {}
        stated = {
            tuple(row[name] for name in columns): tuple(
                cell for name, cell in row.items() if name not in columns and name not in only
            )
            for row in self._rows()
        }

        def specified() -> Mapping[tuple[str, ...], tuple[str, ...]]:
            keys = dict.fromkeys((*stated, *((key,) for key in self.every)))
            return {key: self._answer(key) for key in keys}

        return compared(stated, specified)

    def by(self, column: str) -> Comparisons:
        """Return a table for everything that a column says, by that."""
        said = dict.fromkeys(row[column] for row in table(self.package, self.name))
        return {each: replace(self, only={column: each}) for each in said}

    def _rows(self) -> Iterator[Mapping[str, str]]:
        for row in table(self.package, self.name):
            if all(row[name] == said for name, said in (self.only or {}).items()):
                yield row

    def _answer(self, key: tuple[str, ...]) -> tuple[str, ...]:
        found = self.question(*key)
        return tuple(map(cell, found)) if isinstance(found, tuple) else (cell(found),)


def cell(answer: object) -> str:
    """Return how a table writes an answer."""
    match answer:
        case None:
            return ""
        case bool():
            return "yes" if answer else "no"
        case set() | frozenset():
            return " ".join(sorted(map(cell, answer)))
        case list():
            return " ".join(map(cell, answer))
    return str(answer)


def answered(stated: Mapping[Key, object], question: Callable[..., object]) -> Certificate:
    """Return the certificate that a question has the stated answers.

    Parameters
    ----------
    stated : mapping
        The answers by what is asked about: one argument of the question, or a tuple of all.
    question : callable
        Asks the specification.
    """

    def specified() -> Mapping[Key, object]:
        return {key: question(*key) if isinstance(key, tuple) else question(key) for key in stated}

    return compared(stated, specified)
