"""If-conversion of branches on data: all paths are run, and their states merged where they meet.

This is if-conversion (J. Allen, K. Kennedy, C. Porterfield, J. Warren, "Conversion of Control Dependence to
Data Dependence", 1983), of code as it runs: a way has numbers for what loops count, so that ways with tails
of their own meet at the head of the loop that they go back to. The way that is behind goes first
(`code_order`), and two that come to one place become one, so that their number does not grow along a loop.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np

from ...spec.errors import UnsupportedError
from ..analysis.origins import Origin, Origins
from ..terms.store import TermStore
from ..terms.truth_tables import A, B
from .image.program import Image
from .state.code_order import CodeOrder, Position
from .state.merging import Merging
from .state.paths import Path, Paths
from .state.registers import Registers
from .state.storage import Storage
from .state.stores_of_paths import Stores
from .state.words import Data, UnknownNumberError, Word, WordArithmetic

MOST_STEPS = 1 << 14
"""Instructions run between a branch on data and where all ways have met, at most."""

MOST_WAYS = 64
"""At one time, at most."""


class Parting(NamedTuple):
    """A divergence: a branch on data.

    Attributes
    ----------
    condition : int
        A term of one bit.
    branches_if : bool
        What it is where the branch is taken.
    target, following : int
        Where the branch leads to, and where it does not.
    """

    condition: int
    branches_if: bool
    target: int
    following: int


@dataclass(frozen=True, eq=False)
class _Way:
    """A way that is gone for some data.

    Attributes
    ----------
    at : int
        Where it is.
    position : tuple
        The same in the order of the code.
    path : Path
        Which outcomes of branches lead here.
    registers : Registers
        What they hold.
    stores : Stores
        What it has stored.
    low : int
        The least address on the stack that may be used.
    rounds : dict of int to int
        How often it went round each loop.
    """

    at: int
    position: Position
    path: Path
    registers: Registers
    stores: Stores
    low: int
    rounds: dict[int, int] = field(default_factory=dict)


class Stepping(Protocol):
    """The protocol of a machine that if-conversion steps."""

    store: TermStore
    words: WordArithmetic
    storage: Storage
    registers: Registers
    image: Image
    path: Word
    parting: Parting | None
    entered: set[int]
    address: int

    def step(self, at: int) -> int:
        """Run the instruction at an address; return where it goes on."""

    def behind_call(self, at: int) -> int | None:
        """Return where a call returns to; None if the instruction is none."""

    def unsupported(self, what: str) -> UnsupportedError:
        """Return the error that something of the instruction that runs is not modelled."""


class BranchWays:
    """If-converts branches on data.

    Parameters
    ----------
    machine : Stepping
        Where they are run.
    scalars : collection of int
        The inputs that scalars are, of which cases are told apart where a branch depends on them alone.

    Attributes
    ----------
    keeps_apart : bool
        Whether ways at one place stay two while they go on with different numbers: of a loop that a compiler
        made two, each within the other, ways are in different rounds, and meet where it ends.
    mixed : bool
        Whether such have been made one.
    """

    def __init__(self, machine: Stepping, scalars: Collection[int]) -> None:
        self._machine = machine
        self._paths = Paths(machine.words)
        self._origins = Origins(machine.store, scalars)
        self._orders: dict[int, CodeOrder] = {}
        self.keeps_apart = False
        self.mixed = False
        self._depth = 0
        self._steps = 0

    def is_decided_by_data(self, condition: int) -> bool:
        """Tell whether a bit is neither undefined nor one of scalars alone, which are cases."""
        origins = self._origins.values(np.array([condition], dtype=np.int32))[0]
        return not (origins & Origin.UNDEFINED or origins == Origin.SCALAR)

    def meet(self, branch: int, parting: Parting) -> int:
        """Go all ways from a branch, and return where they meet.

        Parameters
        ----------
        branch : int
            The address of the branch.
        parting : Parting
            Where it leads.

        Raises
        ------
        UnsupportedError
            If they do not meet.
        UnknownNumberError
            If the condition depends on scalars alone, which are cases, or on what is undefined.
        """
        machine = self._machine
        if not self._depth:
            self._steps = 0
        self._depth += 1
        order, condition, low = self._order(branch), machine.path, machine.storage.low
        start = _Way(branch, (), self._paths.always, machine.registers, Stores(), low)
        ways = self._parted(order, start, branch, parting)
        while len(ways) > 1:
            way = min(ways, key=lambda each: each.position)
            if order.is_end(way.position):
                raise self._refused(branch, "its ways never meet")
            ways.remove(way)
            limit = min(each.position for each in ways)
            for each in self._gone(order, way, limit, condition):
                self._add(order, ways, each, branch)
            if len(ways) > MOST_WAYS:
                raise self._refused(branch, f"more than {MOST_WAYS} paths are followed at one time")
        (last,) = ways
        machine.registers, machine.path, machine.storage.low = last.registers, condition, last.low
        machine.storage.log.put(last.stores)
        self._depth -= 1
        return last.at

    def _order(self, branch: int) -> CodeOrder:
        """Return the order of the function that a branch is in, as far as its beginning is known."""
        starts = [each for each in self._machine.entered if each <= branch]
        for start in (max(starts, default=branch), branch):
            if start not in self._orders:
                self._orders[start] = CodeOrder(self._machine.image, start)
            if branch in self._orders[start]:
                break
        return self._orders[start]

    def _refused(self, branch: int, why: str) -> Exception:
        self._machine.address = branch
        return self._machine.unsupported(f"a branch depends on data, and {why}")

    def _parted(self, order: CodeOrder, way: _Way, branch: int, parting: Parting) -> list[_Way]:
        """Return the ways into which a branch parts one: two, or the one that is decided before."""
        if not self.is_decided_by_data(parting.condition):
            raise UnknownNumberError("a branch", parting.condition)
        found = []
        for at, holds in (
            (parting.target, parting.branches_if),
            (parting.following, not parting.branches_if),
        ):
            path = self._paths.narrowed(way.path, parting.condition, holds=holds)
            if not path:
                continue
            rounds = dict(way.rounds)
            order.step(branch, at, rounds)
            position = order.position(at, rounds)
            found.append(_Way(at, position, path, way.registers.copy(), way.stores, way.low, rounds))
        return found

    def _gone(self, order: CodeOrder, way: _Way, limit: Position, outside: int | Data) -> list[_Way]:
        """Go a way until it is not behind any more, or parts."""
        machine, storage = self._machine, self._machine.storage
        words = machine.words
        machine.registers, storage.low = way.registers, way.low
        machine.path = words.combined(A & B, outside, self._paths.condition(way.path), 1)
        storage.log.begin(way.stores)
        at, position, rounds, parting = way.at, way.position, dict(way.rounds), None
        moved = False
        try:
            while parting is None and (not moved or position < limit):
                before, at, moved = at, self._step(at), True
                parting, machine.parting = machine.parting, None
                if parting is None:
                    order.step(before, at, rounds)
                    position = order.position(at, rounds)
        finally:
            stores = storage.log.end()
        gone = replace(
            way,
            at=at,
            position=position,
            registers=machine.registers,
            stores=stores,
            low=storage.low,
            rounds=rounds,
        )
        return [gone] if parting is None else self._parted(order, gone, before, parting)

    def _step(self, at: int) -> int:
        """Run an instruction, and if it is a call the function that it calls."""
        machine = self._machine
        self._count(at)
        behind = machine.behind_call(at)
        stack = machine.registers.general[1]
        following = machine.step(at)
        if behind is None:
            return following
        while following != behind or machine.registers.general[1] != stack:
            before = following
            self._count(before)
            following = machine.step(before)
            if machine.parting is not None:
                parting, machine.parting = machine.parting, None
                following = self.meet(before, parting)
        return following

    def _count(self, at: int) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise self._refused(at, f"it controls more than {MOST_STEPS} instructions")

    def _is_elsewhere(self, order: CodeOrder, one: _Way, other: _Way) -> bool:
        """Tell whether two ways at one place go on with different numbers, such as those that loops count."""
        numbers = [(*way.registers.general, way.registers.count) for way in (one, other)]
        apart = [each for each, pair in enumerate(zip(*numbers, strict=True)) if _are_other_numbers(*pair)]
        return any(order.is_read(each, one.at) for each in apart)

    def _add(self, order: CodeOrder, ways: list[_Way], way: _Way, branch: int) -> None:
        """Add a way, or make it one with the way that is where it is."""
        there = [each for each in ways if (each.at, each.position) == (way.at, way.position)]
        elsewhere = [each for each in there if self._is_elsewhere(order, each, way)]
        if self.keeps_apart:
            there = [each for each in there if each not in elsewhere]
        elif elsewhere:
            self.mixed = True
        same = there[0] if there else None
        if same is None:
            ways.append(way)
            return
        if same.registers.general[1] != way.registers.general[1]:
            raise self._refused(branch, "its paths meet with different stack pointers")
        if same.registers.primed != way.registers.primed:
            raise self._refused(branch, "an accumulator is primed on one of its paths only")
        words, storage = self._machine.words, self._machine.storage
        condition, is_first = self._paths.telling_apart(same.path, way.path)
        one, other = (same, way) if is_first else (way, same)
        path = self._paths.joined(same.path, way.path)
        if not isinstance(condition, Data):
            ways[ways.index(same)] = replace(one if condition else other, path=path)
            return
        merging = Merging(words, condition.term)
        ways[ways.index(same)] = replace(
            same,
            path=path,
            registers=merging.registers(one.registers, other.registers),
            stores=merging.stores(storage.log, storage.lanes, one.stores, other.stores),
            low=min(one.low, other.low),
        )


def _are_other_numbers(one: Word, other: Word) -> bool:
    return isinstance(one, int) and isinstance(other, int) and one != other
