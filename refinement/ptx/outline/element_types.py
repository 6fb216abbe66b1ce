"""Element types of registers, inferred from the instructions that interpret them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ....spec.ptx.opcode_table import SPECIFIED
from ....spec.ptx.operands import Integer
from ..text.module import InstructionStatement
from ..text.operands import register_names
from .descents import READING, WRITING, read, written
from .parameter_fields import Fields

UNTYPED = "b"
"""Types that say nothing but a width."""

_MOVING = frozenset({"mov", "selp", "prmt", "shfl", "cvta"})
"""Opcodes whose types say nothing of what they move."""

_COMPARING = frozenset({"setp", "set"})
"""Opcodes that compare bits as numbers: no compiler compares floats so."""


def types_of_values(body: Sequence[InstructionStatement]) -> Mapping[str, str]:
    """Return how registers are interpreted where some instruction does, also through moves."""
    found: dict[str, str] = {}
    moves: list[tuple[list[str], list[str]]] = []
    constants = {name for instruction in body if _is_constant(instruction) for name in written(instruction)}
    for instruction in body:
        targets, sources = written(instruction), [*register_names(read(instruction))]
        if instruction.opcode == "prmt" and (len(sources) == 1 or constants & set(sources)):
            continue  # bytes are put beside given ones, as numbers are into the bits of floats
        if instruction.opcode in _MOVING:
            moves.append((targets, [source for source in sources if source not in constants]))
            continue
        for registers, kind in _typed(instruction, targets, sources):
            if not kind.startswith(UNTYPED):
                for register in registers:
                    found.setdefault(register, kind)
    _pass_on(found, moves)
    for instruction in body:
        if kind := _type_of_constants(instruction):
            for register in written(instruction):
                found.setdefault(register, kind)
    _pass_on(found, moves)
    return found


def _pass_on(found: dict[str, str], moves: Sequence[tuple[list[str], list[str]]]) -> None:
    """Give registers the types of those that they are moved to and from."""
    changed = True
    while changed:
        changed = False
        for targets, sources in moves:
            known = next((found[target] for target in (*targets, *sources) if target in found), None)
            for register in (*targets, *sources) if known is not None else ():
                if register not in found:
                    found[register] = str(known)
                    changed = True


def _type_of_constants(instruction: InstructionStatement) -> str:
    """Return the type of integers that a move chooses; empty where they may be bits of floats.

    Small ones are indices and counts: as floats they were subnormal, or with a sign NaNs.
    """
    if instruction.opcode not in ("mov", "selp") or not instruction.types:
        return ""
    values = [each.value for each in read(instruction) if isinstance(each, Integer)]
    bits = instruction.types[-1][1:]
    small = any(values) and all(-_LARGE < value < _LARGE for value in values)
    return f"s{bits}" if small and bits in ("32", "64") else ""


def types_of_parameters(
    body: Iterable[InstructionStatement], fields: Fields, types: Mapping[str, str]
) -> Mapping[str, str]:
    """Return the types of parameters that registers hold as they are."""
    return {
        name: types[register]
        for instruction in body
        if instruction.opcode == "ld" and instruction.has("param")
        for name, register in zip(fields.loaded(instruction), written(instruction), strict=False)
        if register in types
    }


def _is_constant(instruction: InstructionStatement) -> bool:
    return instruction.opcode == "mov" and all(isinstance(each, Integer) for each in read(instruction))


_LARGE = 1 << 16

_METADATA = 4
"""The operand of a sparse product that says where its elements are."""

_SCALES = (4, 6)
"""Operands of a block-scaled product that hold scale factors."""


def _typed(
    instruction: InstructionStatement, targets: list[str], sources: list[str]
) -> Iterator[tuple[list[str], str]]:
    """Yield registers with the type that an instruction gives them."""
    types = instruction.types
    if instruction.opcode == "mma" and len(types) >= 4:
        operands = instruction.operands
        for operand, kind in zip(operands[:4], types[:4], strict=False):
            yield [*register_names([operand])], kind
        if instruction.has("block_scale") and len(types) > 4:
            yield [*register_names(operands[scale] for scale in _SCALES if scale < len(operands))], types[4]
        elif len(operands) > _METADATA:
            yield [*register_names([operands[_METADATA]])], "u32"
    elif instruction.opcode == "dp4a" and len(types) == 2:
        for operand, kind in zip(instruction.operands[1:3], types, strict=False):
            yield [*register_names([operand])], f"{kind[0]}8"
    elif instruction.opcode == "cvt" and len(types) == 2:
        yield targets, types[0]
        yield sources, types[1]
    elif instruction.opcode in _COMPARING and types and types[-1].startswith(UNTYPED):
        yield sources, f"s{types[-1][1:]}"
    elif types and instruction.opcode not in (*READING, *WRITING, "cp", *SPECIFIED):
        yield targets, types[0]
        yield sources, types[-1]
