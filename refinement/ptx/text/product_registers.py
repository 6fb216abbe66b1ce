"""Registers of a kernel that asynchronous products use: fragments, and those that only make descriptors.

What the latter hold may depend on where shared memory lies: it says where operands are, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....spec.ptx.operands import Address, Vector
from .module import Function, InstructionStatement
from .operands import Operand, register_names

MAKING = frozenset(
    {"mov", "cvt", "add", "sub", "mul", "mad", "shl", "shr", "and", "or", "xor", "not", "lop3", "bfe", "bfi"}
    | {"prmt", "shf", "selp", "shfl"}
)
"""Opcodes by which addresses become descriptors."""

_WITHOUT_RESULT = frozenset({"st", "red", "bar", "barrier", "brx", "call", "nanosleep"})
"""Opcodes whose first operand is read."""

MULTIPLYING = "wgmma"

TENSOR_MEMORY = "tcgen05"

_DESCRIPTORS = (1, 2)
"""Places of A and B among the operands of a product, and of what is copied to tensor memory.

What is no vector and no address there is a descriptor.
"""


def multiplies(function: Function) -> bool:
    """Tell whether a kernel has instructions that descriptors tell where shared memory is."""
    return any(_takes_descriptors(each) for each in function.body)


def _takes_descriptors(instruction: InstructionStatement) -> bool:
    if instruction.opcode == TENSOR_MEMORY:
        return bool(instruction.one_of(("mma", "cp")))
    return instruction.opcode == MULTIPLYING


def product_registers(function: Function) -> frozenset[str]:
    """Return the registers that products of warpgroups of a kernel use as D or A."""
    vectors = (
        operand
        for each in function.body
        if each.opcode == MULTIPLYING
        for operand in each.operands
        if isinstance(operand, Vector)
    )
    return frozenset(register_names(vectors))


def descriptor_registers(function: Function) -> frozenset[str]:
    """Return the registers of which each use makes a descriptor, or names one to a product."""
    if not multiplies(function):
        return frozenset()
    found = {name for each in function.body for name in register_names(each.operands)}
    while True:
        lost = {name for each in function.body for name in _other_uses(each, found) if name in found}
        if not lost:
            return frozenset(found)
        found -= lost


def makes_descriptors(instruction: InstructionStatement, found: frozenset[str] | set[str]) -> bool:
    """Tell whether all that an instruction writes are registers that only make descriptors."""
    results = set(register_names(instruction.operands[:1]))
    return instruction.opcode in MAKING and bool(results) and results <= found


def _other_uses(instruction: InstructionStatement, found: set[str]) -> Iterator[str]:
    """Yield registers that an instruction uses otherwise than for descriptors of registers found so far."""
    if instruction.predicate is not None:
        yield instruction.predicate.name
    if _takes_descriptors(instruction):
        yield from register_names(_others(instruction))
        return
    if makes_descriptors(instruction, found):
        return
    if instruction.opcode == TENSOR_MEMORY:
        yield from register_names(instruction.operands)
        return
    yield from register_names(instruction.operands[0 if instruction.opcode in _WITHOUT_RESULT else 1 :])
    yield from register_names(operand for operand in instruction.operands[:1] if isinstance(operand, Address))


def _others(instruction: InstructionStatement) -> Iterator[Operand]:
    """Yield the operands of a product, or a copy to tensor memory, that are no descriptors."""
    for place, operand in enumerate(instruction.operands):
        if place not in _DESCRIPTORS or isinstance(operand, Vector | Address):
            yield operand
