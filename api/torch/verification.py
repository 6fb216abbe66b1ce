"""From a module of PyTorch to a verdict: recorded, written as a contract, verified."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...refinement.examine.trials import DisagreementError
from ...spec.errors import InputError, UnsupportedError
from . import live_modules
from .blamed_sizes import VALUES, is_of_any_size, kinds_of, numbers_in, one_sided, only_there
from .contract_text import ContractWriter
from .numbers import disagreement
from .outcome import SHOWN, TorchResult, with_own_run, with_report
from .own_launches import REST
from .own_numbers import COUNTEREXAMPLE, OF_ONE_SIGN, OF_SIZES, REPEATED
from .own_run import OwnRun
from .own_sizes import memory_at_own_sizes, run_at_own_sizes
from .recording import NotRecordedError, Operation, Recording, other_results
from .shared_products import with_shared_products_as_data
from .sizes import (
    BEYOND,
    MOST_WORK,
    WORK,
    Sizes,
    chosen_sizes,
    constants,
    in_proportion,
    ladder,
    telling,
    with_batches_of,
    with_smaller_batches,
    with_smaller_extents,
)
from .time_limit import TimeUpError, within
from .untrusted import Limits, Modules, Recorded, own_recorded, recorded

_WORST = ("refuted", "unsupported", "undecided", "safe", "verified")
"""Verdicts, the one that decides over several first."""


def verify(
    reference: Any,
    candidate: Any,
    *,
    inputs: Sequence[Any] | None = None,
    sizes: Mapping[str, int | Sequence[int]] | None = None,
    requires: Sequence[str] = (),
    mode: str | None = None,
    target: int = 80,
    memory_only: bool = False,
    limits: Limits | None = None,
    keep: Path | str | None = None,
) -> TorchResult:
    """Verify that a module computes what a reference computes, for all data.

    Parameters
    ----------
    reference : Path, str, Module or function
        A file with ``Model``, ``get_inputs()`` and ``get_init_inputs()``, as problems of KernelBench are; or
        a module or function itself.
    candidate : Path, str, Module or function
        A file with ``ModelNew``, whose forward launches kernels; or a module or function itself, defined at
        the top of a file.
    inputs : sequence, optional
        What modules that are no files are called with; the verdict is about tensors of these shapes, whatever
        is in them.
    sizes : mapping, optional
        Other numbers for those that the reference's file assigns at its top; by default smaller ones.
    requires : sequence of str
        Conditions on inputs, as in contracts; an input ``x`` is called ``x_x``.
    mode : str, optional
        ``train`` or ``eval``; by default as the module is made.
    target : int
        The compute capability that kernels are compiled for.
    memory_only : bool
        Only whether the launches use memory as they may.
    limits : Limits, optional
        On the processes that run host code, and on the verification.
    keep : Path or str, optional
        Where the contract, the kernels and the reference's program are left.

    Returns
    -------
    TorchResult
        The verdict, for which sizes it holds, and what was found.

    Raises
    ------
    InputError
        If a file can't be read, a size does not exist, or PyTorch is not installed.
    """

    def attempted(problem: Path, solution: Path, folder: Path) -> _Attempt:
        modules = Modules(problem, solution, folder, mode, f"sm_{target}", limits or Limits())
        return _Attempt(modules, requires, memory_only)

    if not isinstance(reference, Path | str) or not isinstance(candidate, Path | str):
        return _of_live(reference, candidate, inputs, sizes, keep, attempted)
    problem, solution = Path(reference), Path(candidate)
    for path in (problem, solution):
        if not path.is_file():
            raise InputError("there is no such file", str(path))
    if inputs is not None:
        raise InputError(
            "inputs= is for modules that are not files; for files, get_inputs() makes them: give sizes="
        )
    own = constants(problem)
    chosen = chosen_sizes(own, sizes, problem)
    with nullcontext(str(keep)) if keep else tempfile.TemporaryDirectory() as folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        made = attempted(problem, solution, Path(folder))
        if chosen is not None:
            return made.at([chosen], own, MOST_WORK)
        result = _climbed(made, own, ladder(own))
        for steps, together in ((ladder(own, together=True), True), (in_proportion(own), False)):
            if (not result.sizes or result.sizes in made.beyond) and steps and steps != ladder(own):
                other = _climbed(made, own, steps, together=together)
                result = other if other.sizes else result
        result = made.with_own_run(result, own)
        if result.own_sizes or (result.own_run is not None and result.own_run.shows):
            return result
        if made.doubt and result.verdict in SHOWN:
            return replace(result, verdict="undecided", findings=(made.doubt,))
        return _with_other_branches(made, result, own)


def _of_live(
    reference: Any,
    candidate: Any,
    inputs: Sequence[Any] | None,
    sizes: Mapping[str, Any] | None,
    keep: Path | str | None,
    attempted: Callable[[Path, Path, Path], _Attempt],
) -> TorchResult:
    """Verify modules that are no files, called with what is given."""
    if isinstance(reference, Path | str) or isinstance(candidate, Path | str):
        raise InputError("give two files, or two modules that are not files")
    if inputs is None or sizes is not None:
        raise InputError("modules that are not files need inputs=, and take no sizes=")
    with nullcontext(str(keep)) if keep else tempfile.TemporaryDirectory() as folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        problem, solution = live_modules.written(Path(folder), reference, candidate, inputs)
        result = attempted(problem, solution, Path(folder)).at([{}], {}, MOST_WORK)
    names = live_modules.name_of(reference), live_modules.name_of(candidate)
    return replace(result, reference=names[0], candidate=names[1])


def _climbed(made: _Attempt, own: Sizes, steps: list[Sizes], *, together: bool = False) -> TorchResult:
    """Verify at the largest sizes that take little time, and at others where these are to blame."""
    work = WORK
    result = _at_sizes_it_takes(made, own, steps, made.at(steps, own, work, hasty=True))
    while _may_be_smaller(result) and (place := steps.index(result.sizes)):
        was_hasty = made.out_of_time and made.seconds < made.limits.verifying
        work = work // 4 if made.out_of_time else 0  # other reasons are seldom those of a size
        if (ran := made.with_own_run(result, own, is_last=False)).verdict == "refuted":  # in less time
            return ran
        smaller = made.at(steps[:place], own, work, hasty=True)
        if not smaller.launches:
            result = made.at([result.sizes], own, MOST_WORK) if was_hasty else result
            break
        result = smaller
    if result.verdict != "refuted" or is_of_any_size(result, own, made.solution):
        return result
    at = ", ".join(f"{name} = {value}" for name, value in result.sizes.items())
    ran = made.with_own_run(only_there(result), own)
    if ran.verdict == "refuted":
        return replace(ran, notes=(*ran.notes, f"at {at}, for all data: {result.findings[0]}"))
    larger = None
    if kinds_of(result) <= set(VALUES):
        sizes = telling(own, numbers_in(made.solution), result.sizes, together=together)
        larger = made.at([sizes], own, MOST_WORK)
    elif wider := steps[steps.index(result.sizes) + 1 :]:
        larger = made.at(wider, own, MOST_WORK)
    if larger is None:
        return only_there(result)
    if larger.verdict in ("verified", "safe"):
        made.doubt = f"it is wrong at {at}, sizes that are not the problem's own: {result.findings[0]}"
        return replace(larger, notes=(*larger.notes, made.doubt))
    if larger.verdict == "refuted" and is_of_any_size(larger, own, made.solution):
        return larger
    return only_there(result)


def _may_be_smaller(result: TorchResult) -> bool:
    """Tell whether smaller sizes may be decided where these are not."""
    return result.verdict == "undecided" and bool(result.launches) and not result.failed


HASTE = 1 / 5
"""Part of the time that is spent at sizes that are not the smallest: what takes longer is shown at these."""

_MORE_SIZES = 3
"""How many larger sizes are tried where a candidate fails at smaller ones."""


def _at_sizes_it_takes(made: _Attempt, own: Sizes, steps: list[Sizes], result: TorchResult) -> TorchResult:
    """Verify at larger sizes where a candidate fails: it may ask for multiples of its tiles.

    Small batches are tried first, and added to the steps: a batch of products is seldom tiled.
    """
    if not (result.failed and result.sizes):
        return result
    place = steps.index(result.sizes)
    for step in steps[place + 1 : place + 1 + _MORE_SIZES]:
        if (few := with_batches_of(step, steps[0])) not in steps:
            steps.insert(steps.index(step), few)
        for sizes in (step,) if few == step else (few, step):
            larger = made.at([sizes], own, MOST_WORK)
            if larger.launches and not larger.failed:
                return larger
    return result


def _with_other_branches(made: _Attempt, result: TorchResult, own: Sizes) -> TorchResult:
    """Verify at greater sizes, too, where guards took one branch alone and that is quick."""
    steps = ladder(own)
    wider = steps[steps.index(result.sizes) + 1 :] if result.sizes in steps else []
    before = one_sided(result)
    if result.verdict != "verified" or not wider or not before or result.seconds["verifying"] > SOON:
        return result
    other = made.at(wider, own, 4 * WORK, verifying=2 * SOON)
    other = replace(other, own_run=result.own_run)
    if other.verdict == "refuted":
        return other if is_of_any_size(other, own, made.solution) else only_there(other)
    return other if other.verdict == "verified" and one_sided(other) < before else result


SOON = 2.0
"""Seconds up to which a verification is so quick that another one is done."""


class _Attempt:
    """Verifies a candidate at one set of sizes after the other.

    Parameters
    ----------
    modules : Modules
        The candidate, the reference, and how they are recorded.
    requires, memory_only
        As of `verify`.

    Attributes
    ----------
    doubt : str
        At which smaller sizes the candidate is wrong, though it is right at greater ones.
    seconds : float
        Processor time that the present verification may take.
    out_of_time : bool
        Whether the last verification took longer than it may.
    beyond : list of sizes
        At which it is not tried, though modules were recorded there: that takes too much.
    """

    def __init__(self, modules: Modules, requires: Sequence[str], memory_only: bool) -> None:
        self.modules, self.solution, self.limits = modules, modules.solution, modules.limits
        self.requires, self.memory_only = requires, memory_only
        self.doubt, self.seconds, self.beyond = "", self.limits.verifying, list[Sizes]()
        self.out_of_time = False
        self._own_run: OwnRun | None = None
        self._others = dict[Any, OwnRun]()

    def at(
        self,
        steps: Sequence[Sizes],
        own: Sizes,
        work: int,
        *,
        verifying: float | None = None,
        hasty: bool = False,
    ) -> TorchResult:
        """Verify at the largest of some sizes that are no more work than is allowed, nor seconds.

        With `hasty` only `HASTE` of the time is taken where there are smaller sizes.
        """
        started, self.out_of_time = time.perf_counter(), False
        for old in self.modules.folder.glob("*.json"):
            old.unlink()
        found = recorded(self.modules, steps, work)
        between = time.perf_counter()
        self.seconds = min(verifying or self.limits.verifying, self.limits.verifying)
        if hasty and dict(found.sizes) != dict(steps[0]):
            self.seconds *= HASTE
        own_sizes = dict(found.sizes) == dict(own)
        blank = TorchResult(
            "unsupported",
            str(self.modules.problem),
            str(self.solution),
            found.sizes,
            own_sizes,
            notes=(
                *found.open,
                f"for the modules in {self.modules.mode or 'the mode in which they are made'} only",
            ),
        )
        result = self._judged(found, blank)
        seconds = {
            "recording": round(between - started, 3),
            "verifying": round(time.perf_counter() - between, 3),
        }
        return replace(result, seconds=seconds)

    def with_own_run(self, result: TorchResult, own: Sizes, *, is_last: bool = True) -> TorchResult:
        """Run launches on numbers at the problem's own sizes, beside what was found at smaller ones.

        What is undecided at last is also run on other numbers.
        """
        is_done = result.verdict == "refuted" or (result.own_sizes and result.verdict in SHOWN)
        if is_done or not result.launches or not result.sizes or not self.limits.own:
            return result
        started = time.perf_counter()
        if self._own_run is None:
            self._own_run = self._at_own_sizes(own)
        ran = self._own_run
        if result.configurations > 1:
            ran = replace(ran, open=(*ran.open, f"the first of {result.configurations} configurations alone"))
        if is_last and result.verdict == "undecided" and ran.shows:
            ran = self._on_other_numbers(result, ran, own)
        seconds = {**result.seconds, "own sizes": round(time.perf_counter() - started, 3)}
        return with_own_run(replace(result, seconds=seconds), ran)

    def _on_other_numbers(self, result: TorchResult, ran: OwnRun, own: Sizes) -> OwnRun:
        """Run launches on a counterexample at smaller sizes, repeated, and on numbers of one sign."""
        tried: list[tuple[Any, tuple[int, int]]] = [(None, OF_ONE_SIGN)]
        if numbers := result.counterexample():
            np.savez(self.modules.folder / COUNTEREXAMPLE, **numbers)  # type: ignore[arg-type]
            tried.insert(0, (tuple(result.sizes.items()), REPEATED))
        for key, draws in tried:
            if key not in self._others:
                self._others[key], _ = self._ran([ran.sizes], own, draws=draws)
            if self._others[key].findings:
                return self._others[key]
        return ran

    def _at_own_sizes(self, own: Sizes) -> OwnRun:
        """Run launches on numbers; once for all smaller sizes."""
        ladder_of_batches = with_smaller_batches(own)
        ran, memory = self._ran(ladder_of_batches, own)
        if memory is not None and not ran.findings:
            ran = memory_at_own_sizes(memory, ran, own, self.limits.own)
        if self._compares and not ran.launches and not ran.findings:  # the smallest batch is too large
            ran = self._at_smaller_extents(ladder_of_batches[-1], own, ran)
        depends = ran.launches and not ran.compared and not ran.findings  # on blocks that were not run
        if depends and self._compares:
            fewer, _ = self._ran(ladder_of_batches, own, all_blocks=True, rest=self.limits.own)
            if fewer.compared or fewer.findings:
                of_all = ran.memory or (() if ran.other else ran.launches)
                ran = replace(fewer, memory=of_all, doubts=(*ran.doubts, *fewer.doubts))
        if self.requires:
            ran = replace(ran, open=(*ran.open, "results are not compared: the inputs have conditions"))
        return ran

    def _at_smaller_extents(self, least: Sizes, own: Sizes, ran: OwnRun) -> OwnRun:
        """Run launches where other sizes than batches are smaller, too; what differs there is a doubt."""
        extents = with_smaller_extents(least, numbers_in(self.solution))
        fewer, _ = self._ran(extents, own) if extents else (ran, None)
        if not fewer.compared and not fewer.findings:
            return ran
        doubts = tuple(f"with {fewer.other}: {each}" for each in fewer.findings)
        return replace(fewer, memory=ran.memory, findings=(), doubts=(*ran.doubts, *fewer.doubts, *doubts))

    @property
    def _compares(self) -> bool:
        """Whether results at the problem's own sizes are compared."""
        return not (self.memory_only or self.requires)

    def _ran(
        self,
        batches: Sequence[Sizes],
        own: Sizes,
        *,
        all_blocks: bool = False,
        rest: float = REST,
        draws: tuple[int, int] = OF_SIZES,
    ) -> tuple[OwnRun, Recording | None]:
        """Run launches at the first of several sizes that takes little time.

        Returns
        -------
        tuple of OwnRun and Recording
            The latter at the problem's own sizes, where the run is at others.
        """
        found = own_recorded(self.modules, batches, all_blocks=all_blocks, draws=draws)
        other = ", ".join(f"{name} = {value}" for name, value in found.sizes.items() if value != own[name])
        at = OwnRun(found.sizes, other)
        if found.candidate.recording is None or found.numbers is None:
            return replace(at, open=(found.reason,)), found.memory
        ran = run_at_own_sizes(
            found.candidate.recording,
            found.numbers,
            at,
            self.limits.own,
            compare=self._compares,
            rest=rest,
            draws=draws,
        )
        return ran, found.memory

    def _judged(self, found: Recorded, blank: TorchResult) -> TorchResult:
        reference, folder = found.reference.recording, self.modules.folder
        if reference is None:
            return replace(blank, findings=(f"the reference: {found.reference.reason}",))
        if found.work > BEYOND:
            self.beyond.append(found.sizes)
            launches = found.candidates[0].recording.launches if found.candidates[0].recording else ()
            much = f"the reference is some {found.work:,} operations at these sizes, more than {BEYOND:,}"
            entries = tuple(launch.entry for launch in launches)
            return replace(blank, verdict="undecided", launches=entries, findings=(much,))
        try:
            differs = disagreement(reference, folder / "numbers.npz")
        except UnsupportedError as reason:
            return replace(blank, findings=(f"the reference: {reason}",))
        except Exception as reason:  # what an operation on arrays of an odd shape raises
            return replace(blank, findings=(f"the reference: {type(reason).__name__}: {reason}",))
        if differs:
            what = f"the model of the reference differs from PyTorch: {differs}"
            return replace(blank, verdict="undecided", findings=(what,))
        results = []
        for number, part in enumerate(found.candidates):
            if part.recording is None:
                verdict = "undecided" if part.failed else "unsupported"
                said = (f"the candidate: {part.reason}",)
                results.append(replace(blank, verdict=verdict, failed=part.failed, findings=said))
                continue
            inner = folder / f"configuration{number}" if number else folder
            inner.mkdir(exist_ok=True)
            results.append(self._verified(part.recording, reference, inner, blank))
        worst = min(results, key=lambda each: _WORST.index(each.verdict))
        worst = replace(worst, configurations=len(found.candidates))
        if found.configurations > len(found.candidates) and worst.verdict in ("verified", "safe"):
            left = found.configurations - len(found.candidates)
            what = f"{left} of {found.configurations} configurations of an autotuned kernel are not verified"
            return replace(worst, verdict="undecided", findings=(what,))
        return worst

    def _verified(
        self, candidate: Recording, reference: Recording, folder: Path, blank: TorchResult
    ) -> TorchResult:
        blank = replace(
            blank,
            launches=tuple(launch.entry for launch in candidate.launches),
            steps=sum(isinstance(step, Operation) for step in candidate.steps),
            notes=(*blank.notes, *dict.fromkeys((*reference.notes, *candidate.notes))),
        )
        if wrong := other_results(candidate, reference):
            return replace(blank, verdict="refuted", findings=(wrong,))
        for launch in candidate.launches:
            if 0 in launch.grid:
                blocks = f"{launch.entry} is launched with a grid of {launch.grid} blocks"
                said = f"the candidate: {blocks}, which runs nothing, in {launch.where}"
                return replace(blank, verdict="undecided", failed=True, findings=(said,))
        if not candidate.launches:
            return replace(blank, findings=("the candidate launches no kernel: all of it is PyTorch's own",))
        try:
            if not self.memory_only:
                mine, theirs, shared = with_shared_products_as_data(candidate, reference)
                result = self._compared(mine, theirs, folder, blank) if shared else blank
                if result.verdict == "verified":
                    alike = (
                        f"assumed: both modules get the same finite numbers from {one}" for one in shared
                    )
                    return replace(result, hypotheses=(*result.hypotheses, *alike))
                is_first = folder == self.modules.folder
                if result.verdict == "refuted" and is_first and self._differs_on_numbers(blank.sizes):
                    return result
            return self._compared(candidate, reference, folder, blank)
        except TimeUpError as reason:
            self.out_of_time = True
            return replace(blank, verdict="undecided", findings=(f"the verification {reason}",))

    def _differs_on_numbers(self, sizes: Sizes) -> bool:
        """Tell whether a candidate is wrong at some sizes on numbers that inputs are: products are theirs."""
        return bool(self._compares and self.limits.own and self._ran([sizes], sizes)[0].findings)

    def _compared(
        self, candidate: Recording, reference: Recording, folder: Path, blank: TorchResult
    ) -> TorchResult:
        """Return the verdict on two recordings; raises TimeUpError where it takes too long."""
        from ..kernels import verify as verify_kernel

        try:
            wanted = None if self.memory_only else reference
            files = ContractWriter(candidate, wanted, self.requires, self.modules.target).write(folder)
            with within(self.seconds):
                report = verify_kernel(files.kernel, files.contract)
        except (NotRecordedError, UnsupportedError) as reason:
            return replace(blank, findings=(str(reason),))
        except DisagreementError as reason:
            return replace(blank, verdict="undecided", findings=(f"a defect of mmaproof: {reason}",))
        except InputError as reason:
            return replace(blank, findings=(f"the recording can't be verified: {reason}",))
        return with_report(blank, report)
