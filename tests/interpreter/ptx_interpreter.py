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
from interpreter.ptx_bulk_copies import BULK_COPIES, end_bulk_copies
from interpreter.ptx_clusters import (
    CLUSTERS,
    cluster_barrier,
    clusters,
    open_cluster_barrier,
    special_registers,
)
from interpreter.ptx_floats import choose_computed_nans
from interpreter.ptx_integers import Unknown
from interpreter.ptx_launches import Launch, Layout
from interpreter.ptx_memory import Fault, Region, Space
from interpreter.ptx_scalars import SCALARS
from interpreter.ptx_spinning import Spinning
from interpreter.ptx_tensor_maps import TENSOR_MAPS
from interpreter.ptx_tensor_memory import TENSOR_MEMORY
from interpreter.ptx_threads import (
    EXIT,
    STAY,
    WARP,
    YIELD,
    Block,
    Cluster,
    Code,
    Decoder,
    Registers,
    Run,
    State,
    Thread,
)
from interpreter.ptx_warpgroups import WARPGROUPS, check_ended, proxy_fence, registers_of_products, touching
from interpreter.ptx_warps import WARPS, release, release_converged, warp_barrier

from mmaproof.refinement.ptx.text.module import Function, InstructionStatement, Module
from mmaproof.refinement.ptx.text.operands import Label
from mmaproof.spec.ptx.operands import Register

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
    if i.has("cluster"):
        return cluster_barrier(code, i)
    return warp_barrier(code, i) if i.has("warp") else BARRIERS[i.opcode](code, i)


DECODERS: dict[str, Decoder] = {
    **SCALARS,
    **ACCESSES,
    **BULK_COPIES,
    **TENSOR_MAPS,
    **CLUSTERS,
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
        layout = Layout(self.module, self.function, launch, noise)
        code = Code(layout.addresses, noise, seed, eager=bool(seed & 1), shared=layout.shared_names)
        code.maps.update(layout.maps)
        program = _Program(self.function, code)
        memory = layout.globals
        extents = launch.cluster or self.function.limits.get("reqnctapercluster") or (1, 1, 1)
        run = _Run(launch, program, code, layout, schedule, self.most, (*extents, 1, 1)[:3])
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
    targets, read = [function.labels[name.strip()] for name in names], code.reader(index, 32)

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
        self,
        launch: Launch,
        program: _Program,
        code: Code,
        layout: Layout,
        schedule: str,
        most: int,
        cluster: tuple[int, int, int],
    ) -> None:
        self._launch, self._steps, self._code, self._layout = launch, program.steps, code, layout
        self._schedule, self._most, self.steps = schedule, most, 0
        self._cluster = cluster
        self._globals = Space(layout.globals)
        self._order = random.Random(f"{schedule} {code.seed}")

    def run_all(self, *, apart: bool) -> None:
        """Run all clusters of blocks, one after the other or side by side."""
        some = clusters(self._launch.grid, self._cluster)
        if self._schedule == "reversed":
            some.reverse()
        elif self._schedule == "random":
            self._order.shuffle(some)
        for together in [[each] for each in some] if apart else [some]:
            self._run_blocks([block for each in together for block in self._blocks(each)])

    def _blocks(self, numbers: Sequence[int]) -> list[Block]:
        """Return the blocks of a cluster, by rank."""
        cluster = Cluster()
        cluster.blocks += [Block(number, cluster, rank) for rank, number in enumerate(numbers)]
        shared = [self._layout.shared(block.window) for block in cluster.blocks]
        of_all = Space([region for space in shared for region in space.regions])
        for block, own in zip(cluster.blocks, shared, strict=True):
            self._fill(block, own, of_all)
        return cluster.blocks

    def _fill(self, block: Block, shared: Space, of_cluster: Space) -> None:
        """Give a block its threads."""
        x, y, z = self._launch.block
        for place in range(x * y * z):
            spaces = {
                "global": self._globals,
                "shared": shared,
                "cluster": of_cluster,
                "local": self._layout.local(),
                "param": self._layout.parameters,
            }
            registers = Registers(self._code.noise, self._code.undefined)
            special = self._special(block.number, place)
            block.threads.append(Thread(block, place, place % WARP, special, registers, spaces))
        for thread in block.threads:
            first = thread.number - thread.lane
            thread.warp = block.threads[first : first + WARP]

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
        at = (found["%ctaid.x"], found["%ctaid.y"], found["%ctaid.z"])
        return (
            found
            | special_registers(at, self._launch.grid, self._cluster)
            | {
                "%laneid": lane,
                "%lanemask_eq": one,
                "%lanemask_lt": one - 1,
                "%lanemask_le": 2 * one - 1,
                "%lanemask_gt": ~(2 * one - 1),
                "%lanemask_ge": ~(one - 1),
                "%dynamic_smem_size": self._launch.dynamic_shared,
                **{name: self._code.noise.getrandbits(31) for name in _UNKNOWN},
            }
        )

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
                yield from ((thread, 1) for thread in ready)
            case "reversed":
                yield from ((thread, 1000) for thread in reversed(ready))
            case "in order":
                yield from ((thread, 1000) for thread in ready)
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
        end_bulk_copies(thread)
        thread.state = State.DONE
        check_ended(thread)
        release(thread.warp)
        open_barriers(thread.block)
        open_cluster_barrier(thread.block.cluster)

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
