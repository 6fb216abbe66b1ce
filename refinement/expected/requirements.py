"""Admissible inputs: bounds by ``[requires]``, a test, and a repair of inputs.

Whatever draws inputs, for trials, for counterexamples or for a second opinion on a verdict, has them made
admissible here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..conditions.scalar_cases import Case
from ..conditions.scalar_conditions import Condition
from ..contract.contract import Instance
from ..contract.required_conditions import TRUTHS, as_output, contradiction
from ..formula.tree import Element, Name, Node, Reduction, walk
from ..terms import operations
from ..terms.evaluation import apply
from ..terms.input_ends import Ends
from ..terms.store import TermStore
from .bound_inference import inferred_bounds
from .formula_space import FormulaSpace, Scope
from .input_bounds import InputBounds, limits, numbers_of, words_of
from .reference_result import reference
from .required_comparisons import required_comparisons
from .structured_inputs import structured

Words = NDArray[np.uint64]

REDRAWS = 64
"""Times that what a condition is about is drawn anew, half of them from ever smaller and larger numbers."""

_COUNTED = 16
"""The turn from which on integers are counted; what was found by structure once is drawn as often."""

_FAR = 8.0
"""Numbers beyond an end, of this magnitude and more, become that end; others are drawn anew."""

_EXACT = 2.0**53
"""Integers below this are numbers of f64."""

_SMALL = np.array([0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.5, -0.5])


class UnmetError(UnsupportedError):
    """No inputs that meet ``[requires]`` were found."""

    def __init__(self) -> None:
        super().__init__("no inputs are found that meet [requires]")


class Requirements:
    """The conditions of ``[requires]`` at one set of sizes.

    Parameters
    ----------
    instance : Instance
        The contract at these sizes.

    Attributes
    ----------
    bounds : InputBounds
        Ends of the inputs that follow from the conditions.

    Raises
    ------
    InputError
        If they can't hold together, or given contents do not meet one.
    """

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._conditions = [
            (requirement, as_output(instance, requirement)) for requirement in instance.contract.requirements
        ]
        self._turns = REDRAWS
        self.bounds = inferred_bounds(instance) if self._conditions else InputBounds()
        for each, own in self._conditions:
            if not _inputs(own, each.condition) and not self._truths(own, {}).all():
                raise contradiction(each, "the values given do not meet it")

    def __bool__(self) -> bool:
        return bool(self._conditions)

    def case(self) -> Case:
        """Return what ends of scalars suppose, as far as numbers are found between them."""
        case = self._instance.case
        for name, scalar in self._instance.scalars.items():
            if scalar.value is None and name in self.bounds.ends:
                for condition in _of_scalar(name, self.bounds.ends[name]):
                    found = replace(case, conditions=(*case.conditions, (condition, True)))
                    case = case if found.example is None else found
        return case

    def bound(self, store: TermStore) -> None:
        """Let a store know the ends of its inputs, and how they compare with each other."""
        store.ends = dict(self.bounds.ends)
        store.required = required_comparisons(self._conditions, store)

    def hold(self, inputs: Mapping[str, Words]) -> bool:
        """Tell whether inputs, encodings by linear index, meet all conditions."""
        return all(self._truths(own, inputs).all() for _, own in self._conditions)

    def admissible(self, inputs: Mapping[str, Words], random: np.random.Generator) -> dict[str, Words] | None:
        """Return inputs changed as little as makes them meet all conditions; None where that is not found.

        Parameters
        ----------
        inputs : mapping of str to array
            The encodings of every input, by linear index.
        random : Generator
            What is drawn anew comes from.
        """
        case = self._instance.case
        found = case.adapted(inputs)
        if not self._conditions:
            return found
        for name in found.keys() & self.bounds.ends.keys() - case.values.keys():
            found[name] = _within(found[name], self.bounds.ends[name], random)
        for turn in range(self._turns):
            unmet = self._unmet(found)
            if not unmet:
                kept, found = found, case.adapted(found)
                if all(found[name] is kept[name] for name in kept):
                    return found
            for name, places in unmet.items():
                if name in found and name not in case.values:
                    ends = self.bounds.of(name, self._format(name), len(found[name]))
                    found[name] = found[name].copy()
                    found[name][places] = _drawn(ends, places, random, _scale(turn), turn)
        structured_inputs = next(self._structured(found), None)
        self._turns = REDRAWS if structured_inputs is None else _COUNTED
        return structured_inputs

    def _structured(self, inputs: dict[str, Words]) -> Iterator[dict[str, Words]]:
        """Yield inputs that meet all conditions, those structured that are in conditions that do not hold."""
        case, shapes = self._instance.case, {each: own.shape for each, own in self._instance.arrays.items()}
        names = [each for each in self._unmet(inputs) if each in inputs and each not in case.values]
        ends = {name: self.bounds.of(name, self._format(name), len(inputs[name])) for name in names}
        kinds = [
            structured(numbers_of(inputs[name], ends[name].format), shapes.get(name, ()), ends[name])
            for name in names
        ]
        for some in zip(*kinds, strict=True):
            changed = zip(names, some, strict=True)
            found = {**inputs, **{each: words_of(numbers, ends[each].format) for each, numbers in changed}}
            adapted = case.adapted(found)
            if not self._unmet(found) and all(adapted[each] is found[each] for each in found):
                yield found

    def _format(self, name: str) -> Format:
        own = self._instance.arrays.get(name) or self._instance.scalars[name]
        return own.format

    def _truths(self, own: Instance, inputs: Mapping[str, Words]) -> NDArray[np.bool_]:
        """Return where a condition holds, over its free indices; True where its guard does not."""
        with np.errstate(all="ignore"):
            found = reference(own, inputs)[TRUTHS] != 0
        space = FormulaSpace(own, own.contract.formulas[0])
        linear, needed = space.target
        truths = np.ones(found.size, dtype=bool)
        truths[linear[needed]] = found.reshape(-1)[linear[needed]]
        return truths

    def _unmet(self, inputs: Mapping[str, Words]) -> dict[str, NDArray[np.intp]]:
        """Return the elements of inputs that conditions are about which do not hold."""
        found: dict[str, list[NDArray[np.intp]]] = {}
        for requirement, own in self._conditions:
            truths = self._truths(own, inputs)
            if truths.all():
                continue
            space = FormulaSpace(own, own.contract.formulas[0])
            wrong = ~truths.reshape(own.arrays[TRUTHS].shape)
            wrong = wrong.reshape((*wrong.shape, *(1,) * (space.rank - wrong.ndim)))
            for name, linear in _leaves(space, requirement.condition):
                places, chosen = np.broadcast_arrays(linear, wrong)
                found.setdefault(name, []).append(np.unique(places[chosen]))
        return {name: np.unique(np.concatenate(places)) for name, places in found.items()}


def admissible(
    instance: Instance, inputs: Mapping[str, Words], random: np.random.Generator
) -> dict[str, Words] | None:
    """Return inputs made to meet ``[requires]`` and the case; see `Requirements.admissible`."""
    return Requirements(instance).admissible(inputs, random)


def _of_scalar(name: str, ends: Ends) -> Iterator[Condition]:
    """Yield the ends of a scalar that its format does not have, as conditions."""
    fmt, (low,), (high,) = ends.format, ends.low.tolist(), ends.high.tolist()
    least, most = limits(fmt)
    for relation, end, told in (
        (">=", low, low > least),
        ("<=", high, high < most),
        ("!=", 0.0, bool(ends.nonzero[0])),
    ):
        if told and abs(end) < _EXACT:
            store = TermStore()
            sides = store.inputs(name, fmt, 0), store.constants(words_of(np.array([end]), fmt)[0], fmt.bits)
            term = int(apply(store, operations.compare_as(fmt, relation, holds=True), *sides))
            yield Condition(store, term, 0)


def _inputs(instance: Instance, condition: Node) -> Collection[str]:
    """Return the inputs of a condition whose values are not given."""
    names = {node.array for node in walk(condition) if isinstance(node, Element)}
    open_arrays = {name for name in names if instance.arrays[name].contents is None}
    scalars = {node.name for node in walk(condition) if isinstance(node, Name)} & instance.scalars.keys()
    return open_arrays | {name for name in scalars if instance.scalars[name].value is None}


def _leaves(space: FormulaSpace, condition: Node) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yield the inputs in a condition, with the linear indices (over the space) of their elements."""
    pending: list[tuple[Node, Scope]] = [(condition, space.scope)]
    while pending:
        node, scope = pending.pop()
        if space.kinds.is_concrete(node):
            continue
        if isinstance(node, Element):
            yield node.array, space.linear(node, scope)
            continue
        if isinstance(node, Name):
            yield node.name, np.zeros((1,) * space.rank, dtype=np.int64)
        inside = space.summed(node, scope)[0] if isinstance(node, Reduction) else scope
        pending += [(operand, inside) for operand in node.operands]


def _scale(turn: int) -> float:
    """Return by what small numbers are multiplied when they are drawn once more."""
    return float(2.0 ** ((0, -1, 1, 0)[turn % 4] * (turn // 4)))


def _within(words: Words, ends: Ends, random: np.random.Generator) -> Words:
    """Return encodings with those beyond their ends replaced: far ones by the end, others drawn anew."""
    values = numbers_of(words, ends.format)
    beyond = (values < ends.low) | (values > ends.high) | (ends.nonzero & (values == 0))
    wrong = np.flatnonzero(beyond | (ends.number & np.isnan(values)))
    if not len(wrong):
        return words
    found = words.copy()
    found[wrong] = _drawn(ends, wrong, random, 1.0)
    low, high = np.isfinite(ends.low[wrong]), np.isfinite(ends.high[wrong])
    for far, side in (
        ((values[wrong] >= _FAR) & high & (values[wrong] > ends.high[wrong]), ends.high),
        ((values[wrong] <= -_FAR) & low & (values[wrong] < ends.low[wrong]), ends.low),
    ):
        found[wrong[far]] = words_of(side[wrong[far]], ends.format)
    return found


def _drawn(
    ends: Ends, places: NDArray[np.intp], random: np.random.Generator, scale: float, turn: int = 0
) -> Words:
    """Return encodings of small numbers, scaled, where they lie between the ends; else of others there.

    Integers are at last, every other turn, those from 0 on: with any remainder.
    """
    low, high, nonzero = (each[places] for each in (ends.low, ends.high, ends.nonzero))
    found = random.choice(_SMALL, len(places)) * scale
    if isinstance(ends.format, IntegerFormat):
        is_counted = turn >= _COUNTED and turn % 2 == 1
        found = np.full(len(places), (turn - _COUNTED) // 2.0) if is_counted else np.trunc(found)
    part = random.random(len(places))
    with np.errstate(invalid="ignore"):
        wide = (random.random(len(places)) < 1 / 8) & np.isfinite(low) & np.isfinite(high)
        least = np.where(wide, low, np.maximum(low, np.minimum(-_FAR, high - _FAR)))
        most = np.where(wide, high, np.minimum(high, np.maximum(_FAR, low + _FAR)))
        between = np.where(least < most, least + part * (most - least), least)  # both may be infinite
    outside = (found < low) | (found > high) | (nonzero & (found == 0))
    found = np.where(outside, between, found)
    if isinstance(ends.format, IntegerFormat):
        found = np.rint(found)
    found = numbers_of(words_of(found, ends.format), ends.format)  # which rounds
    found = np.clip(found, low, high)
    zero = nonzero & (found == 0)
    found = np.select(
        [zero & (high >= 1), zero & (low <= -1), zero & (high > 0), zero], [1.0, -1.0, high, low], found
    )
    if isinstance(ends.format, FloatFormat) and ends.format.signed:
        found = np.where((found == 0) & (part < 0.5), -0.0, found)  # of either sign
    return words_of(found, ends.format)
