"""Words as slices of terms: packing, shifting and masking leave no operation behind.

Words that are extended by their sign, multiplied by a power of two, added to words whose bits are zero where
their own are not, less some of their own bits, or of which the carries of a sum are known, are slices too;
they are taken apart where bits of them are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from . import operations
from .interning import Ids
from .operations import Sum
from .segmented_sums import segmented
from .slices import Members, Slice, concatenation, cut, fields, filled, groups, join, sign, slices_of
from .store import CONCATENATION, CONSTANT, Operation, TermStore
from .truth_tables import A, B, Table, combined

_DEEPEST = 8
"""Sums within sums that are taken apart."""

Compute = Callable[[list[list[Slice]], Members], Ids]
"""From the slices of words that are sliced alike, and which ones these are, to terms."""


def by_group(store: TermStore, words: Sequence[Ids], compute: Compute, depth: int = _DEEPEST) -> Ids:
    """Split words (n,) into slices, and compute terms for each group of members that are sliced alike."""
    stacked = np.stack(words, axis=-1).astype(np.int32)
    result = np.empty(len(stacked), dtype=np.int32)
    for members in groups(store.operation_numbers(stacked)):
        columns = stacked[members].T
        apart = [taken_apart(store, column, depth) for column in columns]
        if all(one is column for one, column in zip(apart, columns, strict=True)):
            result[members] = compute([slices_of(store, column) for column in columns], members)
            continue
        for some in groups(store.operation_numbers(np.stack(apart, axis=-1))):
            sliced = [slices_of(store, column[some]) for column in apart]
            result[members[some]] = compute(sliced, members[some])
    return result


# -- words that are slices, though they were computed


def taken_apart(store: TermStore, words: Ids, depth: int = _DEEPEST) -> Ids:
    """Return words (n,) of one operation as concatenations, where they are slices in other words."""
    operation = store.operation(int(words[0]))
    if operation.name == operations.EXTEND:
        return _extension(store, operation, words, depth)
    if operation.name == operations.RING and depth:
        return _sum(store, operation, words, depth - 1)
    return words


def _extension(store: TermStore, operation: Operation, words: Ids, depth: int) -> Ids:
    missing = operation.result.bits - operation.operands[0].bits

    def extended(sliced: list[list[Slice]], _: Members) -> Ids:
        above = sign(store, sliced[0][-1], missing)
        if above.constant:
            return join(store, [*sliced[0], above])
        return concatenation(store, [*sliced[0], above])

    return by_group(store, [store.arguments(words)[:, 0]], extended, depth)


def _sum(store: TermStore, operation: Operation, words: Ids, depth: int) -> Ids:
    """Take sums apart in which at most one summand has each bit, or carries are known.

    Products by powers of two are summands.
    """
    how = operation.attribute
    assert isinstance(how, Sum)
    if how.products > 1:
        return words
    arguments = store.arguments(words)
    if how == Sum(0, 2):
        words = _masked_differences(store, operation, words, arguments[:, :2].T)
    members = np.flatnonzero(store.are(operations.RING, words))
    arguments, products = arguments[members], []
    if how.products:
        places, product = _multiples(store, arguments, depth)
        members, arguments, products = members[places], arguments[places], [product]
    summands = [*products, *(arguments[:, 2 * how.products + i] for i in range(how.addends))]
    if len(summands) > 1:
        apart = np.logical_and.reduce([_may_have_zeros(store, summand) for summand in summands])
        apart |= np.logical_or.reduce([_are_zero(store, summand) for summand in summands])
        members, summands = members[apart], [summand[apart] for summand in summands]
    if not len(members):
        return words
    # once, as sums within sums are taken apart again wherever they are combined
    total, *others = [_each_taken_apart(store, summand, depth) for summand in summands]
    disjoint = np.ones(len(members), dtype=bool)
    for other in others:
        common = bitwise(store, A & B, total, other, total, depth=0)
        disjoint &= store.are(CONSTANT, common) & (store.constant_values(common) == 0)
        total = bitwise(store, A | B, total, other, total, depth=0)
    result = words.copy()
    result[members[disjoint]] = total[disjoint]
    if others and not disjoint.all():
        found = segmented(store, [summand[~disjoint] for summand in summands])
        result[members[~disjoint]] = np.where(found < 0, words[members[~disjoint]], found)
    return result


def _masked_differences(store: TermStore, operation: Operation, words: Ids, sides: Ids) -> Ids:
    """Return sums of two words with ``x - (x & mask)`` as the other bits of x."""
    result, opposite = words.copy(), store.number(operations.negate(operation.result))
    for whole, other in (sides, sides[::-1]):
        some = np.flatnonzero(store.operation_numbers(other) == opposite)
        masked = store.arguments(other[some])[:, 0]
        some, masked = some[known := store.are(CONCATENATION, masked)], masked[known]
        if len(some):
            common = bitwise(store, A & B, whole[some], masked, masked, depth=0)
            rest = bitwise(store, A & (0xFF ^ B), whole[some], masked, masked, depth=0)
            result[some] = np.where(common == masked, rest, result[some])
    return result


def _each_taken_apart(store: TermStore, words: Ids, depth: int) -> Ids:
    result = words.copy()
    for members in groups(store.operation_numbers(words)):
        result[members] = taken_apart(store, words[members], depth)
    return result


def _multiples(store: TermStore, arguments: Ids, depth: int) -> tuple[Members, Ids]:
    """Return which products are by a power of two, and these."""
    known = store.are(CONSTANT, arguments[:, :2])
    first = known[:, 0]
    factors = store.constant_values(np.where(first, arguments[:, 0], arguments[:, 1]))
    powers = known.any(axis=1) & (factors != 0) & (factors & (factors - np.uint64(1)) == 0)
    members = np.flatnonzero(powers)
    others = np.where(first, arguments[:, 1], arguments[:, 0])[members].astype(np.int32)
    product = np.empty(len(members), dtype=np.int32)
    for alike in groups(factors[members]):
        amount = int(factors[members[alike[0]]]).bit_length() - 1
        product[alike] = shift_left(store, others[alike], amount, depth)
    return members, product


def _may_have_zeros(store: TermStore, words: Ids) -> NDArray[np.bool_]:
    """Tell which words may have bits that are known to be zero."""
    inner = np.where(store.are(operations.EXTEND, words), store.arguments(words)[:, 0], words)
    names = (CONSTANT, CONCATENATION, operations.RING)
    found: NDArray[np.bool_] = np.logical_or.reduce([store.are(name, inner) for name in names])
    return found


def _are_zero(store: TermStore, words: Ids) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = store.are(CONSTANT, words)
    found[found] = store.constant_values(words[found]) == 0
    return found


# -- what moves bits


def extract(store: TermStore, words: Ids, low: int, width: int) -> Ids:
    """Return bits ``low`` to ``low + width - 1`` of words, all in range."""
    if low == 0 and bool((store.widths(words) == width).all()):
        return words
    return by_group(store, [words], lambda sliced, _: join(store, cut(sliced[0], low, width)))


def concatenate(store: TermStore, words: Sequence[Ids]) -> Ids:
    """Return words joined, the first least significant."""
    return by_group(store, words, lambda sliced, _: join(store, [part for each in sliced for part in each]))


def rejoined(store: TermStore, operation: Operation, vectors: Ids) -> Ids:
    """Return the words (n,) of a concatenation, as slices of what its parts have become."""
    columns, own = list(store.elements(vectors).T), fields(operation)

    def made(sliced: list[list[Slice]], members: Members) -> Ids:
        pieces: list[Slice] = []
        for column, parts, field in zip(columns, sliced, own, strict=True):
            if field.repeats:
                pieces.append(sign(store, cut(parts, field.low, 1)[0], field.width))
            else:
                whole = [Slice(column[members], field)]
                pieces += whole if field.constant else cut(parts, field.low, field.width)
        return join(store, pieces)

    return by_group(store, columns, made)


def zero_extend(store: TermStore, words: Ids, width: int) -> Ids:
    """Return words with zeros above, `width` bits in all."""
    missing = width - int(store.widths(words[:1])[0])
    if not missing:
        return words
    zeros = filled(store, len(words), 0, missing)
    return by_group(store, [words], lambda sliced, members: join(store, [*sliced[0], zeros.at(members)]))


def sign_extend(store: TermStore, words: Ids, width: int) -> Ids:
    """Return words with their sign bit repeated above, `width` bits in all."""
    missing = width - int(store.widths(words[:1])[0])
    if not missing:
        return words
    return by_group(
        store, [words], lambda sliced, _: join(store, [*sliced[0], sign(store, sliced[0][-1], missing)])
    )


def shift_left(store: TermStore, words: Ids, amount: int, depth: int = _DEEPEST) -> Ids:
    """Return words moved up by `amount` bits, within their width."""
    width = int(store.widths(words[:1])[0])
    if amount >= width:
        return store.constants(np.zeros(len(words), dtype=np.uint64), width)

    def shifted(sliced: list[list[Slice]], members: Members) -> Ids:
        zeros = [filled(store, len(members), 0, amount)] if amount else []
        return join(store, [*zeros, *cut(sliced[0], 0, width - amount)])

    return by_group(store, [words], shifted, depth)


# -- what combines bits


def bitwise(store: TermStore, table: Table, a: Ids, b: Ids, c: Ids, depth: int = _DEEPEST) -> Ids:
    """Combine words bit by bit with a truth table; what constants decide leaves no operation behind."""
    words = np.broadcast_arrays(a, b, c)
    found = store.combined_words(table, words)
    if found is None:
        return by_group(store, words, lambda sliced, _: combined(store, table, sliced), depth)
    open_ = np.flatnonzero(found < 0)
    if len(open_):
        left = [word[open_] for word in words]
        found[open_] = by_group(store, left, lambda sliced, _: combined(store, table, sliced), depth)
    return found


def low_sums(store: TermStore, terms: Ids, width: int) -> Ids | None:
    """Return the low bits of sums modulo a power of two as the sums of the low bits; None of other words."""
    operation = store.operation(int(terms[0]))
    how = operation.attribute
    if not isinstance(how, Sum) or not (store.operation_numbers(terms) == store.number(operation)).all():
        return None
    if operation.name != operations.RING:
        return None
    arguments = store.arguments(terms)[:, : len(operation.operands)]
    low = extract(store, arguments.reshape(-1), 0, width).reshape(arguments.shape)
    return store.apply(operations.ring(width, how.products, how.addends), *low.T)
