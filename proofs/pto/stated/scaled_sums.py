"""Scaled products of the simulator, whose sums are kept in f64: what exact fractions, rounded, make of them.

Source: pto-isa at 3186c381, include/pto/cpu/TMatmul.hpp (TMatmulMxNzZn: a double accumulates the products and
the accumulator read; the sum is rounded to float, and the bias is added to that).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from .operand_spelling import operand

GROUP, GROUPS = 32, 2
LARGE, SMALL = Fraction(256), Fraction(1, 64)
"""Elements of E4M3: 2^8 and 2^-6, whose squares are 28 binary places apart."""

ROWS = tuple(product((31, 16, 15, 3), (0, 3)))
"""Of A: how many small elements follow the large one, and the exponent of the scale factors."""

_STARTS = (Fraction(0), Fraction(1, 256), Fraction(-65536), Fraction(1, 1024), Fraction(1, 2**60))
COLUMNS = tuple(product((0, -5), _STARTS))
"""Of B, all of whose elements but the first are small: the exponent of the scale factors, and what is added
to the sum, before or after it is rounded. The last one f64 loses: a sum half way between two numbers of f32
stays there."""

OPERATIONS = {"tmatmul.mx": "", "tmatmul.mx.acc": "c", "tmatmul.mx.bias": "bias"}
"""Products, and the operand that each has besides factors and scale factors."""

_ELEMENTS = (LARGE, *[SMALL] * (GROUP - 1))


def text(operation: str) -> str:
    """Return the statement, of the simulator: 16 x 64 times 64 x 32."""
    tiles = {"a": "left 16x64xf8E4M3FN L", "scale_a": "scale_left 16x2xf8E8M0FNU Zz",
             "b": "right 64x32xf8E4M3FN Zn", "scale_b": "scale_right 2x32xf8E8M0FNU Nn"}  # fmt: skip
    names = {role: f"%{role}" for role in tiles}
    acc = "acc 16x32xf32 Nz"
    if OPERATIONS[operation] == "c":
        tiles, names = {"c": acc, **tiles}, {"c": "%d", **names}
    elif OPERATIONS[operation] == "bias":
        tiles["bias"], names["bias"] = "bias 1x32xf32 ND", "%bias"
    types = ", ".join(str(operand(spelled, "CPU")) for spelled in tiles.values())
    return f"pto.{operation} ins({', '.join(names.values())} : {types}) outs(%d : {operand(acc, 'CPU')})"


def arrays(operation: str) -> dict[str, NDArray[np.float64]]:
    """Return the matrices; the second group of factors is 0, and so are other rows and columns."""
    a, b = np.zeros((16, GROUP * GROUPS)), np.zeros((GROUP * GROUPS, 32))
    scale_a, scale_b, start = np.ones((16, GROUPS)), np.ones((GROUPS, 32)), np.zeros(32)
    for row, (small, exponent) in enumerate(ROWS):
        a[row, : 1 + small] = [float(each) for each in _ELEMENTS[: 1 + small]]
        scale_a[row] = 2.0**exponent
    for column, (exponent, first) in enumerate(COLUMNS):
        b[:GROUP, column] = [float(each) for each in _ELEMENTS]
        scale_b[:, column], start[column] = 2.0**exponent, float(first)
    found: dict[str, NDArray[np.float64]] = {"a": a, "b": b, "scale_a": scale_a, "scale_b": scale_b}
    if (role := OPERATIONS[operation]) != "":
        found[role] = np.broadcast_to(start, (16 if role == "c" else 1, 32)).copy()
    return found


def result(operation: str, row: int, column: int) -> float:
    """Return an element of D: f64 holds every sum of products exactly."""
    (small, left), (right, start) = ROWS[row], COLUMNS[column]
    products = (each * each for each in _ELEMENTS[: 1 + small])
    total = sum(products, Fraction(0)) * Fraction(2) ** (left + right)
    if OPERATIONS[operation] == "c":
        return float(np.float32(float(total + start)))
    rounded = Fraction(float(np.float32(float(total))))
    return float(np.float32(float(rounded + (start if OPERATIONS[operation] else 0))))
