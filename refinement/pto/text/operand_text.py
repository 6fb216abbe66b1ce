"""Operands and attributes of statements that the spec keeps as text: ``ins(…) outs(…) {…}``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ....spec.pto.text.module import Other
from .errors import illegal

_VALUE = re.compile(r"%(?:[\w$.]|-(?!>))+(?:#\d+)?|-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b", re.ASCII)
_ATTRIBUTE = re.compile(r"([\w.$]+)\s*=\s*(#?[^,{}]*(?:<[^<>]*>)?)", re.ASCII)
_PAIRS = {"(": ")", "{": "}", "[": "]", "<": ">"}


@dataclass(frozen=True)
class OperandText:
    """The operand text of an operation.

    Attributes
    ----------
    inputs, outputs : tuple of str
        The values of ``ins`` and ``outs``.
    types : tuple of str
        The types of the inputs, as written.
    attributes : tuple of (str, str)
        Those behind the operands and behind an operand.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    types: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...]

    def attribute(self, name: str) -> str | None:
        """Return an attribute, as written."""
        return next((value for key, value in self.attributes if key == name), None)


def text_of(statement: Other) -> str:
    """Return what stands behind the name of an operation without regions."""
    return " ".join(piece for piece in statement.pieces if isinstance(piece, str))


def values_of(text: str) -> tuple[str, ...]:
    """Return the values and literals in front of a type."""
    return tuple(_VALUE.findall(_without_groups(text.partition(" : ")[0])))


def operand_text(statement: Other) -> OperandText:
    """Take the operands of a statement in destination passing style apart.

    Raises
    ------
    EndedError
        If it has no ``ins`` and ``outs``.
    """
    text = text_of(statement)
    groups: dict[str, str] = {}
    rest = text
    for name in ("ins", "outs"):
        found = re.search(rf"\b{name}\s*\(", rest)
        if found is None:
            continue
        end = _closing(rest, found.end() - 1)
        groups[name] = rest[found.end() : end]
        rest = rest[: found.start()] + rest[end + 1 :]
    if "outs" not in groups:
        raise illegal(f"{statement.name} without outs(…)")
    inputs = groups.get("ins", "")
    _, _, types = inputs.partition(" : ")
    behind = "".join(re.findall(r"\{.*\}", rest))
    within = "".join(re.findall(r"\{[^{}]*\}", inputs))
    return OperandText(
        values_of(inputs),
        values_of(groups["outs"]),
        tuple(each.strip() for each in _split(types)),
        (*_attributes(within), *_attributes(behind)),
    )


def _attributes(text: str) -> list[tuple[str, str]]:
    """Return the attributes of a dictionary, those of dictionaries inside it left out."""
    inner = text.strip()
    if not inner:
        return []
    return [(key, value.strip()) for key, value in _ATTRIBUTE.findall(_without_inner(inner[1:-1]))]


def _without_inner(text: str) -> str:
    found, depth = "", 0
    for letter in text:
        depth += letter in "{["
        if not depth:
            found += letter
        depth -= letter in "}]"
    return found


def _without_groups(text: str) -> str:
    """Return a text without what stands in braces."""
    return re.sub(r"\{[^{}]*\}", "", text)


def _closing(text: str, opening: int) -> int:
    """Return where the bracket that opens somewhere is closed; arrows are no brackets."""
    stack = []
    for at in range(opening, len(text)):
        letter = text[at]
        if letter in _PAIRS:
            stack.append(_PAIRS[letter])
        elif stack and letter == stack[-1] and not (letter == ">" and text[at - 1] == "-"):
            stack.pop()
            if not stack:
                return at
    raise illegal(f"a bracket that is not closed in {text[:60]!r}")


def _split(text: str) -> list[str]:
    """Split a text at commas that are in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += letter in _PAIRS
        depth -= letter in _PAIRS.values()
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts if text.strip() else []
