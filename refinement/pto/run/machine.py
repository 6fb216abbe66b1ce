"""The PTO machine: runs a kernel on terms, block after block, each on its own core."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ....spec.pto.choices import OF_SUMS, OPEN_POINTS, UNSPECIFIED, Choices, choices_of
from ....spec.pto.targets import Profile
from ....spec.pto.text.module import Function
from ....spec.pto.view_declarations import known_names
from ...contract.contract import Accumulate
from ...findings.finding import KernelFinding, Kind
from ...machine.front_end import FinalArray, Progress
from ...machine.memory import ABSENT
from ...terms.interning import Ids
from ...terms.store import TermStore
from ..pipes.channels import Channels
from ..pipes.distinct_findings import Findings
from ..text.errors import EndedError
from ..tiles.capacity import overflows
from ..tiles.global_arrays import NOBODY, GlobalArray
from ..tiles.tile_buffers import UNUSED
from ..tiles.undefined_reads import UndefinedReads
from ..tiles.values import Value
from .execution import Execution
from .judging import Judge
from .other_statements import run_other
from .scalar_unit import Launch, ScalarUnit

Arguments = Callable[[int], Sequence[Value]]
"""What a block, by its number, gets."""


@dataclass(frozen=True)
class Done:
    """The outcome of a kernel; see `mmaproof.refinement.machine.front_end.Outcome`."""

    arrays: Mapping[str, FinalArray]
    findings: tuple[KernelFinding, ...]
    loads: Mapping[int, Ids]
    local_loads: Mapping[int, Ids]
    complete: bool
    unordered: bool
    alignments: Mapping[str, int]
    depends: Ids
    counts: Mapping[str, Any]
    assumptions: tuple[str, ...]


def accumulation(profile: Profile, accumulate: Accumulate) -> Choices:
    """Return the readings that a kernel is run with: sums in an order that nobody knows, or as documented."""
    found = choices_of(profile)
    return found if accumulate is Accumulate.SEQUENTIAL else replace(found, accumulation=UNSPECIFIED)


def assumptions(profile: Profile, accumulate: Accumulate) -> tuple[str, ...]:
    """Return what is assumed of sums of floats where their order is to be known; no document fixes it."""
    if accumulate is not Accumulate.SEQUENTIAL:
        return ()
    readings = choices_of(profile)
    points = [point for point in OPEN_POINTS if point.attribute in OF_SUMS]
    taken = (f"{point.name}={getattr(readings, point.attribute)}" for point in points)
    return (f"products of floats are summed as {' and '.join(taken)} say, which the documents leave open",)


def run(
    path: str,
    functions: Mapping[str, Function],
    entries: Sequence[tuple[str, Function]],
    profile: Profile,
    blocks: int,
    arguments: Arguments,
    arrays: Mapping[str, GlobalArray],
    store: TermStore,
    choices: Choices,
    *,
    explicit: bool,
    some: Sequence[int] | None = None,
    progress: Progress | None = None,
    traced: bool = False,
) -> Done:
    """Run a kernel.

    Parameters
    ----------
    path : str
        Its file, for findings.
    functions : mapping of str to Function
        Those of its module.
    entries : sequence of (str, Function)
        The kernel: the function of each core, with the core's kind.
    profile : Profile
        Who runs it.
    blocks : int
        How many blocks there are.
    arguments : callable
        What each gets.
    arrays : mapping of str to GlobalArray
        Global memory, which is changed.
    store : TermStore
        Where terms are made.
    choices : Choices
        Readings of what documents leave open.
    explicit : bool
        Whether the kernel puts pipes in order itself.
    some : sequence of int, optional
        The only blocks that run.
    progress : callable, optional
        Told how many blocks are done.
    traced : bool
        Keep what each line loads.
    """
    store.open_nans = True
    findings, channels, undefined = Findings(path), Channels(), UndefinedReads(store)
    cores = [
        Execution(
            store,
            profile,
            choices,
            arrays.values(),
            findings,
            explicit=explicit,
            traced=traced,
            undefined=undefined,
            channels=channels,
            core=number,
        )
        for number in range(len(entries))
    ]
    judge = Judge(profile)
    known = {
        view: names
        for function in functions.values()
        if function.body is not None
        for view, names in known_names(function.body).items()
    }
    running = range(blocks) if some is None else [int(each) for each in some]
    complete, depends = True, np.empty(0, dtype=np.int32)
    for done, block in enumerate(running):
        if progress is not None:
            progress(done, len(running))
        channels.clear()
        try:
            for core, (kind, entry) in zip(cores, entries, strict=True):
                core.begin(block)
                unit = ScalarUnit(core, judge, functions, Launch(block, blocks, kind), run_other, known)
                unit.call(entry, arguments(block))
            while any([core.pipes.advance() for core in cores]):  # noqa: C419 - every core, each time
                pass
            for core in cores:
                _finish(core)
        except EndedError as ended:
            complete = False
            _report_end(ended, undefined, findings, block)
            if ended.depends is not None:
                depends = np.array([ended.depends], dtype=np.int32)
            break
        complete &= not any(core.pipes.stuck for core in cores)
    if complete:
        _report_undefined(undefined, findings, arrays)
    counted = [asdict(core.counts) for core in cores]
    counts = {name: sum(each[name] for each in counted) for name in counted[0]}
    return Done(
        {name: array.final() for name, array in arrays.items()},
        findings.all(),
        _joined([core.loads for core in cores]),
        _joined([core.local_loads for core in cores]),
        complete,
        any(core.unordered for core in cores),
        {},
        depends,
        counts | {"blocks": len(running), "terms": len(store)},
        tuple(dict.fromkeys(assumption for core in cores for assumption in core.assumptions)),
    )


def _finish(core: Execution) -> None:
    """Come to the end of a block, and say what is left over."""
    core.pipes.finish()
    for overflow in overflows(core.profile, core.unplaced):
        line = max(tile.line for tile in overflow.tiles)
        core.report(Kind.ILLEGAL, str(overflow), line, what=overflow.location)
    for tile in core.unplaced:
        if tile.tile.location in core.placed and tile.memory.used != UNUSED:
            message = f"{tile.name} has no address, other tiles in {tile.tile.location} have one"
            core.report(Kind.UNSUPPORTED, message, tile.line, what=tile.tile.location)
    for (to, _), pushed in core.channels.left().items():
        core.report(
            Kind.UNDEFINED,
            f"pushes a tile to the {to} core, which never takes it",
            pushed.line,
            what="pushed",
        )


def _report_end(ended: EndedError, undefined: UndefinedReads, findings: Findings, block: int) -> None:
    """Report why a run ended: what decides it may be what nobody wrote."""
    if ended.depends is not None:
        _, line, name = undefined.reached(np.array([ended.depends], dtype=np.int32))
        if line:
            message = f"{ended.message}: on {name}"
            findings.report(Kind.UNINITIALISED, message, line, block=block)
            return
    findings.report(ended.kind, ended.message, ended.line, block=block)


def _report_undefined(
    undefined: UndefinedReads, findings: Findings, arrays: Mapping[str, GlobalArray]
) -> None:
    """Report what was stored though it depends on what nobody wrote."""
    for array in arrays.values():
        final = array.final()
        lanes = np.flatnonzero((final.writers != NOBODY) & (final.lanes.terms != ABSENT))
        tainted, line, name = undefined.reached(final.lanes.terms[lanes])
        if not line:
            continue
        for stored in np.unique(final.lines[lanes[tainted]]):
            members = lanes[tainted & (final.lines[lanes] == stored)]
            byte = array.offset_of(int(members[0]))
            findings.report(
                Kind.UNINITIALISED,
                f"{array.place(byte)}, stored in line {stored}, depends on {name}",
                line,
                block=int(final.writers[members[0]]),
                what=array.name,
            )


def _joined(loads: Sequence[Mapping[int, list[Ids]]]) -> dict[int, Ids]:
    found: dict[int, list[Ids]] = {}
    for load in loads:
        for line, terms in load.items():
            found.setdefault(line, []).extend(terms)
    return {line: np.unique(np.concatenate(terms)) for line, terms in found.items()}
