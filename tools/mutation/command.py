"""``mmaproof check --mutants``: how many one-line faults in the specification the catalogue notices."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

from mmaproof import __version__
from mmaproof.api.proving import Checking
from mmaproof.cli import files
from mmaproof.cli.exit_codes import ExitCode
from mmaproof.cli.output import note, print_table, say
from mmaproof.cli.progress import progress
from mmaproof.spec.errors import InputError

from . import score_json
from .campaign import BaselineError, campaign, candidates
from .recorded_tests import RecordingError
from .scope import Role, SpecificationModule, modules_of
from .score import NOTICED, Fate, Mutant, Score
from .source_faults import FaultKind
from .survivor_tests import SurvivorTests

SHOWN = 60
"""Characters of an expression that are printed; the JSON document has all of it."""

_STYLES = {"survived": "bold red", "timeout": "yellow", "crashed": "yellow"}


def check_mutants(
    checking: Checking, number: int, seed: int, json: Path | None, tests: Sequence[Path] = ()
) -> ExitCode:
    """Try a sample of faults on the obligations selected; print the score and the survivors.

    What survives is tried on the tests in folders, if some are given.

    Returns
    -------
    ExitCode
        `HOLDS` when it ran, whatever the score; `FAILS` when a verdict is unexpected without a fault.

    Raises
    ------
    InputError
        If there are not so many faults, or no tests can be run.
    """
    modules = modules_of(obligation.id.partition("/")[0] for obligation in checking.selected)
    if number > (most := len(candidates(modules))):
        raise InputError(f"--mutants: at most {most} faults can be drawn for these obligations, not {number}")
    survivors = _recorded(tests, modules[0], checking.settings.jobs) if tests else None
    try:
        with nullcontext() if json is None else files.result_file(json) as stream:
            with progress("mutants", number) as advance:
                score = campaign(
                    checking.selected,
                    modules,
                    number,
                    seed,
                    checking.settings,
                    lambda result: advance(result.mutant.place),
                    tests=survivors,
                )
            if stream is not None:
                text = score_json.render(score, __version__, seed, checking.patterns, tests)
                files.write(stream, text)
    except BaselineError as reason:
        note(str(reason))
        return ExitCode.FAILS
    _print(score, seed, with_tests=bool(tests))
    return ExitCode.HOLDS


def _recorded(folders: Sequence[Path], module: SpecificationModule, jobs: int) -> SurvivorTests:
    """Return what runs the tests of folders, once it is recorded what they execute."""
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"--tests: {folder} is no directory")
    if find_spec("pytest") is None:
        raise InputError("--tests needs pytest, which is not installed (pip install pytest)")
    tests = SurvivorTests(folders, module, jobs)
    if number := tests.unrecorded():
        note(
            f"--tests: recording what {number} files of tests execute, once; this takes as long as they take"
        )
        try:
            with tests:
                tests.record()
        except RecordingError as reason:
            raise InputError(f"--tests: {reason}") from None
    return tests


def _print(score: Score, seed: int, *, with_tests: bool) -> None:
    shown = [result for result in score.results if result.outcome not in NOTICED]
    for result in shown:
        said = [result.message]
        if result.tested is not None:
            said.append(f"noticed by {result.tested.test}" if result.by_tests else result.tested.ended)
        reason = f" ({'; '.join(filter(None, said))})" if any(said) else ""
        style = "" if result.by_tests else _STYLES.get(result.outcome.value, "")
        say(f"{result.outcome}: {_change(result.mutant)}{reason}", style)
    for each in score.equivalent:
        say(f"equivalent, left out: {_change(each.mutant)} ({each.how})")
    if shown or score.equivalent:
        print()
    kinds = [(role.value, score.of(role), role.meaning) for role in Role if score.of(role).results]
    print_table(
        ["modules on", "faults", *(outcome.value for outcome in Fate), "score", "meaning"],
        [
            [
                name,
                str(len(part.results)),
                *(str(part.count(fate)) for fate in Fate),
                f"{part.noticed:.1%}",
                meaning,
            ]
            for name, part, meaning in kinds
        ],
        numbers=range(1, len(Fate) + 3),
    )
    print()
    by_kind = [(kind, score.of_kind(kind)) for kind in get_args(FaultKind)]
    print_table(
        ["kind of fault", "faults", "noticed", "score"],
        [
            [kind, str(len(part.results)), str(part.count(*NOTICED)), f"{part.noticed:.1%}"]
            for kind, part in by_kind
            if part.results
        ],
        numbers=range(1, 4),
    )
    print()
    print_table(["outcome", "meaning"], [[outcome.value, outcome.meaning] for outcome in Fate])
    print()
    print(
        f"{len(score.results)} of {score.candidates} faults (seed {seed}; left out: {len(score.equivalent)} "
        f"equivalent, {score.elsewhere} of other instruction sets), {score.obligations} obligations, "
        f"{score.elapsed:.0f} s elapsed"
    )
    whole = score.specifying
    say(f"score: {whole.noticed:.1%} of {len(whole.results)} refuted or in error")
    if with_tests:
        say(f"together with the tests: {whole.together:.1%}, {whole.by_tests} by tests alone")


def _change(mutant: Mutant) -> str:
    fault = mutant.fault
    return f"{mutant.place}: {fault.kind}: {_short(fault.old)} → {_short(fault.new)}"


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
