"""Powers of two, logarithms, roots and reciprocals: rules of `normal_forms.elementary_forms`."""

from __future__ import annotations

from types import MappingProxyType

from .rule import Rule, Source, Theory

_FORMS = "normal_forms.elementary_forms:ElementaryForms."
_MONOMIALS = "normal_forms.monomial_reduction:MonomialReduction."


def _rule(
    name: str,
    left: str,
    right: str,
    place: str,
    supposed: str = "",
    by: tuple[str, ...] = (),
    source: Source = Source.DERIVATION,
    **fails: str,
) -> Rule:
    identifier = f"elementary/{name}"
    return Rule(
        identifier, Theory.ELEMENTARY, left, right, place, "", supposed, source, by, MappingProxyType(fails)
    )


_ODD = {
    "tanh": ("integer()", "sum(2 * (log2_of_e * x), 0 - 2 * (log2_of_e * x))"),
    "erf": (), "sin": (), "rint": (), "trunc": (),
}  # fmt: skip
_TURNED = "normal_forms.function_symmetries:FunctionSymmetries.expanded"

SYMMETRIES = (
    *(
        _rule(f"{name}-is-odd", f"{name}(-x)", f"-{name}(x)", _TURNED, by=by,
              source=Source.DERIVATION if by else Source.AXIOM)
        for name, by in _ODD.items()
    ),
    _rule("floor-of-opposite", "floor(-x)", "-ceil(x)", _TURNED, source=Source.AXIOM),
    _rule("ceil-of-opposite", "ceil(-x)", "-floor(x)", _TURNED, source=Source.AXIOM),
    _rule("cos-is-even", "cos(-x)", "cos(x)", _TURNED, source=Source.AXIOM),
)  # fmt: skip
"""Functions of opposites: ``f(-x)`` is ``g(x)`` or ``-g(x)``."""

AT_ZERO = (
    *(
        _rule(f"{name}-of-zero", f"{name}(0)", value, _TURNED, source=source)
        for name, value, source in (
            ("erf", "0", Source.DERIVATION),
            ("sin", "0", Source.DERIVATION),
            ("cos", "1", Source.AXIOM),
        )
    ),
)
"""Functions of 0, where an argument is found to be that."""

NOT_NEGATIVE = (
    Rule(
        "elementary/floor-of-nonnegative", Theory.ELEMENTARY, "floor(x)", "trunc(x)", _TURNED, guard="x >= 0",
        source=Source.AXIOM, fails={"x": "-1/2"}, sorts={"x": "nonnegative"},
    ),
)  # fmt: skip
"""Functions that are others where their arguments are not negative."""

POWERS = (
    _rule(
        "power-of-sum", "ex2(x + y)", "ex2(x) * ex2(y)", _MONOMIALS + "_with_one_power",
        by=("sum(x, y)",), source=Source.AXIOM,
    ),
    _rule(
        "power-of-difference", "ex2(x - y) * ex2(y)", "ex2(x)", _FORMS + "combined", by=("sum(x - y, y)",)
    ),
    _rule(
        "power-of-opposite", "ex2(x) * ex2(-x)", "1", _FORMS + "combined", by=("integer()", "sum(x, 0 - x)")
    ),
    _rule(
        "power-of-whole-shift", "ex2(x + 3)", "8 * ex2(x)", _FORMS + "power",
        by=("integer()", "sum(x, 3)", "sum(1, 1)", "sum(2, 1)"),
    ),
    _rule(
        "power-of-negative-shift", "4 * ex2(x - 2)", "ex2(x)", _FORMS + "power",
        by=("integer()", "sum(x - 2, 2)", "sum(1, 1)"),
    ),
    _rule(
        "power-of-half-shift", "ex2(x + 1 / 2) * ex2(1 / 2 - x)", "2", _FORMS + "combined",
        by=("integer()", "sum(x + 1 / 2, 1 / 2 - x)"),
    ),
    _rule(
        "power-of-logarithm", "ex2(lg2(x))", "x", _FORMS + "_exponential", "x > 0", source=Source.AXIOM,
        x="-1",
    ),
    _rule(
        "power-of-logarithms", "ex2(y + 3 * lg2(x))", "ex2(y) * x * x * x", _FORMS + "_exponential", "x > 0",
        by=("sum(y, 3 * lg2(x))", "sum(2 * lg2(x), lg2(x))", "sum(lg2(x), lg2(x))"), x="-1", y="1"),
    _rule(
        "power-of-half-logarithm", "ex2(lg2(x) * (1 / 2))", "sqrt(x)", _FORMS + "_exponential", "x > 0",
        by=("sum(lg2(x) * (1 / 2), lg2(x) * (1 / 2))",), x="0"),
    _rule(
        "power-of-minus-logarithm", "ex2(-lg2(x))", "rcp(x)", _FORMS + "_exponential", "x > 0",
        by=("integer()", "sum(lg2(x), 0 - lg2(x))"), x="-1"),
    _rule(
        "power-of-natural-logarithm", "ex2(lg2(x) * ln_of_2 * log2_of_e)", "x", _FORMS + "_exponential",
        "x > 0", by=("same(lg2(x) * ln_of_2 * log2_of_e, lg2(x))",), x="-1"),
)  # fmt: skip

LOGARITHMS = (
    _rule("logarithm-of-power", "lg2(ex2(x))", "x", _FORMS + "_logarithm", by=("logarithm(ex2(x), x)",)),
    _rule(
        "logarithm-of-scaled-power", "lg2(8 * ex2(x) * y)", "3 + x + lg2(y)", _FORMS + "_logarithm", "y > 0",
        by=(
            "integer()", "sum(1, 1)", "sum(2, 1)", "sum(3, x)", "sum(3 + x, lg2(y))",
            "logarithm(8 * ex2(x) * y, 3 + x + lg2(y))",
        ),
    ),
    _rule(
        "logarithm-of-multiple", "lg2(3 * x)", "lg2(3) + lg2(x)", _FORMS + "_logarithm", "x > 0",
        by=("sum(lg2(3), lg2(x))", "logarithm(3 * x, lg2(3) + lg2(x))"),
    ),
    _rule(
        "logarithm-of-reciprocal", "lg2(rcp(x))", "-lg2(x)", _FORMS + "_factors", "x > 0",
        by=("integer()", "sum(lg2(x), 0 - lg2(x))", "logarithm(rcp(x), 0 - lg2(x))"),
    ),
    _rule(
        "logarithm-of-root", "lg2(sqrt(x))", "lg2(x) * (1 / 2)", _FORMS + "_factors", "x > 0",
        by=("sum(lg2(x) * (1 / 2), lg2(x) * (1 / 2))", "logarithm(sqrt(x), lg2(x) * (1 / 2))"),
    ),
    _rule(
        "logarithm-of-square", "lg2(x * x)", "2 * lg2(max(x, -x))", _FORMS + "_without_squares",
        "x != 0",
        by=(
            "sum(lg2(max(x, -x)), lg2(max(x, -x)))",
            "logarithm(x * x, lg2(max(x, -x)) + lg2(max(x, -x)))",
        ),
    ),
    Rule(
        "elementary/logarithm-of-product", Theory.ELEMENTARY, "lg2(rcp(x) * rcp(y))", "-lg2(x) - lg2(y)",
        _FORMS + "is_positive", guard="x > 0 and y > 0",
        by=(
            "integer()", "sum(lg2(x), 0 - lg2(x))", "sum(lg2(y), 0 - lg2(y))",
            "sum(0 - lg2(x), 0 - lg2(y))", "logarithm(rcp(x) * rcp(y), 0 - lg2(x) - lg2(y))",
        ),
        fails={"x": "-1", "y": "-1"}, sorts={"x": "positive", "y": "positive"},
    ),
)  # fmt: skip

RECIPROCALS = (
    _rule(
        "reciprocal-of-power", "rcp(ex2(x))", "ex2(-x)", _FORMS + "_reciprocal",
        by=("integer()", "sum(x, 0 - x)"),
    ),
    _rule("reciprocal-of-product", "rcp(x * y)", "rcp(x) * rcp(y)", _FORMS + "_inverse", "x != 0 and y != 0"),
    _rule("reciprocal-of-reciprocal", "rcp(rcp(x))", "x", _FORMS + "_inverse", "x != 0", x="0"),
    _rule(
        "reciprocal-of-multiple", "rcp(4 * x + 2 * y)", "rcp(2 * x + y) * (1 / 2)", _FORMS + "_content",
        "2 * x + y != 0",
    ),
    _rule(
        "reciprocal-of-opposite", "rcp(-x - y)", "-rcp(x + y)", _FORMS + "_content", "x + y != 0"
    ),
    _rule(
        "reciprocal-of-common-factor", "rcp(x * z + y * z)", "rcp(z) * rcp(x + y)", _FORMS + "_divided",
        "z != 0 and x + y != 0",
    ),
    _rule(
        "reciprocal-of-shifted-powers", "ex2(x - z) * rcp(ex2(x - z) + ex2(y - z))",
        "ex2(x) * rcp(ex2(x) + ex2(y))", _FORMS + "_divided", by=("sum(x - z, z)", "sum(y - z, z)"),
    ),
    _rule("reciprocal-of-root", "rcp(sqrt(x))", "sqrt(x) * rcp(x)", _FORMS + "_inverse", "x > 0"),
    _rule("cancelled-divisor", "x * y * rcp(x)", "y", _MONOMIALS + "_cancelled", "x != 0", x="0", y="1"),
    _rule(
        "power-over-binomial", "ex2(x) * rcp(1 + 4 * ex2(x))", "1 / 4 - 1 / 4 * rcp(1 + 4 * ex2(x))",
        _MONOMIALS + "_quotients",
    ),
    _rule(
        "reciprocal-power-over-binomial", "ex2(-x) * rcp(1 + 4 * ex2(x))",
        "ex2(-x) - 4 * rcp(1 + 4 * ex2(x))", _MONOMIALS + "_quotients", by=("integer()", "sum(x, 0 - x)"),
    ),
    _rule(
        "root-of-binomial-remainder", "sqrt(y - y * rcp(1 + 4 * ex2(x)))",
        "sqrt(4 * y * ex2(x) * rcp(1 + 4 * ex2(x)))", _FORMS + "_as_product", "y > 0",
    ),
    _rule(
        "hyperbolic-tangent", "tanh(x)", "1 - 2 * rcp(ex2(2 * x * log2_of_e) + 1)", _FORMS + "_hyperbolic",
        source=Source.AXIOM,
    ),
    _rule(
        "common-denominator", "rcp(x + 1) * y + rcp(z + 1) * w",
        "(y * (z + 1) + w * (x + 1)) * rcp((x + 1) * (z + 1))",
        "normal_forms.common_denominators:CommonDenominators._cleared", "x + 1 != 0 and z + 1 != 0",
    ),
    _rule("quotient", "quotient(x, y)", "x * rcp(y)", "normal_forms.readings:_function", "y != 0"),
    _rule(
        "quotient-by-constant", "quotient(x, 3) * 3", "x", "normal_forms.reciprocals:exact_reciprocals"
    ),
)  # fmt: skip

ROOTS = (
    _rule(
        "root-squared", "sqrt(x) * sqrt(x) * y", "x * y", _MONOMIALS + "_simplified", "x >= 0", x="-1", y="1"
    ),
    _rule(
        "root-squared-over-radicand", "sqrt(x + y) * sqrt(x + y) * rcp(x + y)", "1",
        _MONOMIALS + "_reciprocal_of", "x + y > 0", x="1", y="-1"),
    _rule(
        "root-of-square", "sqrt(x * x * y)", "max(x, -x) * sqrt(y)", _FORMS + "_without_squares", "y >= 0",
        x="0", y="-1",
    ),
    _rule("root-of-square-number", "sqrt(4 * x)", "2 * sqrt(x)", _FORMS + "_root", "x >= 0"),
    _rule("root-of-other-number", "sqrt(3 * x)", "sqrt(3) * sqrt(x)", _FORMS + "_root", "x >= 0"),
    _rule(
        "root-of-power", "sqrt(ex2(x) * y)", "ex2(x * (1 / 2)) * sqrt(y)", _FORMS + "_root", "y >= 0",
        by=("sum(x * (1 / 2), x * (1 / 2))",),
    ),
    _rule(
        "reciprocal-root", "rsqrt(x)", "sqrt(x) * rcp(x)", _FORMS + "_reciprocal_root", "x > 0",
    ),
    _rule(
        "reciprocal-root-squared", "rsqrt(x) * rsqrt(x)", "rcp(x)", _MONOMIALS + "_simplified", "x > 0",
        x="-1",
    ),
)  # fmt: skip

_MERGES = "equality.proportional_choices:ProportionalChoices._as_product"

CHOSEN = (
    _rule(
        "merge-of-sums", "where(x > y, p, q) + where(x > y, q, p) * ex2(min(x, y) - max(x, y))",
        "p * ex2(x - max(x, y)) + q * ex2(y - max(x, y))", _MERGES,
        by=(
            "integer()", "same(x - max(x, y), 0)", "same(y - max(x, y), 0)",
            "same(x - max(x, y), min(x, y) - max(x, y))", "same(y - max(x, y), min(x, y) - max(x, y))",
        ),
    ),
    _rule(
        "merge-by-cases", "where(x <= y, q + p * ex2(3 * x - 3 * y), p + q * ex2(3 * y - 3 * x))",
        "p * ex2(3 * x - 3 * max(x, y)) + q * ex2(3 * y - 3 * max(x, y))", _MERGES,
        by=(
            "integer()", "same(3 * x - 3 * max(x, y), 0)", "same(3 * y - 3 * max(x, y), 0)",
            "same(3 * x - 3 * max(x, y), 3 * x - 3 * y)", "same(3 * y - 3 * max(x, y), 3 * y - 3 * x)",
        ),
    ),
)  # fmt: skip
"""Pairs of a maximum and a sum of powers of two relative to it, merged by a comparison."""

_HALVES = "equality.halves_away:HalvesAway."
_HALF = "x + where(x < 0, -(1 / 2), 1 / 2)"
_SAME_SUM = (f"same_floor(x + 1 / 2, {_HALF})", f"same_ceil(x - 1 / 2, {_HALF})")

HALVES = (
    _rule(
        "halves-away-from-zero", "where(x < 0, ceil(x - 1 / 2), floor(x + 1 / 2))",
        f"trunc({_HALF})", _HALVES + "_chosen", by=_SAME_SUM,
    ),
    _rule(
        "halves-away-by-positive", "where(x > 0, floor(x + 1 / 2), ceil(x - 1 / 2))",
        f"trunc({_HALF})", _HALVES + "_chosen", by=_SAME_SUM,
    ),
    _rule(
        "signed-half", "trunc(x + where(x > 0, 1 / 2, -(1 / 2)))", f"trunc({_HALF})",
        _HALVES + "_in_one_form", by=(f"same_trunc(x + where(x > 0, 1 / 2, -(1 / 2)), {_HALF})",),
    ),
)  # fmt: skip
"""Roundings to the nearest integer; of 0 either side of the choice is 0."""

MASKS = (
    Rule(
        "elementary/finite-mask", Theory.ELEMENTARY, "ex2(x - 1000000)", "0", _FORMS + "_masked",
        fails={"x": "0"}, holds=False,
    ),
)  # fmt: skip
"""What is no equation: where a verdict rests on it, it says so."""

RULES = (
    *SYMMETRIES,
    *AT_ZERO,
    *NOT_NEGATIVE,
    *POWERS,
    *LOGARITHMS,
    *RECIPROCALS,
    *ROOTS,
    *CHOSEN,
    *HALVES,
    *MASKS,
)
