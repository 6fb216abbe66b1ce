"""An instruction: a form with operands.

Its text is the one that figure 7 of Moreira et al. and GNU objdump print, with the ISA's mnemonics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from ..errors import InputError
from .catalogue import Move
from .forms import MASKS, REGISTER_NAMES, Form, Kind, Operand, Operation

VSRS_PER_ACCUMULATOR = 4
"""ACC[k] is associated with VSR[4k] to VSR[4k+3]."""

ADDRESS_BITS = 64
"""Addresses wrap around."""


@dataclass(frozen=True)
class Instruction:
    """A form, with its operands where they were given.

    The operands may be out of range: whether they are right is for `legality` to say, and `encoding`
    takes only what fits. ``str`` spells the instruction.

    Attributes
    ----------
    form : Form
        Which instruction.
    operands : tuple of int, optional
        One value for each of the form's operands, in the order of the text; None when the instruction
        was named without operands. A rank-k update may have too few or too many masks.

    Raises
    ------
    InputError
        If the number of operands can't be right.
    """

    form: Form
    operands: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.operands is None:
            return
        expected = len(self.form.operands)
        counts = range(3, 3 + len(MASKS) + 1) if self.form.update else range(expected, expected + 1)
        if len(self.operands) not in counts:
            raise InputError(
                f"{self.mnemonic} takes {expected} operand{'s' * (expected > 1)} {self.form.syntax}, "
                f"not {len(self.operands)}"
            )

    @property
    def operation(self) -> Operation:
        """What it does."""
        return self.form.operation

    @property
    def prefixed(self) -> bool:
        """Whether it is the 64-bit ``pm`` form of a rank-k update."""
        return self.form.prefixed

    @property
    def mnemonic(self) -> str:
        """The mnemonic."""
        return self.form.mnemonic

    @cached_property
    def values(self) -> Mapping[str, int]:
        """The operands that were given, by the manual's name; surplus masks count as masks."""
        names = [operand.name for operand in self.form.operands]
        if self.form.update:
            names = [*names[:3], *MASKS]
        return MappingProxyType(dict(zip(names, self.operands or (), strict=False)))

    def given(self) -> Iterator[tuple[Operand, int]]:
        """Yield the form's operands that have a value, and the value."""
        yield from zip(self.form.operands, self.operands or (), strict=False)

    @property
    def accumulator(self) -> int | None:
        """The number of the accumulator operand."""
        return next((value for operand, value in self.given() if operand.kind is Kind.ACCUMULATOR), None)

    @property
    def x(self) -> int | None:
        """The (first) VSR of a rank-k update's X operand."""
        return self.values.get("XA", self.values.get("XAp"))

    @property
    def y(self) -> int | None:
        """The VSR of a rank-k update's Y operand."""
        return self.values.get("XB")

    @property
    def masks(self) -> tuple[int, int, int]:
        """XMSK, YMSK and PMSK of a rank-k update; all ones where there is none.

        Raises
        ------
        InputError
            If the instruction is not a rank-k update.
        """
        if (update := self.form.update) is None:
            raise InputError(f"{self.mnemonic} has no masks; only rank-k updates do")
        family = update.family
        xmsk, ymsk, pmsk = zip(MASKS, (4, family.columns, family.rank), strict=True)
        return self._mask(*xmsk), self._mask(*ymsk), self._mask(*pmsk)

    def _mask(self, name: str, width: int) -> int:
        return self.values.get(name, (1 << width) - 1)

    @property
    def vsrs_read(self) -> tuple[int, ...]:
        """The VSRs it reads as operands, in ascending order for each operand."""
        if self.operation is Move.XXMTACC and self.accumulator is not None:
            return associated_vsrs(self.accumulator)
        return self._vsr_operands(written=False)

    @property
    def vsrs_written(self) -> tuple[int, ...]:
        """The VSRs it writes, in ascending order."""
        if self.operation is Move.XXMFACC and self.accumulator is not None:
            return associated_vsrs(self.accumulator)
        return self._vsr_operands(written=True)

    def _vsr_operands(self, *, written: bool) -> tuple[int, ...]:
        return tuple(
            first + step
            for operand, first in self.given()
            if operand.kind is Kind.VSR and operand.written is written
            for step in range(operand.multiple)
        )

    def text(self, address: int | None = None) -> str:
        """Spell the instruction.

        Parameters
        ----------
        address : int, optional
            Where the instruction stands; a branch target is then an absolute hexadecimal address, as
            objdump prints it, else a distance such as ``.-64``.
        """
        if self.operands is None:
            return self.mnemonic
        words = [_spell(operand, value, address) for operand, value in self.given()]
        surplus = map(str, self.operands[len(words) :])
        return f"{self.mnemonic} {self.form.punctuate([*words, *surplus])}"

    def __str__(self) -> str:
        return self.text()


def associated_vsrs(accumulator: int) -> tuple[int, ...]:
    """Return the four VSRs an accumulator is associated with."""
    first = VSRS_PER_ACCUMULATOR * accumulator
    return tuple(range(first, first + VSRS_PER_ACCUMULATOR))


def _spell(operand: Operand, value: int, address: int | None) -> str:
    if operand.kind is Kind.TARGET:
        return f".{value:+d}" if address is None else f"{(address + value) % (1 << ADDRESS_BITS):x}"
    if operand.kind is Kind.BASE and value == 0:
        return "0"
    return REGISTER_NAMES.get(operand.kind, ("",))[0] + str(value)
