"""The command ``mmaproof``: its sub-commands, and how every error ends."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from .. import __version__
from . import browse, check, contract, execute, gate, layout, legality, replay, verify
from .budget import budgeted
from .endings import ended
from .exit_codes import EPILOG

app = typer.Typer(
    help="Formal specification and symbolic verifier of matrix-multiply instructions.",
    epilog=EPILOG,
    rich_markup_mode=None,  # Rich help costs a tenth of a second
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for name, command in (
    ("check", check.check),
    ("list", browse.list_catalogue),
    ("explain", browse.explain),
    ("export", browse.export),
    ("legal", legality.legal),
    ("tables", legality.tables),
    ("gate", gate.gate),
    ("layout", layout.layout),
    ("run", execute.run),
    ("contract", contract.contract),
    ("verify", verify.verify),
    ("replay", replay.replay),
):
    app.command(name, epilog=EPILOG)(budgeted(command, name))


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"mmaproof {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with one of `ExitCode`.

    Parameters
    ----------
    arguments : sequence of str, optional
        Instead of ``sys.argv[1:]``.
    """
    sys.exit(status(sys.argv[1:] if arguments is None else arguments))


def status(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit status.

    Typer's own main function is left out: it ends on some exceptions, and prints others, before they can be
    told apart.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal without ∀ is no reason to stop
    try:
        with typer.main.get_command(app).make_context("mmaproof", list(arguments)) as context:
            ending = context.command.invoke(context)
        sys.stdout.flush()
    except BaseException as reason:
        return ended(reason, arguments)
    return int(ending or 0)
