"""Readings: a term in a format, and how it splits into a sum of products of other readings.

A floating-point format reads a real number, a signed or unsigned integer format an integer, and raw
bits (`terms.bits`) an integer modulo a power of two. Rounding is the identity here, but clamping and
quantising are not (`quantisation`); an integer that may have wrapped is not split.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import F32, F64, TF32, FloatFormat, Format, IntegerFormat
from ..analysis.converted_ranges import magnitudes
from ..analysis.float_equality import ComputedEquality
from ..analysis.literal_constants import LOG2_OF_10, multiple, stood_for
from ..analysis.magic_constants import CoarseSums
from ..analysis.quantisation import quantises
from ..analysis.term_classes import ARITHMETIC, TermClasses
from ..terms import operations
from ..terms.bit_slices import extract, low_sums, taken_apart
from ..terms.choices import bits_of_choices
from ..terms.evaluation import integers
from ..terms.field_formats import field_format, repetitions
from ..terms.interning import Ids
from ..terms.operations import Accumulation, Sum
from ..terms.slices import fields
from ..terms.store import (
    CONCATENATION,
    CONSTANT,
    INPUT,
    NORMAL_FORM,
    UNDEFINED,
    Operation,
    TermStore,
    bits,
    is_raw,
)
from .conversions import chosen_floats, whole_floats
from .one_sided_sums import common_addends
from .reading_words import TERM, Accumulated, Piece, Pieces, Quantities
from .reciprocals import exact_reciprocals, plain, rounded_reciprocals

_MOST_FORMATS = 256

_COMPUTED = (operations.FUSED, operations.CONVERT)
"""Operations whose results in tf32 are numbers of f32, with zeros where tf32 has nothing."""

NORMAL = (NORMAL_FORM, UNDEFINED)
"""Operations that only stand for a function of unknown or of normalised arguments: always atoms."""


class Quantifier:
    """Makes and splits the readings of a store's terms.

    Parameters
    ----------
    store : TermStore
        The terms.
    fractions : bool
        Whether floats are taken for the simple fractions that they are next to.
    exact_quotients : bool
        Whether quotients by constants are products with the exact reciprocals, not with rounded ones.
    """

    def __init__(self, store: TermStore, *, fractions: bool = False, exact_quotients: bool = False) -> None:
        self.exact_quotients = exact_quotients
        self.store = store
        self.fractions, self.near_fractions = fractions, False
        """Whether there has been such a float that is not the fraction itself."""
        self.stands_for = set[str]()
        """For what such floats have been taken, in words."""
        self.is_patient = True
        """Whether what has many products is multiplied out, and compared in other ways if it has too many."""
        self.magnitudes = magnitudes(store)
        self.classes = TermClasses(store)
        self.coarse = CoarseSums(store)
        self.computed_equality = ComputedEquality(store)
        self.formats: list[Format] = []
        self.literals: dict[str, set[Fraction | None]] = {}
        """The numbers that stand for an irrational one, by its name; None is that itself."""
        self._noted: list[tuple[Ids, Ids]] = []
        self._origins: dict[int, int] = {}
        self._atomic = (0, 0), np.zeros(0, dtype=bool)
        self._numbers: dict[Format, int] = {}

    def read(self, terms: Any, fmt: Format) -> Quantities:
        """Return terms read in a format."""
        number = self._numbers.get(fmt)
        if number is None:
            number = self._numbers[fmt] = len(self.formats)
            self.formats.append(fmt)
            assert number < _MOST_FORMATS
        return np.asarray(terms).astype(np.int64) | np.int64(number << 32)

    def terms(self, quantities: Quantities) -> Ids:
        """Return the terms of quantities."""
        return (quantities & TERM).astype(np.int32)

    def format(self, quantity: int) -> Format:
        """Return the format a quantity is read in."""
        return self.formats[int(quantity) >> 32]

    def kinds(self, quantities: Quantities) -> NDArray[np.int64]:
        """Return one small number for each pair of operation and format."""
        numbers: NDArray[np.int64] = self.store.operation_numbers(self.terms(quantities)).astype(np.int64)
        return numbers * _MOST_FORMATS + (quantities >> np.int64(32))

    def note(self, normal: Ids, terms: Ids) -> None:
        """Note which terms (n,) normal forms (n,) are made for, so that they can be spelled."""
        self._noted.append((normal, terms))

    def origin(self, normal: int) -> int | None:
        """Return the first term that a normal form was made for, if it is known."""
        for forms, terms in self._noted:
            for form, term in zip(forms.tolist(), terms.tolist(), strict=True):
                self._origins.setdefault(form, term)
        self._noted.clear()
        return self._origins.get(normal)

    def is_natural(self, kind: int) -> bool:
        """Tell whether quantities of a kind are terms read in the format of their own results."""
        operation, number = divmod(kind, _MOST_FORMATS)
        return self.store.operations[operation].result == self.formats[number]

    def atomic_kinds(self) -> NDArray[np.bool_]:
        """Tell of every kind whether its quantities are atoms, whatever their arguments."""
        count = len(self.store.operations), len(self._numbers)
        if self._atomic[0] != count:
            atomic = np.zeros((count[0], _MOST_FORMATS), dtype=bool)
            for number, operation in enumerate(self.store.operations):
                atomic[number] = operation.name in NORMAL
                if operation.name == INPUT and operation.result in self._numbers:
                    atomic[number, self._numbers[operation.result]] = True
            self._atomic = count, atomic.reshape(-1)
        return self._atomic[1]

    def split(self, quantities: Quantities) -> Pieces | None:
        """Return the expansion of quantities (n,) of one kind; None where they don't split."""
        terms = self.terms(quantities)
        operation, fmt = self.store.operation(int(terms[0])), self.format(int(quantities[0]))
        if operation.name == CONSTANT:
            return self._constant(terms, fmt)
        if self.improper(quantities).any():
            return None
        if fmt == TF32 and operation.result == F32:  # reading tf32 rounds
            return [Piece(1, (self.read(terms, F32),))]
        if fmt == F32 and operation.result == TF32 and operation.name in _COMPUTED:  # the rest is zeros
            return [Piece(1, (self.read(terms, TF32),))]
        rule = _SPLITS.get(operation.name)
        return None if rule is None else rule(self, operation, fmt, terms)

    def improper(self, quantities: Quantities) -> NDArray[np.bool_]:
        """Tell which quantities (n,) of one kind are no polynomials: sums and products never finite."""
        terms = self.terms(quantities)
        operation, fmt = self.store.operation(int(terms[0])), self.format(int(quantities[0]))
        if operation.name == CONSTANT:
            return self.classes.constant(terms, fmt)
        arithmetic = operation.name in ARITHMETIC or operations.divides(operation)
        if arithmetic and isinstance(fmt, FloatFormat):
            return self.classes.never_finite(terms, fmt)
        return np.zeros(len(terms), dtype=bool)

    def _constant(self, terms: Ids, fmt: Format) -> Pieces | None:
        values = self.store.constant_values(terms)
        if isinstance(fmt, IntegerFormat):
            exact = integers(values, fmt)
            return [Piece(exact.astype(object), ())]
        assert isinstance(fmt, FloatFormat)
        distinct, inverse = np.unique(values, return_inverse=True)
        numbers = [fmt.exact(int(value)) for value in distinct]
        if any(number is None for number in numbers):
            return None
        irrational = [multiple(int(value), fmt) for value in distinct]
        exact = np.array([plain(self.number(number, fmt)) for number in numbers], dtype=object)
        if not any(irrational):
            return [Piece(exact[inverse], ())]
        for number, each in zip(numbers, irrational, strict=True):
            if each is not None and number is not None:
                self.literals.setdefault(each.name, set()).add(number / each.factor)
        factors = np.array(
            [self.one if each is None else self.read(self.irrational(each.name), F64) for each in irrational]
        )
        of = [each.factor if each else number for number, each in zip(exact, irrational, strict=True)]
        self.note(factors[inverse].astype(np.int32), terms)
        return [Piece(np.array(of, dtype=object)[inverse], (self.read(factors, F64)[inverse],))]

    def number(self, number: Fraction | None, fmt: FloatFormat) -> Fraction:
        """Return what a float stands for: itself, or a simple fraction or literal that it is next to."""
        assert number is not None
        simple, what = stood_for(number, fmt, self.store.rounded_literals)
        if what is not None:
            self.stands_for.add(what)
        self.near_fractions |= simple != number
        return simple if self.fractions else number

    @property
    def one(self) -> Quantities:
        """The number 1."""
        return self.read(self.store.constants(np.float64(1).view(np.uint64), 64), F64)

    @property
    def takes_literals_for_numbers(self) -> bool:
        """Whether different numbers are taken for log2(e), or for it and its reciprocal."""
        numbers = [each for name, each in self.literals.items() if name != LOG2_OF_10]
        return len(numbers) > 1 or any(len(number) > 1 for number in numbers)

    def irrational(self, name: str) -> Ids:
        """Return the atom that stands for an irrational number."""
        return self.store.apply(Operation(NORMAL_FORM, F64, attribute=(name,)), 0)

    def argument(self, terms: Ids, index: int, fmt: Format) -> Quantities:
        """Return an argument of terms as a quantity."""
        return self.read(self.store.arguments(terms)[:, index], fmt)

    def accumulated(self, quantities: Quantities) -> Accumulated | None:
        """Return quantities (n,) of one kind as accumulations; None where they are not, or don't split."""
        terms = self.terms(quantities)
        operation, fmt = self.store.operation(int(terms[0])), self.format(int(quantities[0]))
        if self.improper(quantities).any():
            return None
        if operation.name == operations.DOT:
            return _accumulated(self, operation, fmt, terms)
        if operation.name == operations.SCALED_DOT:
            return _scaled(self, operation, fmt, terms)
        return None

    def elements(self, quantities: Quantities) -> Quantities:
        """Return the elements (n, K) of quantities (n,) that are vectors."""
        return self.store.elements(self.terms(quantities)) | (quantities & ~TERM)[:, None]


Rule = Callable[[Quantifier, Operation, Format, Ids], Pieces | None]


def _fused(q: Quantifier, operation: Operation, fmt: Format, terms: Ids) -> Pieces | None:
    if fmt != operation.result or quantises(operation):
        return None
    return _sum(q, operation, q.coarse.kept(operation, terms), operation.operands)


def _sum(
    q: Quantifier, operation: Operation, arguments: NDArray[np.int32], formats: tuple[Format, ...]
) -> Pieces:
    how = operation.attribute
    assert isinstance(how, Sum)
    read = [q.read(arguments[:, index], fmt) for index, fmt in enumerate(formats)]
    products = 2 * how.products
    pieces = [Piece(1, (read[i], read[i + 1])) for i in range(0, products, 2)]
    return [*pieces, *(Piece(1, (addend,)) for addend in read[products:])]


def _ring(q: Quantifier, operation: Operation, fmt: Format, terms: Ids) -> Pieces | None:
    """Split where the number that is read is the sum itself: modulo no more, or without overflow.

    A sum whose summands have no bit in common only puts their bits together.
    """
    apart = taken_apart(q.store, terms, depth=1) if len(operation.operands) > 1 else terms
    if (apart != terms).all():
        return [Piece(1, (q.read(apart, fmt),))]
    if is_raw(fmt) and fmt.bits <= operation.result.bits:
        return _sum(q, operation, q.store.arguments(terms), (fmt,) * len(operation.operands))
    if isinstance(fmt, IntegerFormat) and not is_raw(fmt) and q.magnitudes.fit(terms, fmt):
        return _sum(q, operation, q.store.arguments(terms), (fmt,) * len(operation.operands))
    return None


def _negate(q: Quantifier, operation: Operation, fmt: Format, terms: Ids) -> Pieces | None:
    if isinstance(operation.result, FloatFormat):
        return [Piece(-1, (q.argument(terms, 0, fmt),))] if fmt == operation.result else None
    modular = is_raw(fmt) and fmt.bits <= operation.result.bits
    if modular or (isinstance(fmt, IntegerFormat) and not is_raw(fmt) and q.magnitudes.fit(terms, fmt)):
        return [Piece(-1, (q.argument(terms, 0, fmt),))]
    return None


def _dot(q: Quantifier, operation: Operation, fmt: Format, terms: Ids) -> Pieces | None:
    found = q.accumulated(q.read(terms, fmt))
    if found is None:
        return None
    return [Piece(1, (q.elements(found.left), q.elements(found.right))), Piece(1, (found.addend,))]


def _accumulated(q: Quantifier, operation: Operation, fmt: Format, terms: Ids) -> Accumulated | None:
    left, right, addend = operation.operands
    if isinstance(operation.result, FloatFormat):
        if fmt != operation.result:
            return None
    else:
        assert isinstance(operation.attribute, Accumulation)
        if not isinstance(fmt, IntegerFormat):
            return None
        modular = is_raw(fmt) and fmt.bits <= operation.result.bits
        if operation.attribute.saturate or not modular:
            result = operation.result
            assert isinstance(result, IntegerFormat)
            if not q.magnitudes.fit(terms, result) or not (modular or q.magnitudes.fit(terms, fmt)):
                return None
        addend = fmt
        if modular:  # where all multiples of 2^w are 0, the sign of a word of w bits makes no difference
            left, right = (fmt if each.bits == fmt.bits else each for each in (left, right))
    return Accumulated(*(q.argument(terms, i, read) for i, read in enumerate((left, right, addend))))


def _scaled(q: Quantifier, operation: Operation, fmt: Format, terms: Ids) -> Accumulated | None:
    """Multiply each vector by its scale factors first, once however many sums it is in."""
    if fmt != operation.result:
        return None
    assert isinstance(operation.result, FloatFormat)
    *formats, addend, scale, _ = operation.operands
    arguments = q.store.arguments(terms)
    rest = q.store.elements(arguments[:, 2])
    sides = []
    for column, factor in enumerate(formats):
        assert isinstance(factor, FloatFormat) and isinstance(scale, FloatFormat)
        pairs = arguments[:, column].astype(np.int64) << np.int64(32) | rest[:, 1 + column]
        distinct, inverse = np.unique(pairs, return_inverse=True)
        elements, factors = q.store.elements(distinct >> np.int64(32)), q.store.elements(distinct & TERM)
        spread = np.repeat(factors, elements.shape[1] // factors.shape[1], axis=1)
        product = operations.fused(operation.result, ((factor, scale),))
        sides.append(q.read(q.store.vectors(q.store.apply(product, elements, spread))[inverse], fmt))
    left, right = sides
    return Accumulated(left, right, q.read(rest[:, 0], addend))


def _quotient(q: Quantifier, operation: Operation, fmt: Format, terms: Ids) -> Pieces | None:
    """Multiply with reciprocals of constants, exact ones or rounded as a contract's are."""
    if fmt != operation.result:
        return None
    assert isinstance(fmt, FloatFormat)
    divisors = q.store.constant_values(q.store.arguments(terms)[:, 1])
    if q.exact_quotients:
        exact = exact_reciprocals(divisors, np.ones(len(terms), dtype=bool), fmt)
        return None if exact is None else [Piece(exact, (q.argument(terms, 0, fmt),))]
    rounded = rounded_reciprocals(divisors, fmt)
    factors = np.array([plain(q.number(Fraction(each), fmt)) for each in rounded.tolist()], dtype=object)
    return [Piece(factors, (q.argument(terms, 0, fmt),))]


def _function(q: Quantifier, operation: Operation, fmt: Format, terms: Ids) -> Pieces | None:
    """Take a quotient for a product with the reciprocal of what divides, of a constant the exact one."""
    if fmt != operation.result or not isinstance(fmt, FloatFormat) or not operations.divides(operation):
        return None
    divisors = q.store.arguments(terms)[:, 1]
    constant = q.store.are(CONSTANT, divisors)
    exact = exact_reciprocals(q.store.constant_values(divisors), constant, fmt)
    if exact is None:
        return None
    reciprocals = q.store.apply(operations.function("rcp", fmt, fmt), divisors)
    factors = np.where(constant, q.one, q.read(reciprocals, fmt))
    return [Piece(exact if constant.any() else 1, (q.argument(terms, 0, fmt), factors))]


def _extend(q: Quantifier, operation: Operation, fmt: Format, terms: Ids) -> Pieces | None:
    (narrow,) = operation.operands
    if is_raw(fmt):
        read = bits(fmt.bits) if fmt.bits <= narrow.bits else narrow
    elif fmt == operation.result:
        read = narrow
    else:
        return None
    return [Piece(1, (q.argument(terms, 0, read),))]


def _concatenation(q: Quantifier, operation: Operation, fmt: Format, terms: Ids) -> Pieces | None:
    """Split an integer into its fields, weighted; they are unsigned, but for one whose sign is on top."""
    if not isinstance(fmt, IntegerFormat):
        return None
    choices = bits_of_choices(q.store, terms, modular=is_raw(fmt))
    if (choices >= 0).all():
        return [Piece(1, (q.read(choices, fmt),))]
    pieces, position, cut = [], 0, fields(operation)
    among_constants = len(cut) > 1 and sum(not field.constant for field in cut) == 1
    for part, field in zip(q.store.elements(q.store.arguments(terms)[:, 0]).T, cut, strict=True):
        if (left := fmt.bits - position) <= 0:
            break
        if q.magnitudes.lie_below(part, field.low):
            position += field.width
            continue
        if field.repeats:  # of a sign that was taken for the highest bit
            return None
        repeated = repetitions(operation, position + field.width)
        if field.low == 0 and not (field.constant or repeated or is_raw(fmt)) and field.width <= left:
            uncut = _uncut(q, part, field.width, fmt.signed and field.width == left)
            if uncut is not None:
                pieces.append(Piece(1 << position, (uncut,)))
                position += field.width
                continue
        whole = field.low == 0 and bool((q.store.widths(part) == field.width).all())
        read = field_format(field, whole, fmt, left, repeated)
        number, reach = part, field.width + (fmt.signed and not is_raw(fmt))
        if read is None and among_constants and reach <= left:  # the same number in every format
            number = extract(q.store, part, field.low, field.width)
            read = operations.unsigned(field.width)
        if read is None:
            return None
        pieces.append(Piece(1 << position, (q.read(number, read),)))
        if read.signed:
            break
        position += field.width
    return pieces


def _uncut(q: Quantifier, parts: Ids, width: int, signed: bool) -> Quantities | None:
    """Return the integers whose low bits a field is, where the field has all of every one."""
    first, *others = np.unique(q.store.widths(parts)).tolist()
    if others or first <= width:
        return None
    whole = operations.signed(first)
    field = operations.signed(width) if signed else operations.unsigned(width)
    least, greatest = q.magnitudes.intervals(parts, whole).T
    if (least >= field.minimum).all() and (greatest <= field.maximum).all():
        return q.read(parts, whole)
    narrow = low_sums(q.store, parts, width)
    return None if narrow is None or not q.magnitudes.fit(narrow, field) else q.read(narrow, field)


def _convert(q: Quantifier, operation: Operation, fmt: Format, terms: Ids) -> Pieces | None:
    (source,) = operation.operands
    if isinstance(operation.result, FloatFormat):  # overflow is excluded over the reals
        if fmt != operation.result or quantises(operation):
            return None
        floats = chosen_floats(q.store, operation, terms)
        return [Piece(1, (q.argument(terms, 0, source) if floats is None else q.read(floats, fmt),))]
    if isinstance(source, IntegerFormat) and isinstance(fmt, IntegerFormat):
        inner, result = q.store.arguments(terms)[:, 0], operation.result
        assert isinstance(result, IntegerFormat)
        if q.magnitudes.fit(inner, result, source) and (is_raw(fmt) or fmt == result):
            return [Piece(1, (q.read(inner, source),))]
    floats = whole_floats(q.store, q.magnitudes, operation, terms) if fmt == operation.result else None
    return _whole(q, operation, fmt, terms) if floats is None else [Piece(1, (q.read(floats, source),))]


def _whole(q: Quantifier, operation: Operation, fmt: Format, terms: Ids) -> Pieces | None:
    """Read low bits of an integer as the integer it is, modulo."""
    result = operation.result
    if is_raw(fmt) and isinstance(result, IntegerFormat) and not is_raw(result) and fmt.bits <= result.bits:
        return [Piece(1, (q.read(terms, result),))]
    return None


def _select(q: Quantifier, operation: Operation, fmt: Format, terms: Ids) -> Pieces | None:
    """Choose what is chosen for numbers: over the reals nothing is NaN; take sums with one addend apart."""
    if fmt.bits != operation.result.bits:
        return None
    conditions = {
        q.store.operations[n] for n in np.unique(q.store.operation_numbers(q.store.arguments(terms)[:, 0]))
    }
    relations = {
        condition.attribute if condition.name == operations.COMPARE else None for condition in conditions
    }
    chosen = {"num": 1, "nan": 2}.get(str(relations.pop())) if len(relations) == 1 else None
    if chosen is not None:
        return [Piece(1, (q.argument(terms, chosen, fmt),))]
    found = common_addends(q.store, q.magnitudes, q.coarse, terms, fmt)
    if (found.common < 0).any():
        return None
    return [Piece(1, (q.read(each, fmt),)) for each in found]


_SPLITS: MappingProxyType[str, Rule] = MappingProxyType(
    {
        operations.FUSED: _fused,
        operations.RING: _ring,
        operations.NEGATE: _negate,
        operations.DOT: _dot,
        operations.SCALED_DOT: _dot,
        operations.EXTEND: _extend,
        operations.QUOTIENT: _quotient,
        operations.FUNCTION: _function,
        operations.CONVERT: _convert,
        operations.EXTREMUM: _whole,
        operations.SELECT: _select,
        CONCATENATION: _concatenation,
        INPUT: _whole,
    }
)
"""How the terms of an operation split, by its name."""
