"""Formulas: trees of mathematics that are compared and generalised over an index.

`generalised` finds the one formula whose instances a list of formulas are: their integers become functions
of an index.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Formula:
    """A piece of mathematics.

    Attributes
    ----------
    head : str
        The outermost operator; of a symbol, which has no parts, its name.
    parts : tuple of Formula or int
        What it is applied to. An integer that depends on no index, such as a width, is an ``int``.
    """

    head: str
    parts: tuple[Any, ...] = ()

    def __add__(self, other: Formula) -> Formula:
        return self._joined("+", other)

    def __mul__(self, other: Formula) -> Formula:
        return self._joined("·", other)

    def __neg__(self) -> Formula:
        return Formula("−", (self,))

    def __and__(self, other: Any) -> Any:
        if isinstance(other, bool | np.bool_):
            return self if other else other
        return self._joined("∧", other)

    def __or__(self, other: Formula) -> Formula:
        return self._joined("∨", other)

    def __invert__(self) -> Formula:
        return Formula("¬", (self,))

    def _joined(self, head: str, other: Formula) -> Formula:
        """Apply an associative operator."""
        return Formula(
            head,
            tuple(part for side in (self, other) for part in (side.parts if side.head == head else (side,))),
        )

    @property
    def formulas(self) -> Iterator[Formula]:
        """The parts that are formulas."""
        return (part for part in self.parts if isinstance(part, Formula))

    def symbols(self) -> set[str]:
        """Return the names in it."""
        return set().union(*(part.symbols() for part in self.formulas)) if self.parts else {self.head}

    def with_parts(self, parts: Sequence[Any]) -> Formula:
        """Return the operator applied to something else; sums of integers are put together."""
        return integer(parts[0], parts[1:]) if self.head == INTEGER else Formula(self.head, tuple(parts))


INTEGER = "integer"
"""Head of a sum of a constant and `digits`."""


def integer(constant: int | Formula, terms: Sequence[Formula] = ()) -> Formula:
    """Return an integer, or the sum of one and `digits`."""
    if isinstance(constant, Formula):
        constant, *more = constant.parts
        terms = (*more, *terms)
    return Formula(INTEGER, (constant, *sorted(terms, key=_order)))


def _order(term: Formula) -> tuple[int, int]:
    """Order `digits`: the heaviest first, then words in front of letters."""
    weight, base, *_ = term.parts
    return -abs(weight), -len(base.head)


def digits(weight: int, index: Formula, low: int, count: int) -> Formula:
    """Return ``weight·(index div 2**low mod 2**count)``; a negative count stands for all higher digits."""
    return Formula("digits", (weight, index, low, count))


def index(of: int | str | Formula) -> Formula:
    """Return an index: a number, a name, or what an integer is computed by."""
    if isinstance(of, int):
        return integer(of)
    base = Formula(of) if isinstance(of, str) else of
    return base if base.head == INTEGER else integer(0, [digits(1, base, 0, -1)])


def call(name: str, *arguments: Formula) -> Formula:
    """Return the value of a function."""
    return Formula("call", (Formula(name), *arguments))


def element(name: str, *indices: int | str | Formula) -> Formula:
    """Return an element of an array."""
    return Formula("element", (Formula(name), *map(index, indices)))


def bits(word: Formula, low: int | Formula, count: int) -> Formula:
    """Return some neighbouring bits of a word as a number."""
    return Formula("bits", (word, index(low), count))


def learned(values: Sequence[int], variable: Formula) -> Formula | None:
    """Return the function of a variable, linear in its binary digits, with these values from 0 on.

    None if there is none.
    """
    first, width = values[0], (len(values) - 1).bit_length()
    weights = [values[1 << bit] - first for bit in range(width)]
    for number, value in enumerate(values):
        if value != first + sum(weight for bit, weight in enumerate(weights) if number >> bit & 1):
            return None
    terms, low = [], 0
    for bit, weight in enumerate(weights):
        if weight and bit + 1 < width and weights[bit + 1] == 2 * weight:
            continue
        if weight:
            terms.append(digits(weights[low], variable, low, -1 if bit + 1 == width else bit + 1 - low))
        low = bit + 1
    return integer(first, terms)


def generalised(instances: Sequence[Formula], variable: Formula) -> Formula | None:
    """Return the formula in a variable that has these instances from 0 on; None if none is found."""
    first = instances[0]
    if all(other == first for other in instances):
        return first
    if any(other.head != first.head or len(other.parts) != len(first.parts) for other in instances):
        return None
    columns = list(zip(*(formula.parts for formula in instances), strict=True))
    parts: list[Any] = []
    for position, column in enumerate(columns):
        if isinstance(column[0], Formula):
            part = generalised(column, variable)
        elif first.head == INTEGER and position == 0:
            part = learned(column, variable)
        else:
            part = column[0] if len(set(column)) == 1 else None
        if part is None:
            return None
        parts.append(part)
    return first.with_parts(parts)


def instance(formula: Formula, variable: Formula, value: int) -> Formula:
    """Return a formula for one value of a variable."""
    parts = [instance(part, variable, value) if isinstance(part, Formula) else part for part in formula.parts]
    if formula.head != INTEGER:
        return Formula(formula.head, tuple(parts))
    constant, kept = formula.parts[0], []
    for term in parts[1:]:
        weight, base, low, count = term.parts
        if base == variable:
            constant += weight * (value >> low if count < 0 else value >> low & ((1 << count) - 1))
        else:
            kept.append(term)
    return integer(constant, kept)
