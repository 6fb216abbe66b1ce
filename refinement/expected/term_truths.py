"""Comparisons of data in numpy programs, and selects by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ..analysis.intervals import Interval
from ..terms import operations
from ..terms.bit_slices import bitwise
from ..terms.choices import chosen
from ..terms.evaluation import apply
from ..terms.interning import Ids
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
        terms = apply(left.space.store, operations.compare_as(fmt, sign), *np.broadcast_arrays(*words))
        return TermTruths(left.space, Value(terms, _BIT))

    return found


def _combined(table: Table, *, of_bits: bool = False) -> Callable[..., TermArray]:
    """Return what combines truths; `of_bits` for an operator that of numbers combines their bits."""

    def found(*arrays: TermArray) -> TermArray:
        if of_bits and any(each.value.format != _BIT for each in arrays):
            raise NotModelledError("& | ^ ~ of data that are no truths")
        words = np.broadcast_arrays(*(_truths(each).value.terms for each in arrays))
        flat = [each.reshape(-1) for each in words]
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
