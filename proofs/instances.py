"""Instances of proved claims at given inputs, and deductions whose conclusions follow from them.

The one rule: *what is proved for all inputs holds for these, and what follows from what holds, holds.* The
hypotheses are made (`instances`) out of the premises' own claims, by putting inputs into them; nobody writes
them down a second time. That the conclusion follows from them is then a claim like any other, which a solver
or rewriting decides, mostly with operations that may be any functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import and_
from typing import Any

import numpy as np

from ..spec.algebra import Algebra, Array
from .obligation import (
    Certificate,
    Deduction,
    Equality,
    Equation,
    Inputs,
    IntegerProperty,
    Obligation,
    Property,
    RingProperty,
    Status,
)


class NoInstanceError(ValueError):
    """A premise is used as what it does not claim."""

    def __init__(self, use: Use, reason: str) -> None:
        super().__init__(f"defect of mmaproof: {use.premise.id} is used, {reason}")


def implication(entailment: Entailment) -> Property | IntegerProperty:
    """Return the conclusion of an entailment, the instances assumed."""
    return replace(entailment.conclusion, assuming=partial(_hypotheses, entailment))


def _hypotheses(entailment: Entailment, alg: Algebra, v: Inputs) -> Iterator[Array]:
    if entailment.conclusion.assuming is not None:
        yield from entailment.conclusion.assuming(alg, v)
    from ..smt.integers import IntegerTermAlgebra
    from ..smt.z3_algebra import Z3Algebra

    if not isinstance(alg, Z3Algebra | IntegerTermAlgebra):  # of numbers, what is proved holds anyway
        return
    for use in entailment.uses(alg, v):
        if use.premise.id not in entailment.premises:
            raise ValueError(f"defect of mmaproof: {use.premise.id} is used, but is none of the premises")
        yield from instances(alg, use)


def instances(alg: Algebra, use: Use) -> Iterator[Array]:
    """Yield what a premise claims of inputs, a condition for each instance.

    Raises
    ------
    NoInstanceError
        If it expects no proof, or claims nothing of all inputs of these names and shapes in this algebra.
    """
    claimed = claim_of(use)
    shapes = {v.name: v.shape for v in claimed.variables}
    if set(shapes) != set(use.inputs):
        raise NoInstanceError(use, f"with {', '.join(use.inputs)} for {', '.join(shapes)}")
    further = set()
    for name, shape in shapes.items():
        array = np.asarray(use.inputs[name])
        axes = array.ndim - len(shape)
        if axes < 0 or array.shape[axes:] != shape:
            raise NoInstanceError(use, f"with {name} of shape {array.shape}, not {shape}")
        further.add(array.shape[:axes])
    if len(further) > 1:
        raise NoInstanceError(use, f"at {' and '.join(map(str, further))} instances")
    for index in np.ndindex(*further):
        one = {name: np.asarray(array)[index] for name, array in use.inputs.items()}
        yield _instance(alg, use, claimed, one)


def claim_of(use: Use) -> Property | RingProperty:
    """Return the claim of a premise for all values of its variables."""
    goal: Any = use.premise.goal()
    if isinstance(goal, Entailment):
        goal = goal.conclusion
    if isinstance(goal, Certificate):
        goal = goal.claim
    if use.premise.expect is not Status.PROVED or not isinstance(goal, Property | RingProperty):
        raise NoInstanceError(use, "but claims nothing of all inputs")
    return goal


def _instance(alg: Algebra, use: Use, claimed: Property | RingProperty, inputs: dict[str, Array]) -> Array:
    from ..smt.integers import IntegerTermAlgebra

    in_a_ring = isinstance(claimed, RingProperty)
    if in_a_ring is not isinstance(alg, IntegerTermAlgebra):
        raise NoInstanceError(use, "but of other numbers")
    assumed: list[Array] = []
    if isinstance(claimed, IntegerProperty) and isinstance(alg, IntegerTermAlgebra):
        assumed += [~alg.below(array, np.array(0, dtype=object)) for array in inputs.values()]
    if isinstance(claimed, Property | IntegerProperty) and claimed.assuming is not None:
        assumed += claimed.assuming(alg, inputs)
    concrete = claimed.concrete if isinstance(claimed, RingProperty) else {}
    claim = claimed.claim(alg, {**inputs, **concrete})
    held = _all(_truth(alg, each, use.premise.equality) for each in claim)
    return np.asarray(held if not assumed else ~_all(assumed) | held)


def _truth(alg: Algebra, equation: Equation, equality: Equality) -> Array:
    truth = equation.truth(alg, equality)
    return truth if equation.where is None else ~np.asarray(equation.where) | truth


def _all(conditions: Iterable[Array]) -> Any:
    return reduce(and_, (element for condition in conditions for element in np.asarray(condition).flat))


@dataclass(frozen=True)
class Use:
    """A premise, used at inputs.

    Attributes
    ----------
    premise : Obligation
        What is proved.
    inputs : mapping of str to array
        What its variables are, of their shapes; each may have the same further axes before them, and
        the premise is used at every index of these.
    """

    premise: Obligation
    inputs: Inputs


Uses = Callable[[Algebra, Inputs], Iterable[Use]]
"""Yields what is used, from the arrays of the conclusion's variables."""


@dataclass(frozen=True)
class Entailment(Deduction):
    """A claim that follows from instances of what its premises claim.

    Attributes
    ----------
    conclusion : Property or IntegerProperty
        The claim.
    uses : callable
        The instances.
    """

    conclusion: Property | IntegerProperty
    uses: Uses
