"""``mmaproof verify``: compare what a kernel computes with its contract."""

from __future__ import annotations

import json as json_format
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import files
from .budget import doing
from .exit_codes import ExitCode
from .finding_output import Output, OutputFormat, exit_code, printed, result_files, tell_github
from .output import note, say
from .sources import Compiler, Flags, Target, kernel_file

if TYPE_CHECKING:
    from ..refinement.examine.counterexamples import KernelCounterexample
    from ..refinement.instance_verification import Told
    from ..refinement.verification import Verification
    from ..reports.verify_report import VerifyReport

SAVED = Path("mmaproof-counterexamples")
"""Where counterexamples go."""


def verify(
    kernel: Annotated[
        Path, typer.Argument(metavar="KERNEL", help="The kernel: .ptx, .o, .s, .pto, or .cu, .c to compile.")
    ],
    contract: Annotated[
        Path | None, typer.Option(metavar="C.toml", help="The launch, and what the kernel must compute.")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="OLD", help="A reference kernel in place of formulas."),
    ] = None,
    choice: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Rounding of matrix instructions in the error bound: hopper, …"),
    ] = None,
    every: Annotated[
        bool,
        typer.Option(
            "--every/--as-far-as-shown",
            help="Demand a proof for every size of a domain, or report how far the proof goes.",
        ),
    ] = True,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Also print the rules used, and the parts of proofs for every size."),
    ] = False,
    scheduler: Annotated[
        str | None, typer.Option(metavar="tcp://HOST:PORT", help="Run sets of sizes on a Dask cluster.")
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="List the kernels of the file with their matrix products instead.")
    ] = False,
    certificate: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a certificate for mmaproof recheck; .gz compresses it."),
    ] = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the result as JSON.")] = None,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JUnit XML.")] = None,
    sarif: Annotated[Path | None, typer.Option(metavar="FILE", help="Write SARIF 2.1.0.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a web page.")] = None,
    counterexamples: Annotated[
        Path, typer.Option(metavar="DIR", help="Directory for counterexamples.")
    ] = SAVED,
    target: Target = None,
    compiler: Compiler = None,
    flags: Flags = "",
    output_format: Output = OutputFormat.TEXT,
) -> ExitCode:
    """Verify a kernel against a contract, for all data, at every set of the contract's sizes.

    A contract without [ensures] says what is in memory: then only accesses are looked at, or, with
    --against, whether two kernels compute the same.

    A size may be a domain in the contract, such as "any multiple of 32". Unless it is shown for all of them
    the kernel is undecided; with --as-far-as-shown the verdict says for which sizes it holds.

    A source file (.cu; .c, .cc, .cpp for Power) is compiled first; the command is printed.

    A refuted kernel comes with inputs on which it is wrong, for `mmaproof replay`.
    """
    from ..api import kernels
    from ..api.compiling import is_source
    from ..refinement.examine.trials import DisagreementError
    from ..reports import verdict_text
    from ..spec.errors import DefectError, InputError

    kernel = kernel_file(kernel, target, compiler, flags, against)
    if against is not None:
        of_source = is_source(against)
        options = (target, compiler, flags) if of_source else (None, None, "")
        against = kernel_file(against, *options, kernel)
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
        for line in verdict_text.verdict_lines(report.found, explain=explain):
            say(line.text, line.style)
        if report.result.counterexample is not None:
            note(f"mmaproof replay {report.result.counterexample} runs the counterexample again")
    tell_github(report, annotate=output_format.is_read_by_people)
    return exit_code(report)


def _certify(found: Verification, path: Path) -> None:
    """Write the certificate, if there is one."""
    from ..refinement.certificate.certificate_document import encoded

    if (document := found.certificate) is None:
        note(f"no certificate is written: {found.result.kernel} has no verified outputs")
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
