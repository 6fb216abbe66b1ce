"""Float classes (NaN, ±∞, negative, 0, positive) and what operations make of sets of them.

A class is one bit; a set holds every class that a value may have. One set gives both bounds: a value *may* be
NaN if NaN is in its set, and *must* be NaN if nothing else is.

`NUMBER` is a finite number of unknown sign. It is not 0: that data, or what is computed from data, happen to
be 0 where they divide is excluded by hypothesis. `ZERO` is what constants and selects make 0.

`LOST` is a value that its real normal form does not tell, because a NaN on the way was replaced by a number
(by the maximum with one, or a conversion to an integer) or compared, or two infinities were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, reduce
from itertools import product
from operator import or_

import numpy as np

from ...spec.errors import UnsupportedError
from ...spec.float_encoding import decode, default_nan
from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..rules import float_class_tables as tables
from ..terms import operations
from ..terms.evaluation import evaluate, integers
from ..terms.store import Operation
from .quantisation import quantises

NAN, NEGATIVE_INFINITY, NEGATIVE, ZERO, POSITIVE, POSITIVE_INFINITY = (1 << place for place in range(6))

LOST = 1 << 6

INFINITE = NEGATIVE_INFINITY | POSITIVE_INFINITY
NUMBER = NEGATIVE | POSITIVE
FINITE = NUMBER | ZERO
ANYTHING = NAN | INFINITE | FINITE

CLASSES = (NAN, NEGATIVE_INFINITY, NEGATIVE, ZERO, POSITIVE, POSITIVE_INFINITY, LOST)

TERMINALS = 1 << len(CLASSES)
"""How many sets there are."""

FALSE, TRUE, LOST_BIT = 1, 2, 4
"""The classes of bits; `LOST_BIT` is either, whatever its normal form says."""

UNKNOWN_BIT = FALSE | TRUE

_BY_SIGN = {-1: NEGATIVE, 0: ZERO, 1: POSITIVE}
_INFINITY_BY_SIGN = {-1: NEGATIVE_INFINITY, 1: POSITIVE_INFINITY}

_DOMAINS = {"lg2": POSITIVE, "log": POSITIVE, "sqrt": POSITIVE, "rsqrt": POSITIVE}
"""Functions of positive numbers only: of a number of either sign, that it is positive is a hypothesis."""

_NAMED = dict(zip(tables.CLASSES, CLASSES, strict=False))


def _named(names: Iterable[str]) -> int:
    return reduce(or_, (_NAMED[each] for each in names))


_OF_NUMBERS = {
    name: (_named(below.split("|")), _named(above.split("|")))
    for name, (below, above) in tables.FUNCTION_SIGNS.items()
}
"""What functions make of negative and of positive numbers; others make a number of either sign."""


def members(classes: int) -> list[int]:
    """Return the classes in a set."""
    return [class_ for class_ in CLASSES if class_ & classes]


def of_value(value: float) -> int:
    """Return the class of a number."""
    if np.isnan(value):
        return NAN
    sign = int(value > 0) - int(value < 0)
    return _INFINITY_BY_SIGN[sign] if np.isinf(value) else _BY_SIGN[sign]


def of_word(word: int, fmt: Format) -> int:
    """Return the class of an encoding."""
    if isinstance(fmt, FloatFormat):
        return of_value(float(decode(np.array([word], dtype=fmt.storage), fmt)[0]))
    return of_value(float(integers(np.array([word], dtype=np.uint64), fmt)[0]))


@cache
def added(one: int, other: int) -> int:
    """Return what sums of two values are."""
    return _pairwise(_sum, one, other)


@cache
def multiplied(one: int, other: int) -> int:
    """Return what products of two values are."""
    return _pairwise(_product, one, other)


@cache
def divided(one: int, other: int) -> int:
    """Return what quotients are; that of a number and 0 is an infinity of either sign."""
    return _pairwise(_quotient, one, other)


@cache
def extreme(one: int, other: int, which: str, *, nan: bool) -> int:
    """Return what ``max`` or ``min`` of two values is: with `nan` a NaN if one is, else the other, `LOST`."""

    def of_pair(left: int, right: int) -> int:
        if NAN in (left, right):
            return NAN if nan or left == right else LOST
        if LOST in (left, right):
            return LOST
        return max(left, right) if which == "max" else min(left, right)  # classes are in increasing order

    return _pairwise(of_pair, one, other)


@cache
def compared(relation: str, one: int, other: int, *, constant: bool) -> int:
    """Return whether a comparison of floats holds, `UNKNOWN_BIT` where that is not known.

    That of a NaN, or of two infinities of one sign of which none is `constant`, is `LOST_BIT`: over the reals
    the difference may have cancelled.
    """
    plain = relation.removesuffix("u")

    def of_pair(left: int, right: int) -> int:
        if (left | right) & (NAN | LOST) or (left == right and left & INFINITE and not constant):
            return LOST_BIT
        if relation in ("num", "nan"):
            return TRUE if relation == "num" else FALSE
        if left == right and left in (NEGATIVE, POSITIVE):
            return UNKNOWN_BIT
        sign = (left > right) - (left < right)
        return TRUE if operations.OUTCOMES[plain][sign + 1] else FALSE

    found = _pairwise(of_pair, one, other)
    return LOST_BIT if found & LOST_BIT else found


def chosen(condition: int, then: int, otherwise: int) -> int:
    """Return what a value is that is chosen by a bit."""
    if condition == LOST_BIT:
        same = then == otherwise and then in (NAN, NEGATIVE_INFINITY, ZERO, POSITIVE_INFINITY)
        return then if same else then | otherwise | LOST
    return then if condition == TRUE else otherwise


def combined(table: int, *given: int) -> int:
    """Return what a function of up to three bits is, by its truth table."""
    found = 0
    for bits in product(*((FALSE, TRUE) if each == LOST_BIT else (each,) for each in given)):
        row = sum(4 >> place for place, value in enumerate(bits) if value == TRUE)
        found |= TRUE if table >> row & 1 else FALSE
    return LOST_BIT if found == UNKNOWN_BIT else found


@cache
def of_unary(operation: Operation, classes: int) -> int:
    """Return what an operation of one argument makes of values: its own results for infinities, NaN and 0.

    An integer that is made of a NaN is `LOST`.
    """
    name = str(operation.attribute).partition(".")[0] if operation.name == operations.FUNCTION else ""
    domain = _DOMAINS.get(name)
    if domain is not None and classes & domain:
        classes &= ~NEGATIVE
    return _union(_of_class(operation, name, member) for member in members(classes))


def of_bits(classes: int) -> int:
    """Return what values may be whose bits are made of those of other values."""
    return classes & (NAN | INFINITE | LOST) | NUMBER


def _of_class(operation: Operation, name: str, one: int) -> int:
    (operand,), result = operation.operands, operation.result
    if one & NUMBER:
        below, above = _OF_NUMBERS.get(name, (NUMBER, NUMBER))
        if (
            operation.name == operations.CONVERT
            and isinstance(result, FloatFormat)
            and not quantises(operation)
        ):
            below, above = NEGATIVE, POSITIVE  # to 0 rounds what underflows; a narrow format has few numbers
        return below if one == NEGATIVE else above
    if one == LOST or (one == NAN and isinstance(result, IntegerFormat)):
        return LOST
    if isinstance(operand, IntegerFormat) and one != ZERO:
        return ANYTHING
    words = _words(one, operand)
    if words is None:
        return ANYTHING
    try:
        found = evaluate(operation, [np.array(words, dtype=np.uint64)])
    except UnsupportedError:
        return ANYTHING
    return _union(of_word(int(word), result) for word in np.atleast_1d(found).tolist())


def _words(one: int, fmt: Format) -> list[int] | None:
    """Return the encodings of zeros, of an infinity or of a NaN; None where a format has none."""
    if not isinstance(fmt, FloatFormat):
        return [0]
    if one == ZERO:
        return [0, fmt.sign_mask] if fmt.signed else [0]
    if one == NAN:
        return [int(default_nan(fmt))]
    if fmt.infinity is None:
        return None
    return [(fmt.infinity << fmt.padding_bits) | (fmt.sign_mask if one == NEGATIVE_INFINITY else 0)]


def _union(sets: Iterable[int]) -> int:
    return reduce(or_, sets, 0)


def _pairwise(of_pair: Callable[[int, int], int], one: int, other: int) -> int:
    return _union(of_pair(left, right) for left in members(one) for right in members(other))


def _looked_up(table: tables.Table) -> Callable[[int, int], int]:
    """Return the rule that a table is; what is `LOST` stays so, unless the other is a NaN."""
    sets = {(_NAMED[one], _NAMED[other]): _named(found) for (one, other), found in table.items()}

    def of_pair(one: int, other: int) -> int:
        if LOST in (one, other):
            return NAN if NAN in (one, other) else LOST
        return sets[one, other]

    return of_pair


_sum, _product, _quotient = map(_looked_up, (tables.SUMS, tables.PRODUCTS, tables.QUOTIENTS))
