"""What a layout computes: shifted and masked fields of the source coordinates, joined to one coordinate.

One term is evaluated on Python ints, numpy arrays and Z3 bit-vectors, and written as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add, xor
from typing import Any


@dataclass(frozen=True)
class Term:
    """A field of a source coordinate: ``coordinate // weight % extent * factor``.

    Attributes
    ----------
    name : str
        What the coordinate is called.
    limit : int
        How many values it takes.
    place : int
        Which one of the source it is.
    weight, extent, factor : int
        Powers of two unless the layout's extents are none: shifts and masks then divide.
    """

    name: str
    limit: int
    place: int
    weight: int
    extent: int
    factor: int

    @property
    def _stays(self) -> bool:
        """Whether bits stay where they are: a mask is all there is to do."""
        return self.factor == self.weight > 1 and is_power(self.weight) and is_power(self.extent)

    @property
    def _is_last(self) -> bool:
        """Whether no digit of the coordinate is above it: nothing need be masked off."""
        return self.weight * self.extent >= self.limit

    def joins(self, other: Term) -> bool:
        """Whether another term is the next higher field, moved as far as this one."""
        return (
            other.place == self.place
            and other.weight == self.weight * self.extent
            and other.factor == self.factor * self.extent
        )

    def of(self, coordinates: Sequence[Any]) -> Any:
        """Return its value at source coordinates."""
        value, mask = coordinates[self.place], self.extent - 1
        if self._stays:
            return value & (mask * self.weight)
        if self.weight > 1:
            value = value >> log2(self.weight) if is_power(self.weight) else value // self.weight
        if not self._is_last:
            value = value & mask if is_power(self.extent) else value % self.extent
        if self.factor != 1:
            value = value << log2(self.factor) if is_power(self.factor) else value * self.factor
        return value

    def __str__(self) -> str:
        text, mask = self.name, self.extent - 1
        if self._stays:
            return f"({text} & {mask * self.weight})"
        if self.weight > 1:
            text = f"({text} {f'>> {log2(self.weight)}' if is_power(self.weight) else f'// {self.weight}'})"
        if not self._is_last:
            text = f"({text} {f'& {mask}' if is_power(self.extent) else f'% {self.extent}'})"
        return text if self.factor == 1 else f"{self.factor}·{text}"


@dataclass(frozen=True)
class Coordinate:
    """One target coordinate: its terms, added where no bits meet, else xored, and then flipped.

    Attributes
    ----------
    terms : tuple of Term
        By source coordinate and weight.
    meets : bool
        Whether bits of different terms meet: they are xored.
    flipped : int
        Xored with their sum.
    """

    terms: tuple[Term, ...]
    meets: bool
    flipped: int

    @classmethod
    def joined(cls, terms: Iterable[Term], *, carries: bool, flipped: int) -> Coordinate:
        """Join terms of single digits, neighbouring bits in one field."""
        fields: list[Term] = []
        factors: list[int] = []
        for term in sorted(terms, key=lambda term: (term.place, term.weight)):
            factors.append(term.factor)
            for at, field in enumerate(fields):
                if field.joins(term):
                    fields[at] = replace(field, extent=field.extent * term.extent)
                    break
            else:
                fields.append(term)
        meets = not carries and sum(factors) != reduce(xor, factors, 0)
        return cls(tuple(fields), meets, flipped)

    def of(self, coordinates: Sequence[Any]) -> Any:
        """Return its value at source coordinates."""
        values = (term.of(coordinates) for term in self.terms)
        value = reduce(xor if self.meets else add, values) if self.terms else coordinates[0] & 0
        return value ^ self.flipped if self.flipped else value

    def __str__(self) -> str:
        text = (" ^ " if self.meets else " + ").join(map(str, self.terms)) or "0"
        if self.flipped:
            return f"{text if len(self.terms) == 1 else f'({text})'} ^ {self.flipped}"
        return text[1:-1] if len(self.terms) == 1 and text.startswith("(") else text


def is_power(number: int) -> bool:
    """Whether a number, not 0, is a power of two."""
    return not number & (number - 1)


def log2(power: int) -> int:
    """Return the exponent of a power of two."""
    return power.bit_length() - 1
