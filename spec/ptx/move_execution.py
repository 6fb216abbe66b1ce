"""Execute one matrix move or ``wmma`` move on named arrays, as `mmaproof run` does.

``ldmatrix``: ``memory`` uint8 (…, bytes) and ``addresses`` (…, 32) give ``d`` uint32 (…, 32, registers).
``stmatrix``: with ``r`` uint32 (…, 32, registers) too, they give ``memory``. ``movmatrix``: ``a`` uint32
(…, 32, 1) gives ``d``. ``wmma.load``: ``memory`` and the scalars ``address`` and, not by default,
``stride`` (elements) give the matrix ``d`` and ``d_bits``; ``wmma.store``: with ``d`` or ``d_bits`` they
give ``memory``.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..algebra import Array
from ..errors import InputError
from ..formats import U8, U32, Bits
from ..numpy_algebra import NumpyAlgebra
from ..operand_arrays import encodings, refuse_unknown, required, shown, words
from ..values import values_of_encodings
from .matrix_moves import MatrixMove, matrix_move, transpose
from .shared_memory import ldmatrix, stmatrix
from .variant import WARP_LANES, Family, Variant
from .wmma import MemoryOperand, memory_operand


def move(variant: Variant, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Execute a move.

    Raises
    ------
    InputError
        If an array is missing, unknown, or of the wrong shape, type or value, or an address is not valid.
    """
    match variant.family:
        case Family.MOVMATRIX:
            matrices = matrix_move(variant)
            refuse_unknown(arrays, ["a"], str(variant))
            return {"d": transpose(NumpyAlgebra(), matrices, _registers(variant, matrices, arrays, "a"))}
        case Family.LDMATRIX:
            refuse_unknown(arrays, ["memory", "addresses"], str(variant))
            return {
                "d": ldmatrix(matrix_move(variant), _memory(variant, arrays), _addresses(variant, arrays))
            }
        case Family.STMATRIX:
            refuse_unknown(arrays, ["memory", "addresses", "r"], str(variant))
            matrices = matrix_move(variant)
            registers = _registers(variant, matrices, arrays, "r")
            memory, addresses = _memory(variant, arrays), _addresses(variant, arrays)
            return {"memory": stmatrix(matrices, memory, addresses, registers)}
        case _:
            return _wmma(variant, memory_operand(variant), arrays)


def _wmma(variant: Variant, operand: MemoryOperand, arrays: Mapping[str, Array]) -> dict[str, Array]:
    stores = variant.family is Family.WMMA_STORE
    names = ["memory", "address", "stride"] + ["d", "d_bits"] * stores
    refuse_unknown(arrays, names, str(variant))
    memory = _memory(variant, arrays)
    address = _integer(variant, arrays, "address")
    stride = _integer(variant, arrays, "stride") if "stride" in arrays else None
    if stores:
        matrix = encodings(arrays, "d", operand.format, operand.extents, str(variant))
        return {"memory": operand.store(memory, address, matrix, stride)}
    bits = operand.load(memory, address, stride)
    return {"d": values_of_encodings(bits, operand.format), "d_bits": bits}


def _registers(variant: Variant, matrices: MatrixMove, arrays: Mapping[str, Array], name: str) -> Bits:
    shape = (WARP_LANES, matrices.registers)
    takes = f"{variant} takes {shown(shape)} uint32"
    return words(name, required(arrays, name, takes), U32.storage, shape)


def _memory(variant: Variant, arrays: Mapping[str, Array]) -> Bits:
    memory = required(arrays, "memory", f"{variant} takes (…, bytes) uint8")
    if memory.ndim == 0:
        raise InputError("memory is a single number; it must be (…, bytes) uint8")
    return words("memory", memory, U8.storage, memory.shape[-1:])


def _addresses(variant: Variant, arrays: Mapping[str, Array]) -> Array:
    addresses = required(arrays, "addresses", f"{variant} takes {shown((WARP_LANES,))} integers")
    if addresses.dtype.kind not in "iu" or addresses.shape[-1:] != (WARP_LANES,):
        raise InputError(
            f"addresses has dtype {addresses.dtype} and shape {addresses.shape}; it must be integers "
            f"{shown((WARP_LANES,))}"
        )
    return addresses.astype(np.int64)


def _integer(variant: Variant, arrays: Mapping[str, Array], name: str) -> int:
    value = required(arrays, name, f"{variant} takes an integer")
    if value.dtype.kind not in "iu" or value.size != 1:
        raise InputError(f"{name} has dtype {value.dtype} and shape {value.shape}; it must be one integer")
    return int(value.reshape(()))
