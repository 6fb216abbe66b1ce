"""Slices of terms, and the concatenations that they form.

A word whose bits come from several terms is a `CONCATENATION`; its attribute lists, least significant
first, which bits of each element it takes, and whether the element is a constant, or its bit a sign that is
repeated. `join` makes the one normal form, so words with the same bits are the identical term.

Words are handled many at a time. What is decided once for all of them must be the same in each: words are
grouped by the operation, which says of every slice where it lies and of which sort it is, and where the
values of constants matter, by these too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import operations
from .interning import Ids
from .store import CONCATENATION, CONSTANT, Operation, TermStore, bits

Members = NDArray[np.intp]


class Field(NamedTuple):
    """Which bits of an element a concatenation takes.

    Attributes
    ----------
    low, width : int
        Bits ``low`` to ``low + width - 1``.
    constant : bool
        Whether the element is a constant.
    repeats : bool
        Take bit ``low`` instead, `width` times.
    """

    low: int
    width: int
    constant: bool = False
    repeats: bool = False

    @property
    def top(self) -> int:
        """The highest bit."""
        return self.low if self.repeats else self.low + self.width - 1


class Slice(NamedTuple):
    """The same bits of terms (n,), all of them constants, or none; none is a concatenation."""

    terms: Ids
    field: Field

    @property
    def width(self) -> int:
        """How many bits these are."""
        return self.field.width

    @property
    def constant(self) -> bool:
        """Whether the terms are constants."""
        return self.field.constant

    def at(self, members: Any) -> Slice:
        """Return the slices of some members."""
        return Slice(self.terms[members], self.field)


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


def slices_of(store: TermStore, terms: Ids) -> list[Slice]:
    """Return the slices of terms (n,) of one operation, least significant first."""
    operation = store.operation(int(terms[0]))
    if operation.name != CONCATENATION:
        return [Slice(terms, Field(0, operation.result.bits, operation.name == CONSTANT))]
    parts = store.elements(store.arguments(terms)[:, 0])
    return [Slice(parts[:, index], field) for index, field in enumerate(fields(operation))]


def fields(operation: Operation) -> tuple[Field, ...]:
    """Return the fields of a concatenation, least significant first."""
    found = operation.attribute
    assert isinstance(found, tuple)
    return found


def cut(sliced: Sequence[Slice], low: int, width: int) -> list[Slice]:
    """Return the slices of bits ``low`` to ``low + width - 1`` of a word."""
    found, start = [], 0
    for terms, field in sliced:
        first, last = max(low, start), min(low + width, start + field.width)
        if first < last:
            offset = 0 if field.repeats else first - start
            found.append(Slice(terms, field._replace(low=field.low + offset, width=last - first)))
        start += field.width
    return found


# -- constants


def ones(width: int) -> np.uint64:
    """Return `width` ones."""
    return np.uint64((1 << width) - 1)


def values(store: TermStore, part: Slice) -> NDArray[np.uint64]:
    """Return the values of a slice of constants."""
    return (store.constant_values(part.terms) >> np.uint64(part.field.low)) & ones(part.width)


def constant_slice(store: TermStore, words: NDArray[np.uint64], width: int) -> Slice:
    """Return a slice of constants (n,)."""
    return Slice(store.constants(words, width), Field(0, width, constant=True))


def filled(store: TermStore, count: int, value: int, width: int) -> Slice:
    """Return a slice that is one constant in every member."""
    terms = np.full(count, store.constants(value, width), dtype=np.int32)
    return Slice(terms, Field(0, width, constant=True))


def sign(store: TermStore, top: Slice, width: int) -> Slice:
    """Return the highest bit of a slice, repeated."""
    if not top.constant:
        return Slice(top.terms, Field(top.field.top, width, repeats=True))
    negative = values(store, top) >> np.uint64(top.width - 1)
    return constant_slice(store, negative * ones(width), width)


# -- words


def join(store: TermStore, sliced: Sequence[Slice]) -> Ids:
    """Return the words (n,) made of slices, least significant first."""
    parts: list[Slice] = []
    for part in sliced:
        if not part.constant:
            parts.append(part)
        elif parts and parts[-1].constant:
            parts[-1] = _adjoined(store, parts[-1], part)
        else:
            parts.append(_cut_constant(store, part))
    if len(parts) == 1 and parts[0].constant:
        return parts[0].terms
    stacked = np.stack([part.terms for part in parts], axis=-1)
    continues = [_continues(below.field, above.field) for below, above in pairwise(parts)]
    merges = (stacked[:, 1:] == stacked[:, :-1]) & np.array(continues, dtype=bool)
    result = np.empty(len(stacked), dtype=np.int32)
    for members in groups(merges) if len(parts) > 1 else [np.arange(len(stacked))]:
        alike = [part.at(members) for part in parts]
        result[members] = _word(store, _merged(alike, merges[members[0]]))
    return result


def _cut_constant(store: TermStore, part: Slice) -> Slice:
    if part.field.low == 0 and (store.widths(part.terms) == part.width).all():
        return part
    return constant_slice(store, values(store, part), part.width)


def _adjoined(store: TermStore, below: Slice, above: Slice) -> Slice:
    low, high = values(store, below), values(store, above)
    return constant_slice(store, low | (high << np.uint64(below.width)), below.width + above.width)


def _continues(below: Field, above: Field) -> bool:
    """Tell whether a field goes on where another one of the same term ends: in its bits, or its sign."""
    if above.low == below.top and (above.repeats or above.width == 1):
        return True
    return not (below.repeats or above.repeats) and above.low == below.top + 1


def _merged(parts: Sequence[Slice], merges: Sequence[np.bool_]) -> list[Slice]:
    """Return parts of which some are one with the part below; before repetitions of a bit is the bit."""
    merged: list[Slice] = []
    for (terms, field), merge in zip(parts, [np.bool_(False), *merges], strict=True):
        if merge:
            below = merged[-1].field
            if (not below.repeats and field.low == below.top + 1) or below.repeats:
                merged[-1] = Slice(terms, below._replace(width=below.width + field.width))
            else:
                merged.append(Slice(terms, field._replace(repeats=True)))
        elif field.repeats:
            merged.append(Slice(terms, Field(field.low, 1)))
            if field.width > 1:
                merged.append(Slice(terms, field._replace(width=field.width - 1)))
        else:
            merged.append(Slice(terms, field))
    return merged


def _word(store: TermStore, parts: Sequence[Slice]) -> Ids:
    """Return the words of merged parts: a sign on top is an extension, and a whole term itself."""
    *below, (terms, field) = parts
    if field.repeats:
        narrow = sum(part.width for part in below)
        return store.apply(operations.extend(narrow + field.width, narrow), _word(store, below))
    if below or field.low:
        return concatenation(store, parts)
    whole = store.widths(terms) == field.width
    return terms if whole.all() else np.where(whole, terms, concatenation(store, parts)).astype(np.int32)


def concatenation(store: TermStore, parts: Sequence[Slice]) -> Ids:
    """Return the concatenations of slices as they are."""
    found = tuple(part.field for part in parts)
    operation = Operation(CONCATENATION, bits(sum(field.width for field in found)), attribute=found)
    return store.apply(operation, store.vectors(np.stack([part.terms for part in parts], axis=-1)))
