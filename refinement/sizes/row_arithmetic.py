"""Expressions of a contract as polynomials in symbols."""

from __future__ import annotations

import numpy as np

from ...spec.errors import UnsupportedError
from ..formula.index_arithmetic import Expression, IndexArithmetic
from ..formula.tree import Binary, Extremum, Name, Negative, Node
from .integer_forms import Rows, Symbols, divided


class RowArithmetic:
    """Evaluates expressions over polynomials in symbols.

    Parameters
    ----------
    symbols : Symbols
        The symbols, in a domain for all of which a quotient or an extremum has to be one form.
    names : dict of str to row (monomials,)
        What is known.
    """

    def __init__(self, symbols: Symbols, names: dict[str, Rows]) -> None:
        self._symbols, self._names = symbols, names
        self._unknown: dict[str, UnsupportedError] = {}

    def define(self, name: str, expression: Expression) -> None:
        """Let a name stand for an expression, or for an error where it is used, if that is no form."""
        try:
            self._names[name] = self.row(expression)
        except UnsupportedError as error:
            self._unknown[name] = error

    def row(self, expression: Expression) -> Rows:
        """Return the row (monomials,) of an expression.

        Raises
        ------
        UnsupportedError
            If it is not one form for the whole domain.
        """
        return self._row(expression, expression.node)

    def _row(self, whole: Expression, node: Node) -> Rows:
        match node:
            case Name(name=name):
                if name in self._names:
                    return self._names[name]
                raise self._unknown.get(name) or UnsupportedError(f"{name} is not a size")
            case Negative(operand=operand):
                return -self._row(whole, operand)
            case Binary(operator=operator, left=left, right=right):
                return self._binary(whole, operator, self._row(whole, left), self._row(whole, right))
            case Extremum(which=which, left=left, right=right):
                one, other = self._row(whole, left), self._row(whole, right)
                low, high = self._symbols.bounds((one - other)[None])
                if low[0] >= 0 or high[0] <= 0:
                    return one if (low[0] >= 0) == (which == "max") else other
                raise self._error(whole)
        number = int(IndexArithmetic(whole.source, {}).numbers(node))
        return self._symbols.form({(): number})

    def _binary(self, whole: Expression, operator: str, left: Rows, right: Rows) -> Rows:
        match operator:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                product, possible = self._symbols.multiplied(left[None], right[None])
                if possible.all():
                    return np.asarray(product[0])
            case "//" | "%" if not right[1:].any() and right[0] > 0:
                quotients, rests, known = divided(self._symbols, left[None], int(right[0]))
                if known.all():
                    return np.asarray((quotients if operator == "//" else rests)[0])
        raise self._error(whole)

    def _error(self, whole: Expression) -> UnsupportedError:
        return UnsupportedError(f"{whole.source.text} is not a polynomial in sizes and tile numbers")
