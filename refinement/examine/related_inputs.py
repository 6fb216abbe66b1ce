"""Inputs of trials in which elements are related, for kernels that compare them with each other.

A kernel that forgets one of the neighbours whose order it is to check is wrong only where all others are
sorted, and one that takes the first of equal numbers for the last only where some are equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np

from ..contract.contract import Instance
from ..expected.input_bounds import numbers_of, words_of
from ..expected.requirements import Requirements
from ..expected.structured_inputs import nearly_structured, structured
from ..terms import operations
from ..terms.store import CONSTANT, TermStore
from .counterexamples import input_formats
from .trial_inputs import Words, different

_FEW = 4
"""With so many constants an output is compared by ranges and masks; with more, elements are counted."""

_APART = 8.0
"""By how much more each array is than the one before it, where all elements of one are less."""


def related_inputs(
    instance: Instance, store: TermStore, requirements: Requirements, seed: int
) -> Iterator[dict[str, Words]]:
    """Yield sets in which the elements of every array are related; none where terms do not ask for that.

    Parameters
    ----------
    instance, store, requirements, seed
        As of `more_trial_inputs`.
    """
    if not _relates(instance, store):
        return
    random = np.random.default_rng([seed, 3])
    base = different(instance, random)
    arrays = [(name, *each) for name, each in input_formats(instance).items() if each[1]]
    numbers = [numbers_of(base[name], fmt) for name, fmt, _ in arrays]
    kinds = []
    for place, (name, fmt, shape) in enumerate(arrays):
        own = numbers[place], shape, requirements.bounds.of(name, fmt, len(numbers[place]))
        apart = [numbers[place] + sign * _APART * place for sign in (1, -1)]  # not when it is taken
        kinds.append(chain(structured(*own), apart, nearly_structured(*own)))
    while found := {name: next(kind, None) for (name, *_), kind in zip(arrays, kinds, strict=True)}:
        if all(each is None for each in found.values()):
            return
        formats = {name: fmt for name, fmt, _ in arrays}
        words = {name: words_of(each, formats[name]) for name, each in found.items() if each is not None}
        if (met := requirements.admissible({**base, **words}, random)) is not None:
            yield met


def _relates(instance: Instance, store: TermStore) -> bool:
    """Tell whether terms are compared with each other, or many with constants for each output."""
    terms = np.arange(len(store), dtype=np.int32)
    comparing = store.are(operations.COMPARE, terms) | store.are(operations.EXTREMUM, terms)
    with_constants = store.are(CONSTANT, store.arguments(terms[comparing])[:, :2]).any(axis=1)
    outputs = sum(output.elements for output in instance.outputs)
    return not np.all(with_constants) or int(comparing.sum()) > _FEW * outputs
