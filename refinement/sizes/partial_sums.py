"""Partial sums of a formula: the part that a loop has accumulated so far.

A contract whose output is ``f(sum(k, …))`` with k below K says three things of a kernel that adds up a period
of k in each turn of a loop. What it holds before the first turn is the sum over the first k. A turn adds the
sum over a period. What it stores after the last turn is f of what it holds and the sum over the rest. Each
is a contract of its own, whose sum has a known number of terms and begins at a polynomial in symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import partial, reduce
from math import prod
from typing import Any

from ...spec.errors import InputError, UnsupportedError
from ...spec.formats import FloatFormat, Format
from ..analysis.intervals import Interval
from ..contract.contract import Accumulate, Contract, Instance
from ..contract.formula_checking import Kinds, check_formula
from ..contract.parameters import Access, ArrayParameter, ScalarParameter
from ..contract.size_polynomials import Polynomial, SizePolynomials
from ..expected.formula_space import FormulaSpace
from ..expected.integer_ranges import range_of
from ..formula.index_arithmetic import Expression
from ..formula.tree import (
    Binary,
    Bound,
    Cast,
    Element,
    Formula,
    Name,
    Negative,
    Node,
    Number,
    Reduction,
    Sum,
    walk,
)
from .zeros_of_tails import factors, has_zero, is_finite_product

PREFIX = "sum so far"
"""The array, in the contracts for parts, of what a loop holds; no parameter can have this name."""

_MOST_WRITTEN_OUT = 32
"""Terms of inner sums that are written out, as of the taps of a filter; of more, terms would be too large."""

Stays = Callable[[str, Sequence[int]], bool]
"""Whether elements of an array have the given values of those whose indices are larger by some numbers."""


def never_stays(array: str, moved: Sequence[int]) -> bool:
    """Say of arrays whose values are not given that an element is not another one; see `Stays`."""
    return False


@dataclass(frozen=True)
class PartialSums:
    """The one sum of a formula over the whole of a size.

    Attributes
    ----------
    contract : Contract
        Whose formula it is.
    size : str
        The size.
    formula : Formula
        The only one of the contract.
    total : Sum
        The sum; it may stand in several places, as in ``x * sigmoid(x)`` of a sum x.
    index : str
        What it goes over.
    part : Fraction
        How much of the size that is.
    stays : callable
        Tells which given values decide the same; see `Stays`.
    """

    contract: Contract
    size: str
    formula: Formula
    total: Sum
    index: str
    part: Fraction = Fraction(1)
    stays: Stays = never_stays

    def begin(self, distance: int) -> int:
        """Return how many terms a part of the size has.

        Raises
        ------
        UnsupportedError
            If it is no whole number of them.
        """
        along = distance * self.part
        if along.denominator != 1:
            raise UnsupportedError(f"{distance} of {self.size} are not a whole number of {self.index}")
        return int(along)

    def moves_evenly(self, distance: int) -> bool:
        """Tell whether all indices of arrays grow by numbers where a part of the size has a length."""
        along = distance * self.part
        return along.denominator == 1 and all(
            index_shift(index, self.index, int(along), self.stays) is not None
            for element in walk(self.formula.body)
            if isinstance(element, Element)
            for index in element.indices
        )

    def term_range(self, instance: Instance) -> Interval:
        """Return a range that holds every integer that is added up, at sizes that stand in for all.

        Raises
        ------
        UnsupportedError
            If what is added up is made of more than elements, so that it may be larger at other sizes.
        """
        within = {
            id(node) for each in walk(self.total.body) if isinstance(each, Element) for node in walk(each)
        }
        if any(isinstance(node, Name) and id(node) not in within for node in walk(self.total.body)):
            raise UnsupportedError(f"terms over {self.index} that saturate must be made of elements alone")
        space = FormulaSpace(instance, self.formula)
        return range_of(space, self.total.body, space.summed(self.total, space.scope)[0])

    def axes_of_zeros(self) -> Mapping[str, int]:
        """Return axes of arrays along which elements behind the end are to be 0, so that nothing is added.

        Raises
        ------
        UnsupportedError
            If terms with zeros in place of these elements are not known to be 0.
        """
        formats = {
            each.name: each.format for each in self.contract.parameters if isinstance(each, ArrayParameter)
        }
        axes = {
            element.array: axis
            for element in walk(self.total.body)
            if isinstance(element, Element) and has_zero(formats[element.array])
            for axis, index in enumerate(element.indices)
            if isinstance(index, Name) and index.name == self.index
        }
        if self.part != 1 or not _vanishes(self.total.body, axes, self.index, formats):
            raise UnsupportedError(
                f"the term summed over {self.index} must be a product of elements, so that padding adds 0"
            )
        return axes

    def so_far(self, fmt: Format, length: int) -> Contract:
        """Return the contract that what is held is the sum alone, of the terms of a part of the size."""
        return self._with(self._terms(length), fmt, fmt)

    def one_more(self, fmt: Format, length: int) -> Contract:
        """Return the contract that what is held is what was held before, and the sum."""
        return self._with(self._continued(length), fmt, fmt)

    def rest(self, fmt: Format, length: int) -> Contract:
        """Return the contract itself, with what is held added to the sum, which may be of no terms.

        Raises
        ------
        UnsupportedError
            If the formula is one of integers, and what is held is a float.
        """
        held = self._continued(length) if length else self._prefix()
        contract = self._with(_replaced(self.formula.body, self.total, held), fmt, None)
        try:
            if isinstance(fmt, FloatFormat) and not Kinds(self.contract).is_real(self.total):
                check_formula(contract, contract.formulas[0])
        except InputError as error:
            raise UnsupportedError(f"a sum of integers is held as {fmt}: {error}") from None
        return contract

    def alone(self, length: int) -> Contract:
        """Return the contract itself, with as many terms as a part of the size has."""
        body = _replaced(self.formula.body, self.total, self._terms(length))
        return replace(self.contract, formulas=(replace(self.formula, body=body),))

    def taken(self, several: tuple[Node, Node] | None, one: Node | None) -> Node:
        """Return the sum of some terms: of how many at an expression in the index, and of one.

        Parameters
        ----------
        several : tuple of Node, optional
            How many, and where the term lies that an index means.
        one : Node, optional
            Where another one lies.
        """
        (bound,), index = self.total.indices, Name(self.total.at, self.index)
        body, terms = self.total.body, list[Node]()
        if several is not None:
            extent, place = several
            moved = _replaced(body, index, place)
            terms.append(replace(self.total, body=moved, indices=(replace(bound, extent=extent),)))
        if one is not None:
            terms.append(_replaced(body, index, one))
        if not terms:
            return Number(self.total.at, Fraction(0), whole=True)
        return terms[0] if len(terms) == 1 else Binary(self.total.at, "+", *terms)

    def _prefix(self) -> Element:
        return Element(self.total.at, PREFIX, self.formula.target.indices)

    def _terms(self, length: int) -> Sum:
        extent = Number(self.total.at, Fraction(self.begin(length)), whole=True)
        return replace(self.total, indices=(replace(self.total.indices[0], extent=extent),))

    def _continued(self, length: int) -> Node:
        return Binary(self.total.at, "+", self._prefix(), self._terms(length))

    def _with(self, body: Node, held: Format, output: Format | None) -> Contract:
        contract = self.contract
        stored = next(parameter for parameter in contract.parameters if parameter.name == self.formula.output)
        assert isinstance(stored, ArrayParameter)
        plain = replace(
            stored, strides="row-major", alignment=256, element_bits=max(8, held.bits), low_bit=0,
            within=None,
            at=None, contents=None,
        )  # fmt: skip
        parameters = [
            replace(plain, format=output, access=Access.OUT)
            if output is not None and parameter.name == stored.name
            else parameter
            for parameter in contract.parameters
        ]
        parameters.append(replace(plain, name=PREFIX, format=held, access=Access.IN))
        formula = replace(self.formula, body=body)
        return replace(contract, parameters=tuple(parameters), pointers=(), formulas=(formula,))


def partial_sums(
    contract: Contract, size: str, polynomials: SizePolynomials, stays: Stays = never_stays
) -> PartialSums:
    """Find the one sum of a contract's formula that goes over the whole of a size.

    Raises
    ------
    UnsupportedError
        If there is none, or the formula depends on the size otherwise.
    """
    if len(contract.formulas) != 1:
        raise UnsupportedError(
            f"a proof over a loop takes a contract with one formula, not {len(contract.formulas)}"
        )
    (formula,) = contract.formulas
    if contract.accumulate is Accumulate.UNSPECIFIED:
        formula = replace(formula, body=_written_out(formula.body))
    reductions = list(dict.fromkeys(node for node in walk(formula.body) if isinstance(node, Reduction)))
    if len(reductions) != 1 or not isinstance(reductions[0], Sum) or len(reductions[0].indices) != 1:
        raise UnsupportedError("the formula must have exactly one sum, over one index")
    total = reductions[0]
    (bound,) = total.indices
    arrays = {
        parameter.name: parameter
        for parameter in contract.parameters
        if isinstance(parameter, ArrayParameter)
    }
    extents = [
        polynomials.of(arrays[element.array].shape[axis])
        for element in walk(total.body)
        if isinstance(element, Element)
        for axis, index in enumerate(element.indices)
        if isinstance(index, Name) and index.name == bound.name
    ]
    if bound.extent is not None:
        extents.append(polynomials.of(Expression(formula.source, bound.extent)))
    part = extents[0].get((size,), Fraction(0)) if extents else Fraction(0)
    whole: Polynomial = {(size,): part}
    if part <= 0 or any(dict(extent) != whole for extent in extents):
        raise UnsupportedError(
            f"{bound.name} must run over all of {size}, or over a fraction of it such as K // 2"
        )
    if formula.condition is not None:
        raise UnsupportedError("the formula has an `if` condition")
    return PartialSums(contract, size, formula, total, bound.name, part, stays)


def _written_out(node: Node) -> Node:
    """Return a formula with sums over one index, the others of which have few values: all are written out."""
    for total in [each for each in walk(node) if isinstance(each, Sum) and len(each.indices) > 1]:
        counts = {each: each.extent.value for each in total.indices if isinstance(each.extent, Number)}
        left = tuple(each for each in total.indices if each not in counts)
        extents = [index.extent for index in left if index.extent is not None]
        names = {each.name for extent in extents for each in walk(extent) if isinstance(each, Name)}
        free = names.isdisjoint(each.name for each in counts)
        if len(left) == 1 and free and 0 < prod(counts.values()) <= _MOST_WRITTEN_OUT:
            terms = [total.body]
            for bound, count in counts.items():
                places = [Number(bound.at, Fraction(place), whole=True) for place in range(int(count))]
                name = Name(bound.at, bound.name)
                terms = [_replaced(each, name, place) for each in terms for place in places]
            body = reduce(partial(Binary, total.at, "+"), terms)
            node = _replaced(node, total, replace(total, body=body, indices=left))
    return node


def depends_on_sizes(contract: Contract, formula: Formula, name: Name, polynomials: SizePolynomials) -> bool:
    """Tell whether a name in a formula, a size or a scalar, depends on sizes that may be many."""
    own = [index for node in walk(formula.body) if isinstance(node, Reduction) for index in node.indices]
    if name.name in {each.name for each in (*own, *formula.target.indices) if isinstance(each, Name | Bound)}:
        return False
    values = [
        parameter.value
        for parameter in contract.parameters
        if parameter.name == name.name and isinstance(parameter, ScalarParameter)
    ]
    passed = [value for value in values if isinstance(value, Expression)]
    return any(map(polynomials.varies, [Expression(formula.source, name), *passed]))


def _vanishes(node: Node, axes: Mapping[str, int], index: str, formats: Mapping[str, Format]) -> bool:
    """Tell whether a term is 0 if the elements of arrays are whose indices along axes are an index."""

    def zero(part: Node) -> bool:
        return _vanishes(part, axes, index, formats)

    match node:
        case Element(array=array, indices=indices) if array in axes:
            own = indices[axes[array]]
            return isinstance(own, Name) and own.name == index
        case Binary(operator="*"):
            parts = factors(node)
            return any(map(zero, parts)) and is_finite_product(parts, axes, formats)
        case Binary(operator="+" | "-", left=left, right=right):
            return zero(left) and zero(right)
        case Cast(format=fmt, operand=operand):
            return has_zero(fmt) and zero(operand)
        case Negative(operand=operand):
            return zero(operand)
    return False


def index_shift(node: Node, index: str, distance: int, stays: Stays = never_stays) -> int | None:
    """Return by how much an expression grows where an index grows by a distance; None if not by a number."""

    def shift(part: Node) -> int | None:
        return index_shift(part, index, distance, stays)

    match node:
        case Name(name=name):
            return distance if name == index else 0
        case Number():
            return 0
        case Binary(operator=operator, left=left, right=right):
            one, other = shift(left), shift(right)
            if one is None or other is None:
                return None
            if not one and not other:
                return 0
            match operator:
                case "+":
                    return one + other
                case "-":
                    return one - other
                case "*" if isinstance(right, Number):
                    return one * int(right.value)
                case "*" if isinstance(left, Number):
                    return other * int(left.value)
                case "//" if isinstance(right, Number) and right.value and one % int(right.value) == 0:
                    return one // int(right.value)
                case "%" if isinstance(right, Number) and right.value and one % int(right.value) == 0:
                    return 0
            return None
        case Element(array=array, indices=indices) if _mentions(node, index):
            moved = tuple(map(shift, indices))
            known = tuple(each for each in moved if each is not None)
            return 0 if len(known) == len(moved) and stays(array, known) else None
    return None if _mentions(node, index) else 0


def _mentions(node: Node, index: str) -> bool:
    return any(isinstance(each, Name) and each.name == index for each in walk(node))


def _replaced(node: Node, old: Node, new: Node) -> Node:
    """Return a formula with a part of it replaced, wherever it stands."""
    if node == old:
        return new
    changes: dict[str, Any] = {}
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, Node):
            changes[field.name] = _replaced(value, old, new)
        elif isinstance(value, tuple) and any(isinstance(item, Node) for item in value):
            changes[field.name] = tuple(_replaced(item, old, new) for item in value)
    return replace(node, **changes) if changes else node
