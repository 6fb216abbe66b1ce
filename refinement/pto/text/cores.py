"""The cube core and the vector core of a block: which code is for which.

Code is for a core by the kind of its function, or by its section; each core runs all the rest too.
Source: PTO IR manual (kernel_kind, section.cube, section.vector); ptoas, PTOToEmitC.cpp, which puts the code
of either kind between preprocessor conditions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ....spec.pto.text.module import Function, Module, Other
from .operand_text import text_of

_CALLED = re.compile(r'@("?)([\w.$-]+)\1\s*\(([^)]*)\)', re.ASCII)


def called_by(statement: Other) -> tuple[str, list[str]] | None:
    """Return the function that a statement calls, and the names of its arguments; None of no call."""
    if statement.name not in ("func.call", "call"):
        return None
    if (found := _CALLED.search(text_of(statement))) is None:
        return None
    return found[2], [each.strip() for each in found[3].split(",") if each.strip()]


def called_functions(module: Module) -> set[str]:
    """Return the names of the functions that a file calls."""
    others = (node for node in module.walk() if isinstance(node, Other))
    return {found[0] for other in others if (found := called_by(other)) is not None}


CUBE, VECTOR = "cube", "vector"

PEERS = MappingProxyType({CUBE: VECTOR, VECTOR: CUBE})
"""The other core."""

SECTIONS = MappingProxyType({"pto.section.cube": CUBE, "pto.section.vector": VECTOR})
"""Operations whose region only says which core runs it."""

ANY = ""
"""In place of a core: the only one that runs."""

_KIND = re.compile(r"kernel_kind<\s*(\w+)\s*>|kernel_kind\s+(\w+)", re.ASCII)


def kind_of(function: Function) -> str | None:
    """Return the core that a function is declared to run on, if it is."""
    for name, value in function.attributes:
        if name == "pto.kernel_kind" and (found := _KIND.search(value)) is not None:
            return str(found[1] or found[2])
    return None


def cores_of(function: Function, functions: Mapping[str, Function]) -> tuple[str, ...]:
    """Return the cores that a function runs on: both, if it has code for each of them, or calls it."""
    kinds = set(_kinds(function, functions, set()))
    return (CUBE, VECTOR) if {CUBE, VECTOR} <= kinds else (kind_of(function) or ANY,)


def _kinds(function: Function, functions: Mapping[str, Function], seen: set[str]) -> Iterator[str]:
    """Yield the cores that code of a function, or of one it calls, is for."""
    if function.name in seen or function.body is None:
        return
    seen.add(function.name)
    if (kind := kind_of(function)) is not None:
        yield kind
        return  # all of it is for this core, whatever it calls
    for statement in function.body.walk():
        if not isinstance(statement, Other):
            continue
        if statement.name in SECTIONS:
            yield SECTIONS[statement.name]
        elif (called := called_by(statement)) is not None and called[0] in functions:
            yield from _kinds(functions[called[0]], functions, seen)
