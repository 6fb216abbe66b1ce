"""The score of a campaign as JSON (``docs/schemas/mutants.schema.json``)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, TypedDict

from mmaproof.spec.json_fields import Amount, Keyword, Natural, Positive, Share

from .scope import Role
from .score import EquivalentMutant, Fate, Score, TriedMutant
from .source_faults import FaultKind

SCHEMA: Final = 2


class MutantDocument(TypedDict):
    """A fault that was tried.

    Attributes
    ----------
    file : str
        The module.
    role : Role
        What the module is about.
    line, column : int
        Where the expression begins.
    kind : str
        What is changed.
    old, new : str
        The expression before and after.
    outcome : Fate
        What became of it.
    obligation : str
        The one that noticed it, or was not decided; may be empty.
    message : str
        Why.
    seconds : float
        What it took.
    test : str
        The test that notices what no obligation does; empty where none was run or found.
    tested : str
        How the tests ended; empty where none was to be run.
    """

    file: Annotated[str, Keyword("pattern", r"\.py$")]
    role: Role
    line: Positive
    column: Positive
    kind: FaultKind
    old: str
    new: str
    outcome: Fate
    obligation: str
    message: str
    seconds: Amount
    test: str
    tested: str


class EquivalentDocument(TypedDict):
    """A fault that was drawn and put back, since it is shown to change nothing.

    Attributes
    ----------
    file, role, line, kind, old, new : str, Role, int, str, str, str
        As in `MutantDocument`.
    how : str
        How that is shown.
    """

    file: Annotated[str, Keyword("pattern", r"\.py$")]
    role: Role
    line: Positive
    kind: FaultKind
    old: str
    new: str
    how: str


class Counts(TypedDict):
    """How many faults met which fate.

    Attributes
    ----------
    mutants : int
        All of them.
    refuted, error, crashed, timeout, survived : int
        By what became of them.
    score : float
        (refuted + error) / mutants.
    by_tests : int
        How many tests notice, and no obligation; 0 where none was to be run.
    together : float
        (refuted + error + by_tests) / mutants.
    """

    mutants: Natural
    refuted: Natural
    error: Natural
    crashed: Natural
    timeout: Natural
    survived: Natural
    score: Share
    by_tests: Natural
    together: Share


class Summary(Counts):
    """The campaign in numbers.

    Attributes
    ----------
    mutants, refuted, error, crashed, timeout, survived, score, by_tests, together : int, float
        As in `Counts`.
    candidates : int
        Faults that could be drawn.
    equivalent : int
        How many were drawn and put back, since they are shown to change nothing.
    elsewhere : int
        Drawn, and left out since they are in generic functions that only other instruction sets use.
    obligations : int
        Those that were to notice them.
    elapsed : float
        Seconds on the wall clock.
    """

    candidates: Natural
    equivalent: Natural
    elsewhere: Natural
    obligations: Natural
    elapsed: Amount


class ScoreDocument(TypedDict):
    """What `check --mutants N --json` writes.

    Attributes
    ----------
    schema : int
        Version of the document.
    version : str
        Of mmaproof.
    seed : int
        By which faults were drawn.
    patterns : list of str
        What was checked.
    with_tests : bool
        Whether tests were run on what no obligation noticed.
    tests : list of str
        The folders of these tests.
    mutants : list of MutantDocument
        In the order of files and lines.
    equivalent : list of EquivalentDocument
        In the same order.
    roles : mapping of Role to Counts
        The same counts for modules of each kind that has mutants.
    summary : Summary
        Without modules of the role presentation.
    """

    schema: Literal[2]
    version: str
    seed: int
    patterns: list[str]
    with_tests: bool
    tests: list[str]
    mutants: list[MutantDocument]
    equivalent: list[EquivalentDocument]
    roles: Mapping[Role, Counts]
    summary: Summary


def document(
    score: Score, version: str, seed: int, patterns: Sequence[str], tests: Sequence[Path] = ()
) -> ScoreDocument:
    """Return the JSON document of a campaign."""
    return {
        "schema": SCHEMA,
        "version": version,
        "seed": seed,
        "patterns": list(patterns),
        "with_tests": bool(tests),
        "tests": [folder.as_posix() for folder in tests],
        "mutants": [_entry(result) for result in score.results],
        "equivalent": [_equivalent(each) for each in score.equivalent],
        "roles": {role: _counts(score.of(role)) for role in Role if score.of(role).results},
        "summary": {
            **_counts(score.specifying),
            "candidates": score.candidates,
            "equivalent": len(score.equivalent),
            "elsewhere": score.elsewhere,
            "obligations": score.obligations,
            "elapsed": round(score.elapsed, 3),
        },
    }


def _counts(score: Score) -> Counts:
    return {
        "mutants": len(score.results),
        "refuted": score.count(Fate.REFUTED),
        "error": score.count(Fate.ERROR),
        "crashed": score.count(Fate.CRASHED),
        "timeout": score.count(Fate.TIMEOUT),
        "survived": score.count(Fate.SURVIVED),
        "score": round(score.noticed, 4),
        "by_tests": score.by_tests,
        "together": round(score.together, 4),
    }


def _entry(result: TriedMutant) -> MutantDocument:
    fault = result.mutant.fault
    return {
        "file": result.mutant.module.shown,
        "role": result.mutant.module.role,
        "line": fault.line,
        "column": fault.column,
        "kind": fault.kind,
        "old": fault.old,
        "new": fault.new,
        "outcome": result.outcome,
        "obligation": result.obligation,
        "message": result.message,
        "seconds": round(result.seconds, 3),
        "test": result.tested.test if result.tested else "",
        "tested": result.tested.ended if result.tested else "",
    }


def _equivalent(each: EquivalentMutant) -> EquivalentDocument:
    module, fault = each.mutant.module, each.mutant.fault
    return {
        "file": module.shown,
        "role": module.role,
        "line": fault.line,
        "kind": fault.kind,
        "old": fault.old,
        "new": fault.new,
        "how": each.how,
    }


def render(score: Score, version: str, seed: int, patterns: Sequence[str], tests: Sequence[Path] = ()) -> str:
    """Return the text of the JSON document."""
    written = document(score, version, seed, patterns, tests)
    return json.dumps(written, indent=1) + "\n"
