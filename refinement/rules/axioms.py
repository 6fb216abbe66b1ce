"""What is known of functions of real numbers: all that derivations of rules may use.

A function is anything for which its axioms are true. Those of one application hold at every application in a
rule; the others where the rule names the instance.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Axiom(NamedTuple):
    """A condition on functions.

    Attributes
    ----------
    statement : str
        What is true of all real numbers that its variables may be.
    variables : tuple of str
        These.
    """

    statement: str
    variables: tuple[str, ...]


OF_APPLICATIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "ex2": ("ex2(x) > 0",),
        "rcp": ("x == 0 or x * rcp(x) == 1",),
        "sqrt": ("x < 0 or (sqrt(x) >= 0 and sqrt(x) * sqrt(x) == x)",),
        "rsqrt": ("x <= 0 or (rsqrt(x) > 0 and rsqrt(x) * rsqrt(x) * x == 1)",),
        "lg2": ("x <= 0 or ex2(lg2(x)) == x",),
        "tanh": ("tanh(x) * (ex2(2 * (log2_of_e * x)) + 1) == ex2(2 * (log2_of_e * x)) - 1",),
        "sigmoid": ("sigmoid(x) * (ex2(0 - log2_of_e * x) + 1) == 1",),
        "erf": ("erf(0 - x) == 0 - erf(x)", "x <= 0 or erf(x) > 0"),
        "floor": ("floor(0 - x) == 0 - ceil(x)", "x < 0 or x >= 1 or floor(x) == 0"),
        "ceil": ("ceil(0 - x) == 0 - floor(x)", "x > 0 or x <= 0 - 1 or ceil(x) == 0"),
        "rint": ("rint(0 - x) == 0 - rint(x)",),
        "trunc": (
            "trunc(0 - x) == 0 - trunc(x)",
            "x < 0 or trunc(x) == floor(x)",
            "x > 0 or trunc(x) == ceil(x)",
        ),
        "sin": ("sin(0 - x) == 0 - sin(x)",),
        "cos": ("cos(0 - x) == cos(x)", "x != 0 or cos(x) == 1"),
    }
)
"""What is true of ``f(x)``, whatever x is; ``log2_of_e`` is positive, and its product with ``ln_of_2`` 1."""

INSTANCES: Mapping[str, Axiom] = MappingProxyType(
    {
        "sum": Axiom("ex2(x + y) == ex2(x) * ex2(y)", ("x", "y")),
        "integer": Axiom("ex2(1) == 2 and ex2(0) == 1", ()),
        "same": Axiom("x != y or ex2(x) == ex2(y)", ("x", "y")),
        "same_floor": Axiom("x != y or floor(x) == floor(y)", ("x", "y")),
        "same_ceil": Axiom("x != y or ceil(x) == ceil(y)", ("x", "y")),
        "same_trunc": Axiom("x != y or trunc(x) == trunc(y)", ("x", "y")),
        "increasing": Axiom("x >= y or ex2(x) < ex2(y)", ("x", "y")),
        "logarithm": Axiom("ex2(y) != x or lg2(x) == y", ("x", "y")),
    }
)
"""Axioms that rules use at numbers which they name."""
