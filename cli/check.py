"""``mmaproof check``: prove the catalogue and report."""

from __future__ import annotations

import json as json_format
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..spec.errors import InputError
from . import files
from .exit_codes import ExitCode
from .finding_output import (
    CONCLUSIONS,
    SHOWN,
    Output,
    OutputFormat,
    exit_code,
    printed,
    result_files,
    tell_github,
)
from .mutation import check_mutants
from .output import note, print_table, say, say_lines
from .progress import progress
from .recheck_output import print_certificates, print_recheck

if TYPE_CHECKING:
    from ..proofs.outcomes import CatalogueRun, DecidedObligation
    from ..reports.check_report import CheckReport

SAVED = Path("mmaproof-counterexamples")
"""Where counterexamples go that nobody expected."""


def check(
    patterns: Annotated[
        list[str] | None, typer.Argument(metavar="[PATTERN]...", help="Prefix or glob of obligation ids.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; default: one per CPU.")] = None,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="Of each solver query.")] = 60.0,
    memory: Annotated[float | None, typer.Option(metavar="GIB", help="Of each process.")] = None,
    solver: Annotated[
        str, typer.Option(metavar="z3|bitwuzla|cvc5|all", help="Solver; all demands that they agree.")
    ] = "z3",
    no_cache: Annotated[
        bool,
        typer.Option(
            "--no-cache",
            help="Ignore the cache of verdicts ($MMAPROOF_CACHE, or the user's cache directory).",
        ),
    ] = False,
    scheduler: Annotated[
        str | None, typer.Option(metavar="tcp://HOST:PORT", help="Run on a Dask cluster.")
    ] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the verdicts as JSON.")] = None,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JUnit XML.")] = None,
    sarif: Annotated[Path | None, typer.Option(metavar="FILE", help="Write SARIF 2.1.0.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a web page.")] = None,
    recheck: Annotated[
        bool, typer.Option("--recheck", help="Prove again with other solvers what is proved.")
    ] = False,
    certificates: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write certificates of the proofs, and check them."),
    ] = None,
    counterexamples: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help=f"Save every counterexample, pinned ones too; default: unexpected ones, to {SAVED}/.",
        ),
    ] = None,
    mutants: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Try N one-line faults in the specification instead."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Which faults --mutants draws.")] = 0,
    tests: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="With --mutants: run the pytest tests in DIR on surviving mutants."),
    ] = None,
    output_format: Output = OutputFormat.TEXT,
) -> ExitCode:
    """Prove the catalogue of theorems (default: all of it).

    Each obligation is expected to be proved, or refuted as pinned; anything else is listed with its
    counterexample.
    """
    from ..api.proving import checking_of

    checking = checking_of(
        patterns or [],
        jobs=jobs,
        timeout=timeout,
        memory=memory,
        solver=solver,
        cache=not no_cache,
        scheduler=scheduler,
    )
    if mutants is not None:
        others: dict[str, object]
        others = {"--junit": junit, "--sarif": sarif, "--html": html, "--counterexamples": counterexamples}
        others |= {"--recheck": recheck, "--certificates": certificates}
        refused = [option for option, value in others.items() if value]
        if refused:
            raise InputError(
                f"--mutants writes its own report (--json) and can't be combined with {', '.join(refused)}"
            )
        return check_mutants(checking, mutants, seed, json, tests or [])
    if tests:
        raise InputError("--tests needs --mutants N: it tests the surviving mutants")
    if counterexamples is not None:
        files.directory(counterexamples)
    if certificates is not None:
        checking.require_certifying()
        files.directory(certificates)
    with result_files({"json": json, "junit": junit, "sarif": sarif, "html": html}) as fill:
        report, stopped = checking.report(recheck=recheck, progress=progress)
        fill(report)
    if stopped is not None:
        raise stopped
    saved = _save(report.run, counterexamples)
    certified = None
    if certificates is not None:
        verdicts = [outcome.verdict for outcome in report.run.outcomes]
        certified = checking.certified(verdicts, certificates, progress)
    if not printed(report, output_format):
        _print(report, saved)
        if certificates is not None and certified is not None:
            print_certificates(certified, certificates)
    tell_github(report, annotate=output_format.is_read_by_people)
    return exit_code(report) if certified is None or certified.agrees else ExitCode.DEFECT


def _print(report: CheckReport, saved: dict[str, Path]) -> None:
    _print_theorems(report.run)
    _print_spoiling(report.run, saved)
    _print_unpinned(report.run)
    if report.run.recheck is not None:
        print_recheck(report.run)
    _print_totals(report)


def _print_theorems(found: CatalogueRun) -> None:
    from ..proofs.outcomes import Agreement

    columns = {
        "proved": (Agreement.PROVED,),
        "pinned": (Agreement.PINNED,),
        "unknown": (Agreement.UNKNOWN,),
        "unexpected": (Agreement.UNEXPECTED, Agreement.DEFECT),
    }
    rows = []
    for entry in found.theorems:
        slowest = entry.slowest
        assert slowest is not None
        seconds = slowest.verdict.seconds
        name = slowest.obligation.id.removeprefix(entry.theorem.id + "/")
        rows.append(
            [
                entry.theorem.id,
                entry.theorem.title,
                *(str(entry.count(*agreements)) for agreements in columns.values()),
                f"{entry.seconds:.2f}",
                f"{name} ({seconds:.2f} s)" if seconds >= 0.005 else "",
            ]
        )
    titles = ["theorem", "title", *columns, "seconds", "slowest"]
    print_table(titles, rows, numbers=range(2, 7), beneath=1, optional=[7])


def _save(found: CatalogueRun, asked: Path | None) -> dict[str, Path]:
    """Save counterexamples and return where, by obligation id."""
    outcomes = found.outcomes if asked else found.spoiling
    having = [(o.obligation.id, o.verdict.counterexample) for o in outcomes if o.verdict.counterexample]
    saved: dict[str, Path] = {}
    try:
        folder = files.directory(asked or SAVED) if having else SAVED
        for identifier, counterexample in having:
            path = folder / f"{identifier.replace('/', '.')}.json"
            files.write_text(path, json_format.dumps(counterexample.document(), indent=1) + "\n")
            saved[identifier] = path
    except (InputError, OSError) as reason:
        note(f"counterexamples are not saved: {reason}")
    return saved


def _print_spoiling(found: CatalogueRun, saved: dict[str, Path]) -> None:
    from ..proofs.outcomes import Agreement
    from ..reports.counterexample_text import counterexample_text

    for outcome in found.spoiling:
        undecided = outcome.agreement is Agreement.UNKNOWN
        print()
        say(outcome.summary, "yellow" if undecided else "bold red")
        if undecided:
            continue
        say_lines(outcome.obligation.statement, indent=2)
        if outcome.verdict.counterexample:
            say_lines(counterexample_text(outcome.verdict.counterexample), indent=2)
        _print_saved(outcome, saved)


def _print_saved(outcome: DecidedObligation, saved: dict[str, Path]) -> None:
    if path := saved.get(outcome.obligation.id):
        say(f"  reproduce: mmaproof replay {shlex.quote(str(path))}")


def _print_unpinned(found: CatalogueRun) -> None:
    from ..proofs.pinned import COMMAND

    if not found.unpinned:
        return
    print()
    for difference in found.unpinned[:SHOWN]:
        say(f"{difference.id}: {difference.reason}", "bold red")
    if len(found.unpinned) > SHOWN:
        say(f"and {len(found.unpinned) - SHOWN} more", "bold red")
    say(f"if that is intended, pin it: {COMMAND}")


def _print_totals(report: CheckReport) -> None:
    from ..proofs.verdict import COMPARISON

    run = report.run
    counts = ", ".join(f"{run.count(agreement)} {agreement}" for agreement in report.agreements)
    print()
    print(
        f"{len(run.outcomes)} obligations: {counts}; {run.cached} from the cache, {run.elapsed:.2f} s elapsed"
    )
    if compared := sum(outcome.verdict.method == COMPARISON for outcome in run.outcomes):
        print(f"{compared} of them compare the specification with independent statements")
    if run.repeated:
        print(f"{run.repeated} of them repeat a shared claim for another instruction set")
    say(report.headline, CONCLUSIONS[report.conclusion.name])
