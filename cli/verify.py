"""``mmaproof verify``: compare what a kernel computes with its contract."""

from __future__ import annotations

import json as json_format
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import files
from .budget import doing
from .exit_codes import ExitCode
from .finding_output import Output, OutputFormat, printed, result_files, tell_github
from .output import note, say

if TYPE_CHECKING:
    from ..refinement.examine.counterexamples import KernelCounterexample
    from ..refinement.findings.result import Result
    from ..refinement.instance_verification import Told
    from ..refinement.verification import Verification
    from ..reports.verify_report import VerifyReport

SAVED = Path("mmaproof-counterexamples")
"""Where counterexamples go."""


def verify(
    kernel: Annotated[Path, typer.Argument(metavar="KERNEL", help="The kernel's file, such as a .ptx.")],
    contract: Annotated[
        Path | None, typer.Option(metavar="C.toml", help="What it is launched with and is to compute.")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="OLD", help="A kernel that computes the same, instead of formulas."),
    ] = None,
    choice: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="How matrix instructions round, for the bound: hopper, …"),
    ] = None,
    every: Annotated[
        bool,
        typer.Option(
            "--every/--as-far-as-shown",
            help="Sizes stated as domains must be shown for all; or a verdict says for which they are.",
        ),
    ] = True,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Also print the rules used, and what proofs for all sizes consist of."
        ),
    ] = False,
    scheduler: Annotated[
        str | None, typer.Option(metavar="tcp://HOST:PORT", help="Run sets of sizes on a Dask cluster.")
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="Instead, list the kernels of the file with their matrix products.")
    ] = False,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write why outputs are equal, for mmaproof recheck; .gz compresses."
        ),
    ] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the result as JSON.")] = None,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JUnit XML.")] = None,
    sarif: Annotated[Path | None, typer.Option(metavar="FILE", help="Write SARIF 2.1.0.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a web page.")] = None,
    counterexamples: Annotated[
        Path, typer.Option(metavar="DIR", help="Where a counterexample is saved.")
    ] = SAVED,
    output_format: Output = OutputFormat.TEXT,
) -> ExitCode:
    """Verify a kernel against a contract, for all data, at every set of the contract's sizes.

    A contract without [ensures] says what is in memory: then only accesses are looked at, or, with
    --against, whether two kernels compute the same.

    A size may be a domain in the contract, such as "any multiple of 32". Unless it is shown for all of them
    the kernel is undecided; with --as-far-as-shown the verdict says for which sizes it holds.

    A refuted kernel comes with inputs on which it is wrong, for `mmaproof replay`.
    """
    from ..api import kernels
    from ..refinement.examine.trials import DisagreementError
    from ..spec.errors import DefectError, InputError

    if list_:
        return _list(kernel)
    if contract is None:
        raise InputError("verify needs --contract C.toml; mmaproof contract writes one to complete")
    with result_files({"json": json, "junit": junit, "sarif": sarif, "html": html}) as fill:
        with _progress() as shown:

            def told(what: str, done: int, all_: int) -> None:
                doing(what)
                shown(what, done, all_)

            doing(f"reading {kernel} and {contract}")
            try:
                report = kernels.verify(
                    kernel,
                    contract,
                    against=against,
                    choices=choice or (),
                    every=every,
                    told=told,
                    scheduler=scheduler,
                    certified=explain or certificate is not None,
                )
            except DisagreementError as defect:
                path = _written(defect.counterexample, counterexamples)
                raise DefectError(f"{defect}; mmaproof replay {path} runs it again") from defect
        report = _saved(report, counterexamples)
        fill(report)
        if certificate is not None:
            _certify(report.found, certificate)
    if not printed(report, output_format):
        _print(report.found)
        if explain:
            _print_rows(report.result)
            _print_obligations(report.result)
    tell_github(report)
    return {
        "verified": ExitCode.HOLDS,
        "safe": ExitCode.HOLDS,
        "refuted": ExitCode.FAILS,
        "undecided": ExitCode.UNDECIDED,
        "unsupported": ExitCode.UNDECIDED,
    }[report.result.verdict]


def _certify(found: Verification, path: Path) -> None:
    """Write the certificate, if there is one."""
    from ..refinement.certificate.certificate_document import encoded

    if (document := found.certificate) is None:
        note(f"no certificate is written: {found.result.kernel} is not verified to compute anything")
        return
    with files.result_file(path) as stream:
        stream.write(encoded(document, compressed=path.suffix == ".gz"))


def _list(kernel: Path) -> ExitCode:
    """Print the kernels of a file."""
    from ..refinement.machine.front_end import list_candidates

    found = list_candidates(kernel)
    for each in found:
        print(each)
    if not found:
        note(f"{kernel} has no kernels with matrix instructions")
    return ExitCode.HOLDS


@contextmanager
def _progress() -> Iterator[Told]:
    """Show what is being done on standard error, when that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda what, done, all_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as progress:
        task = progress.add_task("reading", total=None)
        update: Callable[..., None] = progress.update
        yield lambda what, done, all_: update(task, description=what, completed=done, total=all_)


def _saved(report: VerifyReport, where: Path) -> VerifyReport:
    """Save the counterexample, and name its file in the result."""
    found = report.found.counterexample
    return report if found is None else report.saved_in(_written(found, where))


def _written(counterexample: KernelCounterexample, where: Path) -> Path:
    path = files.directory(where) / f"{Path(counterexample.kernel).stem}.json"
    files.write_text(path, json_format.dumps(counterexample.document(), indent=1) + "\n")
    return path


def _rests_on(result: Result) -> Iterator[str]:
    """Yield what a verdict takes for granted."""
    yield result.claim
    yield from result.accuracy
    if result.assumptions:
        yield f"assumed: {'; '.join(result.assumptions)}"
    outputs, of_proofs = (result.stats.get(name, {}) for name in ("checker", "checker_of_proofs"))
    yield from _not_evaluated(outputs, result.stats["outputs"], "elements")
    yield from _not_evaluated(of_proofs, of_proofs.get("elements", 0), "equalities of proofs for every size")


def _not_evaluated(checker: Mapping[str, Any], every: int, what: str) -> Iterator[str]:
    """Yield what the checker could not evaluate again, if there is any."""
    if checker.get("open"):
        reasons = "; ".join(f"{each['elements']:,}: {each['reason']}" for each in checker["open"])
        count = sum(each["elements"] for each in checker["open"])
        yield f"not evaluated again: {count:,} of {every:,} {what} ({reasons})"


def _print(found: Verification) -> None:
    result = found.result
    for finding in result.findings:
        say(str(finding), "red" if finding.kind.refutes else "")
    if found.counterexample is not None:
        difference = found.counterexample.difference
        say(f"on the inputs saved, {difference.output} is {difference.kernel}, not {difference.contract}")
        note(f"saved {result.counterexample}; mmaproof replay runs it again")
    stats = result.stats
    if result.bound is not None:
        say(result.bound)
    colour = {"verified": "bold green", "safe": "bold green", "refuted": "bold red"}.get(
        result.verdict, "bold"
    )
    say(f"{result.verdict}{result.strength}: {result.kernel}", colour)
    for each in result.quantified:
        if each.reason and result.verdict in ("verified", "safe"):
            print(f"not for every {each.name}: {each.reason}")
    for case in result.cases:
        print(case)
    if result.verdict in ("verified", "safe"):
        for line in (*result.outputs, *result.written, *_rests_on(result)):
            print(line)
        for each_note in result.notes:
            print(f"note: {each_note}")
    if result.verdict == "safe":
        print("memory only: the contract has no [ensures], so nothing is said of what is computed")
    elif "outputs" in stats and not found.memory_only:
        seconds = f"{stats['total_seconds']:.3f} s"
        print(f"{stats['outputs']} output elements, {stats['wrong']} not right; {seconds}")


def _print_rows(result: Result) -> None:
    """Print the rules by instances of which both sides of outputs are equal."""
    from ..refinement.rules.rows import BY_NAME

    for name, count in result.stats.get("rows", {}).items():
        rule = BY_NAME[name]
        condition = f" if {rule.condition}" if rule.condition else ""
        print(f"used {count:,} times, {name}: {rule.left} = {rule.right}{condition}")


def _print_obligations(result: Result) -> None:
    """Print the parts of proofs for every number of sizes, and the sizes that were verified one by one."""
    obligations = result.stats.get("obligations", ())
    if not obligations:
        print("no proof for every number of a size: only the sizes listed are verified")
    for each in obligations:
        place = f"{result.kernel}:{each['line']}"
        place = f"{each['source']} ({place})" if each["source"] else place
        at = ", ".join(f"{name} = {number}" for name, number in each["sizes"].items())
        named = f"{each['obligation']}{f' at {at}' if at else ''}"
        print(f"proved in {each['seconds']:.3f} s, {named}: {each['statement']} ({place})")
    for sizes in result.stats.get("sizes", ()):
        listed = ", ".join(f"{name} = {number}" for name, number in sizes.items())
        print(f"looked at by itself: {listed or 'the only sizes'}")
