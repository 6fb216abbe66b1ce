"""Floating-point instructions that integers do not have: judged here; the verifier has decoders of its own.

Source: PTX ISA 9.1 sections 9.7.3 to 9.7.6, with the PTX versions and targets of their notes.
"""

from __future__ import annotations

from ..targets import Availability
from .rows import ANYWHERE, Row

_ROUNDED = "rn|rz|rm|rp"
_ONE, _TWO, _THREE = "d:t = a:t", "d:t = a:t b:t", "d:t = a:t b:t c:t"
_HALF_PRODUCTS, _HALF_RELU = Availability((4, 2), 53), Availability((7, 0), 80)
_OUT_OF_BOUNDS = Availability((8, 1), 90)
_PAIRS_OF_F32 = Availability((8, 6), 100)
_TANH, _HALF_TANH, _BF16_TANH = (
    Availability((7, 0), 75), Availability((7, 0), 75), Availability((7, 8), 90)
)  # fmt: skip


def _row(
    head: str, types: str, operands: str, section: str, flags: str = "", since: Availability = ANYWHERE
) -> Row:
    return Row(head, types, operands, None, section, flags, since)


_PRODUCT_SUMS = (
    _row("fma", "f32", _THREE, "9.7.3.6", f"{_ROUNDED} ftz? sat?"),
    _row("fma", "f64", _THREE, "9.7.3.6", _ROUNDED),
    _row("fma", "f32x2", _THREE, "9.7.3.6", f"{_ROUNDED} ftz?", _PAIRS_OF_F32),
    _row("fma", "f16 f16x2", _THREE, "9.7.4.4", "rn ftz? sat?", _HALF_PRODUCTS),
    _row("fma", "f16 f16x2", _THREE, "9.7.4.4", "rn ftz? relu", _HALF_RELU),
    _row("fma", "bf16 bf16x2", _THREE, "9.7.4.4", "rn relu?", _HALF_RELU),
    _row("fma", "f16 f16x2 bf16 bf16x2", _THREE, "9.7.4.4", "rn oob relu?", _OUT_OF_BOUNDS),
    _row("fma", "f32 / f16 bf16", "d:t = a:u b:u c:t", "9.7.5.3", f"{_ROUNDED} sat?", _PAIRS_OF_F32),
)
_QUOTIENTS = (
    _row("rcp", "f32", _ONE, "9.7.3.13", f"{_ROUNDED}|approx ftz?"),
    _row("rcp", "f64", _ONE, "9.7.3.13", _ROUNDED),
    _row("rcp", "f64", _ONE, "9.7.3.14", "approx ftz"),
    _row("sqrt", "f32", _ONE, "9.7.3.15", f"{_ROUNDED}|approx ftz?"),
    _row("sqrt", "f64", _ONE, "9.7.3.15", _ROUNDED),
    _row("rsqrt", "f32 f64", _ONE, "9.7.3.16", "approx ftz?"),
)
_FUNCTIONS = (
    *(
        _row(opcode, "f32", _ONE, f"9.7.3.{section}", "approx ftz?")
        for section, opcode in enumerate(("sin", "cos", "lg2", "ex2"), 18)
    ),
    _row("ex2", "f16 f16x2", _ONE, "9.7.4.10", "approx", _HALF_TANH),
    _row("ex2", "bf16 bf16x2", _ONE, "9.7.4.10", "approx ftz", _BF16_TANH),
    _row("tanh", "f32", _ONE, "9.7.3.22", "approx", _TANH),
    _row("tanh", "f16 f16x2", _ONE, "9.7.4.9", "approx", _HALF_TANH),
    _row("tanh", "bf16 bf16x2", _ONE, "9.7.4.9", "approx", _BF16_TANH),
)
_SIGNS = (
    _row("copysign", "f32 f64", _TWO, "9.7.3.2"),
    _row("testp", "f32 f64", "d:pred = a:t", "9.7.3.1", "finite|infinite|number|notanumber|normal|subnormal"),
)
_CHOICES = (
    _row("selp", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64", "d:t = a:t b:t c:pred", "9.7.6.3"),
    _row(
        "slct", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64 / s32", "d:t = a:t b:t c:u", "9.7.6.4"
    ),
    _row(
        "slct", "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64 / f32", "d:t = a:t b:t c:u", "9.7.6.4", "ftz?"
    ),
)  # fmt: skip

ROWS = (*_PRODUCT_SUMS, *_QUOTIENTS, *_FUNCTIONS, *_SIGNS, *_CHOICES)
"""Every form of these opcodes."""
