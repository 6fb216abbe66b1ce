"""Which thread's register holds which cell of tensor memory: the shapes of ``tcgen05.ld`` and ``tcgen05.st``.

Source: PTX ISA 9.1 section 9.7.16 (data movement shapes); CuTe's traits of loads and stores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from ...formats import U16, U32
from ...fragment import Fragment, Packing
from ...layout import Axis, Layout
from ...rearrangement import rearranged
from ..variant import WARP_LANES

THREAD = Axis("thread", WARP_LANES)


@dataclass(frozen=True)
class RegisterShape:
    """A shape.

    Attributes
    ----------
    name : str
        As it is spelled.
    registers : int
        Registers of a thread with ``.x1``.
    most : int
        The largest count.
    order : str
        Digits of (thread, register) and those of (part, lane, column), see `rearrangement`.
    lanes : int
        Lanes that one part has; the second part's column begins at an offset that the text says.
    parts : int
        Addresses from which a warp reads: 2 of ``16x32bx2``.
    """

    name: str
    registers: int
    most: int
    order: str
    lanes: int = 16
    parts: int = 1

    @property
    def counts(self) -> tuple[int, ...]:
        """What may stand behind ``x``."""
        return tuple(1 << power for power in range(self.most.bit_length()))


_THREAD = "high mid pair low"

SHAPES: Mapping[str, RegisterShape] = MappingProxyType(
    {
        shape.name: shape
        for shape in (
            RegisterShape("32x32b", 1, 128, f"{_THREAD} count half -> {_THREAD} count half", 32),
            RegisterShape("16x64b", 1, 128, f"{_THREAD} count half -> low high mid count pair half"),
            RegisterShape(
                "16x128b", 2, 64, f"{_THREAD} count eight half -> eight high mid count pair low half"
            ),
            RegisterShape(
                "16x256b", 4, 32, f"{_THREAD} count eight run half -> eight high mid count pair low run half"
            ),
            RegisterShape("16x32bx2", 1, 128, f"{_THREAD} count half -> {_THREAD} count half", parts=2),
        )
    }
)  # fmt: skip
"""Every shape by name.

A thread is ``high`` (the half of the warp), ``mid`` (four), ``pair`` and ``low``; a register ``count``,
``eight`` (lanes 8 further) and ``run``; ``half`` are the 16 bits of a register that packed cells fill.
"""


@dataclass(frozen=True)
class RegisterTile:
    """The cells that a warp loads or stores with one instruction.

    Attributes
    ----------
    shape : RegisterShape
        Who has which.
    count : int
        Behind ``x``.
    packed : bool
        Whether a register has the low halves of two cells (``.pack::16b``, ``.unpack::16b``).
    """

    shape: RegisterShape
    count: int
    packed: bool = False

    @property
    def registers(self) -> int:
        """Registers of a thread."""
        return self.shape.registers * self.count

    @cached_property
    def layout(self) -> Layout:
        """(thread, i) ↔ (lane, column), of ``16x32bx2`` (part, lane, column); packed i has 16 bits."""
        shape, halves = self.shape, 1 + self.packed
        elements = self.registers * halves
        lane, column = (
            Axis("lane", shape.lanes),
            Axis("column", WARP_LANES * elements // shape.lanes // shape.parts),
        )
        part = (Axis("part", shape.parts),) if shape.parts > 1 else ()
        digits = {"high": 2, "mid": 4, "pair": 2, "low": 2, "count": self.count, "half": halves}
        digits |= {name: 2 for name in ("eight", "run") if name in shape.order}
        return rearranged(
            f"{shape.name}.x{self.count}{'.pack::16b' * self.packed}",
            (THREAD, Axis("i", elements)),
            (*part, lane, column),
            shape.order,
            **digits,
        )

    @property
    def fragment(self) -> Fragment:
        """How the registers of a warp hold the cells."""
        return Fragment(self.layout, Packing(U16, 16) if self.packed else Packing(U32, 32))
