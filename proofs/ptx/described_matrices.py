"""Bits of descriptors and addresses of elements, against tables written from the manual and from CuTe."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...spec.errors import UnsupportedError
from ...spec.foreign_layouts.cute_text import parse_composed
from ...spec.ptx.matrix_descriptor import UNIT, MatrixDescriptor, SharedMatrix
from ...spec.ptx.wgmma_forms import A_ROW_BYTES, M
from ..comparison import compared
from ..obligation import Certificate
from ..table_theorem import table_theorem
from .descriptors import SOURCE, matrices
from .stated import warpgroups as stated

descriptors = table_theorem(
    "ptx/stated/descriptors",
    "descriptors have the fields, and elements the addresses, that the manual and CuTe say",
    "listed descriptors ↦ their bits; their elements ↦ listed addresses; each is where the canonical layout "
    "in CuTe's notation puts it, written down from the manual's table; the start that is 16·n bytes further "
    "is n in the lowest field; other bits are refused",
    SOURCE,
    lambda: {
        "encodings": _encodings,
        "places": _places,
        "canonical": _canonical,
        "moved": _moved,
        "refused": _refused,
    },
)


def _described(row: stated.Described) -> SharedMatrix:
    fields = MatrixDescriptor(row.start, row.leading, row.stride, row.swizzle)
    return SharedMatrix(fields, M, 8 * A_ROW_BYTES // row.bits, row.bits, row.transposed)


def _encodings() -> Certificate:
    return compared(
        {row: (row.encoding, (row.start, row.leading, row.stride, row.swizzle)) for row in stated.DESCRIBED},
        lambda: {
            row: (_described(row).descriptor.encoding, (d.start, d.leading, d.stride, d.swizzle))
            for row in stated.DESCRIBED
            for d in [MatrixDescriptor.decoded(row.encoding)]
        },
    )


def _places() -> Certificate:
    def elements(row: stated.Described) -> list[tuple[int, int]]:
        k = 8 * A_ROW_BYTES // row.bits
        return [(0, 0), (1, 0), (3, k // 2), (7, k - 1), (8, 0), (13, 5), (37, k - 3)]

    return compared(
        {row: row.addresses for row in stated.DESCRIBED},
        lambda: {
            row: tuple(int(_described(row).address(*at)[0]) for at in elements(row))
            for row in stated.DESCRIBED
        },
    )


def _canonical() -> Certificate:
    """Compare every element's place with CuTe's layout, which counts elements from the start."""
    named = {name: matrix for name, matrix in matrices().items() if matrix.bits >= 8}
    expected: dict[tuple[str, str], object] = {}
    for name, matrix in named.items():
        fields = matrix.descriptor
        text = stated.canonical(
            fields.swizzle,
            matrix.bits,
            matrix.transposed,
            fields.leading,
            fields.stride,
            matrix.lines,
            matrix.length,
        )
        layout = parse_composed(text)
        there = (layout(layout.layout.grid()) * matrix.bits // 8).tolist()
        expected |= {(name, "addresses"): there, (name, "printed"): there}

    def specified() -> Iterator[tuple[tuple[str, str], object]]:
        for name, matrix in named.items():
            yield (name, "addresses"), matrix.address(*np.indices((matrix.lines, matrix.length)))[0].tolist()
            printed = parse_composed(matrix.cute)
            yield (name, "printed"), (printed(printed.layout.grid()) * matrix.bits // 8).tolist()

    return compared(expected, specified)


def _moved() -> Certificate:
    base = MatrixDescriptor(0, UNIT, 1024, 128).encoding
    starts = range(0, 1 << 18, UNIT)
    return compared(
        {start: start for start in starts},
        lambda: {start: MatrixDescriptor.decoded(base + start // UNIT).start for start in starts},
    )


def _refused() -> Certificate:
    def taken(bit: int) -> bool:
        try:
            MatrixDescriptor.decoded(1 << bit)
        except UnsupportedError:
            return False
        return True

    return compared(
        {bit: bit in stated.USED_BITS for bit in range(64)}, lambda: {bit: taken(bit) for bit in range(64)}
    )


THEOREMS = (descriptors,)
