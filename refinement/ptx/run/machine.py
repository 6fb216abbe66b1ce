"""The PTX machine: all threads of some blocks at a time, data symbolic, control flow concrete."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import UnsupportedError
from ...analysis.definedness import bytes_at
from ...findings.finding import Kind
from ...machine.memory import ByteLanes, Offsets
from ...machine.observations import Loads, Observations
from ...terms.interning import Ids
from ...terms.store import TermStore
from ..order.races import AccessHistory, StoreHistory
from ..registers.dependence import DataDependenceError, never_written, open_result, scalars_alone
from ..registers.threads import WARP, Indices, Launch, Threads
from ..scalar.floating import may_be_contracted
from ..state.address_spaces import Buffer, Memory
from ..state.cluster_launches import ClusterLaunches, Takeovers
from ..state.execution import Execution, SameNumbers, never_the_same
from ..state.state_space import Space
from ..text.module import Function, Module
from ..text.variables import bytes_in, used_variables
from ..warp.opaque_fragments import leaked
from . import launching
from .batch import Batch
from .between_blocks import BetweenBlocks
from .block_batches import BYTES, batches
from .guards import Guards
from .launch_legality import violations
from .launching import Argument
from .program import Program
from .results import Contents, Run, Statistics

Progress = Callable[[int, int], None]
"""Called with the blocks done, and all."""

_NOWHERE: Offsets = np.zeros(0, dtype=np.int64)


def run(
    module: Module,
    entry: str,
    launch: Launch,
    arguments: Sequence[Argument],
    store: TermStore,
    *,
    accumulation: str = "unspecified",
    mended: Collection[str] = (),
    same_numbers: SameNumbers = never_the_same,
    progress: Progress | None = None,
    blocks: Indices | None = None,
    traced: bool = False,
    turns: Mapping[int, int] | None = None,
    drops_races: bool = False,
    takeovers: Takeovers | None = None,
    alone: Offsets = _NOWHERE,
) -> Run:
    """Run a kernel, its threads in one order.

    Parameters
    ----------
    module : Module
        With the kernel.
    entry : str
        Its name.
    launch : Launch
        Its grid.
    arguments : sequence of Argument
        In the order of the kernel's parameters.
    store : TermStore
        Where terms are made.
    accumulation : str
        How matrix units sum: ``unspecified`` or ``sequential``.
    mended : collection of str
        The opcodes whose lack of fences and waits ptxas is taken to mend.
    same_numbers : callable
        Tells of words that several threads store at one place whether they are the same numbers.
    progress : callable, optional
        Called after each batch of blocks.
    blocks : array, optional
        The only blocks that run, by their numbers in the grid; races are not looked for then.
    traced : bool
        Keep what each line loads.
    turns : mapping of int to int, optional
        After how many others threads come to counts that they take tickets of, by their numbers in the grid.
    drops_races : bool
        Take what reads that race with stores of the same size give for undefined, and report them only if
        something depends on that.
    takeovers : sequence of sequence of int, optional
        Which clusters are launched, and which others each takes over, where kernels ask for that.
    alone : array
        Words of global memory that one thread alone changes by atomics, which return what was there.

    Raises
    ------
    InputError
        If there is no such kernel, or the arguments or the launch do not suit it.
    """
    started = time.perf_counter()
    function = launching.entry_named(module, entry)
    launching.check_arguments(module, function, arguments)
    observations, loads = Observations(module.path), Loads() if traced else None
    _report_launch(module, function, launch, observations)
    if observations.findings:
        return _not_launched(observations, started)
    launching.check_block(module, function, launch)
    launching.check_extent(launch)
    memory = Memory(
        store,
        module,
        function,
        launching.buffers(arguments),
        launch,
        launching.granule(function),
        AccessHistory if blocks is None else StoreHistory,
    )
    launching.pass_arguments(store, memory, function, arguments)
    memory.globals.atomics.trusted = alone
    program = Program(module, function)
    program.check_legality(observations)
    instructions = thread_instructions = barriers = 0
    guards, between = Guards(), BetweenBlocks(store, program, memory, turns or {})
    complete, reordered, loose_races = True, False, False
    depends: Ids = np.zeros(0, dtype=np.int32)
    launches = ClusterLaunches.asked_for(function, launch, takeovers)
    block_bytes = BYTES if between.one_at_a_time else _block_bytes(module, function, launch)
    for some in batches(launch, between.chosen(blocks, launch), block_bytes, launches):
        threads = Threads(launch, some)
        memory.for_batch(threads)
        execution = Execution(
            store, module, function, threads, memory, observations, loads, accumulation, same_numbers
        )
        execution.drops_races, execution.mended = drops_races, mended
        between.begin(execution, launches)
        batch = Batch(execution, program, launching.scalars(arguments), guards)
        try:
            complete = batch.run()
        except UnsupportedError as error:
            if isinstance(error, DataDependenceError):
                observations.release(store, error.terms)
            observations.add(
                *_reason(execution, error, launching.scalars(arguments)), execution.instruction.line
            )
            complete = False
            depends = error.terms if isinstance(error, DataDependenceError) else depends
        instructions += batch.instructions
        thread_instructions += batch.thread_instructions
        barriers += batch.scheduler.barriers
        reordered |= execution.unordered
        loose_races |= execution.loose_races
        between.end(execution)
        if not complete:
            break
        if progress is not None:
            progress(int(some.max()) + 1, launch.blocks)
    between.close(observations, complete=complete)
    contents = {buffer.name: _contents(store, memory, buffer) for buffer in memory.buffers}
    every_thread = Threads(launch, np.zeros(1, dtype=np.intp))
    _judge_contents(store, memory, contents, observations, every_thread)
    if complete:
        observations.tell_unused()
    return Run(
        MappingProxyType(contents),
        observations.findings,
        observations.occurrences,
        {} if loads is None else loads.by_line(store, "global"),
        {} if loads is None else loads.by_line(store, "shared"),
        complete,
        reordered or may_be_contracted(function),
        reordered,
        MappingProxyType(memory.globals.alignments),
        depends,
        tuple(guards.outcomes()),
        Statistics(
            instructions,
            thread_instructions,
            launch.blocks * launch.threads,
            barriers,
            len(store),
            time.perf_counter() - started,
        ),
        every_thread,
        assumptions=tuple(between.assumptions),
        notes=observations.notes,
        arrivals=MappingProxyType(dict(between.arrivals)),
        arrival_line=between.line,
        locked=between.locked,
        path=module.path,
        loose_races=loose_races,
        cancelling=0 if launches is None else launches.line,
        clusters=launch.blocks // launch.cluster_blocks,
        alone=_changed_by_one_thread(store, memory, contents, depends),
    )


def run_apart_from_races(once: Callable[..., Run]) -> Run:
    """Run a kernel; where all that is wrong are races, see whether anything depends on what they give.

    What atomics return is known where one thread alone changes a word by them: the kernel is then run again.

    Parameters
    ----------
    once : callable
        Runs it, given `drops_races`, and `alone`.
    """
    done = once()
    if len(done.alone):
        again = once(alone=done.alone)
        if np.isin(done.alone, again.alone).all():
            done, once = again, partial(once, alone=done.alone)
    refuting = [finding for finding in done.findings if finding.kind.refutes]
    if not done.loose_races or any(each.kind is not Kind.RACE for each in refuting):
        return done
    again = once(drops_races=True)
    return done if again.findings or not again.complete else again


def _report_launch(module: Module, function: Function, launch: Launch, observations: Observations) -> None:
    """Report why a kernel can't be launched so, or not be run here."""
    for violation in violations(module, function, launch):
        observations.add(Kind.ILLEGAL, violation, function.line)
    if not observations.refute and (excess := _excess(module, function, launch)):
        observations.add(Kind.UNSUPPORTED, excess, function.line)


def _not_launched(observations: Observations, started: float) -> Run:
    """Return the run of a kernel that can't be launched."""
    return Run(
        contents={},
        findings=observations.findings,
        occurrences=observations.occurrences,
        loads={},
        shared_loads={},
        complete=False,
        unordered=False,
        reordered=False,
        alignments={},
        depends=np.zeros(0, dtype=np.int32),
        guards=(),
        statistics=Statistics(0, 0, 0, 0, 0, time.perf_counter() - started),
        _threads=Threads(Launch((1, 1, 1), (1, 1, 1)), np.zeros(1, dtype=np.intp)),
    )


def _reason(execution: Execution, error: UnsupportedError, scalars: Collection[int]) -> tuple[Kind, str]:
    """Return what kept a batch from its end: a fault of the kernel's, or what is not modelled."""
    if isinstance(error, DataDependenceError):
        if (named := scalars_alone(execution.store, error.terms, scalars)) and not error.why:
            return (
                Kind.UNSUPPORTED,
                f"{error.what} depends on {named}, which may be any number: give it a value",
            )
        register = never_written(execution.store, error.terms, execution.never_written)
        if register is not None:
            return (
                Kind.UNINITIALISED,
                f"{error.what} depends on register {register}, which was never written",
            )
        if (of := open_result(execution.store, error.terms)) is not None:
            return Kind.UNSUPPORTED, f"{error.what} depends on {of}, which is left open ({of.source})"
    return Kind.UNSUPPORTED, str(error)


def _block_bytes(module: Module, function: Function, launch: Launch) -> int:
    """Return the bytes of a block's own variables, those of its threads included."""
    used = used_variables(module, function)
    threads = -(-launch.threads // WARP) * WARP
    return bytes_in(used, "shared") + (launch.dynamic_shared or 0) + threads * bytes_in(used, "local")


def _excess(module: Module, function: Function, launch: Launch) -> str:
    """Return what takes more memory than can be modelled, or is counted in clusters, if anything is."""
    for what, size in (
        ("the local memory of a block's threads", _block_bytes(module, function, launch)),
        ("global variables", bytes_in(used_variables(module, function), "global")),
    ):
        if size > BYTES:
            return f"{size} bytes of {what}; at most {BYTES} are modelled"
    return ".blocksareclusters" if "blocksareclusters" in function.limits else ""


def _contents(store: TermStore, memory: Memory, buffer: Buffer) -> Contents:
    space = memory.globals
    lanes = memory.buffer_lanes(buffer)
    size = buffer.runs.size
    found = ByteLanes(store, size)
    found.terms[:] = space.lanes.terms[lanes]
    found.lows[:] = space.lanes.lows[lanes]
    if not buffer.writable or space.history is None:
        return Contents(found, np.zeros(size, dtype=np.int32), np.full(size, -1))
    places = (
        np.arange(lanes.start, lanes.stop) if isinstance(lanes, slice) else lanes
    ) // space.history.granule
    lines, threads = space.history.line[places], space.history.writer[places]
    return Contents(found, lines, threads, _overwritten(store, space, lanes, size))


def _overwritten(store: TermStore, space: Space, lanes: slice | Offsets, size: int) -> Contents | None:
    """Return what was stored to some lanes before others took its place in no order."""
    lost = space.overwritten
    if lost is None or not lost.lines[lanes].any():
        return None
    found = ByteLanes(store, size)
    found.terms[:], found.lows[:] = lost.lanes.terms[lanes], lost.lanes.lows[lanes]
    return Contents(found, lost.lines[lanes], lost.writers[lanes])


def _changed_by_one_thread(
    store: TermStore, memory: Memory, contents: Mapping[str, Contents], depends: Ids
) -> Offsets:
    """Return words that one thread alone changes by atomics, if anything depends on what these return."""
    stored = [each.lanes.terms[each.lines != 0] for each in contents.values()]
    return memory.globals.atomics.of_one_thread(store, np.unique(np.concatenate([depends, *stored])))


def _judge_contents(
    store: TermStore,
    memory: Memory,
    contents: Mapping[str, Contents],
    observations: Observations,
    threads: Threads,
) -> None:
    """Report what is the matter with what buffers hold in the end."""
    _report_unowned_reads(memory, observations, threads)
    for buffer in memory.buffers:
        _release_used(store, observations, contents[buffer.name], buffer.results)
    for name, found in contents.items():
        _report_leaks(store, name, found, observations, threads)


def _report_unowned_reads(memory: Memory, observations: Observations, threads: Threads) -> None:
    """Report reads of memory that is nobody's, where nothing is written back, if results depend on them."""
    space = memory.globals
    if space.unowned_reads is None or space.history is None:
        return
    for line, mnemonic, lanes, readers in space.unowned_reads.noted:
        wrong = np.flatnonzero(space.history.line[lanes // space.history.granule] == 0)
        if len(wrong):
            place = space.named_place(int(lanes[wrong[0]]))
            message = f"{mnemonic} reads bytes that belong to no array: {place}"
            thread = threads.name_in_grid(int(readers[wrong[0]]))
            unowned = space.lanes.terms[lanes[wrong]]
            observations.hold(Kind.UNINITIALISED, message, line, thread, len(wrong), unowned)


def _release_used(
    store: TermStore, observations: Observations, contents: Contents, results: NDArray[np.bool_] | None
) -> None:
    """Report reads of what nobody has written where results depend on what they gave."""
    stored = contents.lines != 0
    places = np.flatnonzero(stored if results is None else stored & results)
    wanted = bytes_at(contents.lanes.lows[places])
    observations.release(store, contents.lanes.terms[places], wanted)


def _report_leaks(
    store: TermStore, name: str, contents: Contents, observations: Observations, threads: Threads
) -> None:
    """Report bytes that depend on which thread holds which element of a ``wmma`` fragment."""
    written = np.flatnonzero(contents.lines)
    if not len(written):
        return
    wrong = written[leaked(store, contents.lanes.terms[written])]
    for line in np.unique(contents.lines[wrong]):
        at = wrong[contents.lines[wrong] == line]
        thread = threads.name_in_grid(int(contents.threads[at[0]]))
        observations.add(
            Kind.UNDEFINED,
            f"what is stored to byte {int(at[0])} of {name} depends on which thread holds which element of a "
            "wmma fragment, which is not specified",
            int(line),
            thread,
            len(at),
        )
