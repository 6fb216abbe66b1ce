"""Inputs that `[requires]` makes one of two numbers, as choices between these: masks of 0 and 1.

``(1 - m) * -1e9`` is then ``m == 1 ? 0 : -1e9``, and ``m * x`` is ``m == 1 ? x : 0``. Zeros of both signs are
one number, so that floats are replaced where they are read as such, and not where their bits are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import decode, encode
from ...spec.formats import F64, FloatFormat, Format, IntegerFormat
from ...spec.rounding import Rounding
from ..terms import operations
from ..terms.bit_slices import bitwise
from ..terms.choices import chosen
from ..terms.domains import Rewriting
from ..terms.evaluation import apply
from ..terms.interning import Ids
from ..terms.operations import Sum
from ..terms.store import CONSTANT, INPUT, Operation
from ..terms.traversal import by_operation
from ..terms.truth_tables import A

_FOLDED = (
    operations.FUSED,
    operations.RING,
    operations.CONVERT,
    operations.EXTEND,
    operations.NEGATE,
    operations.EXTREMUM,
    operations.COMPARE,
)
"""Operations that are computed for both numbers."""

_EXACT = 2.0**53


class TwoValuedInputs(Rewriting):
    """Replaces inputs that are one of two numbers by choices, and what is computed of them alone."""

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return terms of one operation whose arguments are replaced."""
        count = len(operation.operands)
        numbers = [self._numbers(*each) for each in zip(given, operation.operands, strict=False)]
        found = np.array(super().applied(operation, terms, numbers + given[count:]))
        if operation.name not in _FOLDED or len(given) != count:
            return found
        conditions, sides = self._sides(numbers)
        known = conditions >= 0
        if known.any():
            made = (apply(self.store, operation, *(one[known] for one in side)) for side in sides)
            found[known] = self._chosen(conditions[known], *made)
        if _adds_product(operation) and (~known).any():
            found = self._with_product(operation, numbers, found)
        return found

    def _numbers(self, terms: Ids, fmt: Format) -> Ids:
        """Return terms (n,) that are read in a format, inputs of two values as choices."""
        if not self.store.are(INPUT, terms).any():
            return terms
        found = terms.copy()
        for operation, members in by_operation(self.store, np.unique(terms)):
            ends = self.store.ends.get(str(operation.attribute)) if operation.name == INPUT else None
            words = isinstance(operation.result, IntegerFormat) and isinstance(fmt, IntegerFormat)
            whole = words and fmt.bits == operation.result.bits
            if ends is None or ends.format != operation.result or not (fmt == ends.format or whole):
                continue
            places = self.store.arguments(members)[:, 0]
            low, high = ends.low[places], ends.high[places]
            two = ends.only[places]
            if isinstance(ends.format, IntegerFormat):
                two = two | (high == low + 1)
            two &= (low < high) & (np.abs(low) < _EXACT) & (np.abs(high) < _EXACT)
            if not two.any():
                continue
            least, greatest = (self._constants(each[two], ends.format) for each in (low, high))
            equal = self.store.apply(operations.compare(ends.format, "eq"), members[two], greatest)
            made = chosen(self.store, equal, greatest, least)
            some = np.flatnonzero(np.isin(terms, members[two]))
            found[some] = made[np.searchsorted(members[two], terms[some])]
        return found

    def _constants(self, values: NDArray[np.float64], fmt: Format) -> Ids:
        if isinstance(fmt, FloatFormat):
            words = encode(values, fmt, Rounding.NEAREST_EVEN).astype(np.uint64)
        else:
            words = values.astype(np.int64).astype(np.uint64) & np.uint64((1 << fmt.bits) - 1)
        return self.store.constants(words, fmt.bits)

    def _sides(self, given: list[Ids]) -> tuple[Ids, tuple[list[Ids], list[Ids]]]:
        """Return the one condition by which constants are chosen, -1 where there is none, and the sides."""
        conditions = np.full(len(given[0]), -1, dtype=np.int32)
        valid, sides = np.ones(len(conditions), dtype=bool), (list[Ids](), list[Ids]())
        for each in given:
            arguments = self.store.arguments(each)
            constant = self.store.are(CONSTANT, each)
            choice = self.store.are(operations.SELECT, each)
            if choice.any():
                both = self.store.are(CONSTANT, np.where(choice[:, None], arguments[:, 1:3], each[:, None]))
                choice &= both.all(axis=1)
            valid &= constant | choice & ((conditions < 0) | (conditions == arguments[:, 0]))
            conditions = np.where(choice, arguments[:, 0], conditions)
            for column, side in enumerate(sides, 1):
                side.append(np.where(choice, arguments[:, column], each))
        return np.where(valid, conditions, -1).astype(np.int32), sides

    def _chosen(self, conditions: Ids, then: Ids, otherwise: Ids) -> Ids:
        """Return choices by conditions (n,), bits that are chosen as the conditions or their opposites."""
        found = np.array(chosen(self.store, conditions, then, otherwise))
        if int(self.store.widths(then[:1])[0]) == 1:
            open_ = then != otherwise
            holds = self.store.constant_values(then) != 0
            opposites = bitwise(self.store, 0xFF ^ A, conditions, conditions, conditions)
            found = np.where(open_, np.where(holds, conditions, opposites), found)
        return found

    def _with_product(self, operation: Operation, given: list[Ids], terms: Ids) -> Ids:
        """Return sums of a product and an addend (n,), the product chosen where no side of it is rounded."""
        left, right, addend = operation.operands
        fmt = operation.result
        assert isinstance(fmt, FloatFormat) and isinstance(addend, FloatFormat)
        assert isinstance(left, FloatFormat) and isinstance(right, FloatFormat)
        conditions, sides = self._sides(given[:2])
        known = (conditions >= 0) & (terms >= 0)
        product, found = operations.fused(fmt, ((left, right),)), terms.copy()
        made = []
        for one, other in sides:
            exact = self._values(one, left) * self._values(other, right)
            term = apply(self.store, product, one, other)
            made.append(term)
            known &= self._values(term, fmt) == exact
        if known.any():
            choices = chosen(self.store, conditions[known], *(each[known] for each in made))
            total = operations.fused(fmt, (), (fmt, addend))
            found[known] = apply(self.store, total, choices, given[2][known])
        return found

    def _values(self, terms: Ids, fmt: FloatFormat) -> NDArray[np.float64]:
        """Return the numbers of constants (n,); NaN of other terms."""
        constant = self.store.are(CONSTANT, terms)
        words = np.where(constant, self.store.constant_values(terms), 0)
        return np.where(constant, decode(words.astype(fmt.storage), fmt), np.nan)


def _adds_product(operation: Operation) -> bool:
    """Tell whether an operation is one product and one addend, of formats whose products f64 has."""
    how = operation.attribute
    if operation.name != operations.FUSED or not isinstance(how, Sum):
        return False
    plain = how == Sum(1, 1) and isinstance(operation.result, FloatFormat)
    return plain and F64 not in operation.operands
