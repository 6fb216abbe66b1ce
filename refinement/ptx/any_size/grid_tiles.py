"""Guesses of the tiles by which a grid grows: from its extents, and from constants of the kernel."""

from __future__ import annotations

from ....spec.ptx.operands import Integer
from ...contract.contract import Contract
from ...formula.index_arithmetic import Expression
from ...formula.tree import Binary, Name, Node, Number, walk
from ...sizes.block_positions import BlockOrder
from ..run.launching import entry_named
from ..text.module import Module

AXES = "xyz"
MOST_BLOCKS = (2**31 - 1, 65535, 65535)
"""Of a grid, along each axis. Source: CUDA C++ Programming Guide, technical specifications."""

_MOST_GROUP = 64
_GROUPS = (8, 4, 16, 2)
"""Tiles of a group, where the kernel takes no minimum of it and a constant."""


def sizes_of(extent: Expression, contract: Contract) -> list[str]:
    """Return the sizes that an extent of a grid names."""
    names = contract.sizes[0].keys()
    found = [node.name for node in walk(extent.node) if isinstance(node, Name) and node.name in names]
    return list(dict.fromkeys(found))


def tile_of(node: Node, name: str) -> int:
    """Return what a grid's extent divides a size by, in one or several steps; only a guess."""
    for each in walk(node):
        if isinstance(each, Binary) and each.operator == "//" and isinstance(each.right, Number):
            inside = [part.name for part in walk(each.left) if isinstance(part, Name)]
            if name in inside and each.right.value >= 1:
                return int(each.right.value) * tile_of(each.left, name)
    return 1


def group_sizes(module: Module, entry: str) -> list[int]:
    """Return how many tiles a group may have: constants that a kernel takes minima with; only a guess."""
    body = entry_named(module, entry).body
    numbers = [
        operand.value
        for each in body
        if each.opcode == "min"
        for operand in each.operands
        if isinstance(operand, Integer)
    ]
    found = [number for number in dict.fromkeys(numbers) if 1 < number <= _MOST_GROUP]
    return [*found, 1] if found else [1, *_GROUPS]


def most_blocks(order: BlockOrder, name: str) -> int:
    """Return how many blocks there are at most along the axis that counts the tiles of a size."""
    axes = [axis for axis, size in order.axes.items() if size == name]
    return MOST_BLOCKS[axes[0]] if axes else MOST_BLOCKS[0]
