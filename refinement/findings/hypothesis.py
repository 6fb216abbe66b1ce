"""Hypotheses: conditions, not shown, that an equality over the real numbers rests on."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Hypothesis(NamedTuple):
    """Something that is not shown, on which an equality over the real numbers rests.

    Attributes
    ----------
    name : str
        Its name, which is stable.
    statement : str
        What is taken for granted.
    """

    name: Literal["finite-inputs", "no-overflow", "no-underflow", "no-turning", "in-domain", "approximation"]
    statement: str
