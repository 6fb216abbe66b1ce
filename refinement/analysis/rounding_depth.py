"""Rounding depth: the greatest number of roundings from inputs to a term, by format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.dot_add_bound import RoundingStep
from ...spec.formats import TF32, FloatFormat, Format, IntegerFormat
from ...spec.rounding import Rounding
from ...spec.rounding_bound import unit_roundoff
from ..findings.hypothesis import Hypothesis
from ..terms import operations
from ..terms.domains import Domain, Reading
from ..terms.interning import Ids
from ..terms.operations import Accumulation, Sum
from ..terms.slices import fields
from ..terms.store import CONCATENATION, INPUT, LEAVES, VECTOR, Operation, TermStore
from ..terms.traversal import by_operation, within
from .quantisation import quantises, widens

if TYPE_CHECKING:
    from ..terms.matrix_rounding import Counted, MatrixRounding


@dataclass(frozen=True)
class Roundings:
    """The roundings on the way to a term, counted by format.

    Attributes
    ----------
    counts : tuple of (FloatFormat or RoundingStep, int)
        For every format rounded to, and every step of a matrix unit where a model of it is chosen, the
        most roundings to it that any product of inputs in the term has passed. The factors of a product
        count together. In an accumulation of K products of which no model is chosen, whatever its
        order, a term passes at most K additions after the rounding of its own product.
    approximations : tuple of str
        Functions of the kernel that are not correctly rounded, such as ``ex2.approx``: their errors are
        not counted.
    carried : tuple of str
        Functions that are done to rounded numbers: how far they carry the errors of those is not known, so
        that no bound of the result's is told.
    turned : tuple of str
        What is not continuous and done to rounded numbers, so that a rounding may turn the outcome:
        comparisons, conversions to integers and to narrow formats.
    unbounded : tuple of str
        Formats rounded to, on either side, whose roundings are not shown never to overflow.
    flushed : tuple of str
        Formats of which subnormal numbers are taken for zeros.
    domains : tuple of str
        Where the functions on either side have values: what their arguments must not be.
    float_inputs : bool
        Whether there are floating-point inputs.
    chosen : ChosenRoundings, optional
        The same by a choice of what matrix instructions round, for the bound that is told.
    """

    counts: tuple[Counted, ...]
    approximations: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
    turned: tuple[str, ...] = ()
    unbounded: tuple[str, ...] = ()
    flushed: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    float_inputs: bool = False
    chosen: ChosenRoundings | None = None

    @property
    def growth(self) -> Fraction:
        """By how much of the sum of its terms' magnitudes a result can be off."""
        return _growth(self.counts)

    def by(self, unit: MatrixRounding, chosen: Roundings) -> Roundings:
        """Return the roundings with those by a choice beside them."""
        return replace(self, chosen=ChosenRoundings(unit, chosen.counts))

    def granting(self, other: Roundings) -> Roundings:
        """Return the roundings, with what others take for granted beside what these do."""
        return replace(
            self,
            approximations=_union([self.approximations, other.approximations]),
            carried=_union([self.carried, other.carried]),
            turned=_union([self.turned, other.turned]),
            domains=_union([self.domains, other.domains]),
            float_inputs=self.float_inputs or other.float_inputs,
        )

    def __str__(self) -> str:
        turning = f"; no rounding changes the outcome of {_either(self.turned)}" if self.turned else ""
        turning += f"; no subnormal {_either(self.flushed)} is flushed to 0" if self.flushed else ""
        uncounted = "".join(f"; the error of {name} is not counted" for name in self.approximations)
        if not self.counts:
            return f"computed = exact: the kernel rounds nothing{turning}{uncounted}"
        counts = self.counts if self.chosen is None else self.chosen.counts
        growth = _growth(counts)
        factors = [f"(1 + {formula_of(kind)})^{n}" for kind, n in counts]
        names = ", ".join(f"{n} {_name(kind)}" for kind, n in counts)
        modelled = any(isinstance(kind, RoundingStep) for kind, _ in counts) or counts != self.counts
        if modelled and self.chosen is not None:
            names += f" ({self.chosen.unit})"
        size = f"about {float(growth):.3g}·S" if growth < 1 else "not less than S"
        bound = f"≤ ({'·'.join(factors)} - 1)·S, {size}, S = Σ |term|, terms that cancel included"
        if self.carried:
            bound = f"has no known bound, as rounded values are arguments of {_all(self.carried)}"
        tf32 = "; operands of tf32 toward zero" if any(fmt == TF32 for fmt, _ in counts) else ""
        beyond = f", and none to {_either(self.unbounded)} overflows" if self.unbounded else ""
        return (
            f"|computed - exact| {bound}; roundings: {names}, each to nearest "
            f"(else counted twice), none of which underflows{beyond}"
            f"{tf32}{turning}{uncounted}"
        )

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """What an equality over the real numbers takes for granted."""
        found = []
        if self.float_inputs:
            found.append(Hypothesis("finite-inputs", "every input is finite"))
        if self.unbounded:
            found.append(Hypothesis("no-overflow", f"no rounding to {_either(self.unbounded)} overflows"))
        if self.counts:
            names = _either([fmt.name for fmt, _ in self.counts])
            found.append(
                Hypothesis("no-underflow", f"no rounding to {names} underflows, but for exact zeros")
            )
        if self.flushed:
            names = _either(self.flushed)
            found.append(
                Hypothesis("no-underflow", f"no {names} value that the kernel flushes to 0 is subnormal")
            )
        if self.turned:
            found.append(
                Hypothesis("no-turning", f"no rounding changes the outcome of {_either(self.turned)}")
            )
        found += [Hypothesis("in-domain", domain) for domain in self.domains]
        found += [
            Hypothesis("approximation", f"the error of {approximation} is 0")
            for approximation in self.approximations
        ]
        return tuple(found)


class ChosenRoundings(NamedTuple):
    """Roundings under a choice of what an ISA leaves open.

    Attributes
    ----------
    unit : MatrixRounding
        The choice.
    counts : tuple of (FloatFormat or RoundingStep, int)
        As in `Roundings`.
    """

    unit: MatrixRounding
    counts: tuple[Counted, ...]


def worst(found: Sequence[Roundings]) -> Roundings | None:
    """Return the roundings of several terms: the greatest bound, and what any of them takes for granted."""
    if not found:
        return None
    chosen = [each.chosen for each in found if each.chosen is not None]
    return replace(
        max(found, key=lambda each: each.growth),
        chosen=max(chosen, key=lambda each: _growth(each.counts), default=None),
        approximations=_union(each.approximations for each in found),
        carried=_union(each.carried for each in found),
        turned=_union(each.turned for each in found),
        unbounded=_union(each.unbounded for each in found),
        flushed=_union(each.flushed for each in found),
        domains=_union(each.domains for each in found),
        float_inputs=any(each.float_inputs for each in found),
    )


def _union(parts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(sorted({each for part in parts for each in part}))


def _growth(counts: Iterable[Counted]) -> Fraction:
    return prod(((1 + unit_of_rounding(kind)) ** count for kind, count in counts), start=Fraction(1)) - 1


def _precision(kind: FloatFormat | RoundingStep) -> tuple[bool, int, str]:
    """Order formats from the coarsest, and steps behind them."""
    return isinstance(kind, RoundingStep), 0 if isinstance(kind, RoundingStep) else kind.precision, kind.name


def formula_of(kind: FloatFormat | RoundingStep) -> str:
    """Return how much a rounding changes, relative to the number, as it is written in bounds."""
    return (
        kind.formula
        if isinstance(kind, RoundingStep)
        else f"2^-{unit_of_rounding(kind).denominator.bit_length() - 1}"
    )


def _name(kind: FloatFormat | RoundingStep) -> str:
    return f"in {kind.name}" if isinstance(kind, RoundingStep) else f"to {kind}"


def unit_of_rounding(fmt: FloatFormat | RoundingStep) -> Fraction:
    """Return the most that a rounding changes, relative to the number."""
    if isinstance(fmt, RoundingStep):
        return fmt.unit
    return unit_roundoff(fmt, Rounding.TOWARD_ZERO if fmt == TF32 else Rounding.NEAREST_EVEN)


def _either(names: Sequence[str]) -> str:
    return _listed(names, "or")


def _all(names: Sequence[str]) -> str:
    return _listed(names, "and")


def _listed(names: Sequence[str], joint: str) -> str:
    *others, last = names
    return f"{', '.join(others)} {joint} {last}" if others else last


def roundings(
    store: TermStore, terms: Ids, expected: Ids | None = None, *, unit: MatrixRounding | None = None
) -> Roundings:
    """Return the roundings of terms.

    Parameters
    ----------
    store : TermStore
        Of the terms.
    terms : array
        What a kernel computes.
    expected : array, optional
        What it is compared with; its roundings are not counted, but they may turn an outcome.
    unit : MatrixRounding, optional
        What matrix instructions round; without it, any order of additions.

    Raises
    ------
    InputError
        If the choice has no such instruction.
    """
    kernel = _Counts(store, terms, unit)
    both = [kernel] if expected is None else [kernel, _Counts(store, expected)]
    made = [operation for each in both for operation in each.operations]
    functions = [str(each.attribute) for each in kernel.operations if each.name in _FUNCTIONS]
    floats = {str(kind) for each in both for kind in each.kinds if isinstance(kind, FloatFormat)}
    return Roundings(
        tuple(zip(kernel.kinds, kernel.most[1:].tolist(), strict=True)),
        tuple(sorted({function for function in functions if "." in function})),
        tuple(sorted(kernel.carried)),
        _union(tuple(each.turned) for each in both),
        tuple(sorted(floats)),
        _union((str(each.operands[0]),) for each in made if operations.flushes(each)),
        _union(map(_domains, made)),
        any(each.name == INPUT and isinstance(each.result, FloatFormat) for each in made),
    )


_FUNCTIONS = (operations.FUNCTION, operations.QUOTIENT)


class PathCounts(Domain):
    """The most that is counted on a path from inputs to a term: of factors together, of summands apart."""

    dtype: Any = np.int64
    join = np.maximum

    def paths(self, operation: Operation) -> list[Path]:
        """Return the products of arguments that an operation adds up."""
        return paths(operation)

    def depends(self, operation: Operation, terms: Ids, read: Format | None) -> Iterable[Reading]:
        """Return the arguments that are on paths."""
        if operation.name == VECTOR:
            return super().depends(operation, terms, read)
        arguments = self.store.arguments(terms)
        return [(arguments[:, index], read) for path in self.paths(operation) for index in path.arguments]

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return the most of all paths to terms of one operation."""
        found = self.counted(operation, self.store.arguments(terms))
        return np.max(found, axis=0) if found else 0

    def counted(self, operation: Operation, arguments: Ids) -> list[Any]:
        """Return what is counted on each path to terms of arguments (n, 3)."""
        table = self.table()
        return [table[arguments[:, list(path.arguments)]].sum(axis=1) for path in self.paths(operation)]


class _Counts(PathCounts):
    """The most roundings on a path: of every kind, then of each.

    Attributes
    ----------
    operations : list of Operation
        All that terms are made by.
    kinds : list
        What is rounded to.
    most : array (1 + kinds,)
        Of all terms.
    carried, turned : set of str
        As in `Roundings`.
    """

    def __init__(self, store: TermStore, terms: Ids, unit: MatrixRounding | None = None) -> None:
        super().__init__(store)
        self._unit = unit
        self.carried, self.turned = set[str](), set[str]()
        self.operations = [each for each, _ in by_operation(store, within(store, terms))]
        every = [
            kind for operation in self.operations for path in self.paths(operation) for kind in path.roundings
        ]
        self.kinds = sorted({kind for kind, count in every if count}, key=_precision)
        self.dtype = np.dtype((np.int64, 1 + len(self.kinds)))
        self.most = self.values(terms).reshape(-1, 1 + len(self.kinds)).max(axis=0, initial=0)

    def paths(self, operation: Operation) -> list[Path]:
        return paths(operation, self._unit)

    def counted(self, operation: Operation, arguments: Ids) -> list[Any]:
        found = super().counted(operation, arguments)
        for counts, path in zip(found, self.paths(operation), strict=True):
            for kind, count in path.roundings:
                counts[:, [0, 1 + self.kinds.index(kind)] if count else []] += count
        known = self.table()[:, 0]
        if operation.name == CONCATENATION and _cuts(self.store, operation, arguments[:, 0], known):
            self.turned.add("an operation on the bits of a number")
        if (carried := carries(operation)) and known[arguments[:, carried]].any():
            self.carried.add(str(operation.attribute).partition(".")[0])
        if (name := _turning(operation)) and any(counts[:, 0].any() for counts in found):
            self.turned.add(name)
        return found


def carries(operation: Operation) -> list[int]:
    """Return the arguments of a function that its result depends on in no known proportion."""
    if operation.name != operations.FUNCTION or not isinstance(operation.result, FloatFormat):
        return []
    if operation.attribute in operations.INTEGRAL:  # a function with steps
        return []
    return [1] if operations.divides(operation) else list(range(len(operation.operands)))


NONZERO, NOT_NEGATIVE = "no divisor is 0", "no square root or logarithm has a negative argument"
_DOMAINS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "div": (NONZERO,),
        "rcp": (NONZERO,),
        "sqrt": (NOT_NEGATIVE,),
        "lg2": (NOT_NEGATIVE,),
        "rsqrt": (NONZERO, NOT_NEGATIVE),
    }
)
"""What is taken for granted of the arguments of functions."""


def _domains(operation: Operation) -> tuple[str, ...]:
    if operation.name != operations.FUNCTION or not isinstance(operation.result, FloatFormat):
        return ()
    return _DOMAINS.get(str(operation.attribute).partition(".")[0], ())


class Path(NamedTuple):
    """A product of arguments in the result of an operation, and the number of roundings on its way."""

    arguments: tuple[int, ...]
    roundings: tuple[Counted, ...] = ()


def paths(operation: Operation, unit: MatrixRounding | None = None) -> list[Path]:
    """Return the products of arguments that an operation adds up, and what rounds each."""
    once = ((operation.result, _times(operation)),) if isinstance(operation.result, FloatFormat) else ()
    if widens(operation) or quantises(operation):
        once = ()  # the first has no error; the second is a function, which the bound is not about
    match operation.name:
        case operations.FUSED:
            assert isinstance(operation.attribute, Sum)
            pairs = 2 * operation.attribute.products
            products = [Path((index, index + 1), once) for index in range(0, pairs, 2)]
            return [*products, *(Path((index,), once) for index in range(pairs, len(operation.operands)))]
        case operations.DOT | operations.SCALED_DOT if once:
            return _accumulated(operation, None if unit is None else unit.of(operation))
        case operations.QUOTIENT if once:  # the reciprocal is rounded, and hardware is off by 2 ulp
            return [Path((0,), ((once[0][0], 5 if "." in str(operation.attribute) else 2),))]
        case operations.FUNCTION if once and operations.divides(operation):
            return [Path((0, 1), ((once[0][0], 5 if "." in str(operation.attribute) else 2),))]
        case operations.FUNCTION | operations.CONVERT:
            return [Path((index,), once) for index in range(len(operation.operands))]
        case name if name in LEAVES:
            return []
        case name if name == CONCATENATION:
            return [Path((0,))]
        case operations.DOT:
            return [Path((0,)), Path((1,)), Path((2,))]
    return [Path((index,)) for index in range(len(operation.operands))]


def _turning(operation: Operation) -> str | None:
    """Name what an operation does where it is not continuous in the numbers that it is done to."""
    if not operation.operands or not isinstance(operation.operands[0], FloatFormat):
        return None
    match operation.name:
        case operations.COMPARE if operation.attribute not in ("num", "nan"):
            return "a comparison"
        case operations.CONVERT | operations.FUSED if quantises(operation):
            return f"a conversion to {operation.result}"
        case operations.CONVERT if isinstance(operation.result, IntegerFormat):
            return "a conversion to an integer"
        case operations.FUNCTION if operation.attribute in operations.INTEGRAL:
            return "a rounding to an integer"
    return None


def _cuts(store: TermStore, operation: Operation, vectors: Ids, known: NDArray[Any]) -> bool:
    """Tell whether words have some bits of numbers that have been rounded, but for all behind the sign."""
    parts = store.elements(vectors)
    for column, taken in enumerate(fields(operation)):
        cut = parts[known[parts[:, column]] > 0, column]
        for number in np.unique(store.operation_numbers(cut)):
            fmt = store.operations[number].result
            if isinstance(fmt, FloatFormat) and (
                taken.low or taken.width < fmt.padding_bits + fmt.magnitude_bits
            ):
                return True
    return False


def _times(operation: Operation) -> int:
    """Return how many roundings to nearest have at least the error of an operation's one."""
    how = operation.attribute
    rounding: object = Rounding.NEAREST_EVEN
    if isinstance(how, Sum):
        rounding = how.rounding
    elif operation.name == operations.CONVERT and isinstance(how, tuple):
        rounding = how[0]
    # (1 + u)^2 ≥ 1 + 2u, the error of a directed rounding; None is to nearest, ties away from zero.
    return 1 if rounding in (Rounding.NEAREST_EVEN, None) else 2


def _accumulated(
    operation: Operation, chosen: tuple[tuple[Counted, ...], tuple[Counted, ...]] | None
) -> list[Path]:
    """Return the paths through a matrix unit: a tf32 operand may be rounded when it is read."""
    result, how = operation.result, operation.attribute
    assert isinstance(result, FloatFormat) and isinstance(how, Accumulation)
    read = sum(fmt == TF32 for fmt in operation.operands)
    of_product, of_addend = chosen or (((result, how.length + 1),), ((result, how.length),))
    of_product = (*of_product, *(((TF32, read),) if read else ()))
    if operation.name == operations.DOT:
        return [Path((0, 1), of_product), Path((2,), of_addend)]
    return [Path((0, 1, 2), of_product)]  # the addend is beside the scale factors
