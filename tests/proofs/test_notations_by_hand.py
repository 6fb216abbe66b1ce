"""Verdicts of listed layouts, found once more by evaluating every notation in a few lines.

Nothing of the specification's readers, nor of the catalogue's formulas, is used: the digits of a coordinate
times their strides (CuTe), the xor of the vectors of a number's bits (Triton), and what rows say.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from collections import Counter
from itertools import product
from math import prod
from typing import Any, NamedTuple

import pytest

from mmaproof.proofs.stated import notations as stated

Place = tuple[int, ...]
Map = dict[tuple[int, int], Place]
"""Coordinates, by the owner and which one of its elements it is."""


class Reading(NamedTuple):
    """What is due, of which extents, and how many owners have how many elements."""

    due: Map
    extents: Place
    owners: int
    numbers: int


def reading(due: Map) -> Reading:
    owners, numbers = (max(at[place] for at in due) + 1 for place in (0, 1))
    rank = len(due[0, 0])
    return Reading(due, tuple(max(x[i] for x in due.values()) + 1 for i in range(rank)), owners, numbers)


def readings(operand: str) -> list[Reading]:
    """Return what an operand's owners hold, in all the ways that the documentation of notations names."""
    lanes = range(32)
    match operand:
        case "a":
            due = {(t, i): (t // 4 + i // 2 % 2 * 8, t % 4 * 2 + i % 2 + i // 4 * 8)
                   for t, i in product(lanes, range(8))}  # fmt: skip
        case "b":
            due = {(t, i): (t % 4 * 2 + i % 2 + i // 2 * 8, t // 4) for t, i in product(lanes, range(4))}
        case "c" | "s":
            due = {(t, i): (t // 4 + i // 2 * 8, t % 4 * 2 + i % 2) for t, i in product(lanes, range(4))}
        case "v":
            due = {(t, i): (t, i) for t, i in product(range(4), range(4))}
        case "x":
            due = {(t, i): (i, t) for t, i in product(range(4), range(4))}
        case "t":
            due = {(t, i): (t // 2 * 2 + i // 2, t % 2 * 2 + i % 2) for t, i in product(range(4), range(4))}
        case "u":
            due = {(t, 0): (t % 2, t // 2) for t in range(4)}
        case "o":
            due = {(t, i): (t, i) for t, i in product(range(4), range(4))}
            buffer = {(0, 4 * t + i): place for (t, i), place in due.items()}
            inverse = {place: (4 * t + i,) for (t, i), place in due.items()}
            return [reading(due), reading(buffer), reading(inverse)]  # type: ignore[arg-type]
        case "k":
            due = {(t, i): (t // 4, t % 4, i) for t, i in product(range(8), range(2))}
            alike = {at: place[1:] for at, place in due.items()}
            spread = {(t, e): (t % 4, e) for t, e in product(range(8), range(8))}
            return [reading(each) for each in (due, alike, spread)]
        case "w":
            due = {(t, i): (t // 4, t % 4, i) for t, i in product(range(16), range(4))}
            alike = {at: place[1:] for at, place in due.items()}
            group = {(t, i): place for (t, i), place in alike.items() if t < 4}
            return [reading(each) for each in (due, alike, group)]
    found = [reading(due)]
    if operand == "s":  # every other element of K is stored
        found.append(
            reading({(t, 2 * i + e): (x, 2 * y + e) for (t, i), (x, y) in due.items() for e in (0, 1)})
        )
    return found


# -- the notations
def digits(shape: Any, stride: Any) -> list[tuple[int, int]] | None:
    """Return extents and steps, the fastest first; None if they are not nested alike."""
    if isinstance(shape, int) or isinstance(stride, int):
        return [(shape, stride)] if isinstance(shape, int) and isinstance(stride, int) else None
    if len(shape) != len(stride):
        return None
    parts = [digits(x, y) for x, y in zip(shape, stride, strict=True)]
    return None if None in parts else [leaf for part in parts if part for leaf in part]


def of_strides(operand: str, text: str, due: Reading) -> list[tuple[tuple[int, int], Place]] | str:
    """Return what a CuTe layout maps to: rows count first, of B columns, and further coordinates last."""
    shape, stride = map(ast.literal_eval, re.sub(r"\s|Int<|>\{\}", "", text).split(":"))
    modes = [digits(x, y) for x, y in zip(shape, stride, strict=True)]
    if None in modes:
        return "incongruent"
    if tuple(prod(extent for extent, _ in mode or ()) for mode in modes) != (due.owners, due.numbers):
        return "wrong-size"
    rank = len(due.extents)
    order = [*((1, 0) if operand in "bx" else range(max(0, rank - 2), rank)), *range(rank - 2)][:rank]
    found = []
    for at in due.due:
        index = 0
        for coordinate, mode in zip(at, modes, strict=True):
            rest = coordinate
            for extent, step in mode or ():
                rest, digit = divmod(rest, extent)
                index += digit * step
        place = [0] * rank
        for axis in order[:-1]:
            index, place[axis] = divmod(index, due.extents[axis])
        place[order[-1]] = index
        found.append((at, tuple(place)))
    return found


def of_vectors(text: str, due: Reading) -> str:
    """Return what vectors are: whatever lies beyond the instruction's holders must repeat its tile whole."""
    bases = json.loads(re.sub(r"(\w+):", r'"\1":', text))
    owners = bases.pop("lane", None) or bases.pop("thread", None) or []
    numbers = bases.pop(next(name for name in ("register", "offset", "element") if name in bases))
    inner = due.numbers.bit_length() - 1
    vectors = [*numbers, *owners, *(vector for basis in bases.values() for vector in basis)]
    if 1 << len(owners) != due.owners or len(numbers) < inner or len(vectors[0]) != len(due.extents):
        return "wrong-size"
    outer = [*numbers[inner:], *(vector for basis in bases.values() for vector in basis)]

    def image(number: int, basis: list[list[int]]) -> Place:
        place = [0] * len(due.extents)
        for bit, vector in enumerate(basis):
            place = [x ^ y * (number >> bit & 1) for x, y in zip(place, vector, strict=True)]
        return tuple(place)

    if not outer:
        held = {(t, i): image(i | t << inner, [*numbers, *owners]) for t, i in due.due}
        return judged([*held.items()], due)
    count, whole = Counter[Place](), True
    for beyond in range(1 << len(outer)):
        tile = image(beyond, outer)
        whole &= all(x % extent == 0 for x, extent in zip(tile, due.extents, strict=True))
        for (t, i), place in due.due.items():
            here = image(i | t << inner | beyond << inner + len(owners), [*numbers[:inner], *owners, *outer])
            whole &= here == tuple(x + y for x, y in zip(place, tile, strict=True))
            count[here] += 1
    return "equal" if whole else "other-bijection" if len({*count.values()}) == 1 else "collision"


def of_rows(text: str) -> list[tuple[tuple[int, int], Place]]:
    """Return what a table lists: holders, and then coordinates."""
    if text[0] in "[{":
        entries = json.loads(text)
        rows = [[*row.values()] for row in (entries["elements"] if isinstance(entries, dict) else entries)]
    else:
        rows = [[*map(int, row)] for row in [*csv.reader(io.StringIO(text))][1:]]
    return [((0,) * (4 - len(row)) + tuple(row[:-2]), tuple(row[-2:])) for row in rows]  # type: ignore[misc]


def judged(claimed: list[tuple[tuple[int, int], Place]], due: Reading) -> str:
    """Return the first verdict that applies."""
    within = (0 <= x < extent for _, place in claimed for x, extent in zip(place, due.extents, strict=True))
    if not all(at in due.due for at, _ in claimed) or not all(within):
        return "out-of-range"
    held, wanted = (Counter(places) for places in ([x for _, x in claimed], due.due.values()))
    if held - wanted:
        return "collision"
    if wanted - held:
        return "gap"
    return "equal" if dict(claimed) == due.due else "other-bijection"


def braced(text: str) -> str:
    """Return printed vectors as those in braces, rows first: of dimensions 0 and 1 or of these names."""
    bases: dict[str, list[list[int]]] = {}
    columns_first = re.search(r"\[(dim1|column) ", text) is not None
    for holder, *place in re.findall(r"(\w+)=\d+ -> \((\d+), (\d+)\)", text):
        bases.setdefault(holder, []).append([*map(int, place)][:: -1 if columns_first else 1])
    return "{" + ", ".join(f"{holder}: {basis}" for holder, basis in bases.items()) + "}"


def verdicts(operand: str, text: str) -> set[str]:
    """Return what a layout is in each way to read its operand that has its size."""
    found = set()
    text = braced(text) if "->" in text else text
    for due in readings(operand):
        if re.match(r"\{\w+:", text):
            found.add(of_vectors(text, due))
            continue
        claimed = of_strides(operand, text, due) if text[0] == "(" else of_rows(text)
        found.add(claimed if isinstance(claimed, str) else judged(claimed, due))
    return {"equal"} if "equal" in found else found - {"wrong-size"} or found


SAID = {(operand, text): verdict for operand, text, verdict, _ in stated.SAID}


@pytest.mark.parametrize("operand", sorted({operand for operand, _ in SAID}))
def test_a_listed_verdict_is_that_of_the_notation(operand: str) -> None:
    wrong = {
        text: (said, found)
        for (name, text), said in SAID.items()
        if name == operand and said not in (found := verdicts(operand, text))
    }
    assert wrong == {}


@pytest.mark.parametrize("operand", sorted(stated.STRIDES))
def test_the_listed_strides_are_those_of_what_is_held(operand: str) -> None:
    assert verdicts(operand, stated.STRIDES[operand]) == {"equal"}


@pytest.mark.parametrize("operand", sorted(stated.VECTORS))
def test_the_listed_vectors_are_those_of_what_is_held(operand: str) -> None:
    due, *_ = readings(operand)
    numbers, owners = stated.VECTORS[operand].values()
    assert (due.owners, due.numbers, due.extents) == (
        1 << len(owners), 1 << len(numbers), stated.EXTENTS[operand],
    )  # fmt: skip
    assert all(due.due[0, 1 << bit] == tuple(vector) for bit, vector in enumerate(numbers))
    assert all(due.due[1 << bit, 0] == tuple(vector) for bit, vector in enumerate(owners))


def test_the_evaluation_tells_layouts_apart() -> None:
    assert {verdict for _, text in SAID for verdict in verdicts("c", text) if text[0] == "("} >= {
        "equal", "incongruent", "wrong-size", "out-of-range",
    }  # fmt: skip
    assert verdicts("c", "((4,8),(2,2)):((32,2),(16,8))") == {"out-of-range"}
    assert verdicts("c", "((4,8),(2,2)):((32,1),(8,16))") == {"other-bijection"}
    assert verdicts("c", "((4,8),(2,2)):((32,1),(16,0))") == {"collision"}
