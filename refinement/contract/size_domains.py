"""Size domains: how contracts state them, and the sizes that represent them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from ...spec.errors import InputError, UnsupportedError
from ..formula.index_arithmetic import Expression

FORMS = '"any", "any >= 1", "any multiple of 16", "any multiple of 16 >= 64", each also with "up to 65536"'
"""How a domain is written."""

_FORM = re.compile(r"any(?:\s+multiple\s+of\s+(\d+))?(?:\s*>=\s*(\d+))?(?:\s+up\s+to\s+(\d+))?", re.ASCII)

LARGEST = 2**31 - 1
"""The largest size, as of every size of a contract."""

_MULTIPLES = (1, 2, 3, 4, 5, 8)
_UNSTEPPED = (1, 7, 16, 31, 32, 33, 64, 95, 128, 129)
"""Which numbers of a domain stand in for all: one tile, some more than a pipeline has stages, and where a
domain has no step, those beside multiples of the usual tiles."""

_BLOCKS = (9, 7)
"""Multiples of the step that make a grid in which no group of blocks is whole."""

_FEW = 32
"""Sets of sizes that all stand for themselves, where there are no more."""

_MOST_ELEMENTS = 1 << 17
"""Of an output whose grid is of `_BLOCKS`."""


class LaunchSizeError(UnsupportedError):
    """A proof for every number of a size on which the launch depends."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the launch depends on {name}")


@dataclass(frozen=True)
class SizeDomain:
    """A size domain: multiples of a step between two bounds.

    Attributes
    ----------
    name : str
        The size.
    text : str
        As the contract states it.
    step : int
        What all of them are multiples of.
    least, most : int
        The first and the last.
    """

    name: str
    text: str
    step: int
    least: int
    most: int

    def __contains__(self, number: int) -> bool:
        return self.least <= number <= self.most and number % self.step == 0

    @property
    def count(self) -> int:
        """How many there are."""
        return (self.most - self.least) // self.step + 1

    def up_to(self, most: int) -> SizeDomain:
        """Return the part up to a number."""
        last = min(self.most, most // self.step * self.step)
        return SizeDomain(self.name, self.text, self.step, self.least, last)

    @property
    def representatives(self) -> tuple[int, ...]:
        """Numbers that stand in for all, in increasing order: the first, and those at the usual residues."""
        multiples = _UNSTEPPED if self.step == 1 else tuple(self.step * multiple for multiple in _MULTIPLES)
        shifted = {
            multiple if self.least <= multiple else self.least + multiple - multiples[0]
            for multiple in multiples
        }
        return tuple(sorted({self.least} | {each for each in shifted if each in self}))

    def __str__(self) -> str:
        step = f" that is a multiple of {self.step}" if self.step > 1 else ""
        most = f" up to {self.most}" if self.most < LARGEST // self.step * self.step else ""
        least = f" from {self.least}" if self.least > self.step else ""
        return f"{self.name}{step}{least}{most}"


@dataclass(frozen=True)
class ResidueClass:
    """The numbers of a domain with one remainder, or with any.

    Attributes
    ----------
    domain : SizeDomain
        The domain.
    modulus, residue : int
        A multiple of the domain's step, and the rest of a division by it.
    has_tail : bool
        Whether each number stands for all ``modulus * n + D`` of its n, with D any multiple of the step up to
        the modulus. The residue is then the least D.
    """

    domain: SizeDomain
    modulus: int
    residue: int
    has_tail: bool = False

    def from_(self, number: int) -> int:
        """Return the first number of the class that is not below a number."""
        least = self.domain.least
        if self.has_tail:
            least -= (least - self.residue) % self.modulus
        number = max(number, least)
        return number + (self.residue - number) % self.modulus

    def count(self, number: int) -> float:
        """Return how many moduli a number is above the rest."""
        return (number - self.residue) / self.modulus

    @property
    def last(self) -> int:
        """The last number."""
        if self.has_tail:
            return (self.domain.most // self.modulus - 1) * self.modulus + self.residue
        return self.domain.most - (self.domain.most - self.residue) % self.modulus

    @property
    def covered(self) -> SizeDomain:
        """The domain, up to the last number that this stands for."""
        return (
            self.domain.up_to(self.domain.most // self.modulus * self.modulus)
            if self.has_tail
            else self.domain
        )

    def up_to(self, most: int) -> ResidueClass:
        """Return the part up to a number."""
        whole = most // self.modulus * self.modulus if self.has_tail else most
        return replace(self, domain=self.domain.up_to(whole))


def with_tail(domain: SizeDomain, modulus: int) -> ResidueClass:
    """Return the numbers of a domain as whole tiles of a modulus, and a tail."""
    return ResidueClass(domain, modulus, domain.step, has_tail=True)


def is_domain(value: object) -> bool:
    """Tell whether what a contract says of a size is a domain."""
    return isinstance(value, str) and re.match(r"\s*any\b", value) is not None


def read_domain(name: str, text: str, where: str) -> SizeDomain:
    """Read the domain of a size.

    Raises
    ------
    InputError
        If it is none, or has no number in it.
    """
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise InputError(f"{name} is {text!r}; a size is a number, an expression, or {FORMS}", where)
    step, least, most = (None if group is None else int(group) for group in found.groups())
    step = 1 if step is None else step
    if step == 0:
        raise InputError(f"{name} is {text!r}: the only multiple of 0 is 0, and sizes begin with 1", where)
    least, most = 1 if least is None else least, LARGEST if most is None else most
    if least < 1 or most > LARGEST:
        raise InputError(f"{name} is {text!r}: sizes of a domain are from 1 to {LARGEST}", where)
    first, last = -(-least // step) * step, most // step * step
    if first > last:
        raise InputError(f"{name} is {text!r}, which is empty; sizes are from 1 to {LARGEST}", where)
    return SizeDomain(name, text.strip(), step, first, last)


def sweep(domains: Sequence[SizeDomain], in_grid: Sequence[str]) -> list[dict[str, int]]:
    """Return the sets of sizes that stand in for all: each size over its representatives, others small.

    Parameters
    ----------
    domains : sequence of SizeDomain
        What the sizes may be.
    in_grid : sequence of str
        Sizes on which the number of blocks depends; two of them also make a grid of 9 by 7 tiles.
    """
    if prod(domain.count for domain in domains) <= _FEW:
        numbers = [range(domain.least, domain.most + 1, domain.step) for domain in domains]
        names = [domain.name for domain in domains]
        return [dict(zip(names, each, strict=True)) for each in product(*numbers)]
    first = {domain.name: domain.representatives[0] for domain in domains}
    second = {
        domain.name: domain.representatives[min(1, len(domain.representatives) - 1)] for domain in domains
    }
    found = [first, second]
    for each in domains:
        found += [{**first, each.name: number} for number in each.representatives]
        found.append({**second, each.name: each.representatives[min(2, len(each.representatives) - 1)]})
    of_grid = [domain for domain in domains if domain.name in in_grid][:2]
    if len(of_grid) == len(_BLOCKS):
        tiles = [each.step if each.step > 1 else 32 for each in of_grid]
        wide = {d.name: count * t for d, count, t in zip(of_grid, _BLOCKS, tiles, strict=True)}
        elements = wide[of_grid[0].name] * wide[of_grid[1].name]
        if all(wide[each.name] in each for each in of_grid) and elements <= _MOST_ELEMENTS:
            found.append({**first, **wide})
    return [each for place, each in enumerate(found) if each not in found[:place]]


@dataclass(frozen=True)
class QuantifiedSizes:
    """The quantified sizes of a contract, and those derived from others.

    Attributes
    ----------
    domains : tuple of SizeDomain
        The former, in the contract's order.
    derived : mapping of str to Expression
        The latter, each in sizes above it.
    """

    domains: tuple[SizeDomain, ...]
    derived: Mapping[str, Expression]

    def completed(self, chosen: Mapping[str, int]) -> dict[str, int]:
        """Return a set of sizes with those that follow from others."""
        sizes = dict(chosen)
        for name, expression in self.derived.items():
            sizes[name] = expression.value(sizes)
        return sizes

    def are_all(self, sets: Sequence[Mapping[str, int]]) -> bool:
        """Tell whether there are no other sets of sizes."""
        chosen = {tuple(each[domain.name] for domain in self.domains) for each in sets}
        return len(chosen) == prod(domain.count for domain in self.domains)


NO_SIZE = ResidueClass(SizeDomain("no size", "1", 1, 1, 1), 1, 0)
"""In place of a size that is gone through by induction, where all others are numbers."""
