"""Functions of numpy on arrays of terms: rearrangements, and sums of products."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from string import ascii_letters
from types import MappingProxyType
from typing import Any

import numpy as np

from ...spec.formats import FloatFormat
from ..terms.store import TermStore
from .term_array_arithmetic import UFUNCS, summed
from .term_arrays import NotModelledError, TermArray, TermSpace, format_of
from .term_truths import TRUTHS, chosen_by

MOVES = (
    np.reshape, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze, np.ravel, np.flip,
    np.fliplr, np.flipud, np.roll, np.rot90, np.take, np.take_along_axis, np.repeat, np.tile, np.diagonal,
    np.broadcast_to, np.delete, np.copy, np.atleast_1d, np.atleast_2d, np.resize,
)  # fmt: skip
"""Functions of one array whose result has its elements."""

JOINS = (np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack)
"""Functions of a list of arrays whose result has their elements."""


def called(function: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Return what a function of numpy gives of arrays of terms.

    Raises
    ------
    NotModelledError
        If it is none of those here.
    """
    if function in MOVES:
        first, *rest = arguments
        return first.moved(function(first.value.terms, *rest, **options))
    if function in JOINS:
        return _joined(function, list(arguments[0]), arguments[1:], options)
    if function in _FUNCTIONS:
        return _FUNCTIONS[function](*arguments, **options)
    raise NotModelledError(f"np.{getattr(function, '__name__', function)} of data")


def _alike(arrays: Sequence[Any]) -> list[TermArray]:
    """Return arrays as terms in one format."""
    some = next(array for array in arrays if isinstance(array, TermArray))
    lifted = [some.lifted(array) for array in arrays]
    formats = {each.value.format for each in lifted}
    if len(formats) == 1:
        return lifted
    if any(each.is_real for each in lifted):
        return [each.as_real().cast(some.space.working) for each in lifted]
    return [each.cast(_widest(lifted).narrowest()) for each in lifted]


def _joined(
    function: Callable[..., Any], arrays: Sequence[Any], arguments: Sequence[Any], options: Mapping[str, Any]
) -> TermArray:
    alike = _alike(arrays)
    found = alike[0].moved(function([each.value.terms for each in alike], *arguments, **options))
    found.within = None if alike[0].is_real else _widest(alike)
    return found


def _widest(arrays: Sequence[TermArray]) -> Any:
    first, *others = [array.within for array in arrays if array.within is not None]
    return first.union(*others)


def _where(condition: Any, then: Any, otherwise: Any) -> TermArray:
    if isinstance(condition, TermArray):
        left, right = _alike([condition.lifted(then), otherwise])
        found = chosen_by(condition, left, right)
    else:
        left, right = _alike([then, otherwise])
        truths = np.asarray(condition, dtype=bool)
        found = left.moved(np.where(truths, left.value.terms, right.value.terms))
    found.within = None if left.is_real else _widest([left, right])
    return found


def _sum(array: TermArray, axis: Any = None, *, keepdims: bool = False, **others: Any) -> TermArray:
    _refuse("sum", others)
    axes = range(array.ndim) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    total = summed([array], list(axes))
    kept = [
        extent
        for place, extent in enumerate(array.shape)
        if place not in {each % array.ndim for each in axes}
    ]
    return total if keepdims else total.reshape(tuple(kept))


def _mean(array: TermArray, axis: Any = None, *, keepdims: bool = False, **others: Any) -> TermArray:
    _refuse("mean", others)
    total = _sum(array.as_real(), axis, keepdims=keepdims)
    result: TermArray = total * (total.size / array.size)
    return result


def _refuse(name: str, others: Mapping[str, Any]) -> None:
    given = [key for key, value in others.items() if value is not None and value is not np._NoValue]
    if given:
        raise NotModelledError(f"np.{name} with {', '.join(given)}")


def _extreme(which: str) -> Callable[..., TermArray]:
    def found(array: TermArray, axis: Any = None, *, keepdims: bool = False, **others: Any) -> TermArray:
        _refuse(which, others)
        flat = array.ravel() if axis is None else array.moved(np.moveaxis(array.value.terms, axis, 0))
        result = flat[0]
        for place in range(1, flat.shape[0]):
            result = UFUNCS[which](result, flat[place])
        if not keepdims:
            return result
        terms = np.expand_dims(result.value.terms, tuple(range(array.ndim)) if axis is None else axis)
        return result.moved(terms)

    return found


def _einsum(subscripts: str, *operands: Any, **others: Any) -> TermArray:
    _refuse("einsum", {key: value for key, value in others.items() if key != "optimize"})
    some = next(operand for operand in operands if isinstance(operand, TermArray))
    arrays = [some.lifted(operand) for operand in operands]
    inputs, output = _labels(subscripts, [each.ndim for each in arrays])
    every = [*output, *dict.fromkeys(label for labels in inputs for label in labels if label not in output)]
    factors = []
    for labels, array in zip(inputs, arrays, strict=True):
        terms = array.value.terms
        if len(set(labels)) != len(labels):
            raise NotModelledError(f"np.einsum of {subscripts!r}: a label twice in one operand")
        order = [labels.index(label) for label in every if label in labels]
        shape = [terms.shape[labels.index(label)] if label in labels else 1 for label in every]
        factors.append(array.moved(terms.transpose(order).reshape(shape)))
    total = summed(factors, list(range(len(output), len(every))))
    return total.reshape(total.shape[: len(output)])


def _labels(subscripts: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """Return the labels of each operand and of the result; an ellipsis gets labels of its own."""
    left, arrow, output = subscripts.replace(" ", "").partition("->")
    inputs = left.split(",")
    if len(inputs) != len(ranks):
        raise ValueError(f"{subscripts!r} has {len(inputs)} operands, not {len(ranks)}")
    free = [letter for letter in ascii_letters if letter not in subscripts]
    wide = max(rank - len(each.replace("...", "")) for each, rank in zip(inputs, ranks, strict=True))
    spread = "".join(free[:wide])
    named = []
    for each, rank in zip(inputs, ranks, strict=True):
        missing = rank - len(each.replace("...", ""))
        named.append(each.replace("...", spread[wide - missing :] if missing else ""))
        if len(named[-1]) != rank:
            raise ValueError(f"{each!r} of {subscripts!r} is for {len(each)} axes, not {rank}")
    if not arrow:
        every = "".join(named)
        output = "".join(sorted(letter for letter in set(every) - set(spread) if every.count(letter) == 1))
        output = spread + output
    return named, output.replace("...", spread)


def product_of_matrices(left: TermArray, right: TermArray) -> TermArray:
    """Return ``left @ right`` as numpy has it, batches and vectors included."""
    if not left.ndim or not right.ndim:
        raise ValueError("matmul takes no scalars")
    a = "...ik" if left.ndim > 1 else "k"
    b = "...kj" if right.ndim > 1 else "k"
    rows, columns = "i" if left.ndim > 1 else "", "j" if right.ndim > 1 else ""
    return _einsum(f"{a},{b}->...{rows}{columns}", left, right)


def _dot(left: Any, right: Any) -> TermArray:
    some = left if isinstance(left, TermArray) else right
    arrays = [some.lifted(each) for each in (left, right)]
    if max(array.ndim for array in arrays) > 2:
        raise NotModelledError("np.dot of more than two axes")
    return product_of_matrices(*arrays)


def _outer(left: Any, right: Any) -> TermArray:
    return _einsum("i,j->ij", left, right)


def _tensordot(left: Any, right: Any, axes: Any = 2) -> TermArray:
    some = left if isinstance(left, TermArray) else right
    a, b = (some.lifted(each) for each in (left, right))
    pairs = (range(a.ndim - axes, a.ndim), range(axes)) if isinstance(axes, int) else np.atleast_2d(axes)
    first, second = list(ascii_letters[: a.ndim]), list(ascii_letters[a.ndim : a.ndim + b.ndim])
    for one, other in zip(*pairs, strict=True):
        second[other] = first[one]
    kept = [each for each in (*first, *second) if (first + second).count(each) == 1]
    return _einsum(f"{''.join(first)},{''.join(second)}->{''.join(kept)}", a, b)


def _triangle(keep: Callable[..., Any]) -> Callable[..., TermArray]:
    return lambda array, k=0: _where(keep(np.ones(array.shape[-2:], dtype=bool), k), array, 0)


def _zeros_like(array: TermArray, dtype: Any = None, **_: Any) -> TermArray:
    found = array.lifted(np.zeros(array.shape))
    return found.cast(array.value.format if dtype is None else format_of(dtype))


def _pad(array: TermArray, widths: Any, mode: str = "constant", constant_values: float = 0) -> TermArray:
    if mode != "constant":
        raise NotModelledError(f"np.pad with mode {mode!r}")
    inside = np.pad(np.ones(array.shape, dtype=bool), widths)
    terms = np.pad(array.value.terms, widths, mode="edge")
    return _where(inside, array.moved(terms), constant_values)


_FUNCTIONS: Mapping[Callable[..., Any], Callable[..., Any]] = MappingProxyType(
    {
        np.sum: _sum, np.mean: _mean, np.max: _extreme("maximum"), np.min: _extreme("minimum"),
        np.amax: _extreme("maximum"), np.amin: _extreme("minimum"), np.where: _where, np.einsum: _einsum,
        np.dot: _dot, np.inner: lambda x, y: _tensordot(x, y, ((-1,), (-1,))), np.outer: _outer,
        np.vdot: lambda x, y: _einsum("k,k->", x.ravel(), y.ravel()), np.tensordot: _tensordot,
        np.clip: lambda x, low, high: UFUNCS["minimum"](UFUNCS["maximum"](x, x.lifted(low)), x.lifted(high)),
        np.tril: _triangle(np.tril), np.triu: _triangle(np.triu), np.zeros_like: _zeros_like, np.pad: _pad,
        np.empty_like: _zeros_like, np.shape: lambda array: array.shape, np.ndim: lambda array: array.ndim,
        np.size: lambda array: array.size,
        np.trace: lambda array: _sum(array.moved(np.diagonal(array.value.terms))),
    }
)  # fmt: skip


class Functions:
    """Functions of numpy on arrays of terms; see `NumpyFunctions`."""

    def ufunc(
        self, ufunc: np.ufunc, method: str, arrays: Sequence[TermArray], options: Mapping[str, Any]
    ) -> Any:
        """Return what a universal function gives of arrays of terms; raises as `called`."""
        if method == "reduce" and ufunc is np.add:
            return called(np.sum, arrays, {"axis": 0} | dict(options))
        if method != "__call__" or options:
            raise NotModelledError(f"np.{ufunc.__name__}.{method}")
        if ufunc is np.matmul:
            return product_of_matrices(*arrays)
        applied = TRUTHS.get(ufunc.__name__) or UFUNCS.get(ufunc.__name__)
        if applied is None:
            raise NotModelledError(f"np.{ufunc.__name__} of data")
        return applied(*arrays)

    def function(
        self, function: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any]
    ) -> Any:
        """Return what another function gives of arrays of terms; raises as `called`."""
        return called(function, arguments, options)


def term_space(store: TermStore, working: FloatFormat) -> TermSpace:
    """Return where arrays of terms are made, with numpy's functions."""
    return TermSpace(store, working, Functions())
