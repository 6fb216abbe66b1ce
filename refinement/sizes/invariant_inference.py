"""Invariant inference: terms of two iterations extrapolated to all iterations.

What two turns have in common is guessed to hold at all: integers and the places of elements go on as they
began, by equal steps. Nothing here is trusted. A guess that is wrong is found to be so when a turn is run
from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
from numpy.typing import NDArray

from ..terms.interning import Ids
from ..terms.store import CONCATENATION, CONSTANT, INPUT, UNDEFINED, VECTOR, Operation, bits
from ..terms.traversal import by_operation, operands
from .integer_forms import Rows
from .symbolic_terms import SymbolicTerms

HELD = "held by a loop"
"""The input that stands for what is held before a turn of a loop, whatever that is."""

NONE = np.int32(-1)


class TurnTerms:
    """Extrapolates terms of two iterations to any iteration.

    Parameters
    ----------
    store : SymbolicTerms
        The terms.
    arrays : collection of str
        Arrays whose elements lie at polynomials.
    turn : str
        The symbol that counts turns.
    is_wrapping : callable
        Tells which operations only wrap their operands: of these each is guessed, or held, by itself.
    """

    def __init__(
        self,
        store: SymbolicTerms,
        arrays: Collection[str],
        turn: str,
        is_wrapping: Callable[[Operation], bool] = lambda operation: False,
    ) -> None:
        self._store, self._arrays, self._is_wrapping = store, frozenset(arrays), is_wrapping
        (group,) = (each.symbols for each in store.symbols.groups if turn in each.symbols)
        self._columns = [
            (column, store.symbols.column(*monomial, turn))
            for column, monomial in enumerate(store.symbols.monomials)
            if not set(group) & set(monomial) and len(monomial) < store.symbols.degree
        ]
        self._held = 0

    # -- guesses
    def guess(self, first: Ids, second: Ids) -> Ids:
        """Return terms (n,) of any turn that are `first` at turn 0 and `second` at turn 1; -1 for none."""
        pairs, inverse = np.unique(np.stack([first, second], axis=1), axis=0, return_inverse=True)
        return self._guessed(pairs[:, 0], pairs[:, 1])[inverse.reshape(-1)]

    def _guessed(self, first: Ids, second: Ids) -> Ids:
        store = self._store
        found = np.where(first == second, first, NONE).astype(np.int32)
        rows, known = store.rows_of(first)
        later, also = store.rows_of(second)
        known &= also & (found < 0) & (store.widths(first) == store.widths(second))
        for width in np.unique(store.widths(first[known])).tolist():
            some = np.flatnonzero(known & (store.widths(first) == width))
            found[some] = store.integers(self._extended(rows[some], later[some]), width)
        numbers = store.operation_numbers(first)
        alike = (found < 0) & (numbers == store.operation_numbers(second))
        for number in np.unique(numbers[alike]).tolist():
            some = np.flatnonzero(alike & (numbers == number))
            found[some] = self._of_operation(store.operations[number], first[some], second[some])
        return found

    def _extended(self, rows: Rows, later: Rows) -> Rows:
        """Return polynomials that are some at turn 0 and others at turn 1; these don't depend on turns."""
        found = rows.copy()
        step = later - rows
        for column, moved in self._columns:
            found[:, moved] += step[:, column]
        # What moves by a size of the turns is no polynomial of these symbols: the guess will be found wrong.
        return found

    def _of_operation(self, operation: Operation, first: Ids, second: Ids) -> Ids:
        store = self._store
        if operation.name in (CONSTANT, UNDEFINED):
            return np.full(len(first), NONE)
        if operation.name == INPUT:
            if operation.attribute not in self._arrays:
                return np.full(len(first), NONE)
            rows, later = (store.rows_numbered(store.arguments(each)[:, 0]) for each in (first, second))
            return store.elements_at(str(operation.attribute), operation.result, self._extended(rows, later))
        if operation.name == VECTOR:
            return self._of_vectors(first, second, None)
        if operation.name == CONCATENATION:
            one, other = (store.arguments(each)[:, 0] for each in (first, second))
            parts = self._of_vectors(one, other, operation)
            return store.apply(operation, parts)
        pairs = list(zip(operands(store, operation, first), operands(store, operation, second), strict=True))
        if self._is_wrapping(operation):
            return store.apply(operation, *(self._guessed_or_held(*pair) for pair in pairs))
        columns = [self.guess(*pair) for pair in pairs]
        found = np.full(len(first), NONE)
        if columns:
            whole = np.flatnonzero(np.all([column >= 0 for column in columns], axis=0))
            found[whole] = store.apply(operation, *(column[whole] for column in columns))
        return found

    def _of_vectors(self, first: Ids, second: Ids, word: Operation | None) -> Ids:
        """Guess vectors; of those of a word, elements of which nothing is guessed are held."""
        store = self._store
        one, other = store.elements(first), store.elements(second)
        guess = self.guess if word is None else self._guessed_or_held
        elements = guess(one.reshape(-1), other.reshape(-1)).reshape(one.shape)
        whole = (elements >= 0).all(axis=1)
        found = np.full(len(first), NONE)
        if whole.any():
            found[whole] = store.vectors(elements[whole])
        return found

    def _guessed_or_held(self, first: Ids, second: Ids) -> Ids:
        """Return guesses, and where there is none, inputs that are the same for what changes alike."""
        numbers = self._store.are(CONSTANT, first) & (first != second)
        found = np.full(len(first), NONE)
        found[~numbers] = self.guess(first[~numbers], second[~numbers])
        missing = np.flatnonzero(found < 0)
        pairs = np.stack([first[missing], second[missing]], axis=1)
        distinct, where = np.unique(pairs, axis=0, return_inverse=True)
        found[missing] = self.held(distinct[:, 0])[where.reshape(-1)]
        return found

    def held(self, terms: Ids) -> Ids:
        """Return new inputs in the formats of terms (n,): each may be anything."""
        found = np.empty(len(terms), dtype=np.int32)
        for operation, _ in by_operation(self._store, np.unique(terms)):
            some = np.flatnonzero(self._store.operation_numbers(terms) == self._store.number(operation))
            fmt = (
                operation.result
                if operation.name not in (CONSTANT, UNDEFINED)
                else bits(operation.result.bits)
            )
            numbers = self._held + np.arange(len(some))
            found[some] = self._store.inputs(HELD, fmt, numbers)
            self._held += len(some)
        return found

    # -- other turns
    def moved(self, terms: Ids, move: Callable[[Rows], Rows]) -> Ids:
        """Return terms (…) with every polynomial in them replaced."""
        distinct, inverse = np.unique(terms.reshape(-1), return_inverse=True)
        start = int(distinct[:1].item() < 0) if len(distinct) else 0
        found = distinct.astype(np.int32)
        found[start:] = self._moved(distinct[start:].astype(np.int32), move)
        return found[inverse.reshape(-1)].reshape(terms.shape)

    def _moved(self, terms: Ids, move: Callable[[Rows], Rows]) -> Ids:
        store = self._store
        found = terms.copy()
        numbers = store.operation_numbers(terms)
        symbolic = store.is_integer(terms)
        for number in np.unique(numbers).tolist():
            operation = store.operations[number]
            some = np.flatnonzero(numbers == number)
            members = terms[some]
            if symbolic[some[0]]:
                rows, _ = store.rows_of(members)
                found[some] = store.integers(move(rows), operation.result.bits)
            elif operation.name == INPUT and operation.attribute in self._arrays:
                rows = store.rows_numbered(store.arguments(members)[:, 0])
                found[some] = store.elements_at(str(operation.attribute), operation.result, move(rows))
            elif operation.name == VECTOR:
                found[some] = store.vectors(self.moved(store.elements(members), move))
            elif columns := operands(store, operation, members):
                after = [self.moved(column, move) for column in columns]
                changed = np.any([one != other for one, other in zip(columns, after, strict=True)], axis=0)
                if changed.any():
                    some = some[changed]
                    found[some] = store.apply(operation, *(column[changed] for column in after))
        return found

    def bound(self, guessed: Ids, actual: Ids) -> tuple[Ids, Ids, NDArray[np.bool_]]:
        """Return held inputs in guesses (n,), what stands in their place, and where the rest agrees."""
        store = self._store
        held = self.is_held(guessed)
        agrees = held | (guessed == actual)
        inputs, values = [guessed[held]], [actual[held]]
        numbers = store.operation_numbers(guessed)
        open_ = ~agrees & (numbers == store.operation_numbers(actual))
        for number in np.unique(numbers[open_]).tolist():
            operation = store.operations[number]
            some = np.flatnonzero(open_ & (numbers == number))
            if operation.name == CONCATENATION:
                words = (store.arguments(each[some])[:, 0] for each in (guessed, actual))
                parts, others = (store.elements(word) for word in words)
            elif self._is_wrapping(operation):
                parts, others = (
                    np.stack(operands(store, operation, each[some]), axis=1) for each in (guessed, actual)
                )
            else:
                continue
            within = self.bound(parts.reshape(-1), others.reshape(-1))
            agrees[some] = within[2].reshape(parts.shape).all(axis=1)
            inputs.append(within[0])
            values.append(within[1])
        return np.concatenate(inputs), np.concatenate(values), agrees

    def is_held(self, terms: Ids) -> NDArray[np.bool_]:
        """Tell which terms are held inputs."""
        store = self._store
        named = np.array(
            [operation.name == INPUT and operation.attribute == HELD for operation in store.operations]
        )
        return np.asarray(named[store.operation_numbers(terms)])
