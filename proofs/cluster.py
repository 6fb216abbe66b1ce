"""The workers of a dask cluster, which take the place of local processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..spec.errors import InputError

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
