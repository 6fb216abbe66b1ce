"""Maxima of numbers: of which numbers a term is known to be none less than any."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import decode
from ...spec.formats import FloatFormat, Format
from ..terms import operations
from ..terms.domains import Contains
from ..terms.interning import Ids
from ..terms.operations import Sum
from ..terms.store import CONSTANT, Operation, TermStore
from .integer_intervals import Magnitudes


class Maxima:
    """The numbers of which terms are the maximum.

    Parameters
    ----------
    store : TermStore
        The terms.
    """

    def __init__(self, store: TermStore) -> None:
        self._store, self._magnitudes = store, Magnitudes(store)
        self._contains = Contains(store, _may_be_maximum)
        self._among: dict[tuple[int, Format], frozenset[int]] = {}

    def are_in(self, terms: Ids) -> NDArray[np.bool_]:
        """Tell which terms (n,) are made of maxima."""
        return self._contains.values(terms)

    def numbers(self, maximum: int, fmt: Format) -> frozenset[int]:
        """Return what no term is less than, read in a format: the terms that it is the maximum of."""
        if (maximum, fmt) not in self._among:
            found, pending = set[int](), [maximum]
            while pending:
                term = pending.pop()
                if term in found:
                    continue
                found.add(term)
                operation, arguments = self.parts(term)
                if operation.name == operations.SELECT:
                    pending += self._compared(arguments, fmt)
                    continue
                if operation.result != fmt or set(operation.operands) != {fmt}:
                    continue
                if _is_maximum(operation):
                    pending += arguments
                elif (addend := self._added_to(operation, arguments)) is not None:
                    pending.append(addend)
            self._among[maximum, fmt] = frozenset(found)
        return self._among[maximum, fmt]

    def dominates(self, maximum: int, number: int, fmt: Format) -> bool:
        """Tell whether a term is never less than a number, or than any that this is chosen from.

        What is chosen where an integer is none of the numbers that it may be matters to nobody.
        """
        numbers, term, told = self.numbers(maximum, fmt), number, dict[int, set[int]]()
        while term not in numbers:
            operation, arguments = self.parts(term)
            if operation.name != operations.SELECT:
                return any(self._are_all(*each) for each in told.items())
            condition, then, term = arguments
            if then not in numbers:
                return False
            compared, sides = self.parts(condition)
            if (
                compared.name == operations.COMPARE
                and compared.attribute == "eq"
                and self._is_constant(sides[1])
            ):
                code = int(self._store.constant_values(np.array(sides[1:]))[0])
                told.setdefault(sides[0], set()).add(code)
        return True

    def _is_constant(self, term: int) -> bool:
        return self._store.operation(term).name == CONSTANT

    def _are_all(self, integer: int, codes: set[int]) -> bool:
        """Tell whether some words are all that an integer may be."""
        width = int(self._store.widths(np.array([integer]))[0])
        low, high = self._magnitudes.intervals(np.array([integer], dtype=np.int32), operations.signed(width))[
            0
        ]
        few = high - low < len(codes)
        return bool(few) and all(each % (1 << width) in codes for each in range(int(low), int(high) + 1))

    def _compared(self, choice: list[int], fmt: Format) -> list[int]:
        """Return the two numbers of which a select chooses the greater, as it compares them; else none."""
        condition, *chosen = choice
        operation, sides = self.parts(condition)
        which = operations.EXTREMES.get(str(operation.attribute).removesuffix("u"))
        if operation.name != operations.COMPARE or operation.operands[0] != fmt or which is None:
            return []
        return sides if sides == (chosen if which == "max" else chosen[::-1]) else []

    def _added_to(self, operation: Operation, arguments: list[int]) -> int | None:
        """Return the number that a sum adds a constant to, which is not negative; else None."""
        how = operation.attribute
        if (
            operation.name != operations.FUSED
            or not isinstance(how, Sum)
            or (how.products, how.addends) != (0, 2)
        ):
            return None
        for constant, other, fmt in (*zip(arguments, arguments[::-1], operation.operands, strict=True),):
            value = self.constant(constant, fmt)
            if value is not None and value >= 0:
                return other
        return None

    def parts(self, term: int) -> tuple[Operation, list[int]]:
        """Return a term's operation and its arguments."""
        operation = self._store.operation(term)
        return operation, self._store.arguments(np.array([term]))[0].tolist()[: len(operation.operands)]

    def constant(self, term: int, fmt: Format) -> float | None:
        """Return what a constant is in a format; None of other terms."""
        if self._store.operation(term).name != CONSTANT or not isinstance(fmt, FloatFormat):
            return None
        return float(decode(self._store.constant_values(np.array([term])).astype(fmt.storage), fmt)[0])


def _may_be_maximum(operation: Operation) -> bool:
    return operation.name == operations.SELECT or _is_maximum(operation)


def _is_maximum(operation: Operation) -> bool:
    how = operation.attribute
    return operation.name == operations.EXTREMUM and isinstance(how, tuple) and how[0] == "max" and not how[2]
