"""Rounding depth of a loop-carried sum as a linear function of the iteration.

A term of the sum that is held before turn u has been rounded at most ``base + u · step`` times: `base` before
the first turn, and each turn rounds what is held, and what it adds, at most `step` times. What is stored
after the last turn is rounded `exit` times more. This is the induction by which the kernel is shown to be
right, about depths instead of values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..analysis.rounding_depth import PathCounts, Roundings, carries, formula_of, roundings
from ..terms.interning import Ids
from ..terms.matrix_rounding import Counted, MatrixRounding
from ..terms.operations import DOT, SCALED_DOT
from ..terms.store import INPUT, Operation, TermStore
from ..terms.traversal import by_operation, leaves_of
from .invariant_inference import HELD

Grown = tuple[tuple[Counted, ...], tuple[Counted, ...]]
"""Roundings at the first number, and what each turn adds."""


@dataclass(frozen=True)
class GrowingRoundings:
    """Rounding depths of all output elements, for every number of a size from some on.

    Attributes
    ----------
    size : str
        The size.
    first : int
        The first number that it holds for.
    turn : int
        By how much the size grows with each turn.
    counts : Grown
        Roundings as `Roundings.counts` has them.
    chosen : Grown
        The same by a choice of what matrix instructions round, where there is one.
    unit : str
        The choice.
    """

    size: str
    first: int
    turn: int
    counts: Grown
    chosen: Grown
    unit: str = ""

    def __str__(self) -> str:
        turns = f"({self.size} - {self.first}) // {self.turn}"
        at_first, each_turn = (dict(part) for part in self.chosen)
        factors = [
            f"(1 + {formula_of(kind)})^({at_first.get(kind, 0)} + {each_turn.get(kind, 0)}·u)"
            for kind in dict.fromkeys([*at_first, *each_turn])
        ]
        by = f" ({self.unit})" if self.unit else ""
        return (
            f"for every {self.size} ≥ {self.first}: |computed - exact| ≤ ({'·'.join(factors)} - 1)·S, "
            f"u = {turns}{by}"
        )

    def at(self, number: int) -> dict[Any, int]:
        """Return the counts at a number, without a choice."""
        turns = (number - self.first) // self.turn
        at_first, each_turn = (dict(part) for part in self.counts)
        kinds = dict.fromkeys([*at_first, *each_turn])
        return {kind: at_first.get(kind, 0) + turns * each_turn.get(kind, 0) for kind in kinds}


def growing(
    store: TermStore,
    unit: MatrixRounding | None,
    grows: tuple[str, int, int],
    held: Ids,
    parts: tuple[Ids, Ids, Ids],
) -> GrowingRoundings | None:
    """Return how the roundings of a sum grow with a size; None where that is not known.

    Parameters
    ----------
    store : TermStore
        The terms.
    unit : MatrixRounding, optional
        What matrix instructions round.
    grows : (str, int, int)
        The size, the first of its numbers, and what a turn takes of it.
    held : array
        The held inputs whose sums are the outputs'.
    parts : (array, array, array)
        What is held in their place before the first turn, and after a turn, and what is stored at the end.
    """
    _, after, stored = parts
    if not _once(store, after, held) or not _once(store, stored, held):
        return None
    undergone = [roundings(store, part) for part in parts]
    if any(each.carried for each in undergone):
        return None
    counts = _grown(undergone)
    used = any(store.named(name).any() for name in (DOT, SCALED_DOT))
    if unit is None or not used:
        return GrowingRoundings(*grows, counts, counts)
    chosen = _grown([roundings(store, part, unit=unit) for part in parts])
    return GrowingRoundings(*grows, counts, chosen, str(unit) if chosen != counts else "")


def of_threads(
    turns: GrowingRoundings | None, size: str, taken: int, store: TermStore, held: Ids, stored: Ids
) -> GrowingRoundings | None:
    """Return how roundings grow with a size that threads go over in steps; None where that is not known.

    Parameters
    ----------
    turns : GrowingRoundings, optional
        How they do in each thread, with how many terms, or vectors, it takes.
    size : str
        The size.
    taken : int
        What all threads take of it where each takes one.
    store, held, stored : TermStore, Ids, Ids
        What is stored, made of what threads hold.
    """
    if turns is None or not _once(store, stored, held):
        return None
    end = roundings(store, stored)
    if end.carried:
        return None
    at_first, each = turns.counts  # a thread may be one turn ahead of where the size would have all
    counts = _sum(at_first, each, end.counts), each
    return GrowingRoundings(size, taken * turns.first, taken * turns.turn, counts, counts)


def _grown(parts: Sequence[Roundings]) -> Grown:
    base, step, end = (part.counts for part in parts)
    return _sum(base, end), step


def _sum(*several: Sequence[Counted]) -> tuple[Counted, ...]:
    found: dict[Any, int] = {}
    for kind, count in (each for counts in several for each in counts):
        found[kind] = found.get(kind, 0) + count
    return tuple(found.items())


def _once(store: TermStore, terms: Ids, held: Ids) -> bool:
    """Tell whether no product in some terms has more than one of the held inputs, and none has others.

    Functions are given none of them, as held inputs have been rounded.
    """
    leaves = leaves_of(store, terms)
    for operation, members in by_operation(store, leaves):
        if operation.name == INPUT and operation.attribute == HELD and not np.isin(members, held).all():
            return False
    return bool(_Held(store).values(terms).max(initial=0) <= 1)


class _Held(PathCounts):
    """The most held inputs in a product."""

    def leaf(self, operation: Operation, terms: Ids) -> int:
        return int(operation.name == INPUT and operation.attribute == HELD)

    def counted(self, operation: Operation, arguments: Ids) -> list[Any]:
        found = super().counted(operation, arguments)
        if carried := carries(operation):
            found.append(2 * self.table()[arguments[:, carried]].max(axis=1))
        return found


def joined(several: Sequence[GrowingRoundings | None]) -> GrowingRoundings | None:
    """Return the most of several proofs' roundings; None where they don't grow alike, or one is not known."""
    known = [each for each in several if each is not None]
    if not known or len(known) < len(several) or len({(each.size, each.turn) for each in known}) != 1:
        return None
    first = max(each.first for each in known)
    behind = [-(-(first - each.first) // each.turn) for each in known]
    counts = _most(list(zip(behind, [each.counts for each in known], strict=True)))
    chosen = _most(list(zip(behind, [each.chosen for each in known], strict=True)))
    one = known[0]
    return GrowingRoundings(one.size, first, one.turn, counts, chosen, one.unit)


def _most(several: Sequence[tuple[int, Grown]]) -> Grown:
    """Return the most at a first number that is some turns behind each one's, and the most of a turn."""
    at_first: dict[Any, int] = {}
    each_turn: dict[Any, int] = {}
    for turns, (before, step) in several:
        for kind, count in _sum(before, *[step] * turns):
            at_first[kind] = max(count, at_first.get(kind, 0))
        for kind, count in step:
            each_turn[kind] = max(count, each_turn.get(kind, 0))
    return tuple(at_first.items()), tuple(each_turn.items())
