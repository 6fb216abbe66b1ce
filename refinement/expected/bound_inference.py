"""Bounds of inputs from ``[requires]``: interval propagation up and down a condition.

Every step is outward, so that no input that meets the conditions is left out. What a condition says beyond
ends of single inputs, such as ``X[i] < Y[i]``, only narrows them as far as the other side's ends do.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..analysis.intervals import Interval
from ..contract.arguments import Array, Scalar
from ..contract.contract import Instance
from ..contract.required_conditions import as_output, contradiction
from ..formula.tree import (
    Binary,
    Element,
    Extremum,
    Inverse,
    Name,
    Negative,
    Node,
    Number,
    ReducedExtremum,
    Requirement,
)
from ..terms.input_ends import Ends, Reals
from ..terms.store import TermStore
from .formula_space import FormulaSpace, Scope
from .input_bounds import InputBounds, from_above, from_below, numbers_of

ROUNDS = 3
"""Times that all conditions are gone through; ends that follow along longer chains stay wider."""


_ANY = Interval(np.asarray(-np.inf), np.asarray(np.inf))


def inferred_bounds(instance: Instance) -> InputBounds:
    """Return the ends of a contract's inputs at one set of sizes.

    Raises
    ------
    InputError
        If no input meets one of its conditions.
    """
    bounds = InputBounds()
    for _ in range(ROUNDS):
        for requirement in instance.contract.requirements:
            own = as_output(instance, requirement)
            space = FormulaSpace(own, own.contract.formulas[0])
            _Narrowing(own, requirement, space, bounds).require(requirement.condition, space.scope)
    return bounds


def bounded_store(instance: Instance) -> TermStore:
    """Return a store without terms that knows the ends of a contract's inputs at one set of sizes."""
    store = TermStore()
    if instance.contract.requirements:
        store.ends = dict(inferred_bounds(instance).ends)
    return store


class _Narrowing:
    """Narrows ends by one condition."""

    def __init__(
        self, instance: Instance, requirement: Requirement, space: FormulaSpace, bounds: InputBounds
    ) -> None:
        self._instance, self._requirement, self._space = instance, requirement, space
        self._bounds = bounds

    def require(self, node: Node, scope: Scope) -> None:
        """Narrow ends by a condition that holds in a scope."""
        kinds = self._space.kinds
        if kinds.is_concrete(node) or isinstance(node, Inverse):
            return
        assert isinstance(node, Binary)
        if node.operator == "and":
            self.require(node.left, scope)
            self.require(node.right, scope)
        elif node.operator == "or":
            self._either(node, scope)
        else:
            self._compared(node, scope)

    def _either(self, node: Binary, scope: Scope) -> None:
        """Narrow by the side of a disjunction that the other one leaves to hold; not 0 is one of data."""
        sides = node.left, node.right
        for known, other in (sides, sides[::-1]):
            if self._space.kinds.is_concrete(known):
                self.require(other, scope.restricted(~self._space.truths(known, scope)))
                return
        left, right = sides
        if self._two_numbers(left, right, scope):
            return
        apart = (
            isinstance(left, Binary)
            and isinstance(right, Binary)
            and {left.operator, right.operator} == {"<", ">"}
        )
        if apart and left.operands == right.operands:
            for one, other in (left.operands, left.operands[::-1]):
                if isinstance(one, Element | Name) and not self._space.kinds.is_concrete(one):
                    zero = self._interval(other, scope)
                    if (zero.low == 0).all() and (zero.high == 0).all():
                        self._not_zero(one, scope)

    def _two_numbers(self, left: Node, right: Node, scope: Scope) -> bool:
        """Narrow an input to two numbers, if each side is that it is equal to one; tell whether so."""
        found: list[tuple[Node, Node]] = []
        for node in (left, right):
            if not (isinstance(node, Binary) and node.operator == "=="):
                return False
            one, other = node.operands
            found.append((other, one) if self._space.kinds.is_concrete(one) else (one, other))
        (element, first), (same, second) = found
        numbers = all(self._space.kinds.is_concrete(each) for each in (first, second))
        if element != same or not isinstance(element, Element | Name) or not numbers:
            return False
        if self._space.kinds.is_concrete(element):
            return False
        low, high = self._interval(first, scope), self._interval(second, scope)
        within = Interval(np.minimum(low.low, high.low), np.maximum(low.high, high.high))
        self._put(element, within, scope, strict=False)
        ends, places = self._ends(element, scope)
        own = np.where(True if scope.needed is None else scope.needed, places, -1)
        exact = (low.low == low.high) & (high.low == high.high)
        own = np.where(exact, own, -1).reshape(-1)
        ends.only[own[own >= 0]] = True
        return True

    def _compared(self, node: Binary, scope: Scope) -> None:
        left, right = node.operands
        if node.operator in (">", ">="):
            left, right = right, left
        strict = node.operator in ("<", ">")
        low, high = self._interval(left, scope), self._interval(right, scope)
        impossible = low.low >= high.high if strict else low.low > high.high
        if node.operator == "==":
            impossible |= high.low > low.high
        self._possible(node, impossible, scope)
        self._narrow(left, Interval(_ANY.low, high.high), scope, strict=strict)
        self._narrow(right, Interval(low.low, _ANY.high), scope, strict=strict)
        if node.operator == "==":
            self._narrow(left, Interval(high.low, _ANY.high), scope, strict=False)
            self._narrow(right, Interval(_ANY.low, low.high), scope, strict=False)

    def _possible(self, node: Node, impossible: NDArray[np.bool_], scope: Scope) -> None:
        if scope.needed is not None:
            impossible = impossible & scope.needed
        if impossible.any():
            raise contradiction(self._requirement, "no inputs meet it together with the other conditions")

    # -- up
    def _interval(self, node: Node, scope: Scope) -> Interval:
        """Return an interval that holds a number at every index of a scope."""
        if isinstance(node, Number):
            value = np.asarray(float(node.value))
            return Interval(value, value)
        if self._space.kinds.is_concrete(node):
            numbers = self._space.numbers(node, scope).astype(np.float64)
            return Interval(numbers, numbers).outward(np.abs(numbers) < 2.0**53)
        match node:
            case Element() | Name():
                ends, places = self._ends(node, scope)
                return Interval(ends.low[places], ends.high[places])
            case Negative():
                return -self._interval(node.operand, scope)
            case Extremum():
                one, other = (self._interval(operand, scope) for operand in node.operands)
                return one.extremum(node.which, other)
            case ReducedExtremum():
                return self._reduced(node, scope)
            case Binary():
                return self._arithmetic(node, scope)
        return _ANY

    def _reduced(self, node: ReducedExtremum, scope: Scope) -> Interval:
        inside, axes = self._space.summed(node, scope)
        body = self._interval(node.body, inside)
        reduce = np.max if node.which == "max" else np.min
        ends = (
            np.broadcast_to(each, np.broadcast_shapes(each.shape, (1,) * self._space.rank)) for each in body
        )
        return Interval(*(reduce(end, axis=tuple(axes), keepdims=True) for end in ends))

    def _arithmetic(self, node: Binary, scope: Scope) -> Interval:
        one, other = (self._interval(operand, scope) for operand in node.operands)
        with np.errstate(all="ignore"):
            match node.operator:
                case "+":
                    return (one + other).outward()
                case "-":
                    return (one - other).outward()
                case "*":
                    low, high = one * other
                    low = np.maximum(low, 0) if node.left == node.right else low
                    return Interval(low, high).outward()
                case "/" if other.is_of_one_sign.all():
                    return (one / other).outward()
        return _ANY

    # -- down
    def _narrow(self, node: Node, to: Interval, scope: Scope, *, strict: bool) -> None:
        """Narrow what a number is made of, which lies in an interval; `strict` excludes both ends."""
        if isinstance(node, Number) or self._space.kinds.is_concrete(node):
            return
        match node:
            case Element() | Name():
                self._put(node, to, scope, strict=strict)
            case Negative():
                self._narrow(node.operand, -to, scope, strict=strict)
            case Extremum():
                self._narrow_extremum(node, to, scope, strict=strict)
            case ReducedExtremum():
                inside, _ = self._space.summed(node, scope)
                kept = Interval(_ANY.low, to.high) if node.which == "max" else Interval(to.low, _ANY.high)
                self._narrow(node.body, kept, inside, strict=strict)
            case Binary():
                self._narrow_arithmetic(node, to, scope, strict=strict)

    def _narrow_extremum(self, node: Extremum, to: Interval, scope: Scope, *, strict: bool) -> None:
        greatest = node.which == "max"
        sides = node.operands
        for side, other in (sides, sides[::-1]):
            opposite = isinstance(other, Negative) and other.operand == side
            positive = bool((to.low >= 0 if strict else to.low > 0).all())
            if greatest and opposite and positive and isinstance(side, Element | Name):
                self._not_zero(side, scope)  # its magnitude is at least a positive number
            beside = self._interval(other, scope)
            if greatest:
                alone = beside.high <= to.low if strict else beside.high < to.low
                kept = Interval(np.where(alone, to.low, -np.inf), to.high)
            else:
                alone = beside.low >= to.high if strict else beside.low > to.high
                kept = Interval(to.low, np.where(alone, to.high, np.inf))
            self._narrow(side, kept, scope, strict=strict)

    def _narrow_arithmetic(self, node: Binary, to: Interval, scope: Scope, *, strict: bool) -> None:
        one, other = (self._interval(operand, scope) for operand in node.operands)
        with np.errstate(all="ignore"):
            match node.operator:
                case "+":
                    left, right = (to - other).outward(), (to - one).outward()
                case "-":
                    left, right = (to + other).outward(), (one - to).outward()
                case "*" if node.left == node.right:
                    root = np.nextafter(np.sqrt(np.maximum(to.high, 0)), np.inf)
                    left = right = Interval(-root, root)
                case "*":
                    left, right = _factor(to, other), _factor(to, one)
                case "/":
                    left, right = _dividend(to, other), _ANY
                case _:
                    return
        self._narrow(node.left, left, scope, strict=strict)
        self._narrow(node.right, right, scope, strict=strict)

    # -- inputs
    def _ends(self, node: Element | Name, scope: Scope) -> tuple[Ends, NDArray[np.int64]]:
        """Return the ends of an array or scalar, and the linear indices (over the space) of elements."""
        own: Array | Scalar
        if isinstance(node, Name):
            own = self._instance.scalars[node.name]
            places, count = np.zeros((1,) * self._space.rank, dtype=np.int64), 1
            given = None if own.value is None else np.array([own.value], dtype=np.uint64)
        else:
            own = self._instance.arrays[node.array]
            places, count, given = self._space.linear(node, scope), own.elements, own.contents
        new = own.name not in self._bounds.ends
        ends = self._bounds.of(own.name, own.format, max(count, 1))
        if new and given is not None:
            values = numbers_of(given, own.format)
            ends.low[: len(values)], ends.high[: len(values)] = values, values
        return ends, places

    def _put(self, node: Element | Name, to: Interval, scope: Scope, *, strict: bool) -> None:
        ends, places = self._ends(node, scope)
        own = places if scope.needed is None else np.where(scope.needed, places, -1)
        shape = np.broadcast_shapes(own.shape, to.low.shape, to.high.shape)
        linear = np.broadcast_to(own, shape).reshape(-1)
        kept = linear >= 0
        linear = linear[kept]
        low, high = (np.broadcast_to(each, shape).reshape(-1)[kept] for each in to)
        with np.errstate(invalid="ignore"):
            np.maximum.at(ends.low, linear, _snapped(low, from_below, ends, strict=strict))
            np.minimum.at(ends.high, linear, _snapped(high, from_above, ends, strict=strict))
        ends.number[linear] = True
        wrong = np.flatnonzero(ends.low > ends.high)
        if len(wrong):
            name = node.name if isinstance(node, Name) else f"element {wrong[0]} of {node.array}"
            raise contradiction(
                self._requirement,
                f"{name} would be at least {ends.low[wrong[0]]:.6g} and at most {ends.high[wrong[0]]:.6g}",
            )

    def _not_zero(self, node: Element | Name, scope: Scope) -> None:
        ends, places = self._ends(node, scope)
        if scope.needed is None:
            own = places
        else:
            places, needed = np.broadcast_arrays(places, scope.needed)
            own = places[needed]
        ends.number[own.reshape(-1)] = True
        ends.nonzero[own.reshape(-1)] = True
        if ((ends.low == 0) & (ends.high == 0) & ends.nonzero).any():
            raise contradiction(self._requirement, "the other conditions make it 0")


def _snapped(values: Reals, snap: Callable[..., Reals], ends: Ends, *, strict: bool) -> Reals:
    """Return ends on the grid of a format; an infinite one says nothing."""
    distinct, places = np.unique(values, return_inverse=True)
    end = -np.inf if snap is from_below else np.inf
    nothing = np.isnan(distinct) | (distinct == end)
    found = np.where(nothing, end, snap(np.where(nothing, 0.0, distinct), ends.format, strict=strict))
    return found[places.reshape(-1)]


def _factor(to: Interval, by: Interval) -> Interval:
    """Return where a factor lies whose product with another one, of one sign, lies in an interval."""
    found = to / by
    return found.outward().unless(~by.is_of_one_sign | np.isnan(found.low))


def _dividend(to: Interval, by: Interval) -> Interval:
    """Return where a dividend lies whose quotient by a number lies in an interval."""
    found = to * by
    return found.outward().unless(np.isnan(found.low))
