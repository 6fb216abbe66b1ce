"""Real expressions at a random point modulo the prime 2^61 - 1, with functions that equations define.

Sums, products and quotients are those of the field. An application of a function, of a comparison or of a
choice is a random residue, the same for the same arguments (congruence), unless an equation has defined it.
The greatest of numbers depends on the set of them alone.

Residues carry the degrees of the rational function whose value they are. Two different functions of degrees
at most d agree at a random point with a probability of at most 2·d / (2^61 - 1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import inf, isinf
from operator import mul
from secrets import randbelow
from typing import Any, NamedTuple

PRIME = (1 << 61) - 1

UNARY = ("rcp", "ex2", "lg2", "sqrt", "rsqrt", "tanh", "erf", "sin", "cos")
"""Functions of one real number that rules know."""

NOT_NEGATIVE = ("ex2", "sqrt", "rsqrt")
"""Those that are never negative."""

Key = tuple[str | int | frozenset[int], ...]
"""A function, and the residues that it is applied to."""


class Residue(NamedTuple):
    """A number modulo the prime, of which function it is the value, and bounds of the real number.

    Attributes
    ----------
    value : int
        The number.
    upper, lower : int
        Degrees of the numerator and of the denominator.
    least, most : number
        Bounds for all data.
    """

    value: int
    upper: int = 0
    lower: int = 0
    least: Any = -inf
    most: Any = inf

    def within(self, least: Any, most: Any) -> Residue:
        """Return the same with other bounds."""
        return self._replace(least=least, most=most)


def number(value: Fraction | int) -> Residue:
    """Return a rational number."""
    return Residue(value.numerator * pow(value.denominator, -1, PRIME) % PRIME, 0, 0, value, value)


def plus(left: Residue, right: Residue) -> Residue:
    """Return a sum."""
    upper = max(left.upper + right.lower, right.upper + left.lower)
    value, lower = (left.value + right.value) % PRIME, left.lower + right.lower
    return Residue(value, upper, lower, left.least + right.least, left.most + right.most)


def negated(of: Residue) -> Residue:
    """Return the opposite."""
    return Residue(-of.value % PRIME, of.upper, of.lower, -of.most, -of.least)


def times(left: Residue, right: Residue) -> Residue:
    """Return a product."""
    found = Residue(left.value * right.value % PRIME, left.upper + right.upper, left.lower + right.lower)
    unbounded = any(isinf(each.least) and isinf(each.most) for each in (left, right))
    return found if unbounded else found.within(*_bounds_of_product(left, right))


def _bounds_of_product(left: Residue, right: Residue) -> tuple[Any, Any]:
    ends = [0 if 0 in (x, y) else x * y for x in left[3:] for y in right[3:]]
    return min(ends), max(ends)


def total(left: Sequence[Residue], right: Sequence[Residue]) -> Residue:
    """Return the sum of the products of two rows."""
    if not left:
        return number(0)
    x, upper, lower, least, most = zip(*left, strict=True)
    y, more, less, low, high = zip(*right, strict=True)
    below = max(lower) + max(less)
    above = max(upper) + max(more) + (len(x) - 1) * below
    found = Residue(sum(map(mul, x, y)) % PRIME, above, len(x) * below)
    if isinf(min((*least, *low))) or isinf(max((*most, *high))):
        return found
    reach = len(x) * max(map(abs, (*least, *most))) * max(map(abs, (*low, *high)))
    return found.within(-reach, reach)


def inverse(of: Residue) -> Residue:
    """Return the reciprocal; there is none of what is 0 for all inputs, a ValueError."""
    return Residue(pow(of.value, -1, PRIME), of.lower, of.upper, 0 if of.least >= 0 else -inf, inf)


class Point:
    """A random point: residues of applications, drawn when they are first asked for.

    Attributes
    ----------
    functions : mapping of str to callable
        The meaning of expressions of rules.
    constants : mapping of str to Residue
        Irrational numbers that rules name.
    degree : int
        The greatest degree of numbers of which something depends on whether they are equal.
    """

    def __init__(self) -> None:
        self._applied: dict[Key, Residue] = {}
        self._drawn: dict[int, tuple[int, Key]] = {}
        self._members: dict[int, frozenset[int]] = {}
        self.degree = 1
        log2_of_e, self.infinity = self.applied("log2(e)"), self.applied("infinity")
        self.functions: Mapping[str, Callable[..., Residue]] = {
            "number": lambda value: number(Fraction(value)),
            "+": plus, "-": lambda x, y: plus(x, negated(y)), "*": times, "negated": negated,
            "rcp": inverse, "/": lambda x, y: times(x, inverse(y)),
            "max": self.greatest, "where": self.chosen,
            "min": lambda x, y: negated(self.greatest(negated(x), negated(y))),
            **{sign: partial(self._compared, sign) for sign in ("<", "<=", "==", "!=")},
            ">": lambda x, y: self._compared("<", y, x), ">=": lambda x, y: self._compared("<=", y, x),
            "infinity": lambda: self.infinity,
            **{name: partial(self.function, name) for name in (*UNARY[1:], "is_number")},
        }  # fmt: skip
        self.constants = {
            "log2_of_e": log2_of_e,
            "ln_of_2": inverse(log2_of_e),
            "log2_of_10": self.applied("log2(10)"),
        }

    @property
    def applications(self) -> int:
        """How many applications there are."""
        return len(self._applied)

    def applied(self, *key: str | int | frozenset[int]) -> Residue:
        """Return the residue of an application."""
        found = self._applied.get(key)
        if found is None:
            found = Residue(randbelow(PRIME), 1)
            self._drawn[found.value] = len(self._applied), key
            self._applied[key] = found
        return found

    def function(self, name: str, *arguments: Residue) -> Residue:
        """Return a function of which nothing is known but what equations say."""
        self.note(*arguments)
        found = self.applied(name, *(argument.value for argument in arguments))
        return found.within(0, inf) if name in NOT_NEGATIVE else found

    def note(self, *compared: Residue) -> None:
        """Note the degrees of numbers that something depends on the equality of."""
        self.degree = max(self.degree, *(max(each.upper, each.lower) for each in compared))

    def greatest(self, left: Residue, right: Residue) -> Residue:
        """Return the maximum: of the same numbers the same, however they are grouped."""
        self.note(left, right)
        sides = [self._members.get(each.value, {each.value}) for each in (left, right)]
        members = frozenset[int]().union(*sides)
        found = self.applied("max", members) if len(members) > 1 else left
        if found.value in self._drawn:
            self._members.setdefault(found.value, members)
        return found.within(max(left.least, right.least), max(left.most, right.most))

    def chosen(self, condition: Residue, then: Residue, otherwise: Residue) -> Residue:
        """Return the choice by a condition."""
        found = then if then.value == otherwise.value else self.function("where", condition, then, otherwise)
        return found.within(min(then.least, otherwise.least), max(then.most, otherwise.most))

    def _compared(self, sign: str, left: Residue, right: Residue) -> Residue:
        sides = sorted((left, right)) if sign in ("==", "!=") else (left, right)
        return self.function(sign, *sides)

    def equated(self, left: Callable[[], Residue], right: Callable[[], Residue]) -> bool:
        """Have two sides be equal, by defining one that is an application which nobody has asked for before.

        Parameters
        ----------
        left, right : callable
            Evaluate the sides at this point.

        Returns
        -------
        bool
            Whether they are: equal already, or by definition.
        """
        known = len(self._applied)
        sides = left(), right()
        self.note(*sides)
        if sides[0].value == sides[1].value:
            return True
        for defined, meaning, side in ((0, 1, right), (1, 0, left)):
            for sign in (Residue._make, negated):
                order, key = self._drawn.get(sign(sides[defined]).value, (-1, ()))
                if order < known:
                    continue
                drawn, self._applied[key] = self._applied[key], Residue(randbelow(PRIME), 1)
                if side().value == sides[meaning].value:  # which the application is not part of
                    self._applied[key] = sign(sides[meaning])
                    del self._drawn[drawn.value]
                    self._members.pop(drawn.value, None)
                    return True
                self._applied[key] = drawn
        return False
