"""Invariant check: the state after an iteration is the guess, with havoc symbols bound."""

from __future__ import annotations

import numpy as np

from ...sizes.invariant_inference import TurnTerms
from ...terms.interning import Ids
from .loop_states import Cells
from .size_proofs import NextCandidateError


def agreed(turns: TurnTerms, guess: Cells, actual: Cells, when: str) -> tuple[Ids, Ids]:
    """Return held inputs of a guess, and what stands in their place.

    Raises
    ------
    NextCandidateError
        If something else is held than was guessed.
    """
    inputs, values = [], []
    for name, terms in guess.registers.items():
        found = turns.bound(terms, actual.registers[name]) if name in actual.registers else None
        if found is None or not found[2].all():
            raise NextCandidateError(f"the loop invariant does not hold for {name} {when}")
        inputs.append(found[0])
        values.append(found[1])
    for one, other in zip(guess.lanes, actual.lanes, strict=True):
        there = np.flatnonzero((one.terms >= 0) | (other.terms >= 0))
        absent = (one.terms[there] < 0) | (other.terms[there] < 0)
        same = one.lows[there] == other.lows[there]
        held = turns.is_held(np.maximum(one.terms[there], 0)) & (one.terms[there] >= 0)
        if not (held | ((one.terms[there] == other.terms[there]) & same & ~absent)).all():
            raise NextCandidateError(f"the loop invariant does not hold for memory {when}")
    return _consistent(np.concatenate(inputs), np.concatenate(values), when)


def _consistent(inputs: Ids, values: Ids, when: str) -> tuple[Ids, Ids]:
    pairs = np.unique(np.stack([inputs, values], axis=1), axis=0)
    if len(np.unique(pairs[:, 0])) != len(pairs):
        raise NextCandidateError(f"registers assumed to be equal differ {when}")
    return pairs[:, 0], pairs[:, 1]
