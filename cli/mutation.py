"""``mmaproof check --mutants``: finds ``tools/mutation``, which is in the source and not installed."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ..spec.errors import InputError
from ..version import __version__
from .exit_codes import ExitCode

if TYPE_CHECKING:
    from ..api.proving import Checking


def check_mutants(
    checking: Checking, number: int, seed: int, json: Path | None, tests: Sequence[Path] = ()
) -> ExitCode:
    """Try a sample of faults on the obligations selected; see `tools.mutation.command`.

    Raises
    ------
    InputError
        If there is no checkout of this version, not so many faults, or no tests can be run.
    """
    root = str(_checkout())
    if root not in sys.path:
        sys.path.insert(0, root)
    code = import_module("tools.mutation.command").check_mutants(checking, number, seed, json, tests)
    return ExitCode(code)


_PLACE = Path(__file__).resolve()


def _checkout() -> Path:
    """Return the root of the source that the package is imported from, or else the working directory."""
    for folder in (*_PLACE.parents, Path.cwd()):
        if (folder / "tools" / "mutation" / "command.py").is_file() and _is_this_version(folder):
            return folder
    raise InputError(
        f"--mutants needs the source of mmaproof {__version__} (tools/ is not installed): run it there"
    )


def _is_this_version(folder: Path) -> bool:
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    except (OSError, ValueError, KeyError):
        return False
    found: object = (project.get("name"), project.get("version"))
    return found == ("mmaproof", __version__)
