"""The index space of a formula at one set of sizes: one axis per index, so that all broadcast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..contract.contract import Instance
from ..contract.formula_checking import Kinds, indexed_axes, target_variables
from ..formula.index_arithmetic import IndexArithmetic
from ..formula.tree import Element, Formula, Name, Node, Number, ReducedProduct, Reduction, Sum, walk
from ..terms.evaluation import integers

Numbers = NDArray[np.int64]
Truths = NDArray[np.bool_]
MOST_AXES = 30
"""Of a formula: arrays have at most 32."""

MOST_PRODUCTS = 1 << 28
"""Numbers that all sums of a formula have together."""

_SMALLEST_DIVISOR = Fraction(1, 1 << 1022)

Axes = Mapping[int, int]
"""The axes that a sum goes over, with their extents."""


@dataclass(frozen=True)
class Scope:
    """An evaluation scope within a formula: its indices.

    Attributes
    ----------
    names : mapping of str to int or array
        Sizes and scalars; index variables along their own axes.
    needed : bool array, optional
        At which indices the value counts; None for all.
    """

    names: Mapping[str, Any]
    needed: Truths | None = None

    def restricted(self, condition: Truths) -> Scope:
        """Return the scope in which a condition holds too."""
        return replace(self, needed=condition if self.needed is None else self.needed & condition)


class FormulaSpace:
    """The index space of a formula.

    Arrays over it have one axis for each index variable: first those of the output, in the order of its
    indices, then those of the sums, the inner ones last; sums beside each other share axes. An axis that a
    value does not depend on has length 1.

    Parameters
    ----------
    instance : Instance
        Sizes and arrays.
    formula : Formula
        Of the instance's contract.

    Attributes
    ----------
    rank : int
        How many axes there are.
    scope : Scope
        Outside all sums.
    """

    def __init__(self, instance: Instance, formula: Formula) -> None:
        self.instance = instance
        self.formula = formula
        self.source = formula.source
        self.kinds = Kinds(instance.contract)
        constants = {
            **instance.sizes,
            **{name: each.integer for name, each in instance.scalars.items() if each.integer is not None},
        }
        output = instance.arrays[formula.output]
        variables = target_variables(formula, instance.sizes)
        extents: dict[str, int] = {}
        for index, extent in zip(formula.target.indices, output.shape, strict=True):
            if isinstance(index, Name) and index.name in variables:
                extents.setdefault(index.name, extent)
        self._first_axes: dict[int, int] = {}
        self.rank = self._numbered(formula.body, len(extents))
        self.extents = tuple(extents.values())
        named = {name: self._range(axis, extent) for axis, (name, extent) in enumerate(extents.items())}
        self.scope = Scope({**constants, **named})
        if formula.condition is not None:
            self.scope = self.scope.restricted(self.truths(formula.condition, self.scope))

    def _numbered(self, node: Node, first: int) -> int:
        """Give the sums in a node their axes; returns how many there are."""
        rank, pending = first, [(node, first)]
        while pending:
            node, axis = pending.pop()
            if isinstance(node, Reduction):
                self._first_axes[id(node)] = axis
                axis += len(node.indices)
                if axis > MOST_AXES:
                    raise self.source.error(node.at, f"{axis} indices in one expression; at most {MOST_AXES}")
            rank = max(rank, axis)
            pending += [(operand, axis) for operand in node.operands]
        return rank

    def _range(self, axis: int, extent: int) -> Numbers:
        shape = [1] * self.rank
        shape[axis] = extent
        return np.arange(extent, dtype=np.int64).reshape(shape)

    def numbers(self, node: Node, scope: Scope) -> Numbers:
        """Return the integers (over the space) of a concrete part; raises InputError."""
        found = self._arithmetic(scope).numbers(node)
        return np.asarray(found, dtype=np.int64).reshape(np.shape(found) or (1,) * self.rank)

    def ends(self, node: Node, scope: Scope) -> tuple[int, int]:
        """Return the least and the largest integer of a concrete part; raises InputError."""
        numbers = self.numbers(node, scope)
        return int(numbers.min()), int(numbers.max())

    def divisors(self, node: Node, scope: Scope) -> NDArray[Any]:
        """Return the exact numbers (over the space) of what divides; raises InputError where one is 0."""
        if isinstance(node, Number):
            found = np.full((1,) * self.rank, node.value, dtype=object)
        else:
            found = self.numbers(node, scope).astype(object)
        if (found == 0).any():
            raise self.source.error(node.at, "the divisor of / is 0")
        if any(abs(each) < _SMALLEST_DIVISOR for each in found.reshape(-1)):
            raise self.source.error(node.at, f"the divisor of / is less than {float(_SMALLEST_DIVISOR)}")
        return found

    def truths(self, node: Node, scope: Scope) -> Truths:
        """Return where (over the space) a condition holds; raises InputError."""
        found = self._arithmetic(scope).truths(node)
        return np.asarray(found, dtype=bool).reshape(np.shape(found) or (1,) * self.rank)

    def _arithmetic(self, scope: Scope) -> IndexArithmetic:
        return IndexArithmetic(self.source, scope.names, lambda element: self._given(element, scope))

    def _given(self, element: Element, scope: Scope) -> Numbers:
        array = self.instance.arrays[element.array]
        assert array.contents is not None
        found = array.contents[self.linear(element, scope)].astype(np.uint64)
        return np.asarray(integers(found, array.format)).astype(np.int64)

    def linear(
        self, element: Element, scope: Scope, by_data: Callable[[Node], Numbers] | None = None
    ) -> Numbers:
        """Return the linear indices (over the space) of an array's elements; 0 where none is needed.

        Parameters
        ----------
        element : Element
            The element.
        scope : Scope
            Where it is.
        by_data : callable, optional
            Returns what indices are that are data; without it all are decided.

        Raises
        ------
        InputError
            If one that is needed lies outside the array; the message names a witness.
        """
        array = self.instance.arrays[element.array]
        total: Numbers = np.zeros((1,) * self.rank, dtype=np.int64)
        for axis, (index, extent) in enumerate(zip(element.indices, array.shape, strict=True)):
            decided = by_data is None or self.kinds.is_concrete(index)
            found = self.numbers(index, scope) if decided or by_data is None else by_data(index)
            if found.size and (found.min() < 0 or found.max() >= extent):
                outside = (found < 0) | (found >= extent)
                needed = outside if scope.needed is None else outside & scope.needed
                if needed.any():
                    raise self._leaves(element, axis, found, needed, scope)
                found = np.where(outside, 0, found)
            total = total * extent + found
        return total

    def _leaves(self, element: Element, axis: int, found: Numbers, wrong: Truths, scope: Scope) -> Exception:
        array = self.instance.arrays[element.array]
        place = np.argwhere(wrong)[0]
        index = _at(found, place)
        used = {part.name for each in element.indices for part in walk(each) if isinstance(part, Name)}
        witness = ", ".join(
            f"{name} = {_at(value, place)}"
            for name, value in scope.names.items()
            if name in used and isinstance(value, np.ndarray)
        )
        return self.source.error(
            element.at,
            f"index {axis + 1} of {array.name} is {index}{' at ' + witness if witness else ''}, "
            f"outside 0 to {array.shape[axis] - 1}",
        )

    def summed(self, node: Reduction, scope: Scope) -> tuple[Scope, Axes]:
        """Return the scope inside a sum, and what it sums over.

        Raises
        ------
        InputError
            If arrays disagree on how far an index goes.
        """
        names, axes = dict(scope.names), {}
        used = {part.name for part in walk(node.body) if isinstance(part, Name)}
        used |= {bound.name for bound in node.indices}
        for axis, bound in enumerate(node.indices, start=self._first_axes[id(node)]):
            axes[axis] = self._extent(node, bound.name, bound.extent, replace(scope, names=names))
            taken = prod(np.size(value) for name, value in names.items() if name in used)
            if taken * axes[axis] > MOST_PRODUCTS:
                raise self.source.error(
                    node.at, f"sums have {taken * axes[axis]} terms in all; at most {MOST_PRODUCTS}"
                )
            names[bound.name] = self._range(axis, axes[axis])
        return replace(scope, names=names), axes

    def _extent(self, node: Reduction, name: str, given: Node | None, scope: Scope) -> int:
        if given is not None:
            extents = self.numbers(given, scope)  # the body counts only below its own
            return self._possible(node, name, int(extents.max()) if extents.size else 0, given.at)
        found = [
            (element, axis, self.instance.arrays[element.array].shape[axis])
            for element, axis in indexed_axes(node, name)
        ]
        (first, first_axis, extent), *others = found
        for element, axis, other in others:
            if other != extent:
                raise self.source.error(
                    element.at,
                    f"{name} takes {other} values as index {axis + 1} of {element.array}, but {extent} as "
                    f"index {first_axis + 1} of {first.array}; state its extent: sum({name} < ..., ...)",
                )
        return self._possible(node, name, extent, first.at)

    def _possible(self, node: Reduction, name: str, extent: int, at: int) -> int:
        """Return how far an index goes; a sum of nothing is 0, a product 1, there is no greatest of it."""
        fewest = 0 if isinstance(node, Sum | ReducedProduct) else 1
        if not fewest <= extent < 2**31:
            raise self.source.error(at, f"{name} takes {extent} values; allowed: {fewest} to {2**31 - 1}")
        return extent

    def over_output(self, values: Any) -> Any:
        """Return values (over the space, of sums no more) as an array over the output's variables."""
        array = np.asarray(values)
        return np.broadcast_to(array.reshape(array.shape[: len(self.extents)]), self.extents)

    @cached_property
    def target(self) -> tuple[Numbers, Truths]:
        """The output's linear indices over its variables, and at which of them the formula holds."""
        linear = self.over_output(self.linear(self.formula.target, self.scope))
        if self.scope.needed is None:
            return linear, np.ones(linear.shape, dtype=bool)
        return linear, self.over_output(self.scope.needed)

    def covered(self) -> Truths:
        """Return which elements (shape) of the output the formula describes; the others stay as they were."""
        output = self.instance.arrays[self.formula.output]
        linear, holds = self.target
        covered = np.zeros(output.elements, dtype=bool)
        covered[linear[holds]] = True
        return covered.reshape(output.shape)


def _at(values: Any, place: NDArray[np.intp]) -> int:
    """Return the value at a place of an array that broadcasts."""
    return int(values[tuple(min(int(i), size - 1) for i, size in zip(place, values.shape, strict=True))])
