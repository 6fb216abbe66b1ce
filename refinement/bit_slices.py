"""Words as slices of terms: packing, shifting and masking move bits, so they leave no operation behind.

A word whose bits come from several terms is a `CONCATENATION`; its attribute lists, least significant
first, which bits of each element it takes. `join` makes the one normal form, so words with the same
bits are the identical term.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import operations
from .interning import Ids
from .terms import CONCATENATION, CONSTANT, Operation, TermStore, bits

Members = NDArray[np.intp]


class Slice(NamedTuple):
    """Bits ``low`` to ``low + width - 1`` of terms (n,), of which none is a concatenation."""

    terms: Ids
    low: int
    width: int


Table = int
"""A truth table as of ``lop3``: bit ``4·a + 2·b + c`` is the result for the bits a, b and c."""

A, B, C = 0xF0, 0xCC, 0xAA
"""The truth tables of the three arguments; every other follows with ``& | ^ ~``."""

_STRIDES = (4, 2, 1)


def groups(keys: NDArray[Any]) -> Iterator[Members]:
    """Yield the indices of the rows of `keys` (n, …) that are equal."""
    if not len(keys):
        return
    flat = keys.reshape(len(keys), -1)
    if (flat == flat[0]).all():
        yield np.arange(len(flat))
        return
    inverse = np.zeros(len(flat), dtype=np.intp)
    for column in flat.T:  # far faster than sorting rows
        if (column == column[0]).all():
            continue
        _, ranks = np.unique(column, return_inverse=True)
        _, inverse = np.unique(inverse * (int(ranks.max()) + 1) + ranks, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(inverse[order])) + 1)


def by_group(
    store: TermStore, words: Sequence[Ids], compute: Callable[[list[list[Slice]], Members], Ids]
) -> Ids:
    """Split words (n,) into slices, and compute terms for each group of members that are sliced alike."""
    stacked = np.stack(words, axis=-1).astype(np.int32)
    result = np.empty(len(stacked), dtype=np.int32)
    for members in groups(store.operation_numbers(stacked)):
        sliced = [slices(store, stacked[members, column]) for column in range(stacked.shape[1])]
        result[members] = compute(sliced, members)
    return result


def slices(store: TermStore, terms: Ids) -> list[Slice]:
    """Return the slices of terms (n,) of one operation, least significant first."""
    operation = store.operation(int(terms[0]))
    if operation.name != CONCATENATION:
        return [Slice(terms, 0, operation.result.bits)]
    parts = store.elements(store.arguments(terms)[:, 0])
    fields = operation.attribute
    assert isinstance(fields, tuple)
    return [Slice(parts[:, index], low, width) for index, (low, width) in enumerate(fields)]


def cut(sliced: Sequence[Slice], low: int, width: int) -> list[Slice]:
    """Return the slices of bits ``low`` to ``low + width - 1`` of a word."""
    found, start = [], 0
    for part in sliced:
        first, last = max(low, start), min(low + width, start + part.width)
        if first < last:
            found.append(Slice(part.terms, part.low + first - start, last - first))
        start += part.width
    return found


def join(store: TermStore, sliced: Sequence[Slice]) -> Ids:
    """Return the words (n,) made of slices, least significant first."""
    parts: list[Slice] = []
    for part in sliced:
        if not is_constant(store, part):
            parts.append(part)
        elif parts and is_constant(store, parts[-1]):
            parts[-1] = _adjoined(store, parts[-1], part)
        else:
            parts.append(_cut_constant(store, part))
    stacked = np.stack([part.terms for part in parts], axis=-1)
    follows = [below.low + below.width == above.low for below, above in pairwise(parts)]
    merges = (stacked[:, 1:] == stacked[:, :-1]) & np.array(follows, dtype=bool)
    result = np.empty(len(stacked), dtype=np.int32)
    for members in groups(merges):
        alike = [Slice(part.terms[members], part.low, part.width) for part in parts]
        result[members] = _concatenation(store, alike, merges[members[0]])
    return result


def is_constant(store: TermStore, part: Slice) -> bool:
    """Tell whether a slice is of constants."""
    return store.operation(int(part.terms[0])).name == CONSTANT


def _ones(width: int) -> np.uint64:
    return np.uint64((1 << width) - 1)


def _values(store: TermStore, part: Slice) -> NDArray[np.uint64]:
    """Return the values of a slice of constants."""
    return (store.constant_values(part.terms) >> np.uint64(part.low)) & _ones(part.width)


def _cut_constant(store: TermStore, part: Slice) -> Slice:
    if part.low == 0 and int(store.widths(part.terms[0])) == part.width:
        return part
    return Slice(store.constants(_values(store, part), part.width), 0, part.width)


def _adjoined(store: TermStore, below: Slice, above: Slice) -> Slice:
    low, high = _values(store, below), _values(store, above)
    width = below.width + above.width
    return Slice(store.constants(low | (high << np.uint64(below.width)), width), 0, width)


def _concatenation(store: TermStore, parts: Sequence[Slice], merges: NDArray[np.bool_]) -> Ids:
    merged = [parts[0]]
    for part, merge in zip(parts[1:], merges, strict=True):
        if merge:
            merged[-1] = merged[-1]._replace(width=merged[-1].width + part.width)
        else:
            merged.append(part)
    only = merged[0]
    if len(merged) == 1 and only.low == 0 and int(store.widths(only.terms[0])) == only.width:
        return only.terms
    fields = tuple((part.low, part.width) for part in merged)
    operation = Operation(CONCATENATION, bits(sum(width for _, width in fields)), attribute=fields)
    return store.apply(operation, store.vectors(np.stack([part.terms for part in merged], axis=-1)))


# -- what moves bits


def extract(store: TermStore, words: Ids, low: int, width: int) -> Ids:
    """Return bits ``low`` to ``low + width - 1`` of words, all in range."""
    if low == 0 and bool((store.widths(words) == width).all()):
        return words
    return by_group(store, [words], lambda sliced, _: join(store, cut(sliced[0], low, width)))


def concatenate(store: TermStore, words: Sequence[Ids]) -> Ids:
    """Return words joined, the first least significant."""
    return by_group(store, words, lambda sliced, _: join(store, [part for each in sliced for part in each]))


def constant_slice(store: TermStore, count: int, value: int, width: int) -> Slice:
    """Return a slice that is one constant in every member."""
    return Slice(np.full(count, store.constants(value, width), dtype=np.int32), 0, width)


def zero_extend(store: TermStore, words: Ids, width: int) -> Ids:
    """Return words with zeros above, `width` bits in all."""
    missing = width - int(store.widths(words[:1])[0])
    if not missing:
        return words
    zeros = constant_slice(store, len(words), 0, missing)
    return by_group(
        store, [words], lambda sliced, m: join(store, [*sliced[0], Slice(zeros.terms[m], 0, missing)])
    )


def sign_extend(store: TermStore, words: Ids, width: int) -> Ids:
    """Return words with their sign bit repeated above, `width` bits in all."""
    narrow = int(store.widths(words[:1])[0])
    if narrow == width:
        return words
    result = store.apply(operations.extend(width, narrow), words)
    known = store.are(CONSTANT, words)
    if known.any():
        values = store.constant_values(words[known])
        negative = (values >> np.uint64(narrow - 1)) & np.uint64(1)
        high = np.where(negative.astype(bool), _ones(width) & ~_ones(narrow), np.uint64(0))
        result[known] = store.constants(values | high, width)
    return result


def shift_left(store: TermStore, words: Ids, amount: int) -> Ids:
    """Return words moved up by `amount` bits, within their width."""
    width = int(store.widths(words[:1])[0])
    if amount >= width:
        return store.constants(np.zeros(len(words), dtype=np.uint64), width)

    def shifted(sliced: list[list[Slice]], members: Members) -> Ids:
        zeros = [constant_slice(store, len(members), 0, amount)] if amount else []
        return join(store, [*zeros, *cut(sliced[0], 0, width - amount)])

    return by_group(store, [words], shifted)


def shift_right(store: TermStore, words: Ids, amount: int, *, signed: bool) -> Ids:
    """Return words moved down by `amount` bits, zeros or the sign bit moving in."""
    width = int(store.widths(words[:1])[0])
    if signed:
        amount = min(amount, width - 1)
    elif amount >= width:
        return store.constants(np.zeros(len(words), dtype=np.uint64), width)
    high = extract(store, words, amount, width - amount)
    return (sign_extend if signed else zero_extend)(store, high, width)


# -- what combines bits


def bitwise(store: TermStore, table: Table, a: Ids, b: Ids, c: Ids) -> Ids:
    """Combine words bit by bit with a truth table; what constants decide leaves no operation behind."""
    words = np.stack(np.broadcast_arrays(a, b, c), axis=-1).astype(np.int32)
    known = store.are(CONSTANT, words)
    values = np.where(known, store.constant_values(words), np.uint64(0))
    keys = np.concatenate([store.operation_numbers(words).astype(np.uint64), values], axis=1)
    result = np.empty(len(words), dtype=np.int32)
    for members in groups(keys):
        sliced = [slices(store, words[members, column]) for column in range(3)]
        result[members] = join(store, [_combined(store, table, piece) for piece in _aligned(store, sliced)])
    return result


def _aligned(store: TermStore, words: Sequence[Sequence[Slice]]) -> Iterator[list[Slice]]:
    """Yield corresponding slices of words, split so that a constant is all zeros or all ones."""
    edges = {0}
    for word in words:
        start = 0
        for part in word:
            if is_constant(store, part):
                value = int(store.constant_values(part.terms[0])) >> part.low
                edges |= {start + i for i in range(1, part.width) if (value >> i ^ value >> (i - 1)) & 1}
            start += part.width
            edges.add(start)
    for low, high in pairwise(sorted(edges)):
        yield [cut(word, low, high - low)[0] for word in words]


def _combined(store: TermStore, table: Table, piece: Sequence[Slice]) -> Slice:
    width, count = piece[0].width, len(piece[0].terms)
    for part, stride in zip(piece, _STRIDES, strict=True):
        if is_constant(store, part):
            bit = int(store.constant_values(part.terms[0])) >> part.low & 1
            table = _restricted(table, stride, bit)
    for (one, first), (other, second) in combinations(zip(piece, _STRIDES, strict=True), 2):
        if one.low == other.low and (one.terms == other.terms).all():
            table = _identified(table, first, second)
    if table in (0, 0xFF):
        return constant_slice(store, count, int(_ones(width)) if table else 0, width)
    for part, own in zip(piece, (A, B, C), strict=True):
        if table == own:
            return part
    absent = np.full(count, store.constants(0, width), dtype=np.int32)
    used = [
        join(store, [part]) if _depends(table, stride) else absent
        for part, stride in zip(piece, _STRIDES, strict=True)
    ]
    operation = Operation(operations.BITWISE, bits(width), (bits(width),) * 3, attribute=table)
    return Slice(store.apply(operation, *used), 0, width)


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
