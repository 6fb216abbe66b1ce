"""Semantics of comparisons, condition and special-purpose registers, and branches.

Source: Power ISA 3.1 Book I chapters 2 and 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ....spec.errors import UnsupportedError
from ...terms.truth_tables import A, B
from ..image.instruction_forms import Instruction
from ..machine import RETURN, Handler, Machine
from ..state.words import MASK, Data, UnknownNumberError, Word, known

_CALL_BYTES = 4
"""Of a call, which is no prefixed instruction."""

LINK, COUNT, VECTOR_SAVE = "link", "count", "vector_save"
_SPECIAL = MappingProxyType({8: LINK, 9: COUNT, 256: VECTOR_SAVE})
"""Special-purpose registers by their numbers."""


# -- comparisons and conditions
def _compare(*, sign: bool) -> Handler:
    def handler(machine: Machine, instruction: Instruction) -> None:
        field, wide, left, right = instruction.values
        register = instruction.form.operands[3].register == "r"
        other: Word = machine.registers.general[right] if register else right & MASK
        order = machine.words.compared(machine.registers.general[left], other, 64 if wide else 32, sign=sign)
        machine.set_field(field, order)

    return handler


def _isel(machine: Machine, instruction: Instruction) -> None:
    target, left, right, bit = instruction.values
    chosen = machine.words.chosen(
        machine.registers.conditions[bit], machine.base(left), machine.registers.general[right]
    )
    machine.set_general(target, chosen)


def _set_by_bit(value: int, *, reverse: bool) -> Handler:
    def handler(machine: Machine, instruction: Instruction) -> None:
        target, bit = instruction.values
        condition = machine.registers.conditions[bit]
        one, other = (0, value & MASK) if reverse else (value & MASK, 0)
        machine.set_general(target, machine.words.chosen(condition, one, other))

    return handler


def _setb(machine: Machine, instruction: Instruction) -> None:
    target, field = instruction.values
    less, greater = machine.registers.conditions[4 * field : 4 * field + 2]
    words = machine.words
    machine.set_general(target, words.chosen(less, MASK, words.chosen(greater, 1, 0)))


def _condition(table: int) -> Handler:
    def handler(machine: Machine, instruction: Instruction) -> None:
        target, left, right = instruction.values
        bits = machine.registers.conditions
        bits[target] = machine.words.combined(table & 0xFF, bits[left], bits[right], 1)

    return handler


def _mcrf(machine: Machine, instruction: Instruction) -> None:
    target, source = instruction.values
    bits = machine.registers.conditions
    bits[4 * target : 4 * target + 4] = bits[4 * source : 4 * source + 4]


def _mfcr(machine: Machine, instruction: Instruction) -> None:
    """Read CR: ``mfocrf`` reads a field of it and leaves the rest undefined, which is taken for 0."""
    target = instruction.values[0]
    fields = instruction.values[1] if len(instruction.values) > 1 else 0xFF
    bits = machine.registers.conditions
    parts: list[tuple[Word, int]] = [
        (bits[bit] if fields >> (7 - bit // 4) & 1 else Data(int(machine.store.undefined(1, 1)[0])), 1)
        for bit in reversed(range(32))
    ]
    machine.set_general(target, machine.words.joined(*parts, (0, 32)))


def _mtcrf(machine: Machine, instruction: Instruction) -> None:
    fields, source = instruction.values
    word = machine.registers.general[source]
    for bit in range(32):
        if fields >> (7 - bit // 4) & 1:
            machine.registers.conditions[bit] = machine.words.cut(word, 31 - bit, 1)


# -- special-purpose registers
def _special(machine: Machine, number: int) -> str:
    if number not in _SPECIAL:
        raise machine.unsupported(f"special-purpose register {number}")
    return _SPECIAL[number]


def _mtspr(machine: Machine, instruction: Instruction) -> None:
    number, source = instruction.values
    setattr(machine.registers, _special(machine, number), machine.registers.general[source])


def _mfspr(machine: Machine, instruction: Instruction) -> None:
    target, number = instruction.values
    machine.set_general(target, getattr(machine.registers, _special(machine, number)))


# -- branches
def _taken(machine: Machine, options: int, bit: int, *, counts: bool = True) -> Word:
    """Decide a conditional branch, as far as it is known; CTR is decremented where the options say so."""
    counted = True
    if counts and not options & 4:
        count = known("the count of a loop", machine.words.add(machine.registers.count, MASK))
        machine.registers.count = count
        counted = (count != 0) != bool(options & 2)
    if options & 16:
        return counted
    condition = machine.registers.conditions[bit]
    if not counted:
        return 0
    return condition if isinstance(condition, Data) else condition == options >> 3 & 1


def _branch_if(machine: Machine, taken: Word, options: int, target: Word, *, links: bool) -> None:
    """Branch if that is known, and if it depends on data, part."""
    following = machine.following
    if isinstance(taken, Data):
        if links:
            raise UnknownNumberError("a call", taken.term)
        address = machine.number(target, "a branch")
        machine.part(taken.term, branches_if=bool(options >> 3 & 1), target=address)
    elif taken:
        machine.branch(target, links=links)
    elif links:
        machine.registers.link = following


def _conditional(machine: Machine, instruction: Instruction) -> None:
    options, bit, distance = instruction.values
    links = instruction.mnemonic == "bcl"
    taken = _taken(machine, options, bit)
    _branch_if(machine, taken, options, machine.address + distance, links=links)


def _to_register(name: str, *, counts: bool) -> Handler:
    def handler(machine: Machine, instruction: Instruction) -> None:
        options, bit, _ = instruction.values
        target = machine.registers.link if name == LINK else machine.registers.count
        links = instruction.mnemonic.endswith("l")
        taken = _taken(machine, options, bit, counts=counts)
        if name == LINK and not links and taken:
            _check_return(machine, machine.number(target, "a branch"))
        _branch_if(machine, taken, options, target, links=links)

    return handler


def _check_return(machine: Machine, target: int) -> None:
    """Refuse returns to code that no call precedes, which would run there without end.

    In an object file, the address 0 and those that follow are code, too.
    """
    if target != RETURN and machine.behind_call((target & ~3) - _CALL_BYTES) is None:
        raise UnsupportedError(f"returns to {target:#x}, which is not behind a call")


def _nothing(machine: Machine, instruction: Instruction) -> None:
    """Do nothing: hints and barriers, of one thread."""


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "cmp": _compare(sign=True),
        "cmpi": _compare(sign=True),
        "cmpl": _compare(sign=False),
        "cmpli": _compare(sign=False),
        "isel": _isel,
        "setb": _setb,
        "setbc": _set_by_bit(1, reverse=False),
        "setbcr": _set_by_bit(1, reverse=True),
        "setnbc": _set_by_bit(-1, reverse=False),
        "setnbcr": _set_by_bit(-1, reverse=True),
        "crand": _condition(A & B),
        "crandc": _condition(A & ~B),
        "creqv": _condition(~(A ^ B)),
        "crnand": _condition(~(A & B)),
        "crnor": _condition(~(A | B)),
        "cror": _condition(A | B),
        "crorc": _condition(A | ~B),
        "crxor": _condition(A ^ B),
        "mcrf": _mcrf,
        "mfcr": _mfcr,
        "mfocrf": _mfcr,
        "mtcrf": _mtcrf,
        "mtocrf": _mtcrf,
        "mtspr": _mtspr,
        "mfspr": _mfspr,
        "b": lambda m, i: m.branch(m.address + i.values[0], links=False),
        "bl": lambda m, i: m.branch(m.address + i.values[0], links=True),
        "bc": _conditional,
        "bcl": _conditional,
        "bclr": _to_register("link", counts=True),
        "bclrl": _to_register("link", counts=True),
        "bcctr": _to_register("count", counts=False),
        "bcctrl": _to_register("count", counts=False),
        **dict.fromkeys(("dcbt", "dcbtst", "isync", "sync", "eieio"), _nothing),
    }
)
"""What carries out the instructions of this module, by mnemonic."""
