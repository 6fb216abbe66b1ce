"""Pairs of formulas of real numbers, in families: one rule relates those whose parameters are the same."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any, NamedTuple

import numpy as np
from real_expressions import Tree

LOG2_OF_E, LN_OF_2 = float(np.float32(np.log2(np.e))), float(np.float32(np.log(2)))
HI = float(np.float32(1.4426949))
LO = float(np.float32(np.log2(np.e) - HI))


class X(NamedTuple):
    """An expression that is written with operators."""

    tree: Tree

    def __add__(self, other: Any) -> X:  # type: ignore[override]
        return X(("add", self.tree, of(other).tree))

    def __mul__(self, other: Any) -> X:  # type: ignore[override]
        return X(("multiply", self.tree, of(other).tree))

    def __sub__(self, other: Any) -> X:
        return self + -of(other)

    def __truediv__(self, other: Any) -> X:
        return X(("div", self.tree, of(other).tree))

    def __neg__(self) -> X:
        return X(("negate", self.tree))


def of(value: Any) -> X:
    return value if isinstance(value, X) else X(("number", float(value)))


def function(name: str) -> Callable[..., X]:
    return lambda *given: X((name, *(of(each).tree for each in given)))


ex2, lg2, sqrt, rsqrt, rcp, tanh, erf, sin, cos, largest, least, select = map(
    function,
    ["ex2", "lg2", "sqrt", "rsqrt", "rcp", "tanh", "erf", "sin", "cos", "max", "min", "select"],
)
INPUTS = 4
x, y, z, s = (X(("input", place)) for place in range(INPUTS))
"""Numbers; the last is negative at two of the points, and 0 at one."""

POINTS = (
    (Fraction(7, 5), Fraction(2, 3), Fraction(11, 8), Fraction(9, 16)),
    (Fraction(1, 3), Fraction(9, 4), Fraction(5, 7), Fraction(-13, 8)),
    (Fraction(19, 8), Fraction(3, 7), Fraction(5, 3), Fraction(-1, 5)),
    (Fraction(4, 9), Fraction(7, 8), Fraction(2, 5), Fraction(0)),
)

Pair = tuple[X, X]
Family = Callable[[Random], list[Pair]]
"""Makes pairs that are about one rule, some of them equal."""


def exp(value: X) -> X:
    return ex2(value * LOG2_OF_E)


def log(value: X) -> X:
    return lg2(value) * LN_OF_2


def near(random: Random, value: Any, others: list[Any]) -> Any:
    """Return a parameter of the second formula: that of the first, or another one."""
    return value if random.random() < 0.5 else random.choice(others)


# -- families
def quotients(random: Random) -> list[Pair]:
    """``2^(n y) / (1 + c 2^y)`` in steps."""
    coefficients = [0.5, 1.0, 2.0, 4.0, -0.25]
    a, c, step = random.choice(coefficients), random.choice([0.5, 1.0, 2.0]), random.choice([-1, 1, 2])
    b, d = near(random, a, coefficients), near(random, c, [0.5, 1.0, 2.0])
    divisor, other = of(1) + ex2(x) * c, of(1) + ex2(x) * d
    whole = ex2(x * step) * a / divisor
    steps = {
        1: of(b / d) - of(b / d) / other,
        2: ex2(x) * (b / d) - of(b / d) * (of(1 / d) - of(1 / d) / other),
        -1: ex2(-x) * b - of(b * d) / other,
    }[near(random, step, [-1, 1, 2])]
    if random.random() < 0.3:  # of two divisors
        whole, steps = whole / (of(1) + ex2(z)), steps / (of(1) + ex2(z))
    outer = random.choice([ex2, lambda each: each, lambda each: sqrt(each * each + y)])
    return [(outer(whole), outer(steps))]


def products(random: Random) -> list[Pair]:
    """Roots and logarithms of ``a - b / (1 + c 2^y)``, which is a product where a = b."""
    a, c = random.choice([1.0, 4.0, 2.0]), random.choice([1.0, 2.0, 0.5])
    b, d = near(random, a, [1.0, 2.0, 0.5]), near(random, c, [1.0, 4.0])
    e = near(random, a, [1.0, 3.0])
    divisor, other = of(1) + ex2(x) * c, of(1) + ex2(x) * d
    outer = random.choice([lg2, sqrt, rsqrt, rcp])
    factor = random.choice([of(1), y])
    divided = near(random, factor, [z])
    return [(outer(factor * a - divided * b / divisor), outer(factor * (e * d) * ex2(x) / other))]


def powers(random: Random) -> list[Pair]:
    """Powers of sums, and of logarithms."""
    n, halves = random.choice([-3, -1.5, 2]), random.choice([1, 2, 3, 4, -1, -2])
    m, other = near(random, n, [-2, 0.25, 1]), near(random, halves, [1, 2, -1, 5])
    value = {1: sqrt(y), 2: y, 3: y * sqrt(y), 4: y * y, -1: rsqrt(y), -2: rcp(y), 5: y * y * sqrt(y)}[other]
    grown = near(random, 2.0, [4.0, 1.0])
    return [
        (ex2(x + n), ex2(x) * 2.0**m),
        (ex2(x + lg2(y) * (halves / 2)), ex2(x) * value),
        (ex2(lg2(y + z) * grown) + x, (y + z) * (y + z) + x),
        (lg2(ex2(x) * y * 4.0), x * grown * 0.5 + lg2(y) + n / n * 2),
        (lg2(y * (z + 1)), lg2(y) * (grown / 2) + lg2(z + 1)),
        (lg2(ex2(-x) * s * s + ex2(x)), -x + lg2(s * s + ex2(x * grown))),
        (lg2(ex2(s) / (ex2(x) + ex2(y))), s - x - lg2(of(1) + ex2(y * grown * 0.5 - x))),
        (sqrt(ex2(x * 2.0) * y), ex2(x * (grown / 2)) * sqrt(y)),
        (lg2(of(0.75) * ex2(x)), x + lg2(of(near(random, 0.75, [1.5]))) * 1.0),
    ]


def roots(random: Random) -> list[Pair]:
    a = random.choice([4.0, 2.0, 0.25, 8.0])
    b = near(random, a**0.5 if a in (4.0, 0.25) else 2.0, [2.0, 1.0, 4.0])
    return [
        (sqrt(x * a), sqrt(x) * b),
        (sqrt(x + y) * sqrt(y + x), x + y * (b / b)),
        (rsqrt(x * x + y) * rsqrt(y + x * x), rcp(x * x + y * near(random, 1, [2]))),
        (x * rsqrt(x), sqrt(x * near(random, 1, [2.0]))),
        (sqrt(s * s), s),
        (sqrt(s * s * x), s * sqrt(x)),
        (rsqrt(x * 4.0 + y * 8.0), rsqrt(x + y * 2.0) * near(random, 0.5, [2.0, 0.25])),
        (sqrt((x + y) / (y + z)), sqrt(x + y) * rsqrt(y + z * near(random, 1, [2]))),
        (sqrt(s * s + x) * sqrt(s * s + x) / (s * s + x), of(near(random, 1, [2.0])) + s * 0),
        (lg2(s * s), lg2(s) * 2.0),
        (lg2(sqrt(x) / (y + 1)), lg2(x) * near(random, 0.5, [1.0]) - lg2(y + 1)),
        (lg2((x + y) * s), lg2(x + y) + lg2(s)),
        (lg2(sqrt(x + y)), lg2(x + y) * near(random, 0.5, [0.25])),
        (rcp(x * -2.0), rcp(x) * near(random, -0.5, [0.5])),
        (sqrt(s * -2.0), sqrt(s * -0.5) * near(random, 2.0, [4.0])),
        (sqrt(x + y) * sqrt(x + y) / (y + z), (x + y) / (y + z * near(random, 1, [2]))),
    ]


def hyperbolic(random: Random) -> list[Pair]:
    n = near(random, 2.0, [1.0, -2.0])
    sign = near(random, -1.0, [1.0])
    return [
        (tanh(x), of(1) - of(2) / (exp(x * n) + 1)),
        (tanh(x * 0.5) * 0.5 + 0.5, rcp(of(1) + exp(x * near(random, -1.0, [1.0, 2.0])))),
        (tanh(x), (exp(x) - exp(-x)) / (exp(x) + exp(-x * (n / 2)))),
        (tanh(-s), tanh(s) * sign),
        (erf(y - x), erf(x - y) * sign),
        (cos(y - x), cos(x - y) * -sign),
        (sin(s * -0.5), sin(s * 0.5) * sign),
        (tanh(x * LN_OF_2), of(1) - of(2) / (ex2(x * n) + 1)),
    ]


def literals(random: Random) -> list[Pair]:

    def n() -> float:
        return float(near(random, 1.0, [2.0, 0.5]))

    return [
        (log(exp(x)), x * n()),
        (exp(log(x)), x * n()),
        (exp(x - y), exp(x) / exp(y * n())),
        (ex2(x), exp(x * n())),
        (ex2(x * HI + x * LO), exp(x * n())),
        (ex2(x * HI + x * (LO * near(random, 1, [3000.0]))), exp(x)),
        (ex2(x * LOG2_OF_E + x * near(random, 1e-9, [1e-3, 1e-5])), exp(x)),
        (lg2(exp(x)) * LN_OF_2, x * n()),
        (ex2(x) * ex2(x * (LOG2_OF_E - 1)), exp(x)),
    ]


MASKS = [-1e6, -1e4, -1e9, -65504.0]


def masks(random: Random) -> list[Pair]:
    """What a finite mask is added to is no number beside others."""
    mask = random.choice([*MASKS, -3.0, -12.0, -3.0, 1e6, -5000.0])
    alone = random.choice([False, True])
    shown = ex2(x) * z + ex2(y)
    return [
        (ex2(x + mask) * s + shown, shown),
        ((ex2(x) * z + exp(y + mask) * s) / (ex2(x) + exp(y + mask)), z * near(random, 1, [2])),
        (ex2(x + mask) * ex2(y - mask), of(0) * x),
        (ex2(x + mask) / (ex2(x + mask) + ex2(y + mask)), of(0) * x),
        (ex2(x + mask) / ex2(y + near(random, mask, [-5000.0])), of(0) * x),
        (lg2(ex2(x + mask)) + -mask, x if alone else of(0) * x),
        (ex2(x * mask), of(0) * x),
        (ex2(largest(x + mask, y) - y), of(1) + x * 0),
        (ex2(x - 8200.0) * ex2(y + 8190.0), of(0) * x),
        (rcp(of(1) + ex2(s * mask)), of(1) + s * 0),
    ]


def fractions(random: Random) -> list[Pair]:
    one = random.choice([3, 7, 10, 24, 1000])
    part = 1 / near(random, one, [3, 11, 999, 25])
    return [
        (x * (1 / one) * one, x * near(random, 1, [1.001])),
        (x * 0.1 + x * 0.2, x * near(random, 0.3, [0.3001])),
        (rsqrt(x * x * (1 / one) + 1), rsqrt(x * x * part + 1)),
        ((x + y) * (1 / one), x * part + y * part),
        (x * 0.33333, x * near(random, 1 / 3, [0.3333])),
        (sqrt(x * 0.1 + x * 0.2), sqrt(x * near(random, 0.3, [0.3001, 0.29999]))),
    ]


def maxima(random: Random) -> list[Pair]:
    which = random.choice([largest, least])
    other = near(random, which, [largest, least])
    a, b = random.choice([2.0, -1.0, 0.5, -2.0]), random.choice([-1.0, 0.0, 1.0])
    c = near(random, a, [1.0, 2.0, -1.0, -0.5])
    low, high = random.choice([(-1.0, 1.0), (0.0, 0.5), (1.0, -1.0)])
    below, above = (low, high) if random.random() < 0.6 else (high, low)
    opposite = {largest: least, least: largest}[other]
    return [
        (which(x * a, s * a), (other if c > 0 else opposite)(x, s) * c),
        (which(s + x, y + x), other(s, y) + x * near(random, 1, [2])),
        (which(which(s, x), y), other(y, other(x, s))),
        (which(which(s, x), s * near(random, 1, [-1])), other(x, s)),
        (which(s * x, s * y), other(x, y) * s),
        (which(ex2(s) * y, ex2(s) * s), ex2(s) * other(s, y)),
        (which(s, s + b), s + near(random, max(b, 0.0) if which is largest else min(b, 0.0), [b])),
        (select(s, x, s, x), other(s, x)),
        (select(s, x, x, s), other(s, x)),
        (select(s, x, s * 2.0 + 1, x * 2.0 + 1), other(s, x) * near(random, 2, [1]) + 1),
        (select(s, of(b), s, of(b)), other(s, b)),
        (select(s, of(0), s, s * 0.01), other(s, s * 0.01)),
        (least(largest(s, low), high), largest(least(s, above), below)),
        (largest(s * x, -(s * x)), largest(s, -s) * near(random, largest(x, -x), [x])),
        (largest(s, -s) * largest(s, -s), s * s * near(random, 1, [-1])),
        (largest(largest(s, -s), 0.0), largest(s, -s if random.random() < 0.7 else -x)),
        (largest(s * s, 0.0), s * s),
        (largest(s * y, 0.0), s * y),
        (which(least(s, x), y), other(y, least(x, s))),
        (which(-largest(s, x), -y), other(-y, least(-x, -s))),
        (largest(s * s * x, -(s * s * x)), s * s * largest(x, -x)),
        (select(s, of(0), x, y), which(x, y)),
        (largest(which(s, x), 0.0), which(s, x)),
        (which(s, x) - which(s, y), of(0) * s),
        (which(s, x) * 2.0, other(s * 2.0, x * near(random, 2, [1]))),
    ]


def crosswise(random: Random) -> list[Pair]:
    n = near(random, 1, [2, -1])
    return [
        (x / y + s / z, (x * z + s * y * n) / (y * z)),
        (rcp(rcp(x) + rcp(y)), x * y / (x + y * n)),
        ((x + s) * (z / (x + s)), z * n),
        (x / (x + y) + y / (x + y), of(1) + s * 0 + (n - 1)),
        (x / (y - y), z / (y - y)),
        (x / y / y + z / y, (x + z * y * (1 if n == 1 else y)) / (y * y)),
        (x / (y + z) / (y + z) - s / (y + z), (x - s * (y + z) * n) / ((y + z) * (y + z))),
        (ex2(x - s) / (ex2(x - s) + ex2(y - s)), ex2(x) / (ex2(x) + ex2(y) * n)),
        (ex2(x - s) / (ex2(x - s) + ex2(y - z)), ex2(x) / (ex2(x) + ex2(y))),
        (x / (x * y * 2.0), rcp(y) * (n / 2)),
    ]


def signs(random: Random) -> list[Pair]:
    """Choices by the sign of a number, and extrema that are the same whatever it is."""

    def n() -> float:
        return float(near(random, 1.0, [2.0, -1.0]))

    zero = of(near(random, 0.0, [1.0]))
    size, up, down = largest(s, -s), largest(s, 0.0), least(s, 0.0)
    grown = of(1) + exp(s)
    gap = s - x
    far = largest(gap, -gap)
    near_1 = least(far, 1.0)
    return [
        (select(s, of(0), s, exp(s) - 1), up + exp(down) * n() - 1),
        (select(of(0), s, exp(s) - 1, s), up + exp(down) - n()),
        (up + log(of(1) + exp(-size)), log(grown) * n()),
        (least(s, 0.0) - log(of(1) + exp(-size)), -log(of(1) + exp(-s * n()))),
        (select(s, of(0), rcp(of(1) + exp(-s)), exp(s) / (grown * n())), exp(s) / grown),
        (up - s * x + log(of(1) + exp(-size * n())), log(grown) - s * x),
        (select(far, of(1), far - 0.5, far * far * 0.5), near_1 * (far - near_1 * 0.5 * n())),
        (up * down, of(0) * s + (n() - 1)),
        (up * n(), of(0) * s),
        (up + largest(x - y, 0.0), select(s, of(0), s + x - y, of(0))),
        (select(of(0), s, y, x), select(s, of(0), y, x)),
        (select(s, of(0), s + 1, select(of(0), s, s + 1, s * 2.0)), s + 1),
        (up - down, size * n()),
        (select(s, of(0), x, y), select(of(0), s, y, x + zero)),  # not at 0
        (select(s, of(0), of(1), of(0)), of(1) - select(of(0), s, of(1), of(0))),
        (select(s, of(0), up, -down), size * n()),
        (exp(size) + exp(-size), exp(s) + exp(-s * n())),
        (sqrt(s * s * x), size * sqrt(x)),
        (select(s, of(0), x / s, y), select(s, of(0), x / size, y * n())),
        (select(s, x, s, x) - select(x, s, s, x), gap * near(random, 0, [1]) + far),
    ]


FAMILIES: tuple[Family, ...] = (
    quotients, products, powers, roots, hyperbolic, literals, masks, fractions, maxima, crosswise, signs,
)  # fmt: skip
