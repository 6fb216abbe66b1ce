"""Normal forms of quantities that are no sum of products: equal ones become the identical atom.

A function of one small input element is its table of values; any other operation is applied to the
polynomials of its arguments. Two atoms may differ and still be equal: then nothing is decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..spec.formats import FloatFormat, Format
from ..spec.operand_arrays import blocks
from . import operations
from .interning import Ids
from .leaf_functions import Affine, LeafFunctions
from .polynomials import Expander, Polynomials, Rows, combined, compacted, concatenated
from .product_chains import same_products, unrolled
from .quantities import Piece, Pieces, Quantifier, Quantities, is_raw
from .terms import CONCATENATION, NORMAL_FORM, Operation, TermStore
from .traversal import by_operation

Groups = list[tuple[NDArray[np.intp], Pieces]]

_PRODUCTS = 1 << 23
"""Products of a side that are compared at a time."""

_ZERO = "0"
"""Identifies the polynomial 0."""


class NormalForms:
    """Polynomials of terms, whatever operations they contain.

    Parameters
    ----------
    store : TermStore
        The terms.
    """

    def __init__(self, store: TermStore) -> None:
        self.store = store
        self.quantifier = Quantifier(store)
        self._expander = Expander(self.quantifier, self._normalise)
        self._functions = LeafFunctions(store)
        self._identifiers: dict[Any, int] = {_ZERO: 0}

    def difference(self, left: Ids, right: Ids, fmt: Format) -> Polynomials:
        """Return the polynomials of ``left - right``, terms (n,) read in a format; owners are indices."""
        owners = np.arange(len(left))
        positive, negative = (self.quantifier.read(terms, fmt) for terms in (left, right))
        parts = [
            rows
            for chunk in self._chunks(positive, negative)
            for rows in self._apart(positive[chunk], negative[chunk], owners[chunk])
        ]
        return combined(concatenated(parts), _modulus(fmt))

    def _chunks(self, *sides: Quantities) -> Iterator[slice]:
        """Yield slices of so many quantities that their products are held in memory easily."""
        firsts = (unrolled(self.quantifier, side[:1]) for side in sides)
        products = max((chain.left.shape[1] for first in firsts for _, chain in first), default=0)
        yield from blocks(len(sides[0]), _PRODUCTS // max(1, products))

    def _apart(self, positive: Quantities, negative: Quantities, owners: NDArray[np.intp]) -> Iterator[Rows]:
        """Yield the rows of a difference, without the products that both sides add."""
        for members, one in unrolled(self.quantifier, positive):
            for others, other in unrolled(self.quantifier, negative):
                common, here, there = np.intersect1d(members, others, return_indices=True)
                left, right = one.at(here), other.at(there)
                same = same_products(left, right, self._identify)
                shared, apart = common[same], common[~same]
                for chain, quantities, sign in ((left, positive, 1), (right, negative, -1)):
                    for rest in chain.rest:
                        yield self._expander.expand(rest[same], owners[shared], sign)
                    yield self._expander.expand(quantities[apart], owners[apart], sign)

    def _identify(self, quantities: Quantities) -> NDArray[np.int32]:
        numbers = np.empty(len(quantities), dtype=np.int32)
        formats = quantities >> np.int64(32)
        for number in np.unique(formats):
            members = formats == number
            fmt = self.quantifier.formats[number]
            numbers[members] = self.identifiers(self.quantifier.terms(quantities[members]), fmt)
        return numbers

    def polynomials(self, terms: Ids, fmt: Format) -> Polynomials:
        """Return the polynomials of terms (n,) read in a format."""
        rows = self._expander.expand(self.quantifier.read(terms, fmt), np.arange(len(terms)))
        return combined(rows, _modulus(fmt))

    def identifiers(self, terms: Ids, fmt: Format) -> NDArray[np.int32]:
        """Return numbers that are equal for equal polynomials (in one kind of format)."""
        found = self.polynomials(terms, fmt)
        kind = fmt.bits if is_raw(fmt) else None
        bounds = np.searchsorted(found.owners, np.arange(len(terms) + 1))
        numbers = np.empty(len(terms), dtype=np.int32)
        for index, (start, end) in enumerate(pairwise(bounds)):
            monomials = compacted(found.atoms[start:end])
            key: Any = (kind, monomials.shape, monomials.tobytes(), tuple(found.coefficients[start:end]))
            key = key if end > start else _ZERO
            numbers[index] = self._identifiers.setdefault(key, len(self._identifiers))
        return numbers

    # -- what does not split
    def _normalise(self, quantities: Quantities) -> Groups:
        terms, fmt = self.quantifier.terms(quantities), self.quantifier.format(int(quantities[0]))
        leaves = self._functions.leaves(terms)
        found: Groups = []
        of_leaf = np.flatnonzero(leaves >= 0)
        if len(of_leaf):
            found += self._functions_of_elements(of_leaf, terms, leaves, fmt)
        others = np.flatnonzero(leaves < 0)
        if len(others):
            ((operation, members),) = by_operation(self.store, terms[others])
            found.append((others, [self._atom(self._opaque(operation, members, fmt), fmt)]))
        return found

    def _atom(self, terms: Ids, fmt: Format) -> Piece:
        return Piece(1, (self.quantifier.read(terms, fmt),))

    def _functions_of_elements(
        self, indices: NDArray[np.intp], terms: Ids, leaves: NDArray[np.int64], fmt: Format
    ) -> Groups:
        found: Groups = []
        shapes = self._functions.shapes(terms[indices])
        for shape in np.unique(shapes):
            members = indices[shapes == shape]
            elements = leaves[members].astype(np.int32)
            function = self._functions.function(int(terms[members[0]]), int(elements[0]), fmt)
            if isinstance(function, Affine):
                natural = self.store.operation(int(elements[0])).result
                slope, offset = (np.full(len(members), _plain(number), dtype=object) for number in function)
                pieces = [Piece(slope, (self.quantifier.read(elements, natural),)), Piece(offset, ())]
            else:
                table = Operation(NORMAL_FORM, fmt, attribute=("table", function))
                pieces = [self._atom(self.store.apply(table, elements), fmt)]
            found.append((members, pieces))
        return found

    def _opaque(self, operation: Operation, terms: Ids, fmt: Format) -> Ids:
        """Return an operation applied to the polynomials of its arguments."""
        arguments = self.store.arguments(terms)
        if operation.name == CONCATENATION:
            return self._concatenation(operation, arguments[:, 0], fmt)
        if operation.name not in _CONGRUENT or fmt.bits != operation.result.bits:
            reading = Operation(NORMAL_FORM, fmt, attribute=("reading", operation.result))
            return self.store.apply(reading, terms)
        if operation.name == operations.SELECT:
            return self._choice(arguments, fmt)
        read = [self.identifiers(arguments[:, i], each) for i, each in enumerate(operation.operands)]
        if operation.name == operations.EXTREMUM:
            assert isinstance(operation.attribute, tuple)
            return self._extremum(str(operation.attribute[0]), operation.result, fmt, read)
        name = (operation.name, operation.operands, _essential(operation), operation.result)
        return self.store.apply(Operation(NORMAL_FORM, fmt, attribute=name), *read)

    def _extremum(self, which: str, result: Format, fmt: Format, read: Sequence[NDArray[np.int32]]) -> Ids:
        low, high = np.minimum(*read), np.maximum(*read)
        return self.store.apply(Operation(NORMAL_FORM, fmt, attribute=(which, result)), low, high)

    def _choice(self, arguments: NDArray[np.int32], fmt: Format) -> Ids:
        """Return choices; one between the two numbers that its condition compares is an extremum."""
        sides = [self.identifiers(arguments[:, column], fmt) for column in (1, 2)]
        result = np.empty(len(arguments), dtype=np.int32)
        for operation, conditions in by_operation(self.store, np.unique(arguments[:, 0])):
            members = np.isin(arguments[:, 0], conditions)
            then, otherwise = (side[members] for side in sides)
            some = arguments[members, 0]
            chosen = Operation(NORMAL_FORM, fmt, attribute=(operations.SELECT,))
            condition = self.identifiers(some, operation.result)
            result[members] = self.store.apply(chosen, condition, then, otherwise)
            if operation.name != operations.COMPARE or operation.operands[0] != fmt:
                continue
            which = _EXTREMES.get(str(operation.attribute).removesuffix("u"))
            compared = self.store.arguments(some)
            left, right = (self.identifiers(compared[:, column], fmt) for column in (0, 1))
            for first, second, name in ((left, right, which), (right, left, _OPPOSITES.get(which or ""))):
                alike = (then == first) & (otherwise == second)
                if name and alike.any():
                    places = np.flatnonzero(members)[alike]
                    result[places] = self._extremum(name, fmt, fmt, (then[alike], otherwise[alike]))
        return result

    def _concatenation(self, operation: Operation, vectors: Ids, fmt: Format) -> Ids:
        parts = self.store.elements(vectors)
        read = np.empty(parts.shape, dtype=np.int32)
        for column in range(parts.shape[1]):
            for each, members in by_operation(self.store, np.unique(parts[:, column])):
                chosen = np.isin(parts[:, column], members)
                natural = each.result
                read[chosen, column] = self.identifiers(parts[chosen, column], natural)
        name = Operation(NORMAL_FORM, fmt, attribute=("fields", operation.attribute, operation.result))
        return self.store.apply(name, self.store.vectors(read))


_EXTREMES = {
    relation: which
    for relations, which in ((("gt", "ge", "hi", "hs"), "max"), (("lt", "le", "lo", "ls"), "min"))
    for relation in relations
}
"""Which of two numbers is chosen by the comparison of the first with the second, if it holds."""

_OPPOSITES = {"max": "min", "min": "max"}

_CONGRUENT = (
    operations.EXTREMUM,
    operations.SELECT,
    operations.COMPARE,
    operations.FUNCTION,
    operations.BITWISE,
    operations.CONVERT,
    operations.FUSED,
)
"""Operations whose normal form is that of their arguments' polynomials."""


def _essential(operation: Operation) -> Any:
    """Return what of an attribute matters over the reals."""
    if operation.name == operations.COMPARE and isinstance(operation.operands[0], FloatFormat):
        return str(operation.attribute).removesuffix("u")
    return operation.attribute


def _modulus(fmt: Format) -> int | None:
    return 1 << fmt.bits if is_raw(fmt) else None


def _plain(number: Fraction) -> int | Fraction:
    return number.numerator if number.denominator == 1 else number
