"""Operands of scalar instructions as they are written, predicates perhaps negated, results paired."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ...errors import InputError
from ..assembly import read_operand
from ..operands import Operand

_BRACKETS = {"{": 1, "[": 1, "(": 1, "}": -1, "]": -1, ")": -1}
_PAIR = re.compile(r"\s*([A-Za-z_$%][\w$]*)\s*\|\s*([A-Za-z_$%][\w$]*)\s*", re.ASCII)


@dataclass(frozen=True)
class Written:
    """An operand of the text.

    Attributes
    ----------
    operand : Operand
        What it is, or the first of a pair.
    second : Operand, optional
        The other result of ``%r1|%p1``.
    negated : bool
        Whether it is a predicate that is read negated, ``!%p1``.
    """

    operand: Operand
    second: Operand | None = None
    negated: bool = False

    def __str__(self) -> str:
        pair = f"|{self.second}" if self.second is not None else ""
        return f"{'!' * self.negated}{self.operand}{pair}"


def read_operands(text: str, declarations: Mapping[str, str]) -> tuple[Written, ...] | None:
    """Read what stands behind a mnemonic; None where that is nothing.

    Raises
    ------
    InputError
        If it is no list of operands.
    """
    text = text.strip().removesuffix(";").strip()
    if ";" in text:
        raise InputError("one instruction is expected, not several")
    return tuple(_written(part, declarations) for part in _split(text)) if text else None


def _split(text: str) -> list[str]:
    parts, depth = [""], 0
    for character in text:
        depth += _BRACKETS.get(character, 0)
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _written(text: str, declarations: Mapping[str, str]) -> Written:
    if pair := _PAIR.fullmatch(text):
        first, second = (read_operand(name, declarations) for name in pair.groups())
        return Written(first, second)
    stripped = text.strip()
    if re.match(r"!\s*[A-Za-z_$%]", stripped):
        return Written(read_operand(stripped[1:], declarations), negated=True)
    return Written(read_operand(text, declarations))
