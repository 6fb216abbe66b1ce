"""Trials: a kernel run on numbers and compared with numpy before it is called verified.

What the symbolic run says of a kernel rests on how terms are made, merged and rewritten. Here the kernel
runs on constants instead, and the contract's formula is computed by `reference_result`, which knows
nothing of terms. The terms themselves, which every rewriting started from, are evaluated on further sets of
numbers, more of them the less that costs. A difference beyond what roundings explain is a defect of mmaproof,
not of the kernel; what no set of numbers could have shown is told.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import DefectError, InputError, UnsupportedError
from ..checker.evaluated import ObjectionError
from ..contract.contract import Instance
from ..expected.requirements import Requirements
from ..findings.finding import Kind
from ..findings.result import Equality
from ..findings.result_statistics import PassedRuns
from ..machine.array_memory import elements_in, first_lanes, memories
from ..machine.front_end import Kernel, Outcome
from ..terms.assignments import Assignment
from ..terms.store import TermStore
from .counterexample_document import Difference
from .counterexamples import KernelCounterexample, as_constants, documented, given_constants
from .equated_inputs import equated_inputs
from .outcome_inputs import outcome_inputs
from .references import Reference
from .related_inputs import related_inputs
from .trial_dependence import Dependences
from .trial_inputs import Words, more_trial_inputs, outweighing_inputs, trial_inputs
from .trial_judgement import Claim, Compared, Judgement

SEED = 1
THREADS = 32
"""Threads that a trial has at least, as far as there are so many: of blocks at random, and where they are
several, of the last one, at the edges of the problem."""

_STEPS = 1 << 17
"""Terms that are evaluated, on all further sets of inputs together: some tenths of a second."""

_SETS = 4, 8
"""Further sets of inputs, at least and at most; where there are too many terms, of some elements only."""

_RELATED = 4, 80
"""The same of sets in which elements are related, where elements are compared."""


@dataclass(frozen=True)
class Trials:
    """Counts of trials that agreed with the contract.

    Attributes
    ----------
    inputs : int
        Sets of inputs.
    blocks, elements : int
        Blocks of threads that ran, and output elements that were compared.
    seconds : float
        Time.
    unjudged : int
        Elements that were not what numpy computes, and of whose roundings no bound is known.
    depends, shown : frozenset of (str, str)
        Outputs, each with an input that it depends on; and for which of them it was seen to.
    """

    inputs: int = 0
    blocks: int = 0
    elements: int = 0
    seconds: float = 0.0
    unjudged: int = 0
    depends: frozenset[tuple[str, str]] = frozenset()
    shown: frozenset[tuple[str, str]] = frozenset()

    def __add__(self, other: Trials) -> Trials:
        return Trials(
            self.inputs + other.inputs,
            self.blocks + other.blocks,
            self.elements + other.elements,
            self.seconds + other.seconds,
            self.unjudged + other.unjudged,
            self.depends | other.depends,
            self.shown | other.shown,
        )

    @property
    def not_shown(self) -> list[str]:
        """What no set of inputs could show, at no sizes and in no case of scalars, in words."""
        return [f"{output} depends on {name}" for output, name in sorted(self.depends - self.shown)]

    def document(self) -> PassedRuns:
        """Return the part of a result's statistics that is about them."""
        return {
            "inputs": self.inputs,
            "blocks": self.blocks,
            "elements": self.elements,
            "seconds": round(self.seconds, 3),
            "unjudged": self.unjudged,
            "not_shown": self.not_shown,
        }


class DisagreementError(DefectError):
    """A verified kernel that fails a trial: a defect of mmaproof.

    Parameters
    ----------
    counterexample : KernelCounterexample
        The inputs, and what is different on them.
    how : str
        How that was found.
    """

    def __init__(self, counterexample: KernelCounterexample, how: str = "run on numbers") -> None:
        self.counterexample = counterexample
        difference = counterexample.difference
        super().__init__(
            f"{counterexample.kernel} is shown to be right, but {how} {difference.output} is "
            f"{difference.kernel}, not {difference.contract}: either the proof or the run is wrong"
        )
        self.how = how

    def __reduce__(self) -> tuple[type[DisagreementError], tuple[KernelCounterexample, str]]:
        return type(self), (self.counterexample, self.how)


def disagreement(
    kernel: Kernel, instance: Instance, compared: Compared, objection: ObjectionError, reference: Reference
) -> DisagreementError:
    """Return what the checker objects to as an error with the inputs on which two terms are different.

    Inputs that the terms do not depend on are any numbers.
    """
    inputs = trial_inputs(instance, SEED, finite=True)
    for (name, _, index), word in objection.inputs.items():
        if name in inputs and index < len(inputs[name]):
            inputs[name][index] = word
    place = np.unravel_index(int(compared.members[objection.member]), compared.output.shape)
    element = f"{compared.output.name}[{','.join(map(str, place))}]"
    counterexample = KernelCounterexample(
        kernel.path,
        reference.former,
        instance.contract.path,
        dict(instance.sizes),
        documented(instance, inputs),
        Difference(element, objection.actual, objection.expected),
        0.0,
        0.0,
    )
    return DisagreementError(counterexample, "evaluated again")


def tried(
    kernel: Kernel,
    instance: Instance,
    store: TermStore,
    compared: Sequence[Compared],
    equality: Equality,
    outcome: Outcome,
    growth: float,
    reference: Reference,
    masks: Sequence[float] = (),
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
    masks : sequence of float
        Numbers that were taken for -∞: inputs that outweigh them are tried, too.

    Raises
    ------
    DisagreementError
        If an element differs by more than the roundings of both sides explain.
    """
    started = time.perf_counter()
    claim = Claim(kernel, instance, store, compared, equality, outcome, growth, reference)
    judgement = Judgement(
        claim, trial_inputs(instance, SEED, finite=equality is Equality.VALUE), by_terms=False
    )
    requirements = Requirements(instance)
    dependences = Dependences(claim, requirements)
    found = _run(claim, judgement)
    dependences.look(judgement, SEED)
    outweighing = outweighing_inputs(instance, requirements, masks, SEED)
    found += _evaluated(claim, dependences, requirements, outweighing)
    return replace(
        found,
        depends=dependences.every,
        shown=dependences.every - dependences.open,
        seconds=time.perf_counter() - started,
    )


def _run(claim: Claim, judgement: Judgement) -> Trials:
    """Run some blocks of a kernel on constants; all of them where some don't agree."""
    instance = claim.instance
    every = _blocks(instance)
    blocks = np.arange(every) if instance.launches else _some_blocks(instance)
    wrong, elements = _wrong(claim, judgement, None if instance.launches else blocks)
    if wrong is not None and len(blocks) < every:  # blocks may depend on each other
        blocks = np.arange(every)
        wrong, elements = _wrong(claim, judgement, None)
    if wrong is not None:
        raise DisagreementError(wrong)
    return Trials(1, len(blocks), elements, unjudged=judgement.unjudged)


def _evaluated(
    claim: Claim, dependences: Dependences, requirements: Requirements, first: Iterable[dict[str, Words]]
) -> Trials:
    """Evaluate the terms of a kernel on the first sets of inputs, and on further ones."""
    least, most = _SETS
    sets = int(np.clip(_STEPS // max(len(claim.store), 1), least, most))
    share = _STEPS / (sets * max(len(claim.store), 1))
    random = np.random.default_rng(SEED)
    found = Trials()
    drawn = claim.instance, claim.store, requirements, SEED
    further = islice(more_trial_inputs(*drawn), sets)
    related = islice(related_inputs(*drawn), int(np.clip(_STEPS // max(len(claim.store), 1), *_RELATED)))
    for inputs in chain(first, further, related, equated_inputs(*drawn), outcome_inputs(*drawn)):
        judgement = Judgement(claim, inputs, by_terms=True)
        try:
            for each in claim.compared:
                members = each.members[random.random(len(each.members)) < share]
                words = judgement.bounds.words(each.actual[members])
                if (wrong := judgement.difference(each, members, words)) is not None:
                    raise DisagreementError(wrong)
                found += Trials(elements=len(members))
            dependences.look(judgement, SEED)
        except (InputError, UnsupportedError):  # numbers that are no indices, functions without a value
            continue
        found += Trials(1, elements=-judgement.unjudged, unjudged=judgement.unjudged)
    return found


def _blocks(instance: Instance) -> int:
    return sum(int(np.prod(launch.grid)) for launch in instance.launches or (instance,))


def _some_blocks(instance: Instance) -> NDArray[np.intp]:
    every, threads = int(np.prod(instance.grid)), int(np.prod(instance.block))
    count = min(every, -(-THREADS // threads))
    chosen = np.random.default_rng([SEED, *instance.sizes.values()]).choice(every, count, replace=False)
    return np.sort(chosen if count == 1 else np.array([every - 1, *chosen[chosen != every - 1]])[:count])


def _wrong(
    claim: Claim, judgement: Judgement, blocks: NDArray[np.intp] | None
) -> tuple[KernelCounterexample | None, int]:
    """Return what is wrong of some blocks on the inputs, and how many elements were compared."""
    judgement.unjudged = 0
    store, instance = TermStore(), claim.instance
    constants = as_constants(store, instance, judgement.inputs)
    given = given_constants(store, instance)
    outcome = claim.kernel.run(instance, store, given | constants, blocks=blocks)
    for finding in outcome.findings:
        if finding.kind is Kind.RACE and claim.outcome.reordered:  # of sums that are the same real number
            continue
        return judgement.documented(Difference("the run", f"{finding}", "without a finding"), 0.0), 0
    if not outcome.complete:
        return judgement.documented(Difference("the run", "without an end", "complete"), 0.0), 0
    count = 0
    arrays = memories(instance)
    for each in claim.compared:
        final, members = outcome.arrays[each.output.name], each.members
        if blocks is not None:
            members = members[final.lines[first_lanes(each.output)[members]] != 0]
        written, terms = elements_in(store, arrays[each.output.name], final.lanes)
        count += len(members)
        members = members[written[members]]
        difference = judgement.difference(each, members, Assignment(store, {}).values(terms[members]))
        if difference is not None:
            return difference, count
    return None, count - judgement.unjudged
