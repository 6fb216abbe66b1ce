"""Words as slices of terms: packing, shifting and masking move bits, so they leave no operation behind.

A word whose bits come from several terms is a `CONCATENATION`; its attribute lists, least significant
first, which bits of each element it takes, and whether the element is a constant. `join` makes the one
normal form, so words with the same bits are the identical term.

Words are handled many at a time. What is decided once for all of them must be the same in each: words are
grouped by the operation, which says of every slice where it lies and whether it is constant, and where the
values of constants matter, by these too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate, combinations, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import operations
from .evaluation import evaluate
from .interning import Ids
from .terms import CONCATENATION, CONSTANT, Operation, TermStore, bits

Members = NDArray[np.intp]


class Field(NamedTuple):
    """Bits ``low`` to ``low + width - 1`` of an element of a concatenation, a constant or not."""

    low: int
    width: int
    constant: bool


class Slice(NamedTuple):
    """Bits ``low`` to ``low + width - 1`` of terms (n,), all of them constants, or none.

    None is a concatenation.
    """

    terms: Ids
    low: int
    width: int
    constant: bool = False

    @property
    def field(self) -> Field:
        """Which bits these are."""
        return Field(self.low, self.width, self.constant)

    def at(self, members: Any) -> Slice:
        """Return the slices of some members."""
        return self._replace(terms=self.terms[members])


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
        return [Slice(terms, 0, operation.result.bits, operation.name == CONSTANT)]
    parts = store.elements(store.arguments(terms)[:, 0])
    return [Slice(parts[:, index], *field) for index, field in enumerate(fields(operation))]


def fields(operation: Operation) -> tuple[Field, ...]:
    """Return the fields of a concatenation, least significant first."""
    found = operation.attribute
    assert isinstance(found, tuple)
    return found


def cut(sliced: Sequence[Slice], low: int, width: int) -> list[Slice]:
    """Return the slices of bits ``low`` to ``low + width - 1`` of a word."""
    found, start = [], 0
    for part in sliced:
        first, last = max(low, start), min(low + width, start + part.width)
        if first < last:
            found.append(part._replace(low=part.low + first - start, width=last - first))
        start += part.width
    return found


def join(store: TermStore, sliced: Sequence[Slice]) -> Ids:
    """Return the words (n,) made of slices, least significant first."""
    parts: list[Slice] = []
    for part in sliced:
        if not part.constant:
            parts.append(part)
        elif parts and parts[-1].constant:
            parts[-1] = _adjoined(store, parts[-1], part)
        else:
            parts.append(constant_slice(store, _values(store, part), part.width))
    if len(parts) == 1 and parts[0].constant:
        return parts[0].terms
    stacked = np.stack([part.terms for part in parts], axis=-1)
    follows = [below.low + below.width == above.low for below, above in pairwise(parts)]
    merges = (stacked[:, 1:] == stacked[:, :-1]) & np.array(follows, dtype=bool)
    whole = store.widths(stacked[:, :1]) == sum(part.width for part in parts)
    keys = np.concatenate([merges, whole], axis=1)
    result = np.empty(len(stacked), dtype=np.int32)
    for members in groups(keys):
        *merged, is_whole = keys[members[0]]
        alike = _merged([part.at(members) for part in parts], merged)
        if len(alike) == 1 and is_whole:
            result[members] = alike[0].terms
        else:
            result[members] = _concatenation(store, alike)
    return result


def _ones(width: int) -> np.uint64:
    return np.uint64((1 << width) - 1)


def _values(store: TermStore, part: Slice) -> NDArray[np.uint64]:
    """Return the values of a slice of constants."""
    return (store.constant_values(part.terms) >> np.uint64(part.low)) & _ones(part.width)


def constant_slice(store: TermStore, values: NDArray[np.uint64], width: int) -> Slice:
    """Return a slice of constants (n,)."""
    return Slice(store.constants(values, width), 0, width, constant=True)


def _filled(store: TermStore, count: int, value: int, width: int) -> Slice:
    """Return a slice that is one constant in every member."""
    return Slice(np.full(count, store.constants(value, width), dtype=np.int32), 0, width, constant=True)


def _adjoined(store: TermStore, below: Slice, above: Slice) -> Slice:
    low, high = _values(store, below), _values(store, above)
    return constant_slice(store, low | (high << np.uint64(below.width)), below.width + above.width)


def _merged(parts: Sequence[Slice], merges: Sequence[np.bool_]) -> list[Slice]:
    """Return parts of which some are one with the part below."""
    merged = [parts[0]]
    for part, merge in zip(parts[1:], merges, strict=True):
        if merge:
            merged[-1] = merged[-1]._replace(width=merged[-1].width + part.width)
        else:
            merged.append(part)
    return merged


def _concatenation(store: TermStore, parts: Sequence[Slice]) -> Ids:
    found = tuple(part.field for part in parts)
    operation = Operation(CONCATENATION, bits(sum(field.width for field in found)), attribute=found)
    return store.apply(operation, store.vectors(np.stack([part.terms for part in parts], axis=-1)))


# -- what moves bits


def extract(store: TermStore, words: Ids, low: int, width: int) -> Ids:
    """Return bits ``low`` to ``low + width - 1`` of words, all in range."""
    if low == 0 and bool((store.widths(words) == width).all()):
        return words
    return by_group(store, [words], lambda sliced, _: join(store, cut(sliced[0], low, width)))


def concatenate(store: TermStore, words: Sequence[Ids]) -> Ids:
    """Return words joined, the first least significant."""
    return by_group(store, words, lambda sliced, _: join(store, [part for each in sliced for part in each]))


def zero_extend(store: TermStore, words: Ids, width: int) -> Ids:
    """Return words with zeros above, `width` bits in all."""
    missing = width - int(store.widths(words[:1])[0])
    if not missing:
        return words
    zeros = _filled(store, len(words), 0, missing)
    return by_group(store, [words], lambda sliced, members: join(store, [*sliced[0], zeros.at(members)]))


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
        zeros = [_filled(store, len(members), 0, amount)] if amount else []
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

    def combined(sliced: list[list[Slice]], members: Members) -> Ids:
        pieces = _aligned(sliced)
        keys = _deciding(store, pieces)
        result = np.empty(len(members), dtype=np.int32)
        for alike in groups(keys) if keys.size else [np.arange(len(members))]:
            some = [[part.at(alike) for part in piece] for piece in pieces]
            result[alike] = join(store, [_combined(store, table, part) for part in _even(store, some)])
        return result

    return by_group(store, np.broadcast_arrays(a, b, c), combined)


def _aligned(words: Sequence[Sequence[Slice]]) -> list[list[Slice]]:
    """Return corresponding slices of words."""
    edges = sorted({0, *(edge for word in words for edge in accumulate(part.width for part in word))})
    return [[cut(word, low, high - low)[0] for word in words] for low, high in pairwise(edges)]


def _deciding(store: TermStore, pieces: Sequence[Sequence[Slice]]) -> NDArray[np.uint64]:
    """Return keys (n, …) of what is computed: constants that meet terms, and which terms are the same."""
    keys = []
    for piece in pieces:
        if all(part.constant for part in piece):
            continue
        keys += [_values(store, part) for part in piece if part.constant]
        keys += [same.astype(np.uint64) for *_, same in _equals(piece)]
    return np.stack(keys, axis=-1) if keys else np.empty((0, 0), dtype=np.uint64)


def _equals(piece: Sequence[Slice]) -> Iterator[tuple[int, int, NDArray[np.bool_]]]:
    """Yield the strides of two arguments that may be the same terms, and where they are."""
    for (one, first), (other, second) in combinations(zip(piece, _STRIDES, strict=True), 2):
        if one.field == other.field and not one.constant:
            yield first, second, one.terms == other.terms


def _even(store: TermStore, pieces: Sequence[Sequence[Slice]]) -> Iterator[list[Slice]]:
    """Split pieces so that a constant that meets a term is all zeros or all ones."""
    for piece in pieces:
        width, edges = piece[0].width, {0, piece[0].width}
        known = [part for part in piece if part.constant]
        for part in known if len(known) < len(piece) else ():
            value = int(_values(store, part.at([0]))[0])
            edges |= {i for i in range(1, width) if (value >> i ^ value >> (i - 1)) & 1}
        for low, high in pairwise(sorted(edges)):
            yield [cut([part], low, high - low)[0] for part in piece]


def _combined(store: TermStore, table: Table, piece: Sequence[Slice]) -> Slice:
    """Combine slices in which constants that meet terms are all zeros or all ones."""
    width, count = piece[0].width, len(piece[0].terms)
    operation = partial(Operation, operations.BITWISE, bits(width), (bits(width),) * 3)
    if all(part.constant for part in piece):
        values = [_values(store, part) for part in piece]
        return constant_slice(store, evaluate(operation(table), values), width)
    for part, stride in zip(piece, _STRIDES, strict=True):
        if part.constant:
            table = _restricted(table, stride, int(_values(store, part.at([0]))[0]) & 1)
    for first, second, same in _equals(piece):
        if same.all():
            table = _identified(table, first, second)
    if table in (0, 0xFF):
        return _filled(store, count, int(_ones(width)) if table else 0, width)
    for part, own in zip(piece, (A, B, C), strict=True):
        if table == own:
            return part
    absent = np.full(count, store.constants(0, width), dtype=np.int32)
    used = [
        join(store, [part]) if _depends(table, stride) else absent
        for part, stride in zip(piece, _STRIDES, strict=True)
    ]
    return Slice(store.apply(operation(table), *used), 0, width)


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
