"""``tcgen05.ld``, ``st`` and ``cp`` on named arrays, as `mmaproof run` executes them.

Cells are those that the instruction reaches from its address on: uint32 (…, lanes, columns), of ``16x32bx2``
(…, 2, lanes, columns), one part for each address. A load reads ``cells`` and gives ``r`` (…, 32 threads,
registers); a store the other way round, with ``.unpack::16b`` only ``low``, the low halves of cells, uint16:
the high ones are open. A copy reads ``memory``, uint8 (…, bytes), and gives ``cells``, of ``4x256b`` four
lanes.
"""

from __future__ import annotations

import numpy as np

from ...algebra import Algebra, Array
from ...formats import U16, U32
from ...operand_arrays import ALGEBRA, Arrays, ByteArray, Words, read
from ..matrix_descriptor import MatrixDescriptor
from .copies import CopyShape, copied
from .register_shapes import RegisterTile


def cells_of(tile: RegisterTile) -> tuple[int, ...]:
    """Return the extents of the cells that a warp reaches."""
    return tile.fragment.shape


def load(alg: Algebra, tile: RegisterTile, cells: Array) -> Array:
    """Return the registers (…, 32, r) of a warp that loads cells."""
    return tile.fragment.scatter(alg, alg.extract(cells, 0, U16) if tile.packed else cells)


def store(alg: Algebra, tile: RegisterTile, registers: Array) -> Array:
    """Return the cells that a warp's registers (…, 32, r) become; of packed ones their low halves."""
    return tile.fragment.gather(alg, registers)


def executed_load(name: str, tile: RegisterTile, arrays: Arrays) -> dict[str, Array]:
    """Execute a load."""
    given = read(name, {"cells": Words(cells_of(tile), U32.storage)}, arrays)
    return {"r": load(ALGEBRA, tile, given["cells"])}


def executed_store(name: str, tile: RegisterTile, arrays: Arrays) -> dict[str, Array]:
    """Execute a store."""
    given = read(name, {"r": Words(tile.fragment.words, U32.storage)}, arrays)
    return {"low" if tile.packed else "cells": store(ALGEBRA, tile, given["r"])}


def executed_copy(
    name: str, shape: CopyShape, fields: MatrixDescriptor, widened: str, arrays: Arrays
) -> dict[str, Array]:
    """Execute a copy of one CTA."""
    memory = read(name, {"memory": ByteArray()}, arrays)["memory"]
    return {"cells": np.asarray(copied(ALGEBRA, shape, fields, memory, widened=widened))}
