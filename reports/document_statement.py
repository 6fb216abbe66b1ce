"""A sentence of a document, and what of the catalogue or of the rules answers for it."""

from __future__ import annotations

from typing import NamedTuple


class Statement(NamedTuple):
    """A sentence of a document.

    Attributes
    ----------
    text : str
        The sentence, in short.
    answers : tuple of str
        Names that `mmaproof explain` knows.
    remark : str
        What it lacks, or the reason that nothing answers for it.
    """

    text: str
    answers: tuple[str, ...] = ()
    remark: str = ""
