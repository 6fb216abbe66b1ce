"""The languages of kernels that can be verified."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import cast

from ...spec.errors import UnsupportedError

LANGUAGES = MappingProxyType({"ptx": "..ptx", "power": "..power", "pto": "..pto"})
"""The package of each."""

_POWER = ("s", "asm", "dis", "o", "so")
"""How files are called that have assembler text or object code."""


def front_end(isa: str) -> ModuleType:
    """Return the front end of a language, in which its `read_kernel` is.

    Raises
    ------
    UnsupportedError
        If there is none.
    """
    return _module(isa, "front_end")


def language_of(path: Path) -> str:
    """Return the language of a file: Power of object files, else by its name; PTX where that says nothing."""
    if path.suffix[1:].lower() in _POWER or _begins_as_object(path):
        return "power"
    return path.suffix[1:].lower() if path.suffix[1:].lower() in LANGUAGES else "ptx"


def _begins_as_object(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return stream.read(4) == b"\x7fELF"
    except OSError:  # for its reader to say
        return False


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
