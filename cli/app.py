"""The command ``mmaproof``: its sub-commands, and how every error ends."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import partial
from importlib import import_module
from typing import Annotated, NoReturn

import typer

from ..version import __version__
from . import completion
from .budget import budgeted
from .endings import ended
from .exit_codes import EPILOG

WELCOME = f"""\
mmaproof {__version__}: proved semantics of matrix-multiply instructions, and a verifier of kernels.

  mmaproof check power                        prove the theorems on Power's instructions; default: all
  mmaproof legal "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" --target sm_80
  mmaproof explain m16n8k16                   what an instruction, rule, theorem or finding means
  mmaproof layout xvi8ger4pp --operand acc    which register bits hold which element
  mmaproof contract KERNEL > C.toml           draft a contract to complete, and then
  mmaproof verify KERNEL --contract C.toml    verify that the kernel computes it, for all data
  mmaproof examples DIR                       copy example kernels, contracts and tables
  mmaproof --help                             every command
"""
"""What the command says of itself when it is asked nothing."""

COMMANDS = {
    "check": "check.check",
    "list": "browse.list_catalogue",
    "explain": "browse.explain",
    "export": "browse.export",
    "legal": "legality.legal",
    "tables": "legality.tables",
    "gate": "gate.gate",
    "layout": "layout.layout",
    "run": "execute.run",
    "contract": "contract.contract",
    "verify": "verify.verify",
    "recheck": "recheck.recheck",
    "replay": "replay.replay",
    "torch": "torch_module.torch",
    "examples": "examples.examples",
    "site": "site.site",
}
"""Where each command is: the modules of the others are not imported for it."""


def command_line(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """Return the command line with some of its commands, by default all."""
    app = typer.Typer(
        help="Formal specification and symbolic verifier of matrix-multiply instructions.",
        epilog=EPILOG,
        rich_markup_mode=None,  # Rich help costs a tenth of a second
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_options)
    for name in names:
        module, _, function = COMMANDS[name].partition(".")
        command = getattr(import_module(f".{module}", __package__), function)
        app.command(name, epilog=EPILOG)(budgeted(command, name))
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"mmaproof {__version__}")
        raise typer.Exit


def _print_report(wanted: bool) -> None:
    if wanted:
        from .environment import report_lines
        from .output import say_lines

        say_lines(report_lines())
        raise typer.Exit


def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    report: Annotated[
        bool,
        typer.Option(
            "--report",
            callback=_print_report,
            is_eager=True,
            help="Print what a report of a defect needs: versions, programs, the cache.",
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(WELCOME, end="")


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
        if completion.is_asked(arguments):
            completion.complete(arguments, partial(command_line(), prog_name="mmaproof"))
            return 0
        app = command_line(arguments[:1] if arguments[:1] and arguments[0] in COMMANDS else COMMANDS)
        with typer.main.get_command(app).make_context("mmaproof", list(arguments)) as context:
            ending = context.command.invoke(context)
        sys.stdout.flush()
    except BaseException as reason:
        return ended(reason, arguments)
    return int(ending or 0)
