"""One measured speed and what it should be."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A measurement.

    Attributes
    ----------
    name : str
        What was measured.
    value : float
        The measured number.
    unit : str
        ``s``, ``ms`` or ``numpy``, multiples of what importing NumPy takes, where less is better; or a rate,
        where more is better.
    target : float, optional
        The promised bound, in the same unit.
    """

    name: str
    value: float
    unit: str
    target: float | None = None

    @property
    def is_time(self) -> bool:
        return self.unit in ("s", "ms", "numpy")

    @property
    def reached(self) -> bool:
        if self.target is None:
            return True
        return self.value <= self.target if self.is_time else self.value >= self.target

    def __str__(self) -> str:
        target = ""
        if self.target is not None:
            verdict = "reached" if self.reached else "MISSED"
            target = f"  {'<=' if self.is_time else '>='} {self.target:g} {verdict}"
        return f"{self.name:<44} {self.value:8.3f} {self.unit:<4}{target}".rstrip()


def shortest_time(action: Callable[[], object], repetitions: int) -> float:
    """Return the least of several wall-clock times in seconds: what others on the machine disturb least."""
    seconds = []
    for _ in range(repetitions):
        start = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - start)
    return min(seconds)
