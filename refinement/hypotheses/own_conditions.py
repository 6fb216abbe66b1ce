"""Conditions on a kernel's intermediate numbers that its formula does not imply, by normal forms and ranges.

A condition is that a divisor is not 0, a radicand or the argument of a logarithm not negative, a power of two
or a scaled number not too large, a number within the range of a narrower format, or a comparison not decided
by what is absorbed. The formula implies it by one of its own on the same polynomial, up to a factor of powers
or near 1, or ranges do. What neither implies is a detour. Of selects and extrema nothing is said here: those
are left to the search (`detours`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import cached_property
from math import log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.formats import F64, FloatFormat, Format, as_float
from ..analysis.discharged_hypotheses import nonzero
from ..analysis.literal_constants import LN_OF_2, LOG2_OF_10, LOG2_OF_E
from ..analysis.real_ranges import normal_from, overflow_from
from ..analysis.rounding_depth import NONZERO, NOT_NEGATIVE
from ..normal_forms.elementary_forms import HYPERBOLIC, LOGARITHM, RECIPROCAL, ROOT, stem
from ..normal_forms.forms import NormalForms
from ..normal_forms.sparse_polynomials import Monomial, Sparse, added
from ..terms import operations
from ..terms.instances import TermInstances
from ..terms.interning import Ids
from ..terms.operations import Sum
from ..terms.store import INPUT, NORMAL_FORM, Operation, TermStore
from ..terms.traversal import by_operation, within
from .exact_scalings import is_scaled_exactly
from .guarded_terms import GuardedTerms, times_irrational
from .narrow_conversions import NarrowConversions
from .rounded_comparisons import RoundedComparisons
from .symbolic_bounds import SymbolicBounds
from .term_growth import TermGrowth
from .term_polynomials import TermPolynomials
from .unused_inputs import unused_input
from .uses_of_powers import DIVIDING, UsesOfPowers
from .widened_products import fits_as_widened

_OF_SHAPE = 64
"""Conditions of terms of one shape that are looked at."""

_MOST = 1 << 12
"""Terms of a formula whose polynomials are made; of formulas of more, only the search tells."""

_FAR = 31
"""Scalings by lower powers of 2 are no detour: a quarter of f32's exponents, where the search ends, too.
Of formats of 5 bits of exponent it is a quarter of this: a quarter of theirs."""

_SHIFT = 64
"""Exponents of 2 that differ by less have one boundary: half of those of f32."""

_DEPTH = 4
"""Extrema in an exponent that are replaced by what they are of, one after the other."""

_DOMAINS = ("sqrt", "rsqrt", "lg2")

Key = frozenset[tuple[Monomial, Fraction | int]]
"""A polynomial."""

_IRRATIONAL = ((LOG2_OF_E,), (LN_OF_2,), (LOG2_OF_10,))


class OwnCondition(NamedTuple):
    """A condition that the formula does not imply.

    Attributes
    ----------
    term, argument : int
        The operation that needs it, and the term that it is about.
    hypothesis : str
        What is supposed.
    relation : str
        What the argument is to be, as ``[requires]`` has it, behind its name; empty where that is not known.
    """

    term: int
    argument: int
    hypothesis: str
    relation: str


def finite(store: TermStore, argument: int, term: int) -> OwnCondition:
    """Return the condition that an input is finite with which a term computes."""
    fmt = as_float(store.operation(argument).result)
    largest = float(fmt.exact(fmt.largest << fmt.padding_bits) or 0)
    return OwnCondition(term, argument, "every input is finite", f"<= {largest:g}")


class OwnConditions:
    """Finds conditions of a kernel that its formula does not imply.

    Parameters
    ----------
    forms : NormalForms
        Of the store.
    actual, expected : array (n,)
        Terms that are equal over the reals.
    """

    def __init__(self, forms: NormalForms, actual: Ids, expected: Ids) -> None:
        forms = forms.of_fractions if forms.needs_fractions else forms  # by which the terms are equal
        self._forms, self._store, self._elementary = forms, forms.store, forms.elementary
        self._ranges = forms.overflows.ranges
        self._actual, self._expected = actual, expected
        self._formula = within(self._store, expected)
        self._own = np.setdiff1d(within(self._store, actual), self._formula).astype(np.int32)
        self._uses = UsesOfPowers(self._store, actual, self._own)
        self._plain: dict[int, bool] = {}
        self._numbers = TermPolynomials(forms)
        self._growth = TermGrowth(self._store)
        self._sampled = set[int]()
        self._bounds = SymbolicBounds(forms)
        self._conversions = NarrowConversions(forms, self._bounds, self._formula, self._numbers)
        self._comparisons = RoundedComparisons(forms, self._formula, self._numbers)

    def first(self) -> OwnCondition | None:
        """Return the first of them, in the order of the kernel; None if none is found."""
        found: list[OwnCondition] = []
        for operation, members in by_operation(self._store, self._own):
            rule = self._rule(operation)
            if rule is None:
                continue
            some = list(self._representatives(members))
            self._prepare(operation, np.array(some, dtype=np.int32))
            for term in some:
                with suppress(UnsupportedError):  # too many products, of which only the search tells
                    found += [each for each in (rule(operation, term),) if each is not None]
        return min(found, default=None) or self._unused()

    def _unused(self) -> OwnCondition | None:
        """Look at floats that the formula does not use: they cancel only if they are finite."""
        unused = unused_input(self._store, self._formula, self._own)
        return None if unused is None else finite(self._store, *unused)

    def _rule(self, operation: Operation) -> Callable[[Operation, int], OwnCondition | None] | None:
        match operation.name:
            case operations.FUNCTION if isinstance(operation.result, FloatFormat):
                return {"ex2": self._power, **dict.fromkeys((*DIVIDING, *_DOMAINS), self._domain)}.get(
                    stem(operation)
                )
            case operations.COMPARE if isinstance(operation.operands[0], FloatFormat):
                return None if operation.attribute in ("num", "nan") else self._comparison
            case operations.FUSED | operations.CONVERT | operations.DOT if self._conversions.is_one(
                operation
            ):
                return self._narrowed
            case operations.FUSED if isinstance(operation.result, FloatFormat):
                return self._scaling if _products(operation) else None
        return None

    def _prepare(self, operation: Operation, terms: Ids) -> None:
        """Compute the normal forms that the rule of an operation asks for."""
        if operation.name != operations.FUNCTION:
            self._conversions.prepare(operation, terms)
            return
        read = operation.operands[-1]
        arguments = self._store.arguments(terms)[:, len(operation.operands) - 1]
        low, high = self._range(arguments, read).T
        if stem(operation) == "ex2":
            self._numbers.prepare(terms[high > as_float(read).maximum_exponent], read)
        else:
            unknown = (low <= 0) & (high >= 0)
            self._numbers.prepare(arguments[unknown], read)
            self._numbers.prepare(self._applied(operation, terms[unknown]), operation.result)

    def _representatives(self, terms: Ids) -> Iterator[int]:
        shapes = TermInstances(self._store).shapes(terms)
        for some in (terms[shapes == shape].tolist() for shape in np.unique(shapes)):
            if len(some) > _OF_SHAPE:  # that one is used under a condition says nothing of others
                self._sampled.update(some)
            yield from some[:_OF_SHAPE]

    # -- what the formula implies
    @cached_property
    def _functions(self) -> list[tuple[Operation, Ids]]:
        found = [
            (operation, members)
            for operation, members in by_operation(self._store, self._formula)
            if operation.name == operations.FUNCTION and isinstance(operation.result, FloatFormat)
        ]
        if sum(len(members) for _, members in found) > _MOST:
            raise UnsupportedError("the formula has too many functions")
        return found

    @cached_property
    def _cores(self) -> dict[Operation, set[Key]]:
        """What the formula divides by, and takes roots and logarithms of, without factors."""
        found: dict[Operation, set[Key]] = {RECIPROCAL: set(), ROOT: set(), LOGARITHM: set()}
        for operation, members in self._functions:
            if stem(operation) in (*DIVIDING, *_DOMAINS):
                for number in self._numbers(self._applied(operation, members), operation.result):
                    for atom in _atoms(number):
                        for of, keys in found.items():
                            if self._elementary.is_a(atom, of):
                                keys.add(self._key(atom))
        return found

    @cached_property
    def _exponents(self) -> list[Sparse]:
        """Exponents of powers of two that the formula makes."""
        found: list[Sparse] = []
        for operation, members in self._functions:
            for number in self._numbers(self._applied(operation, members), operation.result):
                found += self._powers(number)
            arguments = self._store.arguments(members)[:, len(operation.operands) - 1]
            if stem(operation) == "ex2":
                found += self._numbers(arguments, operation.operands[-1])
            if stem(operation) == HYPERBOLIC:
                for number in self._numbers(arguments, operation.operands[-1]):
                    found += [times_irrational(self._forms, number, LOG2_OF_E, sign) for sign in (2, -2)]
        for operation, members in by_operation(self._store, np.unique(self._expected)):
            if isinstance(operation.result, FloatFormat):
                for number in self._numbers(members, operation.result):
                    found += self._powers(number)
        return found + [self._plain_part(each) for each in found]

    @cached_property
    def _monomials(self) -> dict[Monomial, tuple[Fraction, Fraction]]:
        """The least and greatest magnitudes of coefficients that monomials have in the formula."""
        found: dict[Monomial, tuple[Fraction, Fraction]] = {}
        members = self._formula[[_computes(self._store.operation(each)) for each in self._formula.tolist()]]
        if len(members) > _MOST:
            raise UnsupportedError("the formula has too many products")
        for operation, some in by_operation(self._store, np.union1d(members, self._expected)):
            if not isinstance(operation.result, FloatFormat):
                continue
            for number in self._numbers(some.astype(np.int32), operation.result):
                for key, value in number.items():
                    size = abs(Fraction(value))
                    least, greatest = found.get(key, (size, size))
                    found[key] = min(least, size), max(greatest, size)
        return found

    # -- conditions
    def _domain(self, operation: Operation, term: int) -> OwnCondition | None:
        """Look at what divides, or has a root or a logarithm."""
        argument = int(self._store.arguments(term)[len(operation.operands) - 1])
        ((low, high),) = self._range(np.array([argument], dtype=np.int32), operation.operands[-1]).tolist()
        if low > 0 or (high < 0 and stem(operation) in DIVIDING):
            return None
        (divisor,) = self._numbers(np.array([argument]), operation.operands[-1])
        if self._bounds.has_one(divisor):
            return None
        (number,) = self._numbers(self._applied(operation, np.array([term])), operation.result)
        for exponent in self._powers(number):
            # of a sum of powers, any may stand before the others: those with extrema are left to the search
            if not any(map(self._is_extremal, exponent)) and not self._is_bounded(exponent):
                return OwnCondition(term, argument, "no power of 2 that divides underflows", "")
        for atom in _atoms(number):
            for of in (RECIPROCAL, ROOT, LOGARITHM):
                if not self._elementary.is_a(atom, of) or self._implied(of, atom, argument, low):
                    continue
                if of == RECIPROCAL:
                    return OwnCondition(
                        term, argument, NONZERO, "> 0" if stem(operation) == "rsqrt" else "!= 0"
                    )
                return OwnCondition(term, argument, NOT_NEGATIVE, ">= 0" if of == ROOT else "> 0")
        return None

    def _implied(self, of: Operation, atom: int, argument: int, low: float) -> bool:
        """Tell whether a number without factors is known to be in the domain of a function."""
        core, cores = self._key(atom), self._cores
        if core in cores[of] or core in cores[LOGARITHM] or not self._is_of_plain(atom):
            return True
        if of == ROOT and low >= 0:
            return True
        if of == LOGARITHM and core in cores[RECIPROCAL] & cores[ROOT]:
            return True
        if of == RECIPROCAL and self._excludes_zero(argument, core):
            return True
        return self._bounds.is_positive(self._elementary.arguments[atom], strictly=of != ROOT)

    def _excludes_zero(self, argument: int, core: Key) -> bool:
        terms = [argument, *(atom & 0xFFFFFFFF for key, _ in core for atom in key if len(core) == 1)]
        return any(nonzero(self._store, np.array([term], dtype=np.int32))[0] for term in terms)

    def _power(self, operation: Operation, term: int) -> OwnCondition | None:
        """Look at the overflow of a power of two."""
        (argument,), (fmt,) = self._store.arguments(term)[:1].tolist(), operation.operands
        assert isinstance(fmt, FloatFormat)
        if self._range(np.array([argument], dtype=np.int32), fmt)[0, 1] <= fmt.maximum_exponent:
            return None
        (number,) = self._numbers(np.array([term]), fmt)
        powers = self._powers(number)
        if all(map(self._is_bounded, powers)):
            return None
        if fmt == F64 and self._uses.only_grow_logarithms(term):
            return None
        opposites = [added({}, power, -1) for power in powers]
        if all(map(self._is_bounded, opposites)) and self._uses.only_divide(term):
            return None
        if term not in self._sampled and self._guards.bound(term, argument, powers, _SHIFT):
            return None
        return OwnCondition(term, argument, f"no rounding to {fmt} overflows", f"<= {fmt.maximum_exponent}")

    @cached_property
    def _guards(self) -> GuardedTerms:
        return GuardedTerms(self._forms, self._actual)

    def _is_bounded(self, exponent: Sparse, depth: int = _DEPTH) -> bool:
        """Tell whether the formula, or signs, bound an exponent of 2 from above."""
        rest = {key: value for key, value in exponent.items() if key}
        if not rest or self._bounds.upper(exponent) <= _SHIFT or self._is_of_formula(exponent, rest):
            return True
        for falls, among in self._bounds.replaced(exponent) if depth else ():
            if (any if falls else all)(self._is_bounded(each, depth - 1) for each in among):
                return True
        plain = self._plain_part(rest)  # what sums and choices add is not told of
        return len(plain) < len(rest) and not any(map(self._is_extremal, rest)) and self._is_bounded(plain)

    def _is_of_formula(self, exponent: Sparse, rest: Sparse) -> bool:
        """Tell whether an exponent of 2 is one of the formula, or a part of one."""
        key, value = next(iter(rest.items()))
        for other in self._exponents_of.get(key, ()):
            ratio = Fraction(value) / Fraction(other[key])
            if 0 < ratio <= 1:
                apart = added(exponent, {each: ratio * of for each, of in other.items()}, -1)
                if not any(apart) and abs(Fraction(apart.get((), 0))) <= _SHIFT:
                    return True
        return False

    @cached_property
    def _exponents_of(self) -> dict[Monomial, list[Sparse]]:
        """The different exponents of powers of two of the formula, by each of their monomials."""
        found: dict[Monomial, list[Sparse]] = {}
        for each in {frozenset(exponent.items()) for exponent in self._exponents}:
            for key, _ in each:
                found.setdefault(key, []).append(dict(each))
        return found

    def _conversion(self, operation: Operation, term: int) -> OwnCondition | None:
        """Look at the overflow of a rounding to a format that ends before those of the formula."""
        fmt = as_float(operation.result)
        self._exact_range(term)
        if term in self._actual or not self._conversions.overflows(operation, term):
            return None
        largest = float(fmt.exact(fmt.largest << fmt.padding_bits) or 0)
        argument = int(self._store.arguments(term)[0]) if len(operation.operands) == 1 else term
        return OwnCondition(term, argument, f"no rounding to {fmt} overflows", f"<= {largest:g}")

    def _narrowed(self, operation: Operation, term: int) -> OwnCondition | None:
        """Look at the overflow of a rounding to a narrow format, and the underflow of what was scaled."""
        return self._conversion(operation, term) or self._scaling(operation, term)

    def _scaling(self, operation: Operation, term: int) -> OwnCondition | None:
        """Look at the over- and underflow of a product that constants scale far, or of many data."""
        fmt = as_float(operation.result)
        narrow = self._conversions.is_one(operation)  # whose overflow `_conversion` looks at
        (degree, down, up), most = self._growth.of(np.array([term], dtype=np.int32))[0], self._degree
        far = _FAR if fmt.exponent_bits > 5 else _FAR >> 2
        if not (down < -far or (not narrow and (degree > most or up > far))) or self._is_exact(term):
            return None
        if narrow and is_scaled_exactly(self._store, term):
            return None
        (number,) = self._numbers(np.array([term]), fmt)
        low, high = self._exact_range(term)
        overflows = not narrow and not max(abs(low), abs(high)) < overflow_from(fmt)
        overflows = overflows and not fits_as_widened(self._store, term)
        least = min(abs(low), abs(high)) if low > 0 or high < 0 else 0.0
        for key, value in number.items():
            if not key:
                continue
            size, sizes = abs(Fraction(value)), self._monomials.get(key, (1, 1))
            if overflows and (size > 2**_FAR * sizes[1] or (degree > most and key not in self._monomials)):
                return OwnCondition(term, term, f"no rounding to {fmt} overflows", "")
            if size * 2**far < sizes[0] and least < normal_from(fmt):
                return OwnCondition(term, term, f"no rounding to {fmt} underflows", "")
        return None

    @cached_property
    def _degree(self) -> float:
        """The degree in data of what the formula computes, up to roundings of halves."""
        return max(1.0, float(self._growth.of(self._formula)[:, 0].max())) + 2.0**-20

    def _comparison(self, operation: Operation, term: int) -> OwnCondition | None:
        """Look at a comparison of rounded numbers, of others than the formula's."""
        side = self._comparisons.rounded_side(operation, term)
        what = "no rounding changes the outcome of a comparison"
        return None if side is None else OwnCondition(term, side, what, "")

    def _is_exact(self, term: int) -> bool:
        return self._forms.quantifier.computed_equality.is_exact(term)

    # -- normal forms
    def _applied(self, operation: Operation, terms: Ids) -> Ids:
        """Return functions (n,); of quotients the reciprocals of what divides."""
        if not operations.divides(operation):
            return terms
        fmt = operation.result
        return self._store.apply(operations.function("rcp", fmt, fmt), self._store.arguments(terms)[:, 1])

    def _powers(self, number: Sparse) -> list[Sparse]:
        """Return the exponents of 2 in the monomials of a polynomial, whose coefficients are part of them."""
        found: list[Sparse] = []
        for key, value in number.items():
            _, exponent = self._elementary.exponents(key)
            if exponent:
                shift = round(log2(abs(Fraction(value))))
                found.append(added(exponent, {(): shift}) if shift else exponent)
        return found

    def _key(self, atom: int) -> Key:
        return frozenset(self._elementary.arguments[atom].items())

    def _is_extremal(self, monomial: Monomial) -> bool:
        """Tell whether a product has an extremum."""
        return any(self._forms.extrema.extremum(atom) is not None for atom in monomial)

    def _plain_part(self, number: Sparse) -> Sparse:
        return {key: value for key, value in number.items() if all(map(self._is_plain, key))}

    def _is_plain(self, atom: int) -> bool:
        """Tell whether an atom is an input or a function of such: no extremum, choice or sum."""
        if atom not in self._plain:
            self._plain[atom] = True  # where its own argument has it, too, the rest tells
            operation = self._store.operation(atom & 0xFFFFFFFF)
            if atom in self._elementary.arguments:
                argument = self._elementary.arguments[atom]
                self._plain[atom] = all(self._is_plain(each) for each in _atoms(argument))
            elif operation.name == NORMAL_FORM and operation.attribute in _IRRATIONAL:
                self._plain[atom] = True
            else:
                self._plain[atom] = operation.name == INPUT or self._is_plain_function(atom)
        return self._plain[atom]

    def _is_of_plain(self, atom: int) -> bool:
        """Tell whether a function is of what is plain, and of extrema of such."""
        for each in _atoms(self._elementary.arguments[atom]):
            extremum = self._forms.extrema.extremum(each)
            members = extremum.members if extremum else [frozenset({((each,), 1)})]
            if not all(self._is_plain(one) for member in members for one in _atoms(dict(member))):
                return False
        return True

    def _is_plain_function(self, atom: int) -> bool:
        term = atom & 0xFFFFFFFF
        term = self._forms.quantifier.origin(term) or term
        operation = self._store.operation(term)
        if operation.name != operations.FUNCTION:
            return False
        arguments = self._store.arguments(term)[: len(operation.operands)]
        numbers = map(self._numbers, arguments[:, None], operation.operands)
        return all(self._is_plain(each) for (number,) in numbers for each in _atoms(number))

    # -- ranges
    def _exact_range(self, term: int) -> tuple[float, float]:
        """Return the range of a term before its last rounding."""
        self._ranges.fill(np.array([term], dtype=np.int32))
        low, high = self._ranges.exact[term].tolist()
        return low, high

    def _range(self, terms: Ids, fmt: Format) -> NDArray[np.float64]:
        """Return the ranges (n, 2) of terms."""
        self._ranges.fill(terms)
        return self._ranges.read(terms, fmt)


def _atoms(number: Sparse) -> list[int]:
    return [atom for key in number for atom in key]


def _products(operation: Operation) -> int:
    return operation.attribute.products if isinstance(operation.attribute, Sum) else 0


def _computes(operation: Operation) -> bool:
    """Tell whether an operation is an input, or makes products of numbers."""
    if not isinstance(operation.result, FloatFormat):
        return False
    return operation.name == INPUT or (operation.name == operations.FUSED and _products(operation) > 0)
