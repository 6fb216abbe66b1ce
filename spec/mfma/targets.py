"""The processors that have MFMA, by what differs between them: so do the 8-bit formats of gfx940 to gfx942.

Source: AMD, HIP "Low precision floating point types" (FNUZ formats); ml_dtypes has the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..errors import InputError
from ..formats import BF16, E4M3, E5M2, F16, F32, F64, S8, S32, FloatFormat, Format, Special

E4M3FNUZ = FloatFormat("e4m3fnuz", 8, exponent_bits=4, fraction_bits=3, bias=8, special=Special.FNUZ)
E5M2FNUZ = FloatFormat("e5m2fnuz", 8, exponent_bits=5, fraction_bits=2, bias=16, special=Special.FNUZ)
"""Formats that no other instruction set has."""


@dataclass(frozen=True)
class Target:
    """A processor.

    Attributes
    ----------
    name : str
        As in ``-mcpu``.
    column : str
        The letter that stands for it in the catalogue.
    generation : str
        The architecture.
    short_names : bool
        Whether it knows the names of 2021 and before only, such as ``v_mfma_f32_32x32x8f16``.
    unified_registers : bool
        Whether VGPRs and AGPRs are halves of one file: C and D are in either, tuples begin at even
        registers, and C may be an inline constant. Else C and D are AGPRs.
    negates : bool
        Whether f64 products take ``neg`` for ``blgp``.
    fp8, bf8 : Format
        What the 8-bit floating-point types are there.
    flushes_narrow : bool
        Whether subnormals of f16 and bf16 are read as zeros.
    """

    name: str
    column: str
    generation: str
    short_names: bool = False
    unified_registers: bool = True
    negates: bool = True
    fp8: Format = E4M3FNUZ
    bf8: Format = E5M2FNUZ
    flushes_narrow: bool = False

    def format(self, element: str) -> Format:
        """Return the format of an element type as mnemonics spell it; xf32 is carried as f32."""
        return {**_FORMATS, "fp8": self.fp8, "bf8": self.bf8}[element]


_FORMATS: Mapping[str, Format] = MappingProxyType(
    {"f64": F64, "f32": F32, "xf32": F32, "f16": F16, "bf16": BF16, "i8": S8, "i32": S32}
)

TARGETS = MappingProxyType(
    {
        target.name: target
        for target in (
            Target("gfx908", "8", "CDNA1", short_names=True, unified_registers=False, negates=False),
            Target("gfx90a", "a", "CDNA2", short_names=True, negates=False, flushes_narrow=True),
            Target("gfx940", "4", "CDNA3"),
            Target("gfx941", "4", "CDNA3"),
            Target("gfx942", "4", "CDNA3"),
            Target("gfx950", "5", "CDNA4", fp8=E4M3, bf8=E5M2),
            Target("gfx9-4-generic", "g", "CDNA3 and CDNA4"),
        )
    }
)
"""Every target by name."""

DEFAULT_TARGET = TARGETS["gfx942"]
"""The target that a text is taken to be for unless told otherwise."""


def target_named(name: str | None) -> Target:
    """Look a target up by name; without one it is `DEFAULT_TARGET`.

    Raises
    ------
    InputError
        If there is no such target.
    """
    if name is None:
        return DEFAULT_TARGET
    if name not in TARGETS:
        raise InputError(f"unknown target {name!r}; known: {', '.join(TARGETS)}")
    return TARGETS[name]
