"""The command ``mmaproof``: its sub-commands, and how every error ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from .. import __version__
from ..spec.errors import MmaproofError, UnsupportedError
from . import browse, check, execute, gate, layout, legality, replay, verify
from .exit_codes import BROKEN_PIPE, EPILOG, INTERRUPTED, ExitCode
from .output import error

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
    ("verify", verify.verify),
    ("replay", replay.replay),
):
    app.command(name, epilog=EPILOG)(command)

UsageError: Any = typer.BadParameter.__base__
"""Typer's class of wrong arguments: Click's until 0.2x, its own copy since."""


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
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal without ∀ is no reason to stop
    sys.exit(_status(arguments))


def _status(arguments: Sequence[str] | None) -> int:
    try:
        status = app(args=arguments, prog_name="mmaproof", standalone_mode=False)
        sys.stdout.flush()
    except MmaproofError as reason:
        error(str(reason))
        return ExitCode.UNDECIDED if isinstance(reason, UnsupportedError) else ExitCode.WRONG_USE
    except UsageError as reason:
        context = getattr(reason, "ctx", None)
        command = context.command_path if context else "mmaproof"
        error(f"{reason.format_message()} (see {command} --help)")
        return ExitCode.WRONG_USE
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except (BrokenPipeError, SystemExit):
        _discard_output()  # Typer turns a broken pipe, and nothing else in this mode, into an exit
        return BROKEN_PIPE
    except OSError as reason:
        _discard_output()
        error(str(reason))
        return ExitCode.WRONG_USE
    return _interrupted() if status == INTERRUPTED else int(status or 0)


def _discard_output() -> None:
    """Let what is still buffered for standard output go nowhere."""
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)


def _interrupted() -> int:
    error("interrupted")
    return INTERRUPTED
