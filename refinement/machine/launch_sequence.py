"""Several launches in sequence as one kernel: each finds the memory that the last one left.

Between launches the host may run functions in numpy. Nothing runs at the same time as another launch, so that
there are no races between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import InputError
from ...spec.formats import F32, F64
from ..contract.arguments import Array
from ..contract.contract import Contract, Instance, LaunchStep
from ..expected.array_functions import term_space
from ..expected.array_programs import ArrayProgram, read_program
from ..expected.term_arithmetic import Value
from ..expected.term_arrays import TermArray
from ..findings.demangling import demangled
from ..findings.finding import KernelFinding, KernelNote
from ..terms.interning import Ids
from ..terms.store import TermStore
from .array_memory import elements_in, initial_bytes, memories
from .front_end import LAUNCHED, FinalArray, Kernel, Outcome, Progress, read_kernel
from .memory import ByteLanes

_Told = TypeVar("_Told", KernelFinding, KernelNote)


class LaunchSequence:
    """Several kernels of a file; see `mmaproof.refinement.machine.front_end.Kernel`.

    Parameters
    ----------
    kernels : sequence of Kernel
        In the order of the launches of the instances that it runs.
    """

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        self._kernels = tuple(kernels)
        self.path = kernels[0].path
        self.entry = kernels[0].entry

    @property
    def target(self) -> str:
        """See `Kernel.target`."""
        return self._kernels[0].target

    def source(self, line: int) -> str:
        """See `Kernel.source`."""
        return self._of(line).source(line)

    def place(self, line: int) -> str:
        """See `Kernel.place`."""
        return self._of(line).place(line)

    def _of(self, line: int) -> Kernel:
        """Return whose line it is: steps of the host have lines of their own, kernels those of one file."""
        number = line - FIRST_LINE
        if 0 <= number < len(self._kernels):
            return self._kernels[number]
        kernels = (kernel for kernel in self._kernels if not isinstance(kernel, HostStep))
        return next(kernels, self._kernels[0])

    def control_part(self) -> LaunchSequence:
        """Return itself; see `Kernel.control_part`."""
        return self

    def run(
        self,
        instance: Instance,
        store: TermStore,
        inputs: Mapping[str, Ids],
        progress: Progress | None = None,
        blocks: NDArray[np.intp] | None = None,
        before: Mapping[str, ByteLanes] | None = None,
        *,
        traced: bool = False,
    ) -> Outcome:
        """Run every launch, all of its blocks; see `Kernel.run`."""
        arrays: dict[str, FinalArray] = {}
        outcomes: list[Outcome] = []
        for number, (kernel, launch) in enumerate(zip(self._kernels, instance.launches, strict=True)):
            held = {**(before or {}), **{name: each.lanes for name, each in arrays.items()}}
            one = instance.in_launch(launch)
            outcome = kernel.run(one, store, inputs, progress, before=held, traced=traced)
            told, notes = self._told(outcome.findings, number), self._told(outcome.notes, number)
            outcomes.append(replace(outcome, findings=told, notes=notes))
            for name, final in outcome.arrays.items():
                arrays[name] = _followed(arrays.get(name), final, number)
            if not outcome.complete:
                break
        return self._together(arrays, outcomes)

    def _told(self, given: Sequence[_Told], number: int) -> tuple[_Told, ...]:
        """Return findings or notes of a launch, which say whose they are."""
        name = self._name(number)
        return tuple(replace(each, message=f"{name}: {each.message}") for each in given)

    def _name(self, number: int) -> str:
        return f"launch {number + 1} of {len(self._kernels)}, {demangled(self._kernels[number].entry)}"

    def _together(self, arrays: Mapping[str, FinalArray], outcomes: Sequence[Outcome]) -> Outcome:
        alignments: dict[str, int] = {}
        for outcome in outcomes:
            for name, needed in outcome.alignments.items():
                alignments[name] = max(needed, alignments.get(name, 1))

        def thread_name(thread: int) -> str:
            number, own = divmod(thread, LAUNCHED)
            return f"launch {number + 1}, {outcomes[number].thread_name(own)}"

        return Outcome(
            arrays,
            tuple(finding for outcome in outcomes for finding in outcome.findings),
            _joined([outcome.loads for outcome in outcomes]),
            _joined([outcome.shared_loads for outcome in outcomes]),
            LAUNCHED,  # all blocks of a launch count as one, as only all of them run
            all(outcome.complete for outcome in outcomes),
            any(outcome.unordered for outcome in outcomes),
            any(outcome.reordered for outcome in outcomes),
            alignments,
            outcomes[-1].depends,
            _added([outcome.stats for outcome in outcomes]),
            thread_name,
            guards=tuple(guard for outcome in outcomes for guard in outcome.guards),
            assumptions=tuple(
                dict.fromkeys(assumption for outcome in outcomes for assumption in outcome.assumptions)
            ),
            notes=tuple(note for outcome in outcomes for note in outcome.notes),
            several=tuple((self._name(number), each) for number, each in enumerate(outcomes)),
        )


def _joined(loads: Sequence[Mapping[int, Ids]]) -> dict[int, Ids]:
    """Return what each line loaded in any launch."""
    found: dict[int, Ids] = {}
    for load in loads:
        for line, terms in load.items():
            found[line] = np.union1d(found[line], terms) if line in found else terms
    return found


def _followed(former: FinalArray | None, final: FinalArray, number: int) -> FinalArray:
    """Return an array after a launch, of which bytes that it did not write have who wrote them before."""
    writers = np.where(final.lines != 0, final.writers + number * LAUNCHED, final.writers)
    if former is None:
        return FinalArray(final.lanes, final.lines, writers)
    kept = final.lines == 0
    return FinalArray(
        final.lanes, np.where(kept, former.lines, final.lines), np.where(kept, former.writers, writers)
    )


def _added(stats: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return counts of all launches; the terms are those of the last one, which has all before it too."""
    names = dict.fromkeys(name for stat in stats for name in stat)
    return {
        name: stats[-1][name] if name == "terms" else sum(stat.get(name, 0) for stat in stats)
        for name in names
    }


def kernel_of(contract: Contract, path: Path) -> Kernel:
    """Read the kernel of a contract, or all that it launches; raises as `read_kernel`."""
    if not contract.launches:
        return read_kernel(contract.isa, path, contract.entry, contract.target)
    read: dict[int, Kernel] = {
        number: read_kernel(contract.isa, path, each.entry, contract.target)
        for number, each in enumerate(contract.launches)
        if each.host is None
    }
    target = next((each.target for each in read.values()), contract.target or "")
    folder = Path(contract.path).parent
    for number, each in enumerate(contract.launches):
        if each.host is not None:
            program = read_program(each.host, folder)
            read[number] = HostStep(each, program, str(path), number, target)
    return LaunchSequence([read[number] for number in sorted(read)])


FIRST_LINE = 10_000_000
"""What stands for the line of a step's stores: more lines than a kernel has, and one for each step."""


class HostStep:
    """A step of the host, as a kernel; see `mmaproof.refinement.machine.front_end.Kernel`.

    Its function takes arrays by the names of its parameters, and returns what it writes by name: an array of
    the whole shape, or a pair of linear indices and values.

    Parameters
    ----------
    step : LaunchStep
        The step.
    program : ArrayProgram
        Its function.
    path : str
        The file of the kernels beside it.
    number : int
        Its place among the launches.
    target : str
        The processor of the kernels.
    """

    def __init__(self, step: LaunchStep, program: ArrayProgram, path: str, number: int, target: str) -> None:
        self.path, self.entry, self.target = path, program.name, target
        self._where = step.source or f"{program.path}:{program.name}"
        self._program = program
        self._line = FIRST_LINE + number

    def source(self, line: int) -> str:
        """See `Kernel.source`."""
        return self._where if line == self._line else ""

    def place(self, line: int) -> str:
        """See `Kernel.place`."""
        return f"the host's {self.entry}" if line == self._line else ""

    def control_part(self) -> HostStep:
        """Return itself; see `Kernel.control_part`."""
        return self

    def run(
        self,
        instance: Instance,
        store: TermStore,
        inputs: Mapping[str, Ids],
        progress: Progress | None = None,
        blocks: NDArray[np.intp] | None = None,
        before: Mapping[str, ByteLanes] | None = None,
        *,
        traced: bool = False,
    ) -> Outcome:
        """Run the function on terms; elements that nobody has written are undefined."""
        del progress, blocks, traced
        memory = memories(instance)
        formats = {argument.format for argument in instance.arguments}
        space = term_space(store, F64 if F64 in formats else F32)
        given: dict[str, Any] = dict(instance.sizes)
        held: dict[str, ByteLanes] = {}
        names = [each for each in instance.passed if isinstance(each, str)]
        for name in names:
            array = instance.arrays[name]
            lanes = (before or {}).get(name)
            held[name] = initial_bytes(store, memory[name], inputs) if lanes is None else lanes
            written, terms = elements_in(store, memory[name], held[name])
            unknown = np.flatnonzero(~written)
            if len(unknown):
                terms[unknown] = store.undefined(len(unknown), array.format.bits)
            given[name] = TermArray(space, Value(terms.reshape(array.shape), array.format))
        arrays = {}
        result = self._program.result(given)
        if not isinstance(result, dict):
            raise InputError(f"{self.entry} must return a dict from array names to values", self._where)
        for name, value in result.items():
            if name not in held or not instance.arrays[name].access.is_written:
                raise InputError(
                    f"{self.entry} writes {name}, which is not an array that it may write", self._where
                )
            array = instance.arrays[name]
            whole = np.arange(array.elements).reshape(array.shape)
            places, values = value if isinstance(value, tuple) else (whole, value)
            numbers, made = np.asarray(places), space.array(values)
            if made.ndim and made.shape != numbers.shape:
                what = f"writes values of shape {list(made.shape)} to {name} at {list(numbers.shape)} indices"
                raise InputError(f"{self.entry} {what}", self._where)
            if numbers.size and not 0 <= numbers.min() <= numbers.max() < array.elements:
                raise InputError(
                    f"{self.entry} writes outside {name}: indices are 0 to {array.elements - 1}", self._where
                )
            arrays[name] = self._stored(store, array, held[name], numbers, made)
        nothing: Ids = np.zeros(0, dtype=np.int32)
        return Outcome(
            arrays,
            (),
            {},
            {},
            LAUNCHED,
            True,
            True,  # in which order PyTorch sums, and what it fuses, is said nowhere
            True,
            {},
            nothing,
            {"terms": len(store)},
            lambda _: f"the host ({self._where})",
        )

    def _stored(
        self, store: TermStore, array: Array, before: ByteLanes, places: NDArray[np.intp], values: TermArray
    ) -> FinalArray:
        """Return an array of which some elements, by linear index, have become others."""
        terms = np.broadcast_to(values.cast(array.format).value.terms, places.shape).reshape(-1)
        lanes = ByteLanes(store, len(before))
        lanes.terms[:], lanes.lows[:] = before.terms, before.lows
        at = array.footprint.lanes(array.bit_offsets.reshape(-1)[places.reshape(-1)] // 8)
        lanes.write(at, terms)
        lines = np.zeros(len(before), dtype=np.int32)
        size = array.format.bits // 8
        lines[(at[:, None] + np.arange(size)).reshape(-1)] = self._line
        return FinalArray(lanes, lines, np.zeros(len(before), dtype=np.int64))
