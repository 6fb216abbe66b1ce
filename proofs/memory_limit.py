"""How much memory a process may take: beyond it, an allocation fails before it is made."""

from __future__ import annotations

import os
from pathlib import Path

GIB = 1 << 30

_SLACK = 2 * GIB + (os.cpu_count() or 1) * (64 << 20)
"""Bytes of addresses beyond the memory: libraries, stacks and arenas, most of which is never touched."""


def limit_memory(gib: float) -> tuple[int, int] | None:
    """Limit the addresses of this process to those in use, so much memory, and what is never touched.

    Parameters
    ----------
    gib : float
        Memory in GiB.

    Returns
    -------
    tuple of int, optional
        The limits before, for `resource.setrlimit`; None where there are none to be set.
    """
    try:
        import resource
    except ImportError:  # no POSIX system
        return None
    before = resource.getrlimit(resource.RLIMIT_AS)
    wanted = process_size()[0] + int(gib * GIB) + _SLACK
    resource.setrlimit(
        resource.RLIMIT_AS,
        (min([wanted, *(limit for limit in before if limit != resource.RLIM_INFINITY)]), before[1]),
    )
    return before


def process_size() -> tuple[int, int]:
    """Return the bytes of addresses and of memory that the process has; 0 where that can't be known."""
    try:
        addresses, resident = Path("/proc/self/statm").read_text(encoding="ascii").split()[:2]
    except OSError:
        return 0, 0
    page = os.sysconf("SC_PAGE_SIZE")
    return int(addresses) * page, int(resident) * page
