"""Bitwise combinations of words by a truth table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from . import operations
from .evaluation import evaluate
from .interning import Ids
from .slices import Slice, constant_slice, cut, filled, groups, join, ones, slices_of, values
from .store import Operation, TermStore, bits

Table = int
"""A truth table as of ``lop3``: bit ``4·a + 2·b + c`` is the result for the bits a, b and c."""

A, B, C = 0xF0, 0xCC, 0xAA
"""The truth tables of the three arguments; every other follows with ``& | ^ ~``."""

_STRIDES = (4, 2, 1)

Run = list[Slice]
"""Neighbouring bits of words: one slice, or one and repetitions of its sign."""


def combined(store: TermStore, table: Table, words: Sequence[Sequence[Slice]]) -> Ids:
    """Return three sliced words (n,) combined; what constants decide leaves no operation behind."""
    pieces = _aligned(words)
    keys = _deciding(store, pieces)
    result = np.empty(len(words[0][0].terms), dtype=np.int32)
    for alike in groups(keys) if keys.size else [np.arange(len(result))]:
        some = [[[part.at(alike) for part in run] for run in piece] for piece in pieces]
        parts = [part for piece in _even(store, some) for part in _of_piece(store, table, piece)]
        result[alike] = join(store, parts)
    return result


def _aligned(words: Sequence[Sequence[Slice]]) -> list[list[Run]]:
    """Return corresponding runs of words."""
    edges = {0}
    for word in words:
        start = 0
        for part in word:
            if not part.field.repeats:
                edges.add(start)
            start += part.width
        edges.add(start)
    return [[cut(word, low, high - low) for word in words] for low, high in pairwise(sorted(edges))]


def _is_constant(run: Run) -> bool:
    return run[0].constant


def _deciding(store: TermStore, pieces: Sequence[Sequence[Run]]) -> NDArray[np.uint64]:
    """Return keys (n, …) of what is computed: constants that meet terms, and which terms are the same."""
    keys = []
    for piece in pieces:
        if all(map(_is_constant, piece)):
            continue
        keys += [values(store, run[0]) for run in piece if _is_constant(run)]
        keys += [same.astype(np.uint64) for *_, same in _equals(piece)]
    return np.stack(keys, axis=-1) if keys else np.empty((0, 0), dtype=np.uint64)


def _equals(piece: Sequence[Run]) -> Iterator[tuple[int, int, NDArray[np.bool_]]]:
    """Yield the strides of two arguments that may be the same terms, and where they are."""
    for (one, first), (other, second) in combinations(zip(piece, _STRIDES, strict=True), 2):
        if [part.field for part in one] == [part.field for part in other] and not _is_constant(one):
            same = [here.terms == there.terms for here, there in zip(one, other, strict=True)]
            yield first, second, np.logical_and.reduce(same)


def _even(store: TermStore, pieces: Sequence[Sequence[Run]]) -> Iterator[list[Run]]:
    """Split pieces so that a constant that meets a term is all zeros or all ones."""
    for piece in pieces:
        width = sum(part.width for part in piece[0])
        edges = {0, width}
        known = [run[0] for run in piece if _is_constant(run)]
        for part in known if len(known) < len(piece) else ():
            value = int(values(store, part.at([0]))[0])
            edges |= {i for i in range(1, width) if (value >> i ^ value >> (i - 1)) & 1}
        for low, high in pairwise(sorted(edges)):
            yield [cut(run, low, high - low) for run in piece]


def _of_piece(store: TermStore, table: Table, piece: Sequence[Run]) -> Run:
    """Combine runs in which constants that meet terms are all zeros or all ones."""
    width, count = sum(part.width for part in piece[0]), len(piece[0][0].terms)
    operation = partial(Operation, operations.BITWISE, bits(width), (bits(width),) * 3)
    if all(map(_is_constant, piece)):
        known = [values(store, part) for (part,) in piece]
        return [constant_slice(store, evaluate(operation(table), known), width)]
    for run, stride in zip(piece, _STRIDES, strict=True):
        if _is_constant(run):
            table = _restricted(table, stride, int(values(store, run[0].at([0]))[0]) & 1)
    for first, second, same in _equals(piece):
        if same.all():
            table = _identified(table, first, second)
    if table in (0, 0xFF):
        return [filled(store, count, int(ones(width)) if table else 0, width)]
    for run, own in zip(piece, (A, B, C), strict=True):
        if table == own:
            return run
    absent = np.full(count, store.constants(0, width), dtype=np.int32)
    used = [
        join(store, run) if _depends(table, stride) else absent
        for run, stride in zip(piece, _STRIDES, strict=True)
    ]
    return slices_of(store, store.apply(operation(table), *used))


def _row(table: Table, index: int) -> int:
    return table >> index & 1


def _restricted(table: Table, stride: int, value: int) -> Table:
    """Return a table with one argument fixed (and no longer mattering)."""
    return sum(_row(table, index & ~stride | stride * value) << index for index in range(8))


def _identified(table: Table, first: int, second: int) -> Table:
    """Return a table for equal arguments: the second no longer matters."""
    return sum(_row(table, index & ~second | (second if index & first else 0)) << index for index in range(8))


def _depends(table: Table, stride: int) -> bool:
    return any(_row(table, index) != _row(table, index ^ stride) for index in range(8))
