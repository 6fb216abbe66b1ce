"""Comparisons of data in numpy programs, and selects by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ...spec.formats import Format, IntegerFormat
from ..analysis.intervals import Interval
from ..terms import operations
from ..terms.bit_slices import bitwise
from ..terms.choices import chosen
from ..terms.evaluation import apply, integers
from ..terms.interning import Ids
from ..terms.store import CONSTANT, TermStore
from ..terms.truth_tables import A, B, Table
from .term_arithmetic import Value
from .term_array_arithmetic import UFUNCS, alike
from .term_arrays import NotModelledError, TermArray, TermSpace

_BIT = operations.unsigned(1)


class TermTruths(TermArray):
    """An array of booleans that depend on data.

    Parameters
    ----------
    space : TermSpace
        Where its terms are.
    value : Value
        Terms of one bit.
    within : Interval, optional
        0 and 1.
    """

    def __init__(self, space: TermSpace, value: Value, within: Interval | None = None) -> None:
        super().__init__(space, value, within or Interval(0, 1))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of truths."""
        return np.dtype(bool)

    def moved(self, terms: Ids) -> TermArray:
        """Return other truths."""
        return TermTruths(self.space, Value(np.asarray(terms), self.value.format))

    def all(self, *_: Any, **__: Any) -> TermArray:
        """Refuse a truth about many elements."""
        raise NotModelledError("all of data: use np.where element by element")

    def any(self, *_: Any, **__: Any) -> TermArray:
        """Refuse a truth about many elements."""
        raise NotModelledError("any of data: use np.where element by element")


def chosen_by(condition: Any, then: TermArray, otherwise: TermArray) -> TermArray:
    """Return numbers of one format, chosen by truths, or by whether numbers are other than 0."""
    shape = np.broadcast_shapes(condition.shape, then.shape, otherwise.shape)
    words = [np.broadcast_to(each.value.terms, shape) for each in (_truths(condition), then, otherwise)]
    return then.moved(chosen(then.space.store, *words))


def _truths(array: TermArray) -> TermArray:
    """Return truths as they are, and of numbers whether they are other than 0."""
    return array if array.value.format == _BIT else _compared("!=")(array, array.lifted(0))


def _compared(sign: str) -> Callable[[TermArray, TermArray], TermArray]:
    def found(left: TermArray, right: TermArray) -> TermArray:
        fmt, words, _ = alike(left, right)
        one, other = np.broadcast_arrays(*words)
        if (known := _known_by_ranges(sign, left, right)) is not None:
            truth = left.space.store.constants(np.full(one.shape, known, dtype=np.uint64), 1)
            return TermTruths(left.space, Value(truth, _BIT))
        terms = _condition_chosen_by(left.space.store, fmt, sign, one, other)
        if terms is None:
            terms = apply(left.space.store, operations.compare_as(fmt, sign), one, other)
        return TermTruths(left.space, Value(terms, _BIT))

    return found


_HOLDS: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType({
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal,
    "!=": np.not_equal,
})  # fmt: skip


def _known_by_ranges(sign: str, left: TermArray, right: TermArray) -> bool | None:
    """Return how a comparison of integers turns out that their ranges decide; None where they don't."""
    one, other = left.within, right.within
    if one is None or other is None or left.is_real or right.is_real:
        return None
    if one.high < other.low:
        return sign in ("<", "<=", "!=")
    if one.low > other.high:
        return sign in (">", ">=", "!=")
    return None


def _condition_chosen_by(store: TermStore, fmt: Format, sign: str, left: Ids, right: Ids) -> Ids | None:
    """Return the conditions of ``where(c, 1, 0) != 0``: truths that have been numbers; None for others."""
    chosen_words, others = left.reshape(-1), right.reshape(-1)
    if not isinstance(fmt, IntegerFormat) or not len(chosen_words):
        return None
    if not store.are(operations.SELECT, chosen_words).all() or not store.are(CONSTANT, others).all():
        return None
    conditions, then, otherwise = store.arguments(chosen_words)[:, :3].T
    if not (store.are(CONSTANT, then) & store.are(CONSTANT, otherwise)).all():
        return None
    one, other, limit = (integers(store.constant_values(each), fmt) for each in (then, otherwise, others))
    if _HOLDS[sign](one, limit).all() and not _HOLDS[sign](other, limit).any():
        found: Ids = conditions.reshape(left.shape)
        return found
    return None


def _combined(table: Table, *, of_bits: bool = False) -> Callable[..., TermArray]:
    """Return what combines truths; `of_bits` for an operator that of numbers combines their bits."""

    def found(*arrays: TermArray) -> TermArray:
        if of_bits and any(array.value.format != _BIT for array in arrays):
            raise NotModelledError("& | ^ ~ of data that are not booleans")
        words = np.broadcast_arrays(*(_truths(array).value.terms for array in arrays))
        flat = [word.reshape(-1) for word in words]
        terms = bitwise(arrays[0].space.store, table, flat[0], flat[-1], flat[0])
        return TermTruths(arrays[0].space, Value(terms.reshape(words[0].shape), _BIT))

    return found


def _product(left: TermArray, right: TermArray) -> TermArray:
    """Return a product, with truths for 1 and 0: a choice."""
    for truths, numbers in ((left, right), (right, left)):
        if isinstance(truths, TermTruths) and numbers.is_real:
            return chosen_by(truths, numbers, numbers.lifted(0.0).cast(numbers.value.format))
    return UFUNCS["multiply"](left, right)


TRUTHS: Mapping[str, Callable[..., TermArray]] = MappingProxyType(
    {
        "less": _compared("<"), "less_equal": _compared("<="), "greater": _compared(">"),
        "greater_equal": _compared(">="), "equal": _compared("=="), "not_equal": _compared("!="),
        "logical_and": _combined(A & B), "logical_or": _combined(A | B), "logical_xor": _combined(A ^ B),
        "logical_not": _combined(0xFF ^ A), "bitwise_and": _combined(A & B, of_bits=True),
        "bitwise_or": _combined(A | B, of_bits=True), "bitwise_xor": _combined(A ^ B, of_bits=True),
        "invert": _combined(0xFF ^ A, of_bits=True), "multiply": _product,
    }
)  # fmt: skip
"""What the ufuncs of numpy do that compare, or combine truths, by their names."""
