"""Inputs on which a kernel is NaN or infinite and its contract is not, from the special cases."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.formats import Format
from ..contract.contract import Instance
from ..equality.special_values import SpecialValues
from ..expected.requirements import Requirements
from ..terms.assignments import Assignment
from ..terms.inputs import one_of_two, small_numbers
from ..terms.interning import Ids
from ..terms.store import INPUT, TermStore
from ..terms.traversal import leaves_of
from .counterexamples import input_formats

_CASES = 4
"""Cases that are tried."""

_CONDITIONS = 64
"""Conditions of a case that inputs are sought for, at most."""

_PASSES = 2
"""How often the inputs of each condition are adjusted: two may be about the same number."""


def special_inputs(
    instance: Instance, store: TermStore, special: SpecialValues, actual: int, expected: int, fmt: Format
) -> Iterator[dict[str, NDArray[np.uint64]]]:
    """Yield inputs that meet the conditions under which two terms must differ, as far as they are found.

    A condition on one element gets the first small number that meets it; else inputs are 1. They are then
    changed to meet ``[requires]`` and the instance's case.

    Parameters
    ----------
    instance : Instance
        Whose inputs they are.
    store : TermStore
        The terms.
    special : SpecialValues
        Of the terms.
    actual, expected : int
        The kernel's term, and the contract's.
    fmt : Format
        In which they are read.
    """
    formats, requirements = input_formats(instance), Requirements(instance)
    random = np.random.default_rng(0)
    try:
        for case in islice(special.cases(actual, expected, fmt), _CASES):
            inputs = {
                name: np.full(int(np.prod(shape)), one_of_two(kind, 1), dtype=np.uint64)
                for name, (kind, shape) in formats.items()
            }
            for _ in range(_PASSES):
                for condition, holds in case[:_CONDITIONS]:
                    _adjust(store, inputs, condition, holds)
            if (met := requirements.admissible(inputs, random)) is not None:
                yield met
    except UnsupportedError:
        return


def _adjust(store: TermStore, inputs: dict[str, NDArray[np.uint64]], condition: int, holds: bool) -> None:
    """Change an element that a condition is about so that it holds, or not."""
    term: Ids = np.array([condition], dtype=np.int32)
    leaves = leaves_of(store, term)
    leaves = leaves[store.are(INPUT, leaves)]
    for leaf in leaves.tolist():
        operation = store.operation(leaf)
        name, place = str(operation.attribute), int(store.arguments(np.array([leaf]))[0, 0])
        if name not in inputs:
            continue
        before = inputs[name][place]
        for word in (before, *small_numbers(operation.result)):
            inputs[name][place] = word
            if bool(Assignment(store, inputs).values(term)[0]) == holds:
                return
        inputs[name][place] = before
