"""Results at the problem's own sizes next to PyTorch's: what no rounding explains is wrong.

A difference counts beyond many times the error of PyTorch's own result, which double precision tells; and
where inexact results of the kernel are rounded to either side, by many times of how far that moves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from ...refinement.ptx.numeric.memory import KNOWN, NOBODY
from .arrays import places
from .own_launches import Launches, held_type
from .own_numbers import Numbers
from .recording import Recording, View

UNITS = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
"""Half a unit in the last place of each type."""

ROUNDINGS = 256
"""How many roundings of a result's type a difference may be."""

ERRORS = 32
"""How many times the greatest error of PyTorch's own result it may be."""

SPREADS = 8
"""How many times as far as roundings to either side move any element of a result."""


@dataclass(frozen=True)
class Compared:
    """What came of a comparison.

    Attributes
    ----------
    elements, results : int
        Elements compared, and of all results.
    findings : tuple of str
        What is wrong.
    doubts : tuple of str
        Corners of results that no block writes, though those at the corners of the grid were run.
    open : tuple of str
        What could not be compared.
    """

    elements: int
    results: int
    findings: tuple[str, ...] = ()
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
    elements = total = 0
    findings: list[str] = []
    open_points: list[str] = []
    doubts: list[str] = []
    for place, result in enumerate(recording.results):
        wanted = numbers.array(f"{draw} result {place}")
        at = places(result.shape, result.strides, result.offset).reshape(-1)
        total += len(at)
        if wanted is None or wanted.size != len(at):
            open_points.append(f"result {place} of PyTorch has another size")
            continue
        states = launches.storages[result.storage].states
        held = np.full(len(at), KNOWN) if states is None else states[at]
        chosen = np.flatnonzero(held == KNOWN)
        if len(unwritten := np.flatnonzero(held == NOBODY)):
            index = _index(result, int(unwritten[0]))
            findings.append(
                f"missing-output: nobody writes result {place} at {index}, of {len(unwritten)} elements"
            )
            continue
        elements += len(chosen)
        doubts += _untouched(result, place, launches, at)
        if len(chosen):
            exact = numbers.array(f"{draw} exact {place}")
            shown = _different(result, place, launches, (at, chosen), (wanted, exact), others, draw)
            findings += [shown] if shown else []
    return Compared(elements, total, tuple(findings), tuple(doubts), tuple(open_points))


def _untouched(result: View, place: int, launches: Launches, at: Any) -> list[str]:
    """Return which end of a result no block writes, where those at the corners of a grid were run."""
    touched = launches.storages[result.storage].stored
    if touched is None or not touched.any() or not len(at):
        return []
    return [
        f"no block that was run writes result {place} at {_index(result, number)}, though those at the "
        "corners of the grid were run"
        for number in (0, len(at) - 1)
        if not touched[at[number]]
    ]


def _values(launches: Launches, result: View, at: Any) -> Any:
    array = launches.storages[result.storage]
    return array.data[: array.size].view(held_type(result.dtype))[at]


def _different(
    result: View,
    place: int,
    launches: Launches,
    where: tuple[Any, Any],
    theirs: tuple[Any, Any],
    others: Sequence[Launches],
    draw: int,
) -> str | None:
    """Return how a result differs from PyTorch's, None where it does not."""
    at, chosen = where
    mine = _values(launches, result, at[chosen])
    wanted = _plain(theirs[0], result.dtype)[chosen]
    exact = wanted if theirs[1] is None else np.asarray(theirs[1]).reshape(-1)[chosen]
    if result.dtype not in UNITS:
        sure = exact.astype(wanted.dtype) == wanted
        wrong = (mine.astype(np.int64) != wanted.astype(np.int64)) & sure
        for other in others:
            wrong &= _values(other, result, at[chosen]).astype(np.int64) != wanted.astype(np.int64)
        return _said(result, place, chosen, wrong, mine, wanted, launches, draw)
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
            again = np.stack([_values(each, result, at[chosen]).astype(np.float64) for each in others])
            moved = np.abs(again - given)
            furthest = float(moved[np.isfinite(moved)].max(initial=0))
            wrong &= ~(np.abs(given - truth) <= allowed + SPREADS * furthest)
            wrong &= ~(np.abs(again - truth) <= allowed).any(axis=0)
    return _said(result, place, chosen, wrong, mine, wanted, launches, draw)


def _plain(array: Any, dtype: str) -> Any:
    flat = np.asarray(array).reshape(-1)
    return flat.view(ml_dtypes.bfloat16) if dtype == "bfloat16" else flat


def _said(
    result: View, place: int, chosen: Any, wrong: Any, mine: Any, wanted: Any, launches: Launches, draw: int
) -> str | None:
    """Return a message about the first element that is wrong."""
    if not wrong.any():
        return None
    first = int(np.argmax(wrong))
    index = _index(result, int(chosen[first]))
    inputs = f"with what get_inputs() gives after torch.manual_seed({1 + draw})"
    inputs += " and 4 times as great numbers" if draw else ""
    read = "".join(
        f"; {name} is read in {line} before anybody writes it"
        for name, line in launches.uninitialised.items()
    )
    return (
        f"wrong-value: result {place} at {index} is {mine[first]}, and PyTorch computes {wanted[first]} "
        f"({int(wrong.sum()):,} of {len(chosen):,} elements), {inputs}{read}"
    )


def _index(result: View, number: int) -> list[int]:
    return [int(each) for each in np.unravel_index(number, result.shape)] if result.shape else []
