"""Counterexamples: inputs found by evaluation of terms, confirmed by running the kernel."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.formats import F32, U8, FloatFormat, Format, IntegerFormat
from ..analysis.rounding_depth import Roundings
from ..contract.contract import Instance
from ..equality.special_values import SpecialValues
from ..equality.truncated_floats import TruncatedFloats
from ..errors.error_bounds import ErrorBounds
from ..expected.requirements import Requirements
from ..machine.array_memory import input_terms, memories
from ..normal_forms.functions.libm_idioms import SoftwareFunctions
from ..normal_forms.readings import Quantifier
from ..terms.assignments import fillings
from ..terms.inputs import Inputs, numbers_in, one_of_two, small_numbers
from ..terms.interning import Ids
from ..terms.store import INPUT, TermStore
from .counterexample_document import KIND, SCHEMA, Difference, GivenInput, SavedKernelCounterexample
from .diagnosis import Monomial
from .extreme_inputs import extreme_inputs
from .limit_inputs import limit_inputs

ATTEMPTS = 4
"""Random inputs tried."""

SUSPECTS = 32
"""Elements whose difference is compared with the bound of rounding, on each of the inputs tried."""

DOUBLE = 2.0**-44
"""How far numpy may be off, relative to the sum of the magnitudes of what it adds up in f64."""


@dataclass(frozen=True)
class KernelCounterexample:
    """Inputs on which a kernel's output is not what its contract says.

    Attributes
    ----------
    kernel : str
        The file.
    against : str, optional
        That of the kernel that it is compared with.
    contract : str
        The file.
    sizes : mapping of str to int
        The set of sizes.
    inputs : mapping of str to GivenInput
        By name.
    difference : Difference
        The first element that differs.
    bound : float
        The difference that the roundings of both sides may explain on these inputs, at most.
    tolerance : float
        The same, relative to the greater of the two.
    accuracy : bool
        Whether the bound is the error that the contract allows on these inputs.
    bits : bool
        Whether it is bits that differ, which the contract demands to be the same.
    """

    kernel: str
    against: str | None
    contract: str
    sizes: Mapping[str, int]
    inputs: Mapping[str, GivenInput]
    difference: Difference
    bound: float
    tolerance: float
    accuracy: bool = False
    bits: bool = False

    @classmethod
    def found(
        cls,
        kernel: str,
        against: str | None,
        instance: Instance,
        inputs: Inputs,
        difference: Difference,
        bound: float,
        *,
        accuracy: bool = False,
        bits: bool = False,
    ) -> KernelCounterexample:
        """Return a difference that was found on inputs, the encodings by linear index."""
        return cls(
            kernel,
            against,
            instance.contract.path,
            dict(instance.sizes),
            documented(instance, inputs),
            difference,
            bound,
            relative_to(difference, bound),
            accuracy,
            bits,
        )

    def document(self) -> SavedKernelCounterexample:
        """Return the JSON document."""
        document: dict[str, Any] = {"schema": SCHEMA, "kind": KIND, **asdict(self)}
        if self.against is None:
            del document["against"]
        for name in ("accuracy", "bits"):
            if not document[name]:
                del document[name]
        return cast(SavedKernelCounterexample, document)

    def save(self, path: Path) -> None:
        """Write the JSON document, whole or not at all."""
        temporary = path.with_name(path.name + ".partial")
        temporary.write_text(json.dumps(self.document(), indent=1) + "\n", encoding="utf-8")
        temporary.replace(path)


_NO_TERMS: Ids = np.empty(0, dtype=np.int32)


def input_formats(instance: Instance) -> dict[str, tuple[Format, tuple[int, ...]]]:
    """Return format and shape of everything whose values are not given."""
    found: dict[str, tuple[Format, tuple[int, ...]]] = {
        array.name: (array.format, array.shape)
        for array in instance.arrays.values()
        if array.is_given and array.contents is None
    }
    unknown = {
        memory.name: (U8, memory.unknown.shape)
        for memory in memories(instance).values()
        if len(memory.unknown)
    }
    scalars = (scalar for scalar in instance.scalars.values() if scalar.value is None)
    return found | unknown | {scalar.name: (scalar.format, ()) for scalar in scalars}


def candidates(
    instance: Instance,
    quantifier: Quantifier,
    differences: Sequence[Sequence[Monomial]],
    alone: Ids = _NO_TERMS,
) -> Iterator[dict[str, NDArray[np.uint64]]]:
    """Yield inputs that may tell, such as ``[requires]`` and the instance's case are about.

    Parameters
    ----------
    instance : Instance
        Whose inputs they are.
    quantifier : Quantifier
        Of the terms.
    differences : sequence
        Of some outputs, what one side has and the other has not.
    alone : array (n,)
        Inputs that one side depends on, and the other does not.
    """
    requirements, random = Requirements(instance), np.random.default_rng(0)
    for inputs in _candidates(instance, quantifier, differences, alone):
        if (met := requirements.admissible(inputs, random)) is not None:
            yield met


def _candidates(
    instance: Instance, quantifier: Quantifier, differences: Sequence[Sequence[Monomial]], alone: Ids
) -> Iterator[dict[str, NDArray[np.uint64]]]:
    """Yield inputs that may tell.

    Only the factors of one product are not zero; what one side alone depends on is twice the rest, or its
    opposite; then the largest integers, where integers may be cut off or
    wrap; then every number of formats of a byte or less; then small integers, of which sums of products are
    exact in most formats, all of them, and few of them beside zeros; then numbers from 1 to 2 with all
    their bits, whose sums don't cancel; numbers of many sizes, all large, all small and all negative, on
    either side of what they are clamped to; what they are compared with; and the ends of integers and narrow
    formats.
    """
    formats, store = input_formats(instance), quantifier.store
    for monomials in differences:
        for monomial in monomials[:2]:
            yield _set(formats, store, quantifier.terms(np.array(monomial.atoms, dtype=np.int64)), 1, 0)
    if len(alone):
        for value, others in ((2, 1), (-2, 1), (-2, -1)):
            yield _set(formats, store, alone, value, others)
    if any(isinstance(fmt, IntegerFormat) for fmt, _ in formats.values()):
        yield from _large_integers(formats)
    if any(isinstance(fmt, FloatFormat) and fmt.bits <= 8 for fmt, _ in formats.values()):
        yield _every_number(formats)
    for seed in range(ATTEMPTS):
        random = np.random.default_rng(seed)
        yield {
            name: _small_ones(fmt, int(np.prod(shape)), random, sparse=seed % 2 == 1)
            for name, (fmt, shape) in formats.items()
        }
    for seed in range(ATTEMPTS):
        random = np.random.default_rng(seed)
        yield {
            name: _of_one_binade(fmt, random.integers(0, 1 << 62, int(np.prod(shape)), dtype=np.uint64))
            for name, (fmt, shape) in formats.items()
        }

    for least, greatest, negative in _BINADES:
        random = np.random.default_rng(0)
        yield {
            name: _of_binades(fmt, int(np.prod(shape)), random, least, greatest, negative)
            for name, (fmt, shape) in formats.items()
        }
    yield from limit_inputs(formats, quantifier.store)
    yield from extreme_inputs(formats)


def _every_number(formats: Mapping[str, tuple[Format, tuple[int, ...]]]) -> dict[str, NDArray[np.uint64]]:
    """Return the finite numbers of each small floating-point format in turn; of others, ones."""
    found = {}
    for name, (fmt, shape) in formats.items():
        encodings = [one_of_two(fmt, 1)]
        if isinstance(fmt, FloatFormat) and fmt.bits <= 8:
            encodings = [word for word in range(1 << fmt.bits) if fmt.exact(word) is not None]
        found[name] = np.resize(np.array(encodings, dtype=np.uint64), int(np.prod(shape)))
    return found


def _large_integers(
    formats: Mapping[str, tuple[Format, tuple[int, ...]]],
) -> Iterator[dict[str, NDArray[np.uint64]]]:
    """Yield integers that are all the greatest, all the least, or random; of floats, ones."""
    for end in ("maximum", "minimum"):
        yield {
            name: np.full(int(np.prod(shape)), _extreme(fmt, end), dtype=np.uint64)
            for name, (fmt, shape) in formats.items()
        }
    random = np.random.default_rng(0)
    found = {}
    for name, (fmt, shape) in formats.items():
        words = random.integers(0, 1 << 64, int(np.prod(shape)), dtype=np.uint64)
        ones = np.full(len(words), one_of_two(fmt, 1), dtype=np.uint64)
        found[name] = words & _mask(fmt) if isinstance(fmt, IntegerFormat) else ones
    yield found


def _extreme(fmt: Format, end: str) -> int:
    if isinstance(fmt, IntegerFormat):
        return int(getattr(fmt, end)) & int(_mask(fmt))
    return one_of_two(fmt, 1)


def _mask(fmt: Format) -> np.uint64:
    return np.uint64((1 << fmt.bits) - 1)


def _small_ones(fmt: Format, count: int, random: np.random.Generator, *, sparse: bool) -> NDArray[np.uint64]:
    numbers: NDArray[np.uint64] = random.choice(small_numbers(fmt), count)
    if sparse:
        numbers[random.random(count) < 3 / 4] = one_of_two(fmt, 0)
    return numbers


def _of_one_binade(fmt: Format, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers from 1 to 2 with random fractions; of an integer format, small positive ones."""
    if isinstance(fmt, IntegerFormat):
        return words % np.uint64(min(8, fmt.maximum + 1))
    assert isinstance(fmt, FloatFormat)
    one, steps = np.uint64(one_of_two(fmt, 1)), np.uint64(1 << fmt.fraction_bits)
    return one + ((words % steps) << np.uint64(fmt.padding_bits))


_BINADES = ((-4, 8, 0.5), (4, 12, 0.5), (-12, -8, 0.5), (-4, 4, 1.0))
"""Least and greatest exponents, and how many of the numbers are negative."""


def _of_binades(
    fmt: Format, count: int, random: np.random.Generator, least: int, greatest: int, negative: float
) -> NDArray[np.uint64]:
    """Return numbers of all sizes from a power of two to another; small integers."""
    words = random.integers(0, 1 << 62, count, dtype=np.uint64)
    if isinstance(fmt, IntegerFormat):
        return _of_one_binade(fmt, words)
    assert isinstance(fmt, FloatFormat)
    low, high = (
        min(max(fmt.bias + exponent, 1), max((fmt.largest >> fmt.fraction_bits) - 1, 1))
        for exponent in (least, greatest)
    )
    exponents = random.integers(low, high + 1, count).astype(np.uint64)
    fractions = words % np.uint64(1 << fmt.fraction_bits)
    magnitudes = (exponents << np.uint64(fmt.fraction_bits) | fractions) << np.uint64(fmt.padding_bits)
    signs = np.where(random.random(count) < negative, np.uint64(fmt.sign_mask), np.uint64(0))
    return magnitudes | signs


def _set(
    formats: Mapping[str, tuple[Format, tuple[int, ...]]],
    store: TermStore,
    terms: Ids,
    value: int,
    others: int,
) -> dict[str, NDArray[np.uint64]]:
    """Return inputs of which those among some terms are one small number, and all others are another."""
    inputs = {
        name: np.full(int(np.prod(shape)), _small(fmt, others), dtype=np.uint64)
        for name, (fmt, shape) in formats.items()
    }
    for term in terms:
        operation = store.operation(int(term))
        if operation.name == INPUT:
            name = str(operation.attribute)
            inputs[name][store.arguments(term)[0]] = _small(operation.result, value)
    return inputs


def _small(fmt: Format, value: int) -> int:
    """Return the encoding of a number from -2 to 2, without its sign in a format that has none."""
    if isinstance(fmt, IntegerFormat):
        number = max(value, fmt.minimum) if fmt.signed else abs(value)
        return min(number, fmt.maximum) & int(_mask(fmt))
    assert isinstance(fmt, FloatFormat)
    magnitude = one_of_two(fmt, min(abs(value), 1))
    if abs(value) == 2:
        magnitude += 1 << (fmt.fraction_bits + fmt.padding_bits)
    return magnitude | fmt.sign_mask if value < 0 and fmt.signed else magnitude


def telling(
    store: TermStore, inputs: Inputs, actual: Ids, expected: Ids, fmt: Format, loose: float = 0.0,
    special: SpecialValues | None = None,
) -> tuple[int, float] | None:  # fmt: skip
    """Return the first of some terms (n,) that is wrong on inputs, and what rounding may explain there.

    Parameters
    ----------
    store : TermStore
        The terms.
    inputs : mapping of str to array
        The encodings of each input.
    actual, expected : array (n,)
        Terms.
    fmt : Format
        In which they are read.
    loose : float
        By how much more of the sum of the magnitudes of its terms `actual` may be off: where it may be added
        up in other orders.
    special : SpecialValues, optional
        Where terms are NaN or infinite, which no rounding explains.

    Returns None if none differs by more.
    """
    for judged in _judged(store, inputs, actual, expected, fmt, loose, special):
        if len(judged.wrong):
            return int(judged.wrong[0]), float(judged.allowed[0])
    return None


def refuted_on(
    store: TermStore, inputs: Inputs, actual: Ids, expected: Ids, fmt: Format, loose: float = 0.0,
    *, every: bool = False,
) -> NDArray[np.bool_]:  # fmt: skip
    """Tell which terms (n,) are wrong on inputs: where all that are judged are, all that differ.

    Parameters are those of `telling`; `every` one is judged, or some.
    """
    found = np.zeros(len(actual), dtype=bool)
    most = len(actual) if every else SUSPECTS
    for judged in _judged(store, inputs, actual, expected, fmt, loose, None, most):
        found[judged.unequal if len(judged.wrong) == judged.looked_at else judged.wrong] = True
    return found


class _Judged(NamedTuple):
    """Terms that differ on inputs; those that no rounding explains, of so many, and what it explains."""

    unequal: NDArray[np.intp]
    wrong: NDArray[np.intp]
    looked_at: int
    allowed: NDArray[np.float64]


def _judged(
    store: TermStore, inputs: Inputs, actual: Ids, expected: Ids, fmt: Format, loose: float,
    special: SpecialValues | None, most: int = SUSPECTS,
) -> Iterator[_Judged]:  # fmt: skip
    """Yield which terms (n,) are wrong on inputs, for each number that undefined ones may be."""
    before = None
    for filled in fillings(store):
        bounds = ErrorBounds(store, inputs, undefined=filled)
        try:
            got, wanted = (numbers_in(bounds.words(terms), fmt) for terms in (actual, expected))
            differing = suspects = np.flatnonzero(unequal(got, wanted, np.zeros(1)))
            if len(suspects) > most:
                suspects = np.unique([*suspects[: SUSPECTS // 2], *_most_apart(got, wanted, suspects)])
            allowed = explained_by_rounding(bounds, actual[suspects], expected[suspects], fmt, loose)
        except UnsupportedError:
            return
        if before is not None:  # no rounding makes a number a NaN because of what nobody has written
            spoiled = np.isnan(got[suspects].astype(float)) & np.isfinite(before[suspects].astype(float))
            allowed = np.where(spoiled, 0.0, allowed)
        before = got
        if special is not None:
            unknown = suspects[np.isinf(allowed)]
            lost = unknown[special.differ(actual[unknown], expected[unknown], fmt, bounds.words)]
            allowed = np.where(np.isin(suspects, lost), 0.0, allowed)
        free = np.isnan(wanted[suspects].astype(float)) & np.isfinite(got[suspects].astype(float))
        is_wrong = unequal(got[suspects], wanted[suspects], allowed) & ~free  # of NaN, any number
        yield _Judged(differing, suspects[is_wrong], len(suspects), allowed[is_wrong])


def disproved(
    store: TermStore, inputs: Inputs, actual: Ids, expected: Ids, fmt: Format, undergone: Roundings | None
) -> int | None:
    """Return the first of some terms (n,), equal over the reals, that shows a hypothesis of it to be wrong.

    Else, None. Steps explain nothing: that no rounding carries a number over one is a hypothesis.
    """
    told = telling(store, inputs, actual, expected, fmt)
    if told is not None or undergone is None or not (undergone.turned or undergone.flushed):
        return None if told is None else told[0]
    bounds = ErrorBounds(store, inputs)
    try:
        got, wanted = (numbers_in(bounds.words(terms), fmt) for terms in (actual, expected))
    except UnsupportedError:
        return None
    size = np.abs(wanted.astype(np.float64))
    allowed = 4 * min(float(undergone.growth), 1.0) * size
    if not undergone.turned:  # what is flushed is below the normal numbers
        allowed = np.where(size < float(2.0**F32.minimum_exponent), allowed, np.inf)
    wrong = np.flatnonzero(unequal(got, wanted, allowed))
    return int(wrong[0]) if len(wrong) else None


def _most_apart(got: NDArray[Any], wanted: NDArray[Any], among: NDArray[np.intp]) -> NDArray[np.intp]:
    with np.errstate(all="ignore"):
        apart = np.abs(got[among].astype(np.float64) - wanted[among].astype(np.float64))
    return among[np.argsort(-np.nan_to_num(apart, nan=np.inf))[: SUSPECTS // 2]]


def explained_by_rounding(
    bounds: ErrorBounds, actual: Ids, expected: Ids, fmt: Format, loose: float = 0.0
) -> NDArray[np.float64]:
    """Return how far (n,) two terms that are equal over the reals can be apart; inf where that is unknown."""
    floats = TruncatedFloats(bounds.store)  # bits that are dropped are a rounding, too
    replaced = SoftwareFunctions(bounds.store).replaced(actual)
    actual, expected = (floats.converted(terms, fmt) for terms in (replaced, expected))
    allowed = bounds.errors(actual) + bounds.errors(expected)
    if isinstance(fmt, FloatFormat):
        with np.errstate(invalid="ignore"):
            exact = loose * bounds.sizes(actual) + DOUBLE * bounds.sizes(expected)
        allowed = allowed + np.nan_to_num(exact, nan=0.0, posinf=0.0)
    return allowed


def unequal(got: NDArray[Any], wanted: NDArray[Any], allowed: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which numbers differ by more than is allowed; a NaN equals a NaN, and nothing known is no more."""
    with np.errstate(all="ignore"):
        left, right = got.astype(np.float64), wanted.astype(np.float64)
        finite = np.isfinite(left) & np.isfinite(right)
        apart = np.where(finite, np.abs(left - right) > allowed, np.isfinite(allowed))
    same = (got == wanted) | (np.isnan(left) & np.isnan(right))
    found: NDArray[np.bool_] = (apart | (allowed == 0)) & ~same
    return found


def relative_to(difference: Difference, bound: float) -> float:
    """Return a bound relative to the greater of two numbers that differ."""
    greater = max(abs(float(difference.kernel)), abs(float(difference.contract)))
    return bound / greater if 0 < greater < float("inf") else 0.0


def documented(instance: Instance, inputs: Inputs) -> dict[str, GivenInput]:
    """Return inputs as a counterexample keeps them, with scalars that a case supposes to be numbers."""
    found = {
        name: _document(fmt, shape, inputs[name]) for name, (fmt, shape) in input_formats(instance).items()
    }
    case = instance.case
    return found | {name: _document(case.formats[name], (), [word]) for name, word in case.values.items()}


def _document(fmt: Format, shape: tuple[int, ...], words: Iterable[Any]) -> GivenInput:
    digits = -(-fmt.bits // 4)
    bits = [f"{int(encoding):0{digits}x}" for encoding in words]
    return {"format": str(fmt), "shape": list(shape), "bits": bits}


def as_constants(store: TermStore, instance: Instance, inputs: Inputs) -> dict[str, Ids]:
    """Return inputs as constants, for a kernel to be run on."""
    return {
        name: store.constants(inputs[name], fmt.bits) for name, (fmt, _) in input_formats(instance).items()
    }


def given_constants(store: TermStore, instance: Instance) -> dict[str, Ids]:
    """Return the contents that the contract gives, as constants."""
    return {
        name: input_terms(store, array)
        for name, array in instance.arrays.items()
        if array.contents is not None
    }
