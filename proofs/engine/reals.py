"""Rules over the real numbers as Z3 terms; functions are constants of which the axioms' instances are true.

An application of a function is a constant that belongs to its argument, as a polynomial: applications to one
polynomial are one constant. What holds whatever these constants are, if the axioms are true of them, holds
of the functions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import z3

from ...refinement.rules.axioms import INSTANCES, OF_APPLICATIONS
from ...refinement.rules.expression import evaluate

_OPERATORS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
        "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
        "!=": operator.ne, "negated": operator.neg, "and": z3.And, "or": z3.Or, "not": z3.Not,
        "either": z3.Xor, "where": z3.If,
        "max": lambda x, y: z3.If(x >= y, x, y), "min": lambda x, y: z3.If(x <= y, x, y),
    }
)  # fmt: skip


class RealTerms:
    """Values of expressions over the reals, and what is known of the functions in them.

    Attributes
    ----------
    facts : list of Z3 terms
        Axioms of the functions that were applied, and those that were named.
    """

    def __init__(self) -> None:
        self.facts: list[Any] = []
        self._applications: dict[tuple[str, str], Any] = {}
        log2_of_e, ln_of_2 = z3.Real("log2_of_e"), z3.Real("ln_of_2")
        self.constants = {"log2_of_e": log2_of_e, "ln_of_2": ln_of_2}
        self._literals = [log2_of_e > 0, log2_of_e * ln_of_2 == 1]
        self.functions: dict[str, Callable[..., Any]] = {
            **_OPERATORS,
            "number": z3.RealVal,
            "quotient": lambda x, y: x / y,
            **{name: self._applied(name) for name in OF_APPLICATIONS},
        }

    def assume(self, instance: str, variables: Mapping[str, Any]) -> None:
        """Add an instance of an axiom, such as ``sum(x, y)``."""

        def named(name: str) -> Callable[..., Any]:
            def assumed(*given: Any) -> Any:
                axiom = INSTANCES[name]
                values = dict(zip(axiom.variables, given, strict=True))
                self.facts.append(evaluate(axiom.statement, self.functions, values))

            return assumed

        evaluate(instance, {**self.functions, **{name: named(name) for name in INSTANCES}}, variables)

    def known(self) -> list[Any]:
        """Return what is true of the constants and of all applications."""
        return [*self._literals, *self.facts]

    def _applied(self, name: str) -> Callable[[Any], Any]:
        def apply(argument: Any) -> Any:
            key = name, z3.simplify(argument, som=True, sort_sums=True, arith_lhs=True).sexpr()
            if key not in self._applications:
                found = z3.Real(f"{name}({key[1]})")
                self._applications[key] = found
                for axiom in OF_APPLICATIONS[name]:
                    values = {"x": argument, **self.constants}
                    self.facts.append(evaluate(axiom, self.functions, values))
            return self._applications[key]

        return apply
