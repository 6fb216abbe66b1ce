"""Launches: what a kernel is given, and where its variables, parameters and buffers lie."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from interpreter.ptx_integers import Unknown
from interpreter.ptx_memory import WINDOWS, Region, Space, copy_of, region
from interpreter.ptx_tensor_maps import Map
from interpreter.ptx_threads import literal

from mmaproof.refinement.ptx.text.module import Function, Module, Variable, type_bytes
from mmaproof.refinement.ptx.text.operands import Displaced, GenericAddress, Symbol
from mmaproof.spec.ptx.operands import Decimal, HexFloat, Integer


@dataclass
class Launch:
    """How a kernel is launched.

    Attributes
    ----------
    grid, block : (int, int, int)
        Extents.
    dynamic_shared : int
        Bytes.
    cluster : (int, int, int), optional
        Extents in blocks; by default those that the kernel requires, or one block.
    maps : dict of int to Map
        Tensor maps, by the number of the parameter that is one, or has one, and the byte where it begins.
    parameters : sequence of Region
        One for each, named after it, wherever they lie.
    memory : sequence of Region
        What its pointers lead to; not changed.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    parameters: Sequence[tuple[bytes, bytes]]
    memory: Sequence[Region]
    dynamic_shared: int = 0
    cluster: tuple[int, int, int] | None = None
    maps: Mapping[tuple[int, int], Map] = field(default_factory=dict)


class Layout:
    """Where variables, parameters and buffers lie."""

    def __init__(self, module: Module, function: Function, launch: Launch, noise: random.Random) -> None:
        self.addresses: dict[str, int] = {}
        self._noise = noise
        self._variables = [*module.variables, *function.variables]
        self._dynamic = launch.dynamic_shared
        self.shared_names = frozenset(
            variable.name for variable in self._variables if variable.space == "shared"
        )
        self.maps: dict[int, Map] = {}
        self.multiplies = any(
            each.opcode in ("wgmma", "tcgen05") or (each.opcode == "cp" and each.has("bulk"))
            for each in function.body
        )
        self.parameters = self._parameters(function, launch)
        self._shared = self._placed("shared", 1024)
        self._local = self._placed("local", 64)
        self.globals = copy_of(launch.memory)
        placed = self._placed("global", 0x6000_0000_0000) + self._placed("const", 0x6100_0000_0000)
        self.globals += [self._initialised(each, at) for each, at, _ in placed]

    def _parameters(self, function: Function, launch: Launch) -> Space:
        regions, at = [], 256
        pairs = zip(function.parameters, launch.parameters, strict=True)
        for number, (parameter, (data, written)) in enumerate(pairs):
            at = -(-at // parameter.alignment) * parameter.alignment
            own = [(offset, each) for (place, offset), each in launch.maps.items() if place == number]
            self.maps.update({WINDOWS["param"] + at + offset: each for offset, each in own})
            self.addresses[parameter.name] = at
            regions.append(Region(parameter.name, at, bytearray(data), bytearray(written), False))
            at += len(data)
        return Space(regions)

    def _placed(self, space: str, at: int) -> list[tuple[Variable, int, int]]:
        found = []
        for variable in sorted(self._variables, key=lambda each: each.size is None):
            if variable.space != space:
                continue
            open_size = self._dynamic if space == "shared" else 0
            size = open_size if variable.size is None else variable.size
            # Kernels with descriptors take dynamic shared memory to be aligned to swizzling patterns.
            aligned = self.multiplies and space == "shared" and variable.size is None
            alignment = max(variable.alignment, 1024 if aligned else 16)
            at = -(-at // alignment) * alignment
            if space == "shared" and not aligned and at // alignment % 2 == 0:
                at += alignment  # no more aligned than it says
            self.addresses[variable.name] = at
            found.append((variable, at, size))
            if variable.size is not None:
                at += size + 256
        return found

    def _initialised(self, variable: Variable, at: int) -> Region:
        size = type_bytes(variable.type.rpartition(".")[2])
        data = bytearray(variable.size or 0)
        for index, value in variable.initial:
            number = self._initial(value, 8 * size) & ((1 << 8 * size) - 1)
            data[size * index : size * (index + 1)] = number.to_bytes(size, "little")
        return Region(variable.name, at, data, bytearray(b"\1" * len(data)), variable.space == "global")

    def _initial(self, value: object, width: int) -> int:
        match value:
            case Integer(number):
                return number
            case HexFloat() | Decimal():
                return literal(value, width)
            case Symbol(name):
                return self.addresses[name]
            case Displaced(base, offset) | GenericAddress(base, offset):
                return self.addresses[base.name] + offset
        raise Unknown(f"initial value {value}")

    def shared(self, window: int) -> Space:
        """Return fresh shared memory of a block, whose addresses have `window` more than is said."""
        found = self._fresh([(each, at + window, size) for each, at, size in self._shared])
        for each in found.regions if self.multiplies else ():
            each.stale = bytearray(len(each.data))
        return found

    def local(self) -> Space:
        """Return fresh local memory."""
        return self._fresh(self._local)

    def _fresh(self, placed: list[tuple[Variable, int, int]]) -> Space:
        by_base = {at: (each.name, size) for each, at, size in placed}  # dynamic variables begin together
        return Space([region(name, at, size, self._noise) for at, (name, size) in by_base.items()])
