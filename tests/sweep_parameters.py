"""Parameters of tests of which only some are tested always, and the others in a sweep."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import pytest


def few(names: Iterable[str], *chosen: str) -> list[Any]:
    """Return parameters of which only those chosen are tested always."""
    return [name if name in chosen else pytest.param(name, marks=pytest.mark.sweep) for name in names]


def spread(names: Iterable[str], every: int, slow: Container[str] = ()) -> list[Any]:
    """Return parameters of which the first of each so many is tested always, if it is not slow."""
    return [
        each if number % every == 0 and each not in slow else pytest.param(each, marks=pytest.mark.sweep)
        for number, each in enumerate(names)
    ]
