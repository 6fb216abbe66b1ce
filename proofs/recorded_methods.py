"""What decided each obligation when the catalogue was last decided, in a file under version control.

`list`, `explain` and the table of theorems name it without deciding anything. ``python -m
mmaproof.proofs.recorded_methods [PATTERN]...``, at the root of the repository, decides what the patterns
select (everything for none) and records it anew. Only Z3 is asked, as `check` does unless told otherwise.

The file, beside this module, has a line ``prefix: method`` for each theorem, and for each obligation that
differs from most of its theorem. The longest prefix counts.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from .cache import default_directory
from .catalogue import matching, theorems
from .obligation import theorem_of
from .runner import Settings, run
from .verdict import RECORD

COMMAND = "python -m mmaproof.proofs.recorded_methods"
"""Writes the file anew, at the root of the repository."""


@cache
def recorded() -> Mapping[str, str]:
    """Return what decides, by theorem, or by obligation where it is not what the theorem says."""
    lines = files(__package__).joinpath(RECORD).read_text(encoding="utf-8").splitlines()
    return {prefix: method for prefix, _, method in (line.partition(": ") for line in lines)}


def recorded_method(identifier: str, known: Mapping[str, str] | None = None) -> str:
    """Return what decides an obligation; empty where its theorem is not recorded."""
    known = recorded() if known is None else known
    prefix = identifier
    while prefix:
        if prefix in known:
            return known[prefix]
        prefix = prefix.rpartition("/")[0]
    return ""


def recorded_methods(identifiers: Iterable[str]) -> tuple[str, ...]:
    """Return what decides obligations, each method once, the most frequent first."""
    counts = Counter(filter(None, map(recorded_method, identifiers)))
    return tuple(method for method, _ in counts.most_common())


def record(methods: Mapping[str, str], owners: Mapping[str, str]) -> str:
    """Return the file for methods by obligation id, whose theorems' ids are `owners`."""
    members: dict[str, list[str]] = {}
    for identifier in sorted(methods):
        members.setdefault(owners[identifier], []).append(identifier)
    lines = []
    for owner in sorted(members):
        most, _ = Counter(methods[member] for member in members[owner]).most_common(1)[0]
        lines.append(f"{owner}: {most}\n")
        lines += [f"{member}: {methods[member]}\n" for member in members[owner] if methods[member] != most]
    return "".join(lines)


def main(patterns: Sequence[str]) -> None:
    """Decide what patterns select, and write the file."""
    obligations = matching(())
    by_id = {theorem.id: theorem for theorem in theorems()}
    owners = {obligation.id: theorem_of(obligation, by_id).id for obligation in obligations}
    known = recorded() if files(__package__).joinpath(RECORD).is_file() else {}
    methods = {owner: method for owner in owners if (method := recorded_method(owner, known))}
    verdicts = run(matching(patterns), Settings(cache=default_directory()))
    methods |= {verdict.id: verdict.decided_by for verdict in verdicts if verdict.method}
    Path("proofs", RECORD).write_text(record(methods, owners), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
