"""What the names in an instruction were declared as: ``%r<10>:b32, %p1:pred, tile:shared``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from ..errors import InputError
from .operands import UNDECLARED
from .special_registers import PREDEFINED

SPACES = ("shared", "global", "const", "local", "param")
"""State spaces of variables."""

TYPES = (
    *(f"{sort}{bits}" for sort in "bus" for bits in (8, 16, 32, 64)), "b128", "f16", "f16x2", "bf16",
    "bf16x2", "f32", "f64", "pred",
)  # fmt: skip
"""Types of registers."""

_ONE = re.compile(
    r"\s*(?P<name>(?:[A-Za-z_$]|%[\w$])[\w$]*)\s*(?:<\s*(?P<count>\d{1,9})\s*>)?"
    r"\s*:\s*\.?(?P<type>(?:v[248]\.)?\w+)\s*",
    re.ASCII,
)
_NUMBERED = re.compile(r"(.*?)(0|[1-9]\d{0,8})", re.ASCII)


class Declarations(Mapping[str, str]):
    """The types of all names there are; a name that is not declared has the type `UNDECLARED`.

    Parameters
    ----------
    names : mapping of str to str
        Types of registers, ``.shared`` and the like of variables.
    ranges : mapping of str to (int, str)
        Count and type of numbered registers by prefix: ``%r<10>`` is ``%r0`` to ``%r9``.
    """

    def __init__(self, names: Mapping[str, str], ranges: Mapping[str, tuple[int, str]]) -> None:
        self._names, self._ranges = names, ranges

    def __getitem__(self, name: str) -> str:
        if name in self._names:
            return self._names[name]
        match = _NUMBERED.fullmatch(name)
        count, declared = self._ranges.get(match[1], (0, "")) if match else (0, "")
        if match and int(match[2]) < count:
            return declared
        vector, _, component = name.rpartition(".")
        if component and self._names.get(vector, "").startswith("v"):
            return self._names[vector].partition(".")[2]
        return PREDEFINED.get(name, UNDECLARED)

    def __iter__(self) -> Iterator[str]:
        yield from self._names
        yield from (f"{prefix}{n}" for prefix, (count, _) in self._ranges.items() for n in range(count))

    def __len__(self) -> int:
        return len(self._names) + sum(count for count, _ in self._ranges.values())


@lru_cache(maxsize=16)  # the instructions of a text have the same
def read_declarations(text: str) -> Declarations:
    """Read ``NAME:TYPE`` or ``NAME<COUNT>:TYPE``, with commas between them.

    A type is that of a register (``b32``, ``pred``, ``v4.b32``) or the state space of a variable
    (``shared``).

    Raises
    ------
    InputError
        If one is something else, or a name is declared twice.
    """
    names: dict[str, str] = {}
    ranges: dict[str, tuple[int, str]] = {}
    for each in filter(str.strip, text.split(",")):
        match = _ONE.fullmatch(each)
        if match is None:
            raise InputError(f"a declaration is NAME:TYPE or NAME<COUNT>:TYPE, not {each.strip()[:60]!r}")
        name, declared = match["name"], match["type"]
        if declared in SPACES:
            declared = f".{declared}"
        elif declared.rpartition(".")[2] not in TYPES:
            allowed = ", ".join((*TYPES, *SPACES))
            raise InputError(f"{name} has the unknown type {declared[:20]!r}; allowed: {allowed}")
        if name in names or name in ranges:
            raise InputError(f"{name} is declared twice")
        if match["count"] is None:
            names[name] = declared
        elif declared.startswith("."):
            raise InputError(f"{name}<{match['count']}>: only registers are numbered")
        else:
            ranges[name] = int(match["count"]), declared
    return Declarations(names, ranges)
