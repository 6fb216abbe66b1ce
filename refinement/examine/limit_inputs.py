"""Inputs at and next to the constants of comparisons, where branches change, and all beyond one of them.

A maximum that begins with a number is wrong only where every input is less; an integer made of a float, of
which low bits are kept, where it does not fit them, and a sum with one, where that wraps; and one that is
rounded in another way, half-way between two integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import encode
from ...spec.formats import FloatFormat, Format, IntegerFormat
from ...spec.rounding import Rounding
from ..equality.clamped_conversions import converts
from ..terms import operations
from ..terms.slices import fields
from ..terms.store import CONCATENATION, CONSTANT, TermStore

_MOST = 64
"""Constants that are looked at."""

_ATTEMPTS = 2
"""Random choices of them."""

_TIES = np.array([-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, -0.25, 0.25, 0.75, 1.25, 1.0])
"""Numbers half-way between two integers, or so if doubled, and one that is none."""

_BEYOND = 4
"""Constants, the largest first, of which all inputs are beyond."""


def limit_inputs(
    formats: Mapping[str, tuple[Format, tuple[int, ...]]], store: TermStore
) -> Iterator[dict[str, NDArray[np.uint64]]]:
    """Yield inputs that are such constants, their opposites, and the numbers next to them; or all beyond one.

    Where floats are made integers, some are half-way between two, too.

    Parameters
    ----------
    formats : mapping of str to (Format, shape)
        Of the inputs.
    store : TermStore
        What is compared.
    """
    limits = np.concatenate([_compared(store), _kept_of_integers(store), _greatest_of_summed_integers(store)])
    limits = np.unique(limits)
    limits = limits[np.argsort(np.abs(limits), kind="stable")]
    if len(limits):
        yield from _at_and_beyond(limits, formats)
    if any(converts(operation) for operation in store.operations):
        random = np.random.default_rng(0)
        yield {
            name: random.choice(_rounded(_TIES, fmt), int(np.prod(shape)))
            for name, (fmt, shape) in formats.items()
        }


def _at_and_beyond(
    limits: NDArray[np.float64], formats: Mapping[str, tuple[Format, tuple[int, ...]]]
) -> Iterator[dict[str, NDArray[np.uint64]]]:
    for seed in range(_ATTEMPTS):
        random = np.random.default_rng(seed)
        yield {
            name: random.choice(_beside(limits, fmt), int(np.prod(shape)))
            for name, (fmt, shape) in formats.items()
        }
    random = np.random.default_rng(_ATTEMPTS)
    for limit in limits[::-1][:_BEYOND]:
        yield {
            name: random.choice(_beyond(limit, fmt), int(np.prod(shape)))
            for name, (fmt, shape) in formats.items()
        }


def _beyond(limit: float, fmt: Format) -> NDArray[np.uint64]:
    """Return the encodings of numbers that are further from 0 than a limit, as far as a format has them."""
    return _rounded(limit * (1 + np.arange(1, 9) / 8), fmt)


def _rounded(numbers: NDArray[np.float64], fmt: Format) -> NDArray[np.uint64]:
    """Return the encodings of numbers, or of the nearest that a format has."""
    if isinstance(fmt, IntegerFormat):
        numbers = np.clip(np.trunc(numbers), float(fmt.minimum), float(min(fmt.maximum, 1 << 62)))
        integers: NDArray[np.uint64] = numbers.astype(np.int64).astype(np.uint64)
        return integers & np.uint64((1 << fmt.bits) - 1)
    assert isinstance(fmt, FloatFormat)
    largest = float(fmt.exact(fmt.largest << fmt.padding_bits) or 0)
    return encode(
        np.clip(numbers, -largest if fmt.signed else 0.0, largest), fmt, Rounding.NEAREST_EVEN
    ).astype(np.uint64)


def _compared(store: TermStore) -> NDArray[np.float64]:
    """Return the finite constants that terms are compared with, or cut off at."""
    found = set[float]()
    terms = np.arange(len(store), dtype=np.int32)
    for name in (operations.COMPARE, operations.EXTREMUM):
        members = terms[store.are(name, terms)]
        for number in np.unique(store.operation_numbers(members)):
            fmt = store.operations[number].operands[0]
            some = store.arguments(members[store.operation_numbers(members) == number])[:, :2]
            words = np.unique(store.constant_values(some[store.are(CONSTANT, some)]))
            found.update(_value(int(word), fmt) for word in words[:_MOST])
    limits = np.array(sorted(found, key=abs)[:_MOST])
    finite: NDArray[np.float64] = limits[np.isfinite(limits)]
    return finite


def _kept_of_integers(store: TermStore) -> NDArray[np.float64]:
    """Return the powers of two from which on integers made of floats are others in the bits that are kept."""
    found = set[float]()
    terms = np.arange(len(store), dtype=np.int32)
    members = terms[store.are(CONCATENATION, terms)]
    for number in np.unique(store.operation_numbers(members)):
        lowest = fields(store.operations[number])[0]
        if lowest.constant or lowest.low or lowest.width == 1:
            continue
        some = members[store.operation_numbers(members) == number]
        made = store.elements(store.arguments(some)[:, 0])[:, 0]
        converted = (
            store.operations[operation_number]
            for operation_number in np.unique(store.operation_numbers(made))
        )
        if any(converts(each) and each.result.bits > lowest.width for each in converted):
            found.add(2.0 ** (lowest.width - 1))
    return np.array(sorted(found), dtype=np.float64)


def _greatest_of_summed_integers(store: TermStore) -> NDArray[np.float64]:
    """Return the powers of two at which conversions of floats clamp to integers that are summands."""
    sums = np.arange(len(store), dtype=np.int32)[store.are(operations.RING, np.arange(len(store)))]
    summands = np.unique(store.arguments(sums))
    found = set[float]()
    for number in np.unique(store.operation_numbers(summands[summands >= 0])):
        operation = store.operations[number]
        if converts(operation):
            found.add(2.0 ** (operation.result.bits - 1))
    return np.array(sorted(found), dtype=np.float64)


def _value(word: int, fmt: Format) -> float:
    if isinstance(fmt, FloatFormat):
        exact = fmt.exact(word)
        return np.inf if exact is None else float(exact)
    assert isinstance(fmt, IntegerFormat)
    return float(word - (1 << fmt.bits if word > fmt.maximum else 0))


def _beside(limits: NDArray[np.float64], fmt: Format) -> NDArray[np.uint64]:
    """Return the encodings of limits, and of what is next to them, as far as a format has them."""
    both = np.concatenate([limits, -limits])
    if isinstance(fmt, IntegerFormat):
        around = np.concatenate([both - 1, both, both + 1, [0.0]])
        kept = around[(around >= fmt.minimum) & (around <= fmt.maximum) & (around == np.rint(around))]
        integers: NDArray[np.uint64] = kept.astype(np.int64).astype(np.uint64) & np.uint64(
            (1 << fmt.bits) - 1
        )
        return integers
    assert isinstance(fmt, FloatFormat)
    words = encode(both, fmt, Rounding.NEAREST_EVEN).astype(np.uint64)
    sign = np.uint64(fmt.sign_mask if fmt.signed else 0)
    magnitudes = ((words & ~sign) >> np.uint64(fmt.padding_bits)).astype(np.int64)
    near = np.concatenate([magnitudes - 1, magnitudes, magnitudes + 1])
    found: NDArray[np.uint64] = np.clip(near, 0, fmt.largest).astype(np.uint64) << np.uint64(fmt.padding_bits)
    return found | np.tile(words & sign, 3)
