"""``mmaproof list``, ``explain`` and ``export``: what the catalogue says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from ..spec.errors import InputError, UnsupportedError
from . import files
from .exit_codes import ExitCode
from .output import note, print_json, print_table, say, say_lines
from .paging import NoPager, paged


def list_catalogue(
    patterns: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATTERN]...", help="Prefix or glob of obligation ids or mnemonics."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    no_pager: NoPager = False,
) -> ExitCode:
    """List obligations and instructions."""
    from ..proofs.cache import default_directory
    from ..proofs.listing import listing

    found = listing(patterns or [], default_directory())
    if json:
        print_json(found)
        return ExitCode.HOLDS
    tables: dict[tuple[str, ...], Sequence[Mapping[str, object]]] = {
        ("id", "expect", "equality", "method", "choices"): found["obligations"],
        ("mnemonic", "operands"): found["instructions"],
    }
    shown = [
        (
            [title if title != "id" else "obligation" for title in titles],
            [[str(row[title]) for title in titles] for row in rows],
        )
        for titles, rows in tables.items()
        if rows
    ]
    with paged(wanted=not no_pager):
        for position, (titles, cells) in enumerate(shown):
            if position:
                print()
            print_table(titles, cells)
    return ExitCode.HOLDS


def explain(
    identifier: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="Obligation, theorem, unique prefix, instruction, rule, choice, or finding."
        ),
    ],
    no_pager: NoPager = False,
) -> ExitCode:
    """Say what an obligation, a theorem, an instruction or another name means."""
    from ..proofs.cache import default_directory
    from ..proofs.code_state import EXPLAINING
    from ..proofs.remembered import remembered

    title, sections = remembered(
        default_directory(), f"explain {identifier!a}", lambda: _explained(identifier), EXPLAINING
    )
    with paged(wanted=not no_pager):
        say(title, "bold")
        for heading, lines in sections:
            if lines:
                print()
                say(heading, "bold")
                say_lines(lines, indent=2, prose=True)
    return ExitCode.HOLDS


def _explained(identifier: str) -> tuple[str, list[tuple[str, list[str]]]]:
    """Return what is printed of a name, as a JSON value."""
    from ..api import instructions

    found = instructions.explain(identifier)
    return found.title, [(heading, list(lines)) for heading, lines in found.sections]


def export(
    patterns: Annotated[list[str], typer.Argument(metavar="ID...", help="Prefix or glob of obligation ids.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Directory for the files; created if missing.")],
) -> ExitCode:
    """Write obligations as SMT-LIB 2 files that other solvers accept.

    An obligation a/b/c becomes DIR/a/b/c.uninterpreted.smt2 (operations as uninterpreted functions:
    unsat proves the claim) and DIR/a/b/c.exact.smt2 (exact theories: unsat exactly if the claim holds),
    where such an encoding exists.
    """
    from ..proofs.catalogue import select
    from ..proofs.export import scripts

    written: dict[Path, str] = {}
    without: list[str] = []
    for obligation in select(patterns):
        try:
            for encoding, text in scripts(obligation).items():
                written[out / f"{obligation.id}.{encoding}.smt2"] = text
        except UnsupportedError as reason:
            without.append(str(reason))
    if not written:
        more = f" (and {len(without) - 1} more)" if len(without) > 1 else ""
        raise InputError(f"nothing to export: {without[0]}{more}")
    for path, text in written.items():
        files.directory(path.parent)
        files.write_text(path, text)
        say(str(path))
    for message in without:
        note(f"not exported: {message}")
    return ExitCode.HOLDS
