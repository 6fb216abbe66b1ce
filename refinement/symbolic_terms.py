"""Terms of a kernel whose sizes are symbols: integers that depend on them are polynomials, not data.

Whatever the symbols decide for all of their domain becomes a constant: comparisons, remainders, masks. What
they don't decide stays a term that nothing is known of, as if it were data, so that no address and no branch
can depend on it. Elements of arrays are told apart by polynomials too. Two that differ as polynomials are
taken for different quantities, even if for some sizes they are one: what is equal for all quantities is
equal for these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..spec.errors import UnsupportedError
from ..spec.formats import Format, IntegerFormat
from . import operations, polynomial_bits, wrapped_indices
from .evaluation import evaluate, ones, signed_values
from .given_elements import GivenElements
from .integer_forms import UNBOUNDED, Rows, Symbols, Truths, centred, divided, divided_by
from .interning import Ids, RowTable
from .operations import Sum
from .rest_conditions import Rest, compared
from .slices import fields
from .terms import CONCATENATION, CONSTANT, INPUT, Operation, TermStore, bits

INTEGER = "integer in sizes"
"""The input, by name, that stands for integers; no parameter can have this name."""

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

    # -- rows of coefficients
    def row_numbers(self, rows: Rows) -> NDArray[np.int32]:
        """Return numbers (n,) that are equal for equal rows."""
        return self._rows.numbers(np.ascontiguousarray(rows).view(np.int32))

    def rows_numbered(self, numbers: NDArray[np.int32]) -> Rows:
        """Return the rows of numbers that `row_numbers` gave."""
        return np.ascontiguousarray(self._rows.rows[numbers]).view(np.int64)

    def integers(self, rows: Rows, width: int) -> Ids:
        """Return the terms (n,) of polynomials modulo ``2**width``; constants where they are numbers."""
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
        rule = _RULES.get(operation.name)
        if rule is None:
            return super().apply(operation, *arguments)
        given = np.broadcast_arrays(*(np.asarray(each, dtype=np.int32) for each in arguments))
        shape, flat = given[0].shape, [each.reshape(-1) for each in given]
        if not len(flat[0]):
            return super().apply(operation, *arguments)
        found = rule(self, operation, flat)
        if self.wraps and (found is None or (found < 0).any()):
            found = self._in_both_cases(operation, flat, found)
        if found is None:
            return super().apply(operation, *arguments)
        missing = found < 0
        if missing.any():
            found[missing] = super().apply(operation, *(each[missing] for each in flat))
        return found.reshape(shape)

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
        found = _bitwise(self, operation, given) if any(symbolic) else None
        return self._in_both_cases(operation, given, found) if self.wraps else found

    def doubt(self, what: str, rows: Rows, limit: int = 0) -> None:
        """Note what the symbols don't decide, about some polynomials."""
        if len(rows):
            high = self.symbols.bounds(rows)[1]
            worst = int(np.argmax(high))
            self.doubts.append(Doubt(self.line, what, int(high[worst]), limit, tuple(rows[worst].tolist())))


Rule = Callable[[SymbolicTerms, Operation, list[Ids]], Ids | None]
"""The terms of an operation; negative where the symbols don't say, None where they don't for any."""


def _read(store: SymbolicTerms, words: list[Ids]) -> tuple[list[Rows], NDArray[np.intp]] | None:
    """Return the rows of words of which some depend on symbols, and where all are integers or constants."""
    symbolic = np.logical_or.reduce([store.is_integer(each) for each in words])
    if not symbolic.any():
        return None
    read = [store.rows_of(each) for each in words]
    where = np.flatnonzero(symbolic & np.logical_and.reduce([known for _, known in read]))
    return ([rows[where] for rows, _ in read], where) if len(where) else None


def _placed(count: int, where: NDArray[np.intp], terms: Ids) -> Ids:
    found = np.full(count, -1, dtype=np.int32)
    found[where] = terms
    return found


def _in_range(store: SymbolicTerms, rows: Rows, fmt: IntegerFormat) -> Truths:
    """Tell which rows are the integers themselves that a format reads."""
    low, high = store.symbols.bounds(rows)
    known = (low > -UNBOUNDED) & (high < UNBOUNDED)
    return np.asarray(known & (low >= fmt.minimum) & (high <= fmt.maximum))


def _ring(store: SymbolicTerms, operation: Operation, words: list[Ids]) -> Ids | None:
    if (read := _read(store, words)) is None:
        return None
    rows, where = read
    how = operation.attribute
    assert isinstance(how, Sum)
    total = np.zeros_like(rows[0])
    possible = np.ones(len(total), dtype=bool)
    for index in range(how.products):
        product, there = store.symbols.multiplied(rows[2 * index], rows[2 * index + 1])
        total += product
        possible &= there
    for addend in rows[2 * how.products :]:
        total += addend
    return _placed(len(words[0]), where[possible], store.integers(total[possible], operation.result.bits))


def _negated(store: SymbolicTerms, operation: Operation, words: list[Ids]) -> Ids | None:
    if not isinstance(operation.result, IntegerFormat) or (read := _read(store, words)) is None:
        return None
    (rows,), where = read
    return _placed(len(words[0]), where, store.integers(-rows, operation.result.bits))


def _extended(store: SymbolicTerms, operation: Operation, words: list[Ids]) -> Ids | None:
    if (read := _read(store, words)) is None:
        return None
    (rows,), where = read
    fmt = operations.signed(operation.operands[0].bits)
    fits = _in_range(store, rows, fmt)
    store.doubt(f"an integer of {fmt.bits} bits may overflow", rows[~fits], fmt.maximum)
    return _placed(len(words[0]), where[fits], store.integers(rows[fits], operation.result.bits))


def _concatenated(store: SymbolicTerms, operation: Operation, words: list[Ids]) -> Ids | None:
    parts = store.elements(words[0])
    symbolic = store.is_integer(parts).any(axis=1)
    if not symbolic.any():
        return None
    where = np.flatnonzero(symbolic)
    total = np.zeros((len(where), len(store.symbols)), dtype=np.int64)
    possible = np.ones(len(where), dtype=bool)
    position, width = 0, operation.result.bits
    for index, field in enumerate(fields(operation)):
        column = parts[where, index]
        rows, integer = store.rows_of(column)
        whole = int(store.widths(column[:1])[0])
        is_top = position + field.width == width
        if field.repeats:
            taken, known = _sign(store, rows, field.low, whole, field.width)
        else:
            taken, known = _field(store, rows, field.low, field.width, whole, is_top=is_top)
        possible &= integer & known
        total += taken << np.int64(position) if position < 64 else 0
        position += field.width
    return _placed(len(words[0]), where[possible], store.integers(total[possible], width))


def _field(
    store: SymbolicTerms, rows: Rows, low: int, width: int, whole: int, *, is_top: bool
) -> tuple[Rows, Truths]:
    """Return bits ``low`` to ``low + width - 1`` of words of `whole` bits, and which are known.

    Of bits on top of what is made of them all multiples of ``2**width`` may be left out.
    """
    symbols = store.symbols
    known: Truths = np.ones(len(rows), dtype=bool)
    if low:
        if low >= 62:
            return np.zeros_like(rows), np.asarray(~rows.any(axis=1))
        quotients, _, known = divided(symbols, rows, 1 << low)
        if low == whole - 1:  # the sign, which compilers add to what they halve
            above = ~known & (symbols.bounds(rows)[0] >= 0)
            store.doubt(f"a sign of {whole} bits is not known", rows[above], (1 << low) - 1)
        rows = quotients
    if is_top or width >= 62:
        if not is_top:
            known = known & _in_range(store, rows, operations.unsigned(width))
        return rows, known
    rests = divided(symbols, rows, 1 << width)
    store.doubt(f"a number may not fit {width} bits", rows[known & ~rests[2]], (1 << width) - 1)
    return rests[1], np.asarray(known & rests[2])


def _sign(store: SymbolicTerms, rows: Rows, bit: int, whole: int, width: int) -> tuple[Rows, Truths]:
    """Return a bit of words of `whole` bits, repeated, and which are known."""
    low, high = store.symbols.bounds(rows)
    zero = (low >= 0) & (high < 1 << min(bit, 61))
    one = (low >= -(1 << min(bit, 61))) & (high < 0) & (bit == whole - 1)
    open_, what = ~(zero | one), f"a sign of {bit + 1} bits is not known"
    store.doubt(what, rows[open_ & (low >= 0)], (1 << min(bit, 61)) - 1)
    store.doubt(what, rows[open_ & (low < 0)])
    found = np.zeros_like(rows)
    found[one, 0] = int(ones(width).astype(np.int64)) if width == 64 else (1 << width) - 1
    return found, zero | one


def _difference(
    store: SymbolicTerms, fmt: IntegerFormat, words: list[Ids]
) -> tuple[Rows, NDArray[np.int64], NDArray[np.int64], NDArray[np.intp]] | None:
    """Return what words read in a format differ by, with bounds, and where they are what rows say."""
    if (read := _read(store, words)) is None:
        return None
    (left, right), where = read
    left, right = (_nearest(store, rows, fmt) for rows in (left, right))
    fits = _in_range(store, left, fmt) & _in_range(store, right, fmt)
    store.doubt(f"a number may not fit {fmt}", np.concatenate([left[~fits], right[~fits]]), fmt.maximum)
    rows = left[fits] - right[fits]
    return rows, *store.symbols.bounds(rows), where[fits]


def _nearest(store: SymbolicTerms, rows: Rows, fmt: IntegerFormat) -> Rows:
    """Return rows moved by a multiple of ``2**bits`` to where an unsigned format has its numbers."""
    if fmt.signed or fmt.bits >= 62:
        return rows
    _, high = store.symbols.bounds(rows)
    moved = rows.copy()
    moved[:, 0] += np.where(high < 0, 1 << fmt.bits, 0)
    return moved


def _compared(store: SymbolicTerms, operation: Operation, words: list[Ids]) -> Ids | None:
    fmt = operation.operands[0]
    if not isinstance(fmt, IntegerFormat) or (difference := _difference(store, fmt, words)) is None:
        return None
    rows, low, high, where = difference
    truths = operations.OUTCOMES[str(operation.attribute)]
    cases = np.stack([low < 0, (low <= 0) & (high >= 0) & _may_be_zero(rows), high > 0], axis=1)
    can, must = (cases & np.array(truths)).any(axis=1), ~(cases & ~np.array(truths)).any(axis=1)
    decided = ~can | must
    if (decided & rows[:, 1:].any(axis=1)).any():
        store.decided.add(store.line)
    found = np.full(len(rows), -1, dtype=np.int32)
    found[decided] = store.constants(must[decided], 1)
    for each in store.rests:
        left = np.flatnonzero(found < 0)
        form = store.symbols.form(each.form)
        found[left] = compared(store, form, each.size, rows[left], str(operation.attribute))
    store.doubt(f"{operation.attribute} is not decided", rows[found < 0])
    return _placed(len(words[0]), where, found)


def _may_be_zero(rows: Rows) -> Truths:
    """Tell which rows are not kept from 0 by a common divisor of their coefficients."""
    divisor = np.gcd.reduce(rows[:, 1:], axis=1)
    return np.asarray((divisor == 0) | (rows[:, 0] % np.maximum(divisor, 1) == 0))


def _extremum(store: SymbolicTerms, operation: Operation, words: list[Ids]) -> Ids | None:
    fmt = operation.operands[0]
    if not isinstance(fmt, IntegerFormat) or (found := _difference(store, fmt, words)) is None:
        return None
    rows, low, high, where = found
    attribute = operation.attribute
    assert isinstance(attribute, tuple)
    greatest = attribute[0] == "max"
    first, second = (low >= 0, high <= 0) if greatest else (high <= 0, low >= 0)
    store.doubt(f"{attribute[0]} is not decided", rows[~(first | second)])
    chosen = np.where(first, words[0][where], np.where(second, words[1][where], -1))
    return _placed(len(words[0]), where, chosen.astype(np.int32))


def _selected(store: SymbolicTerms, operation: Operation, words: list[Ids]) -> Ids | None:
    decided = store.are(CONSTANT, words[0])
    if not decided.any():
        return None
    chosen = np.where(store.constant_values(words[0]) != 0, words[1], words[2])
    return np.where(decided, chosen, -1).astype(np.int32)


def _quotient(store: SymbolicTerms, operation: Operation, words: list[Ids]) -> Ids | None:
    fmt, name = operation.result, str(operation.attribute)
    if name not in ("div", "rem") or not isinstance(fmt, IntegerFormat):
        return None
    if (read := _read(store, words)) is None:
        return None
    (rows, divisors), where = read
    found = np.full(len(words[0]), -1, dtype=np.int32)
    varying = divisors[:, 1:].any(axis=1)
    constant = ~varying & (divisors[:, 0] > 0)
    low, _ = store.symbols.bounds(rows)
    readable = (low >= 0) & _in_range(store, rows, fmt)
    usable = constant & readable
    for divisor in np.unique(divisors[usable, 0]).tolist():
        some = np.flatnonzero(usable & (divisors[:, 0] == divisor))
        quotients, rests, known = divided(store.symbols, rows[some], divisor)
        store.doubt(f"{name} by {divisor} is not known", rows[some[~known]], UNBOUNDED)
        result = quotients if name == "div" else rests
        found[where[some[known]]] = store.integers(result[known], fmt.bits)
    some = np.flatnonzero(varying & readable & _in_range(store, divisors, fmt))
    quotients, rests, known = divided_by(store.symbols, rows[some], divisors[some])
    result = quotients if name == "div" else rests
    found[where[some[known]]] = store.integers(result[known], fmt.bits)
    open_ = some[~known]
    if name == "rem" and store.rests and len(open_):
        wrapped = wrapped_indices.brought_back(store, rows[open_], divisors[open_], fmt.bits)
        found[where[open_]] = wrapped
        open_ = open_[wrapped < 0]
    store.doubt(f"{name} by a size is not known", rows[open_])
    return found


def _bitwise(store: SymbolicTerms, operation: Operation, words: list[Ids]) -> Ids | None:
    """Combine bits that symbols have made constants, or one integer with numbers."""
    width, table = operation.result.bits, operation.attribute
    assert isinstance(table, int)
    constant = [store.are(CONSTANT, each) for each in words]
    if all(each.all() for each in constant):
        return store.constants(evaluate(operation, [store.constant_values(each) for each in words]), width)
    symbolic = [store.is_integer(each) for each in words]
    integers = np.max(
        [np.where(found, each, -1) for found, each in zip(symbolic, words, strict=True)], axis=0
    )
    possible = integers >= 0
    for found, number, each in zip(symbolic, constant, words, strict=True):
        possible &= np.where(found, each == integers, number)
    result: Ids = np.full(len(integers), -1, dtype=np.int32)
    places = np.stack(symbolic, axis=1)
    for own in np.unique(places[possible], axis=0):
        some = np.flatnonzero(possible & (places == own).all(axis=1))
        given = [
            None if integer else store.constant_values(each[some])
            for integer, each in zip(own, words, strict=True)
        ]
        rows, known = polynomial_bits.combined(table, width, store.rows_of(integers[some])[0], given)
        result[some[known]] = store.integers(rows[known], width)
    return result if (result >= 0).any() else None


_DISTRIBUTED = frozenset(
    {
        operations.RING, operations.NEGATE, operations.EXTEND, CONCATENATION, operations.FUNCTION,
        operations.BITWISE, operations.COMPARE, operations.EXTREMUM,
    }
)  # fmt: skip
"""What is computed in each case where an integer is one of two."""

_RULES: Mapping[str, Rule] = MappingProxyType(
    {
        operations.RING: _ring,
        operations.NEGATE: _negated,
        operations.EXTEND: _extended,
        CONCATENATION: _concatenated,
        operations.COMPARE: _compared,
        operations.EXTREMUM: _extremum,
        operations.SELECT: _selected,
        operations.FUNCTION: _quotient,
        operations.BITWISE: _bitwise,
    }
)
