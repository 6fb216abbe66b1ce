"""Demangled names of C++ kernels."""

from __future__ import annotations

from functools import cache

LONGEST = 120
"""Letters of a name that a message shows."""


@cache
def demangled(name: str) -> str:
    """Return a C++ name as it was written, cut where it is long; another name as it is."""
    return cut(_as_written(name))


@cache
def variable(name: str) -> str:
    """Return the name of a variable as a message shows it, without the arguments of the function it is in."""
    written = _as_written(name)
    if written == name:
        return name
    *functions, own = _split(written, ":")[::2]
    scopes = [_split(_split(scope, "(")[0], " ")[-1] for scope in functions]
    return cut("::".join([*filter(None, scopes), own]))


def spellings(name: str) -> frozenset[str]:
    """Return how a kernel may be named: as in the file, as written, and without arguments and templates."""
    written = _as_written(name)
    if written == name:
        return frozenset({name})
    called = _split(_split(written, "(")[0], " ")[-1]
    plain = _split(called, "<")[0]
    return frozenset({name, written, called, plain, plain.split("::")[-1]})


def argument_types(name: str) -> tuple[str, ...]:
    """Return the types of a C++ function's arguments as they were written, none where the name tells none."""
    written = _as_written(name)
    parts = _split(written, "(")
    if written == name or len(parts) < 2:
        return ()
    return tuple(each.strip() for each in _split(parts[-1].rstrip(")"), ","))


def cut(name: str) -> str:
    """Return a name that a line has room for."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def _as_written(name: str) -> str:
    if not name.startswith("_Z"):
        return name
    try:
        import cxxfilt
    except ImportError:  # it needs the C++ library of the system
        return name
    try:
        return str(cxxfilt.demangle(name))
    except cxxfilt.Error:
        return name


def _split(text: str, mark: str) -> list[str]:
    """Split a text at a letter, where it stands outside of brackets."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        if letter == mark and not depth and not text.startswith("(anonymous namespace)", place):
            parts.append(text[start:place])
            start = place + 1
        elif letter in "<(":
            depth += 1
        elif letter in ">)":
            depth -= 1
    return [*parts, text[start:]]
