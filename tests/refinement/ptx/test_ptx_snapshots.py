"""Snapshots of a run: alike if the times of each agent lie in the same order, however far it has come."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.refinement.ptx.order.snapshots import Snapshot
from mmaproof.refinement.ptx.order.vector_clocks import AGENT, FENCED, OPERATIONS, THREAD, Happened
from mmaproof.spec.errors import UnsupportedError

WARPS = 4
FAR = 5
"""Further apart than anybody asks for."""

TIMES = st.lists(st.tuples(st.integers(0, WARPS - 1), st.integers(0, 40)), min_size=1, max_size=12)


def alike(one: Snapshot, other: Snapshot) -> bool:
    """Tell whether runs go on alike from two snapshots."""
    first, second = one.canonical(), other.canonical()
    return len(first) == len(second) and all(map(np.array_equal, first, second))


def snapshot(pairs: list[tuple[int, int]]) -> Snapshot:
    """Return a snapshot with times of warps."""
    found = Snapshot(WARPS)
    agents, times = zip(*pairs, strict=True)
    found.intervals(agents, times)
    return found


@given(TIMES, st.lists(st.integers(0, 1000), min_size=WARPS, max_size=WARPS))
def test_how_far_an_agent_has_come_makes_no_difference(
    pairs: list[tuple[int, int]], moved: list[int]
) -> None:
    assert alike(snapshot(pairs), snapshot([(agent, time + moved[agent]) for agent, time in pairs]))


@given(TIMES, TIMES)
def test_what_is_alike_compares_alike(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    """With what anybody adds to a time before comparing it: up to two phases."""
    if len(one) == len(other) and alike(snapshot(one), snapshot(other)):
        for (agent, time), (_, later) in zip(one, other, strict=True):
            for (second, limit), (_, bound) in zip(one, other, strict=True):
                if agent == second:
                    assert all((time + more < limit) == (later + more < bound) for more in (0, 1, 2))


@given(st.integers(0, 20), st.integers(0, 20))
def test_times_that_lie_far_apart_are_not_told_from_each_other(near: int, more: int) -> None:
    assert alike(snapshot([(0, near), (0, near + FAR)]), snapshot([(0, near), (0, near + FAR + more)]))


@pytest.mark.parametrize(("key", "names"), [(3, 3 * WARPS * 32), (AGENT + 1, (AGENT + 1) * WARPS * 32)])
def test_what_is_known_is_on_the_clock_of_who_did_it(key: int, names: int) -> None:
    """A thread's time below the interval that is known to be over, and at it, are different snapshots."""

    def at(time: int) -> Snapshot:
        found = Snapshot(WARPS)
        found.of_threads([names], [time])
        found.known({key: np.array([7], dtype=np.int32)})
        return found

    assert alike(at(2), at(3)) and not alike(at(6), at(7))


def test_fences_have_the_clock_of_the_operation() -> None:
    def at(time: int) -> Snapshot:
        found = Snapshot(WARPS)
        found.known({OPERATIONS + 4: np.array([5]), OPERATIONS + FENCED + 4: np.array([time])})
        return found

    assert not alike(at(5), at(6))


def test_all_else_is_compared_as_it_is() -> None:
    def taken(what: object) -> Snapshot:
        found = Snapshot(WARPS)
        found.take(what)
        return found

    alone = THREAD + 5
    for one, other in (
        ([1, 2], [1, 3]),
        ({1: "a"}, {2: "a"}),
        (SimpleNamespace(line=3), SimpleNamespace(line=4)),
        (np.arange(3), np.arange(1, 4)),
        (Happened({alone: np.array([1])}), Happened({alone + 32: np.array([1])})),
    ):
        assert alike(taken(one), taken(one)) and not alike(taken(one), taken(other))


def test_words_that_are_waited_for_are_refused() -> None:
    with pytest.raises(UnsupportedError):
        Snapshot(WARPS).known({-3: np.array([1])})
