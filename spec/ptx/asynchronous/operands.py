"""Operands of asynchronous instructions as they are written: also tensor maps with coordinates, and pairs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ...errors import InputError
from ..assembly import read_operand
from ..operands import Address, Operand, Register, Vector
from ..scalar.operands import read_operands as read_list

_TENSOR = re.compile(r"\s*\[\s*([^,{}\[\]]+?)\s*,\s*(\{[^{}]*\})\s*\]\s*")
_SPLIT = re.compile(r",(?![^\[{]*[\]}])")


@dataclass(frozen=True)
class TensorPlace:
    """A tensor map and the coordinates of a box: ``[map, {c0, c1}]``.

    Attributes
    ----------
    address : Address
        Where the map is.
    coordinates : Vector
        The first element of the box, along the dimension of neighbours first.
    """

    address: Address
    coordinates: Vector

    def __str__(self) -> str:
        return f"[{str(self.address)[1:-1]}, {self.coordinates}]"


@dataclass(frozen=True)
class Elected:
    """A pair of results: ``%r1|%p1``.

    Attributes
    ----------
    first, second : Operand
        The register, or ``_``, and the predicate.
    """

    first: Operand
    second: Operand

    def __str__(self) -> str:
        return f"{self.first}|{self.second}"


@dataclass(frozen=True)
class NegatedPlace:
    """A predicate that is written negated, which none of these instructions takes.

    Attributes
    ----------
    operand : Operand
        The predicate.
    """

    operand: Operand

    def __str__(self) -> str:
        return f"!{self.operand}"


@dataclass(frozen=True)
class Offset:
    """A variable or register with an offset, without brackets: ``tile+16``.

    Attributes
    ----------
    base : Register
        What the offset is from.
    bytes : int
        The offset.
    """

    base: Register
    bytes: int

    def __str__(self) -> str:
        return f"{self.base}+{self.bytes}"


Given = Operand | TensorPlace | Elected | NegatedPlace | Offset
"""An operand of the text."""


def read_operands(text: str, declarations: Mapping[str, str]) -> tuple[Given, ...] | None:
    """Read what stands behind a mnemonic; None where that is nothing.

    Raises
    ------
    InputError
        If it is no list of operands.
    """
    text = text.strip().removesuffix(";").strip()
    if not text:
        return None
    if ";" in text:
        raise InputError("one instruction is expected, not several")
    return tuple(_read(part, declarations) for part in _parts(text))


def _parts(text: str) -> list[str]:
    """Split at the commas outside of brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += {"{": 1, "[": 1, "(": 1, "}": -1, "]": -1, ")": -1}.get(character, 0)
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _read(text: str, declarations: Mapping[str, str]) -> Given:
    if tensor := _TENSOR.fullmatch(text):
        address, coordinates = (read_operand(part, declarations) for part in (f"[{tensor[1]}]", tensor[2]))
        assert isinstance(address, Address) and isinstance(coordinates, Vector)
        return TensorPlace(address, coordinates)
    if re.fullmatch(r"\s*[A-Za-z_$%][\w$]*\s*\+\s*[\w]+\s*", text, re.ASCII):
        moved = read_operand(f"[{text.strip()}]", declarations)
        if isinstance(moved, Address) and isinstance(moved.base, Register):
            return Offset(moved.base, moved.offset)
    (written,) = read_list(text, declarations) or (None,)
    if written is None:
        raise InputError("an operand is expected between two commas")
    if written.second is not None:
        return Elected(written.operand, written.second)
    return NegatedPlace(written.operand) if written.negated else written.operand
