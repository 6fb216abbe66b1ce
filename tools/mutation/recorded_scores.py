"""The scores of campaigns as they were last recorded, in a file under version control.

Write the campaigns' JSON documents, then record them; the reasons that were given for survivors stay::

    mmaproof check --mutants 100 --seed 7 --tests tests power --json power.json
    python -m tools.mutation.recorded_scores power.json …

at the root of the repository. There is nothing of a date or a machine in the file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from mmaproof.spec.instruction_set import NAMES

FILE = "recorded_scores.json"
"""Beside this module."""

COUNTED = ("mutants", "refuted", "error", "crashed", "timeout", "survived", "score")
"""What is kept of the counts of a score."""

_LISTED = ("file", "line", "role", "old", "new", "outcome", "test", "tested")
"""What is kept of them."""

EQUIVALENT = "equivalent"
"""How a reason begins that says why nothing can notice a fault."""

TESTED_SINCE = "tested since"
"""How a reason begins that says which test was written when the fault had been seen."""

UNNOTICED = ("crashed", "timeout", "survived")
"""What becomes of faults that are listed."""


def recorded() -> dict[str, dict[str, Any]]:
    """Return the recorded campaigns by what they select."""
    found: dict[str, dict[str, Any]] = json.loads(
        files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    )
    return found


def record(document: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is kept of a campaign's document.

    Parameters
    ----------
    document : mapping
        What ``check --mutants --json`` writes.
    before : mapping
        The entry that it replaces: survivors that are still there keep their reasons, and the figures of
        another sample stay, without its survivors.
    """
    reasons = {_change(each): each["reason"] for each in before.get("unnoticed", ())}
    drawn = len(document["mutants"])
    counted = [each for each in document["mutants"] if each["role"] != "presentation"]
    patterns = " ".join(document["patterns"])
    tests = "".join(f" --tests {folder}" for folder in document["tests"])
    command = f"mmaproof check --mutants {drawn} --seed {document['seed']}{tests} {patterns}".rstrip()
    return {
        "command": command,
        "earlier": _earlier(before, command),
        "whole": _counts(document["summary"]),
        "own": _noticed([each for each in counted if _is_own(each["file"])]),
        "generic": _noticed([each for each in counted if each["file"].count("/") == 1]),
        "roles": {role: _counts(counts) for role, counts in document["roles"].items()},
        "with_tests": document["with_tests"],
        "unnoticed": [
            {
                **{name: each[name] for name in _LISTED},
                "reason": reasons.get(_change(each)) or each["message"],
            }
            for each in document["mutants"]
            if each["outcome"] in UNNOTICED
        ],
    }


def _earlier(before: Mapping[str, Any], command: str) -> list[dict[str, Any]]:
    """Return the figures of the samples before."""
    if not before:
        return []
    counted = [each for each in before["unnoticed"] if each["role"] != "presentation"]
    replaced = {
        "command": before["command"],
        "whole": before["whole"],
        "equivalent": sum(each["reason"].startswith(EQUIVALENT) for each in counted),
    }
    return [*before.get("earlier", ()), *([replaced] if before["command"] != command else [])]


def _is_own(file: str) -> bool:
    """Whether a module belongs to an instruction set."""
    return any(file.startswith(f"spec/{name}/") for name in NAMES)


def _noticed(mutants: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Count what became of mutants."""
    found: dict[str, Any] = dict.fromkeys(COUNTED[1:-1], 0)
    for mutant in mutants:
        found[mutant["outcome"]] += 1
    noticed = found["refuted"] + found["error"]
    return {"mutants": len(mutants), **found, "score": round(noticed / max(1, len(mutants)), 4)}


def _counts(counts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: counts[name] for name in COUNTED}


def _change(entry: Mapping[str, Any]) -> tuple[str, str, str]:
    return entry["file"], entry["old"], entry["new"]


def main(paths: Sequence[str]) -> None:
    """Record the campaigns of some documents."""
    found = recorded()
    for path in paths:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        name = " ".join(document["patterns"]) or "all"
        found[name] = record(document, found.get(name, {}))
    text = json.dumps(dict(sorted(found.items())), indent=1, ensure_ascii=False)
    Path("tools", "mutation", FILE).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
