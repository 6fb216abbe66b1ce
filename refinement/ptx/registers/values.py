"""Concolic values of a register in all threads: concrete where known, else terms.

Addresses, indices and predicates are known; they are computed with plain numpy. Only what comes from the
kernel's data is a term.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...terms.evaluation import Words, ones
from ...terms.interning import Ids
from ...terms.store import CONSTANT, TermStore

KNOWN = np.int32(-1)
"""In place of a term: the value is a number."""


@dataclass(frozen=True)
class Value:
    """The values of a register (n,), one for each thread.

    Attributes
    ----------
    width : int
        Bits.
    numbers : uint64 array (n,)
        Values where they are known.
    terms : int32 array (n,), optional
        Terms, `KNOWN` where the value is a number; None where all are.
    """

    width: int
    numbers: Words
    terms: Ids | None = None

    @property
    def is_known(self) -> bool:
        """Whether all values are numbers."""
        return self.terms is None

    def __len__(self) -> int:
        return len(self.numbers)

    def at(self, threads: Any) -> Value:
        """Return the values of some threads."""
        return Value(self.width, self.numbers[threads], None if self.terms is None else self.terms[threads])

    def as_terms(self, store: TermStore) -> Ids:
        """Return terms for all values, constants for numbers."""
        if self.terms is None:
            return store.constants(self.numbers, self.width)
        known = self.terms == KNOWN
        if not known.any():
            return self.terms
        terms = self.terms.copy()
        terms[known] = store.constants(self.numbers[known], self.width)
        return terms

    def updated(self, threads: Any, new: Value) -> Value:
        """Return the values with those of some threads (an index array) replaced."""
        numbers = self.numbers.copy()
        numbers[threads] = new.numbers
        if self.terms is None and new.terms is None:
            return Value(self.width, numbers)
        terms = np.full(len(numbers), KNOWN) if self.terms is None else self.terms.copy()
        terms[threads] = KNOWN if new.terms is None else new.terms
        return Value(self.width, numbers, terms)


Rule = Callable[[TermStore, Sequence[Value]], Value]
"""The result of an instruction that each thread computes from its own registers alone."""


def known(numbers: Any, width: int) -> Value:
    """Return known values, cut to a width."""
    return Value(width, np.asarray(numbers).astype(np.uint64) & ones(width))


def of_terms(store: TermStore, terms: Ids, width: int) -> Value:
    """Return the values of terms; constants among them become numbers."""
    constant = store.are(CONSTANT, terms)
    if not constant.any():
        return Value(width, np.zeros(len(terms), dtype=np.uint64), np.asarray(terms, dtype=np.int32))
    numbers = np.where(constant, store.constant_values(terms), np.uint64(0))
    if constant.all():
        return Value(width, numbers)
    return Value(width, numbers, np.where(constant, KNOWN, terms).astype(np.int32))


def compute(
    store: TermStore,
    width: int,
    arguments: Sequence[Value],
    on_numbers: Callable[..., Any],
    on_terms: Callable[..., Ids],
) -> Value:
    """Apply an operation: to numbers where all arguments of a thread are known, else to terms.

    Parameters
    ----------
    store : TermStore
        The terms.
    width : int
        Of the result.
    arguments : sequence of Value (n,)
        The operands.
    on_numbers : callable
        uint64 arrays to an array of the results, of which the low `width` bits count.
    on_terms : callable
        Term arrays to the terms of the results.
    """
    if all(argument.is_known for argument in arguments):
        with np.errstate(all="ignore"):
            return known(on_numbers(*(argument.numbers for argument in arguments)), width)
    unknown: NDArray[np.bool_] = np.zeros(len(arguments[0]), dtype=bool)
    for argument in arguments:
        if argument.terms is not None:
            unknown |= argument.terms != KNOWN
    data = np.flatnonzero(unknown)
    if not len(data):
        with np.errstate(all="ignore"):
            return known(on_numbers(*(argument.numbers for argument in arguments)), width)
    of_data = of_terms(store, on_terms(*(argument.at(data).as_terms(store) for argument in arguments)), width)
    if len(data) == len(unknown):
        return of_data
    with np.errstate(all="ignore"):
        numbers = known(on_numbers(*(argument.numbers for argument in arguments)), width)
    return numbers.updated(data, of_data)
