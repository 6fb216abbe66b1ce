"""Inputs of trials: several sets of numbers, each sensitive to other faults.

The first is made of small numbers, whose sums are exact and compared to the bit, with all bits and edges
along an index that is an output's too. Then come numbers on which functions are not saturated, positive ones,
those that the kernel compares with, the greatest of each row at its ends, tiny ones (on which small constants
count), numbers that are all different, large ones, few values that are equal or lie between two integers, and
the ends of bounded formats. Scalars are different from each other, and neither 0 nor 1. All sets meet
``[requires]``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import encode
from ...spec.formats import FloatFormat, Format, IntegerFormat
from ...spec.rounding import Rounding
from ..contract.arguments import Array
from ..contract.contract import Instance
from ..expected.requirements import Requirements, UnmetError, admissible
from ..formula.tree import Element, Name, walk
from ..terms.inputs import WHOLE_BITS, of_all_bits, one_of_two, ordinary
from ..terms.store import Admitted, TermStore
from .counterexamples import input_formats
from .extreme_inputs import extreme_inputs
from .limit_inputs import limit_inputs

Words = NDArray[np.uint64]

TYPICAL = 2.0**20
"""A kernel's constants up to here are numbers that inputs may be."""

_CORNERS = 64
"""Ways to put bounded inputs at their ends: all of four. Of more, the last ones stay at the least."""

_PLACES = 4
"""Places of each row at which one number in turn is above what a mask is added to."""

SHARE = 8
"""One index of so many has edges."""

_SCALARS = (1.5, 0.75, 2.5, 1.25, 0.625, 3.5, 1.75, 0.875, 2.25, 0.5625)
"""Scalars are among these, which formats of 8 bits have too: neither 0 nor 1, nor the inverse of another."""

_SMALL = (3, 2, 5, 7, 6, 4)
"""The same of scalars that are integers."""


class _Style(NamedTuple):
    """From what floating-point numbers of a set are drawn.

    Attributes
    ----------
    least, greatest : int
        Exponents of their magnitudes.
    bits : int
        Bits behind the leading one, at most.
    negative : float
        The share of negative numbers.
    """

    least: int
    greatest: int
    bits: int
    negative: float


_STYLES = (
    _Style(-3, -1, 2, 0.5),  # functions of sums of such numbers are not saturated; sums are exact
    _Style(-1, 1, 52, 0.0),  # positive: roots and logarithms have values; sums do not cancel
    _Style(-12, -7, 52, 0.5),  # a constant such as 1e-5 below a root counts
    _Style(-1, 1, 52, 0.5),  # all different: neighbours, rows and columns that are exchanged show
    _Style(2, 6, 6, 0.5),  # beyond what numbers are clamped to, and far apart from each other
)

_DIFFERENT = _STYLES[3]

_ROOTS = 1
"""Which of them is followed by numbers that the kernel compares with, and by the greatest at the ends."""


def admitted(instance: Instance, requirements: Requirements) -> Admitted | None:
    """Return by what words of some inputs become such that meet ``[requires]``; None without conditions.

    Inputs that are not among them are those of the first trial.
    """
    if not requirements:
        return None

    @cache
    def others() -> dict[str, Words] | None:
        with suppress(UnmetError):
            return trial_inputs(instance, 0, finite=True)
        return None

    def changed(words: Mapping[tuple[str, Format, int], int]) -> dict[tuple[str, Format, int], int] | None:
        if (known := others()) is None:
            return None
        inputs = {name: each.copy() for name, each in known.items()}
        own = [name for name in words if name[0] in inputs and name[2] < len(inputs[name[0]])]
        for name in own:
            inputs[name[0]][name[2]] = words[name]
        found = requirements.admissible(inputs, np.random.default_rng(0))
        return None if found is None else {**words, **{name: int(found[name[0]][name[2]]) for name in own}}

    return changed


def trial_inputs(instance: Instance, seed: int, *, finite: bool) -> dict[str, Words]:
    """Return the first set: encodings of every input by linear index.

    Parameters
    ----------
    instance : Instance
        Of the contract.
    seed : int
        Of the random numbers.
    finite : bool
        Whether floats are to be far from overflow, as equality over the reals supposes.

    Raises
    ------
    UnmetError
        If none are found that meet ``[requires]``.
    """
    random = np.random.default_rng(seed)
    found = {}
    for name, (fmt, shape) in input_formats(instance).items():
        count = int(np.prod(shape))
        words = ordinary(fmt, count, random)
        array = instance.arrays.get(name)
        axes = set() if array is None else set(_output_axes(instance, array))
        summed = array is not None and len(axes) < sum(extent > 1 for extent in array.shape)
        tame = finite or summed
        bits = of_all_bits(fmt, count, random, finite=tame)
        edges = np.resize(random.permutation(_edges(fmt, finite=tame)), count)
        chosen = _at(array, axes, random) if array is not None and tame else np.full(count, not finite)
        places = np.flatnonzero(chosen & (random.random(count) < 1 / 2))
        words[chosen] = bits[chosen]
        words[places] = edges[: len(places)]
        found[name] = words
    inputs = admissible(instance, {**found, **_scalars(instance, random, negative=0.5)}, random)
    if inputs is None:
        raise UnmetError
    return inputs


def more_trial_inputs(
    instance: Instance, store: TermStore, requirements: Requirements, seed: int
) -> Iterator[dict[str, Words]]:
    """Yield further sets, the most telling first.

    Parameters
    ----------
    instance : Instance
        Of the contract.
    store : TermStore
        The terms of the kernel and the contract, which have the constants that numbers are compared with.
    requirements : Requirements
        What they are to meet.
    seed : int
        Of the random numbers.
    """
    random = np.random.default_rng([seed, 1])
    for inputs in _drawn(instance, store, random):
        if (met := requirements.admissible(inputs, random)) is not None:
            yield met


def outweighing_inputs(
    instance: Instance, requirements: Requirements, masks: Sequence[float], seed: int
) -> Iterator[dict[str, Words]]:
    """Yield sets in which all floats of one input are below a mask that a kernel chooses in their place.

    Then half of the numbers, or one of each row, are as far above 0: they are still the greatest where a mask
    is added to them. Integers, which may say what is masked, are 0 and 1. Masks beyond what inputs may be are
    none of these: nothing is expected to outweigh them but the ends of inputs that ``[requires]`` bounds.
    """
    random = np.random.default_rng([seed, 2])
    formats, base = input_formats(instance), trial_inputs(instance, seed, finite=True)
    for ends in _at_ends(formats, requirements) if masks else ():
        inputs = {**base, **_masking(formats, random), **ends}
        if (met := requirements.admissible(inputs, random)) is not None:
            yield met
    for mask in (each for each in masks if abs(each) <= TYPICAL):
        for name, (fmt, shape) in formats.items():
            if not isinstance(fmt, FloatFormat):
                continue
            low = np.full(len(base[name]), 2 * mask)
            half = low * random.choice([-1.0, 1.0], len(low))
            above = (_with_one_above(low, shape, random) for _ in range(_PLACES))
            for numbers in (low, half, -half, *above):
                inputs = {**base, **_masking(formats, random), name: _encoded(numbers, fmt)}
                if (met := requirements.admissible(inputs, random)) is not None:
                    yield met


def _at_ends(
    formats: Mapping[str, tuple[Format, tuple[int, ...]]], requirements: Requirements
) -> Iterator[dict[str, Words]]:
    """Yield the floats of bounded inputs, all of each at one end; then those of all but one of these inputs.

    Sums of products are least at some ends. What weighs them shows only where it is not all the same.
    """
    bounded: dict[str, list[Words | None]] = {
        name: [_encoded(end, ends.format) for end in (ends.low, ends.high)]
        for name, ends in requirements.bounds.ends.items()
        if name in formats
        and isinstance(ends.format, FloatFormat)
        and np.isfinite(ends.low + ends.high).all()
    }
    free: list[Words | None] = [None]
    some = [bounded, *({**bounded, name: free} for name in bounded)]
    found = (zip(bounded, each, strict=True) for own in some for each in product(*own.values()))
    for pairs in islice(found, _CORNERS):
        yield {name: words for name, words in pairs if words is not None}


def _masking(
    formats: Mapping[str, tuple[Format, tuple[int, ...]]], random: np.random.Generator
) -> dict[str, Words]:
    """Return zeros and ones for arrays of integers."""
    return {
        name: random.integers(0, 2, int(np.prod(shape)), dtype=np.uint64)
        for name, (fmt, shape) in formats.items()
        if isinstance(fmt, IntegerFormat) and shape
    }


def _with_one_above(numbers: NDArray[np.float64], shape: Sequence[int], random: np.random.Generator) -> Any:
    """Return numbers, one of each row negated."""
    rows = numbers.copy().reshape(-1, shape[-1] if shape else 1)
    rows[np.arange(len(rows)), random.integers(0, rows.shape[1], len(rows))] *= -1
    return rows.reshape(-1)


def _drawn(instance: Instance, store: TermStore, random: np.random.Generator) -> Iterator[dict[str, Words]]:
    formats = input_formats(instance)
    limits = list(limit_inputs(formats, store))
    for number, style in enumerate(_STYLES):
        yield _in_style(instance, style, random)
        if number == _ROOTS:
            base = _in_style(instance, _STYLES[0], random)
            yield from (_mixed(base, limit, random) for limit in limits[:1])
            yield _with_peaks(instance, base)
    few = {name: _few(fmt, int(np.prod(shape)), random) for name, (fmt, shape) in formats.items()}
    yield {**few, **_scalars(instance, random, negative=0.0)}
    for inputs in extreme_inputs(formats):
        yield {**inputs, **_scalars(instance, random, negative=0.0)}


def redrawn(instance: Instance, inputs: Mapping[str, Words], name: str, seed: int) -> dict[str, Words]:
    """Return inputs with other numbers in place of about half of the elements of one of them.

    A scalar is another number. The new numbers are of about the sizes of the old ones; whether they meet
    ``[requires]`` is not looked at.
    """
    fmt, _ = input_formats(instance)[name]
    words = inputs[name].copy()
    random = np.random.default_rng([seed, len(words)])
    chosen = np.ones(1, dtype=bool) if len(words) == 1 else random.random(len(words)) < 1 / 2
    words[chosen] = _moved(words[chosen], fmt, random)
    return {**inputs, name: words}


def different(instance: Instance, random: np.random.Generator) -> dict[str, Words]:
    """Return inputs whose floats are all different, of about one size and either sign."""
    return _in_style(instance, _DIFFERENT, random)


def _in_style(instance: Instance, style: _Style, random: np.random.Generator) -> dict[str, Words]:
    found = {
        name: _of_style(fmt, int(np.prod(shape)), style, random)
        for name, (fmt, shape) in input_formats(instance).items()
    }
    return {**found, **_scalars(instance, random, negative=style.negative)}


def _of_style(fmt: Format, count: int, style: _Style, random: np.random.Generator) -> Words:
    """Return floats of a style, as far as a format goes; integers of all bits, or small ones."""
    if isinstance(fmt, IntegerFormat):
        return of_all_bits(fmt, count, random, finite=True)
    exponents = random.integers(style.least, style.greatest + 1, count)
    fractions = random.integers(0, 1 << style.bits, count) / float(1 << style.bits)
    signs = np.where(random.random(count) < style.negative, -1.0, 1.0)
    return _encoded(signs * np.ldexp(1 + fractions, exponents), fmt)


def _encoded(numbers: NDArray[np.float64], fmt: Format) -> Words:
    """Return encodings of numbers: finite ones, positive in formats without a sign, and not 0."""
    if isinstance(fmt, IntegerFormat):
        words = np.clip(np.rint(numbers), fmt.minimum, fmt.maximum).astype(np.int64).astype(np.uint64)
        return words & np.uint64((1 << fmt.bits) - 1)
    assert isinstance(fmt, FloatFormat)
    words = encode(numbers if fmt.signed else np.abs(numbers), fmt, Rounding.NEAREST_EVEN).astype(np.uint64)
    sign = np.uint64(fmt.sign_mask if fmt.signed else 0)
    padding = np.uint64(fmt.padding_bits)
    magnitudes = np.clip((words & ~sign) >> padding, 1 if fmt.subnormals else 0, fmt.largest) << padding
    found: Words = (words & sign) | magnitudes.astype(np.uint64)
    return found


def _scalars(instance: Instance, random: np.random.Generator, *, negative: float) -> dict[str, Words]:
    """Return scalars that are all different, and neither 0 nor 1."""
    found = {}
    floats, integers = random.permutation(_SCALARS), random.permutation(_SMALL)
    for number, (name, (fmt, shape)) in enumerate(input_formats(instance).items()):
        if shape != ():
            continue
        signed = -1 if random.random() < negative and _has_sign(fmt) else 1
        some = floats if isinstance(fmt, FloatFormat) else integers
        found[name] = _encoded(np.array([some[number % len(some)] * signed], dtype=float), fmt)
    return found


def _mixed(
    base: Mapping[str, Words], limits: Mapping[str, Words], random: np.random.Generator
) -> dict[str, Words]:
    """Return inputs of which one in four is such as the kernel compares with; scalars stay."""
    return {
        name: np.where(random.random(len(words)) < 1 / 4, limits[name], words) if len(words) > 1 else words
        for name, words in base.items()
    }


def _with_peaks(instance: Instance, base: Mapping[str, Words]) -> dict[str, Words]:
    """Return inputs with the greatest number of each row at its end, its beginning, or in between.

    What is left out at an end, or taken from beside it, makes a difference to an extremum then.
    """
    found = dict(base)
    for name, (fmt, shape) in input_formats(instance).items():
        if isinstance(fmt, FloatFormat) and shape and found[name].size:
            rows = found[name].copy().reshape(-1, shape[-1])
            places = np.array([-1, 0, shape[-1] // 2])[np.arange(len(rows)) % 3]
            rows[np.arange(len(rows)), places] = _encoded(np.array([6.0]), fmt)[0]
            found[name] = rows.reshape(-1)
    return found


def _few(fmt: Format, count: int, random: np.random.Generator) -> Words:
    """Return equal numbers, most of them half-way between two integers: what is the greatest is so twice."""
    some = (0.5, 1.5, 2.5, -0.5, -1.5, 1.0) if _has_sign(fmt) else (0.5, 1.5, 2.5, 1.0)
    return random.choice(_encoded(np.array(some), fmt), count)


def _has_sign(fmt: Format) -> bool:
    assert isinstance(fmt, IntegerFormat | FloatFormat)
    return fmt.signed


def _moved(words: Words, fmt: Format, random: np.random.Generator) -> Words:
    """Return other numbers near those that are there."""
    if isinstance(fmt, IntegerFormat):
        steps = random.integers(1, min(1 << (fmt.bits - 1), 4), len(words), endpoint=True).astype(np.uint64)
        return (words + steps) & np.uint64((1 << fmt.bits) - 1)
    assert isinstance(fmt, FloatFormat)
    sign = np.uint64(fmt.sign_mask if fmt.signed else 0)
    magnitudes = ((words & ~sign) >> np.uint64(fmt.padding_bits)).astype(np.int64)
    half = 1 << max(fmt.fraction_bits - 1, 0)
    moved = np.where(magnitudes + half > fmt.largest, magnitudes - half, magnitudes + half)
    return (words & sign) | (np.clip(moved, 0, fmt.largest).astype(np.uint64) << np.uint64(fmt.padding_bits))


def _at(array: Array, axes: Collection[int], random: np.random.Generator) -> NDArray[np.bool_]:
    """Return elements (by linear index) at some values of the index of one of the axes."""
    chosen = np.zeros(array.shape, dtype=bool)
    if axes:
        axis = min(axes)
        values = random.random(array.shape[axis]) < 1 / SHARE
        chosen |= values.reshape([-1 if each == axis else 1 for each in range(len(array.shape))])
    return chosen.reshape(-1)


def _output_axes(instance: Instance, array: Array) -> Iterator[int]:
    """Yield the axes of an array that an index of an output goes along."""
    for formula in instance.contract.formulas:
        own = {index.name for index in formula.target.indices if isinstance(index, Name)}
        for node in walk(formula.body):
            if isinstance(node, Element) and node.array == array.name:
                named = enumerate(node.indices)
                yield from (axis for axis, index in named if isinstance(index, Name) and index.name in own)


def _edges(fmt: Format, *, finite: bool) -> Words:
    """Return zeros, the least numbers, ones; where floats need not be small, the greatest and the others."""
    if isinstance(fmt, IntegerFormat):
        whole = not finite or fmt.bits <= WHOLE_BITS
        numbers = [0, 1, *([-1] if fmt.signed else []), *([fmt.minimum, fmt.maximum] if whole else [])]
        return np.array([number & ((1 << fmt.bits) - 1) for number in numbers], dtype=np.uint64)
    assert isinstance(fmt, FloatFormat)
    found = [one_of_two(fmt, 0), one_of_two(fmt, 1)]
    if fmt.subnormals:
        found += [1 << fmt.padding_bits, ((1 << fmt.fraction_bits) - 1) << fmt.padding_bits]
        found.append(1 << (fmt.fraction_bits + fmt.padding_bits))
    if not finite:
        found.append(fmt.largest << fmt.padding_bits)
        found += [] if fmt.infinity is None else [fmt.infinity << fmt.padding_bits]
    if fmt.signed:
        found += [each | fmt.sign_mask for each in found]
    return np.array(found, dtype=np.uint64)
