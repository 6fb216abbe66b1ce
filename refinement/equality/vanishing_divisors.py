"""What terms divide by, or take a logarithm of, that is 0 for all inputs, such as ``x - x``.

It is 0 at the random point of the checker's field, functions and comparisons taken for numbers of their own;
or on all numbers on which the checker evaluates it, as ``max(x, y) + min(x, y) - x - y``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from random import Random

import numpy as np

from ...spec.formats import Format
from ..checker.balls import Plan
from ..checker.evaluated import residues
from ..checker.numbers import Lost
from ..checker.points import Point, around, mined, nearest
from ..normal_forms.elementary_forms import POLES, stem
from ..terms import operations
from ..terms.instances import TermInstances
from ..terms.interning import Ids
from ..terms.store import CONSTANT, Operation, TermStore
from ..terms.traversal import by_operation, cone, distinct, within

_CHOOSING = (operations.EXTREMUM, operations.SELECT, operations.FUNCTION)
"""Operations that the field does not compute."""

_MOST, _MOST_TERMS, _POINTS = 16, 2000, 8
"""Divisors that are evaluated, of which others are renamings; terms of one; and points of both kinds."""

_NEAR = 2.0**-50
"""How well a divisor must be known that may be 0."""

_SHARE = 2 / 3
"""The share of inputs that are next to a number together."""


def vanishing_divisors(store: TermStore, terms: Ids) -> Ids:
    """Return the divisors, and arguments of functions with poles, that are 0 for all inputs, no constants."""
    found = [np.empty(0, dtype=np.int32)]
    if any(_divisor(operation) is not None for operation in store.operations):
        at_a_point, _ = residues(store)
        for operation, members in by_operation(store, within(store, terms)):
            if (place := _divisor(operation)) is not None:
                arguments, fmt = distinct(store.arguments(members)[:, place]), operation.operands[place]
                arguments = arguments[~store.are(CONSTANT, arguments)]
                zero = at_a_point.of(arguments, fmt) == 0
                found += [arguments[zero], _evaluated(store, arguments[~zero], fmt)]
    return np.concatenate(found)


def _divisor(operation: Operation) -> int | None:
    """Return which argument of an operation must not be 0; None if any may be."""
    if operations.divides(operation):
        return 1
    return 0 if operation.name == operations.FUNCTION and stem(operation) in POLES else None


def _evaluated(store: TermStore, divisors: Ids, fmt: Format) -> Ids:
    """Return which divisors (n,) are 0 wherever they are evaluated, as far as they are renamings of a few."""
    instances, found, left = TermInstances(store), [divisors[:0]], divisors
    for _ in range(_MOST):
        if not len(left):
            break
        alike = instances.renamings(left[:, None])
        if _vanishes(store, int(left[0]), fmt):
            found.append(left[alike])
        left = np.delete(left, alike)
    return np.concatenate(found)


def _vanishes(store: TermStore, divisor: int, fmt: Format) -> bool:
    """Tell whether a number that is chosen, or a function, is 0 at all points at which it is a number."""
    terms = cone(store, np.array([divisor], dtype=np.int32), _MOST_TERMS)
    if terms is None or not any(store.are(name, terms).any() for name in _CHOOSING):
        return False
    plan, vanishes = Plan(store, terms), False
    for point in _points(store, terms, plan):
        with suppress(Lost):
            value = plan.at(point.draw).number(divisor, fmt)
            if not value.is_finite():
                continue
            if not value.contains(0):
                return False
            vanishes |= bool(value.rad() <= _NEAR)
    return vanishes


def _points(store: TermStore, terms: Ids, plan: Plan) -> Iterator[Point]:
    """Yield points drawn from formats, from the numbers of terms, and with some inputs next to these."""
    numbers, random = mined(store, terms), Random(_POINTS)
    yield from (Point(store, seed) for seed in range(_POINTS))
    yield from (Point(store, seed, numbers) for seed in range(_POINTS, 2 * _POINTS))
    for number in around(numbers):
        some = [name for name in plan.names.values() if random.random() < _SHARE]
        yield Point(store, 0, moved={name: nearest(number, name[1]) for name in some})
