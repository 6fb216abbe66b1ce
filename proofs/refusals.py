"""What is listed as no text at all."""

from __future__ import annotations

from collections.abc import Callable

from ..spec.errors import InputError


def refused(read: Callable[[], object]) -> bool:
    """Tell whether what reads a text refuses it."""
    try:
        read()
    except InputError:
        return True
    return False
