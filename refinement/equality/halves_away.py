"""Rounding to the nearest integer, halves away from zero, in one form: ``trunc(x + where(x < 0, -h, h))``.

Kernels write ``roundf(x)``, which is compiled to ``trunc(x + copysign(h, x))``, choose between ``x + h`` and
``x - h``, or between ``floor(x + h)`` and ``ceil(x - h)``. At 0 both choices are 0, whatever h below 1 is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import decode
from ...spec.formats import FloatFormat, IntegerFormat
from ...spec.rounding import Rounding
from ..terms import operations
from ..terms.domains import NONE, Rewriting
from ..terms.interning import Ids
from ..terms.operations import Sum
from ..terms.slices import fields
from ..terms.store import CONCATENATION, CONSTANT, Operation
from ..terms.traversal import by_operation

_BELOW, _ABOVE = ("lt", "le"), ("gt", "ge")
"""Relations to 0 that hold of negative numbers, and of positive ones; of 0 either may."""


class HalvesAway(Rewriting):
    """Replaces roundings with halves away from zero, however they are written.

    Parameters
    ----------
    store : TermStore
        The terms.
    """

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return terms of one operation whose arguments are replaced."""
        found = super().applied(operation, terms, given)
        fmt = operation.operands[0] if operation.operands else None
        if operation.name == operations.SELECT:
            return self._chosen(found)
        if operation.name == operations.FUNCTION and operation.attribute == "trunc":
            return self._truncated(found)
        how = operation.attribute
        to_integers = isinstance(operation.result, IntegerFormat) and isinstance(fmt, FloatFormat)
        if operation.name == operations.CONVERT and to_integers and isinstance(how, tuple):
            return self._converted(operation, found) if how[0] is Rounding.TOWARD_ZERO else found
        return found

    def _truncated(self, terms: Ids) -> Ids:
        """Return truncations of ``x ± h`` in one form."""
        sums = self.store.arguments(terms)[:, 0]
        return self._with_sums(terms, self._in_one_form(sums))

    def _converted(self, operation: Operation, terms: Ids) -> Ids:
        """Return conversions towards zero of what is truncated, or is to be, without the truncation."""
        inner = self.store.arguments(terms)[:, 0].copy()
        for made, members in by_operation(self.store, np.unique(inner)):
            if made.name == operations.FUNCTION and made.attribute == "trunc":
                places = np.isin(inner, members)
                inner[places] = self.store.arguments(inner[places])[:, 0]
        sums = self._in_one_form(inner)
        inner = np.where(sums != NONE, sums, inner)
        return np.where(inner != self.store.arguments(terms)[:, 0], self.store.apply(operation, inner), terms)

    def _with_sums(self, terms: Ids, sums: Ids) -> Ids:
        found = terms.copy()
        some = sums != NONE
        if some.any():
            found[some] = self.store.apply(self.store.operation(int(terms[some][0])), sums[some])
        return found

    def _in_one_form(self, sums: Ids) -> Ids:
        """Return sums ``x + copysign(h, x)`` as ``x + where(x < 0, -h, h)``; `NONE` of other terms."""
        found = np.full(len(sums), NONE, dtype=np.int32)
        for operation, members in by_operation(self.store, np.unique(sums)):
            fmt = operation.result
            addends = self._addends(operation, members)
            if addends is None or not isinstance(fmt, FloatFormat):
                continue
            for number, half in (addends, addends[::-1]):
                sizes = self._signed_halves(half, number, fmt)
                for at in np.flatnonzero(~np.isnan(sizes)).tolist():
                    found[sums == members[at]] = self._sum(int(number[at]), float(sizes[at]), fmt)
        return found

    def _sum(self, number: int, half: float, fmt: FloatFormat) -> int:
        store = self.store
        zero, above, below = (self._constant(each, fmt) for each in (0.0, half, -half))
        one = np.array([number], dtype=np.int32)
        negative = store.apply(operations.compare(fmt, "lt"), one, zero)
        chosen = store.apply(operations.select(fmt.bits), negative, below, above)
        return int(store.apply(operations.fused(fmt, (), (fmt, fmt)), one, chosen)[0])

    def _constant(self, number: float, fmt: FloatFormat) -> Ids:
        word = (
            int(np.float64(number).view(np.uint64))
            if fmt.bits == 64
            else int(np.float32(number).view(np.uint32))
        )
        return self.store.constants(np.array([word], dtype=np.uint64), fmt.bits)

    def _signed_halves(self, halves: Ids, numbers: Ids, fmt: FloatFormat) -> NDArray[np.float64]:
        """Return the size (n,) of terms that are a constant below 1 with the sign of a number; else NaN."""
        found = np.full(len(halves), np.nan)
        if fmt.bits not in (32, 64):
            return found
        for operation, members in by_operation(self.store, np.unique(halves)):
            places = np.flatnonzero(np.isin(halves, members))
            if operation.name == CONCATENATION:
                parts = self.store.elements(self.store.arguments(halves[places])[:, 0])
                own = fields(operation)
                if len(own) != 2 or not own[0].constant or own[1].constant or own[1].repeats:
                    continue
                if own[0].width != fmt.bits - 1 or own[1].low != fmt.bits - 1 or own[1].width != 1:
                    continue
                sizes = self._numbers(parts[:, 0], fmt)
                found[places] = np.where(parts[:, 1] == numbers[places], sizes, np.nan)
            elif operation.name == operations.SELECT:
                arguments = self.store.arguments(halves[places])
                signs = self._signs(arguments[:, 0], numbers[places], fmt)
                then, otherwise = (self._numbers(arguments[:, k], fmt) for k in (1, 2))
                above = np.where(signs > 0, then, otherwise)
                opposite = (signs != 0) & (then == -otherwise)
                found[places] = np.where(opposite, above, np.nan)
        with np.errstate(invalid="ignore"):
            return np.where((found > 0) & (found < 1), found, np.nan)

    def _numbers(self, terms: Ids, fmt: FloatFormat) -> NDArray[np.float64]:
        """Return the numbers that terms (n,) are, NaN of what is no constant."""
        words = self.store.constant_values(terms)
        numbers = np.asarray(decode(words.astype(fmt.storage), fmt), dtype=np.float64)
        return np.where(self.store.are(CONSTANT, terms), numbers, np.nan)

    def _signs(self, conditions: Ids, numbers: Ids, fmt: FloatFormat) -> NDArray[np.int64]:
        """Return 1 where conditions hold of positive numbers (n,), -1 where of negative ones; 0 of others."""
        found = np.zeros(len(conditions), dtype=np.int64)
        for operation, members in by_operation(self.store, np.unique(conditions)):
            if operation.name != operations.COMPARE or operation.operands[0] != fmt:
                continue
            relation = str(operation.attribute).removesuffix("u")
            sign = 1 if relation in _ABOVE else -1 if relation in _BELOW else 0
            places = np.flatnonzero(np.isin(conditions, members))
            left, right = self.store.arguments(conditions[places])[:, :2].T
            found[places[(left == numbers[places]) & (self._numbers(right, fmt) == 0)]] = sign
            found[places[(right == numbers[places]) & (self._numbers(left, fmt) == 0)]] = -sign
        return found

    def _chosen(self, choices: Ids) -> Ids:
        """Return choices between ``floor(x + h)`` and ``ceil(x - h)`` by the sign of x as truncations."""
        found = choices.copy()
        conditions, then, otherwise = self.store.arguments(choices)[:, :3].T
        for above, below, sign in ((then, otherwise, 1), (otherwise, then, -1)):
            for at in range(len(choices)):
                upper, lower = self._rounded(int(above[at]), "floor"), self._rounded(int(below[at]), "ceil")
                if upper is None or lower is None or upper[:2] != lower[:2] or upper[2] != -lower[2]:
                    continue
                number, fmt, half = upper
                if not 0 < half < 1:
                    continue
                pair = np.array([number], dtype=np.int32)
                if self._signs(conditions[at : at + 1], pair, fmt)[0] == sign:
                    label = operations.function("trunc", fmt, fmt)
                    found[at] = self.store.apply(label, np.array([self._sum(number, half, fmt)]))[0]
        return found

    def _rounded(self, term: int, name: str) -> tuple[int, FloatFormat, float] | None:
        """Return number, format and constant of ``floor(x + h)``; None of other terms."""
        operation = self.store.operation(term)
        if operation.name != operations.FUNCTION or operation.attribute != name:
            return None
        inner = self.store.arguments(np.array([term]))[0, :1]
        added, fmt = self.store.operation(int(inner[0])), operation.result
        addends = self._addends(added, inner)
        if addends is None or not isinstance(fmt, FloatFormat) or added.result != fmt:
            return None
        for number, half in (addends, addends[::-1]):
            (size,) = self._numbers(half, fmt).tolist()
            if not np.isnan(size):
                return int(number[0]), fmt, size
        return None

    def _addends(self, operation: Operation, terms: Ids) -> tuple[Ids, Ids] | None:
        """Return what terms (n,) of one operation are the sums of, of which one may be a product."""
        how, fmt = operation.attribute, operation.result
        if operation.name != operations.FUSED or not isinstance(how, Sum) or not isinstance(fmt, FloatFormat):
            return None
        if any(operand != fmt for operand in operation.operands):
            return None
        arguments = self.store.arguments(terms)
        if (how.products, how.addends) == (0, 2):
            return arguments[:, 0], arguments[:, 1]
        if (how.products, how.addends) == (1, 1):
            product = operations.fused(fmt, ((fmt, fmt),))
            return self.store.apply(product, arguments[:, 0], arguments[:, 1]), arguments[:, 2]
        return None


def rounds(operation: Operation) -> bool:
    """Tell whether an operation may be a rounding with halves away from zero."""
    if operation.name == operations.FUNCTION:
        return operation.attribute in ("trunc", "floor")
    return operation.name == operations.CONVERT and isinstance(operation.result, IntegerFormat)
