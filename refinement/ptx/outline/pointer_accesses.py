"""Accesses through pointers, and which parameters are pointers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ....spec.ptx.operands import Address, Integer
from ...machine.kernel_outline import MemoryAccess
from ..text.module import Function, InstructionStatement, type_bytes
from ..text.operands import register_names
from .descents import BEHIND, READING, READING_AND_WRITING, WRITING, Descent, either, read
from .element_types import UNTYPED
from .parameter_fields import POINTER, Fields


def pointers(function: Function, fields: Fields, found: Mapping[str, Descent]) -> set[str]:
    """Return the parameters that addresses of memory are reckoned from.

    Of several that are added up, those are pointers that say so (``.ptr``), or that ``cvta`` converts. Where
    addresses lie in memory, what a parameter points to is among them, called ``*name``.
    """
    wide = {
        parameter.name
        for parameter in function.parameters
        if parameter.size == POINTER and not parameter.dimensions
    }
    wide |= {str(field) for field in fields if field.size == POINTER}
    said = {parameter.name for parameter in function.parameters if parameter.pointer_space is not None}
    converted = set[str]()
    sums = set[frozenset[str]]()
    for instruction in function.body:
        if instruction.opcode == "cvta":
            bases = either(read(instruction), found).addresses
            if len(bases) == 1:
                converted |= bases
        for _, address in accesses(instruction, {}):
            sums |= either([address.base], found).sums
    result = said | (converted & wide)
    result |= {name for each in sums if len(each & wide) == 1 and not each & result for name in each & wide}
    for each in sorted(sums, key=sorted):
        if not each & result:
            result |= each & wide or {name for name in each if name.startswith(BEHIND)}
    return result


def accesses(
    instruction: InstructionStatement, types: Mapping[str, str]
) -> Iterator[tuple[MemoryAccess, Address]]:
    """Yield each access of an instruction to memory that a pointer can lead to, with its address.

    Parameters
    ----------
    instruction : InstructionStatement
        One of the kernel's.
    types : mapping of str to str
        How registers are interpreted. That an access itself says an unsigned integer means nothing: compilers
        do of all that they move.
    """
    opcode = instruction.opcode
    if instruction.has("param") or instruction.one_of(("local", "const")):
        return
    shared = instruction.one_of(("shared", "shared::cta", "shared::cluster"))
    addresses = [operand for operand in instruction.operands if isinstance(operand, Address)]
    if opcode == "cp" and instruction.has("async") and len(addresses) == 2:
        size = next((operand.value for operand in instruction.operands if isinstance(operand, Integer)), 0)
        yield (
            MemoryAccess(instruction.line, instruction.mnemonic, size, None, reads=True, writes=False),
            addresses[1],
        )
        return
    if shared or not addresses:
        return
    if opcode == "wmma" and instruction.one_of(("load", "store")):
        loads = instruction.has("load")
        kind = instruction.types[-1] if instruction.types else None
        yield (
            MemoryAccess(instruction.line, instruction.mnemonic, 0, kind, reads=loads, writes=not loads),
            addresses[0],
        )
        return
    if opcode not in READING | WRITING | READING_AND_WRITING or not instruction.types:
        return
    lanes = instruction.one_of(("v2", "v4", "v8"))
    kind = instruction.types[-1]
    size = type_bytes(kind) * (1 if lanes is None else int(lanes[1:]))
    moved = [
        name
        for operand in instruction.operands
        if operand is not addresses[0]
        for name in register_names([operand])
    ]
    used = {types[name] for name in moved if name in types}
    if opcode not in READING_AND_WRITING and kind[0] in (UNTYPED, "u"):
        kind = used.pop() if len(used) == 1 else ""
    elif kind.startswith(UNTYPED):
        kind = f"u{kind[1:]}"
    yield (
        MemoryAccess(
            instruction.line,
            instruction.mnemonic,
            size,
            kind or None,
            reads=opcode not in WRITING,
            writes=opcode not in READING,
        ),
        addresses[0],
    )
