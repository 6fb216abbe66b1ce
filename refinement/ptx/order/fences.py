"""Clocks of threads at their fences of one scope, which they may release.

Behind a fence of its own a thread releases all that it knows to be over (PTX ISA 9.1 section 8.8, release
patterns). Where others ran the fence and a barrier lies between, only the order of sequentially consistent
fences makes that reach anybody (section 8.9.3): who acquires it must run such a fence too.
"""

from __future__ import annotations

from ..registers.threads import Indices
from .vector_clocks import Knowledge, Released, Told


class Fences:
    """The fences of one scope that the threads of a batch ran."""

    def __init__(self) -> None:
        self._own, self._strong, self._others = Told(), Told(), Told()

    def __bool__(self) -> bool:
        return bool(self._own)

    def note(self, thread: int, knowledge: Knowledge, *, strong: bool) -> None:
        """Note that a thread runs a fence; `strong` if it is sequentially consistent."""
        for each in (self._own, self._others, *((self._strong,) if strong else ())):
            each.learn(thread, knowledge)

    def share(self, warps: Indices) -> None:
        """Tell some warps of the fences of any of their threads, at a barrier."""
        self._strong.share(warps)
        self._others.share(warps)

    def released(self, thread: int) -> Released:
        """Return what a thread releases when it writes."""
        return Released(self._own.of(thread), self._strong.of(thread), self._others.of(thread))
