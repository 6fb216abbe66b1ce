"""The Power ISA 3.1 MMA instructions as one table: 29 rank-k updates and three accumulator moves.

Source: Power ISA 3.1 section 7.2 (VSX Matrix-Multiply Assist); Moreira et al., "A matrix math
facility for Power ISA processors", Table I. Every word was checked against GNU as and llvm-mc.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from ..formats import BF16, F16, F32, F64, S4, S8, S16, S32, U8, FloatFormat, Format, IntegerFormat


@dataclass(frozen=True)
class Family:
    """The rank-k updates on one pair of input types.

    Attributes
    ----------
    name : str
        Mnemonic without its suffix, e.g. ``xvi8ger4``.
    rank : int
        k, the number of products summed into one element.
    x, y : Format
        Element types of the 4 x k and ``columns`` x k operands.
    result : Format
        Element type of the 4 x ``columns`` accumulator.
    """

    name: str
    rank: int
    x: Format
    y: Format
    result: Format

    @property
    def columns(self) -> int:
        """Columns of the accumulator matrix: 4, or 2 for f64."""
        return 128 // self.result.bits

    @property
    def x_registers(self) -> int:
        """VSRs of the X operand: 1, or an even-odd pair for f64."""
        return 4 * self.rank * self.x.bits // 128


@dataclass(frozen=True)
class IntegerFamily(Family):
    """A family whose products are summed exactly as integers."""

    x: IntegerFormat
    y: IntegerFormat
    result: IntegerFormat


@dataclass(frozen=True)
class FloatFamily(Family):
    """A family whose products are summed in floating point."""

    x: FloatFormat
    y: FloatFormat
    result: FloatFormat


@dataclass(frozen=True)
class RankKUpdate:
    """One rank-k update (both its word form and its ``pm`` form).

    Attributes
    ----------
    family : Family
        Operand and result types.
    suffix : str
        ``""``, ``pp``, ``pn``, ``np``, ``nn``, ``s`` or ``spp``.
    extended_opcode : int
        The 8-bit XO field of the XX3 form.
    """

    family: Family
    suffix: str
    extended_opcode: int

    @property
    def mnemonic(self) -> str:
        """The word form's mnemonic."""
        return self.family.name + self.suffix

    @property
    def accumulates(self) -> bool:
        """Whether the old accumulator is an operand (and so must be primed)."""
        return len(self.suffix) > 1

    @property
    def saturates(self) -> bool:
        """Whether the exact sum is clamped instead of taken modulo 2**32."""
        return self.suffix.startswith("s")

    @property
    def negative_product(self) -> bool:
        """First letter of the suffix is ``n``: the product sum is subtracted."""
        return self.suffix in ("np", "nn")

    @property
    def negative_accumulator(self) -> bool:
        """Second letter of the suffix is ``n``: the accumulator is subtracted."""
        return self.suffix in ("pn", "nn")


class Move(Enum):
    """The accumulator moves; the value is the extended operation field at bits 11-15."""

    XXMFACC = 0
    XXMTACC = 1
    XXSETACCZ = 3

    @property
    def mnemonic(self) -> str:
        """The mnemonic."""
        return self.name.lower()


I4 = IntegerFamily("xvi4ger8", 8, S4, S4, S32)
I8 = IntegerFamily("xvi8ger4", 4, S8, U8, S32)
I16 = IntegerFamily("xvi16ger2", 2, S16, S16, S32)
BF = FloatFamily("xvbf16ger2", 2, BF16, BF16, F32)
HALF = FloatFamily("xvf16ger2", 2, F16, F16, F32)
SINGLE = FloatFamily("xvf32ger", 1, F32, F32, F32)
DOUBLE = FloatFamily("xvf64ger", 1, F64, F64, F64)

FAMILIES: tuple[Family, ...] = (I4, I8, I16, BF, HALF, SINGLE, DOUBLE)


def _updates() -> Iterable[RankKUpdate]:
    integer_opcodes = (
        (I4, (("", 0x23), ("pp", 0x22))),
        (I8, (("", 0x03), ("pp", 0x02), ("spp", 0x63))),
        (I16, (("", 0x4B), ("pp", 0x6B), ("s", 0x2B), ("spp", 0x2A))),
    )
    for integers, forms in integer_opcodes:
        for suffix, opcode in forms:
            yield RankKUpdate(integers, suffix, opcode)
    # Float families: bit 0x01 non-accumulating, 0x40 negative product, 0x80 negative accumulator.
    for floats, base in ((BF, 0x32), (HALF, 0x12), (SINGLE, 0x1A), (DOUBLE, 0x3A)):
        for suffix, variant in (("", 0x01), ("pp", 0x00), ("pn", 0x80), ("np", 0x40), ("nn", 0xC0)):
            yield RankKUpdate(floats, suffix, base | variant)


UPDATES = MappingProxyType({update.mnemonic: update for update in _updates()})
"""The 29 rank-k updates by the mnemonic of their word form."""

MOVES = MappingProxyType({move.mnemonic: move for move in Move})
"""The three accumulator moves by mnemonic."""
