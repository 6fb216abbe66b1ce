"""Terms of a formula's parts, over its index space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod

import numpy as np

from ...spec.float_encoding import decode, encode
from ...spec.formats import F32, FloatFormat, Format, IntegerFormat
from ...spec.rounding import Rounding
from ..analysis.intervals import Interval
from ..analysis.literal_constants import deviation
from ..contract.contract import Accumulate, Instance
from ..contract.formula_checking import ON_BITS
from ..formula.parser import FUNCTIONS
from ..formula.tree import (
    LOGICAL,
    Binary,
    Cast,
    Choice,
    Element,
    Extremum,
    Function,
    Infinite,
    Inverse,
    Lookup,
    Name,
    Negative,
    Node,
    Number,
    ReducedExtremum,
    ReducedProduct,
    Sum,
    factors,
    walk,
)
from ..terms import bit_slices, operations
from ..terms.choices import chosen
from ..terms.evaluation import apply
from ..terms.interning import Ids
from ..terms.operations import Accumulation
from ..terms.store import CONSTANT, TermStore
from ..terms.truth_tables import A, B
from .elements_by_data import elements
from .formula_space import FormulaSpace, Scope
from .integer_ranges import given_side, range_of
from .term_arithmetic import TermArithmetic, Value, grouped

ORDER = "contract"
"""The name of the order in which a contract adds up floats when it leaves it open."""


def scalar_term(instance: Instance, name: str, store: TermStore) -> Ids:
    """Return the term of a scalar parameter: a constant, or the only element of an input of its name."""
    scalar = instance.scalars[name]
    if scalar.value is None:
        return store.inputs(name, scalar.format, 0)
    return store.constants(scalar.value, scalar.format.bits)


class FormulaTerms:
    """Makes the terms of a formula's parts.

    Parameters
    ----------
    space : FormulaSpace
        The formula and its indices.
    store : TermStore
        Where the terms are made.
    exact_quotients : bool
        See `contract_terms.expected_terms`.
    """

    def __init__(self, space: FormulaSpace, store: TermStore, *, exact_quotients: bool = False) -> None:
        self.space = space
        self._exact_quotients = exact_quotients
        self.store = store
        self.kinds = space.kinds
        self.instance = space.instance
        self.make = TermArithmetic(store, space.rank, self.kinds.working_format(space.formula))
        self.sequential = space.instance.contract.accumulate is Accumulate.SEQUENTIAL
        self.deviations: list[float] = []
        """By what part each literal or quotient is off that is rounded, as logarithms."""
        self.rounded: dict[Fraction, float] = {}
        """Those that are rounded, and by what part each is off."""

    def stored(self, fmt: Format) -> Ids:
        """Return the terms of the formula, converted to the output's format."""
        node, scope = self.space.formula.body, self.space.scope
        if isinstance(fmt, IntegerFormat):
            return self._integer(node, scope, fmt.bits)
        assert isinstance(fmt, FloatFormat)
        return self._in_format(node, scope, fmt).terms

    def _in_format(self, node: Node, scope: Scope, fmt: FloatFormat) -> Value:
        """Return a number of either kind converted to a floating-point format."""
        if self.kinds.is_real(node) or self._is_known(node):
            return self.make.rounded(self._real(node, scope), fmt)
        return self.make.from_integers(self._exact(node, scope), fmt)

    def _is_known(self, node: Node) -> bool:
        """Tell whether a part is integers, or truths, that are known numbers at every place of the space."""
        return self.kinds.is_concrete(node)

    def _index(self, node: Node, scope: Scope, width: int) -> Ids | None:
        """Return integers modulo ``2**width`` that indices, sizes and given contents decide.

        None where they are to be made of the parts.
        """
        return self.make.integers(self.space.numbers(node, scope), width)

    def _leaf(self, node: Element | Name, scope: Scope) -> Value:
        if isinstance(node, Name):
            terms = self.make.single(scalar_term(self.instance, node.name, self.store))
            return Value(terms, self.kinds.format(node.name))
        array = self.instance.arrays[node.array]
        return Value(elements(self.store, self.space, node, scope, self._exact), array.format)

    # -- choices
    def _chosen(self, node: Choice, scope: Scope, evaluate: Callable[[Node, Scope], Value]) -> Value:
        """Return numbers of which each is one of two."""
        condition = self._truths(node.condition, scope)
        sides = self._where(condition, scope, holds=True), self._where(condition, scope, holds=False)
        then, otherwise = (evaluate(each, one) for each, one in zip(node.operands[1:], sides, strict=True))
        if isinstance(then.format, FloatFormat):
            then, otherwise = self.make.alike(then, otherwise)
        return Value(chosen(self.store, condition, then.terms, otherwise.terms), then.format)

    def _where(self, condition: Ids, scope: Scope, *, holds: bool) -> Scope:
        """Return the scope in which a condition may hold, or may not."""
        known = self.store.are(CONSTANT, condition)
        return scope.restricted(~known | ((self.store.constant_values(condition) != 0) == holds))

    def _truths(self, node: Node, scope: Scope, *, holds: bool = True) -> Ids:
        """Return the terms (1 bit, over the space) of a condition, or of its opposite."""
        if self._is_known(node):
            found = self.space.truths(node, scope)
            return self.make.integers((found if holds else ~found).astype(np.int64), 1)
        if isinstance(node, Inverse):
            return self._truths(node.operand, scope, holds=not holds)
        assert isinstance(node, Binary)
        if node.operator not in LOGICAL:
            return self._compared(node, scope, holds=holds)
        both = (node.operator == "and") == holds
        left = self._truths(node.left, scope, holds=holds)
        right = self._truths(node.right, self._where(left, scope, holds=both), holds=holds)
        shape = np.broadcast_shapes(left.shape, right.shape)
        one, other = (np.broadcast_to(each, shape).reshape(-1) for each in (left, right))
        table = A & B if both else A | B
        return bit_slices.bitwise(self.store, table, one, other, one).reshape(shape)

    def _compared(self, node: Binary, scope: Scope, *, holds: bool) -> Ids:
        if any(self.kinds.is_real(operand) for operand in node.operands):
            known = len(self.deviations)
            sides = self.make.alike(*(self._real(operand, scope) for operand in node.operands))
            del self.deviations[known:]  # numbers that are compared with are no factors
            operation = operations.compare_as(sides[0].format, node.operator, holds=holds)
            return apply(self.store, operation, *(side.terms for side in sides))
        left, right = (range_of(self.space, operand, scope) for operand in node.operands)
        fmt = self._word(node, left.union(right))
        given = [self._integer(operand, scope, fmt.bits) for operand in node.operands]
        return apply(self.store, operations.compare_as(fmt, node.operator, holds=holds), *given)

    # -- integers
    def _exact(self, node: Node, scope: Scope) -> Value:
        """Return integers as words that hold them."""
        if isinstance(node, Element | Name) and not self.kinds.is_concrete(node):
            return self._leaf(node, scope)
        if isinstance(node, Cast):
            return Value(self._integer(node, scope, node.format.bits), node.format)
        fmt = self._word(node, range_of(self.space, node, scope))
        return Value(self._integer(node, scope, fmt.bits), fmt)

    def _word(self, node: Node, values: Interval) -> IntegerFormat:
        fmt = values.word()
        if fmt is None:
            raise self.space.source.error(
                node.at,
                f"this may be {values.low} to {values.high}, beyond 64 bits; "
                "make it wrap with a cast such as s32(...)",
            )
        return fmt

    def _integer(self, node: Node, scope: Scope, width: int) -> Ids:
        """Return integers modulo ``2**width``."""
        if self.kinds.is_concrete(node) and (found := self._index(node, scope, width)) is not None:
            return found
        match node:
            case Element() | Name():
                return self.make.resized(self._leaf(node, scope), width)
            case Negative():
                return self.make.negative(self._integer(node.operand, scope, width), width)
            case Binary() if node.operator in ON_BITS:
                return self._on_bits(node, scope, width)
            case Binary():
                left, right = (self._integer(operand, scope, width) for operand in node.operands)
                if node.operator == "*":
                    return self.make.ring(width, [left, right])
                if node.operator == "-":
                    return self.make.negative(right, width, [left])
                return self.make.ring(width, [], [left, right])
            case Sum():
                return self._integer_sum(node, scope, width)
            case Choice():
                fmt = operations.unsigned(width)
                return self._chosen(
                    node, scope, lambda each, one: Value(self._integer(each, one, width), fmt)
                ).terms
            case Extremum():
                return self._integer_extremum(node, scope, width)
            case ReducedExtremum():
                fmt = self._word(node, range_of(self.space, node, scope))
                inside, axes = self.space.summed(node, scope)
                each = Value(self._integer(node.body, inside, fmt.bits), fmt)
                return self.make.resized(self.make.extremum(node.which, each, axes), width)
            case Cast():
                return self._integer_cast(node, scope, width)
        raise AssertionError(node)

    def _on_bits(self, node: Binary, scope: Scope, width: int) -> Ids:
        """Return integers that are shifted, or of which some of the lowest bits are taken."""
        by = given_side(self.space, node, scope)
        if node.operator == "<<":
            powers = self.make.integers(1 << by, width)
            return self.make.ring(width, [self._integer(node.left, scope, width), powers])
        fmt = self._word(node.left, range_of(self.space, node.left, scope))
        words, by = np.broadcast_arrays(self._integer(node.left, scope, fmt.bits), by)
        found = np.empty(words.shape, dtype=np.int32)
        compute = self._masked if node.operator in ("%", "&") else self._shifted
        for number in np.unique(by).tolist():
            found[by == number] = compute(words[by == number], number, fmt)
        return self.make.resized(Value(found, fmt), width)

    def _shifted(self, words: Ids, amount: int, fmt: IntegerFormat) -> Ids:
        """Return words (n,) of a format moved down; a signed one keeps its sign."""
        if amount >= fmt.bits and not fmt.signed:
            return self.make.integers(np.zeros(len(words), dtype=np.int64), fmt.bits)
        low = min(amount, fmt.bits - 1)
        kept = bit_slices.extract(self.store, words, low, fmt.bits - low)
        extend = bit_slices.sign_extend if fmt.signed else bit_slices.zero_extend
        return extend(self.store, kept, fmt.bits)

    def _masked(self, words: Ids, mask: int, fmt: IntegerFormat) -> Ids:
        """Return the bits of words (n,) that a mask has, which is no more than they hold."""
        given = self.store.constants(mask & ((1 << fmt.bits) - 1), fmt.bits)
        return bit_slices.bitwise(self.store, A & B, words, given, words)

    def _integer_extremum(self, node: Extremum, scope: Scope, width: int) -> Ids:
        left, right = (range_of(self.space, operand, scope) for operand in node.operands)
        fmt = self._word(node, left.union(right))
        given = [self._integer(operand, scope, fmt.bits) for operand in node.operands]
        found = apply(self.store, operations.extremum(fmt, node.which), *given)
        return self.make.resized(Value(found, fmt), width)

    def _integer_cast(self, node: Cast, scope: Scope, width: int) -> Ids:
        fmt = node.format
        assert isinstance(fmt, IntegerFormat)
        if self.kinds.is_real(node.operand):
            rounding = Rounding.NEAREST_EVEN if node.nearest else Rounding.TOWARD_ZERO
            return self.make.resized(
                self.make.to_integers(self._real(node.operand, scope), fmt, rounding), width
            )
        if width <= fmt.bits or range_of(self.space, node.operand, scope).within(fmt):
            return self._integer(node.operand, scope, width)
        return self.make.resized(Value(self._integer(node.operand, scope, fmt.bits), fmt), width)

    def _integer_sum(self, node: Sum, scope: Scope, width: int) -> Ids:
        inside, axes = self.space.summed(node, scope)
        if 0 in axes.values():
            return self.make.integers(0, width)
        word = operations.signed(32 if width <= 32 else 64)
        each = [self._integer_factor(factor, inside, word) for factor in factors(node.body)]
        left, right = grouped(each, axes, lambda x, y: self.make.integer_product(x, y, word.bits))
        one = Value(self.make.integers(1, 1), operations.unsigned(1))
        zero = Value(self.make.integers(0, word.bits), word)
        how = Accumulation("exact", prod(axes.values()))
        return self.make.resized(self.make.dot(word, left, right or one, zero, axes, how), width)

    def _integer_factor(self, node: Node, scope: Scope, word: IntegerFormat) -> Value:
        """Return a factor in the narrowest format that holds it, else modulo the sum's own width."""
        if isinstance(node, Element | Name) and not self.kinds.is_concrete(node):
            return self._leaf(node, scope)
        linear = all(isinstance(part, Binary | Negative | Element | Name | Number) for part in walk(node))
        known, symbolic = self._is_known(node), self.kinds.is_concrete(node)
        narrows = known or (linear and not symbolic)
        fmt = range_of(self.space, node, scope).narrowest() if narrows else word
        fmt = fmt if fmt.bits <= word.bits else word
        return Value(self._integer(node, scope, fmt.bits), fmt)

    # -- real numbers
    def _real(self, node: Node, scope: Scope) -> Value:
        """Return numbers as real ones, in formats that need not be the working one."""
        if isinstance(node, Number):
            return self._rounded([node.value], ())
        if self._is_known(node):
            return self.make.reals(self.space.numbers(node, scope))
        if not self.kinds.is_real(node):
            return self.make.from_integers(self._exact(node, scope), self.make.working)
        if isinstance(node, Infinite):
            return self.make.reals(np.inf)
        if isinstance(node, Element | Name):
            return self._leaf(node, scope)
        return self._operated(node, scope)

    def _operated(self, node: Node, scope: Scope) -> Value:
        """Return real numbers that are made of others."""
        known = len(self.deviations)
        found = self._computed(node, scope)
        if len(self.deviations) > known and isinstance(node, Function | Cast | Lookup):
            self.deviations.append(np.inf)
        return found

    def _computed(self, node: Node, scope: Scope) -> Value:
        match node:
            case Negative():
                return self.make.negated(self._real(node.operand, scope))
            case Binary():
                return self._binary(node, scope)
            case Sum():
                return self._sum(node, scope, self.make.reals(0.0))
            case Choice():
                return self._chosen(node, scope, self._real)
            case Extremum():
                left, right = self.make.alike(*(self._real(operand, scope) for operand in node.operands))
                operation = operations.extremum(left.format, node.which)
                return Value(apply(self.store, operation, left.terms, right.terms), left.format)
            case ReducedProduct():
                inside, axes = self.space.summed(node, scope)
                return self.make.products(self._real(node.body, inside), axes)
            case ReducedExtremum():
                inside, axes = self.space.summed(node, scope)
                return self.make.extremum(node.which, self._real(node.body, inside), axes)
            case Cast():
                assert isinstance(node.format, FloatFormat)
                return self._in_format(node.operand, scope, node.format)
            case Lookup():
                table = [self._real(each, scope) for each in self._reached(node, scope)]
                return self.make.looked_up(self._integer(node.entry, scope, 8), table)
            case Function(name="fma"):
                x, y, z = (self._real(argument, scope) for argument in node.arguments)
                return self.make.fused(self.make.working, [(x, y)], [z])
            case Function():
                return self.make.function(FUNCTIONS[node.name], self._real(node.arguments[0], scope))
        raise AssertionError(node)

    def _reached(self, node: Lookup, scope: Scope) -> tuple[Node, ...]:
        """Return what a table has for the values that an integer may have, which must be in it."""
        real, last = self.kinds.is_real(node.entry), len(node.table) - 1
        taken = Interval(0, 0) if real else range_of(self.space, node.entry, scope)
        if real or taken.low < 0 or taken.high > last:
            given = "a real number" if real else f"from {taken.low} to {taken.high}"
            raise self.space.source.error(
                node.at, f"a table of {last + 1} values takes an index from 0 to {last}, but this is {given}"
            )
        return node.table[: taken.high + 1]

    def _binary(self, node: Binary, scope: Scope) -> Value:
        if node.operator == "+" and (addition := self._sum_and_addend(node)) is not None:
            total, addend = addition
            return self._sum(total, scope, self._real(addend, scope))
        left = self._real(node.left, scope)
        if node.operator == "/" and (isinstance(node.right, Number) or self._is_known(node.right)):
            return self._by_constants(left, node.right, scope)
        known = len(self.deviations)
        right = self._real(node.right, scope)
        if node.operator == "/":
            if len(self.deviations) > known:
                self.deviations.append(np.inf)
            return self.make.quotient(left, right)
        if node.operator == "*":
            return self.make.product(left, right)
        right = self.make.negated(right) if node.operator == "-" else right
        return self.make.fused(self.make.working, addends=[left, right])

    def _sum_and_addend(self, node: Binary) -> tuple[Sum, Node] | None:
        """Return which side is a sum over indices that begins with the other; in order only ``x + sum``."""
        sides = [(node.right, node.left)]
        if not self.sequential:
            sides.append((node.left, node.right))
        for total, addend in sides:
            if isinstance(total, Sum) and self.kinds.is_real(total):
                return total, addend
        return None

    def _by_constants(self, left: Value, node: Node, scope: Scope) -> Value:
        """Return quotients by a literal, or by sizes and indices."""
        divisors = self.space.divisors(node, scope)
        if self._exact_quotients and (found := self.make.divided(left, divisors)) is not None:
            return found
        reciprocals = [1 / Fraction(each) for each in divisors.reshape(-1)]
        return self.make.product(left, self._rounded(reciprocals, divisors.shape))

    def _rounded(self, exact: Sequence[Fraction], shape: tuple[int, ...]) -> Value:
        """Return exact numbers as the working format has them, and note how far they are off."""
        numbers = np.array([float(fraction) for fraction in exact])
        fmt = self.make.working
        with np.errstate(over="ignore"):
            words = encode(numbers, fmt, Rounding.NEAREST_EVEN)
        rounded = decode(words, fmt)
        off = [deviation(one, float(other)) for one, other in zip(exact, rounded, strict=True)]
        if any(off):
            if fmt == F32:
                inexact = rounded[np.isfinite(rounded) & (np.array(off) != 0)]
                self.store.rounded_literals.update(map(Fraction, inexact.tolist()))
            self.deviations.append(max(off))
            self.rounded |= {one: part for one, part in zip(exact, off, strict=True) if part}
        return self.make.reals(numbers.reshape(shape))

    def _sum(self, node: Sum, scope: Scope, start: Value) -> Value:
        inside, axes = self.space.summed(node, scope)
        if 0 in axes.values():
            return start
        each = [self._real(factor, inside) for factor in factors(node.body)]
        left, right = grouped(each, axes, self.make.product)
        if self.sequential:
            return self.make.chain(start, left, right, axes)
        how = Accumulation(ORDER, prod(axes.values()))
        return self.make.dot(self.make.working, left, right or self.make.reals(1.0), start, axes, how)
