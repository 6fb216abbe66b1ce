"""Sums of many products as atoms: equal atoms for equal multisets of products."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format
from ..terms import operations
from ..terms.interning import Ids
from ..terms.nested_operations import NestedOperations
from ..terms.store import NORMAL_FORM, Operation
from .aligned_dot_products import FactoredProducts
from .product_chains import Chain, Whole, unrolled
from .reading_words import Piece, Pieces, Quantities
from .readings import Quantifier

Groups = list[tuple[NDArray[np.intp], Pieces]]
"""Expansions of quantities, and the indices of those that have each."""

_SUMS = (operations.FUSED, operations.RING, operations.DOT, operations.SCALED_DOT)
"""Operations whose terms may be sums of many products."""

_MANY = 8
"""Products from which on a sum is an atom."""


class Expanded(Enum):
    """Sums that are expanded whatever their number of products."""

    NONE = "none"
    OF_FUNCTIONS = "those with functions in them"
    ALL = "all"


class SumAtoms:
    """Expands sums, or makes them atoms.

    Parameters
    ----------
    quantifier : Quantifier
        Of the store.
    products : FactoredProducts
        Numbers sums.
    expanded : Expanded
        Which sums are no atoms.
    whole : callable
        Tells which quantities are not taken apart.
    """

    def __init__(
        self, quantifier: Quantifier, products: FactoredProducts, expanded: Expanded, whole: Whole
    ) -> None:
        self._whole = whole
        self._quantifier = quantifier
        self._store = quantifier.store
        self._products = products
        self._expanded = expanded
        self._functions = NestedOperations(self._store, operations.FUNCTION, 1)

    def may_be(self, quantities: Quantities) -> bool:
        """Tell whether quantities of one kind may be sums that are atoms."""
        operation = self._store.operation(int(self._quantifier.terms(quantities[:1])[0]))
        return self._expanded is not Expanded.ALL and operation.name in _SUMS

    def of(self, quantities: Quantities, others: Callable[[Quantities], Groups]) -> Groups:
        """Return sums whose products are an atom if they are many, and all that there are if they are few.

        Parameters
        ----------
        quantities : Quantities (n,)
            Of one kind, which may be sums.
        others : callable
            Expands those that are none.
        """
        if self._expanded is Expanded.OF_FUNCTIONS:
            found: Groups = []
            split = self.have_functions(self._quantifier.terms(quantities))
            for places, make in ((split, self._outer), (~split, self._atoms)):
                chosen = np.flatnonzero(places)
                if len(chosen):
                    some = make(quantities[chosen], others)
                    found += [(chosen[indices], pieces) for indices, pieces in some]
            return found
        return self._atoms(quantities, others)

    def _outer(self, quantities: Quantities, others: Callable[[Quantities], Groups]) -> Groups:
        """Take sums one step apart."""
        pieces = self._quantifier.split(quantities)
        return others(quantities) if pieces is None else [(np.arange(len(quantities)), pieces)]

    def _atoms(self, quantities: Quantities, others: Callable[[Quantities], Groups]) -> Groups:
        found: Groups = []
        fmt = self._quantifier.format(int(quantities[0]))
        for places, each in unrolled(self._quantifier, quantities, self._whole):
            chain = self._in_products(each, fmt)
            if chain.rest and (chain.rest[0] == quantities[places]).all():
                found += [(places[some], pieces) for some, pieces in others(quantities[places])]
                continue
            few, many = np.arange(len(places)), np.arange(0)
            if chain.products >= _MANY:
                numbers, counts = self._products.numbers(chain)
                few, many = (np.flatnonzero(each) for each in (counts < _MANY, counts >= _MANY))
                atoms = self._store.apply(
                    Operation(NORMAL_FORM, fmt, attribute=("sum", self._expanded.value)), numbers[many]
                )
                rest = [Piece(1, (each,)) for each in chain.at(many).rest]
                found.append((places[many], [Piece(1, (self._quantifier.read(atoms, fmt),)), *rest]))
            if len(few):
                some = chain.at(few)
                left, right = (some.factors(self._quantifier, side) for side in (some.left, some.right))
                products = [Piece(1, (left, right))] if left.shape[1] else []
                found.append((places[few], [*products, *(Piece(1, (rest,)) for rest in some.rest)]))
        return found

    def _in_products(self, chain: Chain, fmt: Format) -> Chain:
        """Return sums of real numbers with addends as products with 1, if these are many."""
        many = len(chain.rest) >= _MANY and isinstance(fmt, FloatFormat)
        return chain.with_addends(self._quantifier, fmt) if many else chain

    def with_addends(self, one: Chain, other: Chain, quantities: Quantities) -> Iterator[tuple[Chain, Chain]]:
        """Yield two chains, in the format of quantities, and again with many addends as products."""
        yield one, other
        fmt = self._quantifier.format(int(quantities[0]))
        made = self._in_products(one, fmt), self._in_products(other, fmt)
        if made[0] is not one or made[1] is not other:
            yield made

    def have_functions(self, terms: Ids) -> NDArray[np.bool_]:
        """Tell which terms depend on functions of real numbers."""
        return self._functions.are_many(terms)
