"""A term store whose integers may be polynomials in symbols, with unresolved side conditions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.formats import Format
from ..terms.evaluation import ones, signed_values
from ..terms.interning import Ids, RowTable
from ..terms.store import CONSTANT, INPUT, Operation, TermStore, bits
from .given_elements import GivenElements
from .integer_forms import Rows, Symbols, Truths, centred
from .tail_predicates import Rest

INTEGER = "integer in sizes"
"""The input, by name, that stands for integers; no parameter can have this name."""

_LEAST_LIMIT = (1 << 15) - 1
"""The largest integer of the smallest format of which an overflow is told before other doubts."""

_CANCELLED = 4
"""How much smaller than its parts a sum is that is taken for a number where sizes are known."""


class Doubt(NamedTuple):
    """An unresolved side condition: one that symbols do not decide.

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
    divisor : int
        What it is divided by, where the rest is what is not known; else 0.
    """

    line: int
    what: str
    highest: int
    limit: int
    row: tuple[int, ...]
    divisor: int = 0


def deciding(doubts: Sequence[Doubt]) -> Doubt | None:
    """Return the doubt that likely tells why a proof fails: of an integer that may overflow, or the last."""
    wide = [doubt for doubt in doubts if doubt.highest > doubt.limit >= _LEAST_LIMIT]
    return wide[-1] if wide else doubts[-1] if doubts else None


class SymbolicIntegers(TermStore):
    """A term store in which integers may be polynomials in symbols.

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
    rests : tuple of Rest
        Of sizes, what is left of them from a block on; comparisons of it are bits of their own.
    wraps : bool
        Whether there are indices brought back into a size of which it depends on what is left; see
        `wrapped_indices`.
    given : dict of str to GivenElements
        Arrays of which it is known what they hold.
    folds : bool
        Whether symbols are one number each, so that all integers are numbers, and wrap.
    opens : bool
        Whether comparisons that symbols leave open are bits of their own; see `open_comparisons`.
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
        self.rests: tuple[Rest, ...] = ()
        self.wraps = False
        self.given: dict[str, GivenElements] = {}
        self.folds = False
        self.unbounded = False
        self.opens = False

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
            found[varying] = self.plain(named, self.row_numbers(rows[varying]))
        return found

    def is_integer(self, terms: Any) -> NDArray[np.bool_]:
        """Tell which terms depend on symbols as integers."""
        if len(self._named) != len(self.operations):
            named = [
                operation.name == INPUT and operation.attribute == INTEGER for operation in self.operations
            ]
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
                raise UnsupportedError(f"which given value of {name} is read depends on sizes")
            return self.constants(values, fmt.bits)
        return self.plain(Operation(INPUT, fmt, attribute=name), self.row_numbers(rows))

    def plain(self, operation: Operation, *arguments: Any) -> Ids:
        """Return the terms of an operation, whatever its arguments depend on."""
        return super().apply(operation, *arguments)

    def doubt(self, what: str, rows: Rows, limit: int = 0, divisor: int = 0) -> None:
        """Note what the symbols don't decide, about some polynomials; see `Doubt`."""
        if len(rows):
            high = self.symbols.bounds(rows)[1]
            worst = int(np.argmax(high))
            self.doubts.append(
                Doubt(self.line, what, int(high[worst]), limit, tuple(rows[worst].tolist()), divisor)
            )
