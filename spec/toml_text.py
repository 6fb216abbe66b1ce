"""TOML from outside: read by the standard library, its errors with file and line."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from .errors import InputError

_SYNTAX = re.compile(r"^(.*?) \(at (?:line (\d+), column (\d+)|end of document)\)$", re.DOTALL)


def parse_toml(text: str, file: str) -> dict[str, Any]:
    """Read TOML text.

    Parameters
    ----------
    text : str
        The text.
    file : str
        Where it is from, for errors.

    Raises
    ------
    InputError
        If it is not TOML, nested too deeply or has a number that is too long; it names the line.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(str(error), file) from None
    except (RecursionError, ValueError):  # nesting, and integers of thousands of digits
        raise InputError("is nested too deeply, or has a number that is too long", file) from None


def _syntax_error(message: str, file: str) -> InputError:
    match = _SYNTAX.match(message)
    if match is None or match[2] is None:
        return InputError(f"is no TOML: {message}", file)
    return InputError(f"column {match[3]}: {match[1]}", f"{file}:{match[2]}")
