"""A candidate's launches at the problem's own sizes: some of their blocks, run on numbers.

What is verified is smaller; a fault that greater sizes alone show is met here, if these blocks and these
numbers show it. Nothing is proved by it.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...refinement.ptx.numeric.faults import BudgetError, FaultError
from ...refinement.ptx.numeric.machine import FILLS
from ...refinement.ptx.text.module import Module
from ...refinement.ptx.text.parser import parse
from ...spec.errors import InputError, UnsupportedError
from .own_comparison import Compared, compared
from .own_launches import REST, Launches
from .own_numbers import Numbers
from .own_run import OwnRun
from .recording import NotRecordedError, Recording
from .sizes import Sizes
from .time_limit import TimeUpError, within

FIRST_DRAW = 1 / 8
"""Part of the time after which no second draw of inputs is run: it shows little that the first does not."""

AGAIN = (2, 8)
"""How often launches are run with other roundings where results differ, and where few elements do."""

MEMORY = 1 / 4
"""Part of the time that a run about memory alone may take, which shows less than one on numbers."""


def run_at_own_sizes(
    candidate: Recording,
    numbers: Numbers,
    done: OwnRun,
    seconds: float,
    *,
    compare: bool = True,
    rest: float = REST,
    draws: tuple[int, int] = (0, 1),
) -> OwnRun:
    """Run a candidate's launches at the problem's own sizes.

    Parameters
    ----------
    candidate : Recording
        At these sizes.
    numbers : Numbers
        Inputs, weights and results of the reference.
    done : OwnRun
        What is known before: the sizes.
    seconds : float
        Of processor time.
    compare : bool
        Whether results are compared.
    rest : float
        Of them, how many all blocks of a launch may take that are not run first.
    draws : tuple of int
        The draws of inputs, by number.
    """
    started = time.process_time()
    try:
        modules = _modules(candidate)
    except (InputError, OSError) as reason:
        return replace(done, open=(str(reason),))
    for draw, fill in zip(draws, FILLS, strict=True):
        left = started + seconds - time.process_time()
        is_first = draw == draws[0]
        if not is_first and (not numbers.has_draw(draw) or seconds - left > seconds * FIRST_DRAW):
            done = replace(
                done, open=(*done.open, "only one draw of inputs was run; a second one takes too long")
            )
            break
        until = time.process_time() + (seconds / 2 if is_first else left)
        launches = Launches(candidate, modules, numbers, draw, fill, rest=rest)
        try:
            with within(max(until - time.process_time(), 0) + 1):  # steps of the host look at no clock
                launches.run(until)
        except FaultError as fault:
            if fault.fault.depends:
                done = replace(done, open=(*done.open, f"{fault}, after values that are not known"))
            else:
                where = f"in launch {len(launches.done) + 1} of {len(candidate.launches)}"
                done = replace(done, findings=(f"{fault}, {where}",))
            break
        except (UnsupportedError, NotRecordedError) as reason:
            done = replace(done, open=(*done.open, str(reason)))
            break
        except TimeUpError:
            done = replace(done, open=(*done.open, "the host's steps exceed the time limit"))
            break
        except BudgetError:
            done = replace(done, open=(*done.open, f"{launches.current} exceeds the time limit"))
            break
        done = replace(done, launches=done.launches or tuple(launches.done))
        if not compare:
            continue
        found = _compared(candidate, launches, modules, numbers, draw, fill)
        done = replace(
            done,
            launches=tuple(launches.done) if found.elements > done.compared else done.launches,
            compared=max(done.compared, found.elements),
            results=found.results,
            findings=found.findings,
            doubts=found.doubts
            if is_first
            else tuple(doubt for doubt in done.doubts if doubt in found.doubts),
            open=(*done.open, *(each for each in (*launches.open, *found.open) if each not in done.open)),
        )
        if done.findings:
            break
    return replace(done, seconds=time.process_time() - started)


def memory_at_own_sizes(candidate: Recording, done: OwnRun, sizes: Sizes, seconds: float) -> OwnRun:
    """Run some blocks where arrays are too large for numbers: bounds and races are looked at alone.

    A fault counts that is the same whatever the arrays hold.

    Parameters
    ----------
    candidate : Recording
        At these sizes.
    done : OwnRun
        What was run before, at smaller ones.
    sizes : mapping
        The sizes.
    seconds : float
        Of processor time.
    """
    faults: list[str] = []
    try:
        modules = _modules(candidate)
        for draw, fill in enumerate(FILLS):
            launches = Launches(candidate, modules, None, draw, fill)
            try:
                launches.run(time.process_time() + seconds * MEMORY)
            except FaultError as fault:
                faults.append(f"{fault}, in launch {len(launches.done) + 1} of {len(candidate.launches)}")
                continue
            doubts = (f"no block that was run writes to result {place}" for place in launches.unwritten())
            return replace(done, memory=tuple(launches.done), doubts=(*done.doubts, *doubts))
    except (InputError, OSError, UnsupportedError, NotRecordedError) as reason:
        return replace(done, open=(*done.open, f"memory accesses: {reason}"))
    except BudgetError:
        return replace(done, open=(*done.open, "memory accesses: the time limit is exceeded"))
    if len(set(faults)) == 1:
        return replace(done, sizes=sizes, other="", findings=(faults[0],))
    return replace(done, open=(*done.open, f"memory accesses: {faults[0]}, for some data"))


def _modules(candidate: Recording) -> dict[str, Module]:
    """Return the PTX of each file that kernels are launched from."""
    return {
        launch.ptx: parse(Path(launch.ptx).read_text(encoding="utf-8"), launch.ptx)
        for launch in candidate.launches
    }


def _compared(
    candidate: Recording, launches: Launches, modules: Any, numbers: Numbers, draw: int, fill: int
) -> Compared:
    """Compare results; where some differ, run once more with inexact results rounded to either side.

    Few elements that differ may be next to a step, of which two runs may leave both on one side.
    """
    found = compared(candidate, launches, numbers, draw, ())
    others: list[Launches] = []
    for seed in range(AGAIN[-1]):
        if not found.findings or (len(others) == AGAIN[0] and not found.few):
            break
        again = Launches(candidate, modules, numbers, draw, fill, random=np.random.default_rng(seed))
        again.like(launches)
        try:
            with within(4 * launches.seconds + 5):
                again.run(time.process_time() + 4 * launches.seconds + 5)
        except (FaultError, BudgetError, TimeUpError, UnsupportedError):
            return replace(found, findings=(), open=("results differ, and depend on roundings",))
        others.append(again)
        if draw and again.overflowed:
            greater = "inputs greater than the problem's own overflow, and results differ"
            return replace(found, findings=(), open=(greater,))
        found = compared(candidate, launches, numbers, draw, others)
    return found
