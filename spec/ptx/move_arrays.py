"""Execute one matrix move or ``wmma`` move on named arrays, as `mmaproof run` does.

``ldmatrix``: ``memory`` uint8 (…, bytes) and ``addresses`` (…, 32) give ``d`` uint32 (…, 32, registers).
``stmatrix``: with ``r`` uint32 (…, 32, registers) too, they give ``memory``. ``movmatrix``: ``a`` uint32
(…, 32, 1) gives ``d``. ``wmma.load``: ``memory`` and the scalars ``address`` and, not by default,
``stride`` (elements) give the matrix ``d`` and ``d_bits``; ``wmma.store``: with ``d`` or ``d_bits`` they
give ``memory``.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..algebra import Array
from ..errors import InputError
from ..formats import U32
from ..operand_arrays import ALGEBRA, ArrayOperand, ByteArray, IntegerArray, Matrix, Words, read
from .choices import UNSPECIFIED, Choices
from .matrix_moves import matrix_move, transpose
from .shared_memory import ldmatrix, stmatrix
from .variant import WARP_LANES, Family, Variant
from .wmma import MemoryOperand, memory_operand


def move(variant: Variant, arrays: Mapping[str, Array], choices: Choices) -> dict[str, Array]:
    """Execute a move.

    Raises
    ------
    InputError
        If an array is missing, unknown, or of the wrong shape, type or value, an address is not valid, or
        the choice is that the order of what is loaded is not known.
    """
    if variant.family in (Family.WMMA_LOAD, Family.WMMA_STORE):
        return _wmma(variant, memory_operand(variant), arrays)
    matrices = matrix_move(variant)
    if matrices.expansion is not None and choices.narrow_rows == UNSPECIFIED:
        raise InputError(
            f"narrow-rows={UNSPECIFIED}: in which order {variant} finds values in a row is not known"
        )
    registers = Words((WARP_LANES, matrices.registers), U32.storage)
    at: dict[str, ArrayOperand] = {"memory": ByteArray(), "addresses": IntegerArray((WARP_LANES,))}
    match variant.family:
        case Family.MOVMATRIX:
            given = read(str(variant), {"a": registers}, arrays)
            return {"d": transpose(ALGEBRA, matrices, given["a"])}
        case Family.LDMATRIX:
            given = read(str(variant), at, arrays)
            return {"d": ldmatrix(matrices, given["memory"], given["addresses"])}
        case _:
            given = read(str(variant), {**at, "r": registers}, arrays)
            return {"memory": stmatrix(matrices, given["memory"], given["addresses"], given["r"])}


def _wmma(variant: Variant, operand: MemoryOperand, arrays: Mapping[str, Array]) -> dict[str, Array]:
    matrix = Matrix(operand.extents, operand.format)
    operands: dict[str, ArrayOperand] = {"memory": ByteArray(), "address": IntegerArray()}
    if "stride" in arrays:
        operands["stride"] = IntegerArray()
    if variant.family is Family.WMMA_STORE:
        operands["d"] = matrix
    given = read(str(variant), operands, arrays, unread={"stride": IntegerArray()})
    address, stride = int(given["address"]), int(given["stride"]) if "stride" in given else None
    if variant.family is Family.WMMA_STORE:
        return {"memory": operand.store(given["memory"], address, given["d"], stride)}
    return matrix.written("d", operand.load(given["memory"], address, stride))
