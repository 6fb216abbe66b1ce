"""Enclosures of f32 numbers and 32-bit words on pieces: affine forms with signs and NaNs.

Bits and numbers are read as each other. Within one binade that is a line, so that affine forms survive it;
elsewhere only the range does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...spec.rounding import Rounding
from .affine_numbers import (
    LEAST_NORMAL,
    Affine,
    Reals,
    Truths,
    between,
    chosen,
    disturbed,
    moved,
    scaled,
    settled,
    unit,
    without_form,
)

WORDS, SIGN, _INFINITY, _BINADE = 2.0**32, 2.0**31, float(0x7F800000), 2.0**23

_DOWN, _UP = np.float32(-np.inf), np.float32(np.inf)


class Floats(NamedTuple):
    """Numbers of f32 (n,), or what stands for none.

    Attributes
    ----------
    form : Affine
        The numbers, as far as they are some.
    negative, positive : array (n,)
        Whether the sign may be minus, and whether it may be plus, also of zeros.
    nan, number : array (n,)
        Whether it may be a NaN, and whether it may be a number.
    """

    form: Affine
    negative: Truths
    positive: Truths
    nan: Truths
    number: Truths

    @property
    def low(self) -> Reals:
        """Least numbers."""
        return self.form.low

    @property
    def high(self) -> Reals:
        """Greatest numbers."""
        return self.form.high


def floats(form: Affine, negative: Truths, positive: Truths, nan: Truths, number: Truths) -> Floats:
    """Return numbers of f32, with ranges that end at some, and with what that says of signs."""
    low, high = rounded(form.low, Rounding.UPWARD), rounded(form.high, Rounding.DOWNWARD)
    fits = low <= high
    form = settled(form._replace(low=np.where(fits, low, form.low), high=np.where(fits, high, form.high)))
    whole = number & (form.low < 0) | (form.low <= 0) & negative
    plus = number & (form.high > 0) | (form.high >= 0) & positive
    return Floats(form, whole | ~number, plus | ~number, nan, number)


def rounded(numbers: Reals, rounding: Rounding) -> Reals:
    """Return numbers as f32 has them."""
    with np.errstate(all="ignore"):
        near = numbers.astype(np.float32)
        if rounding is Rounding.TOWARD_ZERO:
            down, up = numbers > 0, numbers < 0
        else:
            down = np.full(len(numbers), rounding is Rounding.DOWNWARD)
            up = np.full(len(numbers), rounding is Rounding.UPWARD)
        near = np.where(down & (near > numbers), np.nextafter(near, _DOWN), near)
        near = np.where(up & (near < numbers), np.nextafter(near, _UP), near)
    return near.astype(np.float64)


def flushed(value: Floats) -> Floats:
    """Return numbers, of which subnormal ones may be zeros of their sign."""
    form = value.form
    some = (form.least_magnitude < LEAST_NORMAL) & (form.magnitude > 0)
    low = np.where(some & (form.low > 0), 0.0, form.low)
    high = np.where(some & (form.high < 0), 0.0, form.high)
    off = form.off + np.where(some, LEAST_NORMAL, 0.0)
    return value._replace(form=settled(form._replace(off=off, low=low, high=high)))


def from_exact(
    form: Affine,
    exact: Truths,
    rounding: Rounding,
    symbol: int,
    flags: tuple[Truths, Truths, Truths, Truths],
    *,
    flush: bool,
) -> Floats:
    """Return what numbers are rounded to.

    Parameters
    ----------
    form : Affine
        The numbers, with a range that is sure.
    exact : array (n,)
        Which of them f32 has, unless they overflow.
    rounding : Rounding
        How.
    symbol : int
        That of the errors.
    flags : tuple
        The last four attributes of `Floats`, for what it is rounded to.
    flush : bool
        Whether subnormal results are zeros.
    """
    low, high = rounded(form.low, rounding), rounded(form.high, rounding)
    step = unit(np.maximum(np.abs(low), np.abs(high)))
    error = np.where(exact, 0.0, step / 2 if rounding is Rounding.NEAREST_EVEN else step)
    found = disturbed(form, symbol, error)._replace(low=low, high=high)
    lost = ~(np.isfinite(low) & np.isfinite(high))
    result = floats(found._replace(off=np.where(lost, np.inf, found.off)), *flags)
    return flushed(result) if flush else result


def select_floats(may: tuple[Truths, Truths], one: Floats, other: Floats) -> Floats:
    """Return the first numbers where a condition must hold, the others where it can't, else either."""
    holds, fails = may[0] & ~may[1], may[1] & ~may[0]
    low = np.minimum(np.where(one.number, one.low, np.inf), np.where(other.number, other.low, np.inf))
    high = np.maximum(np.where(one.number, one.high, -np.inf), np.where(other.number, other.high, -np.inf))
    either = between(np.where(low <= high, low, -np.inf), np.where(low <= high, high, np.inf))
    form = chosen(holds, one.form, chosen(fails, other.form, either))
    flags = [
        np.where(holds, left, np.where(fails, right, left | right))
        for left, right in zip(one[1:], other[1:], strict=True)
    ]
    return Floats(form, *flags)


def select_words(may: tuple[Truths, Truths], one: Affine, other: Affine) -> Affine:
    """Return the same of words."""
    holds, fails = may[0] & ~may[1], may[1] & ~may[0]
    either = between(np.minimum(one.low, other.low), np.maximum(one.high, other.high))
    return chosen(holds, one, chosen(fails, other, either))


def negated(value: Floats) -> Floats:
    """Return opposites."""
    return Floats(scaled(value.form, -1.0), value.positive, value.negative, value.nan, value.number)


def modulo(form: Affine, modulus: float) -> Affine:
    """Return integers modulo a power of two."""
    turns = np.floor(form.low / modulus)
    same = turns == np.floor(form.high / modulus)
    found = moved(form, np.where(same, -turns * modulus, 0.0))
    low, high = np.where(same, found.low, 0.0), np.where(same, found.high, modulus - 1)
    return without_form(found._replace(low=low, high=high), ~same)


def _numbers(words: Reals) -> Reals:
    """Return the numbers that words without a sign are, infinity for NaNs."""
    return np.minimum(words, _INFINITY).astype(np.uint32).view(np.float32).astype(np.float64)


def floats_of(words: Affine) -> Floats:
    """Return words (integers from 0 on) as numbers."""
    minus = words.low >= SIGN
    signed = minus == (words.high >= SIGN)
    size = moved(words, np.where(minus, -SIGN, 0.0))
    low, high = np.where(signed, size.low, 0.0), np.where(signed, size.high, SIGN - 1)
    number, nan = low <= _INFINITY, high > _INFINITY
    field = np.maximum(np.floor(low / _BINADE), 1.0)
    alike = signed & (np.maximum(np.floor(high / _BINADE), 1.0) == field) & (high < _INFINITY)
    ends = _numbers(low), _numbers(high)
    scale = np.where(alike, np.ldexp(1.0, (field - 150).astype(np.int64)), 1.0)
    form = scaled(moved(size, np.where(alike, -(field - 1) * _BINADE, 0.0)), scale)
    form = form._replace(off=np.where(alike, form.off, np.inf), low=ends[0], high=ends[1])
    turned = scaled(form, np.where(minus, -1.0, 1.0))
    free = ~signed | ~number
    turned = turned._replace(
        low=np.where(free, np.where(number, -ends[1], -np.inf), turned.low),
        high=np.where(free, np.where(number, ends[1], np.inf), turned.high),
    )
    return Floats(settled(turned), minus | ~signed, ~minus | ~signed, nan, number)


def words_of(value: Floats) -> Affine:
    """Return numbers as words: any where they may be NaNs, those of NaNs where they are nothing else."""
    minus = value.negative & ~value.positive
    sure = (minus | (value.positive & ~value.negative)) & ~value.nan & value.number
    size = scaled(value.form, np.where(minus, -1.0, 1.0))
    low, high = np.maximum(size.low, 0.0), np.maximum(size.high, 0.0)
    with np.errstate(all="ignore"):
        ends = [each.astype(np.float32).view(np.uint32).astype(np.float64) for each in (low, high)]
    field = np.maximum(np.floor(ends[0] / _BINADE), 1.0)
    alike = sure & (np.maximum(np.floor(ends[1] / _BINADE), 1.0) == field) & (ends[1] < _INFINITY)
    scale = np.where(alike, np.ldexp(1.0, (150 - field).astype(np.int64)), 1.0)
    form = moved(scaled(size, scale), np.where(alike, (field - 1) * _BINADE, 0.0))
    form = form._replace(off=np.where(alike, form.off, np.inf), low=ends[0], high=ends[1])
    form = moved(form, np.where(minus, SIGN, 0.0))
    full = form._replace(
        low=np.where(sure, form.low, np.where(value.number, 0.0, _INFINITY + 1)),
        high=np.where(sure, form.high, WORDS - 1),
        off=np.where(sure, form.off, np.inf),
    )
    return settled(full)
