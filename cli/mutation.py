"""``mmaproof check --mutants``: how many one-line faults in the specification the catalogue notices."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from .. import __version__
from ..spec.errors import InputError
from . import files
from .exit_codes import ExitCode
from .output import note, print_table, say
from .progress import progress

if TYPE_CHECKING:
    from ..api.proving import Checking
    from ..proofs.mutation.score import Mutant, Score

SHOWN = 60
"""Characters of an expression that are printed; the JSON document has all of it."""

_STYLES = {"survived": "bold red", "timeout": "yellow", "crashed": "yellow"}


def check_mutants(checking: Checking, number: int, seed: int, json: Path | None) -> ExitCode:
    """Try a sample of faults on the obligations selected; print the score and the survivors.

    Returns
    -------
    ExitCode
        `HOLDS` when it ran, whatever the score; `FAILS` when a verdict is unexpected without a fault.

    Raises
    ------
    InputError
        If there are not so many faults.
    """
    from ..proofs.mutation import score_json
    from ..proofs.mutation.campaign import BaselineError, campaign, candidates
    from ..proofs.mutation.scope import modules_of

    modules = modules_of(obligation.id.partition("/")[0] for obligation in checking.selected)
    if number > (most := len(candidates(modules))):
        raise InputError(f"--mutants: at most {most} faults can be drawn for these obligations, not {number}")
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
                )
            if stream is not None:
                files.write(stream, score_json.render(score, __version__, seed, checking.patterns))
    except BaselineError as reason:
        note(str(reason))
        return ExitCode.FAILS
    _print(score, seed)
    return ExitCode.HOLDS


def _print(score: Score, seed: int) -> None:
    from ..proofs.mutation.scope import Role
    from ..proofs.mutation.score import Fate

    shown = [result for result in score.results if result.outcome not in (Fate.REFUTED, Fate.ERROR)]
    for result in shown:
        reason = f" ({result.message})" if result.message else ""
        say(f"{result.outcome}: {_change(result.mutant)}{reason}", _STYLES.get(result.outcome.value, ""))
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
    print_table(["outcome", "meaning"], [[outcome.value, outcome.meaning] for outcome in Fate])
    print()
    print(
        f"{len(score.results)} of {score.candidates} faults (seed {seed}; left out: {len(score.equivalent)} "
        f"equivalent, {score.elsewhere} of other instruction sets), {score.obligations} obligations, "
        f"{score.elapsed:.0f} s elapsed"
    )
    whole = score.specifying
    say(f"score: {whole.noticed:.1%} of {len(whole.results)} refuted or in error")


def _change(mutant: Mutant) -> str:
    fault = mutant.fault
    return f"{mutant.place}: {fault.kind}: {_short(fault.old)} → {_short(fault.new)}"


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
