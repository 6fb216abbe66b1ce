"""``ldmatrix`` and ``stmatrix`` on a byte memory and one address from each lane, with all checks.

Source: PTX ISA 9.1 sections 9.7.14.5.15 (ldmatrix) and 9.7.14.5.16 (stmatrix).
"""

from __future__ import annotations

import numpy as np

from ..algebra import Array
from ..errors import InputError
from ..numpy_algebra import NumpyAlgebra
from ..operand_arrays import common_batch
from .matrix_move_forms import ROW_BYTES
from .matrix_moves import MatrixMove, lanes_that_need_addresses, load, row_addresses, store
from .variant import WARP_LANES


def ldmatrix(move: MatrixMove, memory: Array, addresses: Array, target: int = 80) -> Array:
    """Return the registers (…, 32, r) after a load.

    Parameters
    ----------
    move : MatrixMove
        The instruction.
    memory : array of uint8 (…, bytes)
        Shared memory.
    addresses : array of int (…, 32)
        What each lane has in its address register.
    target : int
        Number of the target architecture; on sm_75 the lanes whose address is unused need a valid one.

    Raises
    ------
    InputError
        If an address that must be valid is no multiple of 16 or its row is not inside the memory.
    """
    memory, places = _places(move, memory, addresses, target)
    rows = np.take_along_axis(memory, places, axis=-1)
    return load(NumpyAlgebra(), move, rows.reshape(*rows.shape[:-1], move.count, move.rows, ROW_BYTES))


def stmatrix(move: MatrixMove, memory: Array, addresses: Array, registers: Array) -> Array:
    """Return the memory after a store of registers (…, 32, r); the other arguments are those of `ldmatrix`.

    Raises
    ------
    InputError
        If an address is not valid, or if two rows have the same: which one stays is not defined.
    """
    rows = store(NumpyAlgebra(), move, registers)
    memory, places = _places(move, memory, addresses, target=90)
    _require_distinct(move, np.asarray(addresses))
    data = rows.reshape(*rows.shape[:-3], move.addresses * ROW_BYTES)
    batch = common_batch({"memory": memory, "r": data}, {"memory": 1, "r": 1})
    written, places, data = (
        np.broadcast_to(each, (*batch, each.shape[-1])) for each in (memory, places, data)
    )
    written = written.copy()
    np.put_along_axis(written, places, data, axis=-1)
    return written


def _places(move: MatrixMove, memory: Array, addresses: Array, target: int) -> tuple[Array, Array]:
    """Return the memory and the places in it of all bytes of all rows, with equal batch axes."""
    addresses = np.asarray(addresses)
    if addresses.ndim == 0 or addresses.shape[-1] != WARP_LANES:
        raise InputError(f"{move} takes an address from each of {WARP_LANES} lanes, not {addresses.shape}")
    _require_valid(move, addresses[..., : lanes_that_need_addresses(move, target)], memory.shape[-1])
    first = row_addresses(move, addresses).astype(np.int64)[..., np.newaxis]
    places = (first + np.arange(ROW_BYTES)).reshape(*addresses.shape[:-1], move.addresses * ROW_BYTES)
    batch = common_batch({"memory": memory, "addresses": places}, {"memory": 1, "addresses": 1})
    return np.broadcast_to(memory, (*batch, memory.shape[-1])), np.broadcast_to(
        places, (*batch, places.shape[-1])
    )


def _require_valid(move: MatrixMove, addresses: Array, size: int) -> None:
    misaligned = addresses % ROW_BYTES != 0
    outside = (addresses < 0) | (addresses > size - ROW_BYTES)
    if not (misaligned | outside).any():
        return
    first = tuple(np.argwhere(misaligned | outside)[0])
    lane, address = int(first[-1]), int(addresses[first])
    wrong = (
        f"is no multiple of {ROW_BYTES}"
        if misaligned[first]
        else f"names {ROW_BYTES} bytes that are not inside a memory of {size}"
    )
    raise InputError(f"{move}: the address {address:#x} of lane {lane} {wrong}")


def _require_distinct(move: MatrixMove, addresses: Array) -> None:
    used = addresses[..., : move.addresses]
    equal = np.triu(used[..., :, np.newaxis] == used[..., np.newaxis, :], k=1)
    if equal.any():
        *batch, one, other = np.argwhere(equal)[0]
        address = int(used[(*batch, one)])
        raise InputError(
            f"{move}: lanes {one} and {other} both store a row to {address:#x}; which one stays is undefined"
        )
