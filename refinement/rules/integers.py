"""Integers, and words read as integers: rules of `normal_forms.readings` and of integer extrema."""

from __future__ import annotations

from .rule import Rule, Source, Theory

_READINGS = "normal_forms.readings:"
_CHOICES = "normal_forms.extremal_terms:ExtremalTerms."
_EXTREMA = "normal_forms.extrema:Extrema."


def _rule(name: str, left: str, right: str, place: str, **sorts: str) -> Rule:
    return Rule(f"integers/{name}", Theory.INTEGERS, left, right, place, sorts=sorts)


ORDER = (
    _rule("strict-comparison", "where(x > 126, x, 127)", "max(x, 127)", _CHOICES + "_orders"),
    _rule("strict-comparison-below", "where(x < -127, x, -128)", "min(x, -128)", _CHOICES + "_orders"),
    _rule(
        "opposite-comparison", "where(x < 1, y, z)", "where(x > 0, z, y)",
        "normal_forms.condition_forms:ConditionForms._compared_integers",
    ),
    _rule(
        "divided-comparison", "where(4 * x < 6, y, z)", "where(x < 2, y, z)",
        "normal_forms.condition_forms:ConditionForms._compared_integers",
    ),
    _rule(
        "common-divisor", "max(4 * x, 6 * y)", "2 * max(2 * x, 3 * y)", _EXTREMA + "_without_common_factors"
    ),
    Rule(
        "integers/lower-limit-of-unsigned", Theory.INTEGERS, "max(x, 0)", "x",
        "normal_forms.forms:NormalForms._is_not_negative", guard="x >= 0", fails={"x": "-1"},
        sorts={"x": "u24"},
    ),
    Rule(
        "integers/upper-limit-of-format", Theory.INTEGERS, "min(x, limit)", "x", _EXTREMA + "_is_within",
        guard="x <= 8388607 and limit >= 8388607", fails={"x": "5", "limit": "4"},
        sorts={"x": "s24", "limit": "constant 8388607"},
    ),
    _rule(
        "exclusive-choices", "where(i == 1, x, where(i == 2, y, 0))",
        "where(i == 1, x, 0) + where(i == 2, y, 0)", "normal_forms.integer_choices:ExclusiveChoices.expanded",
    ),
    _rule("saturated", "saturated(x)", "max(min(x, 127), -128)", _CHOICES + "_clamped"),
    Rule(
        "integers/saturated-in-range", Theory.INTEGERS, "saturated(x)", "x", _READINGS + "_convert",
        guard="-128 <= x and x <= 127", fails={"x": "200"}, sorts={"x": "s8"},
    ),
)  # fmt: skip

WORDS = (
    Rule(
        "integers/sum-without-overflow", Theory.BITS, "signed(x + y)", "signed(x) + signed(y)",
        _READINGS + "_ring", guard="fits(signed(x) + signed(y), width)",
        fails={"x": "127", "y": "1"}, sorts={"x": "short", "y": "short"},
    ),
    Rule(
        "integers/opposite-without-overflow", Theory.BITS, "signed(0 - x)", "0 - signed(x)",
        _READINGS + "_negate", guard="fits(0 - signed(x), width)", fails={"x": "128"}, sorts={"x": "short"},
    ),
    Rule(
        "integers/product-without-overflow", Theory.BITS, "signed(low(z, width))", "z",
        _READINGS + "_ring", guard="fits(z, width)", fails={"z": "256"}, sorts={"z": "product"},
    ),
    Rule(
        "integers/extension", Theory.BITS, "signed(sign_extended(x, k))", "signed(x)", _READINGS + "_extend",
        source=Source.MANUAL,
    ),
    Rule(
        "integers/fields", Theory.BITS, "unsigned(concatenated(x, y))",
        "unsigned(x) * 2 ** width + unsigned(y)", _READINGS + "_concatenation", source=Source.MANUAL,
    ),
    Rule(
        "integers/sign-of-no-negative-number", Theory.BITS, "x >> (width - 1)", "0",
        _READINGS + "_concatenation", guard="signed(x) >= 0", fails={"x": "128"}, sorts={"x": "unsigned"},
    ),
    Rule(
        "integers/low-bits-of-choice", Theory.BITS, "low(where(p, x, y), k)",
        "where(p, low(x, k), low(y, k))", "terms.choices:bits_of_choices", sorts={"p": "bit"},
    ),
    Rule(
        "integers/low-bits-of-sum", Theory.BITS, "low(x + y, k)", "low(low(x, k) + low(y, k), k)",
        _READINGS + "_ring",
    ),
    Rule(
        "integers/low-bits-of-product", Theory.BITS, "low(x * y, k)", "low(low(x, k) * low(y, k), k)",
        _READINGS + "_ring",
    ),
    Rule(
        "integers/distributive-modulo", Theory.BITS, "x * (y + z)", "x * y + x * z", _READINGS + "_ring"
    ),
)  # fmt: skip

RULES = (*ORDER, *WORDS)
