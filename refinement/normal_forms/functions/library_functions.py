"""Functions that device libraries expand, in double precision and as terms."""

from __future__ import annotations

from collections.abc import Callable
from math import e, erfc, expm1, frexp, log2
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....spec.formats import F32, F64, FloatFormat
from ...analysis.literal_constants import LN_OF_2, LOG2_OF_E, literal
from ...enclosures.function_enclosures import TANH, Curve, least, logarithm, most, power
from ...enclosures.function_enclosures import exponential as exponential_curve
from ...terms import operations
from ...terms.evaluation import error_function
from ...terms.store import Operation, TermStore

Reals = NDArray[np.float64]

LARGEST_POWER = 8
"""The greatest whole exponent that is written as a product."""

_COARSEST_EXPONENT = 1 << 10
"""Exponents that are no integers are multiples of this one's reciprocal, thirds, or have four decimals."""


_PLAIN = 2.0**-22
"""How far a value may be off by which a base or a factor is guessed, as a part."""

_BITS_OF_FACTOR = 8
"""Bits of a plain factor."""


class Arithmetic:
    """Builds terms of numbers in one format.

    Parameters
    ----------
    store : TermStore
        Where they are made.
    fmt : FloatFormat
        Of what is made.
    argument : int
        A term of f32.
    """

    def __init__(self, store: TermStore, fmt: FloatFormat, argument: int) -> None:
        self._store, self._fmt = store, fmt
        self.x = argument if fmt == F32 else self._made(operations.fused(fmt, (), (F32,)), argument)

    def _made(self, operation: Operation, *arguments: int) -> int:
        return int(self._store.apply(operation, *arguments))

    def number(self, value: float) -> int:
        """Return a constant."""
        word = np.float32(value).view(np.uint32) if self._fmt == F32 else np.float64(value).view(np.uint64)
        return int(self._store.constants(int(word), self._fmt.bits))

    def irrational(self, name: str) -> int:
        """Return the literal for an irrational number."""
        return int(self._store.constants(literal(name, self._fmt), self._fmt.bits))

    def times(self, one: int, other: int) -> int:
        """Return a product."""
        return self._made(operations.fused(self._fmt, ((self._fmt, self._fmt),)), one, other)

    def plus(self, one: int, other: int) -> int:
        """Return a sum."""
        return self._made(operations.fused(self._fmt, (), (self._fmt, self._fmt)), one, other)

    def minus(self, one: int) -> int:
        """Return an opposite."""
        return self._made(operations.negate(self._fmt), one)

    def with_sign(self, one: int) -> int:
        """Return a number with the sign of the argument."""
        negative = self._made(operations.compare(self._fmt, "lt"), self.x, self.number(0))
        return self._made(operations.select(self._fmt.bits), negative, self.minus(one), one)

    @property
    def magnitude(self) -> int:
        """The magnitude of the argument."""
        return self._made(operations.extremum(self._fmt, "max"), self.x, self.minus(self.x))

    def function(self, name: str, one: int) -> int:
        """Return a function of a number."""
        return self._made(operations.function(name, self._fmt, self._fmt), one)

    def exponential(self, one: int) -> int:
        """Return a power of e."""
        return self.function("ex2", self.times(one, self.irrational(LOG2_OF_E)))

    def logarithm(self, one: int) -> int:
        """Return a natural logarithm."""
        return self.times(self.function("lg2", one), self.irrational(LN_OF_2))

    def half(self, one: int) -> int:
        """Return the half of a number."""
        return self.times(self.number(0.5), one)


class LibraryFunction(NamedTuple):
    """A function of one number.

    Attributes
    ----------
    name : str
        As formulas have it.
    curve : Curve
        Its values and derivatives.
    make : callable
        Makes a term of it.
    least, greatest : float
        Between which it has values.
    rational : bool
        Whether it is a product of arguments, or the reciprocal of one.
    """

    name: str
    curve: Curve
    make: Callable[[Arithmetic], int]
    least: float = -np.inf
    greatest: float = np.inf
    rational: bool = False


def _each(function: Callable[[float], float]) -> Callable[[Reals], Reals]:
    def compute(numbers: Reals) -> Reals:
        return np.array([function(each) for each in numbers.tolist()])

    return compute


def _expm1(number: float) -> float:
    return expm1(number) if number < 700 else np.inf


def _of_magnitude(exponent: float, *, odd: bool = False) -> Curve:
    """Return the power of a magnitude; with the argument's sign, if odd."""
    plain = power(exponent)

    def signed(part: Callable[[Reals], Reals], turns: bool) -> Callable[[Reals], Reals]:
        return lambda x: (np.sign(x) if turns else 1) * part(np.abs(x))

    return Curve(signed(plain.value, odd), signed(plain.slope, not odd), signed(plain.bend, odd), plain.third)


def _bell(x: Reals) -> Reals:
    """Return the slope of erf."""
    return np.asarray(2 / np.sqrt(np.pi) * np.exp(-x * x))


def _normal(x: Reals) -> Reals:
    """Return the density of the normal distribution."""
    return np.asarray(np.exp(-x * x / 2) / np.sqrt(2 * np.pi))


def _logistic(x: Reals) -> Reals:
    return 1 / (1 + np.exp(-x))


def _logistic_slope(x: Reals) -> Reals:
    return _logistic(x) * _logistic(-x)


def _erf_third(low: Reals, high: Reals) -> Reals:
    return (4 * most(low, high) ** 2 + 2) * _bell(least(low, high))


def _decline(low: Reals, high: Reals) -> Reals:
    """Return what no derivative of the logistic function is greater than."""
    return np.asarray(np.exp(-least(low, high)))


def _hyperbolic(sign: int) -> Callable[[Arithmetic], int]:
    def make(a: Arithmetic) -> int:
        shrinking = a.exponential(a.minus(a.x))
        return a.half(a.plus(a.exponential(a.x), shrinking if sign > 0 else a.minus(shrinking)))

    return make


def _logarithm_of_grown(a: Arithmetic) -> int:
    return a.logarithm(a.plus(a.number(1), a.exponential(a.x)))


def _sigmoid(a: Arithmetic) -> int:
    return a.function("rcp", a.plus(a.number(1), a.exponential(a.minus(a.x))))


_ROOT_OF_HALF = 0.5**0.5

_EXP = exponential_curve(e)._replace(value=np.exp, slope=np.exp, bend=np.exp)
_OPPOSITE = Curve(
    lambda x: np.exp(-x), lambda x: -np.exp(-x), lambda x: np.exp(-x), lambda low, _: np.exp(-low)
)

FUNCTIONS = (
    LibraryFunction("exp", _EXP, lambda a: a.exponential(a.x)),
    LibraryFunction(
        "exp of the opposite",
        _OPPOSITE,
        lambda a: a.exponential(a.minus(a.x)),
    ),
    LibraryFunction("log2", logarithm(np.log2, 2), lambda a: a.function("lg2", a.x), 0.0),
    LibraryFunction("log", logarithm(np.log, e), lambda a: a.logarithm(a.x), 0.0),
    LibraryFunction(
        "log10",
        logarithm(np.log10, 10),
        lambda a: a.times(a.function("lg2", a.x), a.number(np.log10(2))),
        0.0,
    ),
    LibraryFunction(
        "log(1 + x)",
        Curve(
            np.log1p,
            lambda x: 1 / (1 + x),
            lambda x: -1 / (1 + x) ** 2,
            lambda low, _: 2 / np.maximum(1 + low, 0.0) ** 3,
        ),
        lambda a: a.logarithm(a.plus(a.number(1), a.x)),
        -1.0,
    ),
    LibraryFunction(
        "exp(x) - 1",
        _EXP._replace(value=_each(_expm1)),
        lambda a: a.plus(a.exponential(a.x), a.number(-1)),
    ),
    LibraryFunction(
        "tanh",
        TANH,
        lambda a: a.function("tanh", a.x),
    ),
    LibraryFunction(
        "erf",
        Curve(error_function, _bell, lambda x: -2 * x * _bell(x), _erf_third),
        lambda a: a.function("erf", a.x),
    ),
    LibraryFunction(
        "1 - erf(x)",
        Curve(_each(erfc), lambda x: -_bell(x), lambda x: 2 * x * _bell(x), _erf_third),
        lambda a: a.plus(a.number(1), a.minus(a.function("erf", a.x))),
    ),
    LibraryFunction(
        "(1 + erf(x / sqrt(2))) / 2",
        Curve(
            _each(lambda x: 0.5 * erfc(-x * _ROOT_OF_HALF)),
            _normal,
            lambda x: -x * _normal(x),
            lambda low, high: (most(low, high) ** 2 + 1) * _normal(least(low, high)),
        ),
        lambda a: a.half(a.plus(a.number(1), a.function("erf", a.times(a.x, a.number(_ROOT_OF_HALF))))),
    ),
    LibraryFunction(
        "log(1 + exp(x))",
        Curve(lambda x: np.logaddexp(0, x), _logistic, _logistic_slope, _decline),
        _logarithm_of_grown,
    ),
    LibraryFunction(
        "sigmoid",
        Curve(
            _logistic,
            _logistic_slope,
            lambda x: _logistic_slope(x) * (_logistic(-x) - _logistic(x)),
            _decline,
        ),
        _sigmoid,
    ),
    LibraryFunction(
        "(exp(x) + exp(-x)) / 2",
        Curve(np.cosh, np.sinh, np.cosh, lambda low, high: np.sinh(most(low, high))),
        _hyperbolic(1),
    ),
    LibraryFunction(
        "(exp(x) - exp(-x)) / 2",
        Curve(np.sinh, np.cosh, np.sinh, lambda low, high: np.cosh(most(low, high))),
        _hyperbolic(-1),
    ),
)
"""Those of which nothing but the argument is to be known."""


def _turned(quarters: int) -> Curve:
    """Return the sine, turned by so many quarters of its period."""
    turns: list[Callable[[Reals], Reals]] = [np.sin, np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x)]
    value, slope, bend, _ = [*turns[quarters:], *turns[:quarters]]
    return Curve(value, slope, bend, lambda low, _: np.ones(len(low)))


QUADRANTS = (
    LibraryFunction("sin", _turned(0), lambda a: a.function("sin", a.x)),
    LibraryFunction("cos", _turned(1), lambda a: a.function("cos", a.x)),
    LibraryFunction("-sin", _turned(2), lambda a: a.minus(a.function("sin", a.x))),
    LibraryFunction("-cos", _turned(3), lambda a: a.minus(a.function("cos", a.x))),
)
"""Each is the one before it, a quarter of the period later."""


def powers(at_2: float) -> list[LibraryFunction]:
    """Return the powers that have about a value at 2; none if the exponent is not a plain number."""
    if not 0 < at_2 < np.inf:
        return []
    about = log2(at_2)
    near = [round(about * _COARSEST_EXPONENT) / _COARSEST_EXPONENT, round(about, 4), round(about * 3) / 3]
    exponent = min(near, key=lambda each: abs(each - about))
    if exponent in (0, 1) or abs(exponent - about) > _COARSEST_EXPONENT**-2:
        return []
    if exponent == int(exponent) and abs(exponent) <= LARGEST_POWER:
        name = f"x^{exponent:g}"
        whole = int(exponent)
        return [LibraryFunction(name, power(exponent), lambda a: _product(a, whole), rational=True)]
    exact = dict.fromkeys((float(np.float32(exponent)), exponent))
    return [each for value in exact for each in _roots(value)]


def _roots(exponent: float) -> list[LibraryFunction]:
    """Return the powers of an exponent that is no integer: of the magnitude, with the sign, of the number."""
    name = f"{exponent:g}"
    return [
        LibraryFunction(
            f"abs(x)^{name}", _of_magnitude(exponent), lambda a: _power(a, a.magnitude, exponent)
        ),
        LibraryFunction(
            f"sign(x) * abs(x)^{name}",
            _of_magnitude(exponent, odd=True),
            lambda a: a.with_sign(_power(a, a.magnitude, exponent)),
        ),
        LibraryFunction(f"x^{name}", power(exponent), lambda a: _power(a, a.x, exponent), 0.0),
    ]


def _power(a: Arithmetic, base: int, exponent: float) -> int:
    return a.function("ex2", a.times(a.number(exponent), a.function("lg2", base)))


def exponential(at_1: float) -> LibraryFunction | None:
    """Return the exponential that has about a value at 1; None if its base is not a plain number."""
    if not 0 < at_1 < np.inf:
        return None
    base = round(at_1, 4)
    if base in (0, 1, 2) or abs(base - at_1) > _PLAIN * at_1:
        return None
    return LibraryFunction(
        f"{base:g}^x",
        exponential_curve(base),
        lambda a: a.function("ex2", a.times(a.x, a.number(log2(base)))),
    )


def scaled(function: LibraryFunction, numbers: Reals, got: Reals) -> LibraryFunction | None:
    """Return the multiple of a function that has about given values; None if its factor is no plain number.

    Libraries negate and halve within what they write out: ``-log(x)`` has a case of its own for 0.
    """
    own = values(function, numbers)
    with np.errstate(all="ignore"):
        ratios = got / own
    usable = np.flatnonzero(np.isfinite(ratios) & (ratios != 0) & (np.abs(own) > _PLAIN))
    if not len(usable):
        return None
    about = float(ratios[usable[0]])
    unit = 2.0 ** (frexp(about)[1] - _BITS_OF_FACTOR)
    factor = round(about / unit) * unit
    if factor == 1 or abs(factor - about) > _PLAIN * abs(about):
        return None
    curve = function.curve
    return function._replace(
        name=f"{factor:g} * ({function.name})",
        curve=Curve(
            lambda x: factor * curve.value(x),
            lambda x: factor * curve.slope(x),
            lambda x: factor * curve.bend(x),
            lambda low, high: abs(factor) * curve.third(low, high),
        ),
        make=lambda a: a.times(a.number(factor), function.make(a)),
    )


def _product(a: Arithmetic, exponent: int) -> int:
    found = a.x
    for _ in range(abs(exponent) - 1):
        found = a.times(found, a.x)
    return found if exponent > 0 else a.function("rcp", found)


WRITTEN = "div.written"
"""The function that stands for what is written out: its first argument, by 1."""


def approximate(store: TermStore, function: LibraryFunction, argument: int) -> int:
    """Return a function of a term of f32, with the error that it may have where it is written out."""
    a = Arithmetic(store, F64, argument)
    operation = operations.function(WRITTEN, F32, F64, F64)
    return int(store.apply(operation, function.make(a), a.number(1)))


def exact(store: TermStore, function: LibraryFunction, argument: int) -> int:
    """Return a function of a term of f32."""
    return function.make(Arithmetic(store, F32, argument))


def values(function: LibraryFunction, numbers: Any) -> Reals:
    """Return the values of a function in double precision."""
    with np.errstate(all="ignore"):
        return np.asarray(function.curve.value(np.asarray(numbers, dtype=np.float64)), dtype=np.float64)
