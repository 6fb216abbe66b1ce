"""Inputs that probe the hypotheses of a verdict: ordinary numbers, zeros, constants, all scales.

Ordinary are ones, small integers and zeros of either sign, and numbers that the kernel compares or adds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..contract.contract import Instance
from ..expected.input_bounds import limits, words_of
from ..expected.requirements import Requirements
from .counterexamples import input_formats

Words = NDArray[np.uint64]

_SCALES = (8, 40, 94, -40, 24, 16, 64, -94, 4, 10, -4, 700, -700)
"""Binary exponents of inputs that are all large, or small; those beyond a format are left out."""

_EXPONENTS = (90.0, 66.0)
"""Inputs of which powers of 2, and of e, are still far from the ends of f32, and their squares are not."""

_DRAWN = 6
"""Times that they are drawn: an element that data tell, or the first, may have to be the least of a row."""

_ONE_SIDED = (200.0, -200.0, 1000.0, -1000.0)
"""Inputs that are near each other and far from 0: their powers are 0, or infinite, in f32 and in f64, and
those of their differences are ordinary. A maximum that begins with 0 is beyond all of the negative ones."""

_ALONE = (12, 60)
"""Binary exponents of inputs that are large one array at a time."""

_FEW = 6
"""Inputs that are looked at one at a time."""

_WHOLE = np.array([1.0, 2.0, 3.0, -1.0, -2.0])


class Probe(NamedTuple):
    """Inputs, by linear index, and whether they are ordinary numbers."""

    inputs: Mapping[str, Words]
    ordinary: bool


def probes(instance: Instance, constants: Sequence[float]) -> Iterator[Probe]:
    """Yield inputs that meet ``[requires]``, the most ordinary ones first.

    Parameters
    ----------
    instance : Instance
        Whose inputs they are.
    constants : sequence of float
        Numbers of the kernel that inputs may meet.
    """
    requirements, random = Requirements(instance), np.random.default_rng(0)
    for values, ordinary in _values(instance, constants, random):
        words = {name: words_of(each, fmt) for name, (each, fmt) in values.items()}
        met = requirements.admissible(words, random)
        if met is not None:
            yield Probe(met, ordinary)


_Values = dict[str, tuple[NDArray[np.float64], Format]]


def _values(
    instance: Instance, constants: Sequence[float], random: np.random.Generator
) -> Iterator[tuple[_Values, bool]]:
    formats = {
        name: (fmt, max(1, int(np.prod(shape)))) for name, (fmt, shape) in input_formats(instance).items()
    }
    floats = [name for name, (fmt, _) in formats.items() if isinstance(fmt, FloatFormat)][:_FEW]

    def drawn(among: NDArray[np.float64], **others: NDArray[np.float64]) -> _Values:
        found: _Values = {}
        for name, (fmt, count) in formats.items():
            numbers = others.get(name, among)
            if isinstance(fmt, IntegerFormat):
                numbers = numbers[np.abs(numbers) < 100] if (np.abs(numbers) < 100).any() else _WHOLE
            found[name] = np.clip(random.choice(numbers, count), *_finite(fmt)), fmt
        return found

    yield drawn(_WHOLE), True
    yield drawn(np.array([1.0, -1.0])), True
    yield drawn(np.array([0.0, 1.0, 2.0, -1.0])), True
    for name in floats:
        yield drawn(_WHOLE, **{name: np.zeros(1)}), True
        yield drawn(_WHOLE, **{name: np.array([-1.0, -2.0])}), True
    if mined := [sign * number for number in constants for sign in (1.0, -1.0)]:
        for _ in range(2):
            yield drawn(np.array([*mined, 1.0, -1.0])), True
    for number in _ONE_SIDED:
        yield drawn(number + np.array([0.0, 1.0, 2.0, 3.0])), False
    ends = {name: fmt.maximum_exponent for name, (fmt, _) in formats.items() if isinstance(fmt, FloatFormat)}
    for exponent in _SCALES:
        if ends and abs(exponent) < min(ends.values()):
            yield drawn(_scaled(exponent, random)), False
    for number in _EXPONENTS * _DRAWN:
        yield drawn(number * np.array([1.0, -1.0, 0.9, -0.9])), False
    for exponent in _ALONE:
        for name in floats if len(floats) > 1 else ():
            if exponent < ends[name]:
                yield drawn(_WHOLE, **{name: _scaled(exponent, random)}), False


def _finite(fmt: Format) -> tuple[float, float]:
    """Return the ends of the finite numbers of a format."""
    if isinstance(fmt, IntegerFormat):
        return limits(fmt)
    assert isinstance(fmt, FloatFormat)
    largest = float(fmt.exact(fmt.largest << fmt.padding_bits) or 0)
    return -largest if fmt.signed else 0.0, largest


def _scaled(exponent: int, random: np.random.Generator) -> NDArray[np.float64]:
    signs = random.choice([-1.0, 1.0], 16)
    return signs * (1 + random.integers(0, 8, 16) / 8) * 2.0**exponent
