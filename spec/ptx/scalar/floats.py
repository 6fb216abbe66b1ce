"""Floating-point forms of opcodes that integers have too: judged here; the verifier has decoders of its own.

Source: PTX ISA 9.1 sections 9.7.3 to 9.7.5, with the PTX versions and targets of their notes.
"""

from __future__ import annotations

from itertools import product

from ..targets import Availability
from .rows import ANYWHERE, Row

_ROUNDED = "rn|rz|rm|rp"
_ABS_F16 = Availability((6, 5))
_BF16 = Availability((7, 0), 80)
_BF16_SUMS = Availability((7, 8), 90)
_PAIRS_OF_F32 = Availability((8, 6), 100)
_MIXED = Availability((8, 6), 100)
_NAN = Availability((7, 0), 80)
_XORSIGN = Availability((7, 2), 86)
_THREE = Availability((8, 8), 100)

_TWO = "d:t = a:t b:t"
_ONE = "d:t = a:t"


def _row(
    head: str, types: str, operands: str, section: str, flags: str = "", since: Availability = ANYWHERE
) -> Row:
    return Row(head, types, operands, None, section, flags, since)


_SUMS = tuple(
    row
    for index, opcode in enumerate(("add", "sub", "mul"))
    for row in (
        _row(opcode, "f32", _TWO, f"9.7.3.{index + 3}", f"{_ROUNDED}? ftz? sat?"),
        _row(opcode, "f64", _TWO, f"9.7.3.{index + 3}", f"{_ROUNDED}?"),
        _row(opcode, "f32x2", _TWO, f"9.7.3.{index + 3}", f"{_ROUNDED}? ftz?", _PAIRS_OF_F32),
        _row(opcode, "f16 f16x2", _TWO, f"9.7.4.{index + 1}", "rn? ftz? sat?"),
        _row(opcode, "bf16 bf16x2", _TWO, f"9.7.4.{index + 1}", "rn?", _BF16_SUMS),
    )
)
_MIXED_SUMS = tuple(
    _row(opcode, "f32 / f16 bf16", "d:t = a:u c:t", section, f"{_ROUNDED}? sat?", _MIXED)
    for opcode, section in (("add", "9.7.5.1"), ("sub", "9.7.5.2"))
)
_PRODUCT_SUMS = (
    _row("mad", "f32", "d:t = a:t b:t c:t", "9.7.3.7", f"{_ROUNDED} ftz? sat?"),
    _row("mad", "f64", "d:t = a:t b:t c:t", "9.7.3.7", _ROUNDED),
)
_QUOTIENTS = (
    _row("div", "f32", _TWO, "9.7.3.8", f"{_ROUNDED}|approx|full ftz?"),
    _row("div", "f64", _TWO, "9.7.3.8", _ROUNDED),
)
_SIGNS = tuple(
    row
    for opcode, single, half in (("abs", "9.7.3.9", "9.7.4.6"), ("neg", "9.7.3.10", "9.7.4.5"))
    for row in (
        _row(opcode, "f32", _ONE, single, "ftz?"),
        _row(opcode, "f64", _ONE, single),
        _row(opcode, "f16 f16x2", _ONE, half, "ftz?", _ABS_F16 if opcode == "abs" else ANYWHERE),
        _row(opcode, "bf16 bf16x2", _ONE, half, "", _BF16),
    )
)


def _extrema() -> tuple[Row, ...]:
    rows = []
    for opcode, single, half in (("min", "9.7.3.11", "9.7.4.7"), ("max", "9.7.3.12", "9.7.4.8")):
        rows.append(_row(opcode, "f64", _TWO, single))
        for nan, xorsign in product(("", " NaN"), ("", " xorsign abs")):
            since = _XORSIGN if xorsign else _NAN if nan else ANYWHERE
            flags = f"{nan}{xorsign}"
            rows += [
                _row(opcode, "f32", _TWO, single, f"ftz?{flags}", since),
                _row(opcode, "f16 f16x2", _TWO, half, f"ftz?{flags}", since if xorsign else _NAN),
                _row(opcode, "bf16 bf16x2", _TWO, half, flags.strip(), since if xorsign else _NAN),
            ]
        rows.append(_row(opcode, "f32", "d:t = a:t b:t c:t", single, "ftz? NaN? abs?", _THREE))
    return tuple(rows)


ROWS = (*_SUMS, *_MIXED_SUMS, *_PRODUCT_SUMS, *_QUOTIENTS, *_SIGNS, *_extrema())
"""Every floating-point form of these opcodes."""
