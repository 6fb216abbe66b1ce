"""Inputs on which a kernel is NaN or infinite and its contract is not, from the special cases."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

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


_ROOM = 1 << 20
"""Words of inputs that conditions are evaluated on at once."""


class _Change(NamedTuple):
    """An element of an input, and its new word; no name is no change."""

    name: str
    place: int
    word: np.uint64


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
    """Change an element that a condition is about, to the first number for which it holds, or fails."""
    term: Ids = np.array([condition], dtype=np.int32)
    leaves = leaves_of(store, term)
    changes = [_Change("", 0, np.uint64(0))]  # none
    for leaf in leaves[store.are(INPUT, leaves)].tolist():
        operation = store.operation(leaf)
        name, place = str(operation.attribute), int(store.arguments(np.array([leaf]))[0, 0])
        if name in inputs:
            changes += [_Change(name, place, word) for word in small_numbers(operation.result)]
    names = {each.name for each in changes[1:]}
    at_once = max(1, _ROOM // sum((len(inputs[name]) for name in names), start=1))
    for start in range(0, len(changes), at_once):
        some = changes[start : start + at_once]
        tried = {name: np.repeat(inputs[name][:, None], len(some), axis=1) for name in names}
        for column, each in enumerate(some):
            if each.name:
                tried[each.name][each.place, column] = each.word
        found = Assignment(store, tried).values(term)[0].astype(bool) == holds
        if found.any():
            first = some[int(found.argmax())]
            if first.name:
                inputs[first.name][first.place] = first.word
            return
