"""Judges outputs of one trial: which differ from numpy by more than rounding explains.

Every element is compared with numpy. What differs at all, or by more than the bound of the verdict where that
is a good one, is judged by the bound of its own roundings on these very numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.formats import FloatFormat
from ..analysis.rounding_depth import roundings
from ..contract.arguments import Array
from ..contract.contract import Instance
from ..errors.error_bounds import ErrorBounds
from ..findings.result import Equality
from ..machine.front_end import Kernel, Outcome
from ..terms.inputs import Inputs, numbers_in
from ..terms.interning import Ids
from ..terms.store import TermStore
from .counterexample_document import Difference
from .counterexamples import KernelCounterexample, documented, explained_by_rounding, relative_to, unequal
from .references import Reference

COARSE = 2.0**-12
"""A bound of rounding, relative to the sum of magnitudes, that is too coarse to tell much."""

SUSPECTS = 64
"""Elements of an output, where it is run, whose difference is compared with the bound of their roundings."""

FEW_SUSPECTS = 16
"""The same of each further set of inputs: bounds cost as much as all that an element is made of."""


_LEAST, _MOST = 2.0**-18, 2.0**-5
"""The least and the greatest relative difference of which nothing is asked on further inputs."""


class Compared(NamedTuple):
    """An output that was found equal to the expected one.

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

    def read_as(self, read: tuple[Ids, Ids] | None) -> Compared:
        """Return the output with the terms (m,) of both sides that members were compared as, if any."""
        if read is None:
            return self
        sides = self.actual.copy(), self.expected.copy()
        for side, terms in zip(sides, read, strict=True):
            side[self.members] = terms
        return self._replace(actual=sides[0], expected=sides[1])


@dataclass(frozen=True)
class Claim:
    """The claim that a trial tests: a kernel's outputs at one set of sizes.

    Attributes
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
    """

    kernel: Kernel
    instance: Instance
    store: TermStore
    compared: Sequence[Compared]
    equality: Equality
    outcome: Outcome
    growth: float
    reference: Reference


class Judgement:
    """Compares outputs with numpy on one set of inputs.

    Parameters
    ----------
    claim : Claim
        What is claimed of the kernel.
    inputs : mapping of str to array
        The encodings of every input, by linear index.
    by_terms : bool
        Whether terms are evaluated, those of another kernel that says what outputs are to be, too; else the
        kernels are run.

    Attributes
    ----------
    bounds : ErrorBounds
        Of the terms on these inputs.
    unjudged : int
        Elements that are not what numpy computes, and of whose roundings no bound is known.
    """

    def __init__(self, claim: Claim, inputs: Inputs, *, by_terms: bool) -> None:
        self._claim, self.inputs = claim, inputs
        self._by_terms = by_terms
        self._former_by_terms = by_terms and claim.reference.former is not None
        self._suspects = FEW_SUSPECTS if by_terms else SUSPECTS
        self.bounds = ErrorBounds(claim.store, inputs, overflows=False)
        self.unjudged = 0

    @cached_property
    def wanted(self) -> dict[str, NDArray[Any]]:
        """Every output (elements,) as it is to be; raises InputError where an index leaves its array."""
        if not self._former_by_terms:
            return dict(self._claim.reference.values(self.inputs))
        found = {}
        for compared in self._claim.compared:
            numbers = np.full(compared.output.elements, np.nan, dtype=object)
            words = self.bounds.words(compared.expected[compared.members])
            numbers[compared.members] = numbers_in(words, compared.output.format)
            found[compared.output.name] = numbers
        return found

    @cached_property
    def _sizes(self) -> dict[str, NDArray[np.float64]]:
        return dict(self._claim.reference.magnitudes(self.inputs))

    def difference(
        self, each: Compared, members: NDArray[np.intp], words: NDArray[np.uint64]
    ) -> KernelCounterexample | None:
        """Return the first of some elements that is wrong; None if none is known to be.

        Parameters
        ----------
        each : Compared
            The output.
        members : array (n,)
            Elements, by linear index.
        words : array (n,)
            What the kernel makes them, as encodings.
        """
        got = numbers_in(words, each.output.format)
        wanted = self.wanted[each.output.name][members]
        usual = np.zeros(len(members))
        if self._by_terms and isinstance(each.output.format, FloatFormat):
            usual = self._ordinary(each.output.format, wanted)
        apart = unequal(got, wanted, usual)
        if apart.any():  # only then is the verdict's bound worth its time
            apart = unequal(got, wanted, np.maximum(self._passed(each.output)[members], usual))
        if self._claim.equality is Equality.VALUE:  # where the contract has no number, any will do
            free = apart & np.isnan(wanted.astype(np.float64)) & np.isfinite(got.astype(np.float64))
            self.unjudged += int(free.sum())
            apart &= ~free
        suspects = np.flatnonzero(apart)
        if len(suspects) > self._suspects:
            suspects = most_apart(got, wanted, suspects, self._suspects)
        allowed = self.allowed(each, members[suspects])
        self.unjudged += int(np.isinf(allowed).sum())
        wrong = np.flatnonzero(unequal(got[suspects], wanted[suspects], allowed))
        if not len(wrong):
            return self._other_bits(each, members, words)
        place = suspects[wrong[0]]
        bound = float(allowed[wrong[0]])
        return self._told(each.output, int(members[place]), got[place], wanted[place], bound)

    def _passed(self, output: Array) -> NDArray[np.float64]:
        """Return what the bound of the verdict explains; what is within it needs no bound of its own.

        Where that bound is coarse, as of sums in f16, the elements' own bounds are far better.
        """
        found = np.nan_to_num(self.explained(output), posinf=0.0)
        if self._claim.growth > COARSE:
            found *= COARSE / self._claim.growth
        return found

    def _ordinary(self, fmt: FloatFormat, wanted: NDArray[Any]) -> NDArray[np.float64]:
        """Return how far apart numbers (n,) are as a rule that are computed in some steps: nothing is known.

        On further inputs this saves bounds of what is right; a fault that counts is greater on one of them.
        """
        sizes = np.abs(wanted.astype(np.float64))
        finite = np.isfinite(sizes)
        if not finite.any():
            return np.zeros(len(sizes))
        usual = np.maximum(np.where(finite, sizes, 0.0), np.median(sizes[finite]))
        last = 2.0 ** -(fmt.fraction_bits + 1)
        found: NDArray[np.float64] = float(np.clip(self._claim.growth, max(8 * last, _LEAST), _MOST)) * usual
        return found

    def explained(self, output: Array) -> NDArray[np.float64]:
        """Return how far the elements (elements,) may be off by the bound of the verdict; NaN without one."""
        if self._claim.equality is Equality.BITS or not isinstance(output.format, FloatFormat):
            return np.zeros(output.elements)
        if self._former_by_terms:
            return np.full(output.elements, np.nan)
        with np.errstate(over="ignore", invalid="ignore"):
            found: NDArray[np.float64] = self._claim.growth * self._sizes[output.name]
        return found

    def allowed(self, each: Compared, members: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return how far elements (n,) of an output may be off by their roundings; inf where that is open."""
        actual, expected = each.actual[members], each.expected[members]
        if not len(members):
            return np.zeros(0)
        reordered = self._claim.outcome.reordered
        loose = float(roundings(self._claim.store, actual).growth) if reordered else 0.0
        try:
            return explained_by_rounding(self.bounds, actual, expected, each.output.format, loose)
        except UnsupportedError:  # a function without a value: nothing is said of these elements
            return np.full(len(members), np.inf)

    def _other_bits(
        self, each: Compared, members: NDArray[np.intp], words: NDArray[np.uint64]
    ) -> KernelCounterexample | None:
        """Compare floats that are shown to be the very bits with the contract's terms on numbers."""
        fmt = each.output.format
        if self._claim.equality is not Equality.BITS or not isinstance(fmt, FloatFormat):
            return None
        try:
            expected = self.bounds.words(each.expected[members])
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
        return self.documented(Difference(f"{output.name}[{index}]", str(got), str(wanted)), bound)

    def documented(self, difference: Difference, bound: float) -> KernelCounterexample:
        """Return a difference on these inputs, with how far roundings may be off there."""
        claim = self._claim
        return KernelCounterexample(
            claim.kernel.path,
            claim.reference.former,
            claim.instance.contract.path,
            dict(claim.instance.sizes),
            documented(claim.instance, self.inputs),
            difference,
            bound,
            relative_to(difference, bound) if bound else 0.0,
        )


def most_apart(
    got: NDArray[Any], wanted: NDArray[Any], among: NDArray[np.intp], most: int
) -> NDArray[np.intp]:
    """Return which of some elements are furthest apart, and which are so relative to their size."""
    left, right = got[among].astype(np.float64), wanted[among].astype(np.float64)
    with np.errstate(all="ignore"):
        apart = np.abs(left - right)
        relative = apart / np.maximum(np.abs(left), np.abs(right))
    ranked = [np.argsort(-np.nan_to_num(each, nan=0.0))[: most // 2] for each in (apart, relative)]
    return np.unique(among[np.concatenate(ranked)])
