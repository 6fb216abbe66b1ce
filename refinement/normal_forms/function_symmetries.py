"""Symmetries of functions, tanh(-x) as -tanh(x), floor(-x) as -ceil(x); functions of 0; floor as trunc."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ...spec.formats import Format
from ..rules import elementary as rules
from ..rules.expression import called
from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import Operation
from .elementary_forms import stem
from .polynomials import Polynomials
from .reading_words import Piece
from .readings import Quantifier
from .sparse_polynomials import Sparse, sparse
from .sum_atoms import Groups


class Symmetry(NamedTuple):
    """``f(-x) = sign · g(x)``, of a function f.

    Attributes
    ----------
    sign : int
        1 or -1.
    function : str
        The name of g.
    """

    sign: int
    function: str


def _symmetries() -> Iterator[tuple[str, Symmetry]]:
    for rule in rules.SYMMETRIES:
        (name,), (function,) = called(rule.left), called(rule.right)
        yield name, Symmetry(-1 if rule.right.startswith("-") else 1, function)


SYMMETRIES: Mapping[str, Symmetry] = MappingProxyType(dict(_symmetries()))
"""Functions of which those of opposites are known."""

AT_ZERO: Mapping[str, int] = MappingProxyType(
    {name: int(rule.right) for rule in rules.AT_ZERO for name in called(rule.left)}
)
"""What functions of 0 are."""

WHERE_NOT_NEGATIVE: Mapping[str, str] = MappingProxyType(
    {
        name: function
        for rule in rules.NOT_NEGATIVE
        for name, function in zip(called(rule.left), called(rule.right), strict=True)
    }
)
"""What functions are of numbers that are not negative."""


class FunctionSymmetries:
    """Writes functions of polynomials that begin with a minus as those of the opposites.

    Parameters
    ----------
    quantifier : Quantifier
        Of the store.
    polynomials : callable
        Returns the polynomials of terms (n,) read in a format.
    is_not_negative : callable
        Tells whether a polynomial is known not to be negative.
    """

    def __init__(
        self,
        quantifier: Quantifier,
        polynomials: Callable[[Ids, Format], Polynomials],
        is_not_negative: Callable[[Sparse], bool],
    ) -> None:
        self._quantifier, self._store, self._polynomials = quantifier, quantifier.store, polynomials
        self._is_not_negative = is_not_negative

    def expanded(self, terms: Ids, fmt: Format) -> Groups:
        """Return the expansions of those of terms (n,) of one operation that are turned."""
        operation = self._store.operation(int(terms[0]))
        name = stem(operation) if operation.name == operations.FUNCTION else ""
        if name not in SYMMETRIES or fmt != operation.result:
            return []
        sign, function = SYMMETRIES[name]
        (source,) = operation.operands
        arguments = self._store.arguments(terms)[:, 0]
        found = self._polynomials(arguments, source)
        owners, first = np.unique(found.owners, return_index=True)
        groups: Groups = []
        zeros = np.setdiff1d(np.arange(len(terms)), owners)
        if len(zeros) and name in AT_ZERO:
            groups.append((zeros, [Piece(AT_ZERO[name], ())] if AT_ZERO[name] else []))
        negative = owners[np.asarray(found.coefficients[first] < 0, dtype=bool)]
        if len(negative):
            opposites = self._store.apply(operations.negate(source), arguments[negative])
            turned = self._store.apply(_other(operation, name, function), opposites)
            groups.append((negative, [Piece(sign, (self._quantifier.read(turned, fmt),))]))
        if name in WHERE_NOT_NEGATIVE:
            sums = sparse(found, len(terms))
            places = np.array(
                [at for at in owners.tolist() if self._is_not_negative(sums[at])], dtype=np.intp
            )
            same = self._store.apply(_other(operation, name, WHERE_NOT_NEGATIVE[name]), arguments[places])
            groups += [(places, [Piece(1, (self._quantifier.read(same, fmt),))])] if len(places) else []
        return groups


def _other(operation: Operation, name: str, function: str) -> Operation:
    return replace(operation, attribute=str(operation.attribute).replace(name, function, 1))
