"""Addresses used as numbers: instructions that leave the array or variable of an address.

What they read in place of it is a word of which only the alignment is known (`Places.words`). The address
itself stays a number where that is no matter: sums and differences with what is no address, differences and
comparisons within one array, comparisons with null, and bits below the alignment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ....spec.ptx.asynchronous.clusters import MOST_BLOCKS, PLACE_BITS
from ....spec.ptx.operands import Address, Integer, Register, Vector
from ...machine.memory import ABSENT
from ...machine.placements import Owners, Places
from ...terms.evaluation import Words, ones
from ..memory.addressing import in_window
from ..registers.threads import Indices
from ..registers.values import KNOWN, Value
from ..state.execution import Execution, Step
from ..state.state_space import RANK_BITS
from ..text.module import TYPE_BITS, Function, InstructionStatement, Module
from ..text.operands import Displaced, Operand, Pair, SpecialRegister, Symbol
from ..text.product_registers import makes_descriptors
from ..text.variables import used_variables

_WIDE = frozenset({"b64", "u64", "s64"})

_MOVES = frozenset({"mov", "cvta", "selp", "slct", "shfl"})
_CARRIES = _MOVES | {"mapa", "add", "sub", "mad", "cvt", "and", "or", "xor", "min", "max"}
"""Instructions whose results may be addresses where operands are."""

_ADDRESSES_ALONE = frozenset(
    {
        "ld",
        "ldu",
        "prefetch",
        "prefetchu",
        "cvta",
        "mapa",
        "getctarank",
        "isspacep",
        "selp",
        "slct",
        "shfl",
        "cp",
        "mbarrier",
    }
    | {"wgmma", "tcgen05"}
)
"""Instructions that need not be looked at: they move addresses, or use them as such."""

_COMPARING = frozenset({"setp", "set", "min", "max", "sub"})
_BITWISE = frozenset({"and", "or", "xor"})

_NAMED = ("global", "shared", "shared::cta", "shared::cluster", "local", "param")

RANKS = (
    f"an address of shared memory has the rank of its block above the lowest {PLACE_BITS} bits, as in what "
    "ptxas 13.0 makes of mapa"
)
"""What a verdict rests on where a kernel clears bits of the rank."""

_NARROW = np.uint64(1 << 32)
"""Addresses below are those of one state space; stored, they are no longer told from other numbers."""

Spaces = Mapping[str, str]
"""Of registers that may hold addresses in shared or local memory, in which; ``any`` if in both."""


def narrow_addresses(module: Module, function: Function) -> Spaces:
    """Return the registers that may hold addresses of shared or local variables.

    Unlike those of arrays these are small numbers, which look like any other.
    """
    spaces = {used_variable.name: used_variable.space for used_variable in used_variables(module, function)}
    held: dict[str, str] = {name: space for name, space in spaces.items() if space in ("shared", "local")}
    carrying = [each for each in function.body if each.opcode in _CARRIES] if held else []
    changed = bool(held)
    while changed:
        changed = False
        for each in carrying:
            among = {held[one.name] for one in _sources(each) if one.name in held}
            for name in _results(each) if among else ():
                known = among | ({held[name]} if name in held else set())
                space = "any" if len(known) > 1 else next(iter(known))
                changed |= held.get(name) != space
                held[name] = space
    return MappingProxyType(held)


def watched(
    instruction: InstructionStatement,
    step: Step,
    function: Function,
    held: Spaces,
    descriptors: frozenset[str] = frozenset(),
) -> Step:
    """Return a step that takes what an instruction reads of addresses for open.

    What only makes `descriptors` may read them: these are looked at where they are used.
    """
    opcode = instruction.opcode
    if makes_descriptors(instruction, descriptors):
        return step
    step = _with_whole_addresses(instruction, step, function)
    if opcode == "ld" and instruction.has("param") and TYPE_BITS.get(instruction.types[-1], 64) < 64:
        return _whole_parameters(instruction, step)
    if opcode in _ADDRESSES_ALONE or (opcode == "mov" and not _is_vector(instruction)):
        return step
    if opcode == "tensormap" and instruction.has("global_address"):
        return step
    floats = instruction.types and not any(type_[0] in "bus" for type_ in instruction.types)
    operands = list(_sources(instruction))
    watched_ones = [
        operand
        for operand in operands
        if operand.name in held or (not floats and function.registers.get(operand.name) in _WIDE)
    ]
    if opcode == "mad":
        watched_ones = [
            watched_one for watched_one in watched_ones if watched_one in instruction.operands[1:3]
        ]
    if opcode == "add" and len(operands) < 2:
        return step
    if opcode == "cvt" and not _loses(instruction, held):
        return step
    names = list(
        dict.fromkeys(watched_one.name for watched_one in watched_ones if not isinstance(watched_one, Symbol))
    )
    if not names:
        return step
    results = frozenset(_results(instruction))

    def run(execution: Execution, active: Indices) -> None:
        looking = _Looking(execution, instruction, active, held)
        blurred = {name: value for name in names if (value := looking.blurred(name)) is not None}
        kept = {name: execution.registers[name] for name in blurred if name not in results}
        execution.registers |= blurred
        step(execution, active)
        execution.registers |= kept

    return run


def _with_whole_addresses(instruction: InstructionStatement, step: Step, function: Function) -> Step:
    """Return a step that joins the halves of an address to the address, as behind shuffles of halves."""
    joins = instruction.opcode == "or" or (instruction.opcode == "mov" and _is_vector(instruction))
    names = [name for name in _results(instruction) if function.registers.get(name) in _WIDE] if joins else []
    if not names:
        return step

    def run(execution: Execution, active: Indices) -> None:
        step(execution, active)
        for name in names:
            value = execution.registers[name].at(active)
            if value.terms is None:
                continue
            numbers, terms = value.numbers.copy(), value.terms.copy()
            for index, number, term in execution.memory.places("generic").originals(value.terms):
                numbers[index], terms[index] = number, KNOWN if term is None else term
            if (terms != value.terms).any():
                whole = execution.registers[name].updated(active, Value(value.width, numbers, terms))
                execution.registers[name] = whole

    return run


def _whole_parameters(instruction: InstructionStatement, step: Step) -> Step:
    """Return a load of parameters that refuses parts of addresses."""

    def run(execution: Execution, active: Indices) -> None:
        step(execution, active)
        memory, place = execution.memory, instruction.operands[1]
        if isinstance(place, Address) and isinstance(place.base, Symbol):
            at = np.array([memory.address_of(place.base.name) + place.offset], dtype=np.uint64)
            inside, lanes = memory.parameters.locate(at, 1, active[:1])
            words = memory.parameters.lanes.terms[lanes[inside]]
            if len(words) and words[0] != ABSENT and memory.places("generic").among(words)[0]:
                execution.unsupported(f"{instruction.mnemonic} of a part of an address")

    return run


@dataclass(frozen=True)
class _Looking:
    """An instruction in threads that run it."""

    execution: Execution
    instruction: InstructionStatement
    active: Indices
    held: Spaces

    def blurred(self, name: str) -> Value | None:
        """Return a register with words in place of addresses, if the instruction looks at these."""
        execution, active = self.execution, self.active
        whole = execution.registers.get(name)
        if whole is None:
            return None
        value, places = whole.at(active), execution.memory.places(self.held.get(name, "generic"))
        owners, chosen = places.owners(value.numbers), np.zeros(len(active), dtype=bool)
        if value.terms is not None:
            owners[value.terms != KNOWN] = -1
            if name not in self.held:
                chosen = value.terms != KNOWN
                chosen[chosen] = places.among(value.terms[chosen])
                if chosen.any():
                    chosen &= ~self._is_displaced(name, places)
        looked = owners >= 0
        if looked.any():
            looked &= ~self._no_matter(name, value.numbers, owners, places)
        if not looked.any() and not chosen.any():
            return None
        made = np.full(len(active), KNOWN) if value.terms is None else value.terms.copy()
        made[looked] = places.words(value.numbers[looked], owners[looked], value.width)
        made[chosen] = places.words_of_terms(made[chosen], value.width)
        return whole.updated(active, Value(value.width, value.numbers, made))

    # -- details
    def _is_displaced(self, name: str, places: Places) -> NDArray[np.bool_]:
        """Tell where a number that is no address is added to a register or subtracted from it."""
        instruction, count = self.instruction, len(self.active)
        one, other = (*instruction.operands, None, None)[1:3]
        if instruction.opcode == "add" and isinstance(other, Register) and other.name == name:
            one, other = other, one
        is_sum = instruction.opcode in ("add", "sub") and isinstance(one, Register) and one.name == name
        if not is_sum or not isinstance(other, Integer | Register):
            return np.zeros(count, dtype=bool)
        value = self.execution.read(other, self._width(), self.active)
        found = places.owners(value.numbers) < 0
        if value.terms is not None:
            by_data = value.terms != KNOWN
            found[by_data] = ~places.among(value.terms[by_data])
        return np.asarray(found)

    def _no_matter(self, name: str, numbers: Words, owners: Owners, places: Places) -> NDArray[np.bool_]:
        """Tell for which addresses the result is the same wherever their places lie."""
        instruction = self.instruction
        nowhere = np.zeros(len(numbers), dtype=bool)
        if instruction.opcode == "st":
            whole = self._width() >= TYPE_BITS["b64"]  # of halves it must be known where they come together
            return (numbers >= _NARROW) & self._stored_for_itself() & whole
        if instruction.opcode == "match":
            return np.full(len(owners), bool((owners == owners[0]).all()))
        if instruction.opcode == "add" or instruction.opcode in _COMPARING | _BITWISE:
            index = next(
                (
                    at
                    for at, each in enumerate(instruction.operands[1:3])
                    if isinstance(each, Register) and each.name == name
                ),
                None,
            )
            if index is None:  # part of a vector, which the instruction does not take
                return nowhere
            other = self._other(instruction.operands[2 - index], places)
            if other is None:
                is_sum = instruction.opcode == "add" or (instruction.opcode == "sub" and index == 0)
                return ~nowhere if is_sum else nowhere
            return self._beside(index, numbers, owners, *other, places)
        return nowhere

    def _beside(
        self,
        index: int,
        numbers: Words,
        owners: Owners,
        others: Words,
        other_owners: Owners,
        places: Places,
    ) -> NDArray[np.bool_]:
        """Tell the same of operations of two operands."""
        opcode, of_numbers = self.instruction.opcode, other_owners < 0
        if opcode == "add":
            return of_numbers
        if opcode == "sub":
            return np.asarray((other_owners == owners) | (of_numbers & (index == 0)))
        if opcode in _BITWISE:
            low = places.low_bits(owners)
            width = self._width()
            within = (others & ~low) == 0
            if opcode == "and":
                cleared = ~others & ones(width) & ~low
                within |= (cleared == 0) | self._are_of_ranks(numbers, cleared)
            return np.asarray(of_numbers & within)
        same = (other_owners == owners) | (of_numbers & (others == 0))
        if self.instruction.one_of(("eq", "ne")):
            same |= places.inside(numbers, owners) & places.inside(others, other_owners)
        return np.asarray(same)

    def _are_of_ranks(self, numbers: Words, cleared: Words) -> NDArray[np.bool_]:
        """Tell which bits of addresses are of the rank of a block of a cluster, and of nothing else."""
        ranks = np.uint64(MOST_BLOCKS - 1) << RANK_BITS
        found: NDArray[np.bool_] = (cleared & ~ranks) == 0
        peers = self.execution.memory.shared.peers
        if peers is None:
            return np.zeros(len(numbers), dtype=bool)
        found &= (numbers - np.uint64(peers.base)) >> RANK_BITS < MOST_BLOCKS
        if (found & (cleared != 0)).any():
            self.execution.assumptions[RANKS] = None
        return found

    def _other(self, operand: Operand, places: Places) -> tuple[Words, Owners] | None:
        """Return the other operand and which place it is in; None where data are in it."""
        count = len(self.active)
        match operand:
            case Integer():
                return np.full(count, operand.value & int(ones(64)), dtype=np.uint64), np.full(count, -1)
            case SpecialRegister() | Register() | Displaced():
                width = self._width()
                if isinstance(operand, Register) and not isinstance(operand, SpecialRegister | Symbol):
                    width = self.execution.register_width(operand)
                value = self.execution.read(operand, width, self.active)
                if value.terms is not None and (value.terms != KNOWN).any():
                    return None
                return value.numbers, places.owners(value.numbers)
        return None

    def _width(self) -> int:
        return max((TYPE_BITS.get(type_, 64) for type_ in self.instruction.types), default=64)

    def _stored_for_itself(self) -> NDArray[np.bool_]:
        """Tell which words are stored to shared or local memory, where only the kernel sees them."""
        named = self.instruction.one_of(_NAMED)
        if named is not None:
            return np.full(len(self.active), named != "global")
        place = next(operand for operand in self.instruction.operands if isinstance(operand, Address))
        if not isinstance(place.base, Register):
            return np.zeros(len(self.active), dtype=bool)
        at = self.execution.registers[place.base.name].at(self.active).numbers
        return in_window(at, "local") | in_window(at, "shared")


def _sources(instruction: InstructionStatement) -> Iterator[Register]:
    """Yield the registers and variables whose values an instruction reads, but for addresses of memory."""
    writes_memory = instruction.opcode in ("st", "red")
    for operand in instruction.operands if writes_memory else instruction.operands[1:]:
        yield from _registers(operand)


def _results(instruction: InstructionStatement) -> Iterator[str]:
    if instruction.opcode not in ("st", "red") and instruction.operands:
        for register in _registers(instruction.operands[0]):
            yield register.name


def _registers(operand: object) -> Iterator[Register]:
    match operand:
        case Register():
            yield operand
        case Displaced(base, _):
            yield base
        case Pair(first, second):
            yield from (*_registers(first), *_registers(second))
        case Vector(elements):
            for element in elements:
                yield from _registers(element)
        case _:
            pass


def _is_vector(instruction: InstructionStatement) -> bool:
    return any(isinstance(operand, Vector) for operand in instruction.operands)


def _loses(instruction: InstructionStatement, held: Spaces) -> bool:
    """Tell whether a conversion gives something else than the address."""
    to, of = instruction.types[0], instruction.types[-1]
    small = any(source.name in held for source in _sources(instruction))
    return to[0] not in "bus" or TYPE_BITS[to] < (32 if small else TYPE_BITS[of])
