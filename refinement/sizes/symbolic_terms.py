"""Terms of a kernel with symbolic sizes: integers that depend on them are polynomials.

Whatever the symbols decide for all of their domain becomes a constant: comparisons, remainders, masks. What
they don't decide stays a term that nothing is known of, as if it were data, so that no address and no branch
can depend on it. Elements of arrays are told apart by polynomials too. Two that differ as polynomials are
taken for different quantities, even if for some sizes they are one: what is equal for all quantities is
equal for these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..terms import operations
from ..terms.evaluation import apply, evaluate, ones, with_open_nans
from ..terms.interning import Ids
from ..terms.store import CONCATENATION, CONSTANT, VECTOR, Operation, bits
from . import wrapped_indices
from .symbolic_integers import SymbolicIntegers
from .symbolic_operations import RULES, bitwise

_DISTRIBUTED = frozenset(
    {
        operations.RING, operations.NEGATE, operations.EXTEND, CONCATENATION, operations.FUNCTION,
        operations.BITWISE, operations.COMPARE, operations.EXTREMUM,
    }
)  # fmt: skip
"""What is computed in each case where an integer is one of two."""


class SymbolicTerms(SymbolicIntegers):
    """A term store in which integers may be polynomials in symbols, with operations on them."""

    def apply(self, operation: Operation, *arguments: Any) -> Ids:
        """Return the terms of an operation; of integers in symbols, polynomials or what they decide."""
        rule = RULES.get(operation.name)
        if rule is None:
            return super().apply(operation, *arguments)
        given = np.broadcast_arrays(*(np.asarray(argument, dtype=np.int32) for argument in arguments))
        shape, flat = given[0].shape, [each.reshape(-1) for each in given]
        if not len(flat[0]):
            return super().apply(operation, *arguments)
        found = rule(self, operation, flat)
        if self.wraps and (found is None or (found < 0).any()):
            found = self._in_both_cases(operation, flat, found)
        if found is None and self.unbounded:
            found = np.full(len(flat[0]), -1, dtype=np.int32)
        if found is None:
            return super().apply(operation, *arguments)
        missing = found < 0
        if missing.any():
            left = [each[missing] for each in flat]
            of_numbers = self._of_numbers if self.unbounded else super().apply
            found[missing] = of_numbers(operation, *left)
        return found.reshape(shape)

    def _of_numbers(self, operation: Operation, *words: Ids) -> Ids:
        """Return the terms (n,) of an operation with numbers in place of integers whose symbols are such."""
        folded = [self._folded(word) for word in words]
        if all(self.are(CONSTANT, each).all() for each in folded):
            values = evaluate(operation, [self.constant_values(each) for each in folded])
            return with_open_nans(self, values, operation.result)
        return super().apply(operation, *folded)

    def _folded(self, terms: Ids) -> Ids:
        """Return terms (n,), or vectors of them, with numbers in place of integers whose symbols are such."""
        if self.are(VECTOR, terms).all():
            elements = self.elements(terms)
            return self.vectors(self._folded(elements.reshape(-1)).reshape(elements.shape))
        found = terms.copy()
        some = np.flatnonzero(self.is_integer(terms))
        numbers = self.symbols.numbers(self.rows_of(terms[some])[0]).view(np.uint64)
        for width in np.unique(self.widths(terms[some])).tolist():
            own = self.widths(terms[some]) == width
            found[some[own]] = self.constants(numbers[own] & ones(width), width)
        return found

    def _in_both_cases(self, operation: Operation, words: list[Ids], found: Ids | None) -> Ids | None:
        """Add what an operation is of words that choose between integers; see `wrapped_indices`."""
        if operation.name not in _DISTRIBUTED:
            return found
        if operation.name == CONCATENATION:
            columns = list(self.elements(words[0]).T)

            def compute(parts: list[Ids], members: NDArray[np.intp]) -> Ids:
                return self.apply(operation, self.vectors(np.stack(parts, axis=1)))
        else:
            columns = words

            def compute(parts: list[Ids], members: NDArray[np.intp]) -> Ids:
                return apply(self, operation, *parts)

        chosen = wrapped_indices.distributed(self, columns, compute)
        return chosen if found is None or chosen is None else np.where(found < 0, chosen, found)

    def combined_words(self, table: int, words: Sequence[Ids]) -> Ids | None:
        """See `TermStore.combined_words`."""
        symbolic = [self.is_integer(each).any() for each in words]
        if not any(symbolic) and not self.wraps:
            return None
        if not words[0].size:
            return words[0]
        word = bits(int(self.widths(words[0][:1])[0]))
        operation = Operation(operations.BITWISE, word, (word,) * 3, attribute=table)
        given = [np.asarray(each, dtype=np.int32) for each in words]
        found = bitwise(self, operation, given) if any(symbolic) else None
        return self._in_both_cases(operation, given, found) if self.wraps else found
