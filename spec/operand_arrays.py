"""Operands given as named arrays: what is there, of which shape, with which batch axes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from .algebra import Array
from .errors import InputError
from .formats import Bits, Format
from .values import checked_encodings, encodings_of_values


def shown(shape: Sequence[int]) -> str:
    """Spell a shape after its batch axes: ``(…, 4, 8)``."""
    return f"({', '.join(['…', *map(str, shape)])})"


def refuse_unknown(arrays: Mapping[str, Array], known: Sequence[str], instruction: str) -> None:
    """Refuse arrays that are no operand.

    Raises
    ------
    InputError
        Naming the first.
    """
    for name in arrays:
        if name not in known:
            raise InputError(f"{instruction} has no operand {name!r}; known: {', '.join(known)}")


def required(arrays: Mapping[str, Array], name: str, takes: str, why: str = "") -> Array:
    """Return an array that must be there.

    Raises
    ------
    InputError
        If it is not; `takes` says what the instruction takes, `why` what its absence means.
    """
    if name not in arrays:
        raise InputError(f"{missing(arrays, name, why)}; {takes}")
    return arrays[name]


def missing(arrays: Mapping[str, Array], name: str, why: str = "") -> str:
    """Say that an array is not there, and which are."""
    return f"{why}no array {name!r} (there are: {', '.join(arrays) or 'none'})"


def of_shape(name: str, array: Array, shape: Sequence[int]) -> Array:
    """Return an array whose last axes must be `shape`.

    Raises
    ------
    InputError
        If they are not.
    """
    if array.shape[max(0, array.ndim - len(shape)) :] != tuple(shape):
        raise InputError(f"{name} has shape {array.shape}; it must be {shown(shape)}, batch axes first")
    return array


def encodings(
    arrays: Mapping[str, Array], name: str, fmt: Format, shape: Sequence[int], instruction: str, why: str = ""
) -> Bits:
    """Return operand `name`, given as numbers, or as encodings in ``name_bits``.

    Raises
    ------
    InputError
        If neither or both are there, or the array is of the wrong shape, type or value.
    """
    given = [key for key in (name, f"{name}_bits") if key in arrays]
    if len(given) != 1:
        problem = f"both {name} and {name}_bits are given" if given else missing(arrays, name, why)
        raise InputError(f"{problem}; {instruction} takes one of them, {shown(shape)} of {fmt}")
    array = of_shape(given[0], arrays[given[0]], shape)
    read = encodings_of_values if given[0] == name else checked_encodings
    return read(given[0], array, fmt)


def words(name: str, array: Array, dtype: np.dtype[np.unsignedinteger], shape: Sequence[int]) -> Bits:
    """Return an array of raw registers or bytes.

    Raises
    ------
    InputError
        If its type or shape is another.
    """
    if array.dtype != dtype:
        raise InputError(f"{name} has dtype {array.dtype}; it must be {dtype}")
    return of_shape(name, array, shape)


def common_batch(operands: Mapping[str, Array], axes: Mapping[str, int]) -> tuple[int, ...]:
    """Return the batch axes that operands broadcast to; ``axes`` counts each operand's own.

    Raises
    ------
    InputError
        If they don't broadcast.
    """
    batches = {name: array.shape[: array.ndim - axes[name]] for name, array in operands.items()}
    if len(set(batches.values())) == 1:
        return next(iter(batches.values()))
    try:
        return np.broadcast_shapes(*batches.values())
    except ValueError:
        shapes = ", ".join(f"{name} {batch}" for name, batch in batches.items())
        raise InputError(f"the batch axes don't broadcast: {shapes}") from None


def flattened(
    operands: Mapping[str, Array], axes: Mapping[str, int], batch: tuple[int, ...]
) -> dict[str, Array]:
    """Broadcast operands to the batch axes that they have in common, and make these one axis."""
    flat = {}
    for name, array in operands.items():
        own = array.shape[array.ndim - axes[name] :]
        flat[name] = np.broadcast_to(array, (*batch, *own)).reshape(math.prod(batch), *own)
    return flat


def blocks(count: int, length: int) -> Iterator[slice]:
    """Yield slices of at most `length` of `count` items."""
    for start in range(0, count, max(1, length)):
        yield slice(start, start + max(1, length))
