"""Completion of commands and options by a shell: what Typer does, for a shell that is named or detected."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress

from ..spec.errors import InputError

VARIABLE = "_MMAPROOF_COMPLETE"
"""The variable by which a shell asks for completions, and reads what is printed."""

OPTIONS = ("--install-completion", "--show-completion")
"""How completion is installed; Typer then ends the process."""

SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")
"""The shells that Typer knows."""

_NAMED = "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION"
"""With it, Typer takes the shell's name as an argument, and detects none."""


def is_asked(arguments: Sequence[str]) -> bool:
    """Whether a command line is about completion."""
    return VARIABLE in os.environ or (bool(arguments) and arguments[0] in OPTIONS)


def complete(arguments: Sequence[str], command: Callable[[list[str]], object]) -> None:
    """Print completions, or print or install the script by which a shell asks for them.

    Parameters
    ----------
    arguments : sequence of str
        The command line: an option, and a shell's name where it is not to be detected.
    command : callable
        Typer's command line.

    Raises
    ------
    InputError
        If the shell is none that is known, or none is found.
    """
    given = list(arguments)
    if VARIABLE not in os.environ:
        os.environ[_NAMED] = "1"
        given = [arguments[0], arguments[1] if len(arguments) > 1 else _detected(arguments[0])]
        if given[1] not in SHELLS:
            raise InputError(f"no completion for the shell {given[1]!r}; allowed: {', '.join(SHELLS)}")
    with suppress(SystemExit):
        command(given)


def _detected(option: str) -> str:
    """Return the name of the shell that started this process."""
    import shellingham

    try:
        return str(shellingham.detect_shell()[0])
    except shellingham.ShellDetectionFailure:
        raise InputError(
            f"no shell started this process; name one: mmaproof {option} {'|'.join(SHELLS)}"
        ) from None
