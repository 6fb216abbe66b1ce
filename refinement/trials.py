"""No verdict without a run: a kernel that is to be verified, run on numbers, and compared with numpy.

What the symbolic run says of a kernel rests on how terms are made, merged and rewritten. Here the kernel
runs on constants instead, and the contract's formula is computed by `reference_result`, which knows
nothing of terms. A difference beyond what roundings explain is a defect of mmaproof, not of the kernel.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..spec.errors import DefectError, UnsupportedError
from ..spec.formats import FloatFormat
from .arguments import Array
from .array_memory import elements_in, first_lanes, memories
from .assignments import Assignment
from .contract import Instance
from .counterexample_document import Difference
from .counterexamples import (
    Inputs,
    KernelCounterexample,
    as_constants,
    documented,
    explained_by_rounding,
    given_constants,
    numbers_in,
    relative_to,
    unequal,
)
from .error_bounds import ErrorBounds
from .findings import Kind
from .front_end import Kernel, Outcome
from .interning import Ids
from .references import Reference
from .result import Equality
from .result_statistics import PassedRuns
from .rounding_depth import roundings
from .terms import TermStore
from .trial_inputs import trial_inputs

SEED = 1
THREADS = 32
"""Threads that a trial has at least, as far as there are so many: of blocks at random, and where they are
several, of the last one, at the edges of the problem."""

COARSE = 2.0**-12
"""A bound of rounding, relative to the sum of magnitudes, that is too coarse to tell much."""

SUSPECTS = 64
"""Elements of an output whose difference is compared with the bound of their own roundings."""


class Compared(NamedTuple):
    """An output that was found right.

    Attributes
    ----------
    output : Array
        The output.
    members : array (n,)
        Its elements that the kernel wrote, by linear index.
    actual, expected : array (elements,)
        Terms.
    """

    output: Array
    members: NDArray[np.intp]
    actual: Ids
    expected: Ids


@dataclass(frozen=True)
class Trials:
    """Runs on numbers that agreed with the contract.

    Attributes
    ----------
    inputs : int
        Sets of inputs.
    blocks, elements : int
        Blocks of threads that ran, and output elements that were compared.
    seconds : float
        Time.
    """

    inputs: int = 0
    blocks: int = 0
    elements: int = 0
    seconds: float = 0.0

    def __add__(self, other: Trials) -> Trials:
        return Trials(
            self.inputs + other.inputs,
            self.blocks + other.blocks,
            self.elements + other.elements,
            self.seconds + other.seconds,
        )

    def document(self) -> PassedRuns:
        """Return the part of a result's statistics that is about them."""
        return {
            "inputs": self.inputs,
            "blocks": self.blocks,
            "elements": self.elements,
            "seconds": round(self.seconds, 3),
        }


class DisagreementError(DefectError):
    """A kernel that is verified, but wrong on numbers.

    Parameters
    ----------
    counterexample : KernelCounterexample
        The inputs, and what is different on them.
    """

    def __init__(self, counterexample: KernelCounterexample) -> None:
        self.counterexample = counterexample
        difference = counterexample.difference
        super().__init__(
            f"{counterexample.kernel} is shown to be right, but run on numbers {difference.output} is "
            f"{difference.kernel}, not {difference.contract}: one of the two is wrong"
        )


def tried(
    kernel: Kernel,
    instance: Instance,
    store: TermStore,
    compared: Sequence[Compared],
    equality: Equality,
    outcome: Outcome,
    growth: float,
    reference: Reference,
) -> Trials:
    """Run a kernel that is to be verified on numbers.

    Parameters
    ----------
    kernel, instance : Kernel, Instance
        What was run on terms.
    store : TermStore
        The terms.
    compared : sequence of Compared
        The outputs.
    equality : Equality
        In which sense they are right.
    outcome : Outcome
        Of the run on terms.
    growth : float
        By how much of the sum of its terms' magnitudes an output may be off.
    reference : Reference
        What the outputs are to be.

    Raises
    ------
    DisagreementError
        If an element differs by more than the roundings of both sides explain.
    """
    started = time.perf_counter()
    trial = _Trial(kernel, instance, store, compared, equality, outcome, growth, reference)
    every = _blocks(instance)
    blocks = np.arange(every) if instance.launches else _some_blocks(instance)
    wrong, elements = trial.wrong(None if instance.launches else blocks)
    if wrong is not None and len(blocks) < every:  # blocks may depend on each other
        blocks = np.arange(every)
        wrong, elements = trial.wrong(None)
    if wrong is not None:
        raise DisagreementError(wrong)
    return Trials(1, len(blocks), elements, time.perf_counter() - started)


def _blocks(instance: Instance) -> int:
    return sum(int(np.prod(each.grid)) for each in instance.launches or (instance,))


def _some_blocks(instance: Instance) -> NDArray[np.intp]:
    every, threads = int(np.prod(instance.grid)), int(np.prod(instance.block))
    count = min(every, -(-THREADS // threads))
    chosen = np.random.default_rng([SEED, *instance.sizes.values()]).choice(every, count, replace=False)
    return np.sort(chosen if count == 1 else np.array([every - 1, *chosen[chosen != every - 1]])[:count])


class _Trial:
    """One set of inputs."""

    def __init__(
        self,
        kernel: Kernel,
        instance: Instance,
        store: TermStore,
        compared: Sequence[Compared],
        equality: Equality,
        outcome: Outcome,
        growth: float,
        reference: Reference,
    ) -> None:
        self._growth = growth
        self._former = reference.former
        self._kernel, self._instance, self._store = kernel, instance, store
        self._compared, self._equality, self._outcome = compared, equality, outcome
        self.inputs: Inputs = trial_inputs(instance, SEED, finite=equality is Equality.VALUE)
        self._memories = memories(instance)
        self._wanted = reference.values(self.inputs)
        self._sizes = reference.magnitudes(self.inputs)
        self._bounds = ErrorBounds(store, self.inputs, overflows=False)
        self.unjudged = 0

    def wrong(self, blocks: NDArray[np.intp] | None) -> tuple[KernelCounterexample | None, int]:
        """Return what is wrong on the inputs, and how many elements were compared."""
        self.unjudged = 0
        store = TermStore()
        constants = as_constants(store, self._instance, self.inputs)
        given = given_constants(store, self._instance)
        outcome = self._kernel.run(self._instance, store, given | constants, blocks=blocks)
        for finding in outcome.findings:
            if finding.kind is Kind.RACE and self._outcome.reordered:  # of sums that are the same real number
                continue
            return self._documented(Difference("the run", f"{finding}", "without a finding"), 0.0), 0
        if not outcome.complete:
            return self._documented(Difference("the run", "without an end", "complete"), 0.0), 0
        count = 0
        for each in self._compared:
            members = each.members
            if blocks is not None:
                lanes = first_lanes(each.output)[members]
                members = members[outcome.arrays[each.output.name].lines[lanes] != 0]
            count += len(members)
            difference = self._difference(each, members, store, outcome)
            if difference is not None:
                return difference, count
        return None, count - self.unjudged

    def _difference(
        self, each: Compared, members: NDArray[np.intp], store: TermStore, outcome: Outcome
    ) -> KernelCounterexample | None:
        output = each.output
        written, terms = elements_in(store, self._memories[output.name], outcome.arrays[output.name].lanes)
        members = members[written[members]]
        words = Assignment(store, {}).values(terms[members])
        got = numbers_in(words, output.format)
        wanted = self._wanted[output.name][members]
        suspects = np.flatnonzero(unequal(got, wanted, self._surely_allowed(output)[members]))
        if len(suspects) > SUSPECTS:
            suspects = np.unique(_most_apart(got, wanted, suspects))
        try:
            allowed = self._allowed(each, members[suspects])
        except UnsupportedError:  # a function without a value: nothing is said of these elements
            self.unjudged += len(suspects)
            return None
        wrong = suspects[unequal(got[suspects], wanted[suspects], allowed)]
        if not len(wrong):
            return self._other_bits(each, members, words)
        bound = float(allowed[np.searchsorted(suspects, wrong[0])])
        return self._told(output, int(members[wrong[0]]), got[wrong[0]], wanted[wrong[0]], bound)

    def _surely_allowed(self, output: Array) -> NDArray[np.float64]:
        """Return what the bound of the verdict explains; what is within it needs no bound of its own.

        Where that bound is coarse, as of sums in f16, the elements' own bounds are far better.
        """
        if self._equality is Equality.BITS or not isinstance(output.format, FloatFormat):
            return np.zeros(output.elements)
        sizes = np.nan_to_num(self._sizes[output.name], posinf=0.0)
        found: NDArray[np.float64] = min(self._growth, COARSE) * sizes
        return found

    def _allowed(self, each: Compared, members: NDArray[np.intp]) -> NDArray[np.float64]:
        actual, expected = each.actual[members], each.expected[members]
        loose = float(roundings(self._store, actual).growth) if self._outcome.reordered else 0.0
        return explained_by_rounding(self._bounds, actual, expected, each.output.format, loose)

    def _other_bits(
        self, each: Compared, members: NDArray[np.intp], words: NDArray[np.uint64]
    ) -> KernelCounterexample | None:
        """Compare floats that are shown to be the very bits with the contract's terms on numbers."""
        fmt = each.output.format
        if self._equality is not Equality.BITS or not isinstance(fmt, FloatFormat):
            return None
        try:
            expected = self._bounds.values(each.expected[members])
        except UnsupportedError:
            return None
        nan = np.isnan(numbers_in(words, fmt)) & np.isnan(numbers_in(expected, fmt))
        wrong = np.flatnonzero((words != expected) & ~nan)
        if not len(wrong):
            return None
        got, wanted = (f"{side[wrong[0]]:#x}" for side in (words, expected))
        return self._told(each.output, int(members[wrong[0]]), got, wanted, 0.0)

    def _told(self, output: Array, element: int, got: Any, wanted: Any, bound: float) -> KernelCounterexample:
        index = ",".join(map(str, np.unravel_index(element, output.shape)))
        return self._documented(Difference(f"{output.name}[{index}]", str(got), str(wanted)), bound)

    def _documented(self, difference: Difference, bound: float) -> KernelCounterexample:
        return KernelCounterexample(
            self._kernel.path,
            self._former,
            self._instance.contract.path,
            dict(self._instance.sizes),
            documented(self._instance, self.inputs),
            difference,
            bound,
            relative_to(difference, bound) if bound else 0.0,
        )


def _most_apart(got: NDArray[Any], wanted: NDArray[Any], among: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the elements that are furthest apart, and those that are so relative to their size."""
    left, right = got[among].astype(np.float64), wanted[among].astype(np.float64)
    with np.errstate(all="ignore"):
        apart = np.abs(left - right)
        relative = apart / np.maximum(np.abs(left), np.abs(right))
    ranked = [np.argsort(-np.nan_to_num(each, nan=0.0))[: SUSPECTS // 2] for each in (apart, relative)]
    found: NDArray[np.intp] = among[np.concatenate(ranked)]
    return found
