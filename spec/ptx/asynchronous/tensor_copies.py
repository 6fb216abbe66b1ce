"""What tensor copies in tile mode move: boxes of tensors in global memory, to and from shared memory.

For each index i of the box (neighbours in memory first)::

    x_d = c_d + i_d * step_d              the element of the tensor, inside if 0 <= x_d < sizes_d
    address + x_0 * bytes + sum x_d * strides_d         where it is in global memory
    swizzle(start + number(i) * bytes)                  where it is in shared memory

A load fills what is outside, and completes the bytes of the whole box; a store leaves it. Coordinates are
signed; those of stores are not negative. Source: PTX ISA 9.1 sections 5.5 (tensors, swizzling modes) and
9.7.9.25 (tensor copies). That whole boxes are counted is how CUTLASS arms its barriers. What else no document
says is refused: which NaN fills, and how reductions of floats round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...algebra import Algebra, Array
from ...errors import InputError, UnsupportedError
from ...formats import U8, IntegerFormat
from ..matrix_descriptor import swizzled
from .tensor_map import CONVERTED, COPY_ALIGNMENT, TensorMap, require_legal

COORDINATE = IntegerFormat("s32", 32, signed=True)


def shared_address(tensor: TensorMap, indices: Sequence[Any], start: Any) -> Any:
    """Return where an element of a box is in shared memory: the address of its first byte.

    Parameters
    ----------
    tensor : TensorMap
        The map.
    indices : sequence
        Its place in the box, neighbours first: ints, arrays or Z3 terms.
    start : int, array or Z3 term
        Where the box begins.

    Raises
    ------
    UnsupportedError
        Of maps for which no document says how boxes lie.
    """
    (number,) = tensor.order.forward(*indices)
    return swizzled(number * tensor.element_bytes + start, tensor.swizzle)


def source(tensor: TensorMap, coordinates: Sequence[int]) -> tuple[Array, Array]:
    """Return where the elements of a box are in global memory, and which are inside of the tensor.

    Parameters
    ----------
    tensor : TensorMap
        The map.
    coordinates : sequence of int
        The first element of the box, along each dimension.

    Returns
    -------
    bytes : array of int (i0, i1, …)
        From the beginning of the tensor; 0 of those outside.
    inside : array of bool (i0, i1, …)

    Raises
    ------
    InputError
        If the coordinates are not as many as the dimensions, or no signed integers of 32 bits.
    """
    if len(coordinates) != tensor.rank:
        raise InputError(f"{tensor} takes {tensor.rank} coordinates, not {len(coordinates)}")
    if wrong := [c for c in coordinates if not -(1 << 31) <= c < 1 << 31]:
        raise InputError(f"coordinates are signed integers of 32 bits, not {wrong[0]}")
    places = np.indices(tensor.extents)
    steps = (tensor.element_bytes, *tensor.strides)
    inside, address = np.ones(tensor.extents, dtype=bool), np.zeros(tensor.extents, dtype=np.int64)
    for first, i, every, size, step in zip(
        coordinates, places, tensor.every, tensor.sizes, steps, strict=True
    ):
        x = first + i * every
        inside &= (x >= 0) & (x < size)
        address += x * step
    return np.where(inside, address, 0), inside


def _kept(tensor: TensorMap) -> None:
    require_legal(tensor)
    if tensor.element in CONVERTED:
        raise UnsupportedError(f"{tensor}: no document says what copies make of elements of {tensor.element}")


def _bytes_of(tensor: TensorMap, address: Array) -> Array:
    """Return the addresses of all bytes (…, bytes) of elements."""
    return address[..., np.newaxis] + np.arange(tensor.element_bytes)


def _in_memory(tensor: TensorMap, memory: Array, last: int, what: str) -> None:
    if last >= memory.shape[-1]:
        raise InputError(f"{tensor}: the box needs byte {last} of a {what} memory of {memory.shape[-1]}")


def _places(tensor: TensorMap, start: int, shared: Array) -> Array:
    """Return the addresses of the box's bytes (i0, i1, …, bytes) in shared memory."""
    if start % COPY_ALIGNMENT:
        raise InputError(f"{tensor}: the box begins at a multiple of {COPY_ALIGNMENT}, not at {start:#x}")
    places = _bytes_of(tensor, shared_address(tensor, tuple(np.indices(tensor.extents)), start))
    _in_memory(tensor, shared, int(places.max()), "shared")
    return places


def tensor_load(
    alg: Algebra, tensor: TensorMap, coordinates: Sequence[int], memory: Array, shared: Array, start: int
) -> Array:
    """Return shared memory after a load.

    Parameters
    ----------
    alg : Algebra
        What bytes are.
    tensor : TensorMap
        The map.
    coordinates : sequence of int
        The first element of the box.
    memory : array (…, bytes)
        Global memory from the beginning of the tensor on.
    shared : array (…, bytes)
        Shared memory before.
    start : int
        Where the box begins in it.

    Raises
    ------
    InputError
        If the map is not legal, coordinates or alignment are wrong, or a memory ends before the box.
    UnsupportedError
        Of what no document says.
    """
    _kept(tensor)
    address, inside = source(tensor, coordinates)
    if tensor.fill == "nan" and not inside.all():
        raise UnsupportedError(f"{tensor}: no document says which NaN stands for elements outside")
    places = _places(tensor, start, shared)
    _in_memory(tensor, memory, int(address.max(initial=0)) + tensor.element_bytes - 1, "global")
    read = memory[..., _bytes_of(tensor, address)]
    read = alg.where(inside[..., np.newaxis], read, alg.constant(0, U8))
    return _written(shared, places, read, np.ones_like(inside))


def tensor_store(
    alg: Algebra, tensor: TensorMap, coordinates: Sequence[int], memory: Array, shared: Array, start: int
) -> Array:
    """Return global memory after a store; the parameters and errors are those of `tensor_load`."""
    return _stored(alg, tensor, coordinates, memory, shared, start, None)


def tensor_reduce(
    alg: Algebra,
    tensor: TensorMap,
    coordinates: Sequence[int],
    memory: Array,
    shared: Array,
    start: int,
    *,
    operation: str,
) -> Array:
    """Return global memory after a reduction by ``add``, ``min``, ``max``, ``inc`` or ``dec`` of integers.

    The other parameters and errors are those of `tensor_load`.

    Raises
    ------
    UnsupportedError
        Of floats, whose rounding no document says, and of operations on bits.
    """
    return _stored(alg, tensor, coordinates, memory, shared, start, operation)


def _stored(
    alg: Algebra,
    tensor: TensorMap,
    coordinates: Sequence[int],
    memory: Array,
    shared: Array,
    start: int,
    operation: str | None,
) -> Array:
    _kept(tensor)
    if any(coordinate < 0 for coordinate in coordinates):
        raise InputError(f"{tensor}: coordinates of stores are not negative, unlike {tuple(coordinates)}")
    address, inside = source(tensor, coordinates)
    places = _bytes_of(tensor, address)
    _in_memory(tensor, memory, int(address.max(initial=0)) + tensor.element_bytes - 1, "global")
    read = shared[..., _places(tensor, start, shared)]
    if operation is not None:
        read = _reduced(alg, tensor, operation, memory[..., places], read)
    return _written(memory, places, read, inside)


def _written(memory: Array, places: Array, data: Array, where: Array) -> Array:
    """Return a memory (…, bytes) with the bytes (…, i0, i1, …, bytes) of some elements written."""
    batch = np.broadcast_shapes(memory.shape[:-1], data.shape[: data.ndim - places.ndim])
    after = np.broadcast_to(memory, (*batch, memory.shape[-1])).astype(
        np.result_type(memory.dtype, data.dtype)
    )
    elements = np.broadcast_to(data, (*batch, *places.shape))
    after[..., places[where]] = elements[..., where, :]
    return after


def _reduced(alg: Algebra, tensor: TensorMap, operation: str, old: Array, new: Array) -> Array:
    fmt = tensor.format
    counts = operation in ("inc", "dec") and tensor.element != "u32"
    if not isinstance(fmt, IntegerFormat) or operation not in _OPERATIONS or counts:
        raise UnsupportedError(f"{tensor}: what .{operation} makes of elements is not specified here")
    one, other = (alg.assemble(each, U8, range(0, fmt.bits, 8), fmt) for each in (old, new))
    result = _OPERATIONS[operation](alg, fmt, one, other)
    return np.stack([alg.extract(result, low, U8) for low in range(0, fmt.bits, 8)], axis=-1)


def _add(alg: Algebra, fmt: IntegerFormat, old: Array, new: Array) -> Array:
    return alg.wrap(alg.integer(old, fmt) + alg.integer(new, fmt), fmt)


_NATURAL = IntegerFormat("natural", 80, signed=False)


def _at_least(alg: Algebra, fmt: IntegerFormat, one: Array, other: Array) -> Array:
    return alg.in_range(alg.integer(one, fmt) - alg.integer(other, fmt), _NATURAL)


def _min(alg: Algebra, fmt: IntegerFormat, old: Array, new: Array) -> Array:
    return alg.where(_at_least(alg, fmt, old, new), new, old)


def _max(alg: Algebra, fmt: IntegerFormat, old: Array, new: Array) -> Array:
    return alg.where(_at_least(alg, fmt, old, new), old, new)


def _inc(alg: Algebra, fmt: IntegerFormat, old: Array, new: Array) -> Array:
    """Return ``old >= new ? 0 : old + 1``."""
    more = alg.wrap(alg.integer(old, fmt) + 1, fmt)
    return alg.where(_at_least(alg, fmt, old, new), alg.constant(0, fmt), more)


def _dec(alg: Algebra, fmt: IntegerFormat, old: Array, new: Array) -> Array:
    """Return ``old = 0 or old > new ? new : old - 1``."""
    less = alg.wrap(alg.integer(old, fmt) - 1, fmt)
    ends = alg.same(old, alg.constant(0, fmt)) | ~_at_least(alg, fmt, new, old)
    return alg.where(ends, new, less)


_OPERATIONS: dict[str, Callable[[Algebra, IntegerFormat, Array, Array], Array]] = {
    "add": _add, "min": _min, "max": _max, "inc": _inc, "dec": _dec,
}  # fmt: skip
