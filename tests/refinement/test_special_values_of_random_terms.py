"""Diagrams of random terms hold of their values on random inputs: a value has one of the classes there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from mmaproof.refinement.analysis import float_classes as classes
from mmaproof.refinement.analysis.term_classes import TermClasses
from mmaproof.refinement.equality.special_sources import special_sources
from mmaproof.refinement.equality.special_values import SpecialValues
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.operations import extremum, function, fused, negate, select
from mmaproof.refinement.terms.store import CONSTANT, Operation, TermStore
from mmaproof.spec.errors import UnsupportedError
from mmaproof.spec.formats import F32, S8

CONSTANTS = (0x7F800000, 0xFF800000, 0x7FC00000, 0x00000000, 0x3F800000, 0xBF800000)
FUNCTIONS = ("ex2", "lg2", "rcp", "sqrt", "rsqrt", "tanh")
RELATIONS = ("lt", "ge", "eq", "neu", "ltu", "num", "nan")
DATA, MASKS, OPERATIONS, INPUTS = 4, 3, 12, 5


class Terms:
    """Random terms, each made of those before.

    Parameters
    ----------
    random : Generator
        Of what they are made.
    """

    def __init__(self, random: np.random.Generator) -> None:
        self.store, self._random = TermStore(), random
        data = self.store.inputs("X", F32, np.arange(DATA)).tolist()
        self._masks = self.store.inputs("M", S8, np.arange(MASKS)).tolist()
        self._zero = int(self.store.constants(0, 8))
        self.terms: list[int] = [*data, *(int(self.store.constants(constant, 32)) for constant in CONSTANTS)]
        for mask in range(MASKS):
            self.terms.append(self._chosen(self._masked(mask), data[mask], self.terms[DATA + mask]))
        for _ in range(OPERATIONS):
            self.terms.append(self._made())

    def _masked(self, mask: int) -> int:
        return self._apply(operations.compare(S8, "ne"), self._masks[mask], self._zero)

    def _chosen(self, condition: int, then: int, otherwise: int) -> int:
        return self._apply(select(32), condition, then, otherwise)

    def _apply(self, operation: Operation, *arguments: int) -> int:
        return int(apply(self.store, operation, *arguments))

    def _made(self) -> int:
        one, other, third = (int(each) for each in self._random.choice(self.terms, 3))
        match self._random.integers(8):
            case 0:
                return self._apply(fused(F32, addends=(F32, F32)), one, other)
            case 1:
                return self._apply(fused(F32, ((F32, F32),), (F32,)), one, other, third)
            case 2:
                return self._apply(negate(F32), one)
            case 3:
                which = str(self._random.choice(["max", "min"]))
                return self._apply(extremum(F32, which, nan=bool(self._random.integers(2))), one, other)
            case 4:
                return self._apply(function("div", F32, F32, F32), one, other)
            case 5:
                return self._chosen(self._masked(int(self._random.integers(MASKS))), one, other)
            case 6:
                relation = str(self._random.choice(RELATIONS))
                condition = self._apply(operations.compare(F32, relation), one, other)
                return self._chosen(condition, other, third)
        return self._apply(function(str(self._random.choice(FUNCTIONS)), F32, F32), one)


def inputs_of(random: np.random.Generator) -> dict[str, np.ndarray]:
    data = (random.choice([-1, 1], DATA) * random.uniform(0.5, 2, DATA)).astype(np.float32)
    return {"X": data.view(np.uint32).astype(np.uint64), "M": random.integers(0, 2, MASKS).astype(np.uint64)}


def class_at(special: SpecialValues, term: int, values: Assignment) -> int:
    def holds(condition: int) -> bool:
        stands, opposite = special.conditions[condition]
        return bool(values.values(np.array([stands]))[0]) != opposite

    return special.value(term, F32, holds)


def happens(found: int, expected: int, operation: Operation) -> bool:
    """Tell whether a hypothesis is broken: that nothing overflows, or is 0 or negative by chance."""
    if found == classes.NAN:
        return str(operation.attribute) in ("lg2", "sqrt", "rsqrt") and bool(expected & classes.NUMBER)
    return found != classes.NAN and bool(expected & classes.NUMBER)


def whatever_the_data(seed: int) -> Iterator[tuple[int, int]]:
    """Yield classes of values, and those that terms may have on any data."""
    random = np.random.default_rng(seed)
    made = Terms(random)
    every = [each for each in made.terms if made.store.operation(each).name != CONSTANT]
    sets = TermClasses(made.store).of(np.array(every, dtype=np.int32), F32).tolist()
    for _ in range(INPUTS):
        values = Assignment(made.store, inputs_of(random))
        for term, expected in zip(every, sets, strict=True):
            found = classes.of_word(int(values.values(np.array([term]))[0]), F32)
            if not found & expected and happens(found, expected, made.store.operation(term)):
                break  # and what is made of it is not as expected
            yield found, expected


def checked(seed: int) -> Iterator[tuple[int, int]]:
    """Yield classes of values, and those that were to be expected of them."""
    random = np.random.default_rng(seed)
    made = Terms(random)
    forms = NormalForms(made.store)
    if not special_sources(forms, np.array(made.terms, dtype=np.int32)).any():
        return
    special = SpecialValues(forms)
    special.look_at(np.array(made.terms, dtype=np.int32))
    every = [each for each in made.terms if made.store.operation(each).name != CONSTANT]
    for _ in range(INPUTS):
        values = Assignment(made.store, inputs_of(random))
        for term in every:
            word = int(values.values(np.array([term]))[0])
            try:
                found, expected = classes.of_word(word, F32), class_at(special, term, values)
            except UnsupportedError:  # the sign of a normal form, which has no value
                break
            if not found & expected and happens(found, expected, made.store.operation(term)):
                break  # and what is made of it is not as expected
            if expected & classes.LOST:
                break
            yield found, expected


@pytest.mark.parametrize("part", range(3))
def test_values_have_the_classes_of_their_terms(part: int) -> None:
    pairs = [pair for seed in range(part * 10, part * 10 + 10) for pair in checked(seed)]
    assert all(found & expected for found, expected in pairs)
    assert sum(found == expected == classes.NAN for found, expected in pairs) > 10
    assert len(pairs) > 200


@pytest.mark.parametrize("part", range(2))
def test_values_have_the_classes_that_their_terms_may_have(part: int) -> None:
    pairs = [pair for seed in range(part * 30, part * 30 + 30) for pair in whatever_the_data(seed)]
    assert all(found & expected for found, expected in pairs)
    assert sum(found == expected & ~classes.NAN for found, expected in pairs) > 50  # it must be that one
    assert len(pairs) > 600
