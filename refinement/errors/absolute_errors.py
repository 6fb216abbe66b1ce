"""Bounds of rounding errors for all data: |computed - exact| ≤ (e^g - 1)·M.

Of a term there are a *magnitude* M, itself a term made of absolute values of inputs, and a *growth* g, a
number: for all data |exact| ≤ M and |computed - exact| ≤ (e^g - 1)·M, where no rounding over- or underflows.
Magnitudes of products multiply, and their growths add up; those of sums add up, and the greatest growth
counts; each rounding to a format adds to the growth (`growth_of`), unless the numbers are multiples of a
power of two of which the format has all that can be.

Functions that are no sums of products carry an error on where it is known to be a part of a number that is
not cancelled (divisors, roots), or where they don't make it larger (tanh, erf, sin). Of others nothing
is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import encode
from ...spec.formats import F32, F64, TF32, FloatFormat, Format, IntegerFormat, as_float
from ...spec.rounding import Rounding
from ..analysis.approximations import REACH, relative_error
from ..analysis.computed_floats import DependsOnComputed
from ..analysis.quantisation import quantises
from ..analysis.real_ranges import limits
from ..analysis.rounding_depth import Path, paths, unit_of_rounding
from ..analysis.rounding_errors import unit_of
from ..normal_forms.element_functions import ElementFunctions
from ..normal_forms.forms import NormalForms
from ..normal_forms.reciprocals import quotient_roundings
from ..normal_forms.sparse_polynomials import sparse
from ..terms import operations
from ..terms.domains import Domain, Reading
from ..terms.interning import Ids
from ..terms.matrix_rounding import MatrixRounding
from ..terms.operations import Sum
from ..terms.store import CONCATENATION, CONSTANT, INPUT, Operation
from ..terms.traversal import by_operation, gathered
from ..terms.widened_words import NONE as NO_FLOAT
from ..terms.widened_words import narrower
from .absolute_parts import NO_UNIT, NONE, PARTS, Part, accumulated, growth_of, product, total
from .absolute_polynomials import AbsolutePolynomials

_LIPSCHITZ = MappingProxyType({"tanh": 1.0, "erf": 1.25, "sin": 1.0})
"""Functions f of which |f(x)| and |f(x) - f(y)| are at most so many times |x| and |x - y|."""

_OF_MAGNITUDE = ("rcp", "sqrt", "rsqrt", "div")
"""Functions that take a relative error for one."""

_MANY = 1 << 22
"""Terms of vectors that are looked at one by one."""


class AbsoluteErrors(Domain):
    """Error bounds of terms for all data: pairs (M, g).

    Parameters
    ----------
    forms : NormalForms
        Of the store.
    unit : MatrixRounding, optional
        What matrix instructions round; without it, any order of additions.
    relaxed : bool
        Take the magnitudes of the products in a sum of integers for that of the sum.

    Attributes
    ----------
    granted : set of str
        What is taken for granted of the numbers that functions are done to.
    """

    dtype = PARTS

    def __init__(
        self, forms: NormalForms, unit: MatrixRounding | None = None, *, relaxed: bool = False
    ) -> None:
        super().__init__(forms.store)
        self._forms, self._unit = forms, unit
        self._quantifier = forms.quantifier
        self._functions = ElementFunctions(forms.quantifier)
        self._absolute = AbsolutePolynomials(forms, relaxed=relaxed)
        self._computed = DependsOnComputed(forms.store)
        self.granted: set[str] = set()

    def of(self, terms: Ids, fmt: Format) -> Part:
        """Return what is known of terms (n,), made before this object was, read in a format."""
        self.fill(terms, fmt)
        return Part.of_table(self.table(fmt), terms)

    def transfer(self, operation: Operation, terms: Ids, read: Format | None) -> None:
        """Note what is known of terms of one operation."""
        assert read is not None
        made = self._made(operation, terms, read)
        for some, rule in ((terms[~made], AbsoluteErrors._leaf), (terms[made], _RULES.get(operation.name))):
            if len(some):
                assert rule is not None
                part = rule(self, operation, some, read)
                part.note(self.table(read), some)

    # -- what terms depend on
    def _made(self, operation: Operation, terms: Ids, fmt: Format) -> NDArray[np.bool_]:
        """Tell of which terms of one operation a rule says what is known of them."""
        if operation.name == CONCATENATION:
            return np.asarray(narrower(self.store, operation, terms, fmt) != NO_FLOAT)
        if not self._is_read(operation, fmt):
            return np.zeros(len(terms), dtype=bool)
        return ~self._whole(operation, terms, fmt)

    def _whole(self, operation: Operation, terms: Ids, fmt: Format) -> NDArray[np.bool_]:
        """Tell which terms of one operation are exact as they are: functions of inputs, and integers."""
        every = np.ones(len(terms), dtype=bool)
        if operation.name in (CONSTANT, INPUT) or isinstance(fmt, IntegerFormat) or quantises(operation):
            return every
        if operation.name == operations.FUNCTION:
            return every & (str(operation.attribute) in operations.INTEGRAL)
        if operation.name == operations.FUSED:
            return self._functions.of_integers(self._quantifier.read(terms, fmt))
        if operation.name in _RULES:
            return ~every
        return np.asarray((self._functions.leaves(terms) >= 0) & ~self._computed.values(terms))

    def depends(self, operation: Operation, terms: Ids, read: Format | None) -> Iterator[Reading]:
        """Return the arguments of terms that are taken apart, and how they are read."""
        assert read is not None
        terms = terms[self._made(operation, terms, read)]
        if not len(terms):
            return
        if operation.name == CONCATENATION:
            for number, members in by_operation(self.store, narrower(self.store, operation, terms, read)):
                yield members, number.result
            return
        formats = (read,) * 3 if operation.name == operations.SELECT else operation.operands
        columns = gathered(self.store, operation, terms, expanded=False)
        if operation.name == operations.DOT:
            columns[:2] = [self.store.elements(np.unique(vectors)) for vectors in columns[:2]]
        first = 1 if operation.name == operations.SELECT else 0  # what chooses is no number
        yield from zip(columns[first:], formats[first:], strict=True)

    def _is_read(self, operation: Operation, fmt: Format) -> bool:
        if operation.name == operations.SELECT:
            return fmt.bits == operation.result.bits
        alike = fmt == operation.result or {fmt, operation.result} == {
            F32,
            TF32,
        }  # which counts where it is read
        return alike and operation.name in _RULES

    # -- what follows
    def _leaf(self, operation: Operation, terms: Ids, fmt: Format) -> Part:
        """Return what is known of terms that are not taken apart: exact ones, or nothing."""
        found = Part.without(terms)
        whole = np.flatnonzero(self._whole(operation, terms, fmt))
        if len(whole):
            found.put(whole, self._exact(operation, terms[whole], fmt))
        return found

    def _exact(self, operation: Operation, terms: Ids, fmt: Format) -> Part:
        """Return terms that nothing has rounded since the inputs, or of which that makes no difference."""
        magnitudes, known = self._absolute.of(terms, fmt)
        found = Part.of_magnitudes(magnitudes)
        found.definite[:] = True
        found.reasons[~known] = terms[~known]
        if isinstance(fmt, IntegerFormat):
            found.low, found.high = self._quantifier.magnitudes.intervals(terms, fmt).T
            found.units[:] = 0
        elif operation.name == CONSTANT:
            words = self.store.constant_values(terms)
            numbers = [fmt.exact(int(word)) if isinstance(fmt, FloatFormat) else None for word in words]
            values = np.array([np.nan if number is None else float(number) for number in numbers])
            found.reasons[np.isnan(values)] = terms[np.isnan(values)]
            found.low = found.high = np.nan_to_num(values)
            found.units = unit_of(found.low)
        elif isinstance(fmt, FloatFormat):
            self._bound(found, operation, terms, fmt)
        found.positive = found.low >= 0
        if operation.name == operations.EXTREMUM:
            self._of_opposites(found, operation, terms)
        return found

    def _of_opposites(self, found: Part, operation: Operation, terms: Ids) -> None:
        """Take the greater of an integer and its opposite for its absolute value."""
        fmt, arguments = operation.result, self.store.arguments(terms)
        assert isinstance(operation.attribute, tuple)
        if operation.attribute[0] != "max" or not isinstance(fmt, IntegerFormat):
            return
        sides = [self._forms.polynomials(arguments[:, column], fmt) for column in (0, 1)]
        one, other = (sparse(side, len(terms)) for side in sides)
        opposite = [x == {key: -factor for key, factor in y.items()} for x, y in zip(one, other, strict=True)]
        chosen = np.flatnonzero(opposite)
        if len(chosen):
            magnitudes, known = self._absolute.of(arguments[chosen, 0], fmt)
            found.magnitudes[chosen], found.positive[chosen] = magnitudes, True
            found.reasons[chosen[~known]] = terms[chosen[~known]]

    def _bound(self, found: Part, operation: Operation, terms: Ids, fmt: FloatFormat) -> None:
        """Note the least and the greatest of floats that are exact, and the unit of their lowest bits."""
        found.units[:] = fmt.quantum
        if operation.name == INPUT:
            if fmt.bits <= 8:
                found.low, found.high = (np.full(len(terms), end) for end in limits(fmt))
            elif not fmt.signed:
                found.low = np.zeros(len(terms))
            return
        members = np.flatnonzero(self._functions.leaves(terms) >= 0)
        if len(members):
            bounds = self._functions.bounds(terms[members], fmt)
            found.low[members], found.high[members], found.units[members] = bounds

    def argument(self, operation: Operation, terms: Ids, index: int, fmt: Format | None = None) -> Part:
        """Return what is known of an argument of terms of one operation."""
        read = fmt or operation.operands[index]
        return Part.of_table(self.table(read), self.store.arguments(terms)[:, index])

    def rounded(self, found: Part, operation: Operation, path: Path, *, certain: bool = True) -> Part:
        """Return results rounded as an operation does on a path; not where all that can be are numbers."""
        fmt = as_float(operation.result)
        found.round(fmt, growth_of(path), exact_if_fits=certain)
        return found

    # -- rules
    def _fused(self, operation: Operation, terms: Ids, _: Format) -> Part:
        assert isinstance(operation.attribute, Sum)
        if TF32 in operation.operands:  # reading them rounds
            return Part.without(terms)
        given = [self.argument(operation, terms, index) for index in range(len(operation.operands))]
        pairs = 2 * operation.attribute.products
        arguments = self.store.arguments(terms)
        parts = [
            product(self.store, given[i], given[i + 1], arguments[:, i] == arguments[:, i + 1])
            for i in range(0, pairs, 2)
        ]
        found = total(self.store, [*parts, *given[pairs:]])
        alone = len(given) == pairs == 2 and set(operation.operands) == {operation.result}
        powers = [part.powers_of_two for part in given[:2]] if alone else []
        scaled = np.flatnonzero(np.any(powers, axis=0))
        exact = found.at(scaled)
        found = self.rounded(found, operation, paths(operation)[0])
        found.put(scaled, exact)
        self._tighten(found, operation, terms)
        return found

    def _tighten(self, found: Part, operation: Operation, terms: Ids) -> None:
        """Take sums of two that nothing rounds for what they are: a weight less its zero point."""
        if len(operation.operands) < 2:
            return
        arguments = self.store.arguments(terms)[:, : len(operation.operands)]
        sums = [
            each.name in (operations.FUSED, operations.DOT) and len(each.operands) > 1
            for each in self.store.operations
        ]
        summed = np.array(sums, dtype=bool)[self.store.operation_numbers(arguments)]
        summed &= self._functions.leaves(arguments.reshape(-1)).reshape(arguments.shape) < 0
        simple = ~summed.any(axis=1)
        exact = (found.growth == 0) & (found.reasons == NONE) & ~found.definite
        chosen = np.flatnonzero(simple & exact)
        if len(chosen):
            magnitudes, known = self._absolute.of(terms[chosen], operation.result)
            found.magnitudes[chosen[known]] = magnitudes[known]
            found.definite[chosen[known]] = True

    def _dot(self, operation: Operation, terms: Ids, _: Format) -> Part:
        arguments = self.store.arguments(terms)
        left, right = (self.store.elements(arguments[:, column]) for column in (0, 1))
        if left.size > _MANY:
            return Part.without(terms)
        x, y = (
            Part.of_table(self.table(operation.operands[column]), each)
            for column, each in ((0, left), (1, right))
        )
        of_products, of_addend = paths(operation, self._unit)
        addend = self.argument(operation, terms, 2)
        growths = growth_of(of_products), growth_of(of_addend)
        if self._unit is None:
            self.granted.add("each rounding of a matrix instruction is to nearest")
        elif self._unit.of(operation) is not None:
            self.granted.add(f"matrix instructions round {self._unit}")
        else:  # of no model, and so perhaps toward zero
            growths = 2 * growths[0], 2 * growths[1]
        return accumulated(self.store, x, y, addend, growths, operation, left == right)

    def _negated(self, operation: Operation, terms: Ids, _: Format) -> Part:
        found = self.argument(operation, terms, 0)
        found.low, found.high = -found.high, -found.low
        found.positive = found.low >= 0
        return found

    def _converted(self, operation: Operation, terms: Ids, _: Format) -> Part:
        return self.rounded(self.argument(operation, terms, 0), operation, paths(operation)[0])

    def _widened(self, operation: Operation, terms: Ids, fmt: Format) -> Part:
        """Return what is known of the narrower floats that words are, with zeros behind them."""
        numbers = narrower(self.store, operation, terms, fmt)
        found = Part.without(terms)
        for inner, members in by_operation(self.store, np.unique(numbers)):
            places = np.flatnonzero(np.isin(numbers, members))
            found.put(places, Part.of_table(self.table(inner.result), numbers[places]))
        return found

    def _chosen(self, operation: Operation, terms: Ids, fmt: Format) -> Part:
        return _either(self, terms, [self.argument(operation, terms, index, fmt) for index in (1, 2)])

    def _extremum(self, operation: Operation, terms: Ids, fmt: Format) -> Part:
        given = [self.argument(operation, terms, index) for index in (0, 1)]
        found = _either(self, terms, given)
        opposite = self._opposites(self.store.arguments(terms), operation, fmt)
        found.definite |= opposite & given[0].definite  # max(x, -x) is |x|
        found.positive |= opposite
        for column in (0, 1):  # -∞ is never the greatest
            places = np.flatnonzero(self._is_neutral(operation, self.store.arguments(terms)[:, column]))
            found.put(places, given[1 - column].at(places))
        sums = np.flatnonzero(opposite & ~given[0].definite)
        if len(sums):
            inner = self.store.arguments(terms[sums])[:, 0]
            magnitudes, known = self._absolute.of(inner, operation.operands[0])
            chosen = given[0].growth[sums] == 0
            found.magnitudes[sums[known & chosen]] = magnitudes[known & chosen]
            found.definite[sums] |= known & chosen
        return found

    def _is_neutral(self, operation: Operation, terms: Ids) -> NDArray[np.bool_]:
        """Tell which terms (n,) are the infinity beside which another number is the extremum."""
        fmt = operation.result
        if not isinstance(fmt, FloatFormat) or not isinstance(operation.attribute, tuple):
            return np.zeros(len(terms), dtype=bool)
        infinity = np.array(-np.inf if operation.attribute[0] == "max" else np.inf)
        word = int(encode(infinity, fmt, Rounding.NEAREST_EVEN))
        return np.asarray(terms == int(self.store.constants(word, fmt.bits)))

    def _opposites(self, arguments: Ids, operation: Operation, fmt: Format) -> NDArray[np.bool_]:
        """Tell which extrema are of a number and its opposite, the greater of which is positive."""
        assert isinstance(operation.attribute, tuple)
        if operation.attribute[0] != "max" or not isinstance(fmt, FloatFormat):
            return np.zeros(len(arguments), dtype=bool)
        found = np.zeros(len(arguments), dtype=bool)
        for one, other in ((0, 1), (1, 0)):
            negated = self.store.are(operations.NEGATE, arguments[:, one])
            inside = self.store.arguments(np.where(negated, arguments[:, one], arguments[:, other]))[:, 0]
            found |= negated & (inside == arguments[:, other])
        return found

    def _function(self, operation: Operation, terms: Ids, fmt: Format) -> Part:
        stem = str(operation.attribute).partition(".")[0]
        assert isinstance(fmt, FloatFormat)
        own = relative_error(str(operation.attribute), fmt)
        given = [self.argument(operation, terms, index) for index in range(len(operation.operands))]
        if stem == "div" and ".approx" in str(operation.attribute):
            self.granted.add(
                f"no divisor exceeds {REACH:.3g} in magnitude, beyond which {operation.attribute} is 0"
            )
        if own is None or stem not in (*_OF_MAGNITUDE, *_LIPSCHITZ, "ex2", "lg2", "cos"):
            return Part.without(terms)
        if stem in _LIPSCHITZ:
            found = given[0]
            if _LIPSCHITZ[stem] != 1:
                found.magnitudes = self._absolute.scaled(found.magnitudes, _LIPSCHITZ[stem])
            found.definite[:] = False
            found.unbounded()
            found.growth += np.log1p(own)
            return found
        inner = given[-1]
        if stem in _OF_MAGNITUDE:
            usable, carried = inner.definite & (inner.growth < 0.5), _carried(stem, inner.growth)
        else:
            usable, carried = inner.growth == 0, np.zeros(len(terms))
        if stem == "div":
            reciprocals = self.store.apply(operations.function("rcp", fmt, fmt), self._divisors(terms))
            magnitudes, known = self._absolute.of(reciprocals, fmt)
            inverse = Part.of_magnitudes(magnitudes)
            inverse.definite[:], inverse.positive, inverse.growth = True, inner.positive, carried
            inverse.reasons = inner.reasons
            found = product(self.store, given[0], inverse, np.zeros(len(terms), dtype=bool))
        else:
            magnitudes, known = self._absolute.of(terms, fmt)
            found = Part.of_magnitudes(magnitudes)
            found.definite[:], found.growth, found.reasons = True, carried, inner.reasons
            found.positive = inner.positive | (stem in ("ex2", "sqrt", "rsqrt"))
        found.units[:] = NO_UNIT
        found.growth = found.growth + np.log1p(own)
        lost = ~(usable & known) & (found.reasons == NONE)
        found.reasons[lost] = terms[lost]
        return found

    def _divisors(self, terms: Ids) -> Ids:
        return self.store.arguments(terms)[:, 1]

    def _quotient(self, operation: Operation, terms: Ids, fmt: Format) -> Part:
        found = self.argument(operation, terms, 0)
        assert isinstance(fmt, FloatFormat)
        divisors = self.store.constant_values(self._divisors(terms))
        numbers = [fmt.exact(int(word)) for word in divisors]
        inverse = np.array([0.0 if not number else abs(1 / float(number)) for number in numbers])
        lost = (inverse == 0) & (found.reasons == NONE)
        found.magnitudes = self._absolute.multiplied(found.magnitudes, self._reciprocals(operation, terms))
        found.reasons[lost] = terms[lost]
        found.unbounded()
        found.growth = found.growth + self._growth_of_quotients(operation, numbers)
        return found

    def _growth_of_quotients(
        self, operation: Operation, divisors: Sequence[Fraction | None]
    ) -> NDArray[np.float64]:
        """Return the growths (n,) of quotients; of one rounding where the exact reciprocal is meant."""
        once = operation.attribute in operations.CORRECTLY_ROUNDED_QUOTIENTS
        if not (once and self._quantifier.exact_quotients):
            return np.full(len(divisors), growth_of(paths(operation)[0]))
        assert isinstance(operation.result, FloatFormat)
        unit = float(unit_of_rounding(operation.result))
        return np.log1p(np.minimum(quotient_roundings(divisors) * unit, unit / (1 + unit)))

    def _reciprocals(self, operation: Operation, terms: Ids) -> Ids:
        """Return the magnitudes of the reciprocals of constants, exact or rounded as quantities take them."""
        fmt = operation.result
        ones = self.store.constants(np.full(len(terms), _one(fmt), dtype=np.uint64), fmt.bits)
        quotients = self.store.apply(operation, ones, self._divisors(terms))
        return self._absolute.of(quotients, fmt)[0]

    # -- what dominates
    def candidates(self, term: int, fmt: Format) -> Sequence[Sequence[tuple[int, Format]]]:
        """Return the products of terms, read in formats, that a term is a sum of."""
        operation = self.store.operation(term)
        some = np.array([term], dtype=np.int32)
        if not self._made(operation, some, fmt).all():
            return []
        arguments = self.store.arguments(some)[0].tolist()
        match operation.name:
            case operations.FUSED:
                assert isinstance(operation.attribute, Sum)
                read = list(zip(arguments, operation.operands, strict=False))
                pairs = 2 * operation.attribute.products
                return [*(read[i : i + 2] for i in range(0, pairs, 2)), *([each] for each in read[pairs:])]
            case operations.DOT:
                sides = [self.store.elements(np.array([argument]))[0].tolist() for argument in arguments[:2]]
                left, right, addend = operation.operands
                products = [[(x, left), (y, right)] for x, y in zip(*sides, strict=True)]
                return [*products, [(arguments[2], addend)]]
            case operations.SELECT:
                return [[(arguments[1], fmt)], [(arguments[2], fmt)]]
            case operations.EXTREMUM:
                return [[(argument, fmt)] for argument in arguments[:2]]
            case name if name == CONCATENATION:
                (inner,) = narrower(self.store, operation, some, fmt).tolist()
                return [[(inner, self.store.operation(inner).result)]]
        return [list(zip(arguments, operation.operands, strict=False))]

    def growth(self, term: int, fmt: Format) -> float:
        """Return the growth of a term that was asked for, or that such a term is made of."""
        return float(self.table(fmt)["growth"][term])


def _either(errors: AbsoluteErrors, terms: Ids, given: Sequence[Part]) -> Part:
    """Return what is one of two numbers."""
    one, other = given
    found = total(errors.store, given)
    same = one.magnitudes == other.magnitudes
    found.magnitudes[same] = one.magnitudes[same]
    found.definite = one.definite & other.definite & same
    found.positive = one.positive & other.positive
    found.low, found.high = np.minimum(one.low, other.low), np.maximum(one.high, other.high)
    return found


def _carried(stem: str, growth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the growth that a function of a number with a relative error has from it."""
    with np.errstate(all="ignore"):
        lost = -np.log1p(-np.expm1(growth))  # 1 / (1 - e), which is more than 1 + e
    return np.where(growth == 0, 0.0, lost if stem in ("rcp", "div") else lost / 2)


def _one(fmt: Format) -> int:
    assert isinstance(fmt, FloatFormat)
    if fmt == F64:
        return int(np.float64(1).view(np.uint64))
    return (fmt.bias << fmt.fraction_bits) << fmt.padding_bits


_Rule = Callable[[AbsoluteErrors, Operation, Ids, Format], Part]

_RULES: Mapping[str, _Rule] = MappingProxyType(
    {
        operations.FUSED: AbsoluteErrors._fused,
        operations.DOT: AbsoluteErrors._dot,
        operations.NEGATE: AbsoluteErrors._negated,
        operations.CONVERT: AbsoluteErrors._converted,
        CONCATENATION: AbsoluteErrors._widened,
        operations.SELECT: AbsoluteErrors._chosen,
        operations.EXTREMUM: AbsoluteErrors._extremum,
        operations.FUNCTION: AbsoluteErrors._function,
        operations.QUOTIENT: AbsoluteErrors._quotient,
    }
)
