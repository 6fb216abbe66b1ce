"""Row expansion of ``ldmatrix .b8x16``: 16 narrow values of a memory row become 16 bytes.

Source: PTX ISA 9.1 section 9.7.14.5.15 (ldmatrix), ``.b6x16_p32`` and ``.b4x16_p64``. That 4-bit
values end up in the low bits is CUTLASS's reading (``fp4_shift_A`` shifts them up by 2 afterwards);
the order of values within a row is derived from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ..algebra import Algebra, Array
from ..formats import U4, U8, IntegerFormat
from .memory import from_bytes

ROW_VALUES = 16
"""Values in a row, before and after."""

U6 = IntegerFormat("u6", 6, signed=False)


@dataclass(frozen=True)
class RowExpansion:
    """A packed source format: value n at bit ``n * value.bits`` of its row, padding after the last.

    Attributes
    ----------
    name : str
        As in the instruction: ``b6x16_p32``.
    value : IntegerFormat
        A packed value.
    """

    name: str
    value: IntegerFormat

    @property
    def packed_bytes(self) -> int:
        """Bytes of a row that hold values; the rest of the 16 is padding."""
        return ROW_VALUES * self.value.bits // 8

    def expand(self, alg: Algebra, rows: Array) -> Array:
        """Return rows (…, 16) of bytes as 16 bytes, byte n with value n in its low bits, zero-extended."""
        values = from_bytes(alg, rows[..., : self.packed_bytes], self.value)
        return alg.assemble(values[..., np.newaxis], self.value, (0,), U8)


EXPANSIONS = MappingProxyType(
    {
        expansion.name: expansion
        for expansion in (RowExpansion("b6x16_p32", U6), RowExpansion("b4x16_p64", U4))
    }
)
"""The source formats by name."""
