"""Functions of formulas that are defined by others.

``exp`` and ``log`` are those of base 2 with log2(e) and ln(2) as literals, as compilers write them too;
``exp10`` and ``log10`` have log2(10) and log10(2).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from math import e, log, log2, log10
from types import MappingProxyType
from typing import TypeVar

from .tree import (
    Binary,
    Bound,
    Choice,
    Extremum,
    Function,
    Infinite,
    Name,
    Negative,
    Node,
    Number,
    ReducedExtremum,
    ReducedProduct,
    Reduction,
    Source,
    walk,
)

Reduced = TypeVar("Reduced", bound=Reduction)


def _real(at: int, value: float) -> Number:
    return Number(at, Fraction(value), whole=False)


def _exponential(at: int, x: Node, base: float = e) -> Node:
    return Function(at, "exp2", (Binary(at, "*", x, _real(at, log2(base))),))


def _logarithm(at: int, x: Node, of_2: float = log(2)) -> Node:
    return Binary(at, "*", Function(at, "log2", (x,)), _real(at, of_2))


def _sigmoid(at: int, x: Node) -> Node:
    return _silu(at, _real(at, 1.0), x)


def _silu(at: int, dividend: Node, x: Node) -> Node:
    return Binary(at, "/", dividend, Binary(at, "+", _real(at, 1.0), _exponential(at, Negative(at, x))))


def _gelu(at: int, x: Node) -> Node:
    argument = Binary(at, "*", x, _real(at, 0.5**0.5))
    grown = Binary(at, "+", _real(at, 1.0), Function(at, "erf", (argument,)))
    return Binary(at, "*", Binary(at, "*", _real(at, 0.5), x), grown)


def _absolute(at: int, x: Node) -> Node:
    """Return the greater of a number and its opposite, of a product the product of those of its factors."""
    match x:
        case Negative():
            return _absolute(at, x.operand)
        case Binary(operator="*"):
            return Binary(at, "*", _absolute(at, x.left), _absolute(at, x.right))
        case Number():
            return Number(at, abs(x.value), x.whole)
    return Extremum(at, "max", x, Negative(at, x))


_LARGEST_EXPONENT = 16
"""Of powers that are products."""


def _of_logarithm(at: int, base: Node, exponent: Node) -> Node:
    return Function(at, "exp2", (Binary(at, "*", exponent, Function(at, "log2", (base,))),))


def powered(source: Source, at: int, base: Node, exponent: Node) -> Node:
    """Return a power: a product where the exponent is whole, with a root beside it for a half.

    Other exponents are of positive numbers; what is no number could be either.

    Raises
    ------
    InputError
        If the exponent is no literal, or there would be too many factors.
    """
    if not all(isinstance(node, Number | Negative | Binary) for node in walk(exponent)):
        raise source.error(
            exponent.at, "an exponent must be a number; for positive x, write x ** y as exp2(y * log2(x))"
        )
    number = exponent.operand if isinstance(exponent, Negative) else exponent
    if not isinstance(number, Number):
        return _of_logarithm(at, base, exponent)
    if number.value > _LARGEST_EXPONENT:
        raise source.error(
            number.at, f"an exponent is at most {_LARGEST_EXPONENT}, not {float(number.value):g}"
        )
    if number.value.denominator > 2:
        return _of_logarithm(at, base, exponent)
    factors = [base] * int(number.value)
    if number.value.denominator == 2:
        factors.append(Function(at, "sqrt", (base,)))
    product = factors[0] if factors else Number(at, Fraction(1), whole=True)
    for factor in factors[1:]:
        product = Binary(at, "*", product, factor)
    return product if number is exponent else Binary(at, "/", _real(at, 1.0), product)


def counted(condition: Node) -> Node:
    """Return the number that a condition counts: 1 where it holds, else 0."""
    one, zero = (Number(condition.at, Fraction(value), whole=True) for value in (1, 0))
    return Choice(condition.at, condition, one, zero)


DERIVED: Mapping[str, Callable[[int, Node], Node]] = MappingProxyType(
    {
        "abs": _absolute,
        "exp": _exponential,
        "exp10": lambda at, x: _exponential(at, x, 10),
        "log": _logarithm,
        "log10": lambda at, x: _logarithm(at, x, log10(2)),
        "sigmoid": _sigmoid,
        "silu": lambda at, x: _silu(at, x, x),
        "gelu": _gelu,
    }
)
"""By name: the place in the text and the argument, to what it stands for."""


def guarded(reduction: Reduced, indices: Collection[str]) -> Reduced:
    """Return a reduction whose extents may depend on other indices: ``sum(k < i + 1, A[i, k])``.

    The index then goes as far as the greatest of its extents, and what is beyond its own counts as
    nothing: 0 of a sum, 1 of a product, an infinity of an extremum.
    """
    at, body, known = reduction.at, reduction.body, set(indices)
    bounds: list[Bound] = []
    for bound in reduction.indices:
        names = () if bound.extent is None else walk(bound.extent)
        depends = any(isinstance(name, Name) and name.name in known for name in names)
        if depends and bound.extent is not None:
            below = Binary(bound.at, "<", Name(bound.at, bound.name), bound.extent)
            body = Choice(at, below, body, _nothing(reduction))
        known.add(bound.name)
        bounds.append(replace(bound, is_guarded=depends))
    return replace(reduction, indices=tuple(bounds), body=body)


def _nothing(reduction: Reduction) -> Node:
    if isinstance(reduction, ReducedExtremum):
        infinite = Infinite(reduction.at)
        return Negative(reduction.at, infinite) if reduction.which == "max" else infinite
    if isinstance(reduction, ReducedProduct):
        return _real(reduction.at, 1.0)
    return Number(reduction.at, Fraction(0), whole=True)
