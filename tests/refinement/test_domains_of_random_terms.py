"""Every domain holds of the values that random terms have: the concrete value lies in the abstract one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from numpy.typing import NDArray

from mmaproof.refinement.analysis.converted_ranges import magnitudes
from mmaproof.refinement.analysis.definedness import Definedness
from mmaproof.refinement.analysis.float_equality import ComputedEquality
from mmaproof.refinement.analysis.integer_intervals import Magnitudes
from mmaproof.refinement.analysis.origins import Origin, Origins
from mmaproof.refinement.analysis.real_ranges import RealRanges
from mmaproof.refinement.analysis.rounding_depth import roundings
from mmaproof.refinement.errors.error_bounds import ErrorBounds
from mmaproof.refinement.errors.exact_errors import ExactValues, OpenValueError
from mmaproof.refinement.hypotheses.own_conditions import OwnConditions
from mmaproof.refinement.hypotheses.term_growth import TermGrowth
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.domains import NONE, Reached
from mmaproof.refinement.terms.evaluation import integers
from mmaproof.refinement.terms.input_ends import Ends
from mmaproof.refinement.terms.instances import TermInstances
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.nested_operations import NestedOperations
from mmaproof.refinement.terms.operations import Accumulation
from mmaproof.refinement.terms.store import TermStore, bits
from mmaproof.refinement.terms.traversal import operands, within
from mmaproof.refinement.terms.value_tables import LeafFunctions
from mmaproof.spec.errors import UnsupportedError
from mmaproof.spec.float_encoding import decode
from mmaproof.spec.formats import E4M3, F32, S8, S32, U32, UE8M0
from mmaproof.spec.rounding import Rounding

from ..random_terms import ELEMENTS, RandomTerms, inputs_of

Inputs = dict[str, NDArray[np.uint64]]
Comparisons = Iterator[tuple[bool, object]]
"""Whether a value is as the domain says, and of what."""

Domain = Callable[[np.random.Generator], Comparisons]

FAST, SWEPT, INPUTS = 1000, 250_000, 4
"""Comparisons that are made always, and in a sweep; and inputs of each store of terms."""


def _every(made: RandomTerms) -> Ids:
    return np.array([term for term, _ in made.every], dtype=np.int32)


def _floats(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    return decode(words.astype(np.uint32), F32).astype(np.float64)


def _undefined(made: RandomTerms, random: np.random.Generator) -> dict[int, int]:
    return {term: int(random.integers(1 << 32)) for term in made.undefined.tolist()}


def _agree(
    terms: Ids, one: NDArray[np.uint64], other: NDArray[np.uint64], fixed: NDArray[np.uint64]
) -> Comparisons:
    """Yield whether words agree in the bits that are fixed."""
    for term, same in zip(terms.tolist(), ((one ^ other) & fixed == 0).tolist(), strict=True):
        yield same, term


ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def origins(random: np.random.Generator) -> Comparisons:
    made = RandomTerms(random, undefined=2)
    every, scalars = _every(made), made.store.inputs("X", F32, np.arange(ELEMENTS)).tolist()
    found = Origins(made.store, scalars).values(every)
    inputs, given = inputs_of(random), _undefined(made, random)
    before = Assignment(made.store, inputs, given=given).values(every)
    others = {**inputs_of(random, ordinary=False), "X": inputs["X"]}
    changed = {
        Origin.ARRAY: Assignment(made.store, others, given=given),
        Origin.SCALAR: Assignment(made.store, {**inputs, "X": inputs_of(random)["X"]}, given=given),
        Origin.UNDEFINED: Assignment(made.store, inputs, given=_undefined(made, random)),
    }
    for origin, after in changed.items():
        fixed = np.where(found & origin == 0, ALL, np.uint64(0))
        yield from _agree(every, before, after.values(every), fixed)


def definedness(random: np.random.Generator) -> Comparisons:
    made = RandomTerms(random, undefined=3)
    every, inputs = _every(made), inputs_of(random)
    masks = Definedness(made.store, made.undefined).values(every)
    before = Assignment(made.store, inputs, given=_undefined(made, random)).values(every)
    for _ in range(INPUTS):
        after = Assignment(made.store, inputs, given=_undefined(made, random)).values(every)
        yield from _agree(every, before, after, ~masks)


def leaves(random: np.random.Generator) -> Comparisons:
    made = RandomTerms(random, 24)
    every, inputs = _every(made), inputs_of(random, ordinary=False)
    found = LeafFunctions(made.store).leaves(every)
    before = Assignment(made.store, inputs).values(every)
    for leaf, _ in product(np.unique(found[found >= 0]).tolist(), range(INPUTS)):
        name, place = str(made.store.operation(leaf).attribute), int(made.store.arguments(leaf)[0])
        others = inputs_of(random, ordinary=False)
        others[name][place] = inputs[name][place]
        own = found == leaf
        after = Assignment(made.store, others).values(every[own])
        yield from _agree(every[own], before[own], after, np.full(len(after), ALL))


def samples(random: np.random.Generator) -> Comparisons:
    """Values on several inputs at once are those on each."""
    made = RandomTerms(random, undefined=2)
    every, several = _every(made), [inputs_of(random) for _ in range(INPUTS)]
    stacked = {name: np.stack([each[name] for each in several], axis=-1) for name in several[0]}
    together = Assignment(made.store, stacked).values(every)
    for place, inputs in enumerate(several):
        alone = Assignment(made.store, inputs).values(every)
        yield from _agree(every, alone, together[:, place], np.full(len(every), ALL))


def shapes(random: np.random.Generator) -> Comparisons:
    made = RandomTerms(random, 24)
    every = _every(made)
    found = TermInstances(made.store).shapes(every)
    inputs = {name: np.repeat(words[:1], ELEMENTS) for name, words in inputs_of(random).items()}
    words = Assignment(made.store, inputs).values(every)
    _, first, inverse = np.unique(found, return_index=True, return_inverse=True)
    yield from _agree(every, words, words[first[inverse]], np.full(len(every), ALL))


def nested(random: np.random.Generator) -> Comparisons:
    made = RandomTerms(random, 24)
    store, every = made.store, _every(made)
    depths: dict[int, int] = {}
    for term in within(store, every).tolist():
        operation = store.operation(term)
        below = [
            depths[each] for some in operands(store, operation, np.array([term])) for each in some.tolist()
        ]
        depths[term] = max(below, default=0) + (operation.name == operations.FUSED)
    for most in (1, 2, 3):
        many = NestedOperations(store, operations.FUSED, most).are_many(every)
        for term, is_many in zip(every.tolist(), many.tolist(), strict=True):
            yield is_many == (depths[term] >= most), term


def _bounded(made: RandomTerms, random: np.random.Generator) -> Callable[[], Inputs]:
    """Bound some inputs; return what makes inputs within the bounds."""
    low, high = (
        each.astype(np.float32).astype(np.float64)
        for each in random.uniform([[-4], [0]], [[0], [4]], (2, ELEMENTS))
    )
    never = np.zeros(ELEMENTS, dtype=bool)
    made.store.ends = {
        "X": Ends(F32, low, high, ~never, never, never),
        "W": Ends(S8, np.ceil(low), np.floor(high), ~never, never, never),
    }

    def inputs() -> Inputs:
        numbers = np.choose(random.integers(3, size=ELEMENTS), [low, high, random.uniform(low, high)])
        numbers = np.clip(numbers.astype(np.float32), low, high).astype(np.float32)
        whole = np.clip(np.rint(numbers), np.ceil(low), np.floor(high)).astype(np.int8)
        found = {"X": numbers.view(np.uint32).astype(np.uint64), "W": whole.view(np.uint8).astype(np.uint64)}
        return {**inputs_of(random, ordinary=bool(random.integers(2))), **found}

    return inputs


def integer_intervals(random: np.random.Generator) -> Comparisons:
    """What floats are converted to is bounded, too, whatever special values inputs are."""
    made = RandomTerms(random)
    inputs = _bounded(made, random)
    words = np.array([*made.words, *_clamped_conversions(made)], dtype=np.int32)
    ranges = magnitudes(made.store)
    for fmt in (S32, U32, bits(32)):
        low, high = ranges.intervals(words, fmt).T
        for _ in range(INPUTS):
            numbers = integers(Assignment(made.store, inputs()).values(words), fmt)
            inside = (low <= numbers) & (numbers <= high)
            yield from zip(inside.tolist(), words.tolist(), strict=True)


def _clamped_conversions(made: RandomTerms) -> list[int]:
    """Return floats converted to integers, as they are and clamped to 0 … 15."""
    store = made.store
    convert = operations.convert(S32, F32, Rounding.NEAREST_EVEN)
    zero, fifteen = (int(store.constants(word, 32)) for word in (0, 0x41700000))
    found = []
    for term in made.floats:
        least = int(store.apply(operations.extremum(F32, "max"), term, zero))
        clamped = int(store.apply(operations.extremum(F32, "min"), least, fifteen))
        found += [int(store.apply(convert, each)) for each in (term, clamped)]
    return found


def real_ranges(random: np.random.Generator) -> Comparisons:
    """Values lie in ranges where nothing on the way is infinite or a NaN, as hypotheses have it."""
    made = RandomTerms(random)
    floats, inputs = np.array(made.floats, dtype=np.int32), _bounded(made, random)
    ranges = RealRanges(made.store, Magnitudes(made.store))
    ranges.fill(floats)
    low, high = ranges.read(floats, F32).T
    every = within(made.store, floats)
    real = every[[made.store.operation(each).result == F32 for each in every.tolist()]]
    for _ in range(INPUTS):
        values = Assignment(made.store, inputs())
        lost = real[~np.isfinite(_floats(values.values(real)))]
        lost = np.union1d(lost, floats[~np.isfinite(_floats(values.values(floats)))]).astype(np.int32)
        usual = Reached(made.store, lost).values(floats) == NONE
        numbers = _floats(values.values(floats[usual]))
        inside = (low[usual] <= numbers) & (numbers <= high[usual])
        yield from zip(inside.tolist(), floats[usual].tolist(), strict=True)


def _exact(made: RandomTerms, inputs: Inputs) -> Iterator[tuple[int, Fraction, Fraction, Fraction]]:
    """Yield terms, their values, the exact ones, and the sums of magnitudes, where these are known."""
    for term in dict.fromkeys(made.floats):
        exact = ExactValues(made.store, inputs)
        try:
            value, size = exact.exact(term, F32)
            yield term, exact.rounded(term, F32), value, size
        except (OpenValueError, UnsupportedError):
            continue


def error_bounds(random: np.random.Generator) -> Comparisons:
    made = RandomTerms(random, 18)
    for _ in range(INPUTS):
        inputs = inputs_of(random)
        bounds = ErrorBounds(made.store, inputs)
        for term, value, exact, _ in _exact(made, inputs):
            error = float(bounds.errors(np.array([term]))[0])
            yield not np.isfinite(error) or abs(value - exact) <= Fraction(error), term


def rounding_depth(random: np.random.Generator) -> Comparisons:
    made = RandomTerms(random, 18)
    for _ in range(INPUTS):
        for term, value, exact, size in _exact(made, inputs_of(random)):
            found = roundings(made.store, np.array([term], dtype=np.int32))
            if not (found.carried or found.turned or found.approximations):
                yield abs(value - exact) <= found.growth * size, term


def float_equality(random: np.random.Generator) -> Comparisons:
    made = RandomTerms(random, 18)
    equality = ComputedEquality(made.store)
    for _ in range(INPUTS):
        found = list(_exact(made, inputs_of(random)))
        for term, value, exact, _ in found:
            yield not equality.is_exact(term) or value == exact, term
        for (one, left, exact, _), (other, right, wanted, _) in pairwise(found):
            yield not equality.is_of_reals(one, other) or (left == right) == (exact == wanted), (one, other)


DOMAINS = (
    origins, definedness, leaves, samples, shapes, nested, integer_intervals, real_ranges, error_bounds,
    rounding_depth, float_equality,
)  # fmt: skip


def holds(domain: Domain, comparisons: int) -> None:
    count, seed = 0, 0
    while count < comparisons:
        for is_so, what in domain(np.random.default_rng(seed)):
            assert is_so, (domain.__name__, seed, what)
            count += 1
        seed += 1


@pytest.mark.parametrize("domain", DOMAINS)
def test_values_of_random_terms_are_as_a_domain_says(domain: Domain) -> None:
    holds(domain, FAST)


@pytest.mark.sweep
@pytest.mark.parametrize("domain", DOMAINS)
def test_values_of_many_random_terms_are_as_a_domain_says(domain: Domain) -> None:
    holds(domain, SWEPT)


def test_scale_factors_count_as_factors_of_what_grows() -> None:
    store = TermStore()
    left, right = (store.vectors(store.inputs(name, E4M3, np.arange(4))) for name in "AB")
    scales = [store.vectors(store.inputs(name, UE8M0, np.arange(2))) for name in "ST"]
    rest = store.vectors([store.inputs("C", F32, 0), *scales])
    operation = operations.scaled_dot(F32, E4M3, E4M3, F32, UE8M0, Accumulation("scaled", 4))
    product = store.apply(operation, left, right, rest).reshape(1)
    assert (
        TermGrowth(store).of(product)[0, 0] > 2
    )  # both scales go as far as f32, and there are narrow factors
    scaled = store.apply(operations.fused(F32, ((F32, F32),)), product, store.inputs("x", F32, [0]))
    assert OwnConditions(NormalForms(store), scaled, scaled).first() is None
    condition = OwnConditions(NormalForms(store), scaled, product).first()
    assert condition is not None and condition.term == scaled  # another number of data, which may overflow
