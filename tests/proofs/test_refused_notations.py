"""What is listed as no layout, found once more by reading every notation in a few lines.

Nothing of the specification's readers is used: docs/layout-notations.md and the sizes that the listed layouts
stay within on both sides say what is a layout.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from math import prod
from typing import Any

import pytest

from mmaproof.proofs.stated import notations as stated

ELEMENTS, STEP, LARGEST, DEPTH = 1 << 20, 1 << 31, (1 << 31) - 1, 16
"""The most elements, the farthest step, the largest number of a row, and the brackets inside each other."""

OF_A_BUFFER = {"o"}


class Refusal(Exception):
    """Why a text is no layout."""


def require(holds: bool, reason: str) -> None:
    if not holds:
        raise Refusal(reason)


# -- shapes and strides
def nested(text: str) -> list[Any] | int:
    """Read integers in brackets, the whole text."""
    tokens = re.findall(r"-?\d+|[(),]|\S", text)

    def value(depth: int) -> list[Any] | int:
        require(bool(tokens), "the text ends early")
        first = tokens.pop(0)
        if first != "(":
            require(re.fullmatch(r"-?\d+", first) is not None, f"{first} is no integer")
            return int(first)
        require(depth < DEPTH, "too many brackets")
        members = [value(depth + 1)]
        while tokens and tokens[0] == ",":
            tokens.pop(0)
            members.append(value(depth + 1))
        require(bool(tokens) and tokens.pop(0) == ")", "a bracket is not closed")
        return members

    found = value(0)
    require(not tokens, "something follows")
    return found


def leaves(value: list[Any] | int) -> Iterator[int]:
    if isinstance(value, int):
        yield value
    else:
        for member in value:
            yield from leaves(member)


def read_strides(text: str) -> None:
    require(len(text) <= 10_000, "too long")
    plain = re.sub(r"\s|Int<|>\{\}", "", text)
    require(plain.count(":") == 1, "a shape and a stride")
    shape, stride = map(nested, plain.split(":"))
    for part in (shape, stride):
        require(isinstance(part, list) and len(part) == 2, "two coordinates: who holds, and which")
    require(all(extent > 0 for extent in leaves(shape)), "an extent is positive")
    require(prod(leaves(shape)) <= ELEMENTS, "too many elements")
    require(all(abs(step) <= STEP for step in leaves(stride)), "a step is too far")


# -- vectors
def read_vectors(operand: str, text: str) -> None:
    require(len(text) <= 100_000, "too long")
    bases: dict[str, list[list[int]]] = json.loads(re.sub(r"(\w+):", r'"\1":', text))
    buffer = operand in OF_A_BUFFER
    numbers = {"offset"} if buffer else {"register", "element", "field"}
    owners = set() if buffer else {"lane", "thread"}
    require(set(bases) <= numbers | owners | {"warp", "block", "cta"}, "no such holder")
    require(len(owners & set(bases)) <= 1, "two names of the owners")
    vectors = [vector for basis in bases.values() for vector in basis]
    require({len(vector) for vector in vectors} <= {len(stated.EXTENTS[operand]), 2}, "another rank")
    require(len({len(vector) for vector in vectors}) == 1, "two ranks")
    require(len(vectors) <= 20, "too many elements")
    require(all(0 <= step <= STEP for vector in vectors for step in vector), "a step is too far")


# -- rows
NUMBERS = {"element", "value", "index", "i", "register"}
COLUMNS = {"row", "column", "col"}


def read_rows(operand: str, rows: list[dict[str, str]]) -> None:
    require(bool(rows), "no rows")
    owner = set() if operand in OF_A_BUFFER else {"lane", "thread"}
    number = {"offset"} if operand in OF_A_BUFFER else NUMBERS
    for row in rows:
        require(isinstance(row, dict) and None not in row and None not in row.values(), "as many as the head")
        names = set(row)
        require(names <= owner | number | COLUMNS, "an unknown column")
        require(len(names & number) == 1 and len(names & owner) == bool(owner), "who holds it")
        require("row" in names and bool(names & {"column", "col"}), "where it is")
        for value in row.values():
            require(re.fullmatch(r"-?\d+", str(value)) is not None, f"{value} is no integer")
            require(abs(int(value)) <= LARGEST, "too large")
    holders = [tuple(value for name, value in row.items() if name not in COLUMNS) for row in rows]
    require(len(holders) == len(set(holders)), "a holder is listed twice")


def read(operand: str, text: str) -> None:
    """Read a text in the notation that it begins as."""
    require(bool(text), "nothing")
    if re.match(r"\{\w+:", text):
        read_vectors(operand, text)
    elif re.match(r"\s*- register=", text):
        for holder in ("register", "lane"):
            powers = [int(power) for power in re.findall(rf"{holder}=(\d+)", text)]
            require(powers == [1 << place for place in range(len(powers))], "a power is missing")
    elif text[0] in "({" + "0123456789" and "elements" not in text:
        read_strides(text)
    elif text[0] in "[{":
        try:
            entries = json.loads(text)
        except json.JSONDecodeError:
            raise Refusal("no JSON") from None
        read_rows(operand, entries["elements"] if isinstance(entries, dict) else entries)
    elif "," in text and "\n" in text:
        try:
            read_rows(operand, [*csv.DictReader(io.StringIO(text), strict=True)])
        except csv.Error:
            raise Refusal("no CSV") from None
    else:
        raise Refusal("no notation of registers begins so")


@pytest.mark.parametrize(("operand", "text"), stated.REFUSED)
def test_what_is_listed_as_no_layout_is_none(operand: str, text: str) -> None:
    with pytest.raises(Refusal):
        read(operand, text)


@pytest.mark.parametrize("operand", sorted({operand for operand, *_ in stated.SAID}))
def test_what_is_listed_with_a_verdict_is_a_layout(operand: str) -> None:
    for name, text, *_ in stated.SAID:
        if name == operand:
            read(operand, text)
    if operand in stated.STRIDES:
        read(operand, stated.STRIDES[operand])
