"""Contracts on constant arrays, generalised to contracts on all values of these arrays.

Operations on given numbers are computed at once, and what was rounded is forgotten. So a difference that
is no more than rounding looks like a wrong result. Such a contract is right where one is that lets them be
any numbers, as long as what that takes for granted is true of the numbers given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat
from ..formula.tree import Binary, Choice, Element, Node, ReducedProduct, Sum
from .arguments import Array, Scalar
from .contract import Instance
from .parameters import Access, ArrayParameter

_ARITHMETIC = "+-*"


Given = Mapping[str, NDArray[np.uint64]]
"""Encodings of what a contract gives, by name."""


def wider_contracts(instance: Instance) -> Iterator[tuple[Instance, Given]]:
    """Yield contracts for any numbers in place of some of those given, and these by name.

    Integers that a formula takes for indices, extents, divisors or conditions stay given, those that the
    kernel writes (locks, counters), and integer scalars. Floats do not: a formula divides by data, and
    compares them, as well. A kernel may branch on other integers: in a second contract they all stay given.
    """
    before: frozenset[str] = frozenset()
    for integers in (True, False):
        wider, given = _widened(instance, integers=integers)
        if given and given.keys() != before:
            yield wider, given
        before = frozenset(given)


def _widened(instance: Instance, *, integers: bool) -> tuple[Instance, Given]:
    deciding = {
        name
        for formula in instance.contract.formulas
        for node in (formula.target, formula.body, formula.condition)
        for name in (_deciding(node, needed=node is formula.condition) if node is not None else ())
    }
    given: dict[str, NDArray[np.uint64]] = {}

    def general(argument: Scalar | Array) -> Scalar | Array:
        content: Any = argument.contents if isinstance(argument, Array) else argument.value
        is_data = isinstance(argument, Array) and argument.access is Access.IN and integers
        is_wide = isinstance(argument.format, FloatFormat) or (is_data and argument.name not in deciding)
        if content is None or not is_wide or argument.name in instance.case.values:
            return argument
        given[argument.name] = np.asarray(content, dtype=np.uint64).reshape(-1)
        if isinstance(argument, Array):
            return replace(argument, contents=None)
        return replace(argument, value=None)

    arguments = tuple(general(each) for each in instance.arguments)
    parameters = tuple(
        replace(parameter, contents=None)
        if isinstance(parameter, ArrayParameter) and parameter.name in given
        else parameter
        for parameter in instance.contract.parameters
    )
    contract = replace(instance.contract, parameters=parameters)
    return replace(instance, contract=contract, arguments=arguments), given


def _deciding(node: Node, *, needed: bool) -> Iterator[str]:
    """Yield the arrays whose numbers a formula needs; all of a part that is `needed` itself."""
    match node:
        case Element():
            if needed:
                yield node.array
            parts = [(index, True) for index in node.indices]
        case Choice():
            parts = [(node.condition, True), (node.then, needed), (node.otherwise, needed)]
        case Sum() | ReducedProduct():
            parts = [(bound.extent, True) for bound in node.indices if bound.extent is not None]
            parts.append((node.body, needed))
        case Binary(operator="/"):
            parts = [(node.left, needed), (node.right, True)]
        case Binary() if node.operator not in _ARITHMETIC:
            parts = [(operand, True) for operand in node.operands]
        case _:
            parts = [(operand, needed) for operand in node.operands]
    for part, is_needed in parts:
        yield from _deciding(part, needed=is_needed)
