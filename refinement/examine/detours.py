"""Detours: intermediate values of a kernel that overflow or are NaN where the formula is fine.

A kernel that computes ``sqrt(x)^2`` for ``x`` is right over the reals where x is not negative, which nothing
in the formula says; ``1e30 * x * 1e-30`` is where nothing overflows that the formula does not have. Such a
hypothesis is the kernel's own. It is found by inputs, such as ``[requires]`` admits, on which the formula,
computed in its working format, is stable and far from the ends of the formats, and the kernel is no number,
or off by more than roundings that do not cancel make it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.formats import FloatFormat, Format
from ..analysis.quantisation import quantises, widens
from ..contract.contract import Instance
from ..equality.alike_pairs import some_of_each_shape
from ..errors.error_bounds import ErrorBounds
from ..normal_forms.functions.libm_idioms import SoftwareFunctions
from ..terms import operations
from ..terms.assignments import Assignment
from ..terms.inputs import numbers_in
from ..terms.interning import Ids
from ..terms.store import CONSTANT, LEAVES, Operation, TermStore
from ..terms.traversal import by_operation, within
from .probing_inputs import probes
from .trial_inputs import TYPICAL

Words = NDArray[np.uint64]
Reals = NDArray[np.float64]

_SMALL = 1 << 14
"""Terms that are always looked at; of more, only those that are more than sums of products of data."""

_WORK = 600_000
"""Terms that are evaluated, on all inputs together."""

_MOST_INPUTS, _FEWEST_INPUTS = 48, 4

_ROOM = 1 << 23
"""Words of a table of terms on several inputs: 64 MiB."""

_SCALING = 2.0
"""Constants beyond this, or below its reciprocal, scale or absorb."""

_OFF, _STABLE, _SHARE = 1 / 4, 1 / 16, 1 / 4
"""A kernel is off by more than this part of the size of the formula's terms, which is itself off by less, at
this share of the elements: a comparison of rounded numbers may turn at a few."""

_NIL = 2.0**-60
"""Where a formula is 0, an error up to a part of this is none."""

_CANCELS = 2.0**10
"""Sizes of the kernel's terms, in those of the formula's, from which on they may cancel."""


class Detour(NamedTuple):
    """Inputs that the formula admits and the kernel mishandles.

    Attributes
    ----------
    inputs : mapping of str to array
        The inputs.
    place : int
        Which of the terms that were compared.
    got, wanted : float
        What the kernel and the formula are there.
    always : bool
        Whether the kernel is off on all inputs that were tried on which the formula is not 0.
    culprit : int
        The operation of the kernel that does it.
    """

    inputs: Mapping[str, Words]
    place: int
    got: float
    wanted: float
    always: bool
    culprit: int


class Detours:
    """Searches for inputs that a formula admits and a kernel mishandles.

    Parameters
    ----------
    instance : Instance
        The contract.
    store : TermStore
        The terms.
    actual, expected : array (n,)
        Terms that are equal over the reals.
    fmt : Format
        In which they are read.
    """

    def __init__(self, instance: Instance, store: TermStore, actual: Ids, expected: Ids, fmt: Format) -> None:
        some = some_of_each_shape(store, actual)
        self._instance, self._store, self._format, self._places = instance, store, fmt, some
        self._actual, self._expected = actual[some], expected[some]
        self._replaced = SoftwareFunctions(store).replaced(self._actual)
        self._cone = within(store, self._actual)
        self._formula = within(store, self._expected)
        self._own = np.setdiff1d(self._cone, self._formula)

    def on_given(self, given: Mapping[str, Words], real: Reals) -> Detour | None:
        """Return given inputs, if the kernel is off on them, whatever the formula is in its working format.

        Parameters
        ----------
        given : mapping of str to array
            The inputs.
        real : array (n,)
            What the terms that were compared are over the reals.
        """
        try:
            with np.errstate(all="ignore"):
                off = self._off_of_reals(given, real[self._places])
        except UnsupportedError:
            return None
        return self._detour(given, off, always=False)

    def found(self) -> Detour | None:
        """Return inputs of that kind, if there are some."""
        if not self._may_be_one():
            return None
        count = max(_FEWEST_INPUTS, min(_MOST_INPUTS, _WORK // max(1, len(self._cone))))
        tried = list(islice(probes(self._instance, self._constants()), count))
        suspects = self._suspects([probe.inputs for probe in tried])
        offs = [
            self._off(probe.inputs, ordinary=probe.ordinary) if suspect else None
            for probe, suspect in zip(tried, suspects, strict=True)
        ]
        first = next((place for place, off in enumerate(offs) if off is not None and off.wrong.any()), None)
        if first is None:
            return None
        every = [
            off or self._off(probe.inputs, ordinary=probe.ordinary)
            for probe, off in zip(tried, offs, strict=True)
        ]
        told = [off for off in every if off is not None and off.told.any()]
        always = len(told) > 1 and all(bool(off.wrong[off.told].all()) for off in told)
        found = offs[first]
        assert found is not None
        return self._detour(tried[first].inputs, found, always=always)

    def _suspects(self, tried: Sequence[Mapping[str, Words]]) -> NDArray[np.bool_]:
        """Tell of several inputs on which the kernel is no number, or off, whatever errors are: a superset.

        All are evaluated together, as many as the table of all terms has room for.
        """
        at_once = max(1, _ROOM // len(self._store))
        found = [np.zeros(0, dtype=bool)]
        for place in range(0, len(tried), at_once):
            some = tried[place : place + at_once]
            inputs = {name: np.stack([each[name] for each in some], axis=-1) for name in some[0]}
            assignment = Assignment(self._store, inputs)
            try:
                words = [assignment.values(terms) for terms in (self._actual, self._expected)]
            except UnsupportedError:
                return np.zeros(len(tried), dtype=bool)
            got, wanted = (numbers_in(each, self._format).astype(np.float64) for each in words)
            with np.errstate(all="ignore"):
                near = np.abs(got - wanted) <= _OFF * np.abs(wanted)
            off = (np.isfinite(wanted) & ~near).reshape(len(wanted), -1).any(axis=0)
            found.append(np.broadcast_to(off, len(some)))  # the same on all where there are no inputs
        return np.concatenate(found)

    def admits(self, inputs: Mapping[str, Words]) -> bool:
        """Tell whether the kernel is right on inputs, where the formula is."""
        off = self._off(inputs, ordinary=False)
        return off is not None and not off.wrong.any()

    # -- what could be one
    @cached_property
    def _has_steps(self) -> bool:
        """Whether the kernel compares or quantises floats: what is far smaller than others may turn it."""
        for operation, _ in by_operation(self._store, self._cone):
            if operation.name == operations.COMPARE and isinstance(operation.operands[0], FloatFormat):
                return True
            if quantises(operation) or operation.attribute in operations.INTEGRAL:
                return True
        return False

    @cached_property
    def _has_functions(self) -> bool:
        """Whether the kernel has functions, of which no sizes of terms that cancel are known."""
        names = {operation.name for operation, _ in by_operation(self._store, self._cone)}
        return bool(names & {operations.FUNCTION, operations.QUOTIENT})

    def _may_be_one(self) -> bool:
        """Tell whether the kernel does more than sums of products of data."""
        if len(self._cone) <= _SMALL:
            return True
        for operation, members in by_operation(self._store, self._own):
            match operation.name:
                case operations.FUNCTION | operations.QUOTIENT | operations.COMPARE:
                    return True
                case operations.FUSED if self._great(operation, members):
                    return True
        return False

    def _great(self, operation: Operation, members: Ids) -> bool:
        for index, fmt in enumerate(operation.operands):
            arguments = np.unique(self._store.arguments(members)[:, index])
            constants = arguments[self._store.are(CONSTANT, arguments)]
            if isinstance(fmt, FloatFormat) and len(constants):
                sizes = np.abs(numbers_in(self._store.constant_values(constants), fmt).astype(np.float64))
                if ((sizes > _SCALING) | ((sizes < 1 / _SCALING) & (sizes > 0))).any():
                    return True
        return False

    def _constants(self) -> list[float]:
        """Return the kernel's constants that inputs may be."""
        found = set[float]()
        for operation, members in by_operation(self._store, self._cone):
            for index, fmt in enumerate(operation.operands[:3]):
                if not isinstance(fmt, FloatFormat) or operation.name in (
                    operations.DOT,
                    operations.SCALED_DOT,
                ):
                    continue
                arguments = np.unique(self._store.arguments(members)[:, index])
                constants = arguments[self._store.are(CONSTANT, arguments)]
                numbers = numbers_in(self._store.constant_values(constants), fmt).astype(np.float64)
                found |= set(numbers[np.isfinite(numbers)].tolist())
        return sorted(each for each in found if 0 < abs(each) <= TYPICAL)[:_MOST_INPUTS]

    # -- on numbers
    def _off(self, inputs: Mapping[str, Words], *, ordinary: bool) -> _Off | None:
        """Return on which elements the kernel is off; None where that can't be computed."""
        try:
            with np.errstate(all="ignore"):
                return self._computed(inputs, ordinary=ordinary)
        except UnsupportedError:
            return None

    def _computed(self, inputs: Mapping[str, Words], *, ordinary: bool) -> _Off:
        formula = ErrorBounds(self._store, inputs, overflows=False)
        errors, wanted = formula.errors(self._expected), self._numbers(formula, self._expected)
        got = self._numbers(formula, self._actual)
        size = np.maximum(np.abs(wanted), np.nan_to_num(formula.sizes(self._expected), nan=np.inf))
        stable = np.isfinite(wanted) & np.isfinite(size) & (errors <= _STABLE * np.maximum(size, _NIL))
        least = self._least(formula)
        stable &= self._fits(formula)
        told = stable & (wanted != 0) & (least >= self._nearest)
        if not isinstance(self._format, FloatFormat):  # a step more or less is one of rounding
            size = np.maximum(size, 4.0)
        wrong = stable & ~np.isfinite(got) & (least >= self._nearest)
        apart = np.isfinite(got) & (np.abs(got - wanted) > _OFF * size)
        apart &= stable & (errors <= _STABLE * size) & (least >= self._nearest)
        if apart.any() and not ordinary:
            kernel = ErrorBounds(self._store, inputs, overflows=False)
            kernel.errors(self._replaced)
            apart &= kernel.sizes(self._replaced) <= _CANCELS * size
            apart &= not self._has_steps and (self._greatest(formula) >= 1 or not self._has_functions)
        if apart.sum() >= _SHARE * max(1, int((stable & (wanted != 0)).sum())):
            wrong |= apart
        return _Off(wrong, told, got, wanted)

    def _off_of_reals(self, inputs: Mapping[str, Words], wanted: Reals) -> _Off:
        formula = ErrorBounds(self._store, inputs, overflows=False)
        formula.errors(self._expected)
        got = self._numbers(formula, self._actual)
        size = np.maximum(np.abs(wanted), np.nan_to_num(formula.sizes(self._expected), nan=np.inf))
        if not isinstance(self._format, FloatFormat):
            size = np.maximum(size, 4.0)
        finite = np.isfinite(wanted)
        wrong = finite & ~np.isfinite(got)
        apart = finite & (np.abs(got - wanted) > _OFF * size)
        if apart.sum() >= _SHARE * max(1, int((finite & (wanted != 0)).sum())):
            wrong |= apart
        return _Off(wrong, finite, got, wanted)

    def _numbers(self, bounds: ErrorBounds, terms: Ids) -> Reals:
        return numbers_in(bounds.words(terms), self._format).astype(np.float64)

    def _sizes(self, formula: ErrorBounds) -> Reals:
        """Return the magnitudes but for 0 of all that a formula computes, in one row."""
        sizes = formula.known_sizes[formula.known_errors >= 0]
        return sizes[np.isfinite(sizes) & (sizes > 0)]

    def _least(self, formula: ErrorBounds) -> float:
        return float(self._sizes(formula).min(initial=np.inf))

    def _greatest(self, formula: ErrorBounds) -> float:
        return float(self._sizes(formula).max(initial=0.0))

    def _fits(self, formula: ErrorBounds) -> bool:
        """Tell whether what the formula rounds is far below the ends, each number of its own format."""
        for operation, members in by_operation(self._store, self._formula):
            fmt = operation.result
            if _rounds(operation) and isinstance(fmt, FloatFormat):
                sizes = formula.known_sizes[members][formula.known_errors[members] >= 0]
                if (sizes[np.isfinite(sizes)] > 2.0 ** (fmt.maximum_exponent - _room(fmt))).any():
                    return False
        return True

    @cached_property
    def _nearest(self) -> float:
        """How near to 0 a formula may come: the coarsest format that the kernel rounds to says so."""
        ends = [0.0]
        for operation, _ in by_operation(self._store, self._cone):
            fmt = operation.result
            if _rounds(operation) and isinstance(fmt, FloatFormat):
                ends.append(2.0 ** (fmt.minimum_exponent + _room(fmt)))
        return max(ends)

    def _detour(self, inputs: Mapping[str, Words], off: _Off, *, always: bool) -> Detour | None:
        if not off.wrong.any():
            return None
        at = int(np.argmax(off.wrong))
        culprit = _culprit(self._store, inputs, int(self._actual[at]))
        return Detour(inputs, int(self._places[at]), off.got[at], off.wanted[at], always, culprit)


def _rounds(operation: Operation) -> bool:
    """Tell whether an operation rounds numbers that are computed to a format."""
    return operation.name not in LEAVES and not widens(operation) and not quantises(operation)


def _room(fmt: FloatFormat) -> int:
    """Return how many exponents from the ends of a format are near them."""
    return fmt.maximum_exponent // 4 if fmt.exponent_bits > 5 else 4


class _Off(NamedTuple):
    """On which elements a kernel is off, and on which it is looked at: the formula is stable, and not 0."""

    wrong: NDArray[np.bool_]
    told: NDArray[np.bool_]
    got: Reals
    wanted: Reals


def _culprit(store: TermStore, inputs: Mapping[str, Words], term: int) -> int:
    """Return the first operation in a term that makes no number of numbers, or loses what it is given."""
    bounds = ErrorBounds(store, inputs, overflows=False)
    with np.errstate(all="ignore"):
        bounds.errors(np.array([term], dtype=np.int32))
        for one in map(int, within(store, np.array([term]))):
            if _fails(bounds, one):
                return one
    return term


def _fails(bounds: ErrorBounds, term: int) -> bool:
    store, terms = bounds.store, np.array([term], dtype=np.int32)
    operation = store.operation(term)
    fmt = operation.result
    if operation.name == operations.COMPARE:
        return bool(bounds.known_errors[term] > 0)
    if not isinstance(fmt, FloatFormat) or not operation.operands:
        return False
    value = float(bounds.reals(terms, fmt)[0])
    if not np.isfinite(value):
        return True
    if operation.name != operations.FUSED:
        return False
    size = float(bounds.known_sizes[term])
    return (
        size > 0 and abs(value) < 2.0**fmt.minimum_exponent and bool(bounds.known_errors[term] > abs(value))
    )
