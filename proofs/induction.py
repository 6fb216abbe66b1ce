"""Deductions from other obligations, and inductions among them: decided from the statuses of the premises.

An induction concludes P(n) for every n from P(0) and P(n) → P(n + 1). Its conclusion is a `Formula`; which of
the premises are its base and its steps it says, and whether they are the instances of the formula is checked
here, claim by claim. That these imply the conclusion is the one rule that is left; see docs/theorems.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .entailment import Entailment
from .invariants import Formula, Instance, Transition
from .methods import ARGUMENT, DEDUCTION, INDUCTION
from .obligation import Deduction, Method, Obligation, Property, RingProperty, Status
from .verdict import Verdict


@dataclass(frozen=True)
class Induction(Deduction):
    """P(n) for every n: of sequences that go on by any of the steps, each time with any operands.

    Attributes
    ----------
    formula : Formula
        P.
    steps : mapping of str to Transition
        The ways to go on, by the id of the obligation that is P(n) → P(n + 1) for it.
    base : mapping of str to Transition
        The ways to begin, by the id of the obligation that is P(0) for it; for none, P holds by
        definition: s_0 is arbitrary, and t_0 its image.
    """

    formula: Formula
    steps: Mapping[str, Transition]
    base: Mapping[str, Transition] = field(default_factory=dict)


def induction(
    formula: Formula,
    steps: Mapping[str, Transition],
    base: Mapping[str, Transition] | None = None,
    lemmas: Iterable[str] = (),
) -> Induction:
    """Return an induction with its premises: base, steps, and the lemmas that its statement needs besides."""
    premises = tuple(dict.fromkeys((*(base or {}), *steps, *lemmas)))
    return Induction(premises, formula, steps, base or {})


def mismatch(goal: Induction, obligations: Mapping[str, Obligation]) -> str | None:
    """Return what is wrong with an induction: a base or step that is not the formula's instance."""
    if not goal.steps:
        return "it has no step"
    for kind, parts in (("base", goal.base), ("step", goal.steps)):
        for identifier, transition in parts.items():
            if identifier not in goal.premises:
                return f"its {kind} {identifier} is none of its premises"
            if transition.begins != (kind == "base"):
                return f"its {kind} {identifier} {'begins' if transition.begins else 'goes on'}"
            premise = obligations.get(identifier)
            if premise is None or not _is_instance(premise, goal.formula.instance(transition)):
                formula = goal.formula.text
                return f"its {kind} {identifier} is not the instance of {formula} for every n"
    return None


def _is_instance(premise: Obligation, instance: Instance) -> bool:
    """Tell whether an obligation claims the instance, for all its variables, and expects to prove it."""
    if premise.method is Method.INDUCTION or premise.expect is not Status.PROVED:
        return False
    goal = premise.goal()
    if not isinstance(goal, Property | RingProperty):
        return False
    assuming = goal.assuming if isinstance(goal, Property) else None
    return goal.claim == instance.claim and assuming == instance.assuming


def decide_from_premises(
    obligation: Obligation,
    goal: Deduction,
    known: Mapping[str, Status],
    obligations: Mapping[str, Obligation],
    follows: Verdict | None = None,
) -> Verdict:
    """Decide a deduction: it holds if every premise is proved, and the conclusion follows from these.

    That of an induction does if base and step are its instances, that of an entailment if `decision` says so.

    Parameters
    ----------
    obligation, goal : Obligation, Deduction
        What to decide.
    known : mapping
        Statuses of obligations by id; a premise that is missing is not proved.
    obligations : mapping
        The obligations by id.
    follows : Verdict, optional
        For an entailment, the verdict on whether it follows.
    """
    method = ARGUMENT
    if isinstance(goal, Induction | Entailment):
        method = INDUCTION if isinstance(goal, Induction) else DEDUCTION
    if isinstance(goal, Induction) and (wrong := mismatch(goal, obligations)) is not None:
        message = f"defect of mmaproof: this is no induction, {wrong}"
        return Verdict(obligation.id, Status.ERROR, method, message=message)
    if isinstance(goal, Entailment):
        if follows is None:
            message = "nothing has decided whether it follows from its premises"
            return Verdict(obligation.id, Status.UNKNOWN, method, message=message)
        if follows.status is not Status.PROVED:
            return follows
    failed = [premise for premise in goal.premises if known.get(premise) is not Status.PROVED]
    if failed:
        message = f"premise not proved: {', '.join(failed)}"
        return Verdict(obligation.id, Status.UNKNOWN, method, message=message)
    return follows or Verdict(obligation.id, Status.PROVED, method, method=method)
