"""What a text tells of its views of global memory before it runs: known extents and strides, and layouts.

ptoas knows a number that the text defines as a constant, and an extent that stands in the view's type; its
releases differ in whether they fold arithmetic on constants before they infer layouts.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from .element_types import ElementType
from .text.module import Function
from .text.statements import Arithmetic, ConstantDefinition, TensorView
from .text.syntax import Region
from .text.types import OtherType
from .tile import DYNAMIC, Extent
from .view_layouts import Orders, orders


class KnownNames(NamedTuple):
    """The names among a view's extents and strides that may be known to ptoas.

    Attributes
    ----------
    constants : frozenset of str
        Defined by ``arith.constant``.
    derived : frozenset of str
        Computed from constants alone.
    """

    constants: frozenset[str]
    derived: frozenset[str]


def known_names(region: Region) -> dict[int, KnownNames]:
    """Return, by the `id` of each ``make_tensor_view`` of a region, which of its numbers are known."""
    return dict(_known(region, ChainMap()))


def _known(region: Region, folded: ChainMap[str, bool]) -> Iterator[tuple[int, KnownNames]]:
    """Yield the views of a region; `folded` tells of each known name whether it is computed."""
    for statement in region:
        match statement:
            case ConstantDefinition(name=name):
                if statement.integer is not None:
                    folded[name] = False
            case Arithmetic(results=results, operands=operands):
                if all(operand in folded or _literal(operand) is not None for operand in operands):
                    folded.update(dict.fromkeys(results, True))
            case TensorView(shape=shape, strides=strides):
                names = [stride for stride in (*shape, *strides) if stride in folded]
                yield (
                    id(statement),
                    KnownNames(
                        frozenset(each for each in names if not folded[each]),
                        frozenset(each for each in names if folded[each]),
                    ),
                )
        for inner in statement.regions:
            yield from _known(inner, ChainMap() if isinstance(statement, Function) else folded.new_child())


def inferred_orders(statement: TensorView, element: ElementType, *known: Mapping[str, int]) -> Orders:
    """Return every layout that ptoas may infer for a view, for each set of numbers that it may know."""
    return orders((known_extents(statement, each) for each in known), element)


def known_extents(statement: TensorView, known: Mapping[str, int]) -> tuple[list[Extent], list[Extent]]:
    """Return the extents and strides of a view as far as its type and known numbers tell."""
    stated = statement.type.extents if isinstance(statement.type, OtherType) else ()
    shape = _numbers(statement.shape, known)
    if len(stated) == len(shape):
        shape = [
            there if isinstance(there, int) else number for there, number in zip(stated, shape, strict=True)
        ]
    return shape, _numbers(statement.strides, known)


def _numbers(names: Sequence[str], known: Mapping[str, int]) -> list[Extent]:
    found: list[Extent] = []
    for name in names:
        literal = _literal(name)
        found.append(known.get(name, DYNAMIC) if literal is None else literal)
    return found


def _literal(name: str) -> int | None:
    return int(name) if name.isascii() and name.isdigit() and len(name) <= 18 else None
