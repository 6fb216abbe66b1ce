"""What a command may take: seconds and memory, and what is said when one of them is used up."""

from __future__ import annotations

import inspect
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, ParamSpec, TypeVar

import typer

from ..proofs.memory_limit import GIB, limit_memory, process_size
from ..spec.errors import InputError, OutOfBudget
from . import files
from .exit_codes import ExitCode
from .output import error
from .standard_output import kept_for_results

LONGEST = 1e6
"""Seconds (twelve days), and GiB, that can be asked for: timers and limits of processes take no more."""

INTERVAL = 0.05
"""Seconds between two looks at time and memory."""

GRACE = 10.0
"""Seconds within which a command whose budget is used up must end by itself."""

_activity = ["starting"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

Seconds = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", help="Time limit; beyond it, exit status 3.")
]
Memory = Annotated[
    float | None, typer.Option("--memory", metavar="GIB", help="Memory limit; beyond it, exit status 3.")
]


def doing(what: str) -> None:
    """Note what is being done, for the message when the budget is used up: ``comparing at M = 64``."""
    _activity[0] = what


def activity() -> str:
    """Return what was noted last."""
    return _activity[0]


def budgeted(command: Callable[_P, _R], name: str) -> Callable[_P, _R]:
    """Give a command the options ``--timeout`` and ``--memory``.

    One that has them itself says what its own time limit is of; its memory is that of each process, this too.
    """
    signature = inspect.signature(command, eval_str=True)
    options = {"timeout": Seconds, "memory": Memory}
    added = [
        inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for option, kind in options.items()
        if option not in signature.parameters
    ]

    @wraps(command)
    def within(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        given: dict[str, Any] = {parameter.name: kwargs.pop(parameter.name, None) for parameter in added}
        doing(f"running mmaproof {name}")
        memory: Any = (kwargs | given).get("memory")
        with kept_for_results(kwargs), limited(given.get("timeout"), memory):
            return command(*args, **kwargs)

    parameters = [*signature.parameters.values(), *added]
    within.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    within.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return within


@contextmanager
def limited(seconds: float | None = None, memory: float | None = None) -> Iterator[None]:
    """Raise `OutOfBudget` in the block once it has taken so many seconds, or the process so much memory.

    Parameters
    ----------
    seconds : float, optional
        None for no end.
    memory : float, optional
        GiB; by default nine tenths of what the machine, or the control group, has.

    Raises
    ------
    InputError
        If one of them is no positive number.
    """
    for value, option, unit in ((seconds, "--timeout", "seconds"), (memory, "--memory", "GiB")):
        if value is not None and not 0 < value <= LONGEST:
            raise InputError(
                f"{option} must be a positive number of {unit}, at most {LONGEST:g}, not {value:g}"
            )
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return
    watch = _Watch(seconds, memory)
    with _addresses(memory):
        watch.start()
        try:
            yield
        finally:
            watch.stop()


class _Watch:
    """A thread that looks at time and memory, and interrupts the main thread."""

    def __init__(self, seconds: float | None, memory: float | None) -> None:
        self._seconds = seconds
        self.memory = 0.9 * machine_memory() / GIB if memory is None else memory
        self._end = None if seconds is None else time.monotonic() + seconds
        self._reason = ""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True, name="mmaproof budget")
        self._before: Any = None

    def start(self) -> None:
        self._before = signal.signal(signal.SIGALRM, self._raise)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()
        signal.signal(signal.SIGALRM, self._before)

    def _raise(self, number: int, frame: FrameType | None) -> None:
        if not self._over.is_set():
            raise OutOfBudget(self._reason)

    def _look(self) -> None:
        main = threading.main_thread().ident
        assert main is not None
        while not self._over.wait(INTERVAL):
            if used_up := self._used_up():
                self._reason = f"{used_up} while {activity()}"
                signal.pthread_kill(main, signal.SIGALRM)
                if not self._over.wait(GRACE):
                    _end_now(self._reason)
                return

    def _used_up(self) -> str:
        if self._end is not None and time.monotonic() >= self._end:
            return f"timeout after {self._seconds:g} s"
        if resident() > self.memory * GIB:
            return f"out of memory: more than {self.memory:.3g} GiB"
        return ""


def _end_now(reason: str) -> None:
    """End the process, whose main thread is busy where no signal reaches it."""
    files.remove_partial()
    error(reason)
    os._exit(ExitCode.UNDECIDED)


def resident() -> int:
    """Return the bytes of memory that the process has; where that can't be known, the most it ever had."""
    if known := process_size()[1]:
        return known
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def machine_memory() -> int:
    """Return the bytes of memory of the machine, or of the control group, whichever is less."""
    found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(limit).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdigit():
            found.append(int(text))
    return min(found)


@contextmanager
def _addresses(memory: float | None) -> Iterator[None]:
    """Let one huge allocation fail at once, which no look at the memory would prevent."""
    before = None if memory is None else limit_memory(memory)
    try:
        yield
    finally:
        if before is not None:
            import resource

            resource.setrlimit(resource.RLIMIT_AS, before)
