"""Sensitivity of trials: exchanging an input has to change an output beyond rounding.

Runs on numbers that agree say little of an input that makes no difference on them: a weight times 0, a bias
that is rounded away, an element that is never the greatest. So each input that an output depends on is
exchanged in part, and the contract is computed again: where the output is no further from what it was than
roundings explain, these numbers could not have shown a fault there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import InputError
from ..expected.requirements import Requirements
from ..terms.store import INPUT
from ..terms.traversal import leaves_of
from .counterexamples import unequal
from .trial_inputs import redrawn
from .trial_judgement import Claim, Compared, Judgement, most_apart

_LOOKED_AT = 64
"""Elements of an output whose terms are asked for the inputs that they depend on: first, last, between."""

_MOVED = 4
"""Elements that have moved the most, of which one is to have moved by more than roundings explain."""


class Dependences:
    """Inputs that outputs depend on, and those whose influence trials have shown.

    Parameters
    ----------
    claim : Claim
        What is claimed of the kernel.
    requirements : Requirements
        What other numbers are to meet.

    Attributes
    ----------
    every, open : frozenset and set of (str, str)
        Outputs, each with an input that it depends on, and those of which it made no difference so far.
    """

    def __init__(self, claim: Claim, requirements: Requirements) -> None:
        self._claim, self._requirements = claim, requirements
        self.every = frozenset(
            (each.output.name, name) for each in claim.compared for name in _inputs_behind(claim, each)
        )
        self.open = set(self.every)

    def look(self, judgement: Judgement, seed: int) -> None:
        """Take from what is open that which makes a difference on some inputs."""
        others = {}
        for name in sorted({name for _, name in self.open}):
            changed = redrawn(self._claim.instance, judgement.inputs, name, seed)
            again = Judgement(self._claim, changed, by_terms=True)
            with suppress(
                InputError
            ):  # an index that leaves its array: such numbers are none of the contract's
                others[name] = again.wanted
        for each in self._claim.compared:
            names = [name for name in others if (each.output.name, name) in self.open]
            self.open -= {(each.output.name, name) for name in self._moving(each, judgement, others, names)}

    def _moving(
        self,
        each: Compared,
        judgement: Judgement,
        others: Mapping[str, Mapping[str, NDArray[Any]]],
        names: Sequence[str],
    ) -> Iterator[str]:
        """Yield the inputs with which an output is further from what it was than roundings explain."""
        output, members = each.output, each.members
        before = judgement.wanted[output.name][members]
        explained = judgement.explained(output)[members]
        moved: dict[str, NDArray[np.intp]] = {}
        with np.errstate(over="ignore"):
            twice = 2 * np.nan_to_num(explained, nan=np.inf)
        for name in names:
            after = others[name][output.name][members]
            if unequal(before, after, twice).any():
                yield name
            elif np.isnan(explained).any():
                moved[name] = most_apart(before, after, np.arange(len(members)), _MOVED)
        if not moved:
            return
        places = np.unique(np.concatenate(list(moved.values())))
        allowed = 2 * judgement.allowed(each, members[places])
        for name in moved:
            if unequal(before[places], others[name][output.name][members[places]], allowed).any():
                yield name


def _inputs_behind(claim: Claim, each: Compared) -> Iterator[str]:
    """Yield the inputs that some elements of an output depend on by the contract."""
    store, members = claim.store, each.members
    if not len(members):
        return
    some = members[np.unique(np.linspace(0, len(members) - 1, _LOOKED_AT).astype(np.intp))]
    leaves = leaves_of(store, each.expected[some])
    inputs = leaves[store.are(INPUT, leaves)]
    for number in np.unique(store.operation_numbers(inputs)):
        yield str(store.operations[number].attribute)
