"""Numbers on which a verified kernel is run: small ones, whose sums are exact, all bits, and edges.

What is to be the very bits, and is not summed, gets all of them everywhere. Else small integers are the
rule; where an index of an array is one of the output's too, a few values of it have the others, so that most
sums stay exact and are compared to the bit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from ..spec.formats import FloatFormat, Format, IntegerFormat
from .arguments import Array
from .contract import Instance
from .counterexamples import input_formats, one_of_two, small_numbers
from .formula import Element, Name, walk
from .requirements import UnmetError, admissible

Words = NDArray[np.uint64]

WHOLE_BITS = 8
"""Integers of so many bits, or fewer, take all their values; wider ones small values, and edges."""

SHARE = 8
"""One index of so many has edges."""


def trial_inputs(instance: Instance, seed: int, *, finite: bool) -> dict[str, Words]:
    """Return the encodings of every input by linear index.

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
    inputs = admissible(instance, found, random)
    if inputs is None:
        raise UnmetError
    return inputs


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


def ordinary(fmt: Format, count: int, random: np.random.Generator) -> Words:
    """Return small numbers, whose sums are exact."""
    if isinstance(fmt, IntegerFormat) and fmt.bits <= WHOLE_BITS:
        return random.integers(0, 1 << fmt.bits, count, dtype=np.uint64)
    found: Words = random.choice(small_numbers(fmt), count)
    return found


def of_all_bits(fmt: Format, count: int, random: np.random.Generator, *, finite: bool) -> Words:
    """Return numbers with random bits: floats from 1/2 to 4 of either sign, where they are to be finite."""
    words: Words = random.integers(0, (1 << fmt.bits) - 1, count, dtype=np.uint64, endpoint=True)
    if isinstance(fmt, IntegerFormat) or not finite:
        if finite and fmt.bits > WHOLE_BITS:
            return words % np.uint64(1 << WHOLE_BITS - 1)
        return words
    assert isinstance(fmt, FloatFormat)
    exponents = random.integers(-1, 2, count).astype(np.int64) + fmt.bias
    scaled = (exponents.astype(np.uint64) << np.uint64(fmt.fraction_bits)) << np.uint64(fmt.padding_bits)
    fraction = words & np.uint64(((1 << fmt.fraction_bits) - 1) << fmt.padding_bits)
    found: Words = scaled | fraction | (words & np.uint64(fmt.sign_mask))
    return found


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
