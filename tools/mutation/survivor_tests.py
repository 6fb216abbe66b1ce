"""Whether tests notice a fault that the catalogue does not.

pytest runs the tests that execute what is at fault (`chosen_tests`), the nearest and cheapest first, until
one fails, with a copy of the package that has the fault ahead of the one that is installed, so that processes
which tests start have it, too. A test that fails without the fault as well is left out.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from . import choosing_plugin
from .checkout import importing_tools
from .chosen_tests import ChosenTests, batches
from .recorded_tests import RecordedTest, RecordedTests, RecordingError
from .scope import SpecificationModule
from .source_faults import Fault

LIMIT = 300
"""Seconds of processor time that a run of tests on a fault may take."""

_PATIENCE = 4
"""So many times as long they may take on the clock: others may use the machine, and what waits uses none."""

_PASSED = (0, 5)
"""Exit codes of pytest: all tests pass, or there is none."""

_RAN = (*_PASSED, 1)
"""Exit codes of pytest with which tests were run."""

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
    folders : sequence of Path
        Where the tests are.
    module : SpecificationModule
        Any of the specification.
    jobs : int
        How many processes record what tests execute, where pytest-xdist is installed.
    limit : int
        Seconds of processor time that a run on a fault may take.
    """

    def __init__(
        self, folders: Sequence[Path], module: SpecificationModule, jobs: int = 1, limit: int = LIMIT
    ) -> None:
        resolved = [folder.resolve() for folder in folders]
        self._above = os.path.commonpath([folder.parent for folder in resolved])
        self._jobs = jobs
        self._limit = limit
        self._package = module.path.parents[max(0, module.name.count(".") - 1)]
        inside = self._package.joinpath(*module.name.split(".")[1:2])
        self._specification = [path for path in sorted(inside.rglob("*.py")) if path.stem != "__init__"]
        names = ("test_*.py", "*_test.py")  # what pytest collects
        self._files = sorted({path for each in resolved for name in names for path in each.rglob(name)})
        self._recorded = RecordedTests(self._package, self._specification, self._files)
        self._lock = threading.Lock()
        self._choosing = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._closed = False
        self._unreliable: set[str] = set()

    def __enter__(self) -> Self:
        self._closed = False
        return self

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._closed = True
            for process in self._running:
                _kill(process)

    def unrecorded(self) -> int:
        """Return of how many files of tests it is to be recorded what they execute."""
        return len(self._recorded.missing())

    def record(self) -> None:
        """Run the tests of which nothing is recorded, as long as that takes.

        Raises
        ------
        RecordingError
            If pytest can't run them.
        """

        def run(arguments: Sequence[str], ahead: Path, variables: Mapping[str, str]) -> None:
            shutil.copytree(self._package, ahead / self._package.name)
            with TemporaryDirectory() as folder:
                said = Path(folder, "said")
                code = self._ended(
                    _pytest(self._jobs, *arguments), _environment(ahead) | dict(variables), None, said
                )
                if code not in _RAN:
                    lines = said.read_text(encoding="utf-8", errors="replace").split("\n")
                    raise RecordingError(f"pytest ended with exit code {code}: {_error(lines)}")

        self._recorded.record(run)

    @cached_property
    def _chosen(self) -> ChosenTests:
        return ChosenTests(self._recorded, self._specification, self._files)

    def of(self, module: SpecificationModule, fault: Fault) -> Ending:
        """Run the tests that may notice a fault in a module."""
        with self._choosing:
            tests = self._chosen.of(module.path, fault)
        if not tests:
            return Ending("", "no test executes it")
        ran = 0
        with _copy(self._package, module.path, fault.source()) as copy:
            for batch in batches(tests):
                found = self._noticed(batch, copy)
                if found is not None:
                    return found
                ran += len(batch)
        others = f" of {len(tests)}" if ran < len(tests) else ""
        return Ending("", f"{ran}{others} tests that execute it pass")

    def _noticed(self, batch: Sequence[RecordedTest], copy: Path) -> Ending | None:
        """Return the test that notices a fault, that there was no time; None if all pass."""
        while True:
            named = [test for test in batch if test.name not in self._unreliable]
            files = {str(test.file): None for test in named if str(test.file) not in self._unreliable}
            if not files:
                return None
            code, failing = self._run([*files], [test.name for test in named], copy)
            if code is None:
                return Ending("", f"the tests that execute it did not end in {self._limit} s")
            if code in _PASSED:
                return None
            failing = failing or next(iter(files))
            again, _ = self._run([_found_at(failing, batch)], [])
            if again in _PASSED:
                return Ending(failing, "fails with the fault alone")
            if failing in self._unreliable:
                return Ending("", f"the tests can't be run: {failing} fails without a fault")
            self._unreliable |= {failing, _found_at(failing, batch)}

    def _run(
        self, files: Sequence[str], chosen: Sequence[str], ahead: Path | None = None
    ) -> tuple[int | None, str]:
        """Return the exit code of pytest, None if it took too long, and the test that fails first."""
        with TemporaryDirectory() as folder:
            found, wanted = Path(folder, "failing"), Path(folder, "chosen")
            wanted.write_text("\n".join(chosen), encoding="utf-8")
            variables = {choosing_plugin.FAILING: str(found), choosing_plugin.CHOSEN: str(wanted)}
            command = _pytest(1, "-x", "-p", choosing_plugin.__name__, *files)
            code = self._ended(command, _environment(ahead) | variables, self._limit)
            text = found.read_text(encoding="utf-8") if found.exists() else ""
            return code, text.partition("\n")[0]

    def _ended(
        self,
        command: Sequence[str],
        variables: Mapping[str, str],
        limit: int | None,
        said: Path | None = None,
    ) -> int | None:
        with self._lock:
            if self._closed:
                return None
            with Path(os.devnull if said is None else said).open("wb") as output:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=variables,
                    cwd=self._above,
                    start_new_session=True,
                )
            self._running.add(process)
        try:
            if limit is not None:
                _limit_time(process, limit)
            code = process.wait(None if limit is None else _PATIENCE * limit)
            return None if limit is not None and code in _OUT_OF_TIME else code
        except subprocess.TimeoutExpired:
            return None
        finally:
            with self._lock:
                _kill(process)  # what it started may run still
                self._running.discard(process)
            process.wait()


def _pytest(jobs: int, *arguments: str) -> list[str]:
    """Return a command that runs tests."""
    number = "0" if jobs == 1 else str(jobs)
    distributed = ("-n", number) if find_spec("xdist") else ()
    return [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", *distributed, *arguments]


def _environment(ahead: Path | None) -> dict[str, str]:
    """Return the environment of tests, with a folder ahead of the installed packages."""
    variables = os.environ | {
        "CI": os.environ.get("CI", "1"),  # what CI runs is repeatable
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return importing_tools(variables, () if ahead is None else (ahead,))


def _found_at(test: str, batch: Sequence[RecordedTest]) -> str:
    """Return the id of a test, or of a file, with the path of the file, wherever pytest runs."""
    name, separator, rest = test.partition("::")
    found = (test.file for test in batch if test.file.as_posix().endswith(f"/{name}"))
    return f"{next(found, name)}{separator}{rest}"


def _error(lines: Sequence[str]) -> str:
    """Return the line that tells the error, or the last one."""
    told = [line.strip() for line in lines if line.strip()] or ["it printed nothing"]
    return next((line for line in told if "error" in line.lower()), told[-1])


def _limit_time(process: subprocess.Popen[bytes], seconds: int) -> None:
    """Limit the processor time of a process, where that can be done from outside (Linux)."""
    with suppress(ImportError, AttributeError, ProcessLookupError):
        from resource import RLIMIT_CPU, prlimit

        prlimit(process.pid, RLIMIT_CPU, (seconds, seconds + 1))


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def _copy(package: Path, path: Path, source: str) -> Iterator[Path]:
    """Give a folder with a copy of a package in which one file has another source."""
    with TemporaryDirectory() as folder:
        inside = Path(folder, package.name)
        shutil.copytree(package, inside)
        (inside / path.relative_to(package)).write_text(source, encoding="utf-8")
        yield Path(folder)
