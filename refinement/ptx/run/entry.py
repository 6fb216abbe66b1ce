"""A kernel of a PTX module, and its arguments as a launch takes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from ....spec.ptx.asynchronous.tensor_map import MAP_BYTES
from ....spec.ptx.operands import Integer
from ...contract import arguments
from ...contract.arguments import Array, Pointers, SharedBuffer
from ...contract.contract import Instance
from ...contract.element_places import place_of
from ...machine.array_memory import ArrayMemory, initial_bytes, results_of
from ...machine.memory import ByteLanes
from ...machine.shared_buffers import Joined
from ...terms.interning import Ids
from ...terms.store import TermStore
from ..run.launching import (
    POINTER_BYTES,
    Argument,
    Number,
    Pointer,
    Scalar,
    Simple,
    Structure,
    Tensor,
    entry_named,
)
from ..state.address_spaces import Buffer
from ..text.module import Module

_TURNING = frozenset({"setp", "set", "and", "rem", "min", "max", "bfe", "slct"})
"""Opcodes by whose constants something turns."""

_ENDS = MappingProxyType({"u8": 1 << 8, "s8": 1 << 7, "u16": 1 << 16, "s16": 1 << 15})
"""Where integers of narrow types end."""


@dataclass(frozen=True)
class PtxEntry:
    """A kernel of a PTX module, and its arguments.

    Attributes
    ----------
    module : Module
        The file.
    entry : str
        The kernel's name.
    """

    module: Module
    entry: str

    @property
    def path(self) -> str:
        """The file."""
        return self.module.path

    @property
    def target(self) -> str:
        """The processor that it is for."""
        return self.module.target

    def source(self, line: int) -> str:
        """Return where ``.loc`` says that a line comes from."""
        return self._sources.get(line, "")

    def place(self, _: int) -> str:
        """Return nothing: PTX is text."""
        return ""

    @cached_property
    def turning_numbers(self) -> frozenset[int]:
        """Integers at which the kernel's counters, masks and comparisons turn, as its text has them."""
        body = entry_named(self.module, self.entry).body
        literals = {
            operand.value
            for each in body
            if each.opcode in _TURNING
            for operand in each.operands
            if isinstance(operand, Integer)
        }
        types = {name for each in body for name in each.types}
        return frozenset(literals | {number for name, number in _ENDS.items() if name in types})

    @cached_property
    def _sources(self) -> Mapping[int, str]:
        bodies = (function.body for function in self.module.functions.values())
        return {each.line: str(each.source) for body in bodies for each in body if each.source is not None}

    def packed(self, instance: Instance, given: Mapping[str, Simple]) -> list[Argument]:
        """Return the kernel's arguments, in its order, of what parameters are by name."""
        widths = {argument.name: bytes_of(argument) for argument in (*instance.arguments, *instance.pointers)}
        return [
            given[each]
            if isinstance(each, str)
            else Structure(each.size, tuple((at, widths[name], given[name]) for at, name in each.fields))
            for each in instance.passed
        ]

    def argument(
        self,
        given: arguments.Scalar | Array,
        memory: Mapping[str, ArrayMemory],
        store: TermStore,
        inputs: Mapping[str, Ids],
    ) -> Number | Scalar | Pointer:
        """Return one argument: a number, data, or an array's address."""
        return argument_of(given, memory, store, inputs, {}, later=True)


def argument_of(
    given: arguments.Scalar | Array,
    memory: Mapping[str, ArrayMemory],
    store: TermStore,
    inputs: Mapping[str, Ids],
    before: Mapping[str, ByteLanes],
    *,
    later: bool,
) -> Number | Scalar | Pointer:
    """Return an argument: a number, data, or the address of an array that holds what was there before."""
    if isinstance(given, arguments.Scalar):
        return _scalar(given, inputs)
    lanes = before.get(given.name)
    return _pointer(
        memory[given.name],
        initial_bytes(store, memory[given.name], inputs) if lanes is None else lanes,
        later=later,
    )


def _scalar(given: arguments.Scalar, inputs: Mapping[str, Ids]) -> Number | Scalar:
    return Scalar(int(inputs[given.name].reshape(()))) if given.value is None else Number(given.value)


def buffer_of(instance: Instance, buffer: SharedBuffer, held: Joined) -> Buffer:
    """Return the memory in which several arrays of a contract lie."""
    return Buffer(
        buffer.name,
        buffer.size,
        buffer.alignment,
        (held.lanes.terms, held.lanes.lows),
        buffer.is_written,
        unowned=held.unowned,
        naming=held.naming,
        results=None if instance.contract.launches else held.results,
    )


def _pointer(memory: ArrayMemory, lanes: ByteLanes, *, later: bool) -> Pointer:
    array = memory.array
    return Pointer(
        Buffer(
            array.name,
            array.size,
            array.alignment,
            (lanes.terms, lanes.lows),
            array.access.is_written,
            array.footprint,
            memory.unowned,
            lambda byte: str(place_of(array, 8 * byte)),
            results=None if later else results_of(memory),
        )
    )


def bytes_of(given: arguments.Scalar | Array | Pointers) -> int:
    """Return how many bytes an argument has."""
    if isinstance(given, Pointers) and given.tensor is not None:
        return MAP_BYTES
    return -(-given.format.bits // 8) if isinstance(given, arguments.Scalar) else POINTER_BYTES


def address_of(pointers: Pointers, given: Mapping[str, Simple]) -> Pointer | Tensor:
    """Return an address in an array, or the one of the memory in which such are."""
    found = []
    for name, offset in pointers.targets:
        target = given[name]
        assert isinstance(target, Pointer)
        found.append(Pointer(target.buffer, target.offset + offset))
    if pointers.tensor is not None:
        return Tensor(found[0], pointers.tensor)
    if not pointers.in_memory:
        return found[0]
    name = pointers.name
    return Pointer(
        Buffer(
            name,
            POINTER_BYTES * len(found),
            pointers.alignment,
            addresses=tuple((each.buffer, each.offset) for each in found),
            naming=lambda byte: f"{name}[{byte // POINTER_BYTES}]",
        )
    )
