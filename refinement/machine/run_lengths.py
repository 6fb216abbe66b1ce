"""Step limits of runs: a run that seems not to terminate is given up."""

from __future__ import annotations

from dataclasses import dataclass

from ..terms.store import TermStore


@dataclass(frozen=True)
class Limits:
    """Step limits of a run.

    Attributes
    ----------
    steps, terms : int
        Instructions, and terms of the store, after which it is thought not to end.
    steps_after_fault, terms_after_fault : int
        By how many it may go on when it is known that the kernel is wrong.
    """

    steps: int
    steps_after_fault: int
    terms: int = 1 << 27
    """They take some gigabytes."""
    terms_after_fault: int = 1 << 22


class RunLength:
    """Counts steps against the limits of a run.

    Parameters
    ----------
    store : TermStore
        The terms that the run makes.
    """

    def __init__(self, store: TermStore) -> None:
        self._store = store
        self._sound_until = 0, len(store)

    def excess(self, limits: Limits, steps: int, *, wrong: bool) -> str:
        """Return why a run is given up after some steps; an empty string where it may go on.

        Parameters
        ----------
        limits : Limits
            What it may take.
        steps : int
            Instructions until now.
        wrong : bool
            Whether it has shown the kernel to be wrong.
        """
        terms = len(self._store)
        if steps >= limits.steps or terms >= limits.terms:
            return f"the kernel has not ended after {steps} instructions and {terms} terms"
        if not wrong:
            self._sound_until = steps, terms
            return ""
        more = steps - self._sound_until[0], terms - self._sound_until[1]
        if more[0] >= limits.steps_after_fault or more[1] >= limits.terms_after_fault:
            return f"the kernel has not ended after {more[0]} instructions and {more[1]} terms since a fault"
        return ""
