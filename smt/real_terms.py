"""Numbers as terms over the reals, with what is known of their magnitude and of the places they reach.

A number is a polynomial times a power of two whose exponent may be a term, too, so that aligning a number by
an unknown exponent, and back, changes nothing but that exponent. Products, truncated and rounded numbers,
powers of two, magnitudes and exponents are constants of which `Facts` hold: no solver multiplies unknowns.
What holds whatever these constants are, if the facts are true of them, holds of the numbers that they name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import z3

Polynomial = Mapping[tuple[str, ...], Fraction]
"""Coefficients by monomials, which are the sorted names of constants."""

_LARGEST_POWER = 1 << 11
"""Powers of two whose exponents are further from 0 are not written out."""


@dataclass
class Facts:
    """What is true of the constants that terms are made of, each stated once."""

    _stated: dict[int, Any] = field(default_factory=dict)
    _named: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def named(self, kind: str, *of: Any, sort: Any = None) -> tuple[Any, bool]:
        """Return the constant of a kind that belongs to some terms, and whether it is new."""
        key = (kind, *(each.get_id() for each in of))  # equal terms are one in Z3 while one of them is kept
        if key in self._named:
            return self._named[key][0], False
        number = self._counts[kind] = self._counts.get(kind, -1) + 1
        constant = z3.Const(f"{kind} {number}", z3.RealSort() if sort is None else sort)
        self._named[key] = constant, of
        return constant, True

    def named_constants(self) -> Iterator[tuple[str, tuple[Any, ...], Any]]:
        """Yield kinds of constants, what they belong to, and the constants, in the order they were made."""
        for (kind, *_), (constant, of) in self._named.items():
            yield kind, of, constant

    def add(self, *conditions: Any) -> None:
        """Add facts."""
        for condition in conditions:
            self._stated.setdefault(condition.get_id(), condition)

    @property
    def conditions(self) -> list[Any]:
        """The facts."""
        return list(self._stated.values())

    # -- powers of two
    def power(self, exponent: Any) -> Any:
        """Return two to the power of an integer term; 2^(e + n) is 2^n times 2^e."""
        rest, number = _split(exponent)
        if rest is None:
            return z3.RealVal(Fraction(2) ** number)
        found, new = self.named("power", rest)
        if new:
            self.add(found > 0)
        return _times(Fraction(2) ** number, found)

    def whole_power(self, exponent: Any) -> Any:
        """Return a power of two, noting that it is no less than 2 if its exponent is positive."""
        found = self.power(exponent)
        self.add(z3.Implies(_integer(exponent) >= 1, found >= 2))
        return found

    def is_one_of(self, exponent: Any, cases: Iterable[tuple[Any, Any]]) -> None:
        """Add that for some case its condition holds, the exponent is the case's, and so is its power."""
        choices = []
        for condition, case in cases:
            number = _split(case)
            small = number[0] is not None or abs(number[1]) <= _LARGEST_POWER
            same_power = [self.power(exponent) == self.power(case)] if small else []
            choices.append(z3.And(condition, exponent == case, *same_power))
        self.add(z3.Or(*choices))

    def largest(self, exponents: Sequence[Any]) -> Any:
        """Return the largest of some exponents."""
        terms = [_integer(exponent) for exponent in exponents]
        found, new = self.named("largest", *terms, sort=z3.IntSort())
        if new:
            self.add(*(found >= term for term in terms))
            self.is_one_of(found, ((z3.BoolVal(True), term) for term in terms))
        return found

    def chosen(self, condition: Any, then: Any, otherwise: Any) -> Any:
        """Return one of two exponents."""
        then, otherwise = _integer(then), _integer(otherwise)
        found, new = self.named("chosen", condition, then, otherwise, sort=z3.IntSort())
        if new:
            self.is_one_of(found, ((condition, then), (z3.Not(condition), otherwise)))
        return found

    # -- numbers
    def magnitude(self, term: Any) -> Any:
        """Return |x|; that it is x or -x is not said, since few sums need it."""
        found, new = self.named("magnitude", term)
        if new:
            self.add(*_of_magnitude(term, found))
        return found

    def of_magnitude(self, term: Any) -> list[Any]:
        """Return what is known of |x|."""
        return _of_magnitude(term, self.magnitude(term))

    def whole(self, constant: Any) -> Any:
        """Return the condition that a constant is an integer: then it is 0, or at least 1 in magnitude."""
        found, new = self.named("whole", constant, sort=z3.BoolSort())
        if new:
            self.add(self._of_whole(constant, found))
        return found

    def of_whole(self, constant: Any) -> list[Any]:
        """Return what is known of a constant that may be an integer."""
        return [*self.of_magnitude(constant), self._of_whole(constant, self.whole(constant))]

    def _of_whole(self, constant: Any, is_whole: Any) -> Any:
        return z3.Implies(z3.And(is_whole, constant != 0), self.magnitude(constant) >= 1)

    def product(self, factors: Sequence[Any]) -> Any:
        """Return a product of constants, known to be whole if they are, and 0 exactly if one of them is."""
        if len(factors) == 1:
            return factors[0]
        found, new = self.named("product", *factors)
        if new:
            self.add(z3.Implies(z3.And(*map(self.whole, factors)), self.whole(found)))
            self.add((found == 0) == z3.Or(*(factor == 0 for factor in factors)))
        return found


@dataclass(frozen=True, eq=False)
class RealTerm:
    """A number ``polynomial · 2**shift``.

    Attributes
    ----------
    facts : Facts
        What is known of its constants.
    polynomial : mapping
        See `Polynomial`.
    constants : mapping of str to Z3 term
        By the names in its monomials.
    shift : int or Z3 term
        An exponent.
    places : mapping of str to exponent
        It is a multiple of 2**exponent; by kinds, of which products and sums are made.
    """

    facts: Facts
    polynomial: Polynomial
    constants: Mapping[str, Any] = field(default_factory=dict)
    shift: Any = 0
    places: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def number(cls, facts: Facts, value: Any) -> RealTerm:
        """Return a known number."""
        return cls(facts, {(): Fraction(value)} if value else {})

    @classmethod
    def constant(cls, facts: Facts, term: Any, **known: Any) -> RealTerm:
        """Return the number that a constant stands for."""
        return cls(facts, {(term.sexpr(),): Fraction(1)}, {term.sexpr(): term}, **known)

    @cached_property
    def term(self) -> Any:
        """The polynomial, linear in products."""
        parts = [
            _times(coefficient, self.facts.product([self.constants[name] for name in monomial]))
            if monomial
            else z3.RealVal(coefficient)
            for monomial, coefficient in sorted(self.polynomial.items())
        ]
        if not parts:
            return z3.RealVal(0)
        return parts[0] if len(parts) == 1 else z3.Sum(parts)

    @cached_property
    def whole(self) -> Any:
        """The condition that the polynomial is an integer since its products are; else it may be one, too."""
        if any(coefficient.denominator != 1 for coefficient in self.polynomial.values()):
            return z3.BoolVal(False)
        products = ([self.constants[name] for name in monomial] for monomial in sorted(self.polynomial))
        return z3.And(*(self.facts.whole(self.facts.product(factors)) for factors in products if factors))

    @cached_property
    def magnitude(self) -> Any:
        """The polynomial's magnitude."""
        return self.facts.magnitude(self.term)

    # -- arithmetic
    def __mul__(self, other: Any) -> RealTerm:
        if isinstance(other, PowerOfTwo):
            return replace(self, shift=_sum(self.shift, other.exponent))
        if not isinstance(other, RealTerm):
            other = RealTerm.number(self.facts, Fraction(other))
        polynomial: dict[tuple[str, ...], Fraction] = {}
        for left, a in self.polynomial.items():
            for right, b in other.polynomial.items():
                monomial = tuple(sorted(left + right))
                polynomial[monomial] = polynomial.get(monomial, Fraction(0)) + a * b
        return RealTerm(
            self.facts,
            polynomial,
            {**self.constants, **other.constants},
            _sum(self.shift, other.shift),
            {
                kind: _sum(self.places[kind], other.places[kind])
                for kind in self.places
                if kind in other.places
            },
        )

    __rmul__ = __mul__

    def __truediv__(self, other: PowerOfTwo) -> RealTerm:
        return replace(self, shift=_sum(self.shift, _negated(other.exponent)))

    def __neg__(self) -> RealTerm:
        polynomial = {monomial: -coefficient for monomial, coefficient in self.polynomial.items()}
        return replace(self, polynomial=polynomial)

    def __add__(self, number: Any) -> RealTerm:
        other = number if isinstance(number, RealTerm) else RealTerm.number(self.facts, Fraction(number))
        if not other.polynomial:
            return self
        if not self.polynomial:
            return other
        if not _same(self.shift, other.shift):
            raise ValueError("numbers with different powers of two have no sum here")
        polynomial = dict(self.polynomial)
        for monomial, coefficient in other.polynomial.items():
            polynomial[monomial] = polynomial.get(monomial, Fraction(0)) + coefficient
            if not polynomial[monomial]:
                del polynomial[monomial]
        places = {
            kind: min(self.places[kind], other.places[kind])
            for kind in self.places
            if isinstance(self.places[kind], int) and isinstance(other.places.get(kind), int)
        }
        constants = {**self.constants, **other.constants}
        return RealTerm(self.facts, polynomial, constants, self.shift, places)

    __radd__ = __add__

    def __sub__(self, other: RealTerm) -> RealTerm:
        return self.__add__(-other)

    # -- truncated and rounded to integers
    def _to_integer(self, kind: str) -> tuple[Any, Any, RealTerm]:
        """Return a constant for the integer times 2**-shift, 2**-shift itself, and the number it is."""
        facts, term = self.facts, self.term
        shift = _integer(self.shift)
        found, new = facts.named(kind, term, shift)
        unit = facts.power(-shift)
        if new:
            facts.whole_power(-shift)
            facts.add(z3.Implies(term == 0, found == 0))
            exact = z3.And(found == term, facts.whole(found))
            facts.add(z3.Implies(z3.And(self.whole, shift >= 0), exact))
            for place in self.places.values():
                facts.add(z3.Implies(_integer(place) + shift >= 0, found == term))
        return found, unit, RealTerm.constant(facts, found, shift=self.shift)

    def __trunc__(self) -> RealTerm:
        found, unit, number = self._to_integer("truncated")
        term, magnitude = self.term, self.magnitude
        self.facts.add(found - term < unit, term - found < unit, found <= magnitude, -found <= magnitude)
        return number

    def rint(self) -> RealTerm:
        """Return the nearest integer."""
        found, unit, number = self._to_integer("nearest")
        self.facts.add(2 * (found - self.term) <= unit, 2 * (self.term - found) <= unit)
        return number

    def exponent_above(self) -> Any:
        """Return the exponent of the least power of two that is greater in magnitude; 0 of 0."""
        assert _same(self.shift, 0)
        facts, term, magnitude = self.facts, self.term, self.magnitude
        found, new = facts.named("above", term, sort=z3.IntSort())
        if new:
            facts.add(z3.Or(magnitude == term, magnitude == -term))
            power = facts.power(found)
            facts.add(z3.Implies(term != 0, z3.And(magnitude < power, 2 * magnitude >= power)))
            facts.add(z3.Implies(term == 0, found == 0))
        return found


@dataclass(frozen=True)
class PowerOfTwo:
    """Two to the power of an integer term."""

    exponent: Any

    def __mul__(self, other: Any) -> Any:
        return other * self

    __rmul__ = __mul__


def _of_magnitude(term: Any, magnitude: Any) -> list[Any]:
    return [magnitude >= term, magnitude >= -term, z3.Implies(term == 0, magnitude == 0)]


def _integer(value: Any) -> Any:
    return z3.simplify(value, sort_sums=True) if z3.is_expr(value) else z3.IntVal(int(value))


def _sum(left: Any, right: Any) -> Any:
    if not (z3.is_expr(left) or z3.is_expr(right)):
        return int(left) + int(right)
    return _integer(_integer(left) + _integer(right))


def _negated(value: Any) -> Any:
    return _integer(-value) if z3.is_expr(value) else -value


def _same(left: Any, right: Any) -> bool:
    difference = _sum(left, _negated(right))
    return (
        bool(difference == 0)
        if isinstance(difference, int)
        else (z3.is_int_value(difference) and difference.as_long() == 0)
    )


def _split(exponent: Any) -> tuple[Any, int]:
    """Return an exponent as a term (None for none) plus a number."""
    if not z3.is_expr(exponent):
        return None, int(exponent)
    exponent = _integer(exponent)
    if z3.is_int_value(exponent):
        return None, exponent.as_long()
    if z3.is_add(exponent):
        numbers = [part for part in exponent.children() if z3.is_int_value(part)]
        if numbers:
            number = sum(part.as_long() for part in numbers)
            return _integer(exponent - number), number
    return exponent, 0


def _times(factor: Fraction, term: Any) -> Any:
    return term if factor == 1 else z3.RealVal(factor) * term
