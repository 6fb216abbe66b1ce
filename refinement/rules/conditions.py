"""Conditions and choices by them: rules of `normal_forms.condition_forms` and `terms.choices`."""

from __future__ import annotations

from .rule import Rule, Source, Theory

_FORMS = "normal_forms.condition_forms:ConditionForms."
_SAME_SIDES = "normal_forms.identities:IdleOperations.expanded"
_CHOICES = "terms.choices:"
_ADDENDS = "normal_forms.one_sided_sums:"
_PRODUCTS = "normal_forms.choice_products:"


def _rule(
    name: str, left: str, right: str, place: str, group: str = "conditions", supposed: str = "", **more: str
) -> Rule:
    return Rule(f"{group}/{name}", Theory.ORDER, left, right, place, supposed=supposed, sorts=more)


COMPARISONS = (
    _rule("turned", "where(x > y, z, w)", "where(y < x, z, w)", _FORMS + "_compared"),
    _rule("opposite", "where(x >= y, z, w)", "where(x < y, w, z)", _FORMS + "_compared"),
    _rule("difference", "where(x + z < y, z, w)", "where(x < y - z, z, w)", _FORMS + "_compare"),
    _rule("positive-multiple", "where(4 * x < 2 * y, z, w)", "where(2 * x < y, z, w)", _FORMS + "_compared"),
    _rule("negative-multiple", "where(-x < -y, z, w)", "where(y < x, z, w)", _FORMS + "_compared"),
    _rule("equality-turned", "where(x * u == y, z, w)", "where(y == x * u, z, w)", _FORMS + "_side"),
    _rule("unequal", "where(x != y, z, w)", "where(x == y, w, z)", _FORMS + "_compare"),
    _rule(
        "equal-to-greatest",
        "where(x * u == max(x * u, y), z, w)",
        "where(x * u >= max(x * u, y), z, w)",
        _FORMS + "_settled",
    ),
    _rule(
        "equal-to-least",
        "where(min(x * u, y) == x * u, z, w)",
        "where(min(x * u, y) >= x * u, z, w)",
        _FORMS + "_settled",
    ),
)

BOOLEAN = (
    _rule("both", "where(p and q, x, y)", "where(q and p, x, y)", _FORMS + "_combine", p="bit", q="bit"),
    _rule(
        "de-morgan", "where(not (p and q), x, y)", "where(not p or not q, x, y)", _FORMS + "_combine",
        p="bit", q="bit",
    ),
    _rule(
        "distributive", "where(p and (q or r), x, y)", "where((p and q) or (p and r), x, y)",
        _FORMS + "_combine", p="bit", q="bit", r="bit",
    ),
    _rule(
        "absorbed", "where(p or (p and q), x, y)", "where(p, x, y)", _FORMS + "_combine", p="bit", q="bit"
    ),
    _rule("repeated", "where(p and p, x, y)", "where(p, x, y)", "terms.truth_tables:_identified", p="bit"),
    _rule(
        "exclusive", "where(either(p, q), x, y)", "where(either(p, not q), y, x)", _FORMS + "_combine",
        p="bit", q="bit",
    ),
)  # fmt: skip

CHOICES = (
    _rule("same-sides", "where(p, x, x)", "x", _CHOICES + "chosen", "choices", p="bit"),
    _rule("same-real-sides", "where(p, x + x, 2 * x)", "2 * x", _SAME_SIDES, "choices", p="bit"),
    _rule(
        "opposite-condition", "where(not p, x, y)", "where(p, y, x)", _CHOICES + "chosen", "choices", p="bit"
    ),
    _rule(
        "same-condition-within", "where(p, where(p, x, y), z)", "where(p, x, z)", _CHOICES + "_known_side",
        "choices", p="bit",
    ),
    _rule(
        "opposite-condition-within", "where(p, x, where(not p, y, z))", "where(p, x, y)",
        _CHOICES + "_known_side", "choices", p="bit",
    ),
    _rule(
        "common-addend", "where(p, x + y, x)", "x + where(p, y, 0)", _ADDENDS + "common_addends", "choices",
        p="bit",
    ),
    _rule(
        "common-addend-otherwise", "where(p, x, x + y)", "x + where(p, 0, y)", _ADDENDS + "common_addends",
        "choices", p="bit",
    ),
    _rule(
        "common-addend-of-sums", "where(p, x + y, x + z)", "x + where(p, y, z)",
        _ADDENDS + "common_addends", "choices", p="bit",
    ),
    _rule(
        "multiplied-out", "where(p, x, y)", "where(p, 1, 0) * x + (1 - where(p, 1, 0)) * y",
        _PRODUCTS + "ChoiceForms._multiplied", "choices", p="bit",
    ),
    _rule(
        "truth-squared", "where(p, 1, 0) * where(p, 1, 0)", "where(p, 1, 0)",
        _PRODUCTS + "_IdempotentReduction._once", "choices", p="bit",
    ),
    _rule(
        "truth-of-both", "where(p and q, 1, 0)", "where(p, 1, 0) * where(q, 1, 0)",
        _PRODUCTS + "ChoiceForms._combined", "choices", p="bit", q="bit",
    ),
    _rule(
        "truth-of-either", "where(p or q, 1, 0)",
        "where(p, 1, 0) + where(q, 1, 0) - where(p, 1, 0) * where(q, 1, 0)",
        _PRODUCTS + "ChoiceForms._combined", "choices", p="bit", q="bit",
    ),
    Rule(
        "choices/number", Theory.FLOAT, "where(is_number(x), x, y)", "x", "normal_forms.readings:_select",
        supposed="is_number(x)", source=Source.MANUAL, fails={"x": "0x7fff", "y": "0x1"},
    ),
)  # fmt: skip

RULES = (*COMPARISONS, *BOOLEAN, *CHOICES)
