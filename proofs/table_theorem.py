"""Theorems by comparison: what documents state, and the specification's answers to the questions behind it.

Tables that documents print stand in TSV files of the packages `stated`. The specification is asked about each
row by the cells of some columns, and has to answer the other cells.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TypeVar

from .comparison import compared
from .obligation import Case, Certificate, Method, Theorem

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
