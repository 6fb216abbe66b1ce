"""Shorter forms of formulas: sums and chains over an index, and entries of a table picked by an index.

What the semantics unroll is written with an index again. Each shorter form is checked: its instances are the
terms that it stands for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from .algebra import Array
from .formula import INTEGER, Formula, generalised, instance

LONG = 3
"""A sum or a chain of so many terms is written with an index."""

STATE = Formula("s")
"""What a chain's step makes a new value of."""


def contracted(formula: Formula, letters: str = "knp") -> Formula:
    """Return an equal formula, shorter where it has long sums, chains or tables.

    Parameters
    ----------
    formula : Formula
        What the algebra wrote.
    letters : str
        Names for indices, the innermost first; none that the formula has.
    """
    steps, start = _chain(formula)
    if len(steps) >= LONG:
        steps = [contracted(step, letters) for step in steps]
        if (found := _general(steps, letters)) is not None:
            step, letter = found
            return Formula("fold", (step, STATE, contracted(start, letters), letter, len(steps)))
    parts = [contracted(part, letters) if isinstance(part, Formula) else part for part in formula.parts]
    match formula.head:
        case "+":
            return _sum(parts, letters)
        case "if":
            return _looked_up(*parts)
        case "pack":
            return _packed(parts, letters)
        case _:
            return formula.with_parts(parts)


def _general(instances: Sequence[Formula], letters: str) -> tuple[Formula, Formula] | None:
    """Return the formula with these instances, and the index it has them for."""
    used = set().union(*(each.symbols() for each in instances))
    letter = Formula(next(letter for letter in letters if letter not in used))
    general = generalised(instances, letter)
    if general is None or any(instance(general, letter, n) != each for n, each in enumerate(instances)):
        return None
    return general, letter


def _sum(terms: Sequence[Formula], letters: str) -> Formula:
    """Put runs of terms together that are the instances of one."""
    shorter: list[Formula] = []
    for _, group in groupby(terms, key=_shape):
        run = list(group)
        if _numbers(run[0]) > _numbers(run[-1]):  # exact sums have no order
            run.reverse()
        found = _general(run, letters) if len(run) >= LONG else None
        shorter += run if found is None else [Formula("sum", (*found, len(run)))]
    return shorter[0] if len(shorter) == 1 else Formula("+", tuple(shorter))


def _packed(parts: Sequence[Any], letters: str) -> Formula:
    """Write the fields of a word, the lowest first, as those of an index."""
    width, *fields = parts
    found = _general(fields, letters)
    return (
        Formula("pack", (width, *fields))
        if found is None
        else Formula("fields", (width, *found, len(fields)))
    )


def _numbers(formula: Formula) -> list[int]:
    """Return the integers of a formula, those nearest to its root first."""
    own = [part for part in formula.parts if isinstance(part, int)]
    return own + [number for part in formula.formulas for number in _numbers(part)]


def _shape(formula: Formula) -> object:
    """Return a formula without its integers."""
    return formula.head, *(_shape(part) for part in formula.formulas)


def _looked_up(then: Formula, condition: Formula, otherwise: Formula) -> Formula:
    """Return a table's entry, where a choice is between all the entries by the value of some bits."""
    rest = whole = Formula("if", (then, condition, otherwise))
    selector = condition.parts[0] if condition.head == "=" else None
    if selector is None or selector.head != "bits":
        return whole
    table: dict[int, Formula] = {}
    while rest.head == "if" and rest.parts[1].head == "=":
        entry, (compared, value), rest = rest.parts[0], rest.parts[1].parts, rest.parts[2]
        if compared != selector or value.head != INTEGER:
            return whole
        table.setdefault(value.parts[0], entry)
    entries = [table.get(number, rest) for number in range(1 << selector.parts[2])]
    return generalised(entries, selector) or whole


def _chain(formula: Formula) -> tuple[list[Formula], Formula]:
    """Return the steps of nested calls of one function, the first first, and what they start from.

    In each step the value of the one before is `STATE`.
    """
    steps: list[Formula] = []
    path = _path_to(formula, formula) if formula.head == "call" else None
    if path is None:
        return steps, formula
    shape: object = None
    while formula.head == "call":
        step = _replaced(formula, path)
        if step is None or (steps and _shape(step) != shape):
            break
        shape = shape or _shape(step)
        steps.append(step)
        formula = _at(formula, path)
    return steps[::-1], formula


def _path_to(formula: Formula, like: Formula) -> tuple[int, ...] | None:
    """Return where the nearest call of the same function is inside a formula."""
    level: list[tuple[tuple[int, ...], Formula]] = [((), formula)]
    while level:
        level = [
            ((*path, place), part)
            for path, each in level
            for place, part in enumerate(each.parts)
            if isinstance(part, Formula) and part.head != INTEGER
        ]
        for path, part in level:
            if part.head == "call" and part.parts[0] == like.parts[0]:
                return path
    return None


def _at(formula: Formula, path: Sequence[int]) -> Formula:
    for place in path:
        formula = formula.parts[place]
    return formula


def _replaced(formula: Formula, path: Sequence[int]) -> Formula | None:
    """Return a formula with `STATE` in one place; None if it has no such place."""
    if not path:
        return STATE
    place, *rest = path
    if place >= len(formula.parts) or not isinstance(formula.parts[place], Formula):
        return None
    part = _replaced(formula.parts[place], rest)
    return part and formula.with_parts([*formula.parts[:place], part, *formula.parts[place + 1 :]])


def of_any_length(instances: Mapping[int, Formula], length: Formula) -> Formula | None:
    """Return the formula for every length of a sum or chain, from those for some; None if they differ.

    Parameters
    ----------
    instances : mapping of int to Formula
        Shortened formulas, by the number of terms.
    length : Formula
        What the number is called.
    """
    found = {_with_length(formula, number, length) for number, formula in instances.items()}
    return found.pop() if len(found) == 1 else None


def _with_length(formula: Formula, number: int, length: Formula) -> Formula:
    parts = [
        _with_length(part, number, length) if isinstance(part, Formula) else part for part in formula.parts
    ]
    if formula.head in ("sum", "fold") and parts[-1] == number:
        parts[-1] = length
    return Formula(formula.head, tuple(parts))


def tabulated(table: Array, letters: Sequence[str]) -> Formula:
    """Return the entry of an array of formulas as a function of its indices.

    Parameters
    ----------
    table : array of Formula
        What the entries are; they are shortened.
    letters : sequence of str
        Names of the indices, one for each axis; ``h`` is left for fields of a word.

    Raises
    ------
    ValueError
        If the entries are not those of a function that `generalised` finds.
    """
    entries = [contracted(entry, "h") for entry in table.ravel()]
    for letter, count in zip(reversed(letters), reversed(table.shape), strict=True):
        rows = (entries[start : start + count] for start in range(0, len(entries), count))
        found = [generalised(row, Formula(letter)) for row in rows]
        entries = [entry for entry in found if entry is not None]
        if len(entries) < len(found):
            raise ValueError(f"the entries are no function of {letter}")
    (entry,) = entries
    return entry
