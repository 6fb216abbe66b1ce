"""The score of a campaign as JSON (``docs/schemas/mutants.schema.json``)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .scope import Role
from .score import Fate, Score, TriedMutant

SCHEMA = 2


def document(score: Score, version: str, seed: int, patterns: Sequence[str]) -> dict[str, Any]:
    """Return the JSON document of a campaign."""
    return {
        "schema": SCHEMA,
        "version": version,
        "seed": seed,
        "patterns": list(patterns),
        "mutants": [_entry(result) for result in score.results],
        "roles": {role.value: _counts(score.of(role)) for role in Role if score.of(role).results},
        "summary": {
            **_counts(score.specifying),
            "candidates": score.candidates,
            "equivalent": score.equivalent,
            "elsewhere": score.elsewhere,
            "obligations": score.obligations,
            "elapsed": round(score.elapsed, 3),
        },
    }


def _counts(score: Score) -> dict[str, Any]:
    return {
        "mutants": len(score.results),
        **{outcome.value: score.count(outcome) for outcome in Fate},
        "score": round(score.noticed, 4),
    }


def _entry(result: TriedMutant) -> dict[str, Any]:
    fault = result.mutant.fault
    return {
        "file": result.mutant.module.shown,
        "role": result.mutant.module.role.value,
        "line": fault.line,
        "kind": fault.kind,
        "old": fault.old,
        "new": fault.new,
        "outcome": result.outcome.value,
        "obligation": result.obligation,
        "message": result.message,
        "seconds": round(result.seconds, 3),
    }


def render(score: Score, version: str, seed: int, patterns: Sequence[str]) -> str:
    """Return the text of the JSON document."""
    return json.dumps(document(score, version, seed, patterns), indent=1) + "\n"
