"""PyTorch's operations as programs in numpy, on numbers and on terms: one row of `OPERATIONS` each.

What is not here PyTorch takes apart into what is (`recorder`). Numbers are real numbers, rounded to the type
of a result where that is no f32; the sums and products of PyTorch are those of mathematics, in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import log, prod
from types import MappingProxyType
from typing import Any

import numpy as np

from ...refinement.expected.term_array_arithmetic import special_function
from ...refinement.expected.term_arrays import NotModelledError, TermArray
from ...refinement.terms.store import CONSTANT, INPUT
from ...refinement.terms.traversal import leaves_of
from .arrays import kind
from .windows import convolution, windows


def _plain(value: Any) -> bool:
    return not isinstance(value, TermArray)


def _rank(value: Any) -> int:
    return int(value.ndim) if hasattr(value, "ndim") else 0


def _axes(dims: Any, rank: int) -> tuple[int, ...]:
    """Return the axes that a ``dim`` names; all of them for None and for none."""
    if dims is None or (isinstance(dims, Sequence) and not dims):
        return tuple(range(rank))
    named = dims if isinstance(dims, Sequence) else (dims,)
    return tuple(each % max(rank, 1) for each in named)[: rank or None]


def _kept(x: Any, dims: Any) -> list[int]:
    """Return the extents that a reduction leaves."""
    axes = _axes(dims, _rank(x))
    return [extent for axis, extent in enumerate(x.shape) if axis not in axes]


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool) or (isinstance(value, TermArray | np.ndarray) and kind(value) == "b")


def _numbers(x: Any) -> Any:
    """Return truths as numbers."""
    return np.where(x, 1, 0) if _is_truth(x) else x


def _multiplied(x: Any, y: Any) -> Any:
    """Return a product; data, which are finite, times a truth are themselves or 0."""
    for number, truth in ((x, y), (y, x)):
        if _is_truth(truth) and not _plain(truth) and _is_data(number):
            return np.where(truth, number, 0)
    return _numbers(x) * _numbers(y)


def _is_data(value: Any) -> bool:
    """Tell whether an array is of numbers as they are given: of others, some may overflow."""
    if _plain(value) or not value.is_real:
        return False
    return bool(value.space.store.are(INPUT, value.value.terms.reshape(-1)).all())


def _sum(x: Any, dims: Any = None, keep: bool = False, dtype: Any = None) -> Any:
    axes = _axes(dims, _rank(x))
    return np.sum(_numbers(x), axis=axes, keepdims=keep) if axes else _numbers(x)


def _mean(x: Any, dims: Any = None, keep: bool = False, dtype: Any = None) -> Any:
    axes = _axes(dims, _rank(x))
    return _sum(x, dims, keep) / prod(x.shape[axis] for axis in axes)


def _var(
    x: Any, dims: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    if isinstance(dims, bool):
        dims, unbiased = None, dims
    axes = _axes(dims, _rank(x))
    count = prod(x.shape[axis] for axis in axes)
    correction = (0 if unbiased is False else 1) if correction is None else correction
    if count - correction <= 0:
        raise NotModelledError(f"a variance of {count} numbers with correction {correction}")
    off = x - _mean(x, axes, True)
    return _sum(off * off, axes, keepdim) / (count - correction)


def _extremum(which: str) -> Callable[..., Any]:
    along, two = (np.max, np.maximum) if which == "max" else (np.min, np.minimum)

    def found(x: Any, dim: Any = None, keep: bool = False) -> Any:
        if dim is not None and not isinstance(dim, int | Sequence):
            return two(x, dim)
        left = _kept(x, dim)
        for axis in sorted(_axes(dim, _rank(x)), reverse=True):
            x = along(x, axis=axis, keepdims=True)
        return x if keep else x.reshape(left)

    return found


def _argument(which: str) -> Callable[..., Any]:
    """Return the first index of the greatest or the least number, as PyTorch's CPU kernels have it."""

    def found(x: Any, dim: Any = None, keep: bool = False) -> Any:
        if dim is None:
            shape = (1,) * _rank(x) if keep else ()
            return found(x.reshape((-1,)), 0).reshape(shape)
        best = _extremum(which)(x, dim, True)
        axis, extent = dim % _rank(x), x.shape[dim]
        along = [extent if each == axis else 1 for each in range(_rank(x))]
        places = np.broadcast_to(np.arange(extent).reshape(along), x.shape)
        index = np.min(np.where(x == best, places, extent), axis=axis, keepdims=True)
        return index if keep else index.reshape(_kept(x, dim))

    return found


def _with_index(which: str) -> Callable[..., Any]:
    def found(x: Any, dim: Any = None, keep: bool = False) -> Any:
        if dim is None or not isinstance(dim, int):
            return _extremum(which)(x, dim)
        return _extremum(which)(x, dim, keep), _argument(which)(x, dim, keep)

    return found


def _running(combine: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def found(x: Any, dim: int, dtype: Any = None) -> Any:
        if not _rank(x):
            return x
        rows = np.moveaxis(_numbers(x), dim, 0)
        total, parts = rows[0], [rows[0]]
        for place in range(1, rows.shape[0]):
            total = combine(total, rows[place])
            parts.append(total)
        return np.moveaxis(np.stack(parts), 0, dim)

    return found


def _product(x: Any, dim: Any = None, keep: bool = False, dtype: Any = None) -> Any:
    rows = x.reshape((-1,)) if dim is None else np.moveaxis(x, dim, 0)
    found = reduce(np.multiply, [rows[place] for place in range(rows.shape[0])])
    if not keep:
        return found
    return found.reshape([1 if axis == dim % _rank(x) else n for axis, n in enumerate(x.shape)])


def _pow(x: Any, power: Any) -> Any:
    if _plain(power) and _rank(power) == 0:
        number = float(power)
        if number == int(number) and 0 <= number <= 16:
            return reduce(np.multiply, [x] * int(number)) if number else np.ones(np.shape(x))
        if number == int(number) and number < 0:
            return 1.0 / _pow(x, -number)
        if number in (0.5, -0.5):
            return np.sqrt(x) if number > 0 else 1.0 / np.sqrt(x)
        return np.exp(number * np.log(x))
    if _plain(x) and _rank(x) == 0 and float(x) > 0:
        return np.exp(power * log(float(x)))
    return np.exp(power * np.log(x))


def _divide(x: Any, y: Any, rounding_mode: Any = None) -> Any:
    if rounding_mode is not None:
        return {"floor": np.floor, "trunc": np.trunc}[rounding_mode](x / y)
    return x / y


def _clamp(x: Any, low: Any = None, high: Any = None) -> Any:
    x = x if low is None else np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


def _norm(x: Any, order: Any = 2, dims: Any = None, keep: bool = False, dtype: Any = None) -> Any:
    if order == 2:
        return np.sqrt(_sum(x * x, dims, keep))
    magnitude = np.maximum(x, -x)
    if order == 1:
        return _sum(magnitude, dims, keep)
    if order == float("inf"):
        return _extremum("max")(magnitude, dims, keep)
    raise NotModelledError(f"a norm of order {order}")


def _matmul(x: Any, y: Any) -> Any:
    labels = {(1, 1): "k,k->", (2, 1): "ik,k->i", (2, 2): "ik,kj->ij", (3, 3): "bik,bkj->bij"}
    return np.einsum(labels[_rank(x), _rank(y)], x, y)


def _plus_product(bias: Any, x: Any, y: Any, beta: float = 1, alpha: float = 1) -> Any:
    found = _matmul(x, y)
    found = found if alpha == 1 else found * alpha
    return found if beta == 0 else found + (bias if beta == 1 else bias * beta)


def _concatenated(arrays: Sequence[Any], dim: int = 0) -> Any:
    return np.concatenate([array for array in arrays if array.shape != (0,)], axis=dim)


def _padded(x: Any, pad: Sequence[int], value: float = 0) -> Any:
    widths = [(0, 0)] * (_rank(x) - len(pad) // 2)
    pairs = [(pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)]
    for axis, (before, after) in enumerate(reversed(pairs)):
        cut = slice(-before if before < 0 else 0, after if after < 0 else None)
        x = x[(slice(None),) * (len(widths) + axis) + (cut,)]
    widths += [(max(a, 0), max(b, 0)) for a, b in reversed(pairs)]
    return np.pad(x, widths, constant_values=value)


def _triangle(keep: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, diagonal=0: np.where(keep(np.ones(x.shape[-2:], dtype=bool), diagonal), x, 0)


def _max_pool(
    x: Any, kernel: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil: bool = False
) -> Any:
    parts, inside, _ = windows(x, kernel, stride or kernel, padding, dilation, ceil_mode=ceil)
    pairs = zip(parts, inside, strict=True)
    chosen = [part if there.all() else np.where(there, part, -np.inf) for part, there in pairs]
    return reduce(np.maximum, chosen), None


def _avg_pool(
    x: Any, kernel: Any, stride: Any = (), padding: Any = 0, ceil: bool = False, count_padding: bool = True,
    divisor: Any = None,
) -> Any:  # fmt: skip
    parts, inside, padded = windows(x, kernel, stride or kernel, padding, 1, ceil_mode=ceil)
    pairs = zip(parts, inside, strict=True)
    total = np.sum(np.stack([np.where(there, part, 0) for part, there in pairs]), axis=0)
    if divisor is not None:
        return total / divisor
    counts = np.sum(np.stack(padded if count_padding else inside).astype(np.int64), axis=0)
    return total / np.broadcast_to(counts, total.shape).astype(np.float64)


def _adaptive_average(x: Any, size: Sequence[int]) -> Any:
    for place, extent in enumerate(size):
        axis = _rank(x) - len(size) + place
        whole = x.shape[axis]
        parts = []
        for i in range(extent):
            low, high = i * whole // extent, -(-(i + 1) * whole // extent)
            part = x[(slice(None),) * axis + (slice(low, high),)]
            parts.append(_mean(part, axis, True))
        x = np.concatenate(parts, axis=axis)
    return x


def _indexed(x: Any, indices: Sequence[Any]) -> Any:
    if any(isinstance(index, TermArray) for index in indices):
        raise NotModelledError("an index that is data")
    return x[tuple(slice(None) if index is None else np.asarray(index).astype(np.int64) for index in indices)]


def _gathered(x: Any, dim: int, index: Any, sparse_grad: bool = False) -> Any:
    """Return ``x[index[i, j], j]`` for ``dim`` 0; of an index that is data it is chosen by comparisons."""
    axis = dim % _rank(x)
    x = x[tuple(slice(0, None if place == axis else n) for place, n in enumerate(index.shape))]
    if not isinstance(index, TermArray):
        return np.take_along_axis(x, np.asarray(index).astype(np.int64), axis=dim)
    rows = [np.take(x, [place], axis=dim) for place in range(x.shape[dim])]
    found = np.broadcast_to(rows[0], index.shape)
    for place, row in enumerate(rows[1:], start=1):
        found = np.where(index == place, np.broadcast_to(row, index.shape), found)
    return found


def _selected(x: Any, dim: int, index: Any) -> Any:
    if isinstance(index, TermArray):
        raise NotModelledError("an index that is data")
    return np.take(x, np.asarray(index).astype(np.int64), axis=dim)


def _softplus(x: Any, beta: float = 1, threshold: float = 20) -> Any:
    scaled = x * beta
    return np.where(scaled > threshold, x, np.log(1 + np.exp(np.minimum(scaled, threshold))) / beta)


def _log_softmax(x: Any, dim: int, half: bool = False) -> Any:
    off = x - _extremum("max")(x, dim, True)
    return off - np.log(_sum(np.exp(off), dim, True))


def _softmax(x: Any, dim: int, half: bool = False) -> Any:
    powers = np.exp(x - _extremum("max")(x, dim, True))
    return powers / _sum(powers, dim, True)


def _safe_softmax(x: Any, dim: int, dtype: Any = None) -> Any:
    """Return a softmax that is 0 where all of a row is -inf, which no row of finite numbers is."""
    if not _plain(x) and not _has_infinities(x):
        return _softmax(x, dim)
    masked = _extremum("max")(x, dim, True) == -np.inf
    return np.where(np.broadcast_to(masked, x.shape), 0.0, _softmax(x, dim))


_INFINITIES = np.array(
    [0x7C00, 0xFC00, 0x7F80, 0xFF80, 0x7F800000, 0xFF800000, 0x7FF << 52, 0xFFF << 52], dtype=np.uint64
)
"""Encodings of infinities, in floats of any width."""


def _has_infinities(x: Any) -> bool:
    """Tell whether an array of terms is made of infinite constants, among others."""
    store = x.space.store
    leaves = leaves_of(store, x.value.terms.reshape(-1))
    constants = leaves[store.are(CONSTANT, leaves)]
    return bool(np.isin(store.constant_values(constants), _INFINITIES).any())


def _gelu(x: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        inner = x + 0.044715 * (x * x * x)
        return 0.5 * x * (1 + np.tanh(0.7978845608028654 * inner))
    return 0.5 * x * (1 + special_function("erf", x * 0.7071067811865476))


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _elu(x: Any, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Any:
    """Return ELU; its constants are rounded one by one, as where they are written down."""
    return np.where(
        x > 0, x * scale, (np.exp(x if input_scale == 1 else x * input_scale) - 1) * alpha * scale
    )


def _truths(combine: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given: combine(*(each if _is_truth(each) else each != 0 for each in given))


OPERATIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "add": lambda x, y, alpha=1: _numbers(x) + (_numbers(y) if alpha == 1 else y * alpha),
        "sub": lambda x, y, alpha=1: x - (y if alpha == 1 else y * alpha),
        "rsub": lambda x, y, alpha=1: y - (x if alpha == 1 else x * alpha),
        "mul": _multiplied, "div": _divide, "neg": lambda x: -x,
        "abs": lambda x: np.maximum(x, -x), "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2,
        "log10": lambda x: np.log(x) * (1 / log(10)), "log1p": lambda x: np.log(1 + x),
        "expm1": lambda x: np.exp(x) - 1, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x),
        "reciprocal": lambda x: 1 / x, "square": lambda x: x * x, "sin": np.sin, "cos": np.cos,
        "tanh": np.tanh, "erf": lambda x: special_function("erf", x),
        "erfc": lambda x: 1 - special_function("erf", x),
        "sinh": lambda x: (np.exp(x) - np.exp(-x)) * 0.5, "cosh": lambda x: (np.exp(x) + np.exp(-x)) * 0.5,
        "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": np.rint,
        "sign": lambda x: np.where(x > 0, 1.0, np.where(x < 0, -1.0, 0.0)),
        "sigmoid": _sigmoid, "silu": lambda x: x * _sigmoid(x), "gelu": _gelu, "softplus": _softplus,
        "mish": lambda x: x * np.tanh(_softplus(x)),
        "relu": lambda x: np.maximum(x, 0), "pow": _pow, "clamp": _clamp, "clamp_min": np.maximum,
        "clamp_max": np.minimum, "maximum": np.maximum, "minimum": np.minimum,
        "elu": _elu, "hardtanh": lambda x, low=-1, high=1: _clamp(x, low, high),
        "eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y,
        "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
        "logical_and": _truths(np.logical_and), "logical_or": _truths(np.logical_or),
        "logical_not": _truths(np.logical_not), "bitwise_not": _truths(np.logical_not),
        "bitwise_and": _truths(np.logical_and), "bitwise_or": _truths(np.logical_or),
        "where": np.where,
        "prims.var": lambda x, dims, correction=1: _var(x, dims, correction=correction),
        "sum": _sum, "mean": _mean, "var": _var, "prod": _product, "amax": _extremum("max"),
        "amin": _extremum("min"), "max": _with_index("max"), "min": _with_index("min"),
        "argmax": _argument("max"), "argmin": _argument("min"), "cumsum": _running(np.add),
        "cumprod": _running(np.multiply), "linalg_vector_norm": _norm, "_softmax": _softmax,
        "_safe_softmax": _safe_softmax,
        "_log_softmax": _log_softmax,
        "mm": _matmul, "bmm": _matmul, "mv": _matmul, "dot": _matmul, "addmm": _plus_product,
        "addmv": _plus_product, "baddbmm": _plus_product, "convolution": convolution,
        "max_pool2d_with_indices": _max_pool, "max_pool3d_with_indices": _max_pool,
        "avg_pool1d": _avg_pool, "avg_pool2d": _avg_pool, "avg_pool3d": _avg_pool,
        "_adaptive_avg_pool2d": _adaptive_average, "_adaptive_avg_pool3d": _adaptive_average,
        "cat": _concatenated, "constant_pad_nd": _padded, "tril": _triangle(np.tril),
        "triu": _triangle(np.triu),
        "flip": lambda x, dims: np.flip(x, axis=tuple(dims)),
        "roll": lambda x, shifts, dims=(): np.roll(x, tuple(shifts), axis=tuple(dims) or None),
        "repeat": lambda x, counts: np.tile(x, tuple(counts)),
        "index": _indexed, "_unsafe_index": _indexed, "index_select": _selected,
        "gather": _gathered,
        "arange": np.arange,
        "scalar_tensor": np.asarray, "full": lambda size, value: np.full(tuple(size), value),
        "full_like": lambda x, value: np.full(x.shape, value), "clone": lambda x: x, "copy": lambda x: x,
        "_to_copy": lambda x, dtype=None: x, "lift_fresh_copy": lambda x: x,
    }
)  # fmt: skip
"""What each operation gives, of arrays of numbers or of terms."""
