"""Every rule of the equality engine holds under its guard; without it, it is pinned as refuted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import z3

from ...refinement.rules.expression import evaluate, names
from ...refinement.rules.rows import GROUPS, RULES
from ...refinement.rules.rule import Rule, Source, Theory
from ..obligation import Case, Equality, RealClaim, RealGoal, RefutableProperty, Status, Theorem
from . import terms
from .terms import RealTerms
from .values import difference_at, format_of, points

WIDTHS = (8, 16, 32, 64)
"""Bits of the words that a rule of bits is decided for."""

_COUNTS = (1, 3, 7)
"""How many of their bits ``k`` are."""

_PARAMETERS = {"width", "k", "log2_of_e", "ln_of_2"}
"""Names in rules that are no variables."""

_SORTS: Mapping[Theory, str] = {
    Theory.REAL: "a real number",
    Theory.ELEMENTARY: "a real number",
    Theory.ORDER: "a real number",
    Theory.INTEGERS: "an integer",
    Theory.BITS: f"a word of {', '.join(map(str, WIDTHS))} bits",
}

_SOURCES: Mapping[Source, str] = {
    Source.AXIOM: "an axiom",
    Source.DERIVATION: "derived",
    Source.MANUAL: "how the operation is defined",
}


def statement_of(rule: Rule) -> str:
    """Return a rule as one line of mathematics."""
    guard = f" where {rule.guard}" if rule.guard else ""
    supposed = f", supposed that {rule.supposed}" if rule.supposed else ""
    return f"{rule.left} = {rule.right}{guard}{supposed}"


def variables_of(rule: Rule) -> tuple[str, ...]:
    """Return the names of a rule's variables."""
    texts = (rule.left, rule.right, *((rule.condition,) if rule.condition else ()))
    found = dict.fromkeys(name for text in texts for name in names(text))
    return tuple(name for name in found if name not in _PARAMETERS)


def goal_of(rule: Rule) -> RefutableProperty:
    """Return the claim that a rule holds under its condition."""
    claims: Mapping[Theory, Callable[[Rule], RealClaim]] = {
        Theory.INTEGERS: _of_integers,
        Theory.BITS: _of_words,
        Theory.FLOAT: _of_floats,
    }
    sort = format_of(rule) if rule.theory is Theory.FLOAT else _SORTS[rule.theory]
    sorts = {name: "a condition" if rule.sorts.get(name) == "bit" else sort for name in variables_of(rule)}
    return RefutableProperty(
        partial(claims.get(rule.theory, _of_reals), rule), partial(_refuting, rule), sorts
    )


def unguarded(rule: Rule) -> Rule:
    """Return a rule without its guard and hypothesis."""
    return replace(rule, guard="", supposed="")


def _refuting(rule: Rule) -> tuple[Mapping[str, str], tuple[str, str]] | None:
    for values in points(rule, variables_of(rule)):
        if (sides := difference_at(rule, values, guarded=True)) is not None:
            return values, sides
    return None


def _variable(rule: Rule, name: str, sort: Any) -> Any:
    return z3.Const(name, z3.BoolSort() if rule.sorts.get(name) == "bit" else sort)


def _claim(
    rule: Rule,
    functions: Mapping[str, Callable[..., Any]],
    variables: Mapping[str, Any],
    equal: Callable[[Any, Any], Any],
    label: str = "",
) -> RealGoal:
    left, right = (evaluate(side, functions, variables) for side in (rule.left, rule.right))
    holds = equal(left, right)
    if rule.condition:
        holds = z3.Implies(evaluate(rule.condition, functions, variables), holds)
    return RealGoal(label or rule.name, holds)


def _equal(left: Any, right: Any) -> Any:
    return left == right


def _of_reals(rule: Rule) -> RealClaim:
    terms = RealTerms()
    variables = {name: _variable(rule, name, z3.RealSort()) for name in variables_of(rule)} | terms.constants
    for instance in rule.by:
        terms.assume(instance, variables)
    goal = _claim(rule, terms.functions, variables, _equal)
    return RealClaim(terms.known(), [goal])


def _of_integers(rule: Rule) -> RealClaim:
    variables = {name: _variable(rule, name, z3.IntSort()) for name in variables_of(rule)}
    return RealClaim([], [_claim(rule, terms.INTEGERS, variables, _equal)])


def _of_words(rule: Rule) -> RealClaim:
    goals = []
    counted = "k" in (name for text in (rule.left, rule.right) for name in names(text))
    for width in WIDTHS:
        for count in _COUNTS if counted else _COUNTS[:1]:
            variables: dict[str, Any] = {
                name: _variable(rule, name, z3.BitVecSort(_bits_of(rule, name, width)))
                for name in variables_of(rule)
            }
            label = f"{rule.name}, {width} bits" + (f", k = {count}" if counted else "")
            parameters = {"width": width, "k": count}
            goals.append(_claim(rule, terms.words(width), variables | parameters, _equal, label))
    return RealClaim([], goals)


def _bits_of(rule: Rule, name: str, width: int) -> int:
    """Return how wide a variable is: a product of two words has room for their exact product."""
    return terms.reach(width) if rule.sorts.get(name) == "product" else width


def _of_floats(rule: Rule) -> RealClaim:
    sort = terms.FORMATS[format_of(rule)]
    variables = {name: _variable(rule, name, sort) for name in variables_of(rule)}
    return RealClaim([], [_claim(rule, terms.floats(sort), variables, terms.same_number)])


def _cases(group: str) -> Iterator[Case]:
    for rule in RULES:
        if rule.group != group:
            continue
        name = rule.name.partition("/")[2]
        equality = Equality.IEEE if rule.theory is Theory.FLOAT else Equality.VALUE
        if rule.theory is Theory.BITS:
            equality = Equality.BITS
        applied = f"applied by {rule.place}; {_SOURCES[rule.source]}" + (
            f" from {'; '.join(rule.by)}" if rule.by else ""
        )
        said = f"{statement_of(rule)}\n{applied}"
        expect = Status.PROVED if rule.holds else Status.REFUTED
        yield Case(name, partial(goal_of, rule), expect, equality, statement=said)
        if rule.condition and rule.fails:
            bare = unguarded(rule)
            yield Case(
                f"{name}/unguarded",
                partial(goal_of, bare),
                Status.REFUTED,
                equality,
                statement=f"{statement_of(bare)}\nfalse at {given(rule.fails)}",
            )


def given(values: Mapping[str, str]) -> str:
    """Return values as a message has them."""
    return ", ".join(f"{name} = {value}" for name, value in values.items())


THEOREMS = tuple(
    Theorem(
        f"engine/rules/{group}",
        f"rules of the equality engine: {title}",
        "guard and hypothesis of a rule imply that its two sides are equal; without a guard they need not be",
        "refinement.rules: the rows that the engine is tested against",
        partial(_cases, group),
    )
    for group, title in GROUPS.items()
)
