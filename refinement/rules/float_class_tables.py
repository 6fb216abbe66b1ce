"""What sums, products and quotients of float classes are, and the signs of functions.

Classes are NaN, the infinities, negative numbers, 0 and positive numbers, here of the extended real numbers:
no result is rounded. A sum of numbers of both signs may be of either; that it is 0 is excluded by hypothesis.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

CLASSES = ("nan", "-inf", "-", "0", "+", "+inf")
"""Names of classes, in increasing order."""

Table = Mapping[tuple[str, str], frozenset[str]]
"""The classes of results by those of two operands."""

_SUMS = """
        nan    -inf   -      0      +      +inf
nan     nan    nan    nan    nan    nan    nan
-inf    nan    -inf   -inf   -inf   -inf   nan
-       nan    -inf   -      -      -|+    +inf
0       nan    -inf   -      0      +      +inf
+       nan    -inf   -|+    +      +      +inf
+inf    nan    nan    +inf   +inf   +inf   +inf
"""

_PRODUCTS = """
        nan    -inf   -      0      +      +inf
nan     nan    nan    nan    nan    nan    nan
-inf    nan    +inf   +inf   nan    -inf   -inf
-       nan    +inf   +      0      -      -inf
0       nan    nan    0      0      0      nan
+       nan    -inf   -      0      +      +inf
+inf    nan    -inf   -inf   nan    +inf   +inf
"""

_QUOTIENTS = """
        nan    -inf   -      0          +      +inf
nan     nan    nan    nan    nan        nan    nan
-inf    nan    nan    +inf   -inf|+inf  -inf   nan
-       nan    0      +      -inf|+inf  -      0
0       nan    0      0      nan        0      0
+       nan    0      -      -inf|+inf  +      0
+inf    nan    nan    -inf   -inf|+inf  +inf   nan
"""


def _table(text: str) -> Table:
    columns, *rows = (line.split() for line in text.strip().splitlines())
    return MappingProxyType(
        {
            (row, column): frozenset(entry.split("|"))
            for row, *entries in rows
            for column, entry in zip(columns, entries, strict=True)
        }
    )


SUMS, PRODUCTS, QUOTIENTS = map(_table, (_SUMS, _PRODUCTS, _QUOTIENTS))

FUNCTION_SIGNS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "ex2": ("+", "+"),
        "exp": ("+", "+"),
        "sigmoid": ("+", "+"),
        "tanh": ("-", "+"),
        "erf": ("-", "+"),
        "rcp": ("-", "+"),
        "lg2": ("nan", "-|+"),
        "log": ("nan", "-|+"),
        "sqrt": ("nan", "+"),
        "rsqrt": ("nan", "+"),
    }
)
"""What functions make of negative and of positive numbers; others make a number of either sign."""
