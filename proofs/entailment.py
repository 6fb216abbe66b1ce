"""Deductions that are checked: a conclusion that follows from what other obligations claim of given inputs.

The one rule: *what is proved for all inputs holds for these, and what follows from what holds, holds.* The
hypotheses are made (`instances`) out of the premises' own claims, by putting inputs into them; nobody writes
them down a second time. That the conclusion follows from them is then a claim like any other, which a solver
or rewriting decides, mostly with operations that may be any functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..spec.algebra import Algebra
from .obligation import Deduction, Inputs, IntegerProperty, Obligation, Property


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
