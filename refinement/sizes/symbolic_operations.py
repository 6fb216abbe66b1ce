"""Operations on polynomials in symbols: polynomials, or constants that bounds decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import IntegerFormat
from ..terms import operations
from ..terms.evaluation import evaluate, ones
from ..terms.interning import Ids
from ..terms.operations import Sum
from ..terms.slices import fields
from ..terms.store import CONCATENATION, CONSTANT, Operation
from . import polynomial_bits, wrapped_indices
from .integer_forms import UNBOUNDED, Rows, Truths, divided, divided_by
from .open_comparisons import open_bits
from .symbolic_integers import SymbolicIntegers
from .tail_predicates import compared

Rule = Callable[[SymbolicIntegers, Operation, list[Ids]], Ids | None]
"""The terms of an operation; negative where the symbols don't say, None where they don't for any."""


def _read(store: SymbolicIntegers, words: list[Ids]) -> tuple[list[Rows], NDArray[np.intp]] | None:
    """Return the rows of words of which some depend on symbols, and where all are integers or constants."""
    symbolic = np.logical_or.reduce([store.is_integer(word) for word in words])
    if not symbolic.any():
        return None
    read = [store.rows_of(word) for word in words]
    where = np.flatnonzero(symbolic & np.logical_and.reduce([known for _, known in read]))
    return ([rows[where] for rows, _ in read], where) if len(where) else None


def _placed(count: int, where: NDArray[np.intp], terms: Ids) -> Ids:
    found = np.full(count, -1, dtype=np.int32)
    found[where] = terms
    return found


def _in_range(store: SymbolicIntegers, rows: Rows, fmt: IntegerFormat) -> Truths:
    """Tell which rows are the integers themselves that a format reads."""
    low, high = store.symbols.bounds(rows)
    known = (low > -UNBOUNDED) & (high < UNBOUNDED)
    if store.unbounded:
        store.doubt(f"an integer of {fmt.bits} bits wraps", rows[known & (high > fmt.maximum)], fmt.maximum)
        return np.asarray(known)
    return np.asarray(known & (low >= fmt.minimum) & (high <= fmt.maximum))


def _ring(store: SymbolicIntegers, operation: Operation, words: list[Ids]) -> Ids | None:
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


def _negated(store: SymbolicIntegers, operation: Operation, words: list[Ids]) -> Ids | None:
    if not isinstance(operation.result, IntegerFormat) or (read := _read(store, words)) is None:
        return None
    (rows,), where = read
    return _placed(len(words[0]), where, store.integers(-rows, operation.result.bits))


def _extended(store: SymbolicIntegers, operation: Operation, words: list[Ids]) -> Ids | None:
    if (read := _read(store, words)) is None:
        return None
    (rows,), where = read
    fmt = operations.signed(operation.operands[0].bits)
    fits = _in_range(store, rows, fmt)
    store.doubt(f"an integer of {fmt.bits} bits may overflow", rows[~fits], fmt.maximum)
    return _placed(len(words[0]), where[fits], store.integers(rows[fits], operation.result.bits))


def _converted(store: SymbolicIntegers, operation: Operation, words: list[Ids]) -> Ids | None:
    """Convert integers to floats in one way, whatever format they are held in."""
    fmt = operation.operands[0]
    if not isinstance(fmt, IntegerFormat) or (read := _read(store, words)) is None:
        return None
    (rows,), where = read
    found = np.full(len(rows), -1, dtype=np.int32)
    fits = _in_range(store, rows, fmt) & rows[:, 1:].any(axis=1)
    for bits in (64, 32):
        own = operations.signed(bits)
        some = np.flatnonzero(fits & _in_range(store, rows, own))
        narrowest = Operation(operation.name, operation.result, (own,), operation.attribute)
        found[some] = store.plain(narrowest, store.integers(rows[some], bits))
    return _placed(len(words[0]), where, found)


def _concatenated(store: SymbolicIntegers, operation: Operation, words: list[Ids]) -> Ids | None:
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
    store: SymbolicIntegers, rows: Rows, low: int, width: int, whole: int, *, is_top: bool
) -> tuple[Rows, Truths]:
    """Return bits ``low`` to ``low + width - 1`` of words of `whole` bits, and which are known.

    Of bits on top of what is made of them all multiples of ``2**width`` may be left out.
    """
    symbols = store.symbols
    known: Truths = np.ones(len(rows), dtype=bool)
    if store.unbounded and not low and width == whole:
        return rows, _in_range(store, rows, operations.unsigned(width))
    if low:
        if low >= 62:
            return np.zeros_like(rows), np.asarray(~rows.any(axis=1))
        quotients, _, known = divided(symbols, rows, 1 << low)
        if low == whole - 1:  # the sign, which compilers add to what they halve
            above = ~known & (symbols.bounds(rows)[0] >= 0)
            store.doubt(
                f"the sign of an integer of {whole} bits depends on sizes", rows[above], (1 << low) - 1
            )
        else:
            store.doubt(
                f"a quotient by {1 << low} is not a polynomial in sizes", rows[~known], UNBOUNDED, 1 << low
            )
        rows = quotients
    if is_top or width >= 62:
        if not is_top:
            known = known & _in_range(store, rows, operations.unsigned(width))
        return rows, known
    rests = divided(symbols, rows, 1 << width)
    store.doubt(f"an integer may not fit in {width} bits", rows[known & ~rests[2]], (1 << width) - 1)
    return rests[1], np.asarray(known & rests[2])


def _sign(store: SymbolicIntegers, rows: Rows, bit: int, whole: int, width: int) -> tuple[Rows, Truths]:
    """Return a bit of words of `whole` bits, repeated, and which are known."""
    low, high = store.symbols.bounds(rows)
    zero = (low >= 0) & (high < 1 << min(bit, 61))
    one = (low >= -(1 << min(bit, 61))) & (high < 0) & (bit == whole - 1)
    open_, what = ~(zero | one), f"the sign of an integer of {bit + 1} bits depends on sizes"
    store.doubt(what, rows[open_ & (low >= 0)], (1 << min(bit, 61)) - 1)
    store.doubt(what, rows[open_ & (low < 0)])
    found = np.zeros_like(rows)
    found[one, 0] = int(ones(width).astype(np.int64)) if width == 64 else (1 << width) - 1
    return found, zero | one


def _difference(
    store: SymbolicIntegers, fmt: IntegerFormat, words: list[Ids]
) -> tuple[Rows, NDArray[np.int64], NDArray[np.int64], NDArray[np.intp]] | None:
    """Return what words read in a format differ by, with bounds, and where they are what rows say."""
    if (read := _read(store, words)) is None:
        return None
    (left, right), where = read
    left, right = (_nearest(store, rows, fmt) for rows in (left, right))
    fits = _in_range(store, left, fmt) & _in_range(store, right, fmt)
    store.doubt(f"an integer may not fit in {fmt}", np.concatenate([left[~fits], right[~fits]]), fmt.maximum)
    rows = left[fits] - right[fits]
    return rows, *store.symbols.bounds(rows), where[fits]


def _nearest(store: SymbolicIntegers, rows: Rows, fmt: IntegerFormat) -> Rows:
    """Return rows moved by a multiple of ``2**bits`` to where an unsigned format has its numbers."""
    if fmt.signed or fmt.bits >= 62:
        return rows
    _, high = store.symbols.bounds(rows)
    moved = rows.copy()
    moved[:, 0] += np.where(high < 0, 1 << fmt.bits, 0)
    return moved


def _compared(store: SymbolicIntegers, operation: Operation, words: list[Ids]) -> Ids | None:
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
    for rest in store.rests:
        left = np.flatnonzero(found < 0)
        form = store.symbols.form(rest.form)
        found[left] = compared(store, store.symbols, form, rest, rows[left], str(operation.attribute))
    store.doubt(f"{operation.attribute} is not decided", rows[found < 0])
    if store.opens:
        left = np.flatnonzero(found < 0)
        found[left] = open_bits(store, rows[left], str(operation.attribute))
    return _placed(len(words[0]), where, found)


def _may_be_zero(rows: Rows) -> Truths:
    """Tell which rows are not kept from 0 by a common divisor of their coefficients."""
    divisor = np.gcd.reduce(rows[:, 1:], axis=1)
    return np.asarray((divisor == 0) | (rows[:, 0] % np.maximum(divisor, 1) == 0))


def _extremum(store: SymbolicIntegers, operation: Operation, words: list[Ids]) -> Ids | None:
    fmt = operation.operands[0]
    if not isinstance(fmt, IntegerFormat) or (found := _difference(store, fmt, words)) is None:
        return None
    rows, low, high, where = found
    attribute = operation.attribute
    assert isinstance(attribute, tuple)
    greatest = attribute[0] == "max"
    first, second = (low >= 0, high <= 0) if greatest else (high <= 0, low >= 0)
    chosen = np.where(first, words[0][where], np.where(second, words[1][where], -1)).astype(np.int32)
    for rest in store.rests:
        left = np.flatnonzero(chosen < 0)
        form, relation = store.symbols.form(rest.form), "gt" if greatest else "lt"
        bits = compared(store, store.symbols, form, rest, rows[left], relation)
        left, bits = left[bits >= 0], bits[bits >= 0]
        if len(left):
            store.wraps = True
            given = (word[where[left]] for word in words)
            chosen[left] = store.apply(operations.select(fmt.bits), bits, *given)
    store.doubt(f"{attribute[0]} is not decided", rows[chosen < 0])
    return _placed(len(words[0]), where, chosen)


def _selected(store: SymbolicIntegers, operation: Operation, words: list[Ids]) -> Ids | None:
    decided = store.are(CONSTANT, words[0])
    if not decided.any():
        return None
    chosen = np.where(store.constant_values(words[0]) != 0, words[1], words[2])
    return np.where(decided, chosen, -1).astype(np.int32)


def _quotient(store: SymbolicIntegers, operation: Operation, words: list[Ids]) -> Ids | None:
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
        store.doubt(
            f"{name} by {divisor} is not a polynomial in sizes", rows[some[~known]], UNBOUNDED, divisor
        )
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
    store.doubt(f"{name} by a size is not a polynomial in sizes", rows[open_])
    return found


def bitwise(store: SymbolicIntegers, operation: Operation, words: list[Ids]) -> Ids | None:
    """Combine bits that symbols have made constants, or one integer with numbers."""
    width, table = operation.result.bits, operation.attribute
    assert isinstance(table, int)
    constant = [store.are(CONSTANT, word) for word in words]
    if all(each.all() for each in constant):
        return store.constants(evaluate(operation, [store.constant_values(word) for word in words]), width)
    symbolic = [store.is_integer(word) for word in words]
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


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        operations.RING: _ring,
        operations.NEGATE: _negated,
        operations.EXTEND: _extended,
        operations.CONVERT: _converted,
        CONCATENATION: _concatenated,
        operations.COMPARE: _compared,
        operations.EXTREMUM: _extremum,
        operations.SELECT: _selected,
        operations.FUNCTION: _quotient,
        operations.BITWISE: bitwise,
    }
)
