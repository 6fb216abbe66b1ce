"""Signs of functions, as the verifier's float classes have them, derived from the axioms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType

import z3

from ...refinement.rules.expression import evaluate
from ...refinement.rules.float_class_tables import FUNCTION_SIGNS
from ..obligation import Case, Equality, RealClaim, RealGoal, RefutableProperty, Status, theorem
from .reals import RealTerms
from .values import surely_false

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


THEOREMS = (function_signs,)
