"""Fields of structure parameters that a kernel loads, found without running it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ....spec.ptx.operands import Address, Integer, Register, Vector
from ..text.module import Function, InstructionStatement, type_bytes
from ..text.operands import Displaced

POINTER = 8
"""Bytes of an address."""


@dataclass(frozen=True)
class Field:
    """A field of a structure, as a load reads it.

    Attributes
    ----------
    parameter : str
        The structure.
    offset, size : int
        Its first byte, and how many.
    type : str
        Of the load.
    """

    parameter: str
    offset: int
    size: int
    type: str

    def __str__(self) -> str:
        return f"{self.parameter}+{self.offset}"


class Fields:
    """The fields of a kernel's structures.

    Parameters
    ----------
    function : Function
        The kernel.
    """

    def __init__(self, function: Function) -> None:
        self._names = [parameter.name for parameter in function.parameters]
        self._structures = {parameter.name for parameter in function.parameters if parameter.dimensions}
        self._addresses = _addresses(function)
        found: dict[tuple[str, int], Field] = {}
        for instruction in function.body:
            for field in self._read(instruction):
                if field.parameter in self._structures:
                    found.setdefault((field.parameter, field.offset), field)
        self._fields = [found[key] for key in sorted(found)]

    def __iter__(self) -> Iterator[Field]:
        return iter(self._fields)

    def of(self, parameter: str) -> list[Field]:
        """Return the fields of a structure that are loaded, in the order of their places."""
        return [field for field in self._fields if field.parameter == parameter]

    def loaded(self, instruction: InstructionStatement) -> list[str]:
        """Return what a load of parameters takes: names of parameters and fields, one for each register."""
        return [
            str(field) if field.parameter in self._structures else field.parameter
            for field in self._read(instruction)
        ]

    def order(self, name: str) -> tuple[int, int]:
        """Return where a parameter or field stands."""
        parameter, _, offset = name.partition("+")
        return self._names.index(parameter), int(offset or 0)

    def _read(self, instruction: InstructionStatement) -> Iterator[Field]:
        if instruction.opcode != "ld" or not instruction.has("param") or not instruction.types:
            return
        target, *sources = instruction.operands
        address = next((source for source in sources if isinstance(source, Address)), None)
        if address is None or not isinstance(address.base, Register):
            return
        place = self._addresses.get(address.base.name)
        if place is None:
            return
        kind = instruction.types[-1]
        size = type_bytes(kind)
        for lane in range(len(target.elements) if isinstance(target, Vector) else 1):
            yield Field(place[0], place[1] + address.offset + lane * size, size, kind)


def _addresses(function: Function) -> Mapping[str, tuple[str, int]]:
    """Return the registers that hold an address in a parameter: which, and how far."""
    found = {each.name: (each.name, 0) for each in function.parameters}
    changed = True
    while changed:
        changed = False
        for instruction in function.body:
            if instruction.opcode not in ("mov", "add", "cvta") or len(instruction.operands) < 2:
                continue
            target, *sources = instruction.operands
            if not isinstance(target, Register) or target.name in found:
                continue
            bases = [
                (found[base.name], moved)
                for source in sources
                for base, moved in [
                    (source.base, source.offset) if isinstance(source, Displaced) else (source, 0)
                ]
                if isinstance(base, Register) and base.name in found
            ]
            constants = [source.value for source in sources if isinstance(source, Integer)]
            if len(bases) == 1 and len(bases) + len(constants) == len(sources):
                (parameter, offset), moved = bases[0]
                found[target.name] = parameter, offset + moved + sum(constants)
                changed = True
    return found


def parameter_fields(function: Function) -> Fields:
    """Return the fields of a kernel's structures that it loads."""
    return Fields(function)
