"""Extrema, and choices that are such: rules of `normal_forms.extrema` and `normal_forms.extremal_terms`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .rule import Rule, Theory

_EXTREMA = "normal_forms.extrema:"
_CHOICES = "normal_forms.extremal_terms:ExtremalTerms."
_SIGNS = "equality.known_signs:KnownSigns."
_NONE: Mapping[str, str] = MappingProxyType({})


def _rule(
    name: str,
    left: str,
    right: str,
    place: str,
    guard: str = "",
    fails: Mapping[str, str] = _NONE,
    sorts: Mapping[str, str] = _NONE,
    supposed: str = "",
) -> Rule:
    return Rule(
        f"extrema/{name}",
        Theory.ORDER,
        left,
        right,
        place,
        guard,
        supposed=supposed,
        fails=fails,
        sorts=sorts,
    )


LATTICE = (
    _rule("commutative", "max(x, y)", "max(y, x)", "terms.evaluation:_ordered"),
    _rule("associative", "max(max(x, y), z)", "max(x, max(y, z))", _EXTREMA + "Extrema._merged"),
    _rule("idempotent", "min(min(x, y), min(y, x))", "min(x, y)", _EXTREMA + "Extrema._merged"),
    _rule("of-one-number", "max(x, x)", "x", "normal_forms.identities:IdleOperations.equal"),
    _rule("duality", "min(x, y)", "-max(-x, -y)", _EXTREMA + "Extrema._without_common_factors"),
    _rule("nested-in-opposite", "max(-min(x, y), z)", "max(max(-x, -y), z)", _EXTREMA + "Extrema._flattened"),
)

_STATISTICS = "equality.order_statistics:OrderStatistics._joined"

DISTRIBUTIVE = (
    _rule("absorbed", "max(x, min(x, y))", "x", _STATISTICS),
    _rule("distributive", "max(x, min(y, z))", "min(max(x, y), max(x, z))", _STATISTICS),
    _rule("median", "max(min(x, y), min(z, max(x, y)))", "min(max(x, y), max(z, min(x, y)))", _STATISTICS),
)

AFFINE = (
    _rule("common-addend", "max(x + z, y + z)", "max(x, y) + z", _EXTREMA + "_without_common_terms"),
    _rule("common-constant", "max(x + 3, y + 3)", "max(x, y) + 3", _EXTREMA + "_without_common_terms"),
    _rule(
        "common-multiple", "max(3 * x, 3 * y)", "3 * max(x, y)", _EXTREMA + "Extrema._without_common_factors"
    ),
    _rule(
        "common-negative-multiple", "max(-3 * x, -3 * y)", "-3 * min(x, y)",
        _EXTREMA + "Extrema._without_common_factors",
    ),
    _rule(
        "common-factor", "max(x * z, y * z)", "max(x, y) * z", _EXTREMA + "Extrema._without_common_factors",
        guard="z >= 0", fails={"x": "1", "y": "0", "z": "-1"}, sorts={"z": "nonnegative"},
    ),
    _rule(
        "nested-in-sum", "max(2 * max(x, y) + z, w)", "max(2 * x + z, max(2 * y + z, w))",
        _EXTREMA + "Extrema._flattened",
    ),
    _rule(
        "nested-in-square", "max(z * z * max(x, y), w)", "max(z * z * x, max(z * z * y, w))",
        _EXTREMA + "Extrema._is_product",
    ),
    _rule(
        "nested-in-product", "max(z * max(x, y), w)", "max(z * x, max(z * y, w))",
        _EXTREMA + "Extrema._flattened", guard="z >= 0",
        fails={"x": "1", "y": "0", "z": "-1", "w": "-2"}, sorts={"z": "nonnegative"},
    ),
)  # fmt: skip

SIGNS = (
    _rule(
        "greatest-are-not-less", "max(max(x, y) - x + max(z, w) - w, 0)", "max(x, y) - x + max(z, w) - w",
        _SIGNS + "_without_extrema",
    ),
    _rule(
        "square-of-difference", "max(x * x - 2 * x * y + y * y, 0)", "x * x - 2 * x * y + y * y",
        _SIGNS + "_is_sum_of_squares",
    ),
    _rule(
        "square-of-shifted", "max(x * x - 2 * x + 1, 0)", "x * x - 2 * x + 1", _SIGNS + "_is_sum_of_squares"
    ),
)  # fmt: skip

LIMITS = (
    _rule("dominated-constant", "max(x + 1, x + 3)", "x + 3", _EXTREMA + "Extrema._undominated"),
    _rule(
        "lower-limit-of-nonnegative", "max(x, -low)", "x", _EXTREMA + "Extrema._is_limited",
        guard="x >= 0 and low >= 0", fails={"x": "-2", "low": "1"},
        sorts={"x": "nonnegative", "low": "constant 1"},
    ),
    _rule("lower-limit-of-magnitude", "max(max(x, -x), -1)", "max(x, -x)", _EXTREMA + "Extrema._is_limited"),
    _rule("zero-below-magnitude", "max(max(x, -x), 0)", "max(x, -x)", _EXTREMA + "Extrema._is_limited"),
    _rule(
        "clamped-either-way", "min(max(x, low), high)", "max(low, min(x, high))",
        _EXTREMA + "Extrema._clamped", guard="low <= high", fails={"x": "0", "low": "1", "high": "-1"},
        sorts={"low": "constant -1", "high": "constant 1"},
    ),
    _rule(
        "magnitude-of-product", "max(x * y, -(x * y))", "max(x, -x) * max(y, -y)",
        _EXTREMA + "Extrema._magnitude",
    ),
    _rule("magnitude-of-square", "max(x * x, -(x * x))", "x * x", _EXTREMA + "Extrema._magnitude"),
    _rule(
        "magnitude-squared", "max(x, -x) * max(x, -x)", "x * x",
        "normal_forms.monomial_reduction:MonomialReduction._square",
    ),
    _rule("magnitude-of-multiple", "max(-3 * x, 3 * x)", "3 * max(x, -x)", _EXTREMA + "Extrema._magnitude"),
    _rule("least-of-opposites", "min(x, -x)", "-max(x, -x)", _EXTREMA + "Extrema._magnitude"),
    _rule(
        "magnitude-of-nonnegative", "max(x, -x)", "x", _EXTREMA + "Extrema._magnitude", guard="x >= 0",
        fails={"x": "-1"}, sorts={"x": "root"},
    ),
)  # fmt: skip

CHOSEN = (
    _rule("chosen-greater", "where(x > y, x, y)", "max(x, y)", _CHOICES + "_chosen"),
    _rule("chosen-not-less", "where(x >= y, x, y)", "max(x, y)", _CHOICES + "_chosen"),
    _rule("chosen-less", "where(x < y, x, y)", "min(x, y)", _CHOICES + "_chosen"),
    _rule("chosen-otherwise", "where(x > y, y, x)", "min(x, y)", _CHOICES + "_chosen"),
    _rule(
        "chosen-in-proportion", "where(x > y, c * x + z, c * y + z)", "max(c * x + z, c * y + z)",
        _CHOICES + "_proportions", guard="c > 0", fails={"x": "1", "y": "0", "z": "0", "c": "-2"},
        sorts={"c": "constant 2"},
    ),
    _rule(
        "chosen-in-negative-proportion", "where(x > y, c * x + z, c * y + z)", "min(c * x + z, c * y + z)",
        _CHOICES + "_proportions", guard="c < 0", fails={"x": "1", "y": "0", "z": "0", "c": "2"},
        sorts={"c": "constant -2"},
    ),
    _rule(
        "zero-put-in", "where(x == 0, y, y + x * z)", "y + x * z", _CHOICES + "_zeros_put_in",
    ),
    _rule(
        "zero-put-in-otherwise", "where(x != 0, y - z * x, y)", "y - z * x", _CHOICES + "_zeros_put_in",
    ),
)  # fmt: skip

_LIMITED = "equality.limited_numbers:LimitedNumbers._chosen"

CHOSEN_LIMITS = (
    _rule(
        "chosen-upper-limit", "where(x > high, high, max(x, low))", "min(max(x, low), high)", _LIMITED,
        guard="low <= high", fails={"x": "-2", "low": "1", "high": "-1"},
        sorts={"low": "constant -1", "high": "constant 1"},
    ),
    _rule(
        "chosen-lower-limit", "where(x < low, low, min(x, high))", "max(min(x, high), low)", _LIMITED,
        guard="low <= high", fails={"x": "2", "low": "1", "high": "-1"},
        sorts={"low": "constant -1", "high": "constant 1"},
    ),
)  # fmt: skip
"""Limits that a comparison chooses, of what is limited on the other side already."""

RULES = (*LATTICE, *DISTRIBUTIVE, *AFFINE, *SIGNS, *LIMITS, *CHOSEN, *CHOSEN_LIMITS)
