"""Windows that slide over arrays: convolutions and pools, on numbers and on terms."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray


def spread(value: Any, count: int) -> tuple[int, ...]:
    """Return a number for each axis."""
    if isinstance(value, int):
        return (value,) * count
    return tuple(value) * count if len(value) == 1 else tuple(value)


def _extent(size: int, kernel: int, stride: int, padding: int, dilation: int, *, ceil_mode: bool) -> int:
    """Return how many windows there are along an axis; with `ceil_mode` none begins in the padding behind."""
    free = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (-(-free // stride) if ceil_mode else free // stride) + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= size + padding else count


def windows(
    x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, *, ceil_mode: bool = False
) -> tuple[list[Any], list[NDArray[np.bool_]], list[NDArray[np.bool_]]]:
    """Return the elements at each place of a window, over all windows along the last axes.

    Returns
    -------
    list of array
        For each place, in row-major order; outside of the array some element.
    list of array of bool
        Where they are in the array.
    list of array of bool
        Where they are in it, or in its padding.
    """
    rank = 1 if isinstance(kernel, int) else len(kernel)
    axes = range(x.ndim - rank, x.ndim)
    settings = (spread(each, rank) for each in (kernel, stride, padding, dilation))
    kernels, strides, paddings, dilations = settings
    rows = list(zip(axes, kernels, strides, paddings, dilations, strict=True))
    counts = [_extent(x.shape[a], k, s, p, d, ceil_mode=ceil_mode) for a, k, s, p, d in rows]
    parts, inside, padded = [], [], []
    for place in product(*(range(each) for each in kernels)):
        part, there, near = x, np.ones((1,) * x.ndim, dtype=bool), np.ones((1,) * x.ndim, dtype=bool)
        for (axis, _, step, pad, gap), at, count in zip(rows, place, counts, strict=True):
            index = np.arange(count) * step - pad + at * gap
            size = x.shape[axis]
            shape = [count if each == axis else 1 for each in range(x.ndim)]
            there = there & ((index >= 0) & (index < size)).reshape(shape)
            near = near & (index < size + pad).reshape(shape)
            part = np.take(part, np.clip(index, 0, size - 1), axis=axis)
        parts.append(part)
        inside.append(np.broadcast_to(there, part.shape))
        padded.append(np.broadcast_to(near, part.shape))
    return parts, inside, padded


def convolution(
    x: Any,
    weight: Any,
    bias: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Any:
    """Return a convolution of any number of axes, see ``conv2d`` and ``conv_transpose2d`` of PyTorch."""
    count = weight.ndim - 2
    batched = x.ndim == weight.ndim
    x = x if batched else x.reshape((1, *x.shape))
    stride, padding, dilation, output_padding = (
        spread(each, count) for each in (stride, padding, dilation, output_padding)
    )
    are_numbers = type(x) is np.ndarray and type(weight) is np.ndarray
    if transposed and are_numbers:
        found = _spread_numbers(x, weight, stride, padding, dilation, output_padding, groups)
        found = found if bias is None else found + bias.reshape((1, -1, *((1,) * count)))
        return found if batched else found.reshape(found.shape[1:])
    if transposed:
        x, weight, padding = _turned(x, weight, stride, padding, dilation, output_padding, groups)
        stride = (1,) * count
    kernel, batch, outputs = tuple(weight.shape[2:]), x.shape[0], weight.shape[0]
    factors = weight.reshape((groups, outputs // groups, weight.shape[1], -1))
    if are_numbers:  # matrices are multiplied several times as fast
        taken = _windows_of_numbers(x, kernel, stride, padding, dilation)
        extents = taken.shape[2 + count :]
        rows = taken.reshape((batch, groups, -1, prod(extents)))
        found = np.matmul(factors.reshape((*factors.shape[:2], -1)), rows)
    else:
        parts, inside, _ = windows(x, kernel, stride, padding, dilation)
        taken = np.stack([np.where(there, part, 0) for part, there in zip(parts, inside, strict=True)])
        extents = taken.shape[3:]
        flat = taken.reshape((taken.shape[0], batch, groups, x.shape[1] // groups, -1))
        found = np.einsum("kbgcp,gock->bgop", flat, factors)
    found = found.reshape((batch, outputs, *extents))
    if bias is not None:
        found = found + bias.reshape((1, outputs, *((1,) * count)))
    return found if batched else found.reshape(found.shape[1:])


def _windows_of_numbers(
    x: NDArray[Any],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> NDArray[Any]:
    """Return the elements of all windows of x (b, c, *extents), as a view (b, c, *kernel, *windows)."""
    count = len(kernel)
    padded = np.pad(x, [(0, 0), (0, 0), *((each, each) for each in padding)])
    reach = tuple(gap * (size - 1) + 1 for size, gap in zip(kernel, dilation, strict=True))
    every = np.lib.stride_tricks.sliding_window_view(padded, reach, axis=tuple(range(2, 2 + count)))
    steps: list[Any] = [slice(None, None, step) for step in (*stride, *dilation)]
    chosen = every[(..., *steps)]
    return chosen.transpose((0, 1, *range(2 + count, 2 + 2 * count), *range(2, 2 + count)))


def _spread_numbers(
    x: NDArray[Any],
    weight: NDArray[Any],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    output_padding: Sequence[int],
    groups: int,
) -> NDArray[Any]:
    """Return a transposed convolution: for each place of the kernel, products are added where they belong."""
    batch, inputs, *extents = x.shape
    outputs, kernel = weight.shape[1], weight.shape[2:]
    settings = list(zip(extents, kernel, stride, dilation, output_padding, strict=True))
    full = [(size - 1) * step + gap * (taps - 1) + 1 + more for size, taps, step, gap, more in settings]
    found = np.zeros((batch, groups * outputs, *full))
    columns = x.reshape((batch, groups, inputs // groups, -1))
    factors = weight.reshape((groups, inputs // groups, outputs, *kernel)).swapaxes(1, 2)
    for place in np.ndindex(*kernel):
        products = np.matmul(factors[(..., *place)], columns).reshape((batch, groups * outputs, *extents))
        slices: list[Any] = [
            slice(at * gap, at * gap + (size - 1) * step + 1, step)
            for at, (size, _, step, gap, _) in zip(place, settings, strict=True)
        ]
        found[(..., *slices)] += products
    cut: list[Any] = [slice(pad, size - pad) for pad, size in zip(padding, full, strict=True)]
    return found[(..., *cut)]


def _turned(
    x: Any,
    weight: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    output_padding: Sequence[int],
    groups: int,
) -> tuple[Any, Any, tuple[int, ...]]:
    """Return a transposed convolution as one of spread inputs with a kernel that is turned round."""
    count = weight.ndim - 2
    for axis in range(count):
        at, step = 2 + axis, stride[axis]
        size = x.shape[at]
        index = np.arange((size - 1) * step + 1)
        shape = [len(index) if each == at else 1 for each in range(x.ndim)]
        x = np.where((index % step == 0).reshape(shape), np.take(x, index // step, axis=at), 0)
        reach = dilation[axis] * (weight.shape[at] - 1)
        before, after = reach - padding[axis], reach - padding[axis] + output_padding[axis]
        cut = slice(max(-before, 0), x.shape[at] - max(-after, 0))
        x = x[(slice(None),) * at + (cut,)]
        x = np.pad(x, [(max(before, 0), max(after, 0)) if each == at else (0, 0) for each in range(x.ndim)])
    weight = np.flip(weight, axis=tuple(range(2, 2 + count)))
    inputs, outputs = weight.shape[0], weight.shape[1]
    grouped = weight.reshape((groups, inputs // groups, outputs, *weight.shape[2:]))
    turned = np.moveaxis(grouped, 2, 1).reshape((groups * outputs, inputs // groups, *weight.shape[2:]))
    return x, turned, (0,) * count
