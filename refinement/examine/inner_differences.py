"""The innermost argument in which two applications of one function differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..normal_forms.forms import NormalForms
from ..terms.interning import Ids
from ..terms.operations import EXTREMUM, FUNCTION
from ..terms.store import Operation
from .diagnosis import Monomial, differing, paired

_DEPTH = 4


@dataclass(frozen=True)
class InnerDifference:
    """The innermost difference of two values.

    Attributes
    ----------
    monomials : sequence of Monomial
        Products, of the innermost arguments that differ.
    function : str
        Whose arguments they are: ``max``; empty where it is the values themselves that differ.
    """

    monomials: Sequence[Monomial]
    function: str = ""


class InnerDifferences:
    """Descends from values that differ to the arguments that differ.

    Parameters
    ----------
    forms : NormalForms
        Of the store.
    """

    def __init__(self, forms: NormalForms) -> None:
        self._forms, self._store = forms, forms.store

    def innermost(self, difference: Sequence[Monomial]) -> InnerDifference:
        """Return in what two values differ, given the products that do."""
        found = InnerDifference(difference)
        for _ in range(_DEPTH):
            inside = self.inside(found.monomials)
            if inside is None:
                break
            found = inside
        return found

    def inside(self, difference: Sequence[Monomial]) -> InnerDifference | None:
        """Return the difference of the one argument that differs, of values of one function."""
        if len(difference) != 2:
            return None
        pairs = paired(difference)
        if not pairs:  # the kernel has none of them
            return None
        used, wanted = pairs[0]
        apart = [set(one.atoms) - set(other.atoms) for one, other in ((used, wanted), (wanted, used))]
        if any(len(each) != 1 for each in apart):
            return None
        quantifier = self._forms.quantifier
        terms = [quantifier.origin(int(quantifier.terms(np.array([each.pop()]))[0])) for each in apart]
        if terms[0] is None or terms[1] is None:
            return None
        operation, other = (self._store.operation(term) for term in terms if term is not None)
        if not (name := _name(operation)) or name != _name(other):
            return None
        count = len(operation.operands)
        kernel, contract = self._store.arguments(np.array(terms, dtype=np.int32))[:, :count]
        for arguments in _orders(operation, kernel):
            different = [
                found
                for index, fmt in enumerate(operation.operands)
                if (
                    found := differing(
                        *self._forms.compared(arguments[[index]], contract[[index]], fmt), 0, fmt
                    )
                )
            ]
            if len(different) == 1:
                return InnerDifference(different[0], name)
        return None


def _orders(operation: Operation, arguments: Ids) -> Iterator[Ids]:
    """Yield the orders in which arguments may stand."""
    yield arguments
    if operation.name == EXTREMUM:
        yield arguments[::-1]


def _name(operation: Operation) -> str:
    """Return the name of a function without how it is approximated; empty where it is none."""
    if operation.name == EXTREMUM:
        assert isinstance(operation.attribute, tuple)
        return str(operation.attribute[0])
    return str(operation.attribute).partition(".")[0] if operation.name == FUNCTION else ""
