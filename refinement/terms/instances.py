"""Instances: terms equal to others up to a renaming of inputs.

The outputs of a kernel are mostly the same function of different elements. Two terms are of one shape if
they differ in nothing but which elements of which arrays they take, of which the same ends are known; one is
an instance of the other if besides, wherever that has one term, this has one too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import Format
from ...spec.operand_arrays import blocks
from .domains import Domain
from .input_ends import Ends
from .interning import Ids, RowTable
from .store import CONSTANT, INPUT, NORMAL_FORM, VECTOR, Operation, TermStore
from .traversal import by_operation, leaves_of, operands

SHARED, RELATED = ("shared",), ("related",)
"""Attributes of atoms in the place of sums: nothing is known of them but which is which, as of inputs."""

_UNKNOWN = -1
_LEAF = -7

_SAMPLE = 8
"""Rows that are looked at before all are, of more than `_ALL`: what is looked for may be between them."""

_ALL = 1024

_CELLS = 1 << 22
"""Terms in the place of others that are held in memory."""


class _Step(NamedTuple):
    """Operands of terms of one operation: places of terms, and of those in an operand's place."""

    operation: Operation
    parents: NDArray[np.intp]
    column: int
    children: NDArray[np.intp]
    first: NDArray[np.intp]
    """Indices of children that no step before has."""


class Shapes(Domain):
    """Numbers that are equal for terms that differ in nothing but which inputs they take."""

    def __init__(self, store: TermStore) -> None:
        super().__init__(store)
        self._rows = RowTable(4)
        self._vectors: dict[int, RowTable] = {}
        self._ends = RowTable(2 * (len(Ends._fields) - 1))
        self._compared = leaves_of(store, store.required)  # which hold of these elements, not of any others

    def leaf(self, operation: Operation, terms: Ids) -> Ids:
        """Return the shapes of leaves; one of which nothing else is known is of its own."""
        rows = np.full((len(terms), 3), _LEAF, dtype=np.int32)
        if operation.name == CONSTANT:
            rows = self.store.arguments(terms)
        elif operation.name == NORMAL_FORM and operation.attribute in (SHARED, RELATED):
            pass
        elif operation.name != INPUT:
            rows[:, 0] = terms
        elif (ends := self.store.ends.get(str(operation.attribute))) is not None:
            rows[:, 0] = self._of_ends(ends)[self.store.arguments(terms)[:, 0]]
        for place in np.flatnonzero(np.isin(terms, [*self.store.bounded, *self._compared])):
            rows[place, 1] = terms[place]
        return self._numbered(operation, list(rows.T))

    def _of_ends(self, ends: Ends) -> Ids:
        """Return numbers (n,) that are equal for elements of which the same is known."""
        columns = np.stack([np.asarray(end, dtype=np.float64) for end in ends[1:]], axis=1)
        words = columns.view(np.uint32).view(np.int32)
        return self._ends.numbers(np.ascontiguousarray(words))

    def transfer(self, operation: Operation, terms: Ids, read: Format | None) -> Any:
        """Return the shapes of terms of one operation."""
        found = super().transfer(operation, terms, read)
        return self._numbered(operation, [found]) if operation.name == VECTOR else found

    def vector(self, elements: Ids) -> Ids:
        """Return numbers of the rows of shapes that the elements of vectors have."""
        length = elements.shape[1]
        return self._vectors.setdefault(length, RowTable(length)).numbers(elements)

    def applied(self, operation: Operation, terms: Ids, given: list[Ids]) -> Ids:
        """Return the shapes of terms of one operation by those of its arguments."""
        return self._numbered(operation, given)

    def _numbered(self, operation: Operation, columns: Sequence[Ids]) -> Ids:
        rows = np.full((len(columns[0]), 4), _LEAF, dtype=np.int32)
        rows[:, 0] = self.store.number(operation)
        rows[:, 1 : 1 + len(columns)] = np.stack(columns, axis=-1)
        return self._rows.numbers(rows)


_KEPT: WeakKeyDictionary[TermStore, dict[tuple[bytes, bytes], NDArray[np.bool_]]] = WeakKeyDictionary()
_MOST_KEPT = 8
"""Answers of a store that are kept: they depend on the terms alone, which do not change."""


class TermInstances:
    """Finds instances of terms among others.

    Parameters
    ----------
    store : TermStore
        The terms.
    """

    def __init__(self, store: TermStore) -> None:
        self._store = store
        self._shapes = Shapes(store)

    def shapes(self, terms: Ids) -> Ids:
        """Return numbers (n,) that are equal for terms of one shape."""
        return self._shapes.values(terms)

    def of(self, pattern: Ids, others: Ids) -> NDArray[np.bool_]:
        """Tell which rows of terms (n, k) are instances of a pattern (k,) of the same shapes."""
        found: NDArray[np.bool_] = (others == pattern).all(axis=1)
        rest = np.flatnonzero(~found)
        if len(rest):
            found[rest] = self._kept(pattern, others[rest])
        return found

    def _kept(self, pattern: Ids, others: Ids) -> NDArray[np.bool_]:
        """Return what `_found` does: the same question is asked of outputs several times."""
        kept = _KEPT.setdefault(self._store, {})
        key = pattern.tobytes(), others.tobytes()
        if key not in kept:
            if len(kept) >= _MOST_KEPT:
                kept.clear()
            kept[key] = self._found(pattern, others)
        return kept[key]

    def _found(self, pattern: Ids, others: Ids) -> NDArray[np.bool_]:
        places: dict[int, int] = {}
        steps = self._steps(pattern, places)
        roots = np.array([places[each] for each in pattern.tolist()])
        found = np.empty(len(others), dtype=bool)
        for block in blocks(len(others), max(1, _CELLS // len(places))):
            images = np.empty((len(places), len(others[block])), dtype=np.int32)
            found[block] = self._are(steps, images, roots, others[block])
        return found

    def images(self, pattern: Ids, others: Ids, terms: Sequence[int]) -> tuple[NDArray[np.intp], Ids]:
        """Return which rows of terms (n, k) are instances of a pattern (k,), and their parts.

        Parameters
        ----------
        pattern : array of int
            Terms.
        others : array of int
            Rows of as many terms.
        terms : sequence of int
            Some that the pattern depends on.

        Returns
        -------
        tuple of arrays
            Indices of rows, and of each what it has in the place of these terms.
        """
        shapes = self.shapes(others.reshape(-1)).reshape(others.shape)
        alike = np.flatnonzero((shapes == self.shapes(pattern)).all(axis=1))
        places: dict[int, int] = {}
        steps = self._steps(pattern, places)
        roots = np.array([places[each] for each in pattern.tolist()])
        wanted = [places[term] for term in terms]
        rows, found = [np.empty(0, dtype=np.intp)], [np.empty((0, len(wanted)), dtype=np.int32)]
        for block in blocks(len(alike), max(1, _CELLS // len(places))):
            images = np.empty((len(places), len(alike[block])), dtype=np.int32)
            same = np.flatnonzero(self._are(steps, images, roots, others[alike[block]]))
            rows.append(alike[block][same])
            found.append(images[wanted][:, same].T)
        return np.concatenate(rows), np.concatenate(found)

    def renamings(self, rows: Ids) -> NDArray[np.intp]:
        """Return which rows of terms (n, k) are the first with inputs renamed, no two to the same one.

        Where two inputs become one, what is subtracted may become 0 for all inputs.
        """
        some = rows[1 :: len(rows) // _SAMPLE + 1]
        if len(rows) > _ALL and not len(self.images(rows[0], some, ())[0]):
            return np.zeros(1, dtype=np.intp)  # what comes in strides may be missed, which takes longer only
        leaves = leaves_of(self._store, rows[0])
        inputs = leaves[self._store.are(INPUT, leaves)].tolist()
        found, images = self.images(rows[0], rows, inputs)
        distinct: NDArray[np.intp] = found[(np.diff(np.sort(images, axis=1), axis=1) != 0).all(axis=1)]
        return distinct

    def patterns(self, rows: Ids, most: int) -> NDArray[np.intp]:
        """Return indices of rows of terms (n, k) of which all others are instances; `most` at most.

        Rows of which none of a few others is an instance are each of their own.
        """
        shapes = self.shapes(rows.reshape(-1)).reshape(rows.shape)
        left, found = np.arange(len(rows)), list[int]()
        while len(left) and len(found) < most:
            first, left = int(left[0]), left[1:]
            found.append(first)
            alike = (shapes[left] == shapes[first]).all(axis=1)
            places = np.flatnonzero(alike)
            some = places[:: len(places) // _SAMPLE + 1] if len(places) > _ALL else places
            if self.of(rows[first], rows[left[some]]).any():
                left = np.delete(left, places[self.of(rows[first], rows[left[places]])])
        return np.array(found, dtype=np.intp)

    def _steps(self, pattern: Ids, places: dict[int, int]) -> list[_Step]:
        """Return how all that a pattern depends on is reached, and number it in `places`."""
        steps: list[_Step] = []
        table = np.full(len(self._store), _UNKNOWN, dtype=np.int64)
        frontier = np.unique(pattern)
        table[frontier] = np.arange(len(frontier))
        count = len(frontier)
        reached = [frontier]
        while len(frontier):
            new = []
            for operation, members in by_operation(self._store, frontier):
                columns: list[Ids] = operands(self._store, operation, members)
                for column, children in enumerate(columns):
                    unplaced, first = np.unique(children, return_index=True)
                    fresh = table[unplaced] == _UNKNOWN
                    table[unplaced[fresh]] = count + np.arange(fresh.sum())
                    count += int(fresh.sum())
                    new.append(unplaced[fresh])
                    steps.append(
                        _Step(operation, table[members], column, table[children], np.sort(first[fresh]))
                    )
            frontier = np.concatenate([np.empty(0, dtype=np.int32), *new])
            reached.append(frontier)
        every = np.concatenate(reached).tolist()
        places.update(zip(every, table[every].tolist(), strict=True))
        return steps

    def _are(
        self, steps: list[_Step], images: Ids, roots: NDArray[np.intp], others: Ids
    ) -> NDArray[np.bool_]:
        """Tell which rows have one term in the place of each of the pattern's; note these in `images`."""
        images[roots] = others.T
        found: NDArray[np.bool_] = (images[roots] == others.T).all(axis=0)
        for step in steps:
            given = self._operands(step, images[step.parents])
            images[step.children[step.first]] = given[step.first]
            found &= (images[step.children] == given).all(axis=0)
        return found

    def _operands(self, step: _Step, terms: Ids) -> NDArray[Any]:
        """Return the operands (m, n) of terms (k, n) in a step."""
        if step.operation.name == VECTOR:
            elements = self._store.elements(terms)
            return elements.transpose(0, 2, 1).reshape(-1, terms.shape[1])
        return self._store.argument(terms, step.column)
