"""Legality of an asynchronous instruction of a module: its form, its operands, and what its target has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ....spec.errors import InputError
from ....spec.legality import Rule, Violation
from ....spec.ptx.asynchronous.catalogue import is_judged
from ....spec.ptx.asynchronous.legality import SPELLING, Asynchronous, violations
from ....spec.ptx.asynchronous.operands import Elected, Given, NegatedPlace, Offset, TensorPlace
from ....spec.ptx.legality import Module as JudgedModule
from ....spec.ptx.operands import Negated, Vector
from ....spec.ptx.targets import NEWEST, TARGETS, target_named
from ....spec.ptx.tensor_memory.instruction import TensorMemoryInstruction
from ....spec.ptx.tensor_memory.rows import CTAS
from .module import Function, InstructionStatement, Module
from .operands import Arguments, Displaced, Operand, Pair, TensorAddress
from .variables import as_declared

TENSOR_MEMORY = "tcgen05"

GROUPS = tuple(CTAS.split("|"))
"""How many CTAs work together, as modifiers."""

_ANY = JudgedModule(TARGETS["sm_100a"], NEWEST)
"""A module for rules that ask for none."""

_ONE_GROUP = Rule[InstructionStatement, Module](
    "cta-group",
    "all tcgen05 instructions of a function have the same cta_group",
    "PTX ISA 9.7.16; ptxas",
    lambda *_: (),
)


def illegal(module: Module, instruction: InstructionStatement, spaces: Mapping[str, str]) -> list[Violation]:
    """Return the rules that an asynchronous instruction violates in its module.

    Parameters
    ----------
    module : Module
        Its target and version are judged for.
    instruction : InstructionStatement
        The instruction.
    spaces : mapping of str to str
        State spaces of variables.

    Raises
    ------
    InputError
        If an operand is none of an instruction, or the module's target is not known.
    """
    operands = tuple(_given(as_declared(operand, spaces)) for operand in instruction.operands)
    written = Asynchronous(instruction.mnemonic, operands, instruction.predicate)
    wrong = violations(written, JudgedModule(target_named(module.target), module.version))
    if not wrong and instruction.opcode == TENSOR_MEMORY:
        return list(TensorMemoryInstruction(written).wrong_descriptors(module.target))
    return wrong


def misspelt(instruction: InstructionStatement) -> Iterator[Violation]:
    """Yield the rules by which PTX has no asynchronous instruction with these modifiers, on any target."""
    if is_judged(instruction.mnemonic):
        written = Asynchronous(instruction.mnemonic)
        for rule in SPELLING:
            yield from (Violation(rule, message) for message in rule.check(written, _ANY))


def mixed_groups(function: Function) -> Iterator[tuple[int, Violation]]:
    """Yield instructions of tensor memory, by index, with another ``cta_group`` than the first one has."""
    first: InstructionStatement | None = None
    for index, instruction in enumerate(function.body):
        own = [name for name in GROUPS if instruction.has(name)]
        if instruction.opcode != TENSOR_MEMORY or not own:
            continue
        first = first or instruction
        if not first.has(own[0]):
            other = f"{first.mnemonic} in line {first.line}"
            yield index, Violation(_ONE_GROUP, f".{own[0]} beside {other}: a function has one cta_group")


def _given(operand: Operand) -> Given:
    """Return an operand as the specification has it."""
    match operand:
        case Negated(register):
            return NegatedPlace(register)
        case Pair(first, second):
            return Elected(first, second)
        case Displaced(base, offset):
            return Offset(base, offset)
        case TensorAddress(base, (Vector() as coordinates,)):
            return TensorPlace(base, coordinates)
        case Arguments() | TensorAddress():
            raise InputError(f"{operand} is not an operand of an instruction")
    return operand
