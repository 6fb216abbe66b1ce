"""Tickets: results of an atomic count that a kernel uses only to ask who is last.

Which thread gets which number is up to the order in which they come, so that a number itself is no value that
anything may rest on. A ticket is an undefined term; a predicate that depends on nothing else is decided, by
the number that the ticket has in the order of this run. At the end every such predicate is looked at for all
the numbers that the count went through: it must be the same for all of them, or another for the last one
alone. Then all that a run rests on is who came last; `every_order` lets everybody be that.

Whoever finds that it came last knows what those before it released: see `semaphores`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import UnsupportedError
from ....spec.ptx.open_results import ATOMIC_RESULT
from ...analysis.origins import Origin, Origins
from ...terms.assignments import Assignment
from ...terms.interning import Ids
from ...terms.store import CONSTANT, TermStore
from ...terms.traversal import leaves_of
from ..order.ordering import Ordering
from ..order.vector_clocks import Released
from ..registers.threads import Indices
from ..registers.values import KNOWN, Value
from ..text.module import Function
from ..text.operands import register_names

COUNTING = ("add", "inc", "dec")
"""Atomics of which what they return may be a ticket."""

NO_FENCE = "reads after a ticket see writes released before it, without a fence between"
"""What is taken for granted without a fence behind tickets; PTX ISA 9.1 chapter 8 asks for one."""


@dataclass
class _Ticket:
    """A number that a thread got.

    Attributes
    ----------
    word : int
        The lane of the count.
    name : int
        The thread, by its number in the grid.
    value : int
        The number.
    told : Released
        What those before it released.
    acquired : bool
        Whether the thread knows that for certain.
    strongly : bool
        Whether a sequentially consistent fence lies behind it.
    """

    word: int
    name: int
    value: int
    told: Released
    acquired: bool
    strongly: bool = False


@dataclass
class _Count:
    """A word that tickets are taken of.

    Attributes
    ----------
    line : int
        Where the first was.
    tickets : list of _Ticket
        In the order of this run.
    """

    line: int
    tickets: list[_Ticket] = field(default_factory=list)


class Tickets:
    """The tickets of a run.

    Parameters
    ----------
    store : TermStore
        The terms.
    """

    def __init__(self, store: TermStore) -> None:
        self._store = store
        self._origins = Origins(store, ())
        self._counts: dict[int, _Count] = {}
        self._tickets: dict[int, _Ticket] = {}
        self._decided: dict[int, _Ticket | None] = {}
        self._lines: dict[int, int] = {}

    def issue(
        self, word: int, name: int, value: int, width: int, told: Released, line: int, *, acquires: bool
    ) -> np.int32:
        """Return the term of a number that a thread gets.

        Parameters
        ----------
        word : int
            The lane of the count.
        name : int
            The thread, by its number in the grid.
        value, width : int
            The number, and its bits.
        told : Released
            What those before it released.
        line : int
            Of the instruction.
        acquires : bool
            Whether the thread knows that from here on; else from its next fence on.
        """
        (term,) = self._store.undefined(1, width, ATOMIC_RESULT)
        ticket = _Ticket(word, name, value, told, acquires)
        self._tickets[int(term)] = ticket
        self._counts.setdefault(word, _Count(line)).tickets.append(ticket)
        return np.int32(term)

    def fence(self, names: set[int], *, strong: bool) -> None:
        """Note that threads run a fence; `strong` if it is sequentially consistent."""
        for ticket in self._tickets.values():
            ticket.acquired |= ticket.name in names
            ticket.strongly |= strong and ticket.name in names

    def resolved(self, value: Value, threads: Indices, ordering: Ordering, line: int) -> Value:
        """Return predicates of some threads with those decided that depend on a ticket alone."""
        if not self._tickets or value.terms is None:
            return value
        found = value
        for term in np.unique(value.terms[value.terms != KNOWN]).tolist():
            ticket = self._ticket_of(term)
            if ticket is None:
                continue
            self._lines.setdefault(term, line)
            first = self._counts[ticket.word].tickets[0].value
            truth, before = self._truths(term, [ticket.value, first]).tolist()
            which = np.flatnonzero(value.terms == term)
            found = found.updated(which, Value(1, np.full(len(which), truth, dtype=np.uint64)))
            if truth != before:
                self._tell(ticket, threads[which], ordering)
        return found

    @property
    def lines(self) -> Iterator[tuple[int, int]]:
        """The lane and line of every count."""
        return ((word, count.line) for word, count in self._counts.items())

    def _ticket_of(self, term: int) -> _Ticket | None:
        """Return the ticket that a term depends on, if on nothing else."""
        if term not in self._decided:
            self._decided[term] = None
            terms = np.array([term], dtype=np.int32)
            if self._origins.values(terms)[0] == Origin.UNDEFINED:
                leaves = leaves_of(self._store, terms)
                open_ones = leaves[~self._store.are(CONSTANT, leaves)].tolist()
                self._decided[term] = self._tickets.get(open_ones[0]) if len(open_ones) == 1 else None
        return self._decided[term]

    def _truths(self, term: int, values: list[int]) -> NDArray[np.uint64]:
        """Return what a predicate is for some numbers of its ticket."""
        terms: Ids = np.array([term], dtype=np.int32)
        leaves = [each for each in leaves_of(self._store, terms).tolist() if each in self._tickets]
        found = [Assignment(self._store, {}, given={leaves[0]: value}).values(terms)[0] for value in values]
        return np.array(found, dtype=np.uint64)

    def _tell(self, ticket: _Ticket, threads: Indices, ordering: Ordering) -> None:
        told = ticket.told.everything
        counts = {key: each for key, each in told.items() if key < 0}  # it has them from the number
        for thread in threads.tolist():
            ordering.learn(thread, counts)
            if ticket.acquired:
                ordering.acquire(thread, ticket.told, strong=ticket.strongly)
            else:
                ordering.assumed.learn(thread, told)

    def arrivals(self, broken: Mapping[int, str]) -> tuple[Mapping[int, tuple[int, ...]], int]:
        """Return the threads that took tickets, in their order, of each count where it matters who is last.

        With them comes the line of the first such count, or 0.

        Parameters
        ----------
        broken : mapping of int to str
            Why words' values are not the same in every order, where they may not be.

        Raises
        ------
        UnsupportedError
            If more than that matters; the message begins with the line.
        """
        found: dict[int, tuple[int, ...]] = {}
        first = 0
        for term, line in self._lines.items():
            ticket = self._decided[term]
            assert ticket is not None
            count = self._counts[ticket.word]
            if ticket.word in broken:
                raise TicketError(f"its result is compared: {broken[ticket.word]}", count.line)
            values = [each.value for each in count.tickets]
            truths = self._truths(term, values)
            if (truths == truths[0]).all():
                continue
            if (truths[:-1] != truths[0]).any() or len(set(values)) < len(values):
                numbers = [each for each, truth in zip(values, truths, strict=True) if truth != truths[0]]
                which = f"{len(numbers)} of {len(values)}, {numbers[0]} the first of them"
                raise TicketError(
                    f"its result controls more than the last arrival in line {line}: values that make "
                    f"a difference are {which}",
                    count.line,
                )
            found[ticket.word] = tuple(each.name for each in count.tickets)
            first = first or count.line
        return found, first


def takes_tickets(function: Function) -> bool:
    """Tell whether a kernel reads what atomics on integers return."""
    returned = {
        name
        for each in function.body
        if each.opcode == "atom"
        and each.one_of(COUNTING)
        and each.one_of(("f16", "bf16", "f32", "f64")) is None
        for name in register_names(each.operands[:1])
    }
    return bool(returned) and any(
        name in returned
        for each in function.body
        for name in register_names(each.operands if each.opcode == "st" else each.operands[1:])
    )


class TicketError(UnsupportedError):
    """A kernel depends on more of the arrival order than on who is last.

    Parameters
    ----------
    message : str
        What.
    line : int
        Where.
    """

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line
