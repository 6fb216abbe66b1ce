"""A command ends when its time or memory is used up, with status 3 and what it was doing."""

from __future__ import annotations

import re
import resource
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from command_line import mmaproof

from mmaproof.cli import budget
from mmaproof.cli.app import command_line
from mmaproof.cli.budget import doing, limited, machine_memory, resident
from mmaproof.spec.errors import InputError, OutOfBudget

NAMES = [command.name for command in command_line().registered_commands]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_both_budgets(name: str) -> None:
    shown = mmaproof(name, "--help").out
    assert "--timeout" in shown and "--memory" in shown


@pytest.mark.parametrize("option", ["--timeout", "--memory"])
@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "1e300"])
def test_a_budget_is_a_positive_number_that_timers_take(option: str, value: str) -> None:
    result = mmaproof("legal", "xvf32ger", f"{option}={value}")
    assert result.wrong_use and f"{option} must be a positive number" in result.err


def used_up(seconds: float | None, memory: float | None, work) -> str:
    with pytest.raises(OutOfBudget) as caught, limited(seconds, memory):
        doing("working")
        work()
    return str(caught.value)


def busy() -> None:
    while True:
        with suppress(Exception):  # what takes every failure for an answer must still end
            sum(range(1000))


@pytest.mark.parametrize("work", [busy, lambda: time.sleep(60), lambda: threading.Event().wait(60)])
def test_time_ends_what_computes_and_what_waits(work) -> None:
    assert used_up(0.1, None, work) == "timeout after 0.1 s while working"


def test_memory_that_grows_is_noticed() -> None:
    kept = []

    def grow() -> None:
        while True:
            kept.append(np.ones(1 << 20))

    try:
        message = used_up(None, resident() / budget.GIB + 0.1, grow)
    finally:
        kept.clear()
    assert re.fullmatch(r"out of memory: more than [\d.]+ GiB while working", message)


def test_an_allocation_beyond_the_budget_fails_before_it_is_made() -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    with limited(None, 1.0), pytest.raises(MemoryError):
        np.ones(machine_memory() // 8 + (8 << 30) // 8)
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_what_ends_in_time_leaves_nothing_behind() -> None:
    handler, threads = signal.getsignal(signal.SIGALRM), threading.active_count()
    with limited(60.0, 64.0):
        pass
    assert (signal.getsignal(signal.SIGALRM), threading.active_count()) == (handler, threads)


def test_limits_are_checked_before_the_work() -> None:
    with pytest.raises(InputError), limited(0.0):
        raise AssertionError("it was begun")


def test_a_command_that_ends_early_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def slow(*_: object) -> None:
        doing("comparing rows")
        time.sleep(60)

    monkeypatch.setattr("mmaproof.reports.gate_report.compare", slow)
    Path("table.json").write_text("[]")
    result = mmaproof("gate", "table.json", "--json", "out.json", "--timeout", "0.1")
    assert (result.status, result.out) == (3, "")
    said = r"mmaproof: error: timeout after 0\.1 s while (comparing rows|running mmaproof gate)\n"
    assert re.fullmatch(said, result.err)
    assert [path.name for path in tmp_path.iterdir()] == ["table.json"]
