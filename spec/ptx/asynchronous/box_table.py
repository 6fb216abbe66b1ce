"""Which line of shared memory has which element of a tensor copy's box, as a table and a layout."""

from __future__ import annotations

from math import prod

import numpy as np

from ...element_table import ElementTable
from ...errors import InputError, UnsupportedError
from ...layout import Axis, Digit, Layout
from ...layout_terms import log2
from ..matrix_descriptor import ADDRESS_BITS, UNIT, swizzled
from .tensor_copies import shared_address
from .tensor_map import TensorMap, read_tensor_map

LINE_BYTES = 128
"""Bytes of a line of the table: those of all banks."""


def box_layout(tensor: TensorMap) -> Layout:
    """Return (row, column) ↦ byte from the start as a map over F2: a column is i0, a row counts the others.

    Raises
    ------
    UnsupportedError
        If an extent is no power of two, or no document says how the box lies.
    """
    rows, columns = (
        prod(tensor.order.source[place].extent for place in range(1, tensor.rank)),
        tensor.extents[0],
    )
    for extent in (rows, columns):
        if extent & (extent - 1):
            raise UnsupportedError(f"{tensor}: layouts are shown of powers of two, not of {extent} elements")
    axes, target = (Axis("row", rows), Axis("column", columns)), (Axis("byte", 1 << ADDRESS_BITS),)
    digits = [
        Digit(axis, 1 << bit, 2, (swizzled(step << bit, tensor.swizzle),))
        for axis, extent, step in (
            (0, rows, columns * tensor.element_bytes), (1, columns, tensor.element_bytes)
        )
        for bit in range(log2(extent))
    ]  # fmt: skip
    return Layout(f"box of {tensor}", axes, target, tuple(digits))


def _rows(tensor: TensorMap) -> int:
    return prod(tensor.extents[1:])


def cute(tensor: TensorMap) -> str:
    """Return (row, column) ↦ element in CuTe's notation."""
    columns = tensor.extents[0]
    plain = f"({_rows(tensor)},{columns}):({columns},1)"
    if not tensor.swizzle:
        return plain
    return f"Swizzle<{log2(tensor.swizzle // UNIT)},{log2(UNIT // tensor.element_bytes)},3> o {plain}"


def box_table(title: str, text: str, rank: int) -> ElementTable:
    """Return the table of a box.

    Parameters
    ----------
    title : str
        What the table is of.
    text : str
        The map, as `read_tensor_map` reads it, perhaps with ``start=0x400``: where the box begins.
    rank : int
        Dimensions that it has to have.

    Raises
    ------
    InputError
        If the text is no map of the rank, or the start is not aligned.
    UnsupportedError
        See `box_layout`.
    """
    words = text.replace(",", " ").split()
    given = [word.removeprefix("start=") for word in words if word.startswith("start=")]
    tensor = read_tensor_map(" ".join(word for word in words if not word.startswith("start=")))
    try:
        start = int(given[-1], 0) if given else 0
    except ValueError:
        raise InputError(f"start={given[-1][:40]} is no number of bytes") from None
    if tensor.rank != rank:
        raise InputError(f"{title} has {rank} dimensions, not the {tensor.rank} of {tensor}")
    if start % tensor.alignment or not 0 <= start < 1 << ADDRESS_BITS:
        raise InputError(
            f"start must be a multiple of {tensor.alignment} below 2^{ADDRESS_BITS}, not {start}"
        )
    layout = box_layout(tensor)
    places = np.indices(tensor.extents).reshape(rank, -1)
    address = np.asarray(shared_address(tensor, tuple(places), start))
    order = np.argsort(address)
    row = np.ravel_multi_index(tuple(places[:0:-1]), tensor.extents[:0:-1]) if rank > 1 else 0 * places[0]
    address, row, column = (each[order] for each in (address, row, places[0]))
    return ElementTable(
        f"{title}, {tensor}",
        tensor.element,
        8 * tensor.element_bytes,
        layout.inverted,
        f"{layout.formula}; address = {start:#x} + byte",
        Axis("line", int(address.max()) // LINE_BYTES + 1),
        {
            "line": address // LINE_BYTES, "element": address % LINE_BYTES // tensor.element_bytes,
            "address": address, "bit": 0 * address,
        },
        {"row": row, "column": column},
        swizzled=cute(tensor),
    )  # fmt: skip
