"""Affine arithmetic: numbers as sums of noise symbols in [-1, 1], which keep correlations.

A number of a batch is ``middle + Σ parts[s]·ε_s ± off``, and lies between `low` and `high`. Symbol 0 is where
the argument is in its piece, and symbol -1 the square of that, so that a curve is a parabola; each rounding
has a symbol of its own, so that what a compensated sum takes away again vanishes.
Source: de Figueiredo and Stolfi, "Affine arithmetic: concepts and applications" (2004).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
Truths = NDArray[np.bool_]

ARGUMENT, SQUARE = 0, -1
"""The symbols of the argument's place in its piece, and of its square."""

_SLACK = 2.0**-49
"""More than what the few operations of float64 that make a form lose, as a part of its magnitude."""

_NEGLIGIBLE = 2.0**-36
"""Parts of numbers for which no symbol is worth its time: compensated sums of f32 have some 2^-45."""

LEAST_NORMAL, _LEAST_EXPONENT, _FRACTION = 2.0**-126, -126, 23
"""Of f32."""


class Affine(NamedTuple):
    """Numbers (n,), over the reals.

    Attributes
    ----------
    middle : array (n,)
        The numbers where all symbols are 0.
    parts : mapping of int to array (n,)
        By how much each symbol moves them.
    off : array (n,)
        How far they are from that at most; infinite where nothing but the range is known.
    low, high : array (n,)
        Between which they are, both included.
    """

    middle: Reals
    parts: Mapping[int, Reals]
    off: Reals
    low: Reals
    high: Reals

    @property
    def spread(self) -> Reals:
        """How far the numbers are from the middle at most."""
        found = self.off
        for part in self.parts.values():
            found = found + np.abs(part)
        return found

    @property
    def line(self) -> Reals:
        """How far the argument's place in its piece moves the numbers."""
        return np.asarray(self.parts.get(ARGUMENT, np.zeros(len(self.middle))))

    @property
    def is_constant(self) -> Truths:
        """Which are one number."""
        return np.asarray(self.low == self.high)

    @property
    def magnitude(self) -> Reals:
        """The greatest magnitude."""
        return np.asarray(np.maximum(np.abs(self.low), np.abs(self.high)))

    @property
    def least_magnitude(self) -> Reals:
        """The least magnitude: 0 where both signs are possible."""
        return np.asarray(np.maximum(0.0, np.maximum(self.low, -self.high)))


def exactly(numbers: Reals) -> Affine:
    """Return numbers (n,) that are known."""
    return Affine(numbers, {}, np.zeros(len(numbers)), numbers, numbers)


def between(low: Reals, high: Reals) -> Affine:
    """Return numbers of which nothing but the range is known."""
    return settled(Affine(np.zeros(len(low)), {}, np.full(len(low), np.inf), low, high))


def settled(form: Affine) -> Affine:
    """Return numbers with form and range made as narrow as each makes the other."""
    with np.errstate(all="ignore"):
        middle, off, parts = form.middle, form.off, form.parts
        bad = ~np.isfinite(middle)
        for part in parts.values():
            bad |= ~np.isfinite(part)
        bad |= np.isnan(off)
        off = np.where(bad, np.inf, off + _SLACK * (np.abs(middle) + form.spread))
        low, high = form.low, form.high
        wide = ~(off < np.inf)
        finite = np.isfinite(low) & np.isfinite(high)
        narrow = (wide & finite) | (low == high)
        middle = np.where(
            narrow, np.where(low == high, low, low + (high - low) / 2), np.where(wide, 0.0, middle)
        )
        middle = np.where(np.isfinite(middle), middle, 0.0)
        loose = narrow | wide
        parts = {symbol: np.where(loose, 0.0, part) for symbol, part in parts.items()}
        parts, off = _kept(parts, off, np.abs(middle) * _NEGLIGIBLE)
        outside = np.maximum(high - middle, middle - low)
        off = np.where(narrow, np.where(low == high, 0.0, outside), np.where(wide, np.inf, off))
        off = np.where((low == high) & ~finite, np.inf, off)
        found = Affine(middle, parts, off, low, high)
        spread = found.spread
        kept = ~loose & np.isfinite(spread)
        low = np.where(kept, np.maximum(low, middle - spread), low)
        high = np.where(kept, np.minimum(high, middle + spread), high)
    return found._replace(low=low, high=high)


def _kept(parts: Mapping[int, Reals], off: Reals, least: Reals) -> tuple[dict[int, Reals], Reals]:
    """Return the symbols that are more than nothing somewhere, the others added to what is off."""
    found = {}
    for symbol, part in parts.items():
        size = np.abs(part)
        if (size > least).any():
            found[symbol] = part
        elif size.any():
            off = off + size
    return found, off


def plus(one: Affine, other: Affine) -> Affine:
    """Return sums, whose ranges the caller sets."""
    parts = dict(one.parts)
    for symbol, part in other.parts.items():
        parts[symbol] = parts[symbol] + part if symbol in parts else part
    return one._replace(middle=one.middle + other.middle, parts=parts, off=one.off + other.off)


def _without(spread: Reals, line: Reals) -> Reals:
    """Return a spread without the argument's part, never too small for what float64 loses."""
    return np.asarray(np.maximum(spread - np.abs(line), 0.0) + _SLACK * spread)


def curved(form: Affine, value: Reals, slope: Reals, bend: Reals, third: Reals, lost: float) -> Affine:
    """Return values of a function of affine forms, whose ranges the caller sets.

    Parameters
    ----------
    form : Affine
        The arguments.
    value, slope, bend : array (n,)
        The function and its first two derivatives in the middle.
    third : array (n,)
        The greatest magnitude of the third derivative.
    lost : float
        By what part these are off.
    """
    with np.errstate(all="ignore"):
        line, spread = form.line, form.spread
        rest = _without(spread, line)
        parts = {symbol: slope * part for symbol, part in form.parts.items()}
        parts[SQUARE] = parts.get(SQUARE, 0.0) + bend / 2 * line * line
        off = np.abs(slope) * form.off + np.abs(bend) * (np.abs(line) * rest + rest * rest / 2)
        off = off + spread**3 * third / 6
        off = off + lost * (np.abs(value) + np.abs(slope) * spread + np.abs(bend) * spread * spread)
    return form._replace(middle=value, parts=parts, off=off)


def times(one: Affine, other: Affine) -> Affine:
    """Return products, whose ranges the caller sets."""
    with np.errstate(all="ignore"):
        symbols = {*one.parts, *other.parts}
        parts = {
            symbol: one.middle * other.parts.get(symbol, 0.0) + other.middle * one.parts.get(symbol, 0.0)
            for symbol in symbols
        }
        square = one.line * other.line
        parts[SQUARE] = parts.get(SQUARE, 0.0) + square
        off = np.abs(one.middle) * other.off + np.abs(other.middle) * one.off
        off = (
            off
            + _without(one.spread, one.line) * other.spread
            + np.abs(one.line) * _without(other.spread, other.line)
        )
        return one._replace(middle=one.middle * other.middle, parts=parts, off=off)


def scaled(form: Affine, factor: Reals | float) -> Affine:
    """Return a form multiplied with exact numbers (powers of two, or signs), with its range."""
    with np.errstate(all="ignore"):
        ends = form.low * factor, form.high * factor
        return Affine(
            form.middle * factor,
            {symbol: part * factor for symbol, part in form.parts.items()},
            form.off * np.abs(factor),
            np.minimum(*ends),
            np.maximum(*ends),
        )


def moved(form: Affine, by: Reals | float) -> Affine:
    """Return a form to which numbers are added that leave it exact, with its range."""
    return form._replace(middle=form.middle + by, low=form.low + by, high=form.high + by)


def chosen(first: Truths, one: Affine, other: Affine) -> Affine:
    """Return one form where `first`, else the other."""
    symbols = {*one.parts, *other.parts}
    parts = {
        symbol: np.where(first, one.parts.get(symbol, 0.0), other.parts.get(symbol, 0.0))
        for symbol in symbols
    }
    return Affine(
        np.where(first, one.middle, other.middle),
        parts,
        np.where(first, one.off, other.off),
        np.where(first, one.low, other.low),
        np.where(first, one.high, other.high),
    )


def without_form(form: Affine, where: Truths) -> Affine:
    """Return numbers of which only the range is kept in some places."""
    return settled(form._replace(off=np.where(where, np.inf, form.off)))


def unit(magnitude: Reals) -> Reals:
    """Return units in the last place of numbers of f32 of given magnitudes."""
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(np.where(np.isfinite(magnitude), magnitude, 1.0))
        found = np.ldexp(1.0, np.maximum(exponent - 1, _LEAST_EXPONENT) - _FRACTION)
    return np.asarray(np.where(np.isfinite(magnitude), found, np.inf))


def disturbed(form: Affine, symbol: int, error: Reals) -> Affine:
    """Return numbers that a new symbol moves by an error."""
    finite = np.isfinite(error)
    parts = {**form.parts, symbol: np.where(finite, error, 0.0)}
    return form._replace(parts=parts, off=np.where(finite, form.off, np.inf))
