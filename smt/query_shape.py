"""What a query says apart from the names in it: queries of one shape are answered alike."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

_DECLARED = re.compile(r"^\(declare-fun (\|[^|]*\||\S+) (.*)\)$", re.MULTILINE)
_CUT = r"\(\(_ extract (\d+) (\d+)\) (\|[^|]*\||[^\s()]+)\)"
_TERM = re.compile(rf"{_CUT}|\|[^|]*\||[^\s()|]+")


def shape(script: str) -> str:
    """Return a script with numbers for the names of its constants and functions, in order of appearance.

    A constant of which only cuts occur, no two of which overlap, is as many constants. Then every query of
    one shape is the shape itself with other names: none of them is satisfiable, or each.

    Parameters
    ----------
    script : str
        Declarations, and after them assertions, as `smtlib.script` writes them.
    """
    sorts = dict(_DECLARED.findall(script))
    body = script[script.find("(assert") :]
    pieces = _constants_in_pieces(body, sorts)
    numbers: dict[tuple[str, ...], str] = {}
    declared: list[str] = []

    def numbered(identity: tuple[str, ...], sort: str) -> str:
        if identity not in numbers:
            numbers[identity] = f"name!{len(numbers)}"
            declared.append(sort)
        return numbers[identity]

    def replaced(match: re.Match[str]) -> str:
        high, low, cut = match.groups()
        if cut is None:
            name = match[0]
            return numbered((name,), sorts[name]) if name in sorts else name
        if cut in pieces:
            return numbered((cut, high, low), f"cut of {int(high) - int(low) + 1}")
        whole = numbered((cut,), sorts[cut]) if cut in sorts else cut
        return f"((_ extract {high} {low}) {whole})"

    text = _TERM.sub(replaced, body)
    return "\n".join([*declared, text])


def _constants_in_pieces(body: str, names: Iterable[str]) -> set[str]:
    """Return the names of constants of which only cuts occur that do not overlap."""
    cuts: dict[str, set[tuple[int, int]]] = {}
    whole = set()
    for match in _TERM.finditer(body):
        high, low, cut = match.groups()
        if cut is None:
            whole.add(match[0])
        else:
            cuts.setdefault(cut, set()).add((int(low), int(high)))
    return {name for name in names if name in cuts and name not in whole and not _overlap(sorted(cuts[name]))}


def _overlap(ordered: list[tuple[int, int]]) -> bool:
    return any(high >= low for (_, high), (low, _) in pairwise(ordered))
