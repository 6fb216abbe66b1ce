"""Element types of PTO tiles: how the assembler spells them, and which of mmaproof's formats they are.

Source: pto-isa headers at 3186c381, ptoas at a56b18c3.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from ..errors import InputError
from ..formats import (
    BF16,
    E2M1,
    E4M3,
    E5M2,
    F16,
    F32,
    S4,
    S8,
    S16,
    S32,
    S64,
    U8,
    U16,
    U32,
    U64,
    UE8M0,
    FloatFormat,
    Format,
    Special,
)  # fmt: skip

E1M2 = FloatFormat("e1m2", 4, exponent_bits=1, fraction_bits=2, bias=1, special=Special.FINITE)
"""``float4_e1m2``; the bias is that of OCP's e2m1, the headers do not state one."""


@dataclass(frozen=True)
class ElementType:
    """An element type of tiles.

    Attributes
    ----------
    name : str
        As the assembler prints it.
    format : Format, optional
        Its encoding; None where no public document gives it (``hif8``): such elements can be judged and
        laid out, not computed.
    bits : int
        Width of one element.
    spellings : tuple of str
        Further names that documents and headers use.
    """

    name: str
    format: Format | None
    bits: int
    spellings: tuple[str, ...] = ()

    @property
    def storage_bytes(self) -> int:
        """``sizeof(DType)``: bytes of one storage unit, which holds two elements of a 4-bit type."""
        return max(1, self.bits // 8)

    @property
    def per_unit(self) -> int:
        """Elements in one storage unit."""
        return 2 if self.bits == 4 else 1

    def __str__(self) -> str:
        return self.name


_TYPES = (
    ElementType("i8", S8, 8, ("int8_t", "s8", "int8")),
    ElementType("i16", S16, 16, ("int16_t", "s16", "int16")),
    ElementType("i32", S32, 32, ("int32_t", "s32", "int32")),
    ElementType("i64", S64, 64, ("int64_t", "s64", "int64")),
    ElementType("ui8", U8, 8, ("u8", "uint8_t", "uint8")),
    ElementType("ui16", U16, 16, ("u16", "uint16_t", "uint16")),
    ElementType("ui32", U32, 32, ("u32", "uint32_t", "uint32")),
    ElementType("ui64", U64, 64, ("u64", "uint64_t", "uint64")),
    ElementType("i4", S4, 4, ("s4", "int4")),
    ElementType("f16", F16, 16, ("half", "float16")),
    ElementType("bf16", BF16, 16, ("bfloat16_t", "bfloat16")),
    ElementType("f32", F32, 32, ("float", "float32")),
    ElementType("f8E4M3FN", E4M3, 8, ("float8_e4m3_t", "e4m3", "f8e4m3")),
    ElementType("f8E5M2", E5M2, 8, ("float8_e5m2_t", "e5m2")),
    ElementType("hif8", None, 8, ("hifloat8_t", "hifloat8")),
    ElementType("f4E2M1x2", E2M1, 4, ("float4_e2m1x2_t", "e2m1", "f4E2M1FN")),
    ElementType("f4E1M2x2", E1M2, 4, ("float4_e1m2x2_t", "e1m2")),
    ElementType("f8E8M0FNU", UE8M0, 8, ("float8_e8m0_t", "e8m0", "ue8m0")),
)

ELEMENT_TYPES = MappingProxyType({entry.name: entry for entry in _TYPES})
"""Every element type by its assembler name."""

_BY_SPELLING = MappingProxyType(
    {name.lower(): entry for entry in _TYPES for name in (entry.name, *entry.spellings)}
)


def element_type_named(name: str) -> ElementType:
    """Look an element type up by any spelling, in any case.

    Raises
    ------
    InputError
        If there is none.
    """
    try:
        return _BY_SPELLING[name.lower()]
    except KeyError:
        raise InputError(f"unknown element type {name[:60]!r}; known: {', '.join(ELEMENT_TYPES)}") from None
