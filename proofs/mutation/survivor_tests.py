"""Whether tests notice a fault that the catalogue does not.

pytest runs, one after the other until one fails, the tests that depend on the module at fault (see
`dependent_tests`), with a copy of the package that has the fault ahead of the one that is installed, so
that processes which tests start have it, too. A test that fails without the fault as well is left out.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from . import failing_tests
from .dependent_tests import dependent_tests
from .scope import SpecificationModule
from .source_faults import Fault

LIMIT = 300
"""Seconds of processor time that the tests of one fault may take."""

_PATIENCE = 4
"""So many times as long they may take on the clock: others may use the machine, and what waits uses none."""

_PASSED = (0, 5)
"""Exit codes of pytest: all tests pass, or there is none."""

_OUT_OF_TIME = tuple(-getattr(signal, name) for name in ("SIGXCPU", "SIGKILL") if hasattr(signal, name))
"""Exit codes of a process that used up its processor time."""


@dataclass(frozen=True)
class Ending:
    """How the tests of a fault ended.

    Attributes
    ----------
    test : str
        The test that fails with the fault and not without it; empty if none was found.
    ended : str
        What was run.
    """

    test: str
    ended: str


class SurvivorTests:
    """Runs tests on faults; a context manager that ends what still runs when it is left.

    Parameters
    ----------
    folder : Path
        Where the tests are.
    limit : int
        Seconds of processor time that those of one fault may take.
    """

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self._folder = folder.resolve()
        self._limit = limit
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._closed = False
        self._unreliable: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._closed = True
            for process in self._running:
                _kill(process)

    def of(self, module: SpecificationModule, fault: Fault) -> Ending:
        """Run the tests that depend on a module with a fault in it."""
        package = _package(module)
        files = dependent_tests(module.name, package, self._folder)
        if not files:
            return Ending("", "no test depends on the module")
        with _copy(package, module.path, fault.source()) as copy:
            while True:
                left_out = set(self._unreliable)
                named = [each for each in map(str, files) if each not in left_out]
                if not named:
                    return Ending("", "the tests that depend on it fail without a fault")
                code, failing = self._run(named, copy, left_out)
                if code is None:
                    return Ending("", f"the tests that depend on it did not end in {self._limit} s")
                if code in _PASSED:
                    return Ending("", f"{len(named)} files of tests pass")
                failing = failing or named[0]
                again, _ = self._run([failing])
                if again in _PASSED:
                    return Ending(failing, "fails with the fault alone")
                if failing in left_out:
                    return Ending("", f"the tests can't be run: {failing} fails without a fault")
                self._unreliable.add(failing)
                if "::" not in failing:
                    self._unreliable.add(str(self._folder.parent / failing))

    def _run(
        self, tests: Sequence[str], copy: Path | None = None, left_out: Collection[str] = ()
    ) -> tuple[int | None, str]:
        """Return the exit code of pytest, None if it took too long, and the test that fails first."""
        with TemporaryDirectory() as folder:
            found = Path(folder, "failing")
            variables = os.environ | {
                failing_tests.VARIABLE: str(found),
                "CI": os.environ.get("CI", "1"),  # what CI runs is repeatable
                "PYTHONDONTWRITEBYTECODE": "1",
            }
            if copy is not None:
                paths = [str(copy), *filter(None, [os.environ.get("PYTHONPATH")])]
                variables["PYTHONPATH"] = os.pathsep.join(paths)
            command = [sys.executable, "-P", "-m", "pytest", "-x", "-q", "-p", failing_tests.__name__]
            command += ["-p", "no:cacheprovider", *(("-n", "0") if find_spec("xdist") else ())]
            command += [*(f"--deselect={each}" for each in sorted(left_out)), *tests]
            code = self._ended(command, variables)
            text = found.read_text(encoding="utf-8") if found.exists() else ""
            return code, text.partition("\n")[0]

    def _ended(self, command: Sequence[str], variables: dict[str, str]) -> int | None:
        with self._lock:
            if self._closed:
                return None
            nothing = subprocess.DEVNULL
            process = subprocess.Popen(
                command,
                stdin=nothing,
                stdout=nothing,
                stderr=nothing,
                env=variables,
                cwd=self._folder.parent,
                start_new_session=True,
            )
            self._running.add(process)
        try:
            _limit_time(process, self._limit)
            code = process.wait(_PATIENCE * self._limit)
            return None if code in _OUT_OF_TIME else code
        except subprocess.TimeoutExpired:
            return None
        finally:
            with self._lock:
                _kill(process)  # what it started may run still
                self._running.discard(process)
            process.wait()


def _limit_time(process: subprocess.Popen[bytes], seconds: int) -> None:
    """Limit the processor time of a process, where that can be done from outside (Linux)."""
    with suppress(ImportError, AttributeError, ProcessLookupError):
        from resource import RLIMIT_CPU, prlimit

        prlimit(process.pid, RLIMIT_CPU, (seconds, seconds + 1))


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _package(module: SpecificationModule) -> Path:
    """Return the folder of the package that a module's name begins with."""
    return module.path.parents[module.name.count(".") - 1]


@contextmanager
def _copy(package: Path, path: Path, source: str) -> Iterator[Path]:
    """Give a folder with a copy of a package in which one file has another source."""
    with TemporaryDirectory() as folder:
        inside = Path(folder, package.name)
        shutil.copytree(package, inside)
        (inside / path.relative_to(package)).write_text(source, encoding="utf-8")
        yield Path(folder)
