"""Expressions of real numbers as terms, and their values with many digits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import mpmath
import numpy as np

from mmaproof.refinement.analysis.literal_constants import LN_OF_2, LOG2_OF_E
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.normal_forms.sparse_polynomials import Sparse, sparse
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.operations import Sum
from mmaproof.refinement.terms.store import CONSTANT, INPUT, NORMAL_FORM, TermStore
from mmaproof.spec.formats import F64, FloatFormat

Tree = tuple[Any, ...]
"""A name and what it is applied to: ``("add", ("input", 0), ("number", 0.5))``."""

GREATEST = 1e9
"""Values beyond are not compared: what is left of a difference of them tells nothing."""

_GREATEST_EXPONENT = 1e7

RELATIONS: Mapping[str, Callable[[Any, Any], bool]] = MappingProxyType(
    {"lt": lambda x, y: x < y, "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y}
)


def _power(exponent: Any) -> Any:
    if abs(exponent) > _GREATEST_EXPONENT:
        raise OverflowError
    return mpmath.power(2, exponent)


FUNCTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "ex2": _power,
        "lg2": lambda x: mpmath.log(x, 2),
        "rcp": lambda x: 1 / x,
        "tanh": mpmath.tanh,
        "erf": mpmath.erf,
        "sin": mpmath.sin,
        "cos": mpmath.cos,
        "sqrt": mpmath.sqrt,
        "rsqrt": lambda x: 1 / mpmath.sqrt(x),
        "div": lambda x, y: x / y,
    }
)


class NoValueError(Exception):
    """An expression that is no number, or too great a one, on some inputs."""


class Expressions:
    """Expressions in a few inputs.

    Parameters
    ----------
    fmt : FloatFormat
        Of the inputs, and of all results.
    inputs : int
        How many inputs there are.
    """

    def __init__(self, fmt: FloatFormat = F64, inputs: int = 3) -> None:
        self.store, self.fmt = TermStore(), fmt
        self.inputs = self.store.inputs("x", fmt, np.arange(inputs))

    def built(self, tree: Tree) -> Ids:
        """Return the term of an expression."""
        name, *rest = tree
        fmt = self.fmt
        if name == "input":
            return self.inputs[rest[0]]
        if name == "number":
            return self.store.constants(self._word(rest[0]), fmt.bits)
        given = [self.built(each) for each in rest]
        if name == "select":
            compared = apply(self.store, operations.compare(fmt, "gt"), *given[:2])
            return apply(self.store, operations.select(fmt.bits), compared, *given[2:])
        if name == "div":
            return self.store.apply(operations.function("div", fmt, fmt, fmt), *given)
        operation = {
            "add": operations.fused(fmt, (), (fmt, fmt)),
            "multiply": operations.fused(fmt, ((fmt, fmt),)),
            "negate": operations.negate(fmt),
            "max": operations.extremum(fmt, "max"),
            "min": operations.extremum(fmt, "min"),
        }.get(name, operations.function(name, fmt, fmt))
        return apply(self.store, operation, *given)

    def _word(self, number: float) -> int:
        if self.fmt == F64:
            return int(np.float64(number).view(np.uint64))
        return int(np.float32(number).view(np.uint32))

    def value(self, term: int, inputs: Mapping[int, Any]) -> Any:
        """Return a term's value, with as many digits as mpmath is set to.

        Raises
        ------
        NoValueError
            If it has none, or one that is too great.
        """
        try:
            found = self._value(term, dict(inputs))
        except (ZeroDivisionError, OverflowError, ValueError, TypeError) as error:
            raise NoValueError from error
        if abs(found) > GREATEST:
            raise NoValueError
        return found

    def _value(self, term: int, known: dict[int, Any]) -> Any:
        if term not in known:
            found = self._computed(term, known)
            if isinstance(found, mpmath.mpc) or not mpmath.isfinite(found):
                raise NoValueError
            known[term] = found
        return known[term]

    def _computed(self, term: int, known: dict[int, Any]) -> Any:
        operation = self.store.operation(term)
        arguments = self.store.arguments(np.array([term]))[0].tolist()
        if operation.name == CONSTANT:
            word = int(self.store.constant_values(np.array([term]))[0])
            wide = int(self.store.widths(np.array([term]))[0]) == F64.bits
            exact = (F64 if wide else self.fmt).exact(word)
            assert exact is not None
            return mpmath.mpf(exact.numerator) / exact.denominator
        assert operation.name != INPUT
        if operation.name == operations.SELECT:
            sides = self.store.arguments(np.array([arguments[0]]))[0].tolist()[:2]
            relation = RELATIONS[str(self.store.operation(arguments[0]).attribute)]
            holds = relation(*(self._value(side, known) for side in sides))
            return self._value(arguments[1 if holds else 2], known)
        given = [self._value(argument, known) for argument in arguments[: len(operation.operands)]]
        if operation.name == operations.NEGATE:
            return -given[0]
        if operation.name == operations.EXTREMUM:
            assert isinstance(operation.attribute, tuple)
            return max(given) if operation.attribute[0] == "max" else min(given)
        if operation.name == operations.FUSED:
            assert isinstance(operation.attribute, Sum)
            count = operation.attribute.products
            return sum(given[2 * i] * given[2 * i + 1] for i in range(count)) + sum(given[2 * count :])
        return FUNCTIONS[str(operation.attribute)](*given)


class NormalFormValues:
    """The values of normal forms of expressions, from those of the atoms in them.

    Parameters
    ----------
    expressions : Expressions
        What they are of.
    forms : NormalForms
        Made them.
    inputs : mapping of int to number
        The values of the inputs' terms.
    """

    def __init__(self, expressions: Expressions, forms: NormalForms, inputs: Mapping[int, Any]) -> None:
        self._expressions, self._forms, self._inputs = expressions, forms, inputs
        self._functions: Mapping[str, Callable[[Any], Any]] = {
            **{name: FUNCTIONS[name] for name in ("lg2", "rcp", "sqrt")},
            "power": FUNCTIONS["ex2"],
        }

    def value(self, term: Ids) -> Any:
        """Return the value of a term's polynomial; raises as `Expressions.value`."""
        found = sparse(self._forms.polynomials(np.atleast_1d(term), self._expressions.fmt), 1)[0]
        try:
            return self._polynomial(found)
        except (ZeroDivisionError, OverflowError, ValueError, TypeError) as error:
            raise NoValueError from error

    def _polynomial(self, found: Sparse) -> Any:
        total = mpmath.mpf(0)
        for monomial, coefficient in found.items():
            product = mpmath.mpf(coefficient.numerator) / coefficient.denominator
            for atom in monomial:
                product *= self._atom(atom)
            total += product
        return total

    def _atom(self, atom: int) -> Any:
        forms, store = self._forms, self._expressions.store
        term = int(forms.quantifier.terms(np.array([atom], dtype=np.int64))[0])
        operation = store.operation(term)
        if atom in forms.elementary.arguments:
            assert isinstance(operation.attribute, tuple)
            argument = self._polynomial(forms.elementary.arguments[atom])
            return self._functions[operation.attribute[0]](argument)
        if atom in forms.extrema._of_atoms:
            which, members = forms.extrema._of_atoms[atom]
            values = [self._polynomial(dict(member)) for member in members]
            return max(values) if which == "max" else min(values)
        if operation.name == NORMAL_FORM:
            irrational = {(LOG2_OF_E,): 1 / mpmath.log(2), (LN_OF_2,): mpmath.log(2)}
            if operation.attribute in irrational:
                return irrational[operation.attribute]
            origin = forms.quantifier.origin(term)
            assert origin is not None
            term = origin
        return self._expressions.value(term, self._inputs)
