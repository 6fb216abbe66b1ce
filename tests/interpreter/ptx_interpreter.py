"""PTX on numbers: one thread at a time, in several orders, and nothing of the engine but its reader of text.

What the symbolic machine of `mmaproof.refinement.ptx` is compared with. There are no terms here, no batches
of threads; scalar instructions are Python's integers, rounded exactly where they are floats, and matrix
instructions are the specification's run on numbers. What PTX leaves undefined holds anything, told by a seed:
what differs between seeds is undefined. An asynchronous copy is made when it is waited for, or when it is
issued, as the seed says.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from interpreter.ptx_accesses import ACCESSES, complete_all
from interpreter.ptx_barriers import BARRIERS, open_barriers
from interpreter.ptx_floats import choose_computed_nans
from interpreter.ptx_integers import Unknown
from interpreter.ptx_memory import Fault, Region, Space, copy_of, region
from interpreter.ptx_scalars import SCALARS
from interpreter.ptx_spinning import Spinning
from interpreter.ptx_tensor_memory import TENSOR_MEMORY
from interpreter.ptx_threads import (
    EXIT,
    STAY,
    WARP,
    YIELD,
    Block,
    Code,
    Decoder,
    Registers,
    Run,
    State,
    Thread,
)
from interpreter.ptx_warpgroups import WARPGROUPS, check_ended, proxy_fence, registers_of_products, touching
from interpreter.ptx_warps import WARPS, release, release_converged, warp_barrier

from mmaproof.refinement.ptx.text.module import Function, InstructionStatement, Module, Variable, type_bytes
from mmaproof.refinement.ptx.text.operands import Displaced, GenericAddress, Label, Symbol
from mmaproof.spec.ptx.operands import Decimal, HexFloat, Integer, Register

SCHEDULES = ("round robin", "reversed", "in order", "random")
"""Orders in which threads run."""

WITHOUT_EFFECT = frozenset(
    [
        "applypriority",
        "brkpt",
        "griddepcontrol",
        "membar",
        "nanosleep",
        "pmevent",
        "prefetch",
        "prefetchu",
        "setmaxnreg",
    ]
)


_UNKNOWN = (
    *("%warpid", "%nwarpid", "%smid", "%nsmid", "%clock", "%clock64", "%globaltimer"),
    *("%total_smem_size", "%aggr_smem_size"),
)
"""Special registers that may hold anything."""


def _bra(code: Code, i: InstructionStatement) -> Run:
    raise AssertionError("branches are decoded where labels are known")


def _exit(code: Code, i: InstructionStatement) -> Run:
    return lambda thread: EXIT


def _nothing(code: Code, i: InstructionStatement) -> Run:
    return lambda thread: YIELD if i.opcode == "nanosleep" else None


def _createpolicy(code: Code, i: InstructionStatement) -> Run:
    write = code.writer(i.operands[0], 64)
    return lambda thread: write(thread, code.noise.getrandbits(64))


def _trap(code: Code, i: InstructionStatement) -> Run:
    def run(thread: Thread) -> int | None:
        raise Fault("undefined", "trap")

    return run


def _fence(code: Code, i: InstructionStatement) -> Run:
    return (
        proxy_fence(code, i)
        if i.has("proxy") and i.mnemonic.startswith("fence.proxy.async")
        else _nothing(code, i)
    )


def _bar(code: Code, i: InstructionStatement) -> Run:
    return warp_barrier(code, i) if i.has("warp") else BARRIERS[i.opcode](code, i)


DECODERS: dict[str, Decoder] = {
    **SCALARS,
    **ACCESSES,
    **WARPS,
    **WARPGROUPS,
    **TENSOR_MEMORY,
    **dict.fromkeys(BARRIERS, _bar),
    **dict.fromkeys(WITHOUT_EFFECT, _nothing),
    **dict.fromkeys(("ret", "exit"), _exit),
    **dict.fromkeys(("bra", "brx"), _bra),
    "createpolicy": _createpolicy,
    "fence": _fence,
    "trap": _trap,
}
"""Every opcode that the interpreter has."""


@dataclass
class Launch:
    """How a kernel is launched.

    Attributes
    ----------
    grid, block : (int, int, int)
        Extents.
    dynamic_shared : int
        Bytes.
    parameters : sequence of Region
        One for each, named after it, wherever they lie.
    memory : sequence of Region
        What its pointers lead to; not changed.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    parameters: Sequence[tuple[bytes, bytes]]
    memory: Sequence[Region]
    dynamic_shared: int = 0


@dataclass
class Result:
    """What a run has left.

    Attributes
    ----------
    memory : dict of str to Region
        The regions of the launch, by name.
    undefined : set of str
        What of undefined values was read, and in which line.
    steps : int
        Instructions of single threads.
    """

    memory: dict[str, Region]
    undefined: set[str]
    steps: int


@dataclass
class Interpreter:
    """A kernel of a module, ready to run.

    Attributes
    ----------
    module : Module
        As it was read.
    function : Function
        The kernel.
    most : int
        Instructions of single threads after which it is taken not to end.
    """

    module: Module
    function: Function
    most: int = 20_000_000
    _code: Code = field(init=False)

    def run(self, launch: Launch, schedule: str = "in order", seed: int = 0) -> Result:
        """Run the kernel once.

        Raises
        ------
        Fault
            If an access can't be done, or threads wait for ever.
        Unknown
            If there is something that the interpreter does not have.
        Undefined
            If a result is computed that the manual leaves open.
        """
        noise = random.Random(seed)
        choose_computed_nans(all_ones=bool(seed & 1))
        layout = _Layout(self.module, self.function, launch, noise)
        code = Code(layout.addresses, noise, seed, eager=bool(seed & 1))
        program = _Program(self.function, code)
        memory = layout.globals
        run = _Run(launch, program, code, layout, schedule, self.most)
        run.run_all(apart=not self._waits_for_blocks)
        return Result({each.name: each for each in memory}, code.undefined, run.steps)

    @property
    def _waits_for_blocks(self) -> bool:
        """Whether blocks may wait for each other, so that they must run side by side."""
        return any(
            each.opcode in ("atom", "red")
            or (each.opcode == "ld" and each.one_of(("volatile", "relaxed", "acquire")))
            for each in self.function.body
        )


class _Layout:
    """Where variables, parameters and buffers lie."""

    def __init__(self, module: Module, function: Function, launch: Launch, noise: random.Random) -> None:
        self.addresses: dict[str, int] = {}
        self._noise = noise
        self._variables = [*module.variables, *function.variables]
        self._dynamic = launch.dynamic_shared
        self.multiplies = any(each.opcode in ("wgmma", "tcgen05") for each in function.body)
        self.parameters = self._parameters(function, launch)
        self._shared = self._placed("shared", 1024)
        self._local = self._placed("local", 64)
        self.globals = copy_of(launch.memory)
        placed = self._placed("global", 0x6000_0000_0000) + self._placed("const", 0x6100_0000_0000)
        self.globals += [self._initialised(each, at) for each, at, _ in placed]

    def _parameters(self, function: Function, launch: Launch) -> Space:
        regions, at = [], 256
        for parameter, (data, written) in zip(function.parameters, launch.parameters, strict=True):
            at = -(-at // parameter.alignment) * parameter.alignment
            self.addresses[parameter.name] = at
            regions.append(Region(parameter.name, at, bytearray(data), bytearray(written), False))
            at += len(data)
        return Space(regions)

    def _placed(self, space: str, at: int) -> list[tuple[Variable, int, int]]:
        found = []
        for each in sorted(self._variables, key=lambda each: each.size is None):
            if each.space != space:
                continue
            open_size = self._dynamic if space == "shared" else 0
            size = open_size if each.size is None else each.size
            # Kernels with descriptors take dynamic shared memory to be aligned to swizzling patterns.
            aligned = self.multiplies and space == "shared" and each.size is None
            alignment = max(each.alignment, 1024 if aligned else 16)
            at = -(-at // alignment) * alignment
            if space == "shared" and not aligned and at // alignment % 2 == 0:
                at += alignment  # no more aligned than it says
            self.addresses[each.name] = at
            found.append((each, at, size))
            if each.size is not None:
                at += size + 256
        return found

    def _initialised(self, variable: Variable, at: int) -> Region:
        size = type_bytes(variable.type.rpartition(".")[2])
        data = bytearray(variable.size or 0)
        for index, value in variable.initial:
            number = self._initial(value, 8 * size) & ((1 << 8 * size) - 1)
            data[size * index : size * (index + 1)] = number.to_bytes(size, "little")
        return Region(variable.name, at, data, bytearray(b"\1" * len(data)), variable.space == "global")

    def _initial(self, value: object, width: int) -> int:
        from interpreter.ptx_threads import literal

        match value:
            case Integer(number):
                return number
            case HexFloat() | Decimal():
                return literal(value, width)
            case Symbol(name):
                return self.addresses[name]
            case Displaced(base, offset) | GenericAddress(base, offset):
                return self.addresses[base.name] + offset
        raise Unknown(f"initial value {value}")

    def shared(self) -> Space:
        """Return fresh shared memory."""
        found = self._fresh(self._shared)
        for each in found.regions if self.multiplies else ():
            each.stale = bytearray(len(each.data))
        return found

    def local(self) -> Space:
        """Return fresh local memory."""
        return self._fresh(self._local)

    def _fresh(self, placed: list[tuple[Variable, int, int]]) -> Space:
        by_base = {at: (each.name, size) for each, at, size in placed}  # dynamic variables begin together
        return Space([region(name, at, size, self._noise) for at, (name, size) in by_base.items()])


class _Program:
    """Instructions, each decoded once: guard, whether it is negated, what it does."""

    def __init__(self, function: Function, code: Code) -> None:
        self.steps: list[tuple[str | None, bool, Run]] = []
        watched = registers_of_products(function)
        for i in function.body:
            guard = i.predicate
            run = touching(i, _decoded(function, code, i), watched)
            self.steps.append((guard.name if guard else None, bool(guard and guard.negated), run))


def _decoded(function: Function, code: Code, i: InstructionStatement) -> Run:
    try:
        if i.opcode == "bra":
            (label,) = i.operands
            if not isinstance(label, Label):
                raise Unknown(i.mnemonic)
            target = function.labels[label.name]
            return lambda thread: target
        if i.opcode == "brx":
            return _brx(function, code, i)
        if i.opcode not in DECODERS:
            raise Unknown(i.mnemonic)
        return DECODERS[i.opcode](code, i)
    except (Unknown, KeyError, ValueError) as error:
        return _refusing(f"{i.mnemonic} in line {i.line}: {error}")


def _brx(function: Function, code: Code, i: InstructionStatement) -> Run:
    """Decode a branch to the label of a table that an index names."""
    index, table = i.operands
    if not isinstance(table, Register):
        raise Unknown(i.mnemonic)
    names = function.tables[table.name].partition(".branchtargets")[2].strip(" \t\n;").split(",")
    targets, read = [function.labels[each.strip()] for each in names], code.reader(index, 32)

    def run(thread: Thread) -> int:
        if read(thread) >= len(targets):
            raise Fault("undefined", f"{i.mnemonic} beyond its table")
        return targets[read(thread)]

    return run


def _refusing(why: str) -> Run:
    def run(thread: Thread) -> int | None:
        raise Unknown(why)

    return run


class _Run:
    """Threads that take turns."""

    def __init__(
        self, launch: Launch, program: _Program, code: Code, layout: _Layout, schedule: str, most: int
    ) -> None:
        self._launch, self._steps, self._code, self._layout = launch, program.steps, code, layout
        self._schedule, self._most, self.steps = schedule, most, 0
        self._globals = Space(layout.globals)
        self._order = random.Random(f"{schedule} {code.seed}")

    def run_all(self, *, apart: bool) -> None:
        """Run all blocks, one after the other or side by side."""
        x, y, z = self._launch.grid
        numbers = list(range(x * y * z))
        if self._schedule == "reversed":
            numbers.reverse()
        elif self._schedule == "random":
            self._order.shuffle(numbers)
        for some in [[each] for each in numbers] if apart else [numbers]:
            self._run_blocks([self._block(each) for each in some])

    def _block(self, number: int) -> Block:
        block, shared = Block(number), self._layout.shared()
        x, y, z = self._launch.block
        for place in range(x * y * z):
            spaces = {
                "global": self._globals,
                "shared": shared,
                "local": self._layout.local(),
                "param": self._layout.parameters,
            }
            registers = Registers(self._code.noise, self._code.undefined)
            special = self._special(number, place)
            block.threads.append(Thread(block, place, place % WARP, special, registers, spaces))
        for thread in block.threads:
            first = thread.number - thread.lane
            thread.warp = block.threads[first : first + WARP]
        return block

    def _special(self, block: int, thread: int) -> dict[str, int]:
        found: dict[str, int] = {}
        places = ("tid", thread, self._launch.block), ("ctaid", block, self._launch.grid)
        for name, number, extents in places:
            rest = number
            for axis, extent in zip("xyz", extents, strict=True):
                rest, found[f"%{name}.{axis}"] = divmod(rest, extent)
                found[f"%n{name}.{axis}"] = extent
        lane = thread % WARP
        one = 1 << lane
        return found | {
            "%laneid": lane,
            "%lanemask_eq": one,
            "%lanemask_lt": one - 1,
            "%lanemask_le": 2 * one - 1,
            "%lanemask_gt": ~(2 * one - 1),
            "%lanemask_ge": ~(one - 1),
            "%dynamic_smem_size": self._launch.dynamic_shared,
            **{name: self._code.noise.getrandbits(31) for name in _UNKNOWN},
        }

    # -- turns
    def _run_blocks(self, blocks: list[Block]) -> None:
        threads = [thread for block in blocks for thread in block.threads]
        spinning = None if self._schedule == "random" else Spinning(blocks)
        while True:
            if spinning is not None and spinning.comes_back():
                raise Fault("deadlock", "threads ask for ever for what does not come")
            ready = [each for each in threads if each.state is State.READY]
            if ready:
                for thread, budget in self._turns(ready):
                    self._turn(thread, budget)
            elif all(each.state is State.DONE for each in threads):
                return
            elif not self._let_go(blocks):
                waiting = next(each for each in threads if each.state is State.WAITING)
                raise Fault("deadlock", f"thread {waiting.number} waits for ever")

    def _turns(self, ready: list[Thread]) -> Iterator[tuple[Thread, int]]:
        match self._schedule:
            case "round robin":
                yield from ((each, 1) for each in ready)
            case "reversed":
                yield from ((each, 1000) for each in reversed(ready))
            case "in order":
                yield from ((each, 1000) for each in ready)
            case _:
                for _ in ready:
                    yield self._order.choice(ready), self._order.choice((1, 2, 5, 30))

    def _turn(self, thread: Thread, budget: int) -> None:
        steps = self._steps
        count = len(steps)
        while budget and thread.state is State.READY:
            if thread.pc >= count:
                self._end(thread)
                return
            budget -= 1
            self.steps += 1
            guard, negated, run = steps[thread.pc]
            if guard is not None and bool(thread.registers[guard] & 1) is negated:
                thread.pc += 1
                continue
            after = run(thread)
            if after is None:
                thread.pc += 1
            elif after >= 0:
                thread.pc = after
            elif after == STAY:
                return
            elif after == YIELD:
                thread.pc += 1
                return
            else:
                self._end(thread)
                return
        if self.steps > self._most:
            raise Fault("deadlock", f"more than {self._most} steps")

    def _end(self, thread: Thread) -> None:
        complete_all(thread)
        thread.state = State.DONE
        check_ended(thread)
        release(thread.warp)
        open_barriers(thread.block)

    def _let_go(self, blocks: list[Block]) -> bool:
        for block in blocks:
            for first in range(0, len(block.threads), WARP):
                if release_converged(block.threads[first : first + WARP]):
                    return True
        return False


def opcodes_of(modules: Sequence[Module]) -> Mapping[str, int]:
    """Return how often each opcode stands in the kernels of modules."""
    found: dict[str, int] = {}
    for module in modules:
        for entry in module.entries:
            for each in entry.body:
                found[each.opcode] = found.get(each.opcode, 0) + 1
    return found
