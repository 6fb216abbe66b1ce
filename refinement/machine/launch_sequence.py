"""Several launches in sequence as one kernel: each finds the memory that the last one left.

Nothing runs at the same time as another launch, so that there are no races between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..contract.contract import Contract, Instance
from ..expected.array_programs import read_program
from ..findings.demangling import demangled
from ..findings.finding import KernelFinding, KernelNote
from ..terms.interning import Ids
from ..terms.store import TermStore
from .front_end import LAUNCHED, FinalArray, Kernel, Outcome, Progress, read_kernel
from .host_steps import FIRST_LINE, HostStep
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
    names = dict.fromkeys(name for each in stats for name in each)
    return {
        name: stats[-1][name] if name == "terms" else sum(each.get(name, 0) for each in stats)
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
