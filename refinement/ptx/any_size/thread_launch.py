"""One thread that stands for all threads that go over a sum in steps.

Thread l of S takes the terms l, l + S, l + 2·S, … below a size K. How many that are depends on l, and what a
compiler makes of it (loops unrolled four times, what is left before or behind them) on that number. In
numbers of the thread it does not: with ``K = S·(T - 1) + l + 1 + left``, left from 0 to S - 1, T is how many
terms the thread takes. So l, left and T are symbols here, and T is what is gone through by induction.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from ....spec.errors import UnsupportedError
from ....spec.formats import Format
from ...contract.arguments import Array
from ...contract.contract import Contract
from ...contract.parameters import Access, ArrayParameter, Parameter
from ...contract.size_domains import QuantifiedSizes, ResidueClass, SizeDomain
from ...contract.size_polynomials import SizePolynomials, constant
from ...formula.index_arithmetic import Expression
from ...formula.parser import parse_expression
from ...formula.tree import Node, Source
from ...sizes.block_positions import BlockPosition, Form
from ...sizes.integer_forms import Group
from ...sizes.partial_sums import PartialSums
from ...terms.interning import Ids
from ..idioms.branch_regions import COMPUTING, LOADS
from ..registers.threads import Indices
from ..registers.values import Value, of_terms
from ..run.entry import PtxEntry
from ..state.execution import Execution
from ..text.module import InstructionStatement
from .block_launch import BlockLaunch
from .grid_tiles import AXES
from .loop_states import LoopBatch
from .symbolic_launch import Corners

TURNS, LANE, LEFT = "turns", "lane", "left"
"""Names of T, l and left in contracts of a thread's part."""

THREAD, ROW = ("thread of a sum",), ("row of a block",)
BLOCK, _LEFT = ("block of a sum",), ("left of a sum",)


@dataclass(frozen=True)
class Frame:
    """A size in numbers of a thread.

    Attributes
    ----------
    size : str
        The size.
    most : int
        The largest that it may be.
    threads : int
        S, how many threads go over a sum.
    vector : int
        Neighbouring terms that a thread takes at once.
    rest : int
        Terms that are left behind those of vectors.
    lanes : tuple of int
        The first and the last l that are meant.
    least : int, optional
        Where T is 0, the least number of vectors; these are `left`, and l at most.
    falls : bool
        Whether terms are numbered from the last one on.
    width : int
        Threads of each of several blocks whose threads go over one size together; 0 where one block's do.
    """

    size: str
    most: int
    threads: int
    vector: int
    rest: int
    lanes: tuple[int, int]
    least: int | None = None
    falls: bool = False
    width: int = 0

    @property
    def takes_rest(self) -> bool:
        """Whether the threads take one of the terms that are left."""
        return self.lanes[1] < self.rest

    @property
    def group(self) -> Group:
        """The symbols, l and left; l is told by block where there are several."""
        places = self._places() if self.width else [(lane,) for lane in self.lanes]
        corners = [
            (*map(float, place), float(left))
            for place in places
            for left in ((0, self.threads - 1) if self.least is None else (self.least, self.lane_of(place)))
        ]
        return Group((*THREAD, *(BLOCK if self.width else ()), *_LEFT), tuple(corners))

    def _places(self) -> Sequence[tuple[int, ...]]:
        """Return the ends of the hull of threads, each with its block."""
        (first, low), (last, high) = (divmod(lane, self.width) for lane in self.lanes)
        if first == last:
            return [(low, first), (high, last)]
        end = self.width - 1
        return [(low, first), (end, first), (0, first + 1), (end, last - 1), (0, last), (high, last)]

    def lane_of(self, place: Sequence[float]) -> float:
        """Return l of a thread, or of a thread and its block."""
        return place[0] + self.width * sum(place[1:])

    @property
    def expression(self) -> str:
        """The size, by names."""
        vectors = f"{self.threads} * ({TURNS} - 1) + {LANE} + 1 + {LEFT}" if self.least is None else LEFT
        return f"{self.vector} * ({vectors}) + {self.rest}"

    @property
    def derived(self) -> Expression:
        """The size, as a contract has it."""
        return expression(self.expression)

    @property
    def behind(self) -> Expression:
        """The element that a thread takes of those that are left."""
        return expression(f"{self.size} - {self.rest} + {LANE}")

    @property
    def standing_in(self) -> Mapping[str, int]:
        """Numbers of l and left that stand in for all."""
        low, _ = self.lanes
        return {LANE: low, LEFT: self.threads - 1 - low if self.least is None else self.least}

    @property
    def forms(self) -> Mapping[str, Form]:
        """The thread and what is left, by symbols."""
        if self.threads == 1:
            return {LANE: {}, LEFT: {}}
        return {LANE: {THREAD: 1, **({BLOCK: self.width} if self.width else {})}, LEFT: {_LEFT: 1}}


@dataclass(frozen=True)
class Part:
    """What one thread leaves where all that go over a sum meet.

    Attributes
    ----------
    meet : int
        Index of the instruction there.
    register : str
        Where it leaves it.
    format : Format
        What that is.
    """

    meet: int
    register: str
    format: Format


class MeetError(Exception):
    """A thread has come to where all meet."""


class _ThreadBatch(LoopBatch):
    """A batch that ends where all threads meet, before which they only compute and load."""

    meet, has_met = -1, False

    def run(self) -> bool:
        """See `Batch.run`."""
        try:
            return super().run()
        except MeetError:
            return True

    def _begin(self, instruction: InstructionStatement, active: Indices) -> None:
        if self._running is not None and self._running.at == self.meet:
            self.has_met = True
            raise MeetError
        if instruction.opcode not in COMPUTING | LOADS or instruction.has("shared"):
            raise UnsupportedError(
                f"{instruction.mnemonic} in line {instruction.line} before the threads of a sum meet"
            )
        super()._begin(instruction, active)


class ThreadLaunch(BlockLaunch):
    """A launch of the thread that stands for all that go over a size in steps.

    Parameters
    ----------
    kernel, contract, position, known, numbers
        As of `BlockLaunch`; in the contract the size is that of the frame, the numbers are those of T.
    frame : Frame
        The size in numbers of the thread.
    thread : Form
        Its number in the block.
    """

    def __init__(
        self,
        kernel: PtxEntry,
        contract: Contract,
        position: BlockPosition,
        known: Mapping[str, int],
        numbers: ResidueClass,
        frame: Frame,
        thread: Form,
    ) -> None:
        self._frame, self._thread = frame, thread
        super().__init__(kernel, contract, position, {**known, **frame.standing_in}, numbers)
        if self._grid.blocks > 1 or self._grid.block[1:] != (1, 1):
            raise UnsupportedError("threads go over a size in a block of one dimension only")

    # -- sizes
    def _polynomials(self, quantified: QuantifiedSizes) -> SizePolynomials:
        low, high = self._frame.lanes
        lanes = SizeDomain(LANE, "any", 1, low, high), SizeDomain(LEFT, "any", 1, 0, self._frame.threads)
        domains = (*(position.domain for position in self.position.positions), self._domain, *lanes)
        named = {domain.name for domain in domains}
        derived = {name: constant(name, number) for name, number in self._others.items()}
        derived |= quantified.derived
        own = {name: each for name, each in derived.items() if name not in named}
        return SizePolynomials(QuantifiedSizes(domains, own))

    def _forms(self) -> Mapping[str, Form]:
        return {**super()._forms(), **self._frame.forms}

    def _groups(self, corners: Corners) -> list[Group]:
        (turns,), own = super()._groups(corners), self._frame.group
        if self._frame.threads == 1:
            return [turns]
        if self._frame.least is not None:
            return [turns, own]
        points = [(*turn, *ends) for turn in turns.corners for ends in own.corners]
        return [Group((*turns.symbols, *own.symbols), tuple(self._within(points)))]

    def _within(self, points: Sequence[tuple[float, ...]]) -> Iterator[tuple[float, ...]]:
        """Yield the corners of the part of a hull in which the size is not too large."""
        frame, numbers = self._frame, self.numbers
        over = []
        for count, _, *place, left in points:
            turns = numbers.modulus * count + numbers.residue
            vectors = frame.threads * (turns - 1) + frame.lane_of(place) + 1 + left
            over.append(frame.vector * vectors + frame.rest - frame.most)
        for point, beyond in zip(points, over, strict=True):
            if beyond <= 0:
                yield point
        for (one, below), (other, above) in product(zip(points, over, strict=True), repeat=2):
            if below < 0 < above:
                part = below / (below - above)
                yield tuple(a + part * (b - a) for a, b in zip(one, other, strict=True))

    # -- the launch
    def _check_grid(self) -> None:
        """See `SymbolicLaunch._check_grid`; where all threads run, it has been looked at."""

    def _block_registers(self) -> Mapping[str, Value]:
        forms = {f"%ctaid.{AXES[axis]}": form for axis, form in self.position.indices.items()}
        forms["%tid.x"] = self._thread
        found = {}
        for name, form in forms.items():
            terms = self.store.integers(self.store.symbols.form(form)[None], 32)
            found[name] = of_terms(self.store, np.repeat(terms, len(self.threads)), 32)
        return found

    def begun(self, corners: Corners) -> LoopBatch:
        """See `SymbolicLaunch.begun`."""
        batch = super().begun(corners)
        special = batch.execution.special
        for name in [each for each in special if each.startswith(("%nctaid", "%lane"))]:
            del special[name]  # of other blocks, or of other threads
        return batch


class SumLaunch(ThreadLaunch):
    """A launch of the thread that stands for all of a block that go over a sum.

    Parameters
    ----------
    kernel, contract, position, known, numbers, frame, thread
        As of `ThreadLaunch`; the contract is that of `contract_of`.
    part : Part
        What it leaves.
    """

    def __init__(
        self,
        kernel: PtxEntry,
        contract: Contract,
        position: BlockPosition,
        known: Mapping[str, int],
        numbers: ResidueClass,
        frame: Frame,
        thread: Form,
        part: Part,
    ) -> None:
        self._part = part
        super().__init__(kernel, contract, position, known, numbers, frame, thread)

    def _check_outputs(self) -> None:
        """See `BlockLaunch._check_outputs`; this thread stores nothing."""

    def _batch(self, execution: Execution, scalars: Collection[int]) -> LoopBatch:
        found = _ThreadBatch(execution, self._program, scalars, frozenset(self._loops))
        found.meet = self._part.meet
        return found

    def stored(self, batch: LoopBatch, output: Array) -> Ids:
        """Return what the thread leaves."""
        held = batch.execution.registers.get(self._part.register)
        assert isinstance(batch, _ThreadBatch)
        if not batch.has_met or output.elements != 1 or held is None:
            raise UnsupportedError("a thread goes over the sums of several elements, or does not meet others")
        return held.as_terms(self.store)[:1]


def contract_of(sums: PartialSums, contract: Contract, frame: Frame, part: Part) -> Contract:
    """Return the contract of one thread: the terms that it takes, or none where T is 0.

    Raises
    ------
    UnsupportedError
        If the contract has the names of T, l or left itself.
    """
    assert contract.quantified is not None
    names = {*contract.sizes[0], *(each.name for each in contract.parameters)}
    if names & {TURNS, LANE, LEFT}:
        raise UnsupportedError(f"{TURNS}, {LANE} and {LEFT} must not be names of the contract")
    place = f"{LANE} + {frame.threads} * {sums.index}"
    if frame.vector > 1:
        vector = f"{frame.vector} * ({LANE} + {frame.threads} * ({sums.index} // {frame.vector}))"
        place = f"{vector} + {sums.index} % {frame.vector}"
    if frame.falls:
        place = f"{frame.size} - 1 - ({place})"
    body = sums.taken(
        None if frame.least is not None else (_node(f"{frame.vector} * {TURNS}"), _node(place)),
        frame.behind.node if frame.takes_rest else None,
    )
    parameters = tuple(_parameter(each, sums.formula.output, part.format) for each in contract.parameters)
    derived = {frame.size: frame.derived, **contract.quantified.derived}
    quantified = replace(contract.quantified, derived=derived)
    formula = replace(sums.formula, body=body)
    return replace(contract, parameters=parameters, formulas=(formula,), quantified=quantified)


def _parameter(parameter: Parameter, output: str, fmt: Format) -> Parameter:
    """Return a parameter as threads have it that store nothing: others may write what is written."""
    if not isinstance(parameter, ArrayParameter) or not parameter.access.is_written:
        return parameter
    unread = replace(parameter, access=Access.OUT, contents=None)
    if parameter.name != output:
        return unread
    width = max(8, fmt.bits)
    return replace(unread, format=fmt, strides="row-major", alignment=256, element_bits=width, low_bit=0)


def expression(text: str) -> Expression:
    """Return an expression of a thread's contract."""
    source = Source(text, "a thread's part")
    return Expression(source, parse_expression(source))


def _node(text: str) -> Node:
    return expression(text).node
