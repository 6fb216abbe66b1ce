"""What registers hold along a way through a kernel's text, as far as the text tells.

A value is a number, what a register held where the way begins, or what an instruction makes of such: equal
values are the same at run time. Numbers are only computed where an answer of yes or no is passed on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

from ....spec.ptx.open_results import SPECIAL_REGISTERS as OPEN_REGISTERS
from ....spec.ptx.operands import Address, Integer, Negated, Register
from ..instruction_set import POINTWISE
from ..scalar.specified import CARRY, TAKE_CARRY
from ..text.module import Function, InstructionStatement
from ..text.operands import Operand, SpecialRegister, Symbol, register_names
from .branch_regions import results

_SMALL = 1 << 15
"""Numbers below this are the same in every integer type."""

Value = object
"""A number, what a register held at first, or what an instruction makes of such."""


@dataclass
class RegisterState:
    """What registers hold, of those that were written since.

    Attributes
    ----------
    values : dict of str to value
        By their names.
    decided : dict of value to int
        What guards that are not known are taken for on this way: other branches on the same go along.
    """

    values: dict[str, Value] = field(default_factory=dict)
    decided: dict[Value, int] = field(default_factory=dict)

    def copy(self) -> RegisterState:
        """Return a state of its own."""
        return RegisterState(dict(self.values), dict(self.decided))

    def holding(self, name: str, value: Value) -> RegisterState:
        """Return the state in which a register holds a value."""
        other = self.copy()
        other.values[name] = value
        return other

    def deciding(self, value: Value, holds: int) -> RegisterState:
        """Return the state of a way on which a guard has a value."""
        other = self.copy()
        other.decided[value] = holds
        return other


class FollowedRegisters:
    """The registers of a kernel.

    Parameters
    ----------
    function : Function
        The kernel.
    """

    def __init__(self, function: Function) -> None:
        self._fresh = count()
        self._constants = dict[str, Value]()
        self._find_constants(function)

    def unknown(self) -> Value:
        """Return a value that is like no other."""
        return ("unknown", next(self._fresh))

    def held(self, state: RegisterState, name: str) -> Value:
        """Return what a register holds."""
        if name in state.values:
            return state.values[name]
        return self._constants.get(name, ("register", name))

    def value(self, operand: Operand, state: RegisterState) -> Value:
        """Return the value of an operand."""
        match operand:
            case SpecialRegister(name=name):
                return self.unknown() if name in OPEN_REGISTERS else ("special", name)
            case Symbol(name=name):
                return ("symbol", name)
            case Register(name=name):
                return self.held(state, name)
            case Integer(value=value):
                return value
            case Negated(register=register):
                positive = self.held(state, register.name)
                return 1 - positive if isinstance(positive, int) else ("not", positive)
        names = tuple(self.held(state, name) for name in register_names([operand]))
        base = operand.base if isinstance(operand, Address) else None
        if isinstance(base, Symbol):
            return ("in memory", str(operand))
        return (str(operand), *names)

    def compute(self, instruction: InstructionStatement, state: RegisterState, *, certain: bool) -> None:
        """Write what an instruction makes of registers; nobody knows what where it may not run."""
        sources = self._sources(instruction, state)
        for place, name in enumerate(written_registers(instruction)):
            made = _passed_on(instruction, sources) if not place else None
            if made is None:
                made = (instruction.mnemonic, place, *sources)
            state.values[name] = made if certain else self.unknown()

    def _sources(self, instruction: InstructionStatement, state: RegisterState) -> list[Value]:
        sources = [self.value(operand, state) for operand in instruction.operands[1:]]
        return sources + ([self.held(state, CARRY.name)] if instruction.opcode in TAKE_CARRY else [])

    def _find_constants(self, function: Function) -> None:
        """Find registers that hold one value wherever they hold any."""
        definitions = dict[str, list[InstructionStatement]]()
        for each in function.body:
            for name in written_registers(each):
                definitions.setdefault(name, []).append(each)
        single = {
            name: writers[0]
            for name, writers in definitions.items()
            if len(writers) == 1
            and writers[0].predicate is None
            and (writers[0].opcode in POINTWISE or _is_parameter(writers[0]))
            and isinstance(writers[0].operands[0], Register)
            and name != CARRY.name
        }
        changed = True
        while changed:
            changed = False
            for name, instruction in single.items():
                if name in self._constants:
                    continue
                sources = self._sources(instruction, RegisterState(dict(self._constants)))
                if not any(_varies(source) for source in sources):
                    made = _passed_on(instruction, sources)
                    self._constants[name] = (instruction.mnemonic, 0, *sources) if made is None else made
                    changed = True


def written_registers(instruction: InstructionStatement) -> list[str]:
    """Return the registers that an instruction writes: its first operand's, if that is no address."""
    first = instruction.operands[:1]
    written = [] if first and isinstance(first[0], Address) else list(register_names(first))
    return [*written, CARRY.name] if instruction.has("cc") else written


def read_registers(instruction: InstructionStatement) -> set[str]:
    """Return the registers whose values an instruction may depend on.

    One that may not run leaves what it would have written as it was, and what comes first is not always a
    result: the number of a barrier, an accumulator.
    """
    guard, operands = instruction.predicate, instruction.operands
    overwrites = guard is None and results(instruction)
    read = set(register_names(operands[1:] if overwrites else operands))
    read |= set() if guard is None else {guard.name}
    return read | ({CARRY.name} if instruction.opcode in TAKE_CARRY else set())


def _varies(value: Value) -> bool:
    """Tell whether a value is not the same at all times."""
    if not isinstance(value, tuple):
        return False
    return value[:1] in (("register",), ("unknown",)) or any(_varies(each) for each in value[1:])


def _is_parameter(instruction: InstructionStatement) -> bool:
    """Tell whether an instruction loads a parameter of the kernel."""
    return instruction.opcode == "ld" and instruction.one_of(("param", "param::entry")) is not None


def _passed_on(instruction: InstructionStatement, sources: list[Value]) -> Value | None:
    """Return what an instruction gives that passes an answer on, None if it does not say."""
    opcode = instruction.opcode
    if not isinstance(instruction.operands[0], Register):
        return None
    if opcode == "mov" and len(sources) == 1:
        return sources[0]
    if opcode == "selp" and len(sources) == 3 and isinstance(sources[2], int):
        return sources[0] if sources[2] else sources[1]
    integers = [source for source in sources if isinstance(source, int)]
    if len(integers) < len(sources) or not all(0 <= integer < _SMALL for integer in integers):
        return None
    if not all(
        type_ == "pred" or (type_[0] in "bsu" and type_[1:].isdecimal()) for type_ in instruction.types
    ):
        return None  # the bits of a floating-point number are another number
    if opcode == "setp" and len(sources) == 2 and instruction.one_of(("eq", "ne")) is not None:
        return int((integers[0] == integers[1]) == instruction.has("eq"))
    if opcode == "cvt" and integers[0] in (0, 1):
        return integers[0]
    if len(sources) == 2 and opcode in ("and", "or", "xor"):
        one, other = integers
        return {"and": one & other, "or": one | other, "xor": one ^ other}[opcode]
    return 1 - integers[0] if opcode == "not" and instruction.has("pred") else None
