"""How long the commands take that people wait for, each in a process of its own."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from .figure import Figure, shortest_time

LAYOUTS = (("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "a"), ("xvi8ger4pp", "x"))
"""Instructions, and an operand of each."""


def figures() -> Iterator[Figure]:
    yield Figure("mmaproof --help", seconds("--help", repetitions=5), "s", 0.15)
    for instruction, operand in LAYOUTS:
        taken = seconds("layout", instruction, "--operand", operand, repetitions=5)
        yield Figure(f"mmaproof layout {instruction.split('.')[0]} --operand {operand}", taken, "s", 0.3)
    taken = seconds("legal", LAYOUTS[0][0], repetitions=5)
    yield Figure("mmaproof legal mma", taken, "s", 0.3)
    for name in (LAYOUTS[0][0], "race"):
        yield Figure(
            f"mmaproof explain {name.split('.')[0]}", seconds("explain", name, repetitions=5), "s", 0.5
        )
    yield from _small_questions()
    for isa, target in (("power", 30), ("ptx", 60), ("pto", 30)):
        taken = seconds("check", isa, "--no-cache", "--jobs", "2")
        yield Figure(f"mmaproof check {isa} --no-cache --jobs 2", taken, "s", target)
    with tempfile.TemporaryDirectory() as directory:
        fill = seconds("check", "power", cache=directory)
        yield Figure("mmaproof check power, filling the cache", fill, "s")
        cached = seconds("check", "power", cache=directory, repetitions=3)
        yield Figure("mmaproof check power, from the cache", cached, "s", 2)
    with tempfile.TemporaryDirectory() as directory:
        fill = seconds("check", "--jobs", "2", cache=directory)
        yield Figure("mmaproof check --jobs 2, filling the cache", fill, "s", 90)
        cached = seconds("check", cache=directory, repetitions=3)
        yield Figure("mmaproof check, from the cache", cached, "s", 2)
        yield Figure("mmaproof list", seconds("list", cache=directory, repetitions=3), "s", 0.5)


def _small_questions() -> Iterator[Figure]:
    """Yield what importing libraries and asking small questions cost, as multiples of importing NumPy."""
    python = [sys.executable, "-c"]
    numpy = _processor_time([*python, "import numpy"])
    for library in ("typer", "z3", "sympy"):
        taken = _processor_time([*python, f"import {library}"])
        yield Figure(f"import {library}", taken / numpy, "numpy")
    obligation = "ptx/fragment/manual/misprint/equal"
    seconds("list")  # fills the cache with what the catalogue says
    for question in (
        ("legal", LAYOUTS[0][0]),
        ("tables", "ptx"),
        ("check", obligation),
        ("layout", LAYOUTS[0][0], "--operand", LAYOUTS[0][1]),
        ("list", "ptx/fragment"),
        ("explain", "mma"),  # as it is asked again; the first time it takes twice as long
    ):
        taken = _processor_time([sys.executable, "-m", "mmaproof", *question])
        yield Figure(f"mmaproof {' '.join(question)[:50]}", taken / numpy, "numpy", 1.6)


def _processor_time(command: list[str], repetitions: int = 8) -> float:
    """Return the least processor time that a command takes, in seconds."""
    times = []
    for _ in range(repetitions):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def seconds(*arguments: str, cache: str | None = None, repetitions: int = 1) -> float:
    """Run ``mmaproof`` and return the least wall-clock time; a failing command is no measurement.

    Raises
    ------
    subprocess.CalledProcessError
        If the command's exit code is not 0.
    """
    environment = os.environ if cache is None else {**os.environ, "MMAPROOF_CACHE": cache}
    command = [sys.executable, "-m", "mmaproof", *arguments]
    return shortest_time(
        lambda: subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True), repetitions
    )
