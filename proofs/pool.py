"""Worker processes that can be killed, and a pool of them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

from ..spec.errors import DefectError, InputError
from .obligation import Status
from .verdict import Verdict
from .worker import WorkerAssignment

CONNECT_LIMIT = 10
"""Seconds within which the scheduler must answer."""


@dataclass(frozen=True)
class Cluster:
    """A cluster that is connected to.

    Attributes
    ----------
    executor : Executor
        Runs functions that its workers can import; what a worker was doing that died, another one does again.
    threads : int
        How much it does at the same time.
    """

    executor: Executor
    threads: int

    def submit(self, function: Callable[..., Any], *arguments: object) -> Future[Any]:
        """Have a worker call a function."""
        return self.executor.submit(function, *arguments)


@contextmanager
def cluster(address: str) -> Iterator[Cluster]:
    """Connect to a dask scheduler; mmaproof must be installed where its workers run.

    Parameters
    ----------
    address : str
        ``tcp://HOST:PORT``.

    Raises
    ------
    InputError
        If dask is not installed, or no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError:
        raise InputError("a scheduler needs dask; pip install 'mmaproof[distributed]'") from None
    try:
        client = Client(address, timeout=CONNECT_LIMIT)
    except (OSError, ValueError) as reason:
        raise InputError(f"no dask scheduler answers ({' '.join(str(reason).split())})", address) from None
    with client:
        yield Cluster(client.get_executor(), max(1, sum(client.nthreads().values())))


START_LIMIT = 120.0
"""Seconds that a worker may take to import the catalogue and a solver."""


START_ATTEMPTS = 3
"""Processes that are started for an obligation before it is given up."""


class WorkerStartError(DefectError):
    """A worker process ended, or hung, before it could decide anything."""


class Worker:
    """A process that decides one obligation at a time; see `worker` for what it runs.

    Parameters
    ----------
    assignment : WorkerAssignment
        How it decides.
    """

    def __init__(self, assignment: WorkerAssignment) -> None:
        self._timeout = assignment.timeout
        self._solver = assignment.solver
        self._ready = False
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", f"{__package__}.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            encoding="utf-8",
            start_new_session=True,  # so that Ctrl-C is the parent's business alone
        )
        self._send(json.dumps({"path": sys.path, "assignment": assignment.document()}))

    @property
    def process_id(self) -> int:
        """The process, for whoever watches it from outside."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process can take another obligation."""
        return self._process.poll() is None

    def decide(self, identifier: str) -> Verdict:
        """Decide an obligation of the catalogue.

        The process is killed when one phase of its work (a query, or the time between two) takes longer
        than the time limit of a query and some grace, in which a solver may still stop by itself.

        Raises
        ------
        WorkerStartError
            If the process does not get to the point where it takes obligations.
        """
        start = time.perf_counter()
        killed = threading.Event()
        self._send(identifier)
        while line := self._line(1.25 * self._timeout + 2 if self._ready else START_LIMIT, killed):
            if not line.endswith("\n"):  # it ended while it wrote
                break
            message = json.loads(line)
            if "phase" not in message:
                return Verdict.of_document(message)
            self._ready = True
        how = self._last_words()
        if not self._ready:
            raise WorkerStartError(f"a worker process did not start: it {how}")
        if self._process.returncode == -signal.SIGKILL and not killed.is_set():
            how += ", perhaps for want of memory"
            return Verdict(identifier, Status.UNKNOWN, "", message=f"the worker process {how}")
        seconds = time.perf_counter() - start
        if killed.is_set():
            message = f"timeout after {self._timeout:g} s"
            return Verdict(identifier, Status.UNKNOWN, self._solver, seconds, message=message)
        return Verdict(identifier, Status.ERROR, "", seconds, message=f"the worker process {how}")

    def _line(self, limit: float, killed: threading.Event) -> str:
        """Return the next line, empty when the process ended; kills it after `limit` seconds."""

        def kill() -> None:
            killed.set()
            self._process.kill()

        watchdog = threading.Timer(limit, kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            assert self._process.stdout is not None
            return self._process.stdout.readline()
        finally:
            watchdog.cancel()
            if killed.is_set():
                self._process.wait()

    def _send(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except OSError:
            self._process.wait()  # it has ended, which the next read finds out

    def _last_words(self) -> str:
        code = self._process.wait()
        how = f"died of {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        return f"{how}: {said[-1]}" if said else how

    def kill(self) -> None:
        """Kill the process, whatever it is doing, and wait for its end; may be called from any thread."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Kill the process and release its pipes; nobody may be in `decide`."""
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:  # what was still in the buffer has no reader
                pass


class Pool:
    """Worker processes that are started as they are needed, and kept for the next obligation.

    A context manager; leaving it, also by an exception, kills every process at once.

    Parameters
    ----------
    assignment : WorkerAssignment
        How the workers decide.
    jobs : int
        How many obligations `submit` has decided at the same time.
    """

    def __init__(self, assignment: WorkerAssignment, jobs: int = 1) -> None:
        self._assignment = assignment
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix="mmaproof")
        self._lock = threading.Lock()
        self._workers: set[Worker] = set()
        self._idle: list[Worker] = []
        self._closed = False
        self._one_started = False
        self._failures = 0  # of workers to start
        self._failure = ""

    @property
    def process_ids(self) -> list[int]:
        """The processes that are alive."""
        with self._lock:
            return [worker.process_id for worker in self._workers if worker.alive]

    def submit(self, identifier: str) -> Future[Verdict]:
        """Have an obligation decided when a worker is free."""
        return self._threads.submit(self.decide, identifier)

    def decide(self, identifier: str) -> Verdict:
        """Decide an obligation with an idle worker, or a new one; see `Worker.decide`.

        A worker that does not start may do so the next time. After `START_ATTEMPTS` the obligation is in
        error; and so is every other, at once, while none has ever started.
        """
        attempts = 0
        while True:
            with self._lock:
                if self._closed:
                    raise WorkerStartError("the pool is closed")
                hopeless = not self._one_started and self._failures >= START_ATTEMPTS
                if hopeless or attempts >= START_ATTEMPTS:
                    return Verdict(identifier, Status.ERROR, "", message=self._failure)
                try:
                    worker = self._idle.pop() if self._idle else Worker(self._assignment)
                except OSError as reason:
                    raise WorkerStartError(f"no worker process can be started: {reason}") from None
                self._workers.add(worker)
            try:
                verdict = worker.decide(identifier)
            except WorkerStartError as reason:
                attempts += 1
                self._failures += 1
                self._failure = str(reason)
            else:
                self._one_started = True
                return verdict
            finally:
                self._put_back(worker)

    def _put_back(self, worker: Worker) -> None:
        with self._lock:
            if worker.alive and not self._closed:
                self._idle.append(worker)
                return
            self._workers.discard(worker)
        worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._closed = True
            for worker in self._workers:
                worker.kill()
        self._threads.shutdown()
        for worker in self._idle:
            worker.close()


@cache
def _pool_of_this_process(assignment: WorkerAssignment) -> Pool:
    return Pool(assignment)


def decide_elsewhere(assignment: WorkerAssignment, identifier: str) -> Verdict:
    """Decide an obligation on a machine of a cluster, in a killable process there."""
    return _pool_of_this_process(assignment).decide(identifier)
