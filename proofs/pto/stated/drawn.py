"""Extents that arrays without a shape get: those of the type, and of what it leaves open the whole tile's.

Source: docs/command-line.md, ``mmaproof run`` (numbers without a shape, ``--seed``); PTO IR manual (valid).
"""

from __future__ import annotations

from .operand_spelling import operand

_PRODUCTS: tuple[tuple[str, dict[str, str], tuple[int, int]], ...] = (
    # operation, operands, extent of the result
    ("tmatmul", {"a": "left 32x64xf16 L valid=?x?", "b": "right 64x48xf16 Zn valid=?x?",
                 "d": "acc 32x48xf32 Nz valid=?x?"}, (32, 48)),
    ("tmatmul", {"a": "left 32x64xf16 L valid=20x?", "b": "right 64x48xf16 Zn valid=?x40",
                 "d": "acc 32x48xf32 Nz valid=20x40"}, (20, 40)),
    ("tmatmul", {"a": "left 32x64xf16 L valid=?x50", "b": "right 64x48xf16 Zn valid=50x?",
                 "d": "acc 32x48xf32 Nz valid=?x?"}, (32, 48)),
    ("tmatmul", {"a": "left 32x64xi8 L", "b": "right 64x96xi8 Zn", "d": "acc 32x96xi32 Nz"}, (32, 96)),
)  # fmt: skip

_MOVES: tuple[tuple[str, str, str, tuple[int, int]], ...] = (
    # operation, source, target, extent of the result
    ("tload", "view ?x?xf16", "mat 32x64xf16 Nz valid=?x?", (32, 64)),
    ("tload", "view ?x?xf16", "mat 32x64xf16 Nz valid=?x40", (32, 40)),
    ("tload", "view ?x?xf16", "mat 32x64xf16 Nz valid=20x?", (20, 64)),
    ("tmov", "mat 32x64xf16 Nz valid=?x?", "left 32x64xf16 L valid=?x?", (32, 64)),
    ("tmov", "mat 32x64xf16 Nz valid=20x40", "left 32x64xf16 L valid=20x40", (20, 40)),
    ("tstore", "acc 32x48xf32 Nz valid=?x?", "view ?x?xf32", (32, 48)),
    ("tstore", "acc 32x48xf32 Nz valid=?x40", "view ?x?xf32", (32, 40)),
)


def extents(profile: str) -> dict[str, tuple[int, int]]:
    """Return the extents of results by statement."""
    found: dict[str, tuple[int, int]] = {}
    for operation, operands, extent in _PRODUCTS:
        types = {role: str(operand(text, profile)) for role, text in operands.items()}
        text = f"pto.{operation} ins(%a, %b : {types['a']}, {types['b']}) outs(%d : {types['d']})"
        found[text] = extent
    for operation, source, target, extent in _MOVES:
        come, go = operand(source, profile), operand(target, profile)
        found[f"pto.{operation} ins(%s : {come}) outs(%t : {go})"] = extent
    return found


OPEN_PRODUCT = (
    "left 32x64xf16 L valid=?x?", "right 64x48xf16 Zn valid=?x?", "acc 32x48xf32 Nz valid=?x?",
)  # fmt: skip
"""A, B and D of a product whose extents are known at run time."""

OPEN_EXTENTS = (
    # rows and columns of A, rows and columns of B
    (20, 50, 50, 40), (32, 64, 64, 48), (1, 1, 1, 1), (7, 33, 34, 48), (32, 20, 64, 3), (20, 50, 49, 40),
    (16, 16, 1, 16), (3, 64, 63, 48), (0, 64, 64, 48), (32, 0, 0, 48), (32, 0, 5, 48), (32, 64, 64, 0),
    (0, 0, 0, 0),
)  # fmt: skip
"""Extents that are given: of a product over the columns of A."""

OPEN_SCALED = (
    # operands of tmatmul.mx, their extents by m, k and n, what the type says
    ("a", "mk", "left 16x64xf8E4M3FN L valid=?x?"),
    ("scale_a", "ms", "scale_left 16x2xf8E8M0FNU Zz valid=?x?"),
    ("b", "kn", "right 64x32xf8E5M2 Zn valid=?x?"),
    ("scale_b", "sn", "scale_right 2x32xf8E8M0FNU Nn valid=?x?"),
    ("d", "mn", "acc 16x32xf32 Nz valid=?x?"),
)  # fmt: skip
"""A product of scaled factors whose extents are known at run time; s are the factors along k."""

SCALED_EXTENTS = ((16, 64, 32), (3, 64, 5), (0, 64, 32), (16, 0, 32), (16, 64, 0))
"""m, k and n of it."""
