"""The tables that domains read: float classes, signs of functions, outcomes of comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import z3

from ...refinement.rules.expression import evaluate
from ...refinement.rules.float_class_tables import CLASSES, FUNCTION_SIGNS, PRODUCTS, QUOTIENTS, SUMS, Table
from ...refinement.rules.relations import EXTREMES, OPPOSITES, OUTCOMES, SIGNS
from ...refinement.rules.rule import Rule, Theory
from ...spec.algebra import Operand
from ...spec.float_encoding import decode
from ...spec.formats import E5M2
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.rounding import Rounding
from ..obligation import (
    Case,
    Certificate,
    Equality,
    Method,
    RealClaim,
    RealGoal,
    RefutableProperty,
    Status,
    Theorem,
    theorem,
)
from .rules import goal_of
from .terms import RealTerms
from .values import surely_false

TABLES: Mapping[str, Table] = MappingProxyType({"sums": SUMS, "products": PRODUCTS, "quotients": QUOTIENTS})

_EXACT: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {"sums": np.add, "products": np.multiply, "quotients": np.divide}
)
"""On floats of 8 bits in f64 these neither overflow nor underflow, and sums and products are not rounded."""

_EVERY = np.arange(256, dtype=np.uint8)
_POINTS = len(_EVERY) ** 2
_BOTH_SIGNS = frozenset("+-")


def _pairs() -> tuple[Any, Any]:
    one, other = np.meshgrid(_EVERY, _EVERY, indexing="ij")
    return one.reshape(-1), other.reshape(-1)


def _classes(numbers: Any) -> Any:
    """Return the places in `CLASSES` of numbers (n,)."""
    signs = np.sign(np.nan_to_num(numbers)).astype(np.int64) + CLASSES.index("0")
    infinite = np.where(numbers > 0, CLASSES.index("+inf"), CLASSES.index("-inf"))
    signs = np.where(np.isinf(numbers), infinite, signs)
    return np.where(np.isnan(numbers), CLASSES.index("nan"), signs)


def _observed(one: Any, other: Any, results: Any) -> Iterator[tuple[tuple[str, str], frozenset[str]]]:
    """Yield pairs of classes, and the classes of what was made of all pairs of numbers of these."""
    left, right, found = map(_classes, (one, other, results))
    for row, first in enumerate(CLASSES):
        for column, second in enumerate(CLASSES):
            places = np.unique(found[(left == row) & (right == column)])
            yield (first, second), frozenset(CLASSES[place] for place in places)


def _numbers() -> tuple[Any, Any]:
    one, other = _pairs()
    return decode(one, E5M2), decode(other, E5M2)


@np.errstate(all="ignore")
def unlike(name: str, table: Table) -> str | None:
    """Return the first pair of classes of which a table says anything else than all pairs of numbers do."""
    one, other = _numbers()
    for pair, found in _observed(one, other, _EXACT[name](one, other)):
        cancelled = {"0"} if name == "sums" and set(pair) == _BOTH_SIGNS else set()
        if found - cancelled != table[pair]:
            said, seen = (" or ".join(sorted(each)) for each in (table[pair], found))
            return f"{name} of {pair[0]} and {pair[1]}: {seen}, where the table says {said}"
    return None


def _rounded(name: str) -> str | None:
    """Return the first pair of floats whose rounded result is of another class."""
    one, other = _pairs()
    alg = NumpyAlgebra()
    operands = Operand(one, E5M2), Operand(other, E5M2)
    products, addends = ([operands], []) if name == "products" else ([], list(operands))
    found = decode(alg.fused(E5M2, Rounding.NEAREST_EVEN, products, addends), E5M2)
    numbers = decode(one, E5M2), decode(other, E5M2)
    classes = [_classes(number) for number in (*numbers, found)]
    for place in range(len(one)):
        left, right, result = (CLASSES[class_[place]] for class_ in classes)
        if result not in TABLES[name][left, right]:
            return f"{numbers[0][place]:g} and {numbers[1][place]:g} make {found[place]:g}, which is {result}"
    return None


@theorem(
    "engine/domains/float-classes",
    "float classes of sums, products and quotients",
    "the classes of x ∘ y, for all x and y of two classes, are those of the table, and no others",
    "refinement.rules.float_class_tables, which the verifier reads",
)
def float_classes() -> Iterator[Case]:
    """Yield a certificate for each table, and the counterexamples of rounded results."""
    for name, table in TABLES.items():
        yield Case(
            name,
            partial(Certificate, partial(unlike, name, table), _POINTS),
            equality=Equality.VALUE,
            method=Method.CERTIFICATE,
            statement=f"over the extended reals, all pairs of {E5M2}: the classes of {name} are the table's"
            + ("; a sum of both signs that is 0 is excluded" if name == "sums" else ""),
        )
    for name in ("sums", "products"):
        yield Case(
            f"{name}/rounded",
            partial(Certificate, partial(_rounded, name), _POINTS),
            Status.REFUTED,
            Equality.VALUE,
            Method.CERTIFICATE,
            statement=f"the classes of {name} that are rounded to {E5M2} are those of the table "
            "(they overflow, underflow or cancel)",
        )


_DERIVATIONS: Mapping[str, tuple[str, tuple[str, ...]]] = MappingProxyType(
    {
        "ex2": ("ex2(x)", ()),
        "exp": ("ex2(log2_of_e * x)", ()),
        "sigmoid": ("sigmoid(x)", ()),
        "tanh": (
            "tanh(x)",
            ("integer()", "increasing(2 * (log2_of_e * x), 0)", "increasing(0, 2 * (log2_of_e * x))"),
        ),
        "erf": ("erf(0 - (0 - x))", ()),
        "rcp": ("rcp(x)", ()),
        "sqrt": ("sqrt(x)", ()),
        "rsqrt": ("rsqrt(x)", ()),
    }
)
"""How each function is written, and the instances of axioms that give its sign."""

_CONDITIONS: Mapping[str, str] = MappingProxyType({"-": "{} < 0", "+": "{} > 0"})
_SIDES = ("negative", "positive")


def _claim(text: str, by: tuple[str, ...], assumed: str, claimed: str) -> RealClaim:
    terms = RealTerms()
    variables = {"x": z3.Real("x")} | terms.constants
    for instance in by:
        terms.assume(instance, variables)
    given = evaluate(assumed.format("x"), terms.functions, variables)
    goal = evaluate(claimed.format(text), terms.functions, variables)
    return RealClaim([*terms.known(), given], [RealGoal("sign", goal)])


@theorem(
    "engine/domains/function-signs",
    "signs of functions of negative and of positive numbers",
    "x < 0 or x > 0 implies the sign of f(x) in the table; where that has several or none, nothing is",
    "refinement.rules.float_class_tables, which the verifier reads",
)
def function_signs() -> Iterator[Case]:
    """Yield for each entry of the table that has one sign that it is so, and that the other one is not."""
    for name, signs in FUNCTION_SIGNS.items():
        for side, assumed, sign in zip(_SIDES, _CONDITIONS.values(), signs, strict=True):
            if sign not in _CONDITIONS:
                continue
            text, by = _DERIVATIONS[name]
            opposite = next(each for each in _CONDITIONS if each != sign)
            for case, claimed, expect in (
                ("", sign, Status.PROVED),
                ("/opposite", opposite, Status.REFUTED),
            ):
                claim = partial(_claim, text, by, assumed, _CONDITIONS[claimed])
                condition = _CONDITIONS[claimed].format(text)
                refuting = partial(surely_false, condition, "-1" if side == "negative" else "1")
                yield Case(
                    f"{name}/{side}{case}",
                    partial(RefutableProperty, claim, refuting, {"x": f"a {side} real number"}),
                    expect,
                    Equality.VALUE,
                    statement=f"{assumed.format('x')} implies {condition}",
                )


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


relations = Theorem(
    "engine/domains/relations",
    "comparisons by the sign of a difference, their opposites, and what they choose",
    "a comparison, its opposite and the choice of the first number by it are what the tables say",
    _SOURCE,
    lambda: (
        Case(
            rule.name.partition("/")[2],
            partial(goal_of, rule),
            equality=Equality.VALUE,
            statement=f"{rule.left} = {rule.right}",
        )
        for rule in tables()
    ),
)


THEOREMS = (
    float_classes,
    function_signs,
    relations,
)
