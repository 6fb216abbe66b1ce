"""Guards that held for every thread, or for none, at all the sizes that were looked at.

Such sizes do not show what the kernel does where the guard goes the other way: whether a mask is there at all
makes no difference at them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from .findings import KernelNote, some_of


@dataclass(frozen=True)
class GuardOutcome:
    """What a guard was in the threads that came to it.

    Attributes
    ----------
    line : int
        Of the instruction that it guards.
    condition : str
        The predicate; what one predicate guards is told together.
    subject : str
        The guard in words: ``the guard @%p1 of bra``.
    held, failed : bool
        Whether it held for some thread, and whether it did not for some.
    """

    line: int
    condition: str
    subject: str
    held: bool
    failed: bool


def notes_of(path: str, runs: Iterable[Iterable[GuardOutcome]], sizes: int) -> list[KernelNote]:
    """Return notes on guards that went one way only in all runs of a kernel.

    Parameters
    ----------
    path : str
        The kernel's file.
    runs : iterable of iterable of GuardOutcome
        One for each set of sizes and case.
    sizes : int
        How many sets of sizes were looked at.
    """
    one_sided = [each for each in _joined(runs).values() if each.held != each.failed]
    together: dict[tuple[str, bool], list[GuardOutcome]] = {}
    for each in sorted(one_sided, key=lambda each: each.line):
        together.setdefault((each.condition, each.held), []).append(each)
    return some_of(list(_told(path, together, sizes)), "more guards went one way only")


def _joined(runs: Iterable[Iterable[GuardOutcome]]) -> Mapping[tuple[int, str], GuardOutcome]:
    """Return what each guard was in any run."""
    found: dict[tuple[int, str], GuardOutcome] = {}
    for each in (each for run in runs for each in run):
        known = found.get((each.line, each.subject), each)
        found[each.line, each.subject] = GuardOutcome(
            each.line, each.condition, each.subject, each.held | known.held, each.failed | known.failed
        )
    return found


def _told(
    path: str, together: Mapping[tuple[str, bool], list[GuardOutcome]], sizes: int
) -> Iterator[KernelNote]:
    for (_, held), alike in together.items():
        first = alike[0]
        threads = "every thread" if held else "no thread"
        where = ("every size" if held else "any size") if sizes > 1 else "this size"
        yield KernelNote(f"{first.subject} held for {threads} at {where}", path, first.line, count=len(alike))
