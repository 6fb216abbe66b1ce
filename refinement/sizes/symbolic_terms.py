"""Terms of a kernel whose sizes are symbols: integers that depend on them are polynomials, not data.

Whatever the symbols decide for all of their domain becomes a constant: comparisons, remainders, masks. What
they don't decide stays a term that nothing is known of, as if it were data, so that no address and no branch
can depend on it. Elements of arrays are told apart by polynomials too. Two that differ as polynomials are
taken for different quantities, even if for some sizes they are one: what is equal for all quantities is
equal for these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.formats import Format
from ..terms import operations
from ..terms.evaluation import evaluate, ones, signed_values, with_open_nans
from ..terms.interning import Ids, RowTable
from ..terms.store import CONCATENATION, CONSTANT, INPUT, VECTOR, Operation, TermStore, bits
from . import wrapped_indices
from .given_elements import GivenElements
from .integer_forms import Rows, Symbols, Truths, centred
from .symbolic_operations import RULES, bitwise
from .tail_predicates import Rest

INTEGER = "integer in sizes"
"""The input, by name, that stands for integers; no parameter can have this name."""

_LEAST_LIMIT = (1 << 15) - 1
"""The largest integer of the smallest format of which an overflow is told before other doubts."""

_CANCELLED = 4
"""How much smaller than its parts a sum is that is taken for a number where sizes are known."""

Placed = Callable[[NDArray[np.int64]], Ids]
"""The terms of an array's elements, by their linear indices at sizes that stand in for all."""


class Doubt(NamedTuple):
    """What symbols do not decide.

    Attributes
    ----------
    line : int
        The source line that asks.
    what : str
        What it asks.
    highest : int
        The largest that a number may be, of those that would have to fit.
    limit : int
        The largest that would fit; 0 where nothing has to, `UNBOUNDED` where rests decide.
    row : tuple of int
        The coefficients of the polynomial that may be the largest.
    """

    line: int
    what: str
    highest: int
    limit: int
    row: tuple[int, ...]


_DISTRIBUTED = frozenset(
    {
        operations.RING, operations.NEGATE, operations.EXTEND, CONCATENATION, operations.FUNCTION,
        operations.BITWISE, operations.COMPARE, operations.EXTREMUM,
    }
)  # fmt: skip
"""What is computed in each case where an integer is one of two."""


def deciding(doubts: Sequence[Doubt]) -> Doubt | None:
    """Return the doubt that likely tells why a proof fails: of an integer that may overflow, or the last."""
    wide = [each for each in doubts if each.highest > each.limit >= _LEAST_LIMIT]
    return wide[-1] if wide else doubts[-1] if doubts else None


class SymbolicTerms(TermStore):
    """Terms, of which some are polynomials of symbols.

    Parameters
    ----------
    symbols : Symbols
        What they depend on; may be replaced by the same symbols in another domain.

    Attributes
    ----------
    decided : set of int
        Lines in which comparisons of integers that depend on symbols were decided.
    doubts : list of Doubt
        What was not.
    placed : dict of str to callable
        Arrays whose elements `inputs` finds otherwise than by their numbers.
    rests : tuple of Rest
        Of sizes, what is left of them from a block on; comparisons of it are bits of their own.
    wraps : bool
        Whether there are indices brought back into a size of which it depends on what is left; see
        `wrapped_indices`.
    given : dict of str to GivenElements
        Arrays of which it is known what they hold.
    folds : bool
        Whether symbols are one number each, so that all integers are numbers, and wrap.
    unbounded : bool
        Whether integers are taken not to wrap, however many bits they have: not what a kernel does, but what
        may be meant.
    """

    def __init__(self, symbols: Symbols) -> None:
        super().__init__()
        self.symbols = symbols
        self._rows = RowTable(2 * len(symbols))
        self._named = np.zeros(0, dtype=bool)
        self.decided: set[int] = set()
        self.doubts: list[Doubt] = []
        self.placed: dict[str, Placed] = {}
        self.rests: tuple[Rest, ...] = ()
        self.wraps = False
        self.given: dict[str, GivenElements] = {}
        self.folds = False
        self.unbounded = False

    # -- rows of coefficients
    def row_numbers(self, rows: Rows) -> NDArray[np.int32]:
        """Return numbers (n,) that are equal for equal rows."""
        return self._rows.numbers(np.ascontiguousarray(rows).view(np.int32))

    def rows_numbered(self, numbers: NDArray[np.int32]) -> Rows:
        """Return the rows of numbers that `row_numbers` gave."""
        return np.ascontiguousarray(self._rows.rows[numbers]).view(np.int64)

    def integers(self, rows: Rows, width: int) -> Ids:
        """Return the terms (n,) of polynomials modulo ``2**width``; constants where they are numbers."""
        if self.folds or self.unbounded:
            numbers = self.symbols.numbers(rows)
            small = np.abs(numbers) < self.symbols.largest_parts(rows) / _CANCELLED
            whole = self.symbols.constants(numbers)
            rows = whole if self.folds else np.where(small[:, None], whole, rows)
        rows = centred(rows, width)
        varying = rows[:, 1:].any(axis=1)
        found = np.empty(len(rows), dtype=np.int32)
        if not varying.all():
            found[~varying] = self.constants(rows[~varying, 0].view(np.uint64) & ones(width), width)
        if varying.any():
            named = Operation(INPUT, bits(width), attribute=INTEGER)
            found[varying] = super().apply(named, self.row_numbers(rows[varying]))
        return found

    def is_integer(self, terms: Any) -> NDArray[np.bool_]:
        """Tell which terms depend on symbols as integers."""
        if len(self._named) != len(self.operations):
            named = [each.name == INPUT and each.attribute == INTEGER for each in self.operations]
            self._named = np.array(named, dtype=bool)
        return np.asarray(self._named[self.operation_numbers(terms)])

    def rows_of(self, terms: Ids) -> tuple[Rows, Truths]:
        """Return the rows of terms (n,), and which of these are integers in symbols, or constants."""
        symbolic, constant = self.is_integer(terms), self.are(CONSTANT, terms)
        rows = np.zeros((len(terms), len(self.symbols)), dtype=np.int64)
        if symbolic.any():
            rows[symbolic] = self.rows_numbered(self.arguments(terms[symbolic])[:, 0])
        for width in np.unique(self.widths(terms[constant])).tolist():
            some = np.flatnonzero(constant & (self.widths(terms) == width))
            rows[some, 0] = signed_values(self.constant_values(terms[some]), width)
        return rows, symbolic | constant

    def inputs(self, name: str, fmt: Format, indices: Any) -> Ids:
        """Return elements of an input array; see `placed`."""
        if name not in self.placed:
            return super().inputs(name, fmt, indices)
        flat = np.asarray(indices, dtype=np.int64)
        return self.placed[name](flat.reshape(-1)).reshape(flat.shape)

    def elements_at(self, name: str, fmt: Format, rows: Rows) -> Ids:
        """Return the elements (n,) of an array at places that are polynomials.

        Raises
        ------
        UnsupportedError
            If its values are given, and symbols decide which of them an element is.
        """
        if name in self.given:
            values = self.given[name].at(rows)
            if values is None:
                raise UnsupportedError(f"sizes decide which of the given values of {name} are read")
            return self.constants(values, fmt.bits)
        return super().apply(Operation(INPUT, fmt, attribute=name), self.row_numbers(rows))

    # -- operations
    def apply(self, operation: Operation, *arguments: Any) -> Ids:
        """Return the terms of an operation; of integers in symbols, polynomials or what they decide."""
        rule = RULES.get(operation.name)
        if rule is None:
            return super().apply(operation, *arguments)
        given = np.broadcast_arrays(*(np.asarray(each, dtype=np.int32) for each in arguments))
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
        folded = [self._folded(each) for each in words]
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
                return self.apply(operation, *parts)

        chosen = wrapped_indices.distributed(self, columns, compute)
        return chosen if found is None or chosen is None else np.where(found < 0, chosen, found)

    def combined_words(self, table: int, words: Sequence[Ids]) -> Ids | None:
        """See `TermStore.combined_words`."""
        symbolic = [self.is_integer(each).any() for each in words]
        if not any(symbolic) and not self.wraps:
            return None
        word = bits(int(self.widths(words[0][:1])[0]))
        operation = Operation(operations.BITWISE, word, (word,) * 3, attribute=table)
        given = [np.asarray(each, dtype=np.int32) for each in words]
        found = bitwise(self, operation, given) if any(symbolic) else None
        return self._in_both_cases(operation, given, found) if self.wraps else found

    def doubt(self, what: str, rows: Rows, limit: int = 0) -> None:
        """Note what the symbols don't decide, about some polynomials."""
        if len(rows):
            high = self.symbols.bounds(rows)[1]
            worst = int(np.argmax(high))
            self.doubts.append(Doubt(self.line, what, int(high[worst]), limit, tuple(rows[worst].tolist())))
