"""Formulas at the block that stands for all: indices and sizes are polynomials in symbols.

An index of the output is where the block's tile begins and the number of the element in it. What a formula
compares, looks up or counts with it is computed on polynomials as what a kernel does with them is, so that
both come to the same terms: conditions that symbols decide are numbers, those about what is left of a size
are bits of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ..contract.contract import Instance
from ..contract.formula_checking import ON_BITS
from ..expected.formula_space import Axes, FormulaSpace, Numbers, Scope, Truths
from ..expected.formula_terms import FormulaTerms
from ..expected.term_arithmetic import Value
from ..formula.tree import Binary, Element, Extremum, Formula, Name, Negative, Node, Reduction, walk
from ..terms import bit_slices, operations
from ..terms.evaluation import apply, integers
from ..terms.interning import Ids
from ..terms.operations import select
from ..terms.store import CONSTANT
from ..terms.truth_tables import A, B
from . import wrapped_indices
from .implied_bounds import RestConditions
from .integer_forms import Rows, divided, divided_by
from .open_comparisons import at_least_0
from .symbolic_arrays import SymbolicArray
from .symbolic_terms import SymbolicTerms
from .tail_predicates import compared, more_than

_WIDTH = 64


@dataclass(frozen=True)
class Conditional(Scope):
    """A scope with the conditions under which its values count, as bits over the space.

    Attributes
    ----------
    conditions : tuple of Ids
        The bits, all of which are to be 1, each over the axes that it depends on.
    """

    conditions: tuple[Ids, ...] = ()


class NotOnePolynomialError(UnsupportedError):
    """An index that is not one polynomial everywhere in the block."""


class IndexBoundError(UnsupportedError):
    """An index that is not shown to be within an array for all sizes."""


class BlockSpace(FormulaSpace):
    """The index space of a formula, over the elements of the block's tile.

    Parameters
    ----------
    instance : Instance
        Sizes and arrays of one tile.
    formula : Formula
        The formula.
    store : SymbolicTerms
        The terms.
    begins : mapping of str to row (monomials,)
        Where the tile begins, by the output's indices, and where sums begin, by theirs.
    sizes : mapping of str to row (monomials,)
        Names of sizes, and of scalars that are passed such.
    arrays : mapping of str to SymbolicArray
        Arrays whose extents depend on sizes.
    ends : mapping of str to row (monomials,), optional
        Where sums end of which only the greatest number of terms is known, by their indices.

    Raises
    ------
    UnsupportedError
        If the formula has an `if` condition, or names an index of a sum as one of the output or a size.
    """

    def __init__(
        self,
        instance: Instance,
        formula: Formula,
        store: SymbolicTerms,
        begins: Mapping[str, Rows],
        sizes: Mapping[str, Rows],
        arrays: Mapping[str, SymbolicArray],
        ends: Mapping[str, Rows] = MappingProxyType({}),
    ) -> None:
        self._store, self._begins, self._sizes, self._arrays = store, begins, sizes, arrays
        self._ends = ends
        if formula.condition is not None:
            raise UnsupportedError("the formula has an `if` condition")
        taken = {index.name for index in formula.target.indices if isinstance(index, Name)} | sizes.keys()
        for node in walk(formula.body):
            for bound in node.indices if isinstance(node, Reduction) else ():
                if bound.name in taken:
                    raise UnsupportedError(
                        f"{bound.name} is the index of a sum and also of the output or a size"
                    )
        super().__init__(instance, formula)

    def depends(self, node: Node) -> bool:
        """Tell whether a part of the formula depends on where the block is."""
        names = (part.name for part in walk(node) if isinstance(part, Name))
        return any(name in self._begins or name in self._sizes for name in names)

    def rows(self, node: Node, scope: Scope) -> Rows:
        """Return a concrete part as polynomials (over the space, monomials).

        Raises
        ------
        NotOnePolynomialError
            If it is none.
        """
        symbols = self._store.symbols
        if not self.depends(node):
            return self._of_numbers(super().numbers(node, scope))
        match node:
            case Name(name=name) if name in self._sizes:
                return self._sizes[name].reshape((1,) * self.rank + (-1,))
            case Name(name=name):
                return self._of_numbers(np.asarray(scope.names[name])) + self._begins[name]
            case Element(array=array) if array in self._store.given:
                return self._given_rows(node, scope)
            case Negative(operand=operand):
                return -self.rows(operand, scope)
            case Extremum(which=which, left=left, right=right):
                one, other = np.broadcast_arrays(self.rows(left, scope), self.rows(right, scope))
                low, high = symbols.bounds((one - other).reshape(-1, len(symbols)))
                if not ((low >= 0) | (high <= 0)).all():
                    raise NotOnePolynomialError("which of two indices is greater depends on sizes")
                first = ((low >= 0) == (which == "max")).reshape(one.shape[:-1])
                return np.where(first[..., None], one, other)
            case Binary(operator=operator, left=left, right=right):
                sides = np.broadcast_arrays(self.rows(left, scope), self.rows(right, scope))
                one, other = (side.reshape(-1, len(symbols)) for side in sides)
                return self._binary(operator, one, other).reshape(sides[0].shape)
        raise NotOnePolynomialError("an index of the formula is not a polynomial in sizes and tile numbers")

    def _given_rows(self, element: Element, scope: Scope) -> Rows:
        """Return elements of an array of which it is known what it holds."""
        array = self._arrays[element.array]
        indices = np.broadcast_arrays(*(self.rows(index, scope) for index in element.indices))
        flat = [index.reshape(-1, len(self._store.symbols)) for index in indices]
        words = self._store.given[element.array].at(array.place(self._store.symbols, flat))
        if words is None:
            raise NotOnePolynomialError(f"which given value of {element.array} is read depends on sizes")
        numbers = np.asarray(integers(words.astype(np.uint64), array.format)).astype(np.int64)
        return self._of_numbers(numbers.reshape(indices[0].shape[:-1]))

    def _of_numbers(self, numbers: Numbers) -> Rows:
        flat = self._store.symbols.constants(numbers.reshape(-1))
        return flat.reshape(*numbers.shape, -1)

    def _binary(self, operator: str, left: Rows, right: Rows) -> Rows:
        """Return what an operator makes of polynomials (n, monomials)."""
        symbols = self._store.symbols
        if operator in ("+", "-"):
            return left + right if operator == "+" else left - right
        number = right[:, 0]
        if operator in ("<<", ">>", "&"):
            exponent = number + 1 if operator == "&" else np.int64(1) << np.clip(number, 0, 61)
            usable = (number >= 0) & (number < 62) if operator != "&" else (exponent & number) == 0
            if right[:, 1:].any() or not usable.all():
                raise NotOnePolynomialError(
                    f"{operator} in an index is not a polynomial in sizes and tile numbers"
                )
            right = symbols.constants(exponent)
            operator = {"<<": "*", ">>": "//", "&": "%"}[operator]
        if operator == "*":
            product, known = symbols.multiplied(left, right)
            if known.all():
                return product
        elif operator in ("//", "%"):
            found = np.empty_like(left)
            for divisor, some in self._alike(right):
                varies = divisor[1:].any()
                if not varies and divisor[0] <= 0:
                    break
                divide = (
                    divided_by(symbols, left[some], right[some])
                    if varies
                    else divided(symbols, left[some], int(divisor[0]))
                )
                if not divide[2].all():
                    self._store.doubt("a quotient depends on sizes", left[some][~divide[2]])
                    break
                found[some] = divide[0] if operator == "//" else divide[1]
            else:
                return found
        raise NotOnePolynomialError(f"{operator} in an index is not a polynomial in sizes and tile numbers")

    @staticmethod
    def _alike(rows: Rows) -> list[tuple[Rows, NDArray[np.intp]]]:
        distinct, which = np.unique(rows, axis=0, return_inverse=True)
        return [(each, np.flatnonzero(which.reshape(-1) == number)) for number, each in enumerate(distinct)]

    def within_tile(self, element: Element, scope: Scope) -> Numbers:
        """Return linear indices (over the space) in the tile, of elements that the output's indices name."""
        total: Numbers = np.zeros((1,) * self.rank, dtype=np.int64)
        for index, extent in zip(element.indices, self.instance.arrays[element.array].shape, strict=True):
            total = total * extent + super().numbers(index, scope)
        return total

    @property
    def places(self) -> Numbers:
        """The tile's linear indices of the output, over its variables."""
        return np.asarray(self.over_output(self.within_tile(self.formula.target, self.scope)))

    # -- FormulaSpace
    def summed(self, node: Reduction, scope: Scope) -> tuple[Scope, Axes]:
        """See `FormulaSpace.summed`."""
        inside, axes = super().summed(node, scope)
        assert isinstance(inside, Conditional)
        for bound in node.indices:
            if bound.name in self._ends:
                rows = self.rows(Name(node.at, bound.name), inside)
                index = self._store.integers(rows.reshape(-1, rows.shape[-1]), _WIDTH)
                end = self._store.integers(self._ends[bound.name][None], _WIDTH)
                less = operations.compare(operations.signed(_WIDTH), "lt")
                bits = apply(self._store, less, index, end).reshape(rows.shape[:-1])
                if self._store.are(operations.COMPARE, bits).any():  # zeros must be in place of all behind it
                    raise UnsupportedError(f"which terms over {bound.name} there are depends on sizes")
                inside = replace(inside, conditions=(*inside.conditions, bits))
        return inside, axes

    def numbers(self, node: Node, scope: Scope) -> Numbers:
        """See `FormulaSpace.numbers`; raises `NotOnePolynomialError` where sizes decide."""
        if not self.depends(node):
            return super().numbers(node, scope)
        rows = self.rows(node, scope)
        if rows[..., 1:].any():
            raise NotOnePolynomialError(
                "the formula needs a constant where its value depends on sizes or the block"
            )
        return np.asarray(rows[..., 0])

    def ends(self, node: Node, scope: Scope) -> tuple[int, int]:
        """See `FormulaSpace.ends`."""
        if not self.depends(node):
            return super().ends(node, scope)
        low, high = self._store.symbols.bounds(self.rows(node, scope).reshape(-1, len(self._store.symbols)))
        return int(low.min()), int(high.max())

    def truths(self, node: Node, scope: Scope) -> Truths:
        """See `FormulaSpace.truths`."""
        if self.depends(node):
            raise NotOnePolynomialError("a condition of the formula depends on the position of the block")
        return super().truths(node, scope)


class BlockFormula(FormulaTerms):
    """Makes the terms of a formula for the elements of the block's tile.

    Parameters
    ----------
    space : BlockSpace
        The formula and its indices.
    store : SymbolicTerms
        Where the terms are made.
    arrays : mapping of str to SymbolicArray
        Arrays whose extents depend on sizes.
    last_axes : mapping of int to str
        Of the output's axes, those along which the tile may have fewer rows, with their sizes.
    tails : mapping of (str, int) to str
        Axes of arrays, by name and number, whose extent is a size of which something is left; there elements
        are read as kernels do that load zeros beyond the end.
    held : mapping of str to Ids, optional
        Arrays of the tile alone: their terms, by linear index.
    """

    space: BlockSpace

    def __init__(
        self,
        space: BlockSpace,
        store: SymbolicTerms,
        arrays: Mapping[str, SymbolicArray],
        last_axes: Mapping[int, str],
        tails: Mapping[tuple[str, int], str],
        held: Mapping[str, Ids] = MappingProxyType({}),
    ) -> None:
        super().__init__(space, store)
        self._symbolic, self._arrays, self._tails, self._held = store, arrays, tails, held
        self._said = RestConditions(store, store.rests)
        self._rests = {rest.size: rest for rest in store.rests}
        there = []
        for axis, size in last_axes.items():
            shape, numbers = [1] * space.rank, np.arange(space.extents[axis])
            shape[axis] = -1
            always = store.constants(np.ones(len(numbers), dtype=np.uint64), 1)
            is_there = numbers < self._rests[size].step
            there.append(
                np.where(is_there, always, more_than(store, self._rests[size], numbers)).reshape(shape)
            )
        space.scope = Conditional(space.scope.names, space.scope.needed, tuple(there))

    def _both(self, one: Ids, other: Ids) -> Ids:
        one, other = np.broadcast_arrays(one, other)
        flat = one.reshape(-1), other.reshape(-1)
        return bit_slices.bitwise(self.store, A & B, flat[0], flat[1], flat[0]).reshape(one.shape)

    # -- FormulaTerms
    def _is_known(self, node: Node) -> bool:
        return self.kinds.is_concrete(node) and not self.space.depends(node)

    def _where(self, condition: Ids, scope: Scope, *, holds: bool) -> Scope:
        found = super()._where(condition, scope, holds=holds)
        flat = condition.reshape(-1)
        table = A if holds else 0xFF ^ A
        bits = bit_slices.bitwise(self.store, table, flat, flat, flat).reshape(condition.shape)
        assert isinstance(found, Conditional)
        return replace(found, conditions=(*found.conditions, bits))

    def _index(self, node: Node, scope: Scope, width: int) -> Ids | None:
        if not self.space.depends(node):
            return super()._index(node, scope, width)
        try:
            rows = self.space.rows(node, scope)
        except NotOnePolynomialError:
            if isinstance(node, Binary) and node.operator in ON_BITS:
                raise
            return None
        return self._symbolic.integers(rows.reshape(-1, rows.shape[-1]), width).reshape(rows.shape[:-1])

    def _leaf(self, node: Element | Name, scope: Scope) -> Value:
        if isinstance(node, Element) and node.array in self._held:
            terms = self._held[node.array][self.space.within_tile(node, scope)]
            return Value(terms, self.instance.arrays[node.array].format)
        if isinstance(node, Name) or node.array not in self._arrays:
            return super()._leaf(node, scope)
        if not all(map(self.kinds.is_concrete, node.indices)):
            raise UnsupportedError(f"an index of {node.array} is data")
        assert isinstance(scope, Conditional)
        columns = [self._integer(index, scope, _WIDTH) for index in node.indices]
        own = np.broadcast_shapes((1,) * self.space.rank, *(column.shape for column in columns))
        others = [np.shape(each) for each in (*scope.conditions, scope.needed) if each is not None]
        whole = np.broadcast_shapes(own, *others)
        try:  # conditions on other indices are seldom needed
            return self._elements_over(own, node, columns, scope)
        except IndexBoundError:
            if whole == own:
                raise
        return self._elements_over(whole, node, columns, scope)

    def _elements_over(
        self, shape: tuple[int, ...], node: Element, columns: list[Ids], scope: Conditional
    ) -> Value:
        """Return elements over a part of the space, where the conditions over it hold."""

        def over(values: Ids | Truths) -> NDArray[Any]:
            return np.broadcast_to(values, shape).reshape(-1)

        conditions = self.make.integers(np.ones((1,) * self.space.rank, dtype=np.int64), 1)
        for each in scope.conditions:
            if np.broadcast_shapes(each.shape, shape) == shape:
                conditions = self._both(conditions, each)
        needed = np.ones((1,) * self.space.rank, dtype=bool)
        if scope.needed is not None and np.broadcast_shapes(scope.needed.shape, shape) == shape:
            needed = scope.needed
        found = self._elements(
            self._arrays[node.array], [over(each) for each in columns], over(conditions), over(needed)
        )
        return Value(found.reshape(shape), self.instance.arrays[node.array].format)

    def _elements(self, array: SymbolicArray, indices: list[Ids], conditions: Ids, needed: Truths) -> Ids:
        """Return the elements (n,) of an array at indices that are integers, or choices of two."""
        store = self._symbolic
        apart = [wrapped_indices.cases(store, index) for index in indices]
        bits = np.max([each[2] for each in apart], axis=0)
        found = self._at(array, [each[0] for each in apart], self._if(conditions, bits, A), needed)
        some = np.flatnonzero(bits >= 0)
        if len(some):
            if any(((each[2] >= 0) & (each[2] != bits)).any() for each in apart):
                raise UnsupportedError(f"two indices of {array.name} depend on remainders of sizes")
            others = [each[1][some] for each in apart]
            under = self._if(conditions[some], bits[some], 0xFF ^ A)
            other = self._at(array, others, under, needed[some])
            found[some] = store.apply(select(array.format.bits), bits[some], found[some], other)
        return found

    def _if(self, conditions: Ids, bits: Ids, table: int) -> Ids:
        """Return conditions (n,) under which bits are as a table says, too, where there are any."""
        some = np.flatnonzero(bits >= 0)
        found = conditions.copy()
        if len(some):
            also = bit_slices.bitwise(self.store, table, bits[some], bits[some], bits[some])
            found[some] = self._both(conditions[some], also)
        return found

    def _at(self, array: SymbolicArray, indices: list[Ids], conditions: Ids, needed: Truths) -> Ids:
        store, rows = self._symbolic, []
        for axis, index in enumerate(indices):
            own, known = store.rows_of(index)
            if not known.all():
                raise UnsupportedError(
                    f"an index of {array.name} is not a polynomial in sizes and tile numbers"
                )
            self._check(array, axis, own, conditions, needed)
            rows.append(own)
        found = store.elements_at(array.name, array.format, array.place(store.symbols, rows))
        for axis, own in enumerate(rows):
            size = self._tails.get((array.name, axis))
            if size is None:
                continue
            behind = own - array.extents[axis]
            some = np.flatnonzero(store.symbols.bounds(behind)[1] >= 0)
            form = store.symbols.form(self._rests[size].form)
            bits = compared(store, store.symbols, form, self._rests[size], behind[some], "lt")
            some, bits = some[bits >= 0], bits[bits >= 0]
            if len(some):
                zeros = store.constants(np.zeros(len(some), dtype=np.uint64), array.format.bits)
                found[some] = store.apply(select(array.format.bits), bits, found[some], zeros)
        return found

    def _check(self, array: SymbolicArray, axis: int, rows: Rows, conditions: Ids, needed: Truths) -> None:
        """Check that indices (n, monomials) that count are within an array, for all sizes."""
        symbols = self._symbolic.symbols
        room = array.extents[axis] - rows
        room[:, 0] -= 1
        impossible = self.store.are(CONSTANT, conditions) & (self.store.constant_values(conditions) == 0)
        some = np.flatnonzero(needed & ~impossible)
        some = some[np.minimum(symbols.bounds(rows[some])[0], symbols.bounds(room[some])[0]) < 0]
        where, ones = self._said.known([conditions[some]]), symbols.form({(): 1})[None]
        inside = [at_least_0(symbols, each[some], where, ones) for each in (rows, room)]
        wrong = some[~(inside[0] & inside[1])]
        if len(wrong):
            self._symbolic.doubt(f"an index of {array.name} has no known bound", rows[wrong])
            self._symbolic.doubt(f"an index of {array.name} has no known bound", room[wrong])
            raise IndexBoundError(
                f"an index of {array.name} in the formula may be out of bounds at some sizes"
            )
