"""How powers of two of a kernel are used: what only divides, or only grows a logarithm, may overflow."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...spec.formats import F64
from ..normal_forms.elementary_forms import stem
from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import CONSTANT, TermStore
from ..terms.traversal import by_operation, operands

DIVIDING = ("rcp", "div")
"""Functions whose last argument divides."""


class UsesOfPowers:
    """Looks at what terms are made of others.

    Parameters
    ----------
    store : TermStore
        The terms.
    actual : array (n,)
        Outputs.
    own : array (m,)
        Terms of the kernel that its formula does not have.
    """

    def __init__(self, store: TermStore, actual: Ids, own: Ids) -> None:
        self._store, self._actual, self._own = store, actual, own

    def only_grow_logarithms(self, term: int) -> bool:
        """Tell whether a power is only used in ``log(1 + exp(x))`` that is written out.

        That is shown to be right for every x, whatever the power stands for it here.
        """
        sums = self._users.get(term, set())
        users = {user for each in sums for user in self._users.get(each, {term})}
        logarithm = operations.function("lg2", F64, F64)
        if not {term, *sums}.isdisjoint(self._actual.tolist()):
            return False
        return bool(users) and {self._store.operation(each) for each in users} == {logarithm}

    @cached_property
    def _users(self) -> dict[int, set[int]]:
        """The kernel's own terms that are made of each term."""
        found: dict[int, set[int]] = {}
        for operation, members in by_operation(self._store, self._own):
            for column in operands(self._store, operation, members):
                users = np.repeat(members, len(column) // len(members))
                for argument, user in zip(column.tolist(), users.tolist(), strict=True):
                    found.setdefault(argument, set()).add(user)
        return found

    def only_divide(self, term: int) -> bool:
        """Tell whether a power, or its sum with constants, only divides: an infinity that divides gives 0."""
        users = self._users.get(term, set())
        return bool(users) and term not in self._actual and all(self._divides(term, user) for user in users)

    def _divides(self, term: int, user: int) -> bool:
        operation = self._store.operation(user)
        count = 2 if operations.divides(operation) else min(3, len(operation.operands))
        given = self._store.arguments(user)[:count].tolist()
        divides = operation.name == operations.FUNCTION and stem(operation) in DIVIDING
        if divides and given[-1] == term:
            return term not in given[:-1]
        others = np.array([each for each in given if each != term], dtype=np.int32)
        moves = divides or operation.name in (operations.FUSED, operations.CONVERT)
        return moves and bool(self._store.are(CONSTANT, others).all()) and self.only_divide(user)
