"""Intervals of the integers in a formula, which choose a word wide enough to hold them."""

from __future__ import annotations

from math import prod
from operator import lshift, rshift

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import IntegerFormat
from ..analysis.intervals import Interval
from ..contract.formula_checking import ON_BITS
from ..formula.tree import Binary, Cast, Choice, Element, Extremum, Name, Negative, Node, ReducedExtremum, Sum
from .formula_space import FormulaSpace, Scope


def given_side(space: FormulaSpace, node: Binary, scope: Scope) -> NDArray[np.int64]:
    """Return by how many bits integers are shifted (``//`` as ``>>``), or what masks them (``%`` as ``&``).

    Raises
    ------
    InputError
        If it is negative, or too large, or data are divided by what is no power of two.
    """
    by: NDArray[np.int64] = np.asarray(space.numbers(node.right, scope), dtype=np.int64)
    if node.operator in ("//", "%"):
        if (by <= 0).any() or (by & (by - 1)).any():
            wrong = by[(by <= 0) | (by & (by - 1) != 0)].flat[0]
            raise space.source.error(node.at, f"{node.operator} of data takes a power of two, not {wrong}")
        return by - 1 if node.operator == "%" else np.log2(by).astype(np.int64)
    most = 62 if node.operator != "&" else None
    if (by < 0).any() or (most is not None and (by > most).any()):
        wrong, allowed = (
            int(by.min() if (by < 0).any() else by.max()),
            "at least 0" if most is None else f"0 to {most}",
        )
        raise space.source.error(
            node.right.at, f"the right operand of {node.operator} is {wrong}; allowed: {allowed}"
        )
    return by


def _of_binary(space: FormulaSpace, node: Binary, scope: Scope) -> Interval:
    if node.operator in ON_BITS:
        return _of_bits(space, node, scope)
    left, right = (range_of(space, operand, scope) for operand in node.operands)
    if node.operator == "*":
        return left * right
    return left + right if node.operator == "+" else left - right


def _of_bits(space: FormulaSpace, node: Binary, scope: Scope) -> Interval:
    """Return the range of integers that are shifted or masked."""
    by, values = given_side(space, node, scope), range_of(space, node.left, scope)
    most = int(by.max(initial=0))
    least = int(by.min(initial=most))
    if node.operator in ("%", "&"):
        return Interval(0, most)
    shift = lshift if node.operator == "<<" else rshift
    return values.combined(shift, Interval(least, most))


def range_of(space: FormulaSpace, node: Node, scope: Scope) -> Interval:
    """Return a range that holds all values of an integer part of a formula."""
    if space.kinds.is_concrete(node):
        return Interval(*space.ends(node, scope))
    match node:
        case Element() | Name():
            fmt = space.kinds.format(node.array if isinstance(node, Element) else node.name)
            assert isinstance(fmt, IntegerFormat)
            return Interval.of(fmt)
        case Negative():
            return -range_of(space, node.operand, scope)
        case Binary():
            return _of_binary(space, node, scope)
        case Sum():
            inside, axes = space.summed(node, scope)
            length = prod(axes.values())
            if length == 0:
                return Interval(0, 0)
            return range_of(space, node.body, inside) * Interval(length, length)
        case ReducedExtremum():
            return range_of(space, node.body, space.summed(node, scope)[0])
        case Choice():
            return range_of(space, node.then, scope).union(range_of(space, node.otherwise, scope))
        case Extremum():
            left, right = (range_of(space, operand, scope) for operand in node.operands)
            return left.extremum(node.which, right)
        case Cast():
            fmt = node.format
            assert isinstance(fmt, IntegerFormat)
            if space.kinds.is_real(node.operand):
                return Interval.of(fmt)
            inner = range_of(space, node.operand, scope)
            return inner if inner.within(fmt) else Interval.of(fmt)
    raise AssertionError(node)
