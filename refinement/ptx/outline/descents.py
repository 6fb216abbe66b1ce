"""Def-use chains from parameters to registers, found without running the kernel.

A register descends from parameters: as an *address* where only sums and differences lie between (so a
pointer comes to a load), as a *factor* or *term* of an index otherwise. What is loaded by an address
descends from what lies there, which is called ``*name``. The order of instructions is of no concern, so that
what is said is what may be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ....spec.ptx.operands import Address
from ..text.module import InstructionStatement
from ..text.operands import Operand, register_names
from .parameter_fields import Fields

_ADDING = frozenset({"add", "sub", "or"})
"""Opcodes that add to an address."""

_PASSING = frozenset({"mov", "cvta", "cvt", "selp", "min", "max", "prmt"})
"""Opcodes that pass an address on, or one of several."""

READING = frozenset({"ld", "ldu", "ldmatrix", "prefetch"})
WRITING = frozenset({"st", "stmatrix"})
READING_AND_WRITING = frozenset({"atom", "red"})

BEHIND = "*"
"""Stands before the name of a parameter for what lies in the memory that it points to."""

_DEEPEST = 2
"""Loads of addresses, or of indices, by what was loaded."""


_MOST_SUMS = 16
"""Sums of a register that are told apart."""

Sums = frozenset[frozenset[str]]
"""What an address may be: for each of its ways, the parameters that are added up."""


@dataclass(frozen=True)
class Descent:
    """A def-use chain from parameters to a register.

    Attributes
    ----------
    sums : frozenset of frozenset of str
        Of its ways to come to be an address, the names that are added up.
    numbers : frozenset of str
        Names of those that it depends on otherwise.
    many : bool
        Whether there are too many sums to tell them apart, so that all are one.
    """

    sums: Sums = frozenset()
    numbers: frozenset[str] = frozenset()
    many: bool = False

    @property
    def addresses(self) -> frozenset[str]:
        """The names in all sums."""
        return frozenset().union(*self.sums)

    @property
    def all(self) -> frozenset[str]:
        """Every name."""
        return self.addresses | self.numbers

    def __or__(self, other: Descent) -> Descent:
        """Either."""
        return self._with(other, self.sums | other.sums)

    def __add__(self, other: Descent) -> Descent:
        """Both, added up."""
        both = (one | another for one in self.sums for another in other.sums)
        sums = frozenset(both) if self.sums and other.sums else self.sums | other.sums
        return self._with(other, sums)

    def _with(self, other: Descent, sums: Sums) -> Descent:
        many = self.many or other.many or len(sums) > _MOST_SUMS
        if many and sums:
            sums = frozenset([frozenset().union(*sums)])
        return Descent(sums, self.numbers | other.numbers, many)

    @property
    def as_number(self) -> Descent:
        """What is neither a sum nor a copy of it."""
        return Descent(frozenset(), self.all)


NOTHING = Descent()


def descents(body: Iterable[InstructionStatement], fields: Fields) -> Mapping[str, Descent]:
    """Return from what every register descends: the least solution, the instructions in any order."""
    found: dict[str, Descent] = {}
    instructions = [(instruction, written(instruction), read(instruction)) for instruction in body]
    changed = True
    while changed:
        changed = False
        for instruction, targets, sources in instructions:
            brought = _brought(instruction, sources, fields, found)
            for register in targets:
                known = found.get(register, NOTHING)
                descent = known | brought
                if descent != known:
                    found[register], changed = descent, True
    return found


def _brought(
    instruction: InstructionStatement,
    sources: list[Operand],
    fields: Fields,
    found: Mapping[str, Descent],
) -> Descent:
    """Return from what an instruction's results descend."""
    if instruction.has("param") and instruction.opcode == "ld":
        return Descent(frozenset(frozenset([name]) for name in fields.loaded(instruction)))
    if instruction.opcode in ("ld", "ldu"):
        bases = either([source.base for source in sources if isinstance(source, Address)], found).addresses
        held = (BEHIND + name for name in bases if name.count(BEHIND) < _DEEPEST)
        return Descent(frozenset(frozenset([name]) for name in held))
    if instruction.opcode in READING | READING_AND_WRITING | {"mma", "wmma"}:
        return NOTHING
    if instruction.opcode in ("mad", "mad24", "fma") and len(sources) == 3:
        return either(sources[:2], found).as_number + either(sources[2:], found)
    if instruction.opcode in _ADDING:
        total = NOTHING
        for source in sources:
            total += either([source], found)
        return total
    brought = either(sources, found)
    return brought if instruction.opcode in _PASSING else brought.as_number


def either(operands: Iterable[object], found: Mapping[str, Descent]) -> Descent:
    """Return from what any of some operands descends."""
    brought = NOTHING
    for name in register_names(operands):
        brought |= found.get(name, NOTHING)
    return brought


def written(instruction: InstructionStatement) -> list[str]:
    """Return the registers that an instruction writes."""
    if instruction.opcode in ("st", "red", "bar", "barrier", "bra", "cp", "ret", "prefetch", "stmatrix"):
        return []
    return [*register_names(instruction.operands[:1])]


def read(instruction: InstructionStatement) -> list[Operand]:
    """Return the operands that an instruction reads."""
    return list(instruction.operands[bool(written(instruction)) :])
