"""Try what a campaign left unnoticed on tests: on all at first, later on those that have been written since.

At the root of the repository::

    mmaproof check --mutants 100 --seed 7 power --json power.json
    python -m tools.mutation.tried_later power.json tests

writes into the document what tests notice; the specification must be as it was. Nothing is decided again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .campaign import candidates
from .scope import Role, modules_of
from .score import NOTICED, Mutant
from .survivor_tests import Ending, SurvivorTests


def try_later(
    document: dict[str, Any], ending: Callable[[Mutant], Ending], save: Callable[[], None] = lambda: None
) -> None:
    """Try the faults of a document that nothing noticed, and count again.

    Parameters
    ----------
    document : dict
        What ``check --mutants --json`` writes; it is changed.
    ending : callable
        Runs the tests of a fault.
    save : callable
        Is called after each fault.

    Raises
    ------
    KeyError
        If the specification has no such fault any more.
    """
    isas = {pattern.partition("/")[0] for pattern in document["patterns"]}
    found = {_key(mutant): mutant for mutant in candidates(modules_of(isas))}
    for entry in document["mutants"]:
        if entry["outcome"] not in NOTICED and not entry["test"]:
            ended = ending(found[_place(entry)])
            entry["test"], entry["tested"] = ended.test, ended.ended
            _count(document)
            save()


def _count(document: Mapping[str, Any]) -> None:
    for role, counts in document["roles"].items():
        _count_in(counts, [each for each in document["mutants"] if each["role"] == role])
    counted = [each for each in document["mutants"] if each["role"] != Role.PRESENTATION]
    _count_in(document["summary"], counted)


def _count_in(counts: dict[str, Any], entries: Sequence[Mapping[str, Any]]) -> None:
    counts["by_tests"] = sum(bool(entry["test"]) for entry in entries)
    noticed = counts["refuted"] + counts["error"] + counts["by_tests"]
    counts["together"] = round(noticed / max(1, counts["mutants"]), 4)


def _place(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(entry[name] for name in ("file", "line", "column", "old", "new"))


def _key(mutant: Mutant) -> tuple[Any, ...]:
    fault = mutant.fault
    return mutant.module.shown, fault.line, fault.column, fault.old, fault.new


def main(path: Path, folders: Sequence[Path]) -> None:
    """Try what is unnoticed in a document on the tests in folders."""
    document = json.loads(path.read_text(encoding="utf-8"))
    document["with_tests"], document["tests"] = True, [folder.as_posix() for folder in folders]
    module = modules_of(())[0]
    with SurvivorTests(folders, module) as tests:
        tests.record()

        def save() -> None:
            path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")

        try_later(document, lambda mutant: tests.of(mutant.module, mutant.fault), save)


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(each) for each in sys.argv[2:]])
