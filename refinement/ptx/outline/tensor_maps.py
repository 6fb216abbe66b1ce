"""Which parameters are tensor maps, as tensor copies name them, and what is said of their boxes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ....spec.ptx.asynchronous.tensor_map import MAP_BYTES
from ....spec.ptx.operands import Integer
from ...machine.kernel_outline import MemoryAccess
from ..text.module import Function, InstructionStatement
from ..text.operands import TensorAddress, register_names
from .descents import read, written

_PASSING = frozenset({"mov", "cvta", "cvt", "add", "selp"})
"""Opcodes that pass on the address of a parameter."""

_DIMENSIONS = ("1d", "2d", "3d", "4d", "5d")

_SWIZZLES = {1: 128, 2: 64, 3: 32}
"""Bytes of a swizzled row, by the two highest bits of a descriptor."""

_FIELDS = 0x3FFF_3FFF_3FFF
"""The bits of a descriptor that are start and strides."""


@dataclass(frozen=True)
class MapUse:
    """A tensor map: its dimensions, and the copies with it."""

    rank: int
    copies: tuple[MemoryAccess, ...]


def tensor_maps(function: Function) -> Mapping[str, MapUse]:
    """Return the parameters that are tensor maps, by name."""
    maps = {
        parameter.name
        for parameter in function.parameters
        if parameter.dimensions and parameter.size == MAP_BYTES
    }
    if not maps:
        return {}
    held: dict[str, set[str]] = {name: {name} for name in maps}
    changed = True
    while changed:
        changed = False
        for each in function.body:
            if each.opcode not in _PASSING:
                continue
            sources = set().union(*(held.get(name, set()) for name in register_names(read(each))))
            for name in written(each) if sources else ():
                changed |= not sources <= held.setdefault(name, set())
                held[name] |= sources
    ranks: dict[str, int] = {}
    copies: dict[str, list[MemoryAccess]] = {}
    for each, place in _copies(function):
        rank = each.one_of(_DIMENSIONS)
        reached = set().union(*(held.get(register, set()) for register in register_names([place.base])))
        for name in reached if rank else ():
            ranks[name] = int((rank or "0")[0])
            reads = not each.has("bulk_group")
            copies.setdefault(name, []).append(
                MemoryAccess(each.line, each.mnemonic, 0, None, reads=reads, writes=not reads)
            )
    return {name: MapUse(rank, tuple(copies[name])) for name, rank in ranks.items()}


def _copies(function: Function) -> Iterator[tuple[InstructionStatement, TensorAddress]]:
    """Yield tensor copies with the map that each names."""
    for each in function.body:
        if each.opcode == "cp" and each.has("tensor"):
            for operand in each.operands:
                if isinstance(operand, TensorAddress):
                    yield each, operand


def swizzles(function: Function) -> tuple[int, ...]:
    """Return the swizzles that 64-bit constants of descriptors have."""
    if not any(each.opcode == "wgmma" for each in function.body):
        return ()
    found = dict[int, None]()
    for each in function.body:
        for operand in each.operands if each.opcode in ("or", "add", "mov") else ():
            if isinstance(operand, Integer) and operand.value & (1 << 64) - 1 > 0:
                mode, rest = divmod(operand.value & (1 << 64) - 1, 1 << 62)
                if mode in _SWIZZLES and rest and not rest & ~_FIELDS:
                    found[_SWIZZLES[mode]] = None
    return tuple(found)


def expected_bytes(function: Function) -> tuple[tuple[int, int], ...]:
    """Return the numbers of bytes that barrier objects expect, each with the first line that says so."""
    found: dict[int, int] = {}
    for each in function.body:
        if each.opcode == "mbarrier" and each.has("expect_tx") and isinstance(each.operands[-1], Integer):
            found.setdefault(each.operands[-1].value, each.line)
    return tuple(found.items())
