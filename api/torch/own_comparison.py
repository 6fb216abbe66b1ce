"""Results at the problem's own sizes next to PyTorch's: what no rounding explains is wrong.

A difference counts beyond many times the error of PyTorch's own result, which double precision tells; and
where inexact results of the kernel are rounded to either side, by many times of how far that moves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import ml_dtypes
import numpy as np

from ...refinement.ptx.numeric.memory import KNOWN, NOBODY
from .arrays import elements_of
from .own_launches import Launches, held_type
from .own_numbers import DRAWS, Numbers
from .recording import Recording, View

UNITS = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
"""Half a unit in the last place of each type."""

ROUNDINGS = 256
"""How many roundings of a result's type a difference may be."""

ERRORS = 32
"""How many times the greatest error of PyTorch's own result it may be."""

SPREADS = 8
"""How many times as far as roundings to either side move any element of a result, and of integers how many
times as many elements, may differ."""

FEW = 8
"""Elements that a few runs with other roundings may all leave as they are by chance."""


@dataclass(frozen=True)
class Compared:
    """What came of a comparison.

    Attributes
    ----------
    elements, results : int
        Elements compared, and of all results.
    findings : tuple of str
        What is wrong.
    few : bool
        Whether no more than `FEW` elements are.
    doubts : tuple of str
        Corners of results that no block writes, though those at the corners of the grid were run.
    open : tuple of str
        What could not be compared.
    """

    elements: int
    results: int
    findings: tuple[str, ...] = ()
    few: bool = False
    doubts: tuple[str, ...] = ()
    open: tuple[str, ...] = ()


def compared(
    recording: Recording, launches: Launches, numbers: Numbers, draw: int, others: Sequence[Launches]
) -> Compared:
    """Compare all results of a candidate as far as they are known.

    Parameters
    ----------
    recording : Recording
        The candidate.
    launches : Launches
        What was run.
    numbers : Numbers
        Of the reference.
    draw : int
        Of which draw.
    others : sequence of Launches
        The same with other roundings; none where these are not looked at yet.
    """
    elements = total = wrong = 0
    findings: list[str] = []
    open_points: list[str] = []
    doubts: list[str] = []
    for place, result in enumerate(recording.results):
        wanted = numbers.array(f"{draw} result {place}")
        size = prod(result.shape)
        total += size
        if wanted is None or wanted.size != size:
            open_points.append(f"result {place} of PyTorch has another size")
            continue
        states = launches.storages[result.storage].states
        held = None if states is None else elements_of(states, result.shape, result.strides, result.offset)
        chosen = np.arange(size) if held is None else np.flatnonzero(held == KNOWN)
        if held is not None and not held.all():
            unwritten = np.flatnonzero(held == NOBODY)
            index = _index(result, int(unwritten[0]))
            findings.append(
                f"missing-output: result {place} is unwritten at {index}, one of {len(unwritten)} elements"
            )
            wrong += FEW + 1
            continue
        elements += len(chosen)
        doubts += _untouched(result, place, launches)
        if len(chosen):
            exact = numbers.array(f"{draw} exact {place}")
            different = _different(result, launches, chosen, (wanted, exact), others, draw)
            wrong += int(different.sum())
            if different.any():
                mine = _values(launches, result, chosen)
                wanted = _plain(wanted, result.dtype)[chosen]
                findings.append(_said(result, place, chosen, different, mine, wanted, launches, draw))
    return Compared(elements, total, tuple(findings), wrong <= FEW, tuple(doubts), tuple(open_points))


def _untouched(result: View, place: int, launches: Launches) -> list[str]:
    """Return which end of a result no block writes, where those at the corners of a grid were run."""
    touched = launches.storages[result.storage].stored
    ends = np.array([0, prod(result.shape) - 1])
    if touched is None or not touched.any() or ends[1] < 0:
        return []
    return [
        f"no block that was run writes result {place} at {_index(result, number)}, though those at the "
        "corners of the grid were run"
        for number, at in zip(ends.tolist(), _places(result, ends).tolist(), strict=True)
        if not touched[at]
    ]


def _places(result: View, chosen: Any) -> Any:
    """Return where some elements (n,) of a result, by their number, are in its storage."""
    if not result.shape:
        return chosen + result.offset
    return result.offset + sum(
        index * stride
        for index, stride in zip(np.unravel_index(chosen, result.shape), result.strides, strict=True)
    )


def _values(launches: Launches, result: View, chosen: Any) -> Any:
    array = launches.storages[result.storage]
    return array.data[: array.size].view(held_type(result.dtype))[_places(result, chosen)]


def _different(
    result: View,
    launches: Launches,
    chosen: Any,
    theirs: tuple[Any, Any],
    others: Sequence[Launches],
    draw: int,
) -> Any:
    """Tell which elements (n,) of a result differ from PyTorch's by more than roundings explain."""
    mine = _values(launches, result, chosen)
    wanted = _plain(theirs[0], result.dtype)[chosen]
    exact = wanted if theirs[1] is None else np.asarray(theirs[1]).reshape(-1)[chosen]
    if result.dtype not in UNITS:
        sure = exact.astype(wanted.dtype) == wanted
        return sure & _other_integers(mine, wanted, [_values(other, result, chosen) for other in others])
    with np.errstate(all="ignore"):
        truth, given = exact.astype(np.float64), mine.astype(np.float64)
        rounded = wanted.astype(np.float64)
        usable = np.isfinite(truth) & np.isfinite(rounded)
        errors = np.abs(rounded - truth)
        greatest = float(errors[usable].max(initial=0))
        allowed = ERRORS * greatest + ROUNDINGS * UNITS[result.dtype] * np.abs(truth) + 1e-30
        wrong = usable & ~(np.abs(given - truth) <= allowed)
        if draw:  # numbers beyond those that the problem has may overflow
            wrong &= np.isfinite(given)
        if others and wrong.any():
            again = np.stack([_values(other, result, chosen).astype(np.float64) for other in others])
            moved = np.abs(again - given)
            furthest = float(moved[np.isfinite(moved)].max(initial=0))
            wrong &= ~(np.abs(given - truth) <= allowed + SPREADS * furthest)
            wrong &= ~(np.abs(again - truth) <= allowed).any(axis=0)
    return wrong


def _other_integers(mine: Any, wanted: Any, again: Sequence[Any]) -> Any:
    """Tell which integers (n,) are wrong, also where numbers were rounded to either side on the way.

    Where roundings carry some numbers over a step, they may do so for others that these runs do not tell:
    for not many more of them, and not much further.
    """
    given, right = mine.astype(np.int64), wanted.astype(np.int64)
    wrong, changed, furthest = given != right, 0, 0
    for other in again:
        held = other.astype(np.int64)
        wrong &= held != right
        moved = np.abs(held - given)
        changed, furthest = max(changed, int((moved > 0).sum())), max(furthest, int(moved.max(initial=0)))
    if int(wrong.sum()) <= SPREADS * changed:
        wrong &= np.abs(given - right) > SPREADS * furthest
    return wrong


def _plain(array: Any, dtype: str) -> Any:
    flat = np.asarray(array).reshape(-1)
    return flat.view(ml_dtypes.bfloat16) if dtype == "bfloat16" else flat


def _said(
    result: View, place: int, chosen: Any, wrong: Any, mine: Any, wanted: Any, launches: Launches, draw: int
) -> str:
    """Return a message about the first element that is wrong."""
    first = int(np.argmax(wrong))
    index = _index(result, int(chosen[first]))
    read = "".join(
        f"; {name} is read in {line} before it is written" for name, line in launches.uninitialised.items()
    )
    return (
        f"wrong-value: result {place} at {index} is {mine[first]}, and PyTorch computes {wanted[first]} "
        f"({int(wrong.sum()):,} of {len(chosen):,} elements), {DRAWS[draw]}{read}"
    )


def _index(result: View, number: int) -> list[int]:
    return [int(each) for each in np.unravel_index(number, result.shape)] if result.shape else []
