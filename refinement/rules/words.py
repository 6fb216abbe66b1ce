"""Words whose bits are moved, masked and combined: rules of `terms.bit_slices` and `terms.truth_tables`.

``k`` is a number of bits, less than the width of a word; ``low(x, k)`` are so many bits, and ``high(x, k)``
what is left without them.
"""

from __future__ import annotations

from .rule import Rule, Source, Theory

_SLICES = "terms.bit_slices:"
_SHIFT = "ptx.scalar.term_words:TermWords.shift"
_TABLES = "terms.truth_tables:"


def _rule(name: str, left: str, right: str, place: str, source: Source = Source.DERIVATION) -> Rule:
    return Rule(f"bits/{name}", Theory.BITS, left, right, place, source=source)


MOVED = (
    _rule("shifted-left", "x << k", "concatenated(low(x, width - k), zeros(k))", _SLICES + "shift_left",
          Source.MANUAL),
    _rule("shifted-right", "x >> k", "concatenated(zeros(k), high(x, k))", _SHIFT,
          Source.MANUAL),
    _rule("shifted-right-with-sign", "arithmetic_shift(x, k)", "sign_extended(high(x, k), k)",
          _SHIFT, Source.MANUAL),
    _rule("multiple-of-power-of-two", "low(x * 2 ** k, width)", "x << k", _SLICES + "_multiples"),
    _rule("shifted-there-and-back", "(x << k) >> k", "x & (2 ** (width - k) - 1)", _SHIFT),
    _rule("taken-apart", "concatenated(high(x, k), low(x, k))", "x", "terms.slices:join"),
    _rule("masked", "x & (2 ** k - 1)", "concatenated(zeros(width - k), low(x, k))", _TABLES + "_even"),
    _rule("masked-above", "x & (2 ** width - 2 ** k)", "(x >> k) << k", _TABLES + "_even"),
    _rule("rotated", "(x << k) | (x >> (width - k))", "concatenated(low(x, width - k), high(x, width - k))",
          _TABLES + "_restricted"),
)  # fmt: skip

COMBINED = (
    _rule("and-with-itself", "x & x", "x", _TABLES + "_identified"),
    _rule("exclusive-or-with-itself", "x ^ x", "x - x", _TABLES + "_identified"),
    _rule("and-with-zeros", "x & 0", "0", _TABLES + "_restricted"),
    _rule("or-with-zeros", "x | 0", "x", _TABLES + "_restricted"),
    _rule("or-with-ones", "x | (2 ** width - 1)", "low(0 - 1, width)", _TABLES + "_restricted"),
)

ADDED = (
    _rule("slice-of-sum", "low(high(x + y, 1), k)", "high(low(x, k + 1) + low(y, k + 1), 1)",
          "equality.narrow_sums:NarrowSums.applied"),
    _rule("slice-of-product", "low(high(x * y, 1), k)", "high(low(x, k + 1) * low(y, k + 1), 1)",
          "equality.narrow_sums:NarrowSums.applied"),
    _rule("half-added", "low(x + 2 ** (k - 1), k)", "low(x ^ 2 ** (k - 1), k)",
          "equality.halved_sums:HalvedSums.applied"),
    Rule(
        "bits/disjoint-sum", Theory.BITS, "x + y", "x | y", _SLICES + "_sum", guard="x & y == 0",
        fails={"x": "1", "y": "1"}, sorts={"x": "even bits", "y": "odd bits"},
    ),
    _rule("masked-difference", "x - (x & (2 ** width - 2 ** k))", "x & (2 ** k - 1)",
          _SLICES + "_masked_differences"),
    Rule(
        "bits/known-carry", Theory.BITS, "concatenated(x, y) + concatenated(z, w)",
        "concatenated(x + z, y + w)", "terms.segmented_sums:_parts",
        guard="unsigned(y) + unsigned(w) < 2 ** width",
        fails={"x": "0", "y": "255", "z": "0", "w": "1"}, sorts={"y": "below half", "w": "below half"},
    ),
    Rule(
        "bits/known-borrow", Theory.BITS, "concatenated(x, y) + concatenated(z, w)",
        "concatenated(x + z + 1, y + w)", "terms.segmented_sums:_sum",
        guard="unsigned(y) + unsigned(w) >= 2 ** width",
        fails={"x": "0", "y": "0", "z": "0", "w": "0"}, sorts={"y": "above half", "w": "above half"},
    ),
)  # fmt: skip

RULES = (*MOVED, *COMBINED, *ADDED)
