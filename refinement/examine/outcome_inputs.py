"""Inputs of trials by which comparisons of one element hold.

A kernel that is wrong only where every element is a multiple of 7, half-way between two integers, or between
0 and 1, is right on numbers that are drawn one by one. Here numbers are grouped, for each element, by the
outcomes of the comparisons that depend on it alone; a set takes all elements from the groups of one rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ..contract.contract import Instance
from ..expected.input_bounds import words_of
from ..expected.requirements import Requirements
from ..terms import operations
from ..terms.assignments import Assignment
from ..terms.domains import Domain
from ..terms.input_ends import Reals
from ..terms.interning import Ids
from ..terms.store import CONSTANT, INPUT, Operation, TermStore
from ..terms.traversal import within
from .counterexamples import input_formats
from .trial_inputs import TYPICAL, Words, different

_NONE, _SEVERAL = -1, 1 << 40
"""In place of the element that a term depends on."""

_GROUPS = 4
"""Groups of numbers that are tried, the smallest first: what hardly any number meets is rarely drawn."""

_EVALUATED = 1 << 22
"""Terms times numbers, as of `trials`: some tenths of a second. With more terms, fewer numbers are tried."""

_LEAST = 64
"""Numbers without which groups tell nothing."""

_CONSTANTS = 16
"""The kernel's constants whose multiples are tried."""


class _Element(Domain):
    """The one element of an input that a term depends on."""

    dtype = np.int64

    def leaf(self, operation: Operation, terms: Ids) -> Any:
        return terms if operation.name == INPUT else _NONE if operation.name == CONSTANT else _SEVERAL

    def vector(self, elements: NDArray[np.int64]) -> NDArray[np.int64]:
        most = elements.max(axis=1, initial=_NONE)
        least = np.where(elements == _NONE, most[:, None], elements).min(axis=1, initial=_SEVERAL)
        return np.where((least == most) | (most == _NONE), most, _SEVERAL)

    def applied(self, operation: Operation, terms: Ids, given: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        return self.vector(np.stack(given, axis=1))


def outcome_inputs(
    instance: Instance, store: TermStore, requirements: Requirements, seed: int
) -> Iterator[dict[str, Words]]:
    """Yield sets whose elements have outcomes that are rare, one rank after the other.

    Parameters
    ----------
    instance, store, requirements, seed
        As of `more_trial_inputs`.
    """
    terms = np.arange(len(store), dtype=np.int32)
    compared = terms[store.are(operations.COMPARE, terms)]
    elements = _Element(store).values(compared)
    compared, elements = (each[(elements >= 0) & (elements < _SEVERAL)] for each in (compared, elements))
    if not len(compared):
        return
    random, formats = np.random.default_rng([seed, 5]), input_formats(instance)
    numbers = random.permutation(_numbers(store))
    numbers = numbers[: min(_EVALUATED // len(within(store, compared)), 2 * _EVALUATED // len(store))]
    encoded = {name: words_of(numbers, fmt) for name, (fmt, _) in formats.items()}
    base = different(instance, random)
    every = {name: np.broadcast_to(encoded[name], (len(words), len(numbers))) for name, words in base.items()}
    try:
        outcomes = Assignment(store, every).values(compared)
    except UnsupportedError:
        return
    leaves, of = np.unique(elements, return_inverse=True)
    groups = [_groups(outcomes[of == each]) for each in range(len(leaves))]
    inputs = store.arguments(leaves)[:, 0].tolist()
    names = [str(store.operation(int(leaf)).attribute) for leaf in leaves]
    for rank in range(_GROUPS if len(numbers) >= _LEAST else 0):
        words = {name: each.copy() for name, each in base.items()}
        for name, index, some in zip(names, inputs, groups, strict=True):
            words[name][index] = encoded[name][random.choice(some[min(rank, len(some) - 1)])]
        if (met := requirements.admissible(words, random)) is not None:
            yield met


def _groups(outcomes: NDArray[np.uint64]) -> list[NDArray[np.intp]]:
    """Return the numbers (n,) of each column of outcomes (k, n), the fewest first."""
    _, group = np.unique(outcomes, axis=1, return_inverse=True)
    sizes = np.bincount(group.reshape(-1))
    return [np.flatnonzero(group.reshape(-1) == each) for each in np.argsort(sizes, kind="stable")]


def _numbers(store: TermStore) -> Reals:
    """Return integers, fractions, powers of two, and multiples of the kernel's constants."""
    terms = np.arange(len(store), dtype=np.int32)
    words = np.unique(store.constant_values(terms[store.are(CONSTANT, terms)]))
    floats = words[words < 1 << 32].astype(np.uint32).view(np.float32).astype(np.float64)
    both = np.concatenate([words[words < TYPICAL].astype(np.float64), floats])
    constants = np.unique(np.abs(both[np.isfinite(both)]))
    constants = constants[(constants > 1 / TYPICAL) & (constants < TYPICAL)][-_CONSTANTS:]
    whole = np.arange(-64.0, 257.0)
    fractions = [whole / divisor for divisor in (1, 2, 10, 251)]
    multiples = np.outer(constants, np.arange(-8.0, 9.0)).reshape(-1)
    beside = np.add.outer(constants, np.arange(-4.0, 5.0)).reshape(-1)
    found: Reals = np.unique(
        np.concatenate([*fractions, np.ldexp(1.0, np.arange(-20, 21)), multiples, beside])
    )
    found = found[np.abs(found) <= TYPICAL]
    return found
