"""What was run on numbers at the problem's own sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .sizes import Sizes


@dataclass(frozen=True)
class OwnRun:
    """What was run at the problem's own sizes.

    Attributes
    ----------
    sizes : mapping
        The sizes.
    other : str
        Those that are smaller batches than the problem's own.
    launches : tuple of (str, int, int)
        Of each kernel how many blocks were run, of how many; of the draw of inputs with most compared.
    memory : tuple of (str, int, int)
        The same of blocks of which only memory was looked at, where arrays are too large for numbers.
    compared : int
        Elements of results that were compared.
    results : int
        Elements of all results.
    findings : tuple of str
        What is wrong.
    doubts : tuple of str
        What the blocks that were run leave in doubt.
    open : tuple of str
        What was not run or compared, and why.
    seconds : float
        Processor time.
    """

    sizes: Sizes
    other: str = ""
    launches: tuple[tuple[str, int, int], ...] = ()
    memory: tuple[tuple[str, int, int], ...] = ()
    compared: int = 0
    results: int = 0
    findings: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def shows(self) -> bool:
        """Whether results were compared, and nothing is wrong or in doubt."""
        return bool(self.compared) and not self.findings and not self.doubts

    @property
    def claim(self) -> str:
        """What was shown, as a part of a line."""
        if self.findings:
            return "on numbers at these sizes"
        memory = f"at the problem's own sizes {_many(self.memory)} checked for memory accesses only"
        if not self.launches:
            none = f"no results were compared at the problem's own sizes: {'; '.join(self.open)}"
            return f"{memory}; {none}" if self.memory else none
        many, what = _many(self.launches), f"{self.compared:,} of {self.results:,} elements compared"
        but = f" but {self.other}" if self.other else ""
        numbers = f"at the problem's own sizes{but} {many} run on numbers, {what}"
        return f"{numbers}; {memory}" if self.memory else numbers

    def document(self) -> dict[str, Any]:
        """Return its part of the JSON document."""
        launches = [{"kernel": name, "run": run, "blocks": of} for name, run, of in self.launches]
        return {
            "launches": launches,
            "memory": [{"kernel": name, "run": run, "blocks": of} for name, run, of in self.memory],
            "compared": self.compared,
            "results": self.results,
            "findings": list(self.findings),
            "doubts": list(self.doubts),
            "open": list(self.open),
            "seconds": round(self.seconds, 3),
        }


def _many(launches: tuple[tuple[str, int, int], ...]) -> str:
    """Return how many blocks of all, as the beginning of a sentence."""
    blocks, of = sum(run for _, run, _ in launches), sum(every for _, _, every in launches)
    return f"{blocks:,} of {of:,} blocks were" if of != 1 else "the only block was"
