"""The instruction forms a Power MMA kernel is written in.

A form is an operation with the operands its assembly text takes. There are 58 rank-k update forms (29
word, 29 prefixed), three accumulator moves, the VSX loads and stores that feed them, and the two
fixed-point instructions of the loop in figure 7 of Moreira et al. Everything else about a form
(encoding, spelling, legality, tables) is derived from this table. Source: Power ISA 3.1 Book I.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import product
from types import MappingProxyType

from .catalogue import MOVES, UPDATES, Family, Move, RankKUpdate


class Kind(Enum):
    """What an operand is."""

    ACCUMULATOR = auto()
    VSR = auto()
    GPR = auto()
    BASE = auto()
    """A GPR of an address or sum, where 0 stands for the number zero, not for r0."""
    MASK = auto()
    IMMEDIATE = auto()
    DISPLACEMENT = auto()
    """A byte offset, written in front of its base register as ``D(RA)``."""
    TARGET = auto()
    """A branch target, as a byte offset from the branch."""


REGISTER_NAMES: Mapping[Kind, tuple[str, ...]] = MappingProxyType(
    {Kind.ACCUMULATOR: ("a", "acc", "wacc"), Kind.VSR: ("vs",), Kind.GPR: ("r",), Kind.BASE: ("r",)}
)
"""What may stand before the number of a register; the first is what is printed."""


@dataclass(frozen=True)
class Operand:
    """An operand of a form.

    Attributes
    ----------
    name : str
        The manual's name.
    kind : Kind
        What it is.
    bits : int
        Width of the operand's value.
    multiple : int
        The value is a multiple of this power of two (2: an even-odd register pair).
    signed : bool
        Whether the value is two's complement.
    written : bool
        Whether it is a VSR that the instruction writes.
    """

    name: str
    kind: Kind
    bits: int
    multiple: int = 1
    signed: bool = False
    written: bool = False

    @property
    def values(self) -> range:
        """Every value that has an encoding."""
        least = -(1 << (self.bits - 1)) if self.signed else 0
        return range(least, least + (1 << self.bits), self.multiple)

    @property
    def allowed(self) -> str:
        """The values in words."""
        step = (
            ""
            if self.multiple == 1
            else ", even"
            if self.multiple == 2
            else f", a multiple of {self.multiple}"
        )
        return f"{self.values[0]}..{self.values[-1]}{step}"


@dataclass(frozen=True)
class Transfer:
    """A VSX vector load or store.

    Attributes
    ----------
    store : bool
        Whether memory is written.
    registers : int
        VSRs moved: 1, or an even-odd pair.
    indexed : bool
        Whether the address is the sum of two registers, not of a register and a displacement.
    """

    store: bool
    registers: int
    indexed: bool

    @property
    def mnemonic(self) -> str:
        """The mnemonic."""
        return f"{'st' if self.store else 'l'}xv{'p' * (self.registers - 1)}{'x' * self.indexed}"


class FixedPoint(Enum):
    """What surrounds the vector instructions of a loop; the value is the mnemonic."""

    ADDI = "addi"
    BDNZ = "bdnz"

    @property
    def mnemonic(self) -> str:
        """The mnemonic."""
        return self.value


Operation = RankKUpdate | Move | Transfer | FixedPoint


@dataclass(frozen=True)
class Form:
    """An operation and the operands it takes.

    Attributes
    ----------
    operation : Operation
        What it does.
    operands : tuple of Operand
        In the order of the assembly text.
    isa : float
        The oldest Power ISA version known here to have it (versions are ordered as decimal numbers).
    prefixed : bool
        Whether it is the 64-bit ``pm`` form of a rank-k update.
    """

    operation: Operation
    operands: tuple[Operand, ...]
    isa: float = 3.1
    prefixed: bool = False

    @property
    def update(self) -> RankKUpdate | None:
        """The rank-k update that it is, if it is one."""
        return self.operation if isinstance(self.operation, RankKUpdate) else None

    @property
    def mnemonic(self) -> str:
        """The mnemonic."""
        return "pm" * self.prefixed + self.operation.mnemonic

    @property
    def syntax(self) -> str:
        """The operands' names as the text has them, e.g. ``XT,D(RA)``."""
        return self.punctuate([operand.name for operand in self.operands])

    def punctuate(self, words: Sequence[str]) -> str:
        """Join the operands' texts as the assembler wants them."""
        if any(operand.kind is Kind.DISPLACEMENT for operand in self.operands):
            register, displacement, base = words
            return f"{register},{displacement}({base})"
        return ",".join(words)


MASKS = ("XMSK", "YMSK", "PMSK")
"""The masks of a ``pm`` form, in the order of the assembly text."""


def mask_widths(family: Family) -> Mapping[str, int]:
    """Return the widths in bits of the masks a family's ``pm`` forms take; rank 1 has no PMSK."""
    widths = {"XMSK": 4, "YMSK": family.columns, "PMSK": family.rank}
    return {name: width for name, width in widths.items() if name != "PMSK" or family.rank > 1}


def _vsr(name: str, registers: int = 1, *, written: bool = False) -> Operand:
    """Return a VSR operand; the manual marks the name of a pair with a ``p``."""
    return Operand(name + "p" * (registers - 1), Kind.VSR, 6, multiple=registers, written=written)


def _forms() -> Iterator[Form]:
    accumulator = Operand("AT", Kind.ACCUMULATOR, 3)
    for update, prefixed in product(UPDATES.values(), (False, True)):
        family = update.family
        masks = [Operand(name, Kind.MASK, bits) for name, bits in mask_widths(family).items()]
        registers = (accumulator, _vsr("XA", family.x_registers), _vsr("XB"))
        yield Form(update, (*registers, *(masks if prefixed else ())), prefixed=prefixed)
    for move in MOVES.values():
        yield Form(move, (Operand("AS", Kind.ACCUMULATOR, 3) if move is Move.XXMFACC else accumulator,))

    base = Operand("RA", Kind.BASE, 5)
    addresses = (
        (Operand("D", Kind.DISPLACEMENT, 16, multiple=16, signed=True), base),
        (base, Operand("RB", Kind.GPR, 5)),
    )
    for indexed, registers_moved, store in product((False, True), (1, 2), (False, True)):
        data = _vsr("XS" if store else "XT", registers_moved, written=not store)
        transfer = Transfer(store, registers_moved, indexed)
        yield Form(transfer, (data, *addresses[indexed]), isa=3.0 if registers_moved == 1 else 3.1)

    addend = Operand("SI", Kind.IMMEDIATE, 16, signed=True)
    yield Form(FixedPoint.ADDI, (Operand("RT", Kind.GPR, 5), base, addend), isa=2.07)
    target = Operand("target", Kind.TARGET, 16, multiple=4, signed=True)
    yield Form(FixedPoint.BDNZ, (target,), isa=2.07)


FORMS = MappingProxyType({form.mnemonic: form for form in _forms()})
"""Every form by mnemonic."""
