"""Case splits on free scalars that a kernel branches on.

A condition splits a case in two, which together are all of it. Where it holds (or fails) for a few numbers
only, these take the scalar's place one by one: with ``beta == 0`` both zeros do; a NaN is among the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, product
from math import prod

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.formats import FloatFormat, Format
from ..terms.store import CONSTANT, TermStore
from .scalar_conditions import Condition, number_of, subterms

Words = NDArray[np.uint64]

MOST_CASES = 16
"""Of a kernel at one set of sizes."""

_COMBINATIONS = 4096
"""Of numbers that are tried, to find some that a case is about."""


@dataclass(frozen=True)
class Case:
    """A case of scalars: the conditions that hold in it.

    Attributes
    ----------
    values : mapping of str to int
        Scalars that are one number, as encodings.
    formats : mapping of str to Format
        Of these.
    conditions : tuple of (Condition, bool)
        Conditions on others, and whether they hold.
    said : tuple of (frozenset of str, str)
        The same in words, each with the scalars that it is about.
    granted : tuple of str
        What is taken for granted of all cases.
    """

    values: Mapping[str, int] = field(default_factory=dict)
    formats: Mapping[str, Format] = field(default_factory=dict)
    conditions: tuple[tuple[Condition, bool], ...] = ()
    said: tuple[tuple[frozenset[str], str], ...] = ()
    granted: tuple[str, ...] = ()

    @property
    def statements(self) -> tuple[str, ...]:
        """What is supposed, in words."""
        return tuple(text for _, text in self.said)

    def __bool__(self) -> bool:
        return bool(self.said)

    def __str__(self) -> str:
        return ", ".join(self.statements)

    def assume(self, store: TermStore) -> None:
        """Let the conditions be constants in a store."""
        for condition, holds in self.conditions:
            store.assume(condition.term_in(store), int(holds))

    def split(self, condition: Condition) -> Iterator[Case]:
        """Yield the cases in which a condition holds, and in which it does not."""
        few = condition.numbers()
        for holds in (True, False):
            if few is None or few[0] != holds:
                granted = () if few is None or not few[3] else (few[3],)
                case = self._supposing(condition, holds, granted)
                if not case.is_impossible:
                    yield case
                continue
            _, name, words, granted_of = few
            fmt, about = condition.scalars()[name], frozenset([name])
            rest = tuple(each for each in self.said if each[0] != about)  # all said by the number
            for word in words:
                case = replace(
                    self,
                    values={**self.values, name: word},
                    formats={**self.formats, name: fmt},
                    said=(*rest, (about, f"{name} = {number_of(word, fmt)}")),
                    granted=_joined(self.granted, granted_of),
                )
                if not case.is_impossible:
                    yield case

    def _supposing(self, condition: Condition, holds: bool, granted: tuple[str, ...]) -> Case:
        few = condition.numbers()
        if few is not None and few[2]:
            fmt = condition.scalars()[few[1]]
            others = dict.fromkeys(number_of(word, fmt) for word in few[2])
            texts = [f"{few[1]} ≠ {other}" for other in others]
        else:
            texts = [condition.text(holds)]
        about = frozenset(condition.scalars())
        return replace(
            self,
            conditions=(*self.conditions, (condition, holds)),
            said=tuple(dict.fromkeys((*self.said, *((about, text) for text in texts)))),
            granted=_joined(self.granted, *granted),
        )

    @property
    def is_impossible(self) -> bool:
        """Whether it is certain that no numbers are such.

        That is so where all numbers are tried, but for those between two that no condition tells apart.
        """
        if self.example is not None:
            return False
        apart = all(
            each.is_comparison or each.scalars().keys() <= self.values.keys() for each, _ in self.conditions
        )
        return apart and self._tried_all

    @property
    def _tried_all(self) -> bool:
        return prod(len(each) for each in self._tried.values()) <= _COMBINATIONS

    @cached_property
    def _tried(self) -> dict[str, list[int]]:
        """The numbers of each scalar in the conditions that are tried."""
        scalars = {name: fmt for each, _ in self.conditions for name, fmt in each.scalars().items()}
        constants = {word for each, _ in self.conditions for word in _constants(each)}
        return {
            name: [self.values[name]] if name in self.values else _numbers(fmt, constants)
            for name, fmt in scalars.items()
        }

    @cached_property
    def example(self) -> Mapping[str, int] | None:
        """Numbers that the case is about, of the scalars in its conditions; None if none are found."""
        tried = self._tried
        if not tried:
            return {}
        some = np.array(list(islice(product(*tried.values()), _COMBINATIONS)), dtype=np.uint64)
        columns = {name: some[:, column] for column, name in enumerate(tried)}
        holds = self._hold(columns)
        if holds is None or not holds.any():
            return None
        first = int(np.argmax(holds))
        return {name: int(column[first]) for name, column in columns.items() if name not in self.values}

    def _hold(self, numbers: Mapping[str, Words]) -> NDArray[np.bool_] | None:
        count = max((len(number) for number in numbers.values()), default=1)
        found = np.ones(count, dtype=bool)
        try:
            for condition, holds in self.conditions:
                given = {name: numbers[name] for name in condition.scalars()}
                found &= condition.holds(given) == holds
        except UnsupportedError:
            return None
        return found

    def has(self, numbers: Mapping[str, Words]) -> bool:
        """Tell whether numbers, encodings of some scalars among others, are known to be such."""
        given = {**{name: np.array([word], dtype=np.uint64) for name, word in self.values.items()}, **numbers}
        same = all(int(given[name][0]) == word for name, word in self.values.items())
        names = {name for condition, _ in self.conditions for name in condition.scalars()}
        holds = self._hold(given) if same and names <= given.keys() else None
        return holds is not None and bool(holds.all())

    def adapted(self, inputs: Mapping[str, Words]) -> dict[str, Words]:
        """Return inputs with scalars that the case is about: their own, if they are such, or examples."""
        given = {**inputs, **{name: np.array([word], dtype=np.uint64) for name, word in self.values.items()}}
        holds = self._hold(given) if self.conditions else None
        if self.example is None or not self.conditions or (holds is not None and holds.all()):
            return dict(inputs)
        examples = {name: np.array([word], dtype=np.uint64) for name, word in self.example.items()}
        return {**inputs, **examples}


EVERY = Case()
"""Nothing is supposed."""


def _joined(known: tuple[str, ...], *more: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*known, *filter(None, more))))


def _constants(condition: Condition) -> list[int]:
    store = condition.store
    parts = subterms(store, condition.term, len(store)) or ()
    return [int(store.constant_values(part)) for part in parts if store.operation(part).name == CONSTANT]


def _numbers(fmt: Format, constants: set[int]) -> list[int]:
    """Return encodings that conditions may tell apart: the most ordinary first."""
    if isinstance(fmt, FloatFormat):
        one = fmt.bias << (fmt.fraction_bits + fmt.padding_bits)
        half = 1 << (fmt.fraction_bits + fmt.padding_bits)
        sizes = [
            one,
            one + half,
            one - half,
            one + 2 * half,
            one + half // 2,
            0,
            fmt.largest << fmt.padding_bits,
        ]
        sizes += [] if fmt.infinity is None else [fmt.infinity << fmt.padding_bits]
        sizes += [fmt.default_nan << fmt.padding_bits] if fmt.default_nan is not None else []
        numbers = [*sizes, *(size | fmt.sign_mask for size in sizes)]
    else:
        numbers = [1, 2, 3, 0, -1, -2, 1 << (fmt.bits - 1), (1 << (fmt.bits - 1)) - 1]
    numbers += [constant + step for constant in sorted(constants) for step in (0, 1, -1)]
    return list(dict.fromkeys(number & ((1 << fmt.bits) - 1) for number in numbers))
