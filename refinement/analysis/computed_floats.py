"""Computed floats: whether anything that a term is made of may have been rounded."""

from __future__ import annotations

from typing import Any

from ...spec.formats import FloatFormat
from ..terms import operations
from ..terms.domains import Domain
from ..terms.interning import Ids
from ..terms.store import Operation

_CHOOSING = (operations.SELECT, operations.EXTREMUM, operations.NEGATE)
"""Operations whose results are what they are given, but for signs."""


class DependsOnComputed(Domain):
    """Whether a term is made of floats that are computed or converted."""

    dtype = bool

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return whether results are such floats, or any argument is made of them."""
        computes = isinstance(operation.result, FloatFormat) and operation.name not in _CHOOSING
        return super().applied(operation, terms, given) | computes
