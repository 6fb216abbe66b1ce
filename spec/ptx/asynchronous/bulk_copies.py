"""Plain bulk copies of bytes, and the groups that a thread waits for.

Copies with a barrier complete their bytes on it; others are waited for in groups, which only the thread that
issued them can commit and wait for. Groups are done in order. Source: PTX ISA 9.1 section 9.7.9.25.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...algebra import Algebra, Array
from ...errors import InputError
from .bulk_rows import MOST_BYTES

UNIT = 16
"""What sizes and addresses of bulk copies are multiples of."""


def bulk_copy(alg: Algebra, source: Array, begin: int, destination: Array, to: int, size: int) -> Array:
    """Return the memory (…, bytes) that a bulk copy writes.

    Parameters
    ----------
    alg : Algebra
        What bytes are.
    source, destination : array (…, bytes)
        The memories before.
    begin, to : int
        Where the bytes are, and where they go.
    size : int
        How many; the bytes that a copy with a barrier completes on it.

    Raises
    ------
    InputError
        If addresses or the size are no multiples of 16, or a memory ends before the last byte.
    """
    del alg  # bytes are moved as they are
    for what, number in (("source", begin), ("destination", to), ("size", size)):
        if number < 0 or number % UNIT:
            raise InputError(f"the {what} of a bulk copy must be a multiple of {UNIT}, not {number}")
    if size > MOST_BYTES:
        raise InputError(f"a bulk copy moves at most {MOST_BYTES} bytes, not {size}")
    for what, memory, first in (("source", source, begin), ("destination", destination, to)):
        if first + size > memory.shape[-1]:
            raise InputError(f"the {what} ends at byte {memory.shape[-1]}, before {first + size}")
    batch = np.broadcast_shapes(source.shape[:-1], destination.shape[:-1])
    kind = np.result_type(source.dtype, destination.dtype)
    after: Array = np.broadcast_to(destination, (*batch, destination.shape[-1])).astype(kind)
    after[..., to : to + size] = source[..., begin : begin + size]
    return after


class BulkGroups(NamedTuple):
    """What a thread's bulk copies without barriers are in.

    Attributes
    ----------
    uncommitted : tuple
        Copies since the last commit, by whatever names them.
    groups : tuple of tuple
        Those of each group that may not be done, the oldest first.
    """

    uncommitted: tuple[object, ...] = ()
    groups: tuple[tuple[object, ...], ...] = ()

    def issued(self, copy: object) -> BulkGroups:
        """Return the state after a copy is issued."""
        return self._replace(uncommitted=(*self.uncommitted, copy))

    def committed(self) -> BulkGroups:
        """Return the state after ``cp.async.bulk.commit_group``: perhaps with an empty group more."""
        return BulkGroups((), (*self.groups, self.uncommitted))

    def waited(self, most: int) -> tuple[tuple[object, ...], BulkGroups]:
        """Return the copies that are done after ``wait_group``, none of them uncommitted, and the state."""
        done = max(len(self.groups) - most, 0)
        copies = tuple(copy for group in self.groups[:done] for copy in group)
        return copies, self._replace(groups=self.groups[done:])
