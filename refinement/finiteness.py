"""Terms that are never a finite number, or never known to be one.

Because of a constant that is none: they are no polynomials, A·∞ - A·∞ is not 0. A constant that only bounds
others, as in max(-∞, x), does no harm. What nobody has written may be a NaN, too, of which 0 times is no 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..spec.formats import FloatFormat, Format
from . import operations
from .interning import Ids
from .terms import CONCATENATION, CONSTANT, UNDEFINED, Operation, TermStore
from .traversal import by_operation, fill

ARITHMETIC = (
    operations.FUSED,
    operations.NEGATE,
    operations.CONVERT,
    operations.QUOTIENT,
    operations.DOT,
    operations.SCALED_DOT,
)
"""Operations that make no finite number of one that is none, unless they clamp."""

_UNKNOWN = -1


class Finiteness:
    """Which terms of a store are never finite."""

    def __init__(self, store: TermStore) -> None:
        self.store = store
        self._scanned = 0
        self._any = False
        self._constants = np.empty(0, dtype=np.int32)
        self._known = np.empty(0, dtype=np.int8)

    def never(self, terms: Ids, fmt: Format) -> NDArray[np.bool_]:
        """Tell which terms (n,), read in a format, are never a finite number, or not known to be one."""
        found = self.constant(terms, fmt)
        if self._scan():
            missing = len(self.store) - len(self._known)
            self._known = np.concatenate([self._known, np.full(missing, _UNKNOWN, dtype=np.int8)])
            fill(self.store, terms, self._known, _UNKNOWN, self._depends, self._compute)
            found |= self._known[terms] == 1
        return found

    def constant(self, terms: Ids, fmt: Format) -> NDArray[np.bool_]:
        """Tell which terms are constants that are no finite numbers in a format, or undefined."""
        if not isinstance(fmt, FloatFormat):
            return np.zeros(np.shape(terms), dtype=bool)
        words = self.store.constant_values(terms) >> np.uint64(fmt.padding_bits)
        magnitudes = words & np.uint64((1 << fmt.magnitude_bits) - 1)
        found: NDArray[np.bool_] = (magnitudes > np.uint64(fmt.largest)) & self.store.are(CONSTANT, terms)
        return found | self._undefined(np.asarray(terms))

    def _undefined(self, terms: Ids) -> NDArray[np.bool_]:
        """Tell which terms have bits that nobody has written, or may be chosen to have."""
        found: NDArray[np.bool_] = self.store.are(UNDEFINED, terms)
        if self.store.named(UNDEFINED).any():
            flat = terms.reshape(-1)
            words = np.unique(flat[self.store.are(CONCATENATION, flat)])
            some = [
                members[
                    self.store.are(UNDEFINED, self.store.elements(self.store.arguments(members)[:, 0])).any(
                        -1
                    )
                ]
                for _, members in (by_operation(self.store, words) if len(words) else ())
            ]
            found |= np.isin(terms, np.concatenate([np.zeros(0, dtype=np.int32), *some]))
            chosen = self.store.are(operations.SELECT, terms)
            if chosen.any():
                found[chosen] |= self._undefined(self.store.arguments(terms[chosen])[:, 1:3]).any(axis=-1)
        return found

    def _scan(self) -> bool:
        """Look for a constant of that kind among the operands of new terms."""
        if self._any or self._scanned == len(self.store):
            return self._any
        new = np.arange(self._scanned, len(self.store), dtype=np.int32)
        self._scanned = len(self.store)
        leaves = self.store.are(CONSTANT, new) | self._undefined(new)
        self._constants = np.concatenate([self._constants, new[leaves]])
        numbers = self.store.operation_numbers(new)
        for number in np.flatnonzero(np.bincount(numbers)):
            operation = self.store.operations[number]
            if not _spreads(operation):
                continue
            suspects = {fmt: self._suspects(fmt) for fmt in operation.operands}
            if any(map(len, suspects.values())):
                operands = self._operands(operation, new[numbers == number], together=True)
                self._any |= any(np.isin(suspects[fmt], given).any() for given, fmt in operands)
        return self._any

    def _suspects(self, fmt: Format) -> Ids:
        wide = self._constants[self.store.widths(self._constants) == fmt.bits]
        found: Ids = wide[self.constant(wide, fmt)]
        return found

    def _of_constants(self, operation: Operation, terms: Ids) -> NDArray[np.bool_]:
        found = np.zeros(len(terms), dtype=bool)
        for given, fmt in self._operands(operation, terms):
            found |= self.constant(given, fmt).reshape(len(terms), -1).any(axis=-1)
        return found

    def _operands(
        self, operation: Operation, terms: Ids, *, together: bool = False
    ) -> list[tuple[Ids, Format]]:
        """Return the terms, (n,) or (n, K), of floating-point operands, and how they are read.

        Taken together, those of all terms are in any order, each once.
        """

        def elements(vectors: Ids) -> Ids:
            return self.store.elements(np.unique(vectors) if together else vectors)

        arguments = self.store.arguments(terms)
        used = 1 if operations.divides(operation) else min(3, len(operation.operands))  # x / ∞ is 0
        columns: list[Ids] = [arguments[:, index] for index in range(used)]
        if operation.name in (operations.DOT, operations.SCALED_DOT):
            columns[:2] = [elements(column) for column in columns[:2]]
        if operation.name == operations.SCALED_DOT:
            rest = self.store.elements(columns[2])
            columns[2:] = [rest[:, 0], *(elements(rest[:, column]) for column in (1, 2))]
        pairs = zip(columns, operation.operands[: len(columns)], strict=True)
        return [(given, fmt) for given, fmt in pairs if isinstance(fmt, FloatFormat)]

    def _depends(self, operation: Operation, terms: Ids) -> list[Ids]:
        if not (_spreads(operation) or operation.name == operations.EXTREMUM):
            return []
        return [given.reshape(-1) for given, _ in self._operands(operation, terms, together=True)]

    def _compute(self, operation: Operation, terms: Ids, known: NDArray[Any]) -> Any:
        if _spreads(operation):
            found = self._of_constants(operation, terms)
            for given, _ in self._operands(operation, terms):
                found |= (known[given] == 1).reshape(len(terms), -1).any(axis=-1)
            return found
        if operation.name == operations.EXTREMUM and isinstance(operation.result, FloatFormat):
            pair = self._operands(operation, terms)
            return np.logical_and.reduce([self.constant(x, fmt) | (known[x] == 1) for x, fmt in pair])
        return False


def _spreads(operation: Operation) -> bool:
    if operations.divides(operation):
        return True
    if operation.name not in ARITHMETIC or not isinstance(operation.result, FloatFormat):
        return False
    if operation.name != operations.CONVERT:
        return True
    assert isinstance(operation.attribute, tuple)
    _, saturates, _ = operation.attribute
    return not saturates
