"""Tables of comparisons: outcomes by the sign of a difference, opposites, and the extrema they choose."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...refinement.rules.relations import EXTREMES, OPPOSITES, OUTCOMES, SIGNS
from ...refinement.rules.rule import Rule, Theory
from ..obligation import Case, Equality, theorem
from .rules import goal_of

_SOURCE = "refinement.rules.relations, which the verifier reads"
_UNSIGNED = {"lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
"""PTX's names of comparisons of unsigned integers."""

_WRITTEN = {relation: sign for sign, relation in SIGNS.items()} | _UNSIGNED


def _rule(name: str, left: str, right: str) -> Rule:
    return Rule(f"relations/{name}", Theory.ORDER, left, right, "terms.operations:compare")


def _outcome(relation: str, outcomes: tuple[bool, bool, bool]) -> Rule:
    """Return the rule that a comparison holds just for the signs of a difference that a table has."""
    conditions = [f"x {sign} y" for sign, holds in zip(("<", "==", ">"), outcomes, strict=True) if holds]
    return _rule(
        f"outcomes/{relation}", f"where(x {_WRITTEN[relation]} y, z, w)",
        f"where({' or '.join(conditions)}, z, w)",
    )  # fmt: skip


def tables() -> Iterator[Rule]:
    """Yield the rules that the tables are."""
    for relation, outcomes in OUTCOMES.items():
        yield _outcome(relation, outcomes)
    for relation, opposite in OPPOSITES.items():
        left, right = _WRITTEN[relation], _WRITTEN[opposite]
        yield _rule(f"opposites/{relation}", f"where(not x {left} y, z, w)", f"where(x {right} y, z, w)")
    for relation, which in EXTREMES.items():
        yield _rule(f"extremes/{relation}", f"where(x {_WRITTEN[relation]} y, x, y)", f"{which}(x, y)")


@theorem(
    "engine/domains/relations",
    "comparisons by the sign of a difference, their opposites, and what they choose",
    "a comparison, its opposite and the choice of the first number by it are what the tables say",
    _SOURCE,
)
def relations() -> Iterator[Case]:
    """Yield one obligation for each entry."""
    for rule in tables():
        yield Case(
            rule.name.partition("/")[2],
            partial(goal_of, rule),
            equality=Equality.VALUE,
            statement=f"{rule.left} = {rule.right}",
        )


THEOREMS = (relations,)
