"""Findings grouped by cause: races that one barrier would end, equal faults of several lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from .finding import KernelFinding, Kind

_SHOWN = 3
"""Pairs of lines, or lines, that a message lists."""


def one_for_each_cause(findings: Iterable[KernelFinding]) -> list[KernelFinding]:
    """Return findings, of each cause the first that was met, which tells of the others.

    One barrier ends all races between accesses that it lies between. Lines are taken to run in their
    order; a race of a line with a later one is across the turns of a loop.
    """
    given = list(findings)
    races = [index for index, each in enumerate(given) if each.kind is Kind.RACE and each.other_line]
    groups = [_alike(given, index) for index in range(len(given)) if index not in races]
    groups += _ended_together(given, races)
    found: dict[int, KernelFinding] = {}
    for group in groups:
        first, *others = sorted(set(group))
        found[first] = _told(given[first], [given[other] for other in others])
    return [found[index] for index in sorted(found)]


def of_all_cases(found: Iterable[tuple[str, Sequence[KernelFinding]]]) -> list[KernelFinding]:
    """Return what was found in several cases, what is the same in some of them once.

    Parameters
    ----------
    found : iterable of (str, sequence of KernelFinding)
        Each case, in words that findings begin with (nothing where none is told apart), and what was found.
    """
    together: dict[KernelFinding, dict[str, int]] = {}
    for case, findings in found:
        for each in findings:
            message = each.message.removeprefix(case)
            own = case if message != each.message else ""
            counts = together.setdefault(replace(each, message=message, count=1), {})
            counts[own] = max(counts.get(own, 0), each.count)
    return [_of_cases(each, counts) for each, counts in together.items()]


def _of_cases(finding: KernelFinding, counts: Mapping[str, int]) -> KernelFinding:
    cases = ", and ".join(case.removesuffix(": ") for case in counts)
    message = f"{cases}: {finding.message}" if cases else finding.message
    return replace(finding, message=message, count=max(counts.values()))


def _alike(findings: Sequence[KernelFinding], index: int) -> list[int]:
    """Return the findings that say the same of other lines."""
    one = findings[index]
    return [
        other
        for other, each in enumerate(findings)
        if (each.kind, each.message, each.file, each.output) == (one.kind, one.message, one.file, one.output)
    ]


def _ended_together(findings: Sequence[KernelFinding], races: Sequence[int]) -> list[list[int]]:
    """Return races in groups, each of which a barrier at one place would end."""
    forward = [race for race in races if findings[race].other_line < findings[race].line]
    groups: list[list[int]] = []
    barrier = 0
    for each in sorted(forward, key=lambda each: findings[each].line):
        if not groups or findings[each].other_line >= barrier:
            groups.append([])
            barrier = findings[each].line
        groups[-1].append(each)
    around = [race for race in races if race not in forward]
    return [*groups, around] if around else groups


def _told(first: KernelFinding, others: Sequence[KernelFinding]) -> KernelFinding:
    count = first.count + sum(other.count for other in others)
    if first.other_line:
        own = (first.other_line, first.line)
        pairs = dict.fromkeys((other.other_line, other.line) for other in others)
        shown = [f"{earlier} and {later}" for earlier, later in pairs if (earlier, later) != own]
        what = "so do lines "
    else:
        shown = [str(line) for line in dict.fromkeys(other.line for other in others) if line != first.line]
        what = "so in lines " if len(shown) > 1 else "so in line "
    if not shown:
        return replace(first, count=count)
    more = f", and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    listed = ("; " if first.other_line else ", ").join(shown[:_SHOWN])
    return replace(first, message=f"{first.message}; {what}{listed}{more}", count=count)
