"""Guards that took the same branch in all threads at all sizes that were run.

Such sizes do not show what the kernel does where the guard goes the other way: whether a mask is there at all
makes no difference at them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from .finding import KernelNote, some_of


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
    behind : frozenset of str
        The numbers that the kernel is passed on which it depends, by the contract's names.
    """

    line: int
    condition: str
    subject: str
    held: bool
    failed: bool
    behind: frozenset[str] = frozenset()


def one_sided(runs: Iterable[Iterable[GuardOutcome]]) -> list[GuardOutcome]:
    """Return what guards were that went one way only in all runs of a kernel."""
    return [each for each in _joined(runs).values() if each.held != each.failed]


def notes_of(
    path: str,
    guards: Iterable[GuardOutcome],
    sizes: int,
    other_ways: Mapping[tuple[int, str], str] = MappingProxyType({}),
) -> list[KernelNote]:
    """Return notes on guards that went one way only in all runs of a kernel.

    Parameters
    ----------
    path : str
        The kernel's file.
    guards : iterable of GuardOutcome
        What they were; see `one_sided`.
    sizes : int
        How many sets of sizes were looked at.
    other_ways : mapping of (int, str) to str
        Sizes at which guards, by line and predicate, go the other way, where such are known.
    """
    together: dict[tuple[str, bool], list[GuardOutcome]] = {}
    for guard in sorted(guards, key=lambda each: each.line):
        together.setdefault((guard.condition, guard.held), []).append(guard)
    return some_of(list(_told(path, together, sizes, other_ways)), "more guards always had the same outcome")


def _joined(runs: Iterable[Iterable[GuardOutcome]]) -> Mapping[tuple[int, str], GuardOutcome]:
    """Return what each guard was in any run."""
    found: dict[tuple[int, str], GuardOutcome] = {}
    for each in (each for run in runs for each in run):
        known = found.get((each.line, each.condition), each)
        found[each.line, each.condition] = replace(
            each, held=each.held | known.held, failed=each.failed | known.failed
        )
    return found


def _told(
    path: str,
    together: Mapping[tuple[str, bool], list[GuardOutcome]],
    sizes: int,
    other_ways: Mapping[tuple[int, str], str],
) -> Iterator[KernelNote]:
    for (_, held), alike in together.items():
        first = alike[0]
        threads = "every thread" if held else "no thread"
        where = ("every size" if held else "any size") if sizes > 1 else "this size"
        message = f"{first.subject} held for {threads} at {where}"
        if other := other_ways.get((first.line, first.condition)):
            message += f"; it {'fails' if held else 'holds'} for some at {other}"
        yield KernelNote(message, path, first.line, count=len(alike))
