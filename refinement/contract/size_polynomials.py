"""Expressions in sizes as polynomials over size domains."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ...spec.errors import InputError
from ..formula.index_arithmetic import Expression, IndexArithmetic
from ..formula.parser import parse_expression
from ..formula.tree import Binary, Name, Negative, Node, Source, walk
from .size_domains import QuantifiedSizes

Polynomial = Mapping[tuple[str, ...], Fraction]
"""Coefficients by the sizes, sorted, that are multiplied; those that are 0 are left out."""


class SizePolynomials:
    """The polynomials of a contract's expressions.

    Parameters
    ----------
    quantified : QuantifiedSizes
        Sizes that may be any number of a domain, and those that follow from others.
    """

    def __init__(self, quantified: QuantifiedSizes) -> None:
        self._domains = {domain.name: domain for domain in quantified.domains}
        self._known: dict[str, Polynomial | None] = {name: {(name,): Fraction(1)} for name in self._domains}
        for name, expression in quantified.derived.items():
            try:
                self._known[name] = self.of(expression)
            except InputError:  # an error where it is used in a shape; elsewhere any expression may be
                self._known[name] = None

    def of(self, expression: Expression) -> Polynomial:
        """Return an expression as a polynomial.

        Raises
        ------
        InputError
            If it is none for all numbers of the domains; whole quotients are, where they leave no rest.
        """
        return self._of(expression, expression.node)

    def varies(self, expression: Expression) -> bool:
        """Tell whether an expression depends on sizes that may be any number of a domain."""
        return self._varies(expression.node)

    def _varies(self, node: Node) -> bool:
        names = {each.name for each in walk(node) if isinstance(each, Name)}
        return any(each is None or each.keys() - {()} for name, each in self._known.items() if name in names)

    def _of(self, whole: Expression, node: Node) -> Polynomial:
        if not self._varies(node):
            known = {name: int(each.get((), 0)) for name, each in self._known.items() if each is not None}
            number = IndexArithmetic(whole.source, known).numbers(node)
            return _scaled({(): Fraction(1)}, Fraction(int(number)))
        match node:
            case Name(name=name) if (value := self._known[name]) is not None:
                return value
            case Negative(operand=operand):
                return _scaled(self._of(whole, operand), Fraction(-1))
            case Binary(operator="+" | "-" as sign, left=left, right=right):
                other = _scaled(self._of(whole, right), Fraction(-1 if sign == "-" else 1))
                return _added(self._of(whole, left), other)
            case Binary(operator="*", left=left, right=right):
                return _product(self._of(whole, left), self._of(whole, right))
            case Binary(operator="//", left=left, right=right) if not self._varies(right):
                divisor = self._of(whole, right).get((), Fraction(0))
                if divisor and self._is_whole(quotient := _scaled(self._of(whole, left), 1 / divisor)):
                    return quotient
        names = ", ".join(self._domains)
        raise whole.source.error(
            node.at,
            f"must be a polynomial of {names}, which may take many values; a quotient must be exact",
        )

    def _is_whole(self, value: Polynomial) -> bool:
        for names, coefficient in value.items():
            step = Fraction(1)
            for name in names:
                step *= self._domains[name].step
            if (coefficient * step).denominator != 1:
                return False
        return True


def _scaled(value: Polynomial, factor: Fraction) -> Polynomial:
    return {names: coefficient * factor for names, coefficient in value.items()} if factor else {}


def _added(one: Polynomial, other: Polynomial) -> Polynomial:
    total = dict(one)
    for names, coefficient in other.items():
        total[names] = total.get(names, Fraction(0)) + coefficient
    return {names: coefficient for names, coefficient in total.items() if coefficient}


def _product(one: Polynomial, other: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for names, coefficient in other.items():
        moved = {tuple(sorted((*own, *names))): value for own, value in one.items()}
        total = _added(total, _scaled(moved, coefficient))
    return total


def constant(name: str, value: int) -> Expression:
    """Return a number as an expression."""
    source = Source(str(value), name)
    return Expression(source, parse_expression(source))
