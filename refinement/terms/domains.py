"""The driver of all abstract domains: what is known of a term follows from what it is made of.

A domain says what leaves are, and what an operation makes of its arguments; terms are gone through from the
bottom up, once each, in groups by operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import Format
from .interning import Ids
from .store import LEAVES, NORMAL_FORM, VECTOR, Operation, TermStore
from .traversal import by_operation, distinct, operands

Reading = tuple[Ids, Format | None]
"""Terms (of any shape), and the format in which they are read; None where that makes no difference."""


class Domain:
    """A function of the terms of a store, computed once for each.

    Parameters
    ----------
    store : TermStore
        The terms.

    Attributes
    ----------
    dtype : data type
        Of a value; structured, or with a shape, where there are several numbers of each term.
    unknown : scalar
        What is in the table of terms that nobody has asked for.
    join : ufunc
        Makes the values of the elements of a vector, or of the arguments of an operation without a rule of
        its own, one.
    """

    dtype: Any = np.int32
    unknown: ClassVar[Any] = 0
    join: ClassVar[np.ufunc] = np.bitwise_or

    def __init__(self, store: TermStore) -> None:
        self.store = store
        self._known: dict[Format | None, NDArray[np.bool_]] = {}
        self._tables: dict[Format | None, NDArray[Any]] = {}

    # -- what a domain is
    def depends(self, operation: Operation, terms: Ids, read: Format | None) -> Iterable[Reading]:
        """Return the terms on whose values those of one operation depend: by default, all arguments."""
        return [(operand, read) for operand in operands(self.store, operation, terms)]

    def transfer(self, operation: Operation, terms: Ids, read: Format | None) -> Any:
        """Return the values of terms of one operation, which depend on others in the table.

        None if they are in the table already.
        """
        if operation.name in LEAVES or operation.name == NORMAL_FORM:
            return self.leaf(operation, terms)
        table = self._tables[read]
        if operation.name == VECTOR:
            return self.vector(table[self.store.elements(terms)])
        given = [table[operand] for operand in operands(self.store, operation, terms)]
        return self.applied(operation, terms, given)

    def leaf(self, operation: Operation, terms: Ids) -> Any:
        """Return the values of inputs, constants, undefined terms and normal forms."""
        return 0

    def vector(self, elements: NDArray[Any]) -> Any:
        """Return the values of vectors by those of their elements (n, K)."""
        return self.join.reduce(elements, axis=1)

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return the values of terms of one operation by those of its arguments, each (n,)."""
        return self.join.reduce(given, axis=0)

    # -- the driver
    def table(self, read: Format | None = None) -> NDArray[Any]:
        """Return the values by term, of those that were asked for and what they depend on."""
        size, known = len(self.store), self._known.get(read)
        if known is None or len(known) < size:
            old = 0 if known is None else len(known)
            marks = np.zeros(max(size, 2 * old), dtype=bool)
            values = np.full(len(marks), self.unknown, self.dtype)
            if known is not None:
                marks[:old], values[:old] = known, self._tables[read]
            self._known[read], self._tables[read] = marks, values
        return self._tables[read]

    def put(self, terms: Ids, values: Any) -> None:
        """Note values that are known from elsewhere."""
        self.table()[terms], self._known[None][terms] = values, True

    def values(self, terms: Ids, read: Format | None = None) -> NDArray[Any]:
        """Return the values of terms (of any shape)."""
        self.fill(terms, read)
        return self._tables[read][terms]

    def fill(self, terms: Ids, read: Format | None = None) -> None:
        """Note the values of terms (of any shape), and of all that they depend on, in the table."""
        wanted = np.asarray(terms, dtype=np.int32).reshape(-1)
        self.table(read)
        if self._known[read][wanted].all():
            return
        pending: list[Reading] = [(wanted, read)]
        while pending:
            some, fmt = pending[-1]
            groups = list(by_operation(self.store, self._missing(some, fmt)))
            needed: dict[Format | None, list[Ids]] = {}
            for operation, members in groups:
                for each, other in self.depends(operation, members, fmt):
                    needed.setdefault(other, []).append(each.reshape(-1))
            missing = [(self._missing(np.concatenate(each), other), other) for other, each in needed.items()]
            if any(len(unknown) for unknown, _ in missing):
                pending += missing
                continue
            pending.pop()
            for operation, members in groups:
                values = self.transfer(operation, members, fmt)
                table = self.table(fmt)  # which has grown if terms were made
                if values is not None:
                    table[members] = values
                self._known[fmt][members] = True

    def _missing(self, terms: Ids, read: Format | None) -> Ids:
        """Return those of terms (n,) that have no value yet, each once, in increasing order."""
        self.table(read)
        return distinct(terms[~self._known[read][terms]])


NONE = -1
"""No term."""


class Reached(Domain):
    """The greatest of some terms that a term is made of, `NONE` where there is none.

    Parameters
    ----------
    store : TermStore
        The terms.
    some : array
        Those that are looked for; what they are made of is not.
    """

    join = np.maximum

    def __init__(self, store: TermStore, some: Ids) -> None:
        super().__init__(store)
        self.put(some, some)

    def leaf(self, operation: Operation, terms: Ids) -> int:
        """Return that a leaf is none of them."""
        return NONE


class Contains(Domain):
    """Whether a term is made of some operation, or is one.

    Parameters
    ----------
    store : TermStore
        The terms.
    is_one : callable
        Tells which operations are looked for.
    """

    dtype = bool
    unknown = False
    join = np.logical_or

    def __init__(self, store: TermStore, is_one: Callable[[Operation], bool]) -> None:
        super().__init__(store)
        self._is_one = is_one

    def leaf(self, operation: Operation, terms: Ids) -> bool:
        """Return that leaves are made of nothing."""
        return False

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return whether the operation is one, or what it is made of has one."""
        return self.join.reduce(given, axis=0) | self._is_one(operation)


class Rewriting(Domain):
    """Terms made again, with others in the place of some that they are made of."""

    def leaf(self, operation: Operation, terms: Ids) -> Any:
        """Return leaves as they are."""
        return terms

    def vector(self, elements: NDArray[Any]) -> Any:
        """Return vectors of what their elements are made into."""
        return self.store.vectors(elements)

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return an operation of what its arguments are made into, where that is something else."""
        arguments, found = operands(self.store, operation, terms), terms.copy()
        changed = np.any([one != other for one, other in zip(arguments, given, strict=True)], axis=0)
        if changed.any():
            found[changed] = self.store.apply(operation, *(each[changed] for each in given))
        return found
