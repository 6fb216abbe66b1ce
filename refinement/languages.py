"""The languages of which kernels can be verified."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import cast

from ..spec.errors import UnsupportedError

LANGUAGES = MappingProxyType({"ptx": ".ptx", "power": ".power", "pto": ".pto"})
"""The package of each."""


def front_end(isa: str) -> ModuleType:
    """Return the front end of a language, in which its `read_kernel` is.

    Raises
    ------
    UnsupportedError
        If there is none.
    """
    return _module(isa, "front_end")


def language_of(path: Path) -> str:
    """Return the language of a file, by its name; PTX where that says nothing."""
    return path.suffix[1:].lower() if path.suffix[1:].lower() in LANGUAGES else "ptx"


def opcode_rows(isa: str) -> list[dict[str, str]]:
    """Return one row for each opcode of a language: whether kernels with it can be verified.

    Raises
    ------
    UnsupportedError
        If there is no front end for the language.
    """
    return cast(list[dict[str, str]], _module(isa, "opcodes").opcode_rows())


def _module(isa: str, name: str) -> ModuleType:
    if isa not in LANGUAGES:
        raise UnsupportedError(f"kernels of {isa} are not supported; these are: {', '.join(LANGUAGES)}")
    return import_module(f"{LANGUAGES[isa]}.{name}", __package__)
