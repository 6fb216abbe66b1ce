"""Tensors in flat memory, for the programs that recordings become: elements read, and elements written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ...refinement.analysis.intervals import Interval
from ...refinement.expected.term_arrays import NotModelledError, TermArray
from ...refinement.expected.term_truths import TermTruths

TYPES = {
    "float64": np.float64, "float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16,
    "int8": np.int8, "uint8": np.uint8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
}  # fmt: skip
"""The types of elements, but of truths."""


def places(shape: Sequence[int], strides: Sequence[int], offset: int) -> NDArray[np.int64]:
    """Return where each element of a tensor is in its storage."""
    found = np.full(tuple(shape), offset, dtype=np.int64)
    for axis, (extent, stride) in enumerate(zip(shape, strides, strict=True)):
        steps = np.arange(extent, dtype=np.int64) * stride
        found = found + steps.reshape([extent if each == axis else 1 for each in range(len(shape))])
    return found


def elements_of(
    storage: NDArray[Any], shape: Sequence[int], strides: Sequence[int], offset: int
) -> NDArray[Any]:
    """Return the elements (n,) of a tensor in a storage of numpy: a view of it where they lie in order."""
    steps = [stride * storage.itemsize for stride in strides]
    return np.lib.stride_tricks.as_strided(storage[offset:], tuple(shape), steps, writeable=False).reshape(-1)


def view(storage: Any, dtype: str, shape: Sequence[int], strides: Sequence[int], offset: int) -> Any:
    """Return the elements of a tensor."""
    flat = storage.reshape((-1,))
    found = flat[places(shape, strides, offset)]
    return found != 0 if dtype == "bool" else found


def bounded(value: Any, extent: int) -> Any:
    """Return indices that are from 0 to less than an extent, as the contract requires (`data_conditions`)."""
    if not isinstance(value, TermArray):
        return value
    return TermArray(value.space, value.value, Interval(0, extent - 1))


def kind(value: Any) -> str:
    """Return ``b`` for an array of truths, ``i`` for one of integers, ``f`` for one of real numbers."""
    if isinstance(value, TermArray):
        return "f" if value.is_real else "b" if isinstance(value, TermTruths) else "i"
    return {"b": "b", "i": "i", "u": "i"}.get(value.dtype.kind, "f")


def rounded(value: Any, dtype: str) -> Any:
    """Return numbers as a tensor of a type holds them; those of f32 are real numbers."""
    if not isinstance(value, TermArray):
        value = np.asarray(value)
    if dtype == "bool":
        return np.where(value if kind(value) == "b" else value != 0, 1, 0)
    if kind(value) == "b":
        value = np.where(value, 1, 0)
    if dtype in ("float16", "bfloat16"):
        held = value.astype(TYPES[dtype])
        return held if isinstance(held, TermArray) else held.astype(np.float64)
    if dtype in ("float32", "float64"):
        return value * 1.0 if kind(value) == "i" else value
    return value.astype(TYPES[dtype]) if kind(value) == "f" else value


def stored(
    value: Any, dtype: str, shape: Sequence[int], strides: Sequence[int], offset: int
) -> tuple[NDArray[np.int64], Any]:
    """Return where the elements of a tensor are written, and what."""
    held = rounded(value, dtype)
    return places(shape, strides, offset), np.broadcast_to(held, tuple(shape))


def written(storage: Any, elements: int, change: tuple[NDArray[np.int64], Any]) -> Any:
    """Return a storage of which some elements have become others; all of them where there was none before."""
    at, values = change
    flat = values.reshape((-1,))
    if storage is None and at.size != elements:
        raise NotModelledError("memory that is written in part, and uninitialised before")
    if at.size == elements:
        order = np.zeros(elements, dtype=np.int64)
        order[at.reshape(-1)] = np.arange(at.size)
        return flat[order]
    before = storage.reshape((-1,))
    if isinstance(flat, TermArray) and not isinstance(before, TermArray):
        plain = np.asarray(before, dtype=np.float64 if flat.is_real else np.int64)
        before = flat.lifted(plain).cast(flat.value.format)
    made = before.copy()
    made[at.reshape(-1)] = flat
    return made
