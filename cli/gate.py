"""``mmaproof gate``: other people's tables and layouts against the spec."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from ..spec.errors import InputError
from ..spec.instruction_set import NAMES
from .budget import doing
from .exit_codes import ExitCode
from .finding_output import (
    Output,
    OutputFormat,
    exit_code,
    print_findings,
    printed,
    result_files,
    tell_github,
)
from .output import note

CONFIGURATION = Path("mmaproof.toml")
"""What is read when no file is named."""


def gate(
    tables: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="Tables (JSON, CSV), lock files (tables --format json), or TOML files that name some; "
            f"default: {CONFIGURATION}.",
        ),
    ] = None,
    isa: Annotated[
        str | None,
        typer.Option(metavar="ISA", help=f"Instruction set of rows that don't name one: {', '.join(NAMES)}."),
    ] = None,
    target: Annotated[str | None, typer.Option(help="Target of rows that don't name one.")] = None,
    ptx: Annotated[
        str | None, typer.Option(metavar="VERSION", help="PTX version of rows that don't name one.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="OLD=NEW", help="Rename a column of the tables; an empty NEW ignores it."),
    ] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="Also report legal forms that a table lacks.")
    ] = False,
    allow: Annotated[Path | None, typer.Option(metavar="FILE", help="Accepted differences (TOML).")] = None,
    allow_undecided: Annotated[
        bool, typer.Option("--allow-undecided", help="Accept rows that the spec does not decide.")
    ] = False,
    optional: Annotated[
        bool, typer.Option("--optional", help=f"Exit with status 0 if there is no {CONFIGURATION}.")
    ] = False,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the findings as JSON.")] = None,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JUnit XML.")] = None,
    sarif: Annotated[Path | None, typer.Option(metavar="FILE", help="Write SARIF 2.1.0.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a web page.")] = None,
    output_format: Output = OutputFormat.TEXT,
) -> ExitCode:
    """Compare constraint tables and layouts with the spec.

    Each row that says otherwise is named with its line, the rule and the source. The formats are described
    in docs/gate.md.
    """
    from ..api import tables as api
    from ..gating.columns import renaming

    if optional and not tables and not CONFIGURATION.exists():
        note(f"no {CONFIGURATION} in this directory: nothing is compared")
        return ExitCode.HOLDS
    named = _named(tables)
    wanted = {"json": json, "junit": junit, "sarif": sarif, "html": html}
    with result_files(wanted) as fill, _without_garbage_collection():
        doing(f"comparing {', '.join(map(str, named))} with the spec")
        found = api.gate(
            *named,
            isa=isa,
            target=target,
            ptx=ptx,
            columns=renaming(column or []),
            complete=complete,
            allow=allow,
            allow_undecided=allow_undecided,
        )
        fill(found)
    if not printed(found, output_format):
        print_findings(found)
    tell_github(found, annotate=output_format.is_read_by_people)
    return exit_code(found)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Don't look for cycles: there are none among the objects of a table, and they all live until the end."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _named(tables: list[Path] | None) -> list[Path]:
    if tables:
        return tables
    if not CONFIGURATION.is_file():
        raise InputError(f"no table is named, and there is no {CONFIGURATION} in this directory")
    return [CONFIGURATION]
