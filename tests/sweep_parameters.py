"""Parameters of tests of which only some are tested always, and the others in a sweep."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def few(names: Iterable[str], *chosen: str) -> list[Any]:
    """Return parameters of which only those chosen are tested always."""
    return [each if each in chosen else pytest.param(each, marks=pytest.mark.sweep) for each in names]
