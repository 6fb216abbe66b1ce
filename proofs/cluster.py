"""The workers of a dask cluster as an executor."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from ..spec.errors import InputError

CONNECT_LIMIT = 10
"""Seconds within which the scheduler must answer."""


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
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
        yield client.get_executor()
