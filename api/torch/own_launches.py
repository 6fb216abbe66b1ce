"""The steps of a recording on numbers: launches by some of their blocks, the host's own by numpy."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ...refinement.findings.finding import Kind
from ...refinement.ptx.instruction_set import is_arithmetic
from ...refinement.ptx.numeric.faults import BudgetError, Fault, FaultError
from ...refinement.ptx.numeric.float_kinds import KINDS, overflows, rounded_words
from ...refinement.ptx.numeric.machine import Program
from ...refinement.ptx.numeric.memory import KNOWN, UNKNOWN, Stored, address, folded, stored
from ...refinement.ptx.outline.control_part import memory_part, store_part
from ...refinement.ptx.registers.threads import WARP
from ...refinement.ptx.registers.threads import Launch as Grid
from ...refinement.ptx.run.launch_legality import violations
from ...refinement.ptx.text.module import Module
from ...spec.errors import UnsupportedError
from .arrays import TYPES
from .arrays import stored as stored_elements
from .ends_of_arrays import Ends, bases, neighbours, shifted_to
from .own_numbers import Numbers
from .programs import HEAD, call, needed, views_in, writes
from .recording import Launch, Operation, Passed, Pointer, Recording, Storage, identifiers

ALL = 1 << 22
"""Threads times instructions of a launch of which all blocks are run without a trial."""

SIDE_BY_SIDE = 8192
"""Threads that are run side by side."""

FOLDED = 1 << 16
"""Bytes that stand for an array where only memory is looked at."""

REST = 1.0
"""Seconds in which all blocks of a launch are run, or those at the corners and some between alone, if no
other launch or step of the host needs the results."""

DOUBTFUL = 4
"""How many times as long they may take where no block that was run writes an end of an array."""

DRAWN = 3
"""Blocks that are drawn beside those at the corners of a grid."""

STORES = 2.0
"""Seconds in which all blocks of a launch are run without what they compute, for the places they store to."""

STORES_OF_ALL = 1 << 25
"""Threads times instructions of which that is done where nothing is in doubt, too."""

STORING = 1 << 16
"""Threads that are then run side by side: they have few registers."""

GUESSES = 4
"""Blocks of which each is run because it may write an end of an array: one writes it if they are alike."""

_ROUNDED = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
"""Types to which numbers are rounded, and what PTX calls them."""


def held_type(dtype: str) -> np.dtype[Any]:
    """Return numpy's type of elements."""
    return np.dtype(np.uint8 if dtype == "bool" else TYPES[dtype])


def some_blocks(grid: tuple[int, int, int]) -> list[int]:
    """Return the blocks at the corners of a grid, and some drawn by its digest."""
    x, y, _ = grid
    corners = {a + x * (b + y * c) for a, b, c in product(*(sorted({0, extent - 1}) for extent in grid))}
    every = prod(grid)
    digest = hashlib.sha256(repr(grid).encode()).digest()
    drawn = {int.from_bytes(digest[8 * each : 8 * each + 8], "little") % every for each in range(DRAWN)}
    return sorted(corners | drawn)


def _ends_first(blocks: list[int], most: int) -> tuple[list[int], list[int]]:
    """Return some blocks, the first and the last among them, and the others."""
    if len(blocks) <= most:
        return blocks, []
    return sorted({blocks[0], blocks[-1]}), blocks[1:-1]


class Launches:
    """Runs the steps of a recording.

    Parameters
    ----------
    recording : Recording
        Of the candidate, at the problem's own sizes.
    modules : mapping of str to Module
        The PTX of each file.
    numbers : Numbers, optional
        Inputs and weights; None of a run that is about memory alone, in which arrays hold anything.
    draw : int
        Of which draw the inputs are.
    fill : int
        What bytes are that nobody has written.
    random : Generator, optional
        Draws how inexact results are rounded.
    rest : float
        Seconds in which all blocks of a launch are run, or some alone.

    Attributes
    ----------
    storages : list of Stored
        By number.
    done : list of (str, int, int)
        Of each launch the kernel, how many blocks were run, and of how many.
    open : list of str
        What was not run, and why.
    uninitialised : dict of str to str
        Arrays of which something was read that nobody has written, and where.
    overflowed : bool
        Whether finite numbers became none where they were rounded, of a run that draws its roundings.
    current : str
        The kernel that runs.
    seconds : float
        How long all of it took.
    """

    def __init__(
        self,
        recording: Recording,
        modules: Mapping[str, Module],
        numbers: Numbers | None,
        draw: int,
        fill: int,
        random: np.random.Generator | None = None,
        rest: float = REST,
    ) -> None:
        self._rest = rest
        self._recording, self._modules, self._numbers = recording, modules, numbers
        self._draw, self._fill, self._random = draw, fill, random
        self._names = identifiers(recording)
        self._steps = needed(recording)
        self._chosen: list[list[int]] | None = None
        self.blocks: list[list[int]] = []
        self.storages = [self._stored(storage) for storage in recording.storages]
        self.done: list[tuple[str, int, int]] = []
        self.open: list[str] = []
        self.uninitialised: dict[str, str] = {}
        self.overflowed = False
        self._stored_by_all: dict[int, Any] = {}
        self.current = ""
        self.seconds = 0.0

    def like(self, other: Launches) -> None:
        """Run the blocks that another run has run."""
        self._chosen = other.blocks

    def _stored(self, storage: Storage) -> Stored:
        dtype = held_type(storage.dtype)
        if self._numbers is None:
            return folded(
                storage.name, self._anything(storage), storage.elements * dtype.itemsize, dtype.itemsize
            )
        given = storage.origin in ("input", "parameter")
        if given:
            array = self._numbers.array(f"{self._draw} {storage.origin} {storage.name}")
            if array is None or array.size * array.itemsize != storage.elements * dtype.itemsize:
                raise UnsupportedError(f"{storage.name} has another size than was recorded")
            return stored(storage.name, array, dtype.itemsize, writable=False)
        if storage.values is not None:
            values = np.array(storage.values, dtype=np.float64 if "float" in storage.dtype else np.int64)
            content = np.resize(values, storage.elements).astype(dtype)
            return stored(storage.name, content, dtype.itemsize)
        states = np.zeros(storage.elements, dtype=np.uint8)  # all `NOBODY`
        content = np.full(storage.elements * dtype.itemsize, self._fill, dtype=np.uint8)
        return stored(storage.name, content, dtype.itemsize, states=states)

    def _anything(self, storage: Storage) -> Any:
        """Return a few numbers that stand for all: random floats, or zeros, which are inside as indices."""
        if "float" not in storage.dtype:
            return np.zeros(FOLDED, dtype=np.uint8)
        numbers = np.random.default_rng(self._draw).standard_normal(
            FOLDED // held_type(storage.dtype).itemsize
        )
        return numbers.astype(held_type(storage.dtype)).view(np.uint8)

    def run(self, until: float) -> None:
        """Run all steps; raises what a kernel does that it must not, or takes.

        Parameters
        ----------
        until : float
            The processor time of this process at which to stop.
        """
        started = time.process_time()
        for step in self._steps:
            if isinstance(step, Launch):
                left = sum(isinstance(each, Launch) for each in self._steps) - len(self.done)
                now = time.process_time()
                self._launch(step, now + max(until - now, 0) / max(left, 1), until)
            elif self._numbers is not None:
                self._operation(step)
        self.seconds = time.process_time() - started

    # -- launches
    def _launch(self, launch: Launch, soon: float, until: float) -> None:
        self.current = launch.entry
        module = self._modules[launch.ptx]
        grid = Grid(launch.grid, launch.block, launch.shared)
        if illegal := violations(module, module.functions[launch.entry], grid):
            raise FaultError(Fault(Kind.ILLEGAL, f"{launch.entry}: {illegal[0]}", None))
        if not grid.blocks:
            raise UnsupportedError(f"a launch of {launch.entry} without a block")
        given = [_bytes(each) for each in launch.passed]
        program = Program(module, launch.entry, grid, given, self.storages, self._written(launch))
        if self._numbers is None and (part := memory_part(module.functions[launch.entry], is_arithmetic)):
            program = program.of(part, self.storages)
        passed = _pointed(launch)
        for number in passed if self._numbers is not None else ():
            array = self.storages[number]
            array.stored, array.added = np.zeros(-(-array.size // array.unit), dtype=np.bool_), False
        self._stored_by_all = {}
        blocks = self._blocks(launch, program, len(module.functions[launch.entry].body), soon, until)
        self.blocks.append(blocks)
        every = prod(launch.grid)
        self.done.append((launch.entry, len(blocks), every))
        if len(blocks) < every and self._numbers is not None:
            self._forget(passed)

    def _written(self, launch: Launch) -> dict[str, bytes]:
        """Return what the host has written to constant variables that a launch may read.

        Raises
        ------
        UnsupportedError
            If some of it is not known.
        """
        found: dict[str, bytes] = {}
        for number in launch.variables:
            storage, array = self._recording.storages[number], self.storages[number]
            if storage.variable is None or storage.variable[0] != launch.ptx:
                continue
            if self._numbers is None or (array.states is not None and np.any(array.states != KNOWN)):
                raise UnsupportedError(f"{storage.name}, which is not wholly known")
            found[storage.variable[1]] = array.data[: array.size].tobytes()
        return found

    def _blocks(
        self, launch: Launch, program: Program, instructions: int, soon: float, until: float
    ) -> list[int]:
        """Run blocks of a launch: all of them where that is quick; returns which."""
        every, threads = prod(launch.grid), prod(launch.block)
        if self._chosen is not None:
            blocks = self._chosen[len(self.blocks)]
            self._run(launch, program, blocks, until)
            return blocks
        if self._numbers is not None and every * threads * instructions <= ALL:
            self._run(launch, program, list(range(every)), until)
            return list(range(every))
        first = some_blocks(launch.grid)
        at_once = max(SIDE_BY_SIDE // threads, 2)  # side by side they take hardly more time than two
        ends, between = _ends_first(first, at_once)
        before = time.process_time()
        self._run(launch, program, ends, until)
        each = (time.process_time() - before) / len(ends)
        done = [*ends, *self._while_there_is_time(launch, program, between, each, soon)]
        if len(done) < len(first):
            return done
        of_arrays = Ends([array.stored for array in map(self.storages.__getitem__, _pointed(launch))])
        done += self._that_write_ends(launch, program, done, of_arrays, soon)
        if self._numbers is not None:
            self._stored_by_all = self._places_of_stores(
                launch, program, until, is_in_doubt=bool(of_arrays.missing())
            )
        if self._numbers is None:
            return done
        each = (time.process_time() - before) / len(done)
        in_doubt = of_arrays.missing() and not self._stored_by_all
        soon = min(soon, time.process_time() + self._rest * (DOUBTFUL if in_doubt else 1))
        seen = set(done)
        rest = [number for number in range(every) if number not in seen]
        trial = rest[: max(SIDE_BY_SIDE // threads, 1)]  # side by side, each takes less
        before = time.process_time()
        done += (tried := self._while_there_is_time(launch, program, trial, each, soon))
        now = time.process_time()
        if not tried or (now - before) / len(tried) * (every - len(done)) > soon - now:
            return done
        each = (now - before) / len(tried)
        return [*done, *self._while_there_is_time(launch, program, rest[len(tried) :], each, soon)]

    def _places_of_stores(
        self, launch: Launch, program: Program, until: float, *, is_in_doubt: bool
    ) -> dict[int, Any]:
        """Return which elements of arrays all blocks of a launch store to; nothing if data decide that.

        Only the part of the kernel is run that makes addresses and guards of stores.

        Raises
        ------
        FaultError
            If a block stores outside of an array.
        """
        module = self._modules[launch.ptx]
        part = store_part(module.functions[launch.entry], is_arithmetic)
        every, threads = prod(launch.grid), -(-prod(launch.block) // WARP) * WARP
        if part is None or (not is_in_doubt and every * threads * len(part.body) > STORES_OF_ALL):
            return {}
        marks = {
            number: np.zeros(len(array.stored), dtype=np.bool_)
            for number in _pointed(launch)
            if (array := self.storages[number]).stored is not None
        }
        arrays = [
            replace(
                array,
                data=np.zeros(FOLDED, np.uint8),
                stored=marks.get(number),
                states=None,
                views={},
                is_folded=True,
            )
            for number, array in enumerate(self.storages)
        ]
        stores = program.of(part, arrays)
        until = min(until, time.process_time() + STORES * (DOUBTFUL if is_in_doubt else 1))
        step = max(STORING // threads, 1)
        try:
            for start in range(0, every, step):
                stores.run(range(start, min(start + step, every)), fill=self._fill, until=until)
        except (BudgetError, UnsupportedError):
            return {}
        return marks

    def _that_write_ends(
        self, launch: Launch, program: Program, done: Sequence[int], ends: Ends, soon: float
    ) -> list[int]:
        """Run blocks that write the ends of arrays, where none that was run does; returns which.

        The blocks at the end of a grid may have nothing to do, or each go on with a grid's stride. Blocks are
        taken for shifts of one another: neighbours along each axis tell how far.
        """
        ran: list[int] = []
        soon = min(soon, time.process_time() + REST)
        base = next(
            (each for each in bases(launch.grid) if not {*neighbours(each, launch.grid)} & {*done}), None
        )
        if base is None or not ends.missing():
            return ran
        written = list[list[Any]]()
        for number in neighbours(base, launch.grid):
            if time.process_time() > soon:
                return ran
            before = ends.written()
            self._run(launch, program, [number], time.process_time() + 8 * REST)
            ran.append(number)
            written.append(ends.since(before))
        for which, place in ends.missing():
            of_blocks = [each[which] for each in written]
            for number in shifted_to(place, of_blocks, base, launch.grid)[:GUESSES]:
                if number in done or number in ran or time.process_time() > soon:
                    continue
                self._run(launch, program, [number], time.process_time() + 8 * REST)
                ran.append(number)
        return ran

    def _while_there_is_time(
        self, launch: Launch, program: Program, blocks: list[int], each: float, soon: float
    ) -> list[int]:
        """Run blocks, some at a time, as long as these are done soon; returns which."""
        step = max(SIDE_BY_SIDE // prod(launch.block), 1)
        for start in range(0, len(blocks), step):
            some = blocks[start : start + step]
            now = time.process_time()
            if now + each * len(some) > soon:
                return blocks[:start]
            self._run(launch, program, some, now + max(8 * (soon - now), 1))
        return blocks

    def _run(self, launch: Launch, program: Program, blocks: list[int], until: float) -> None:
        step = max(SIDE_BY_SIDE // prod(launch.block), 1)
        for start in range(0, len(blocks), step):
            some = blocks[start : start + step]
            ran = program.run(some, fill=self._fill, until=until, random=self._random)
            self.overflowed |= ran.overflowed
            for name, instruction in ran.uninitialised.items():
                where = instruction.source or f"line {instruction.line} of the PTX"
                self.uninitialised.setdefault(name, str(where))

    def unwritten(self) -> list[int]:
        """Return the results, by place, to which nothing that was run writes, nor any step of the host."""
        steps = [step for step in self._steps if not isinstance(step, Launch)]
        changed = {each.storage for step in steps for each in step.results if each is not None}
        return [
            place
            for place, result in enumerate(self._recording.results)
            if self._recording.storages[result.storage].origin == "empty"
            and result.storage not in changed
            and (marks := self.storages[result.storage].stored) is not None
            and not marks.any()
        ]

    def _forget(self, passed: set[int]) -> None:
        """Note that blocks that were not run may have written what those that were have not."""
        for number in passed:
            array = self.storages[number]
            if not array.writable:
                continue
            if array.states is None:
                array.states = np.full(-(-array.size // array.unit), KNOWN)
            if array.added or not isinstance(array.stored, np.ndarray):
                array.states[:] = UNKNOWN
            else:
                by_others = self._stored_by_all.get(number, True)
                np.copyto(array.states, UNKNOWN, where=~array.stored & by_others)
                if self._stored_by_all:  # nothing is left in doubt
                    array.stored = None

    # -- steps of the host
    def _operation(self, operation: Operation) -> None:
        """Compute a step of the host by numpy."""
        read = {each.storage for each in views_in([*operation.arguments, *operation.options.values()])}
        unknown = any(map(self._is_unknown, read))
        values = {self._names[each]: self.numbers(each) for each in read}
        namespace: dict[str, Any] = {}
        exec(HEAD.format(what=""), namespace)
        namespace |= values | {"stored": _unrounded}
        try:
            namespace["value"] = eval(call(operation, self._names), namespace)
            for number, change in writes(operation, "value"):
                places, found = eval(change, namespace)
                self._write(number, places.reshape(-1), np.asarray(found).reshape(-1), unknown=unknown)
        except (ValueError, TypeError, MemoryError) as reason:
            raise UnsupportedError(f"{operation.where}: {operation.name}: {reason}") from None

    def _is_unknown(self, number: int) -> bool:
        """Tell whether some numbers of a storage are not known."""
        states = self.storages[number].states
        return states is not None and bool(np.any(states == UNKNOWN))

    def numbers(self, number: int) -> Any:
        """Return the elements of a storage as numbers, floats in double precision."""
        storage, array = self._recording.storages[number], self.storages[number]
        held = array.data[: array.size].view(held_type(storage.dtype))
        return held.astype(np.float64) if "float" in storage.dtype else held.astype(np.int64)

    def _write(self, number: int, places: Any, values: Any, *, unknown: bool) -> None:
        storage, array = self._recording.storages[number], self.storages[number]
        held = array.data[: array.size].view(held_type(storage.dtype))
        with np.errstate(all="ignore"):
            held[places] = self._rounded(values, held.dtype)
        if array.states is not None:
            array.states[places] = UNKNOWN if unknown else KNOWN
        elif unknown:
            array.states = np.full(storage.elements, KNOWN)
            array.states[places] = UNKNOWN

    def _rounded(self, values: Any, dtype: np.dtype[Any]) -> Any:
        """Return numbers in a type; where a run draws its roundings, the host's go to either side, too."""
        if self._random is None or values.dtype != np.float64 or dtype.name not in _ROUNDED:
            return values.astype(dtype)
        kind = KINDS[_ROUNDED[dtype.name]]
        self.overflowed |= overflows(values, kind)
        return rounded_words(values, kind, "rn", self._random).view(dtype)


def _unrounded(value: Any, dtype: str, shape: Any, strides: Any, offset: int) -> Any:
    """Return where the elements of a tensor are written, and the real numbers that are rounded there."""
    return stored_elements(value, "float64" if dtype in _ROUNDED else dtype, shape, strides, offset)


def _pointed(launch: Launch) -> set[int]:
    """Return the storages of which a launch is passed addresses."""
    return {part.storage for each in launch.passed for _, part in each.parts if isinstance(part, Pointer)}


def _bytes(passed: Passed) -> bytes:
    """Return a parameter as it is passed, with the addresses that arrays have here."""
    content = bytearray(passed.size)
    for at, part in passed.parts:
        if isinstance(part, Pointer):
            content[at : at + 8] = address(part.storage, part.at).to_bytes(8, "little")
        else:
            content[at : at + part.size] = part.bits.to_bytes(part.size, "little")
    return bytes(content)
