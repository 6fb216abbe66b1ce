"""The element types of MFMA that no other instruction set has: the 8-bit formats of gfx940 to gfx942.

Source: AMD, HIP "Low precision floating point types" (FNUZ formats); ml_dtypes has the same.
"""

from __future__ import annotations

from ..formats import FloatFormat, Special

E4M3FNUZ = FloatFormat("e4m3fnuz", 8, exponent_bits=4, fraction_bits=3, bias=8, special=Special.FNUZ)
E5M2FNUZ = FloatFormat("e5m2fnuz", 8, exponent_bits=5, fraction_bits=2, bias=16, special=Special.FNUZ)
