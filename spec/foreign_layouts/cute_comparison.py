"""A CuTe layout against a distribution, and which strides must change to make it equal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import prod

import numpy as np

from ..errors import InputError
from ..layout import Layout
from .comparison import Claim, Comparison, Verdict, changed_images, compare
from .cute import CuteLayout, Tree, leaves, nested_as, spell
from .distribution import Distribution


def compare_cute(layout: CuteLayout, candidates: Iterable[Distribution]) -> Comparison:
    """Compare a layout (thread, value) -> column-major index with the candidates of its domain.

    It is equal if it is to one of them; else the comparison is with the first.

    Raises
    ------
    InputError
        If the shape is not a pair.
    """
    known = list(candidates)
    holders = f"({known[0].holders[0]}, {known[0].holders[1]})"
    if isinstance(layout.shape, int) or len(layout.shape) != 2:
        rank = 1 if isinstance(layout.shape, int) else len(layout.shape)
        raise InputError(f"{layout} has {rank} outermost coordinates; it should have two, {holders}")
    domain = tuple(prod(leaves(mode)) for mode in layout.shape)
    fitting = [candidate for candidate in known if candidate.domain == domain] or known[:1]
    found = [_compare_one(layout, domain, candidate) for candidate in fitting]
    return next((comparison for comparison in found if comparison.equal), found[0])


def _compare_one(layout: CuteLayout, domain: tuple[int, ...], expected: Distribution) -> Comparison:
    told = str(cute_layout(expected))
    if not layout.congruent:
        return replace(_incongruent(layout, expected, domain), expected=told)
    if domain != expected.domain:
        return Comparison(
            Verdict.WRONG_SIZE,
            f"it has {domain[0]} {expected.holders[0]}s of {domain[1]} {expected.holders[1]}s; "
            f"{expected.domain_text}",
            expected=told,
        )
    return replace(_compare_index(layout, expected), expected=told)


def _compare_index(layout: CuteLayout, expected: Distribution) -> Comparison:
    grid = layout.grid()
    found = compare(Claim.of_grid(expected.at_index(grid)), expected)
    if found.equal:
        return found
    other = replace(expected, order=(*reversed(expected.order[:2]), *expected.order[2:]))
    if len(expected.order) > 1 and np.array_equal(grid, other.indexed().images()[..., 0]):
        first, second = (expected.axes[place].name for place in expected.order[:2])
        found = found.with_notes(f"it is equal if its index counts {second}s first, and not {first}s")
    return replace(found, repair=_cute_repair(layout, expected))


def _incongruent(layout: CuteLayout, expected: Distribution, domain: tuple[int, ...]) -> Comparison:
    extents, steps = leaves(layout.shape), leaves(layout.stride)
    first = _first_incongruence(layout.shape, layout.stride)
    found = Comparison(Verdict.INCONGRUENT, f"{first} in {layout}")
    if len(extents) != len(steps):
        return found
    nested = CuteLayout(layout.shape, nested_as(layout.shape, steps))
    if domain == expected.domain and _compare_index(nested, expected).equal:
        return replace(found, repair=f"with the stride nested as the shape it is equal: {nested}")
    return found


def _first_incongruence(shape: Tree, stride: Tree) -> str:
    """Name the first place where shape and stride are not nested alike."""
    if not isinstance(shape, int) and not isinstance(stride, int) and len(shape) == len(stride):
        for pair in zip(shape, stride, strict=True):
            if not CuteLayout(*pair).congruent:
                return _first_incongruence(*pair)
    return f"the shape {spell(shape)} meets the stride {spell(stride)}"


def _cute_repair(layout: CuteLayout, expected: Distribution) -> str | None:
    """Say which strides, changed, make the layout equal; None if no strides of its shape do."""
    claimed = layout.layout()
    changes = changed_images(claimed, expected.indexed())
    if changes is None:
        return None
    steps, names = leaves(layout.stride), []
    first = len(leaves(layout.modes[0].shape))
    for given, wanted in changes:
        place = claimed.digits.index(given)
        steps[place] = wanted.image[0]
        coordinate = f"coordinate {place - first * given.axis} of the {expected.holders[given.axis]}"
        names.append(f"{given.image[0]} ({coordinate}) to {steps[place]}")
    repaired = CuteLayout(layout.shape, nested_as(layout.shape, steps))
    return f"change the stride{'s' * (len(names) > 1)} {', '.join(names)}: {repaired}"


def cute_layout(expected: Distribution) -> CuteLayout:
    """Return a distribution in CuTe's notation."""
    modes = [_mode(expected.indexed(), axis) for axis in (0, 1)]
    return CuteLayout(tuple(mode.shape for mode in modes), tuple(mode.stride for mode in modes))


def _mode(indexed: Layout, axis: int) -> CuteLayout:
    """Return the steps of the digits of a coordinate, joined wherever one continues the step before."""
    shape: list[int] = []
    stride: list[int] = []
    for digit in sorted(indexed.digits, key=lambda digit: digit.weight):
        if digit.axis != axis:
            continue
        (step,) = digit.image
        if shape and step == stride[-1] * shape[-1]:
            shape[-1] *= digit.extent
        else:
            shape.append(digit.extent)
            stride.append(step)
    if len(shape) > 1:
        return CuteLayout(tuple(shape), tuple(stride))
    return CuteLayout(*shape, *stride) if shape else CuteLayout(1, 0)
