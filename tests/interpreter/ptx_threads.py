"""The state of a launch that runs: threads, warps, blocks, what they wait for, and their operands."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from interpreter.ptx_integers import Unknown, mask, signed
from interpreter.ptx_memory import Space

from mmaproof.refinement.ptx.text.module import TYPE_BITS, InstructionStatement
from mmaproof.refinement.ptx.text.operands import Displaced, Negated, SpecialRegister, Symbol
from mmaproof.spec.ptx.operands import Decimal, HexFloat, Integer, Register, Sink

WARP = 32


class State(Enum):
    """What a thread does."""

    READY = auto()
    WAITING = auto()
    DONE = auto()


class Registers(dict[str, int]):
    """Registers by name; one that nobody has written holds anything."""

    def __init__(self, noise: random.Random, unwritten: set[str]) -> None:
        super().__init__()
        self._noise, self._unwritten = noise, unwritten

    def __missing__(self, name: str) -> int:
        self._unwritten.add(name)
        self[name] = self._noise.getrandbits(64)
        return self[name]


@dataclass
class Wait:
    """What a thread of a warp waits for.

    Attributes
    ----------
    index : int
        The instruction.
    key : object
        What the others must wait for, too; None for those that happen to be there.
    members : int
        The lanes that it waits for.
    finish : callable
        What is done, to all of them at once, when they are there.
    """

    index: int
    key: object
    members: int
    finish: Callable[[list[Thread]], None]


@dataclass(eq=False)
class Thread:
    """One thread.

    Attributes
    ----------
    block : Block
        Whose it is.
    number : int
        In its block.
    lane : int
        In its warp.
    special : dict of str to int
        Special registers.
    registers : Registers
        The others.
    spaces : dict of str to Space
        The memory that it sees.
    pc : int
        Index of the next instruction.
    wait : Wait, optional
        What it waits for in its warp.
    groups : list of list
        Groups of copies under way, the last one open.
    warp : list of Thread
        The threads of its warp.
    touched : set of str
        Registers of products of warpgroups that other instructions have used since the last fence.
    bulk : list of list
        Groups of bulk copies under way, the last one open: of each what reads it, and what writes it.
    came : int, optional
        The turn of the cluster's barrier that it has arrived at and not waited for.
    waits_for_cluster : bool
        Whether that is what it waits for.
    """

    block: Block
    number: int
    lane: int
    special: dict[str, int]
    registers: Registers
    spaces: dict[str, Space]
    pc: int = 0
    state: State = State.READY
    wait: Wait | None = None
    groups: list[list[Callable[[], None]]] = field(default_factory=lambda: [[]])
    warp: list[Thread] = field(default_factory=list)
    touched: set[str] = field(default_factory=set)
    bulk: list[list[Any]] = field(default_factory=lambda: [[]])
    came: int | None = None
    waits_for_cluster: bool = False


@dataclass
class Barrier:
    """A barrier of a block.

    Attributes
    ----------
    waiting : dict of Thread to callable
        Who waits, and what tells each what the others have answered.
    arrived : list of Thread
        Who has come without waiting.
    wanted : int, optional
        How many threads it is for; None for all of the block.
    answers : list of int
        What those have said who reduce a predicate.
    """

    waiting: dict[Thread, Callable[[Thread, list[int]], None]] = field(default_factory=dict)
    arrived: list[Thread] = field(default_factory=list)
    wanted: int | None = None
    answers: list[int] = field(default_factory=list)


@dataclass
class BarrierObject:
    """An mbarrier object; its phase ends with the last arrival and the last of the bytes it expects."""

    expected: int
    pending: int
    phase: int = 0
    bytes: int = 0

    def arrive(self, count: int, drop: int = 0) -> int:
        """Count arrivals, end the phase with the last, and return the state from before."""
        before = self.phase << 32 | self.pending
        self.expected -= drop
        self.pending -= count
        self._end_phase()
        return before

    def complete(self, count: int) -> None:
        """Count bytes that have come; less than none are expected."""
        self.bytes -= count
        self._end_phase()

    def _end_phase(self) -> None:
        if self.pending <= 0 and not self.bytes:
            self.phase, self.pending = self.phase + 1, self.expected


@dataclass(eq=False)
class Cluster:
    """Blocks that run together.

    Attributes
    ----------
    blocks : list of Block
        By rank.
    objects : dict of int to BarrierObject
        Those of all blocks, by address.
    under_way : list of callable
        Copies whose bytes complete on barrier objects, not made yet.
    arrived : set of Thread
        Who has come to the barrier of this turn.
    turn : int
        How often that barrier has been complete.
    """

    blocks: list[Block] = field(default_factory=list)
    objects: dict[int, BarrierObject] = field(default_factory=dict)
    under_way: list[Callable[[], None]] = field(default_factory=list)
    arrived: set[Thread] = field(default_factory=set)
    turn: int = 0


RANK = 24
"""Lowest bit of a block's rank in addresses of shared memory."""


@dataclass(eq=False)
class Block:
    """The threads of a block, and what they share: products of warpgroups, tensor memory, maps being made."""

    number: int
    cluster: Cluster
    rank: int = 0
    threads: list[Thread] = field(default_factory=list)
    barriers: dict[int, Barrier] = field(default_factory=dict)
    products: dict[int, Any] = field(default_factory=dict)
    cells: Any = None
    made: dict[int, Any] = field(default_factory=dict)

    @property
    def window(self) -> int:
        """What addresses of its shared memory have more than those of the block of rank 0."""
        return self.rank << RANK

    @property
    def objects(self) -> dict[int, BarrierObject]:
        """The barrier objects of its cluster, by address."""
        return self.cluster.objects


Reader = Callable[[Thread], int]
Writer = Callable[[Thread, int], None]


@dataclass
class Code:
    """What decoding an instruction needs of the program.

    Attributes
    ----------
    addresses : dict of str to int
        Of variables and parameters, in their spaces.
    noise : Random
        For what is not defined.
    seed : int
        Of choices that hold for a whole run, such as which thread holds which element of a wmma fragment.
    eager : bool
        Whether copies are made when they are issued, not when they are waited for.
    undefined : set of str
        What of undefined values was read, and where.
    shared : frozenset of str
        Variables of shared memory.
    maps : dict of int to object
        Tensor maps, by generic address.
    """

    addresses: dict[str, int]
    noise: random.Random
    seed: int = 0
    eager: bool = False
    undefined: set[str] = field(default_factory=set)
    shared: frozenset[str] = frozenset()
    maps: dict[int, Any] = field(default_factory=dict)

    def reader(self, operand: Any, width: int) -> Reader:
        """Return what reads an operand as a number of bits."""
        match operand:
            case Negated(register):
                inner = self.reader(register, 1)
                return lambda thread: 1 - inner(thread)
            case SpecialRegister(name):
                return lambda thread: _special(thread, name) & mask(width)
            case Symbol(name):
                return self._place(name, 0, width)
            case Displaced(base, offset):
                return self._place(base.name, offset, width)
            case Register(name):
                if operand.type is not None and operand.type.startswith("v"):
                    raise Unknown(f"a vector as an operand: {operand}")
                ones = mask(width)
                return lambda thread: thread.registers[name] & ones
            case Integer(value):
                number = value & mask(width)
                return lambda thread: number
            case HexFloat() | Decimal():
                number = literal(operand, width)
                return lambda thread: number
        raise Unknown(f"operand {operand}")

    def _place(self, name: str, offset: int, width: int) -> Reader:
        address = self.address(name) + offset
        if name in self.shared:
            return lambda thread: address + thread.block.window & mask(width)
        return lambda thread: address & mask(width)

    def address(self, name: str) -> int:
        """Return the address of a variable or parameter."""
        if name not in self.addresses:
            raise Unknown(f"the address of {name}")
        return self.addresses[name]

    def writer(self, operand: Any, width: int, *, extend: bool = False) -> Writer:
        """Return what writes a result of some width; to a wider register by its sign if so."""
        if isinstance(operand, Sink):
            return lambda thread, value: None
        if not isinstance(operand, Register):
            raise Unknown(f"destination {operand}")
        name, ones = operand.name, mask(width)
        whole = max(width, TYPE_BITS.get(operand.type or "", width))
        if extend and whole > width:
            all_ones = mask(whole)

            def widened(thread: Thread, value: int) -> None:
                thread.registers[name] = signed(value & ones, width) & all_ones

            return widened

        def write(thread: Thread, value: int) -> None:
            thread.registers[name] = value & ones

        return write


def _special(thread: Thread, name: str) -> int:
    if name not in thread.special:
        raise Unknown(f"special register {name}")
    return thread.special[name]


def literal(value: HexFloat | Decimal, width: int) -> int:
    """Return a floating-point constant in a width."""
    if isinstance(value, HexFloat) and value.bits == width:
        return value.encoding
    if isinstance(value, HexFloat):
        codes = {32: "<f", 64: "<d"}
        number = struct.unpack(codes[value.bits], value.encoding.to_bytes(value.bits // 8, "little"))[0]
    else:
        number = float(value.text)
    code = {16: "<e", 32: "<f", 64: "<d"}[width]
    try:
        packed = struct.pack(code, number)
    except OverflowError:
        packed = struct.pack(code, float("inf") if number > 0 else float("-inf"))
    return int.from_bytes(packed, "little")


Run = Callable[[Thread], int | None]
"""Runs an instruction in one thread; returns where it goes on, or one of the following."""

STAY, YIELD, EXIT = -1, -2, -3
"""It waits where it is; it goes on with the next, but others first; it has ended."""

Decoder = Callable[[Code, InstructionStatement], Run]
