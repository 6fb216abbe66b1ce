"""How findings are shown: on the terminal, in result files, and by GitHub when run there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from . import files
from .exit_codes import ExitCode
from .output import note, say, say_lines

if TYPE_CHECKING:
    from ..reports.report import Report
    from ..spec.findings import Finding

SHOWN = 100
"""Findings that are printed; result files have all of them."""

CONCLUSIONS = {"HOLDS": "green", "FAILS": "bold red", "UNDECIDED": "yellow", "DEFECT": "bold red"}
"""How conclusions look, by name."""


class OutputFormat(StrEnum):
    """How a command says on standard output what it found."""

    TEXT = "text"
    CONCISE = "concise"
    JSON = "json"
    SARIF = "sarif"
    JUNIT = "junit"
    GITHUB = "github"

    @property
    def is_read_by_people(self) -> bool:
        """Whether lines for others may stand beside it: in a document they would not belong to it."""
        return self in (OutputFormat.TEXT, OutputFormat.CONCISE)


Output = Annotated[
    OutputFormat,
    typer.Option("--output-format", help="Output format; concise: one line for each finding."),
]


def printed(report: Report, output_format: OutputFormat) -> bool:
    """Print a report in a format that is the same for all commands; text is each command's own."""
    match output_format:
        case OutputFormat.TEXT:
            return False
        case OutputFormat.CONCISE:
            say_lines(map(_concise, report.findings))
        case OutputFormat.GITHUB:
            from ..reports import github

            say_lines(github.annotation_lines(report))
        case _:
            print(_rendered(output_format.value, report), end="")
    return True


def _concise(finding: Finding) -> str:
    why = "; ".join(cause.message for cause in finding.causes)
    place = f"{finding.place}: " if finding.place else ""
    return f"{place}{finding.causes[0].id}: {finding.subject}: {why}"


@contextmanager
def result_files(wanted: Mapping[str, Path | None]) -> Iterator[Callable[[Report], None]]:
    """Open result files by kind (``json``, ``junit``, ``sarif``, ``html``), to be filled with one report.

    Raises
    ------
    InputError
        If one can't be written.
    """
    with ExitStack() as stack:
        streams: dict[str, IO[bytes]] = {
            kind: stack.enter_context(files.result_file(path)) for kind, path in wanted.items() if path
        }

        def fill(report: Report) -> None:
            for kind, stream in streams.items():
                files.write(stream, _rendered(kind, report))

        yield fill


def _rendered(kind: str, report: Report) -> str:
    from ..reports import html, json_report, junit, sarif

    render: dict[str, Callable[[Report], str]] = {
        "json": json_report.render,
        "junit": junit.render,
        "sarif": sarif.render,
        "html": html.render,
    }
    return render[kind](report)


def running_on_github() -> bool:
    """Whether GitHub Actions runs this."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def tell_github(report: Report, *, annotate: bool = True) -> None:
    """Print annotations and append a summary of the step, when run by GitHub Actions.

    Parameters
    ----------
    report : Report
        What was found.
    annotate : bool
        Whether to print annotations: not where standard output is for another program.

    Raises
    ------
    OSError
        If the summary can't be written.
    """
    from ..reports import github

    if not running_on_github():
        return
    for line in github.annotation_lines(report) if annotate else ():
        say(line)
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as stream:
            stream.write(github.step_summary(report))


def print_findings(report: Report) -> None:
    """Print every finding, with its rules, then the totals."""
    from ..spec.findings import Standing

    styles = {
        Standing.DRIFT: "bold red",
        Standing.UNDECIDED: "yellow",
        Standing.ACCEPTED: "",
        Standing.WARNING: "yellow",
    }
    findings = list(report.findings)
    for finding in findings[:SHOWN]:
        style = styles[finding.standing]
        if finding.they_say:
            say(f"{finding.place}: {finding.standing}: {finding.subject}", style)
            say_lines(_lines(finding), indent=2)
        else:
            say(f"{finding.place}: {finding.standing}: {finding.summary}{_accepted(finding)}", style)
    if len(findings) > SHOWN:
        note(f"{len(findings) - SHOWN} more findings are not shown; --json writes all of them")
    if findings:
        print()
    counts = ", ".join(
        f"{standing}: {count}"
        for standing in report.wording.standings
        if (count := report.count(standing)) or standing is not Standing.WARNING
    )
    rows, files = (_counted(*each) for each in ((report.rows, "row"), (len(report.files), "file")))
    print(f"{rows} in {files}: {counts}; {report.elapsed:.2f} s")
    say(report.headline, CONCLUSIONS[report.conclusion.name])


def _lines(finding: Finding) -> Iterator[str]:
    yield f"they say: {finding.they_say}"
    yield f"the spec says: {finding.spec_says}"
    for cause in finding.causes:
        yield f"{cause.id}: {cause.message}"
        yield f"  {cause.reason} ({cause.source})"
    yield f"accepted: {finding.accepted_because}" if finding.accepted_because else f"id: {finding.id}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _accepted(finding: Finding) -> str:
    return f" (accepted: {finding.accepted_because})" if finding.accepted_because else ""


def exit_code(report: Report) -> ExitCode:
    """Return the status that a report means."""
    return ExitCode[report.conclusion.name]
