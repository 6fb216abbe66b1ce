"""Terms of one word evaluated on whole pieces of its range at once, by enclosures.

Every operation encloses all its results, each rounding included; an operation that is not known here raises
`UnsupportedError`. Functions that hardware approximates are as far off as is documented.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.formats import F32, Format, IntegerFormat
from ...spec.rounding import Rounding
from ..analysis.approximations import relative_error
from ..terms import operations
from ..terms.evaluation import WHOLE
from ..terms.interning import Ids
from ..terms.operations import Sum
from ..terms.slices import Field
from ..terms.store import CONCATENATION, CONSTANT, VECTOR, Operation, TermStore, bits
from .affine_numbers import Affine, between, exactly, moved, scaled, settled
from .float_arithmetic import greater, is_exact, product, sum_of
from .float_enclosures import (
    WORDS,
    Floats,
    floats,
    floats_of,
    flushed,
    from_exact,
    modulo,
    negated,
    select_floats,
    select_words,
    words_of,
)
from .function_enclosures import KNOWN, function_of, quotient_of, whole_numbers
from .word_arithmetic import May, compared, field, possible_bits, signed_numbers, word_product, word_sum

Words = NDArray[np.uint64]

_LEAST_NAN = 1.0 - 2.0**23
"""The least that the bits of a NaN are as a signed integer."""

_CHOSEN_BITS = 3
"""Operands that a table of truths has."""


class PieceEvaluation:
    """Enclosures of terms for pieces of their argument.

    Parameters
    ----------
    store : TermStore
        The terms.
    argument : int
        The term that all depends on, of 32 bits.
    low, high : array (n,)
        Between which words it is, in each piece; both have the same sign and exponent, or are of NaNs.
    given : mapping of int to int
        Words that other terms are.
    """

    def __init__(
        self,
        store: TermStore,
        argument: int,
        low: Words,
        high: Words,
        given: Mapping[int, int] = MappingProxyType({}),
    ) -> None:
        self._store, self._count = store, len(low)
        first, last = low.astype(np.float64), high.astype(np.float64)
        half = (last - first) / 2
        form = Affine(first + half, {0: half}, np.zeros(len(low)), first, last)
        self._words = {term: exactly(np.full(len(low), float(word))) for term, word in given.items()}
        self._words[argument] = form
        self._floats: dict[int, Floats] = {argument: floats_of(form)}
        self._truths: dict[int, May] = {}

    def floats(self, term: int) -> Floats:
        """Return what a term is, read as a number of f32."""
        if term not in self._floats:
            operation, arguments = self._made(term)
            rule = _FLOAT_RULES.get(operation.name) if operation.result == F32 else None
            if operation.name == operations.SELECT:
                condition, one, other = arguments
                found = select_floats(self.truths(condition), self.floats(one), self.floats(other))
            elif rule is not None:
                found = rule(self, operation, arguments, term + 1)
            else:
                found = floats_of(self.words(term))
            self._floats[term] = found
        return self._floats[term]

    def words(self, term: int) -> Affine:
        """Return what the bits of a term are, 32 or fewer, as integers from 0 on."""
        if term not in self._words:
            operation, arguments = self._made(term)
            if operation.name == CONSTANT:
                word = self._store.constant_values(np.array([term], dtype=np.int32))
                found = exactly(np.full(self._count, float(word.reshape(-1)[0])))
            elif operation.name == operations.SELECT:
                condition, one, other = arguments
                found = select_words(self.truths(condition), self.words(one), self.words(other))
            elif operation.result == F32 and operation.name in _FLOAT_RULES:
                found = words_of(self.floats(term))
            else:
                rule = _WORD_RULES.get(operation.name)
                if rule is None or not _is_word(operation):
                    raise UnsupportedError(f"{operation} is not enclosed")
                found = rule(self, operation, arguments)
            self._words[term] = found
        return self._words[term]

    def truths(self, term: int) -> May:
        """Return what a bit may be."""
        if term not in self._truths:
            operation, arguments = self._made(term)
            if operation.name == CONSTANT:
                word = self._store.constant_values(np.array([term], dtype=np.int32)).reshape(-1)[0]
                every = np.full(self._count, bool(word))
                found = every, ~every
            elif operation.result.bits == 1 and operation.name in _TRUTH_RULES:
                found = _TRUTH_RULES[operation.name](self, operation, arguments)
            else:
                raise UnsupportedError(f"{operation} is not enclosed")
            self._truths[term] = found
        return self._truths[term]

    def _made(self, term: int) -> tuple[Operation, list[int]]:
        """Return what a term is made with, and of what; of a concatenation, the elements."""
        operation = self._store.operation(term)
        one = np.array([term], dtype=np.int32)
        arguments: Ids = self._store.arguments(one)[0]
        if operation.name == CONCATENATION:
            arguments = self._store.elements(arguments[:1])[0]
        elif operation.name != CONSTANT:
            arguments = arguments[: len(operation.operands)]
        return operation, [int(argument) for argument in arguments]

    def elements(self, term: int) -> tuple[Affine, int]:
        """Return the integers that the bits of an element are, and how many those are."""
        operation = self._store.operation(term)
        if operation.result.bits == 1 and operation.name != VECTOR:
            one, zero = self.truths(term)
            return between((~zero).astype(np.float64), one.astype(np.float64)), 1
        if operation.name != CONSTANT and not _is_word(operation):
            raise UnsupportedError(f"{operation} is not enclosed")
        return self.words(term), operation.result.bits

    def signed(self, term: int, fmt: Format) -> Affine:
        """Return a word read as an integer of a format."""
        assert isinstance(fmt, IntegerFormat)
        if fmt.bits != F32.bits:
            raise UnsupportedError(f"numbers of {fmt} are not enclosed")
        words = self.words(term)
        if not fmt.signed:
            return words
        found = signed_numbers(words)
        if (
            self._store.operation(term).result == F32
        ):  # of whatever sign, NaNs are the greatest or above -2^23
            value = self.floats(term)
            found = found._replace(low=np.where(value.number, found.low, np.maximum(found.low, _LEAST_NAN)))
        return found


def _is_word(operation: Operation) -> bool:
    """Tell whether a result has 32 bits, or fewer that are taken from words one by one."""
    of_bits = operation.name in (CONCATENATION, operations.BITWISE)
    return operation.result.bits == F32.bits or (of_bits and operation.result.bits < F32.bits)


def _require_f32(operation: Operation) -> None:
    if any(fmt != F32 for fmt in (operation.result, *operation.operands)):
        raise UnsupportedError(f"{operation} is not enclosed")


# -- floating-point numbers


def _fused(q: PieceEvaluation, operation: Operation, arguments: Sequence[int], symbol: int) -> Floats:
    _require_f32(operation)
    how = operation.attribute
    assert isinstance(how, Sum)
    given = [q.floats(argument) for argument in arguments]
    if how.flush:
        given = [flushed(each) for each in given]
    found: Floats | None = None
    summands = [product(given[2 * i], given[2 * i + 1]) for i in range(how.products)]
    summands += given[2 * how.products :]
    exact = (
        is_exact(given) if how.products == 1 and not how.addends else np.zeros(len(given[0].nan), dtype=bool)
    )
    if len(summands) == 1 and not how.products:
        exact = ~exact
    for summand in summands:
        found = summand if found is None else sum_of(found, summand)
    assert found is not None
    return from_exact(found.form, exact, how.rounding, symbol, found[1:], flush=how.flush)


def _negate(q: PieceEvaluation, operation: Operation, arguments: Sequence[int], _: int) -> Floats:
    return negated(q.floats(arguments[0]))


def _extremum(q: PieceEvaluation, operation: Operation, arguments: Sequence[int], _: int) -> Floats:
    assert isinstance(operation.attribute, tuple)
    which, propagates, flush = operation.attribute
    one, other = (q.floats(argument) for argument in arguments)
    if flush:
        one, other = flushed(one), flushed(other)
    if which == "min":
        return negated(greater(negated(one), negated(other), propagates=propagates))
    return greater(one, other, propagates=propagates)


def _function(q: PieceEvaluation, operation: Operation, arguments: Sequence[int], symbol: int) -> Floats:
    _require_f32(operation)
    name = str(operation.attribute)
    if name in operations.INTEGRAL:
        value = q.floats(arguments[0])
        return floats(whole_numbers(name, value.form), *value[1:])
    if name.partition(".")[0] == "div" and relative_error(name, F32) is not None:
        dividend, divisor = (q.floats(argument) for argument in arguments)
        return quotient_of(name, dividend, divisor, symbol)
    if name.partition(".")[0] not in KNOWN or len(arguments) != 1:
        raise UnsupportedError(f"{operation} is not enclosed")
    return function_of(name, q.floats(arguments[0]), symbol)


def _convert_to_float(
    q: PieceEvaluation, operation: Operation, arguments: Sequence[int], symbol: int
) -> Floats:
    (source,) = operation.operands
    assert isinstance(operation.attribute, tuple)
    rounding, saturate, _ = operation.attribute
    if not isinstance(source, IntegerFormat) or saturate or not isinstance(rounding, Rounding):
        raise UnsupportedError(f"{operation} is not enclosed")
    form = q.signed(arguments[0], source)
    never, every = np.zeros(len(form.low), dtype=bool), np.ones(len(form.low), dtype=bool)
    exact = form.magnitude <= 2.0**F32.precision
    flags = (form.low < 0, form.high >= 0, never, every)
    return from_exact(form, exact, rounding, symbol, flags, flush=False)


_FLOAT_RULES: Mapping[str, Callable[[PieceEvaluation, Operation, Sequence[int], int], Floats]] = (
    MappingProxyType(
        {
            operations.FUSED: _fused,
            operations.NEGATE: _negate,
            operations.EXTREMUM: _extremum,
            operations.FUNCTION: _function,
            operations.CONVERT: _convert_to_float,
        }
    )
)


# -- words


def _ring(q: PieceEvaluation, operation: Operation, arguments: Sequence[int]) -> Affine:
    how = operation.attribute
    assert isinstance(how, Sum)
    given = [q.words(argument) for argument in arguments]
    summands = [word_product(given[2 * i], given[2 * i + 1]) for i in range(how.products)]
    summands += given[2 * how.products :]
    total = summands[0]
    for summand in summands[1:]:
        total = word_sum(total, summand)
    return modulo(total, WORDS)


def _negate_word(q: PieceEvaluation, operation: Operation, arguments: Sequence[int]) -> Affine:
    if not isinstance(operation.result, IntegerFormat):
        raise UnsupportedError(f"{operation} is not enclosed")
    return modulo(moved(scaled(q.words(arguments[0]), -1.0), WORDS), WORDS)


def _convert_to_word(q: PieceEvaluation, operation: Operation, arguments: Sequence[int]) -> Affine:
    """Return numbers rounded to integers: 0 for a NaN, the nearest that there is beyond the ends."""
    (source,), target = operation.operands, operation.result
    assert isinstance(operation.attribute, tuple) and isinstance(target, IntegerFormat)
    rounding = operation.attribute[0]
    if source != F32 or rounding not in WHOLE:
        raise UnsupportedError(f"{operation} is not enclosed")
    value = q.floats(arguments[0])
    value = flushed(value) if operation.attribute[2] else value
    whole = whole_numbers(WHOLE[rounding], value.form)
    low, high = (np.clip(each, target.minimum, target.maximum) for each in (whole.low, whole.high))
    low = np.where(value.nan, np.minimum(low, 0.0), low)
    high = np.where(value.nan, np.maximum(high, 0.0), high)
    clipped = value.nan | (low != whole.low) | (high != whole.high)
    off = np.where(clipped, np.inf, whole.off)
    return modulo(settled(whole._replace(low=low, high=high, off=off)), WORDS)


def _concatenation(q: PieceEvaluation, operation: Operation, arguments: Sequence[int]) -> Affine:
    assert isinstance(operation.attribute, tuple)
    total: Affine | None = None
    position = 0
    for part, element in zip(operation.attribute, arguments, strict=True):
        assert isinstance(part, Field)
        words, _ = q.elements(element)
        value = field(words, part.low, 1 if part.repeats else part.width)
        value = scaled(value, (2.0**part.width - 1 if part.repeats else 1.0) * 2.0**position)
        total = value if total is None else word_sum(total, value)
        position += part.width
    assert total is not None
    return total


def _bitwise(q: PieceEvaluation, operation: Operation, arguments: Sequence[int]) -> Affine:
    """Return what a table of truths makes of words, of which the bits are known that ranges share."""
    table = operation.attribute
    assert isinstance(table, int)
    given = [possible_bits(q.words(argument)) for argument in arguments]
    ones, zeros = (np.zeros(len(given[0][0]), dtype=np.uint64) for _ in range(2))
    for row in range(1 << _CHOSEN_BITS):
        may = np.full(len(ones), (1 << operation.result.bits) - 1, dtype=np.uint64)
        for place, (one, zero) in enumerate(given):
            may &= one if row >> (_CHOSEN_BITS - 1 - place) & 1 else zero
        if table >> row & 1:
            ones |= may
        else:
            zeros |= may
    return between((ones & ~zeros).astype(np.float64), ones.astype(np.float64))


_WORD_RULES: Mapping[str, Callable[[PieceEvaluation, Operation, Sequence[int]], Affine]] = MappingProxyType(
    {
        operations.RING: _ring,
        operations.NEGATE: _negate_word,
        operations.CONVERT: _convert_to_word,
        CONCATENATION: _concatenation,
        operations.BITWISE: _bitwise,
    }
)


# -- conditions


def _compare(q: PieceEvaluation, operation: Operation, arguments: Sequence[int]) -> May:
    fmt, relation = operation.operands[0], str(operation.attribute)
    if fmt == F32:
        one, other = (q.floats(argument) for argument in arguments)
        nan, number = one.nan | other.nan, one.number & other.number
        if relation in ("num", "nan"):
            return (number, nan) if relation == "num" else (nan, number)
        plain, unordered = relation.removesuffix("u"), relation.endswith("u")
        holds, fails = compared(plain, one.form, other.form)
        return (holds & number) | (nan & unordered), (fails & number) | (nan & (not unordered))
    if fmt == bits(F32.bits) or isinstance(fmt, IntegerFormat):
        unsigned = relation in operations.UNSIGNED_RELATIONS
        left, right = (q.words(argument) if unsigned else q.signed(argument, fmt) for argument in arguments)
        plain = _UNSIGNED.get(relation, relation)
        return compared(plain, left, right)
    raise UnsupportedError(f"{operation} is not enclosed")


_UNSIGNED: Mapping[str, str] = MappingProxyType({"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"})


def _bits(q: PieceEvaluation, operation: Operation, arguments: Sequence[int]) -> May:
    """Return what a table of truths makes of bits."""
    table = operation.attribute
    assert isinstance(table, int)
    given = [q.truths(argument) for argument in arguments]
    count = len(given[0][0])
    found = [np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)]
    for row in range(1 << _CHOSEN_BITS):
        may = np.ones(count, dtype=bool)
        for place, (one, zero) in enumerate(given):
            may &= one if row >> (_CHOSEN_BITS - 1 - place) & 1 else zero
        found[0 if table >> row & 1 else 1] |= may
    return found[0], found[1]


def _select_bit(q: PieceEvaluation, operation: Operation, arguments: Sequence[int]) -> May:
    condition, one, other = (q.truths(argument) for argument in arguments)
    holds = (condition[0] & one[0]) | (condition[1] & other[0])
    return holds, (condition[0] & one[1]) | (condition[1] & other[1])


def _bit(q: PieceEvaluation, operation: Operation, arguments: Sequence[int]) -> May:
    """Return a bit that is taken from a word."""
    word = _concatenation(q, operation, arguments)
    return word.high >= 1, word.low <= 0


_TRUTH_RULES: Mapping[str, Callable[[PieceEvaluation, Operation, Sequence[int]], May]] = MappingProxyType(
    {
        operations.COMPARE: _compare,
        operations.BITWISE: _bits,
        operations.SELECT: _select_bit,
        CONCATENATION: _bit,
    }
)
