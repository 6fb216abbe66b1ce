"""Operations on concolic values, concrete numbers and terms alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ....spec.float_encoding import is_nan
from ....spec.formats import FloatFormat, Format
from ....spec.numpy_words import NumpyWords
from ....spec.open_results import OpenResult
from ....spec.word_algebra import Field, Fill
from ...terms import bit_slices, choices
from ...terms.evaluation import apply, evaluate
from ...terms.interning import Ids
from ...terms.store import Operation, TermStore
from .bit_moves import moved
from .values import KNOWN, Rule, Value, compute, of_terms


def applied(store: TermStore, operation: Operation, *values: Value) -> Value:
    """Return an operation's results: numbers where all arguments are known, else terms."""
    return evaluated(store, operation, values, partial(apply, store, operation))


def evaluated(
    store: TermStore, operation: Operation, values: Sequence[Value], on_terms: Callable[..., Ids]
) -> Value:
    """Return an operation's results: numbers where all arguments are known, else what terms give.

    Of a NaN no bits are known.
    """
    on_numbers = lambda *numbers: evaluate(operation, numbers)  # noqa: E731
    result = compute(store, operation.result.bits, values, on_numbers, on_terms)
    return with_open_nans(store, result, operation.result)


def with_open_nans(store: TermStore, result: Value, fmt: Format) -> Value:
    """Return computed values, with terms in place of numbers that are NaNs: of these no bits are known."""
    if not isinstance(fmt, FloatFormat) or not len(result):
        return result
    nans = is_nan(result.numbers.astype(fmt.storage), fmt)
    if result.terms is not None:
        nans &= result.terms == KNOWN
    members = np.flatnonzero(nans)
    if not len(members):
        return result
    terms = store.computed_nans(len(members), fmt)
    return result.updated(members, Value(result.width, np.zeros(len(members), dtype=np.uint64), terms))


def opaque(store: TermStore, operation: Operation, *values: Value) -> Value:
    """Return an operation's results as terms, whether the arguments are known or not.

    For what the documents leave open, such as the results of approximations.
    """
    terms = store.apply(operation, *(value.as_terms(store) for value in values))
    return Value(operation.result.bits, np.zeros(len(terms), dtype=np.uint64), terms)


def unknown(store: TermStore, count: int, width: int, of: OpenResult) -> Value:
    """Return values of a result that PTX leaves open, each another one."""
    return Value(width, np.zeros(count, dtype=np.uint64), store.undefined(count, width, of))


def left_unknown(store: TermStore, result: Value, where: NDArray[np.bool_], of: OpenResult) -> Value:
    """Return results (n,) with unknown values where (n,) PTX leaves them open."""
    members = np.flatnonzero(where)
    return result.updated(members, unknown(store, len(members), result.width, of)) if len(members) else result


def constant(number: int, width: int, like: Value) -> Value:
    """Return one known value in as many threads as another has."""
    return Value(width, np.full(len(like), number, dtype=np.uint64))


def known_numbers(value: Value) -> bool:
    """Tell whether a value is a number in every thread."""
    return value.terms is None or bool((value.terms == KNOWN).all())


def combined(store: TermStore, table: int, *values: Value) -> Value:
    """Combine words bit by bit with a truth table of the first, second and third."""
    width = values[0].width
    on_numbers = partial(NumpyWords().bitwise, table, width)
    words = [values[min(index, len(values) - 1)] for index in range(3)]
    return compute(store, width, words, on_numbers, partial(bit_slices.bitwise, store, table))


def chosen(store: TermStore, condition: Value, then: Value, otherwise: Value) -> Value:
    """Choose by one bit; where that is known, no operation is left."""
    unknown = condition.terms is not None and condition.terms != KNOWN
    holds = condition.numbers.astype(bool)
    numbers = np.where(holds, then.numbers, otherwise.numbers)
    if condition.is_known and then.is_known and otherwise.is_known:
        return Value(then.width, numbers)
    left, right = (
        np.full(len(value), KNOWN) if value.terms is None else value.terms for value in (then, otherwise)
    )
    terms = np.where(holds, left, right)
    result = Value(then.width, numbers, None if (terms == KNOWN).all() else terms)
    if condition.is_known:
        return result
    data = np.flatnonzero(unknown)
    conditions, one, other = (value.at(data).as_terms(store) for value in (condition, then, otherwise))
    selected = choices.chosen(store, conditions, one, other)
    return result.updated(data, of_terms(store, selected, then.width))


def widened(store: TermStore, value: Value, width: int, *, signed: bool) -> Value:
    """Extend values by their sign or by zeros; cut them where they are wider."""
    if value.width == width:
        return value
    if value.width > width:
        return moved(store, [Field(0, width)], value)
    if signed:
        return moved(store, [Field(0, value.width, extended=width)], value)
    if value.is_known:
        return Value(width, value.numbers)
    return moved(store, [Field(0, value.width), Fill(0, width - value.width)], value)


def lanes(store: TermStore, value: Value, count: int) -> list[Value]:
    """Split words into equal parts, least significant first."""
    width = value.width // count
    return [moved(store, [Field(low, width)], value) for low in range(0, value.width, width)]


def joined(store: TermStore, values: Sequence[Value]) -> Value:
    """Join words, the first least significant."""
    return moved(store, [Field(0, value.width, index) for index, value in enumerate(values)], *values)


def lanewise(count: int, rule: Rule) -> Rule:
    """Return a rule that applies another to each of the lanes of its operands."""
    if count == 1:
        return rule

    def apply_to_lanes(store: TermStore, values: Sequence[Value]) -> Value:
        split = [lanes(store, value, count) for value in values]
        return joined(store, [rule(store, operands) for operands in zip(*split, strict=True)])

    return apply_to_lanes
