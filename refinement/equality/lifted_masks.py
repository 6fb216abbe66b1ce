"""Powers of two with a mask in the exponent as choices of powers.

``2^(where(c, x, -∞) - m)`` is ``where(c, 2^(x - m), 0)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...spec.formats import Format
from ..normal_forms.elementary_forms import stem
from ..normal_forms.forms import NormalForms
from ..terms import operations
from ..terms.choices import chosen
from ..terms.domains import Rewriting
from ..terms.evaluation import apply
from ..terms.interning import Ids
from ..terms.store import Operation

_DEPTH = 4
"""Sums and products between a power and the choice in its exponent."""


class LiftedMasks(Rewriting):
    """Replaces powers of two of choices by choices of powers, where one of these is 0.

    They are equal wherever they are no NaN.

    Parameters
    ----------
    forms : NormalForms
        Of the terms.
    """

    def __init__(self, forms: NormalForms) -> None:
        super().__init__(forms.store)
        self._classes = forms.quantifier.classes

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return terms of one operation whose arguments are replaced."""
        found = super().applied(operation, terms, given)
        if operation.name != operations.FUNCTION or stem(operation) != "ex2":
            return found
        exponents = self.store.arguments(found)[:, 0]
        lifted = {each: self._lifted(operation, each) for each in np.unique(exponents).tolist()}
        pairs = zip(found.tolist(), exponents.tolist(), strict=True)
        return np.array([lifted[each] or term for term, each in pairs], dtype=np.int32)

    def _lifted(self, operation: Operation, exponent: int) -> int | None:
        """Return a power of two as a choice; None if no mask is in the exponent."""
        path = self._path(exponent, operation.operands[0], _DEPTH)
        if path is None:
            return None
        condition, *sides = self._arguments(path[-1])
        powers = []
        for side in sides:
            term = side
            for above, below in zip(path[-2::-1], path[:0:-1], strict=True):
                made = [term if argument == below else argument for argument in self._arguments(above)]
                term = int(apply(self.store, self.store.operation(above), *([each] for each in made))[0])
            fmt = operation.operands[0]
            if self._classes.infinite(np.array([term], dtype=np.int32), fmt)[0] < 0:
                powers.append(int(self.store.constants(0, operation.result.bits)))
            else:
                powers.append(int(apply(self.store, operation, [term])[0]))
        zero = int(self.store.constants(0, operation.result.bits))
        if zero not in powers:
            return None
        return int(chosen(self.store, np.array([condition]), *(np.array([power]) for power in powers))[0])

    def _path(self, term: int, fmt: Format, depth: int) -> list[int] | None:
        """Return terms from an exponent to a choice of an infinity that it is a sum or a multiple of."""
        operation = self.store.operation(term)
        if operation.name == operations.SELECT:
            sides = np.array(self._arguments(term)[1:], dtype=np.int32)
            return [term] if (self._classes.infinite(sides, fmt) != 0).any() else None
        if not depth or operation.name not in (operations.FUSED, operations.NEGATE):
            return None
        for each, read in zip(self._arguments(term), operation.operands, strict=True):
            if (found := self._path(each, read, depth - 1)) is not None:
                return [term, *found]
        return None

    def _arguments(self, term: int) -> list[int]:
        operation = self.store.operation(term)
        given: list[int] = self.store.arguments(np.array([term]))[0].tolist()
        return given[: len(operation.operands)]
