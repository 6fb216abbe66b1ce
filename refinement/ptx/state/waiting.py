"""The waiting loops of a kernel, as `waiting_loops` finds them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WaitingLoops:
    """The waiting loops of a kernel.

    Attributes
    ----------
    loads : frozenset of int
        Indices of the loads of what is waited for.
    branches : frozenset of int
        Indices of the branches that what they read decides.
    inside : frozenset of int
        Indices of the instructions of the loops.
    together : bool
        Whether the threads of a block decide together in one of them, at a barrier.
    near : bool
        Whether words of shared memory may be waited for.
    refusal : str
        Why what is said here does not hold of one of them; empty if it does.
    """

    loads: frozenset[int] = frozenset()
    branches: frozenset[int] = frozenset()
    inside: frozenset[int] = frozenset()
    together: bool = False
    near: bool = False
    refusal: str = ""
