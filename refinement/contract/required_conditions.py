"""Conditions of ``[requires]``: read, and as formulas with boolean outputs.

A condition with free indices is the formula of an array of 1 where it holds, 0 where not: what checks and
evaluates formulas checks and evaluates conditions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from ...spec.errors import InputError
from ...spec.formats import F64
from ..formula.definitions import rebuilt
from ..formula.index_arithmetic import Expression, unknown_name
from ..formula.parser import parse_condition
from ..formula.tree import (
    LOGICAL,
    Binary,
    Choice,
    Element,
    Formula,
    Inverse,
    Name,
    Node,
    Number,
    Reduction,
    Requirement,
    Source,
    walk,
)
from .arguments import Array
from .contract import Contract, Instance
from .formula_checking import Kinds, check_formula
from .parameters import Access, ArrayParameter, Gaps, ScalarParameter

TRUTHS = "[requires]"
"""The output of a condition as a formula: no name that a contract could have."""

_OPPOSITES = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def with_requirements(contract: Contract, sources: Sequence[Source]) -> Contract:
    """Return a contract with the conditions of its ``[requires]``.

    Parameters
    ----------
    contract : Contract
        With its parameters and sizes.
    sources : sequence of Source
        The conditions.

    Raises
    ------
    InputError
        If one is no condition on inputs, or its names have no meaning.
    """
    found = tuple(_read(contract, source) for source in sources)
    for each in found:
        _check(contract, each)
    return replace(contract, requirements=found)


def _read(contract: Contract, source: Source) -> Requirement:
    condition, guard = parse_condition(source)
    kinds = Kinds(contract)
    arrays = {
        parameter.name: parameter
        for parameter in contract.parameters
        if isinstance(parameter, ArrayParameter)
    }
    known = {*contract.sizes[0], *kinds.parameters}
    parts = [condition] if guard is None else [condition, guard]
    for element in (node for part in parts for node in walk(part)):
        if isinstance(element, Element) and element.array not in arrays:
            raise unknown_name(source, element, arrays)
    indices: dict[str, tuple[str, int]] = {}
    for name in dict.fromkeys(each.name for part in parts for each in _free(part, known)):
        axes = [place for part in parts for place in _axes(part, name)]
        if not axes:
            node = next(each for part in parts for each in _free(part, known) if each.name == name)
            raise unknown_name(source, node, sorted(known))
        indices[name] = axes[0]
    before = _before(_positive(condition, kinds), arrays)
    return Requirement(source, before, None if guard is None else _before(guard, arrays), indices)


def _check(contract: Contract, requirement: Requirement) -> None:
    """Refuse conditions on what is no input, with the checks of formulas."""
    kinds, source = Kinds(contract), requirement.source
    parts = list(walk(requirement.condition))
    scalars = [
        (part, scalar)
        for part in parts
        if isinstance(part, Name) and isinstance(scalar := kinds.parameters.get(part.name), ScalarParameter)
    ]
    for part, scalar in scalars:
        if scalar.of_launch:
            raise source.error(part.at, f"{part.name} is the block number, which [requires] can't restrict")
    for element in (part for part in parts if isinstance(part, Element)):
        if not all(map(kinds.is_concrete, element.indices)):
            raise source.error(
                element.at,
                f"an index of {element.array} is data; [requires] allows sizes, indices and given contents",
            )
    if not scalars and not any(isinstance(part, Element) for part in parts):
        raise source.error(requirement.condition.at, "a condition in [requires] must name an input")
    arrays = {
        parameter.name: parameter
        for parameter in contract.parameters
        if isinstance(parameter, ArrayParameter)
    }
    shape = tuple(arrays[array].shape[axis] for array, axis in requirement.indices.values())
    truths = _truths(shape, source.where or contract.path)
    own = replace(contract, parameters=(*contract.parameters, truths), formulas=(), requirements=())
    check_formula(own, _formula(requirement))


def _truths(shape: tuple[Expression, ...], where: str) -> ArrayParameter:
    return ArrayParameter(TRUTHS, F64, Access.OUT, shape, "row-major", 1, F64.bits, 0, None, Gaps.KEPT, where)


def as_output(instance: Instance, requirement: Requirement) -> Instance:
    """Return a contract at one set of sizes whose only output is where a condition holds (1), or not (0).

    Raises
    ------
    InputError
        If the arrays disagree on how far an index goes.
    """
    extents = tuple(_extent(instance, requirement, name) for name in requirement.indices)
    strides = tuple(int(np.prod(extents[axis + 1 :])) for axis in range(len(extents)))
    truths = Array(TRUTHS, F64, Access.OUT, extents, strides, 1, F64.bits, 0, None)
    parameter = _truths((), requirement.source.where or instance.contract.path)
    contract = replace(
        instance.contract,
        parameters=(*instance.contract.parameters, parameter),
        formulas=(_formula(requirement),),
        requirements=(),
    )
    return replace(instance, contract=contract, arguments=(*instance.arguments, truths))


def _formula(requirement: Requirement) -> Formula:
    at = requirement.condition.at
    target = Element(at, TRUTHS, tuple(Name(at, name) for name in requirement.indices))
    one, zero = (Number(at, Fraction(value), whole=False) for value in (1, 0))
    body = Choice(at, requirement.condition, one, zero)
    return Formula(requirement.source, target, body, requirement.guard)


def _extent(instance: Instance, requirement: Requirement, name: str) -> int:
    """Return how far a free index goes: over the whole axis of every array that it indexes."""
    array, axis = requirement.indices[name]
    extent = instance.arrays[array].shape[axis]
    parts = (
        [requirement.condition] if requirement.guard is None else [requirement.condition, requirement.guard]
    )
    for other, place in (each for part in parts for each in _axes(part, name)):
        found = instance.arrays[other].shape[place]
        if found != extent:
            raise requirement.source.error(
                requirement.condition.at,
                f"{name} takes {found} values as index {place + 1} of {other}, but {extent} as index "
                f"{axis + 1} of {array}",
            )
    return extent


def _free(node: Node, known: Collection[str]) -> Iterator[Name]:
    """Yield the names that are neither sizes nor parameters nor indices of sums."""
    pending: list[tuple[Node, frozenset[str]]] = [(node, frozenset(known))]
    while pending:
        node, bound = pending.pop()
        if isinstance(node, Name) and node.name not in bound:
            yield node
        if isinstance(node, Reduction):
            extents = [index.extent for index in node.indices if index.extent is not None]
            pending += [(extent, bound) for extent in extents]
            bound |= {index.name for index in node.indices}
        pending += [(operand, bound) for operand in reversed(node.operands)]


def _axes(node: Node, name: str) -> list[tuple[str, int]]:
    """Return where a name is itself an index: arrays and their axes."""
    return [
        (part.array, axis)
        for part in walk(node)
        if isinstance(part, Element)
        for axis, index in enumerate(part.indices)
        if isinstance(index, Name) and index.name == name
    ]


def _positive(node: Node, kinds: Kinds, *, holds: bool = True) -> Node:
    """Return a condition, or its opposite, without ``not`` and ``!=`` of data, which a NaN would meet."""
    if kinds.is_concrete(node):
        return node if holds else Inverse(node.at, node)
    if isinstance(node, Inverse):
        return _positive(node.operand, kinds, holds=not holds)
    assert isinstance(node, Binary)
    if node.operator in LOGICAL:
        other = {"and": "or", "or": "and"}[node.operator]
        left, right = (_positive(operand, kinds, holds=holds) for operand in node.operands)
        return Binary(node.at, node.operator if holds else other, left, right)
    relation = node.operator if holds else _OPPOSITES[node.operator]
    if relation == "!=":
        below, above = (Binary(node.at, each, node.left, node.right) for each in "<>")
        return Binary(node.at, "or", below, above)
    return replace(node, operator=relation)


def _before(node: Node, arrays: Mapping[str, ArrayParameter]) -> Node:
    """Return a node in which elements of arrays that are written are those before the kernel."""
    if isinstance(node, Element) and node.array in arrays:
        inout = arrays[node.array].access is Access.INOUT
        return replace(node, old=node.old or inout)
    return rebuilt(node, lambda each: _before(each, arrays))


def contradiction(requirement: Requirement, message: str) -> InputError:
    """Return the error of a condition that no input meets."""
    return InputError(f"[requires] {requirement} cannot hold: {message}", requirement.source.where)
