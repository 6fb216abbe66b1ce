"""Elementary functions of affine forms: a parabola at the centre, and a bound of the remainder.

Sources of the errors of what hardware approximates: `approximations`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from ...spec.formats import F32
from ..analysis.approximations import REACH, documented_error
from ..terms.evaluation import FUNCTIONS
from .affine_numbers import Affine, Reals, Truths, chosen, curved, disturbed, exactly, settled
from .float_arithmetic import product
from .float_enclosures import Floats, floats, flushed

_EVALUATED = 2.0**-44
"""What functions of float64 are off at most, as a part of their values."""


class Curve(NamedTuple):
    """A function with its derivatives.

    Attributes
    ----------
    value, slope, bend : callable
        The function and its first two derivatives, of numbers (n,).
    third : callable
        The greatest magnitude of the third between two numbers.
    """

    value: Callable[[Reals], Reals]
    slope: Callable[[Reals], Reals]
    bend: Callable[[Reals], Reals]
    third: Callable[[Reals, Reals], Reals]


def parabola(curve: Curve, form: Affine) -> Affine:
    """Return the values of a function of affine forms, without their ranges."""
    with np.errstate(all="ignore"):
        middle = form.middle
        third = curve.third(np.minimum(form.low, middle), np.maximum(form.high, middle))
        return curved(form, curve.value(middle), curve.slope(middle), curve.bend(middle), third, _EVALUATED)


def least(low: Reals, high: Reals) -> Reals:
    """Return the least magnitude of numbers between two."""
    return np.asarray(np.maximum(0.0, np.maximum(low, -high)))


def most(low: Reals, high: Reals) -> Reals:
    """Return their greatest magnitude."""
    return np.asarray(np.maximum(np.abs(low), np.abs(high)))


def power(exponent: float) -> Curve:
    """Return the curve of a power; of one that is no integer, of positive numbers.

    Numbers of both signs have no bound, as a power may have a pole between.
    """
    p = exponent

    def third(low: Reals, high: Reals) -> Reals:
        ends = [np.abs(p * (p - 1) * (p - 2)) * np.abs(x) ** (p - 3) for x in (low, high)]
        return np.where((low < 0) & (high > 0), np.inf, np.maximum(*ends))

    return Curve(lambda x: x**p, lambda x: p * x ** (p - 1), lambda x: p * (p - 1) * x ** (p - 2), third)


def logarithm(compute: Callable[[Reals], Reals], base: float) -> Curve:
    """Return the curve of a logarithm, of positive numbers."""
    rate = 1 / math.log(base)
    return Curve(
        compute, lambda x: rate / x, lambda x: -rate / (x * x), lambda low, _: 2 * np.abs(rate / low**3)
    )


def exponential(base: float) -> Curve:
    """Return the curve of a power of a positive number."""
    rate = math.log(base)
    return Curve(
        lambda x: np.power(base, x),
        lambda x: rate * np.power(base, x),
        lambda x: rate**2 * np.power(base, x),
        lambda low, high: np.abs(rate) ** 3 * np.power(base, high if rate > 0 else low),
    )


def _tanh_slope(x: Reals) -> Reals:
    return 1 / np.cosh(x) ** 2


TANH = Curve(
    np.tanh,
    _tanh_slope,
    lambda x: -2 * np.tanh(x) * _tanh_slope(x),
    lambda low, high: 4 * _tanh_slope(least(low, high)),
)

_CURVES: Mapping[str, tuple[Curve, bool]] = MappingProxyType(
    {
        "ex2": (exponential(2.0)._replace(value=np.exp2), True),
        "lg2": (logarithm(np.log2, 2.0), True),
        "rcp": (power(-1.0), False),
        "sqrt": (power(0.5)._replace(value=np.sqrt), True),
        "rsqrt": (power(-0.5), False),
        "tanh": (TANH, True),
    }
)
"""Functions of hardware, and whether they grow."""

KNOWN = frozenset(_CURVES)

_SUBNORMAL = 2.0**-147
"""By how much a subnormal result may be off: relative errors are those of normal ones."""

_OF_RECIPROCALS = 1 << 32
"""What is added to the symbol of a quotient's error for that of the divisor's reciprocal."""

_LARGEST = (2 - 2.0**-23) * 2.0**127
"""The largest number of f32."""

_POSITIVE = ("ex2", "sqrt", "rsqrt")


def function_of(name: str, argument: Floats, symbol: int, *, overflows: bool = True) -> Floats:
    """Return what hardware gives for a function, as documented.

    Parameters
    ----------
    name : str
        As PTX spells it; its first word is among `KNOWN`.
    argument : Floats
        What it is of.
    symbol : int
        That of the errors.
    overflows : bool
        Whether numbers that f32 does not have are infinite.
    """
    stem, flush = name.partition(".")[0], name.endswith(".ftz")
    argument = flushed(argument) if flush else argument
    curve, grows = _CURVES[stem]
    form = argument.form
    apart = _beyond(stem, argument)
    with np.errstate(all="ignore"):
        ends = curve.value(form.low), curve.value(form.high)
        low, high = ends if grows else ends[::-1]
        if stem == "tanh":
            low, high = np.maximum(low, -1.0), np.minimum(high, 1.0)
        errors = [_off(name, each, form.magnitude) for each in (low, high)]
        low, high, error = low - errors[0], high + errors[1], np.maximum(*errors)
        if overflows:
            low, high = _overflowed(low, high)
        exact = parabola(curve, form)
        unknown = apart | np.isnan(low) | np.isnan(high)
        found = disturbed(
            exact._replace(low=low, high=high), symbol, np.where(np.isfinite(error), error, np.inf)
        )
        off = np.where(unknown | np.isinf(low) | np.isinf(high), np.inf, found.off)
        if stem in _POSITIVE:
            low = np.maximum(low, 0.0)
        found = settled(
            found._replace(low=np.where(unknown, -np.inf, low), high=np.where(unknown, np.inf, high), off=off)
        )
    if stem == "ex2":  # PTX ISA, ex2: of zeros it is 1
        found = chosen(form.magnitude == 0, exactly(np.ones(len(low))), found)
    negative, positive = _signs(stem, argument)
    signs = negative | unknown, positive | unknown
    result = floats(found, *signs, argument.nan | unknown, argument.number | unknown)
    return flushed(result) if flush else result


def quotient_of(name: str, dividend: Floats, divisor: Floats, symbol: int) -> Floats:
    """Return what hardware gives for an approximate quotient, as documented.

    Parameters
    ----------
    name : str
        As PTX spells it, ``div.approx``; ``div`` is rounded to nearest.
    dividend, divisor : Floats
        What is divided, and by what.
    symbol : int
        That of the errors.
    """
    flush = name.endswith(".ftz")
    if flush:
        dividend, divisor = flushed(dividend), flushed(divisor)
    exact = product(dividend, function_of("rcp.approx", divisor, symbol + _OF_RECIPROCALS, overflows=False))
    size, largest = exact.form.magnitude, dividend.form.magnitude
    with np.errstate(all="ignore"):
        far = divisor.form.magnitude > REACH  # there div.approx is 0, or NaN
        spelled = name if "." in name else f"{name}.rn"
        error = _off(spelled, size, np.minimum(divisor.form.magnitude, REACH))
        error += np.where(far, largest / REACH, 0.0)
        error = np.where(np.isfinite(error), error, np.inf)
        found = disturbed(exact.form, symbol, error)
        low, high = _overflowed(found.low - error, found.high + error)
    lost = ~np.isfinite(error)
    low, high = np.where(lost, -np.inf, low), np.where(lost, np.inf, high)
    off = np.where(np.isinf(low) | np.isinf(high), np.inf, found.off)
    form = settled(found._replace(low=low, high=high, off=off))
    signs = exact.negative | lost, exact.positive | lost
    result = floats(form, *signs, exact.nan | lost | (far & np.isinf(largest)), exact.number | lost)
    return flushed(result) if flush else result


def _overflowed(low: Reals, high: Reals) -> tuple[Reals, Reals]:
    """Return ranges of what f32 has: beyond its largest number results may be infinite, from 2^128 on are."""

    def greatest(ends: Reals) -> Reals:
        return np.where(
            ends > _LARGEST, np.inf, np.where(ends <= -(2.0**128), -np.inf, np.maximum(ends, -_LARGEST))
        )

    return -greatest(-low), greatest(high)


def _off(name: str, results: Reals, arguments: Reals) -> Reals:
    """Return how far results may be off, as documented and as they are computed here; 0 of infinite ones."""
    sizes = np.abs(results)
    error = documented_error(name, F32, sizes, arguments) + _EVALUATED * sizes + _SUBNORMAL
    return np.asarray(np.where(np.isinf(sizes), 0.0, error))


def _signs(stem: str, argument: Floats) -> tuple[Truths, Truths]:
    """Tell whether results may be negative, and whether positive, zeros too."""
    every = np.ones(len(argument.nan), dtype=bool)
    if stem in _POSITIVE:
        return ~every, every
    return (every, every) if stem == "lg2" else (argument.negative, argument.positive)


def _beyond(stem: str, argument: Floats) -> Truths:
    """Tell where a function may have a pole or no value, so that nothing is said of it."""
    form = argument.form
    if stem == "rcp":
        return np.asarray((form.low <= 0) & (form.high >= 0))
    if stem in ("lg2", "sqrt", "rsqrt"):
        return np.asarray(form.low <= 0)
    return np.zeros(len(form.low), dtype=bool)


def whole_numbers(name: str, form: Affine) -> Affine:
    """Return numbers rounded to integers, as one of `operations.INTEGRAL` does."""
    low, high = (FUNCTIONS[name](each) for each in (form.low, form.high))
    return settled(form._replace(off=form.off + 1.0, low=low, high=high))
