"""Magic-constant rounding: ``(x + 1.5*2^23) - 1.5*2^23``.

``(x + 12582912) - 12582912`` is x rounded to an integer, whatever it is over the reals. As conversions to
integers do, such a sum stands for itself where its constant is taken away, in products, powers and bits;
where the constant stays, it is a sum that is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import decode
from ...spec.formats import FloatFormat, Format
from ..terms import operations
from ..terms.interning import Ids
from ..terms.operations import Sum
from ..terms.slices import fields
from ..terms.store import CONCATENATION, CONSTANT, NORMAL_FORM, Operation, TermStore
from ..terms.traversal import by_operation

_BEHIND_THE_POINT = 3
"""A coarse sum has at most one in so many of its bits behind the point."""


@dataclass
class _Noted:
    """The constants (n,) of the first n terms of a store as far as they are coarse sums, 0 of others."""

    constants: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    any: bool = False


_NOTED: WeakKeyDictionary[TermStore, _Noted] = WeakKeyDictionary()
"""Terms do not change: what is found of a store once holds for whoever asks again."""


class CoarseSums:
    """Finds magic-constant roundings, and makes each an atom.

    Parameters
    ----------
    store : TermStore
        The terms.
    """

    def __init__(self, store: TermStore) -> None:
        self._store = store
        self._noted = _NOTED.setdefault(store, _Noted())

    def whole(self, terms: Ids, fmt: Format) -> Ids:
        """Return terms (n,) as numbers about which nothing is known but that they are the same each time."""
        return self._store.apply(Operation(NORMAL_FORM, fmt, attribute=("whole",)), terms)

    def kept(self, operation: Operation, terms: Ids) -> NDArray[np.int32]:
        """Return the operands (n, k) of sums, coarse ones as numbers of their own where their constant goes.

        Parameters
        ----------
        operation : Operation
            A sum of products and addends, in a floating-point format.
        terms : array (n,)
            Terms of it.
        """
        arguments: NDArray[np.int32] = self._store.arguments(terms)[:, : len(operation.operands)].copy()
        cancelled = self.cancelled(operation, terms)
        for column in np.flatnonzero(cancelled.any(axis=0)):
            places = np.flatnonzero(cancelled[:, column])
            arguments[places, column] = self._replaced(arguments[places, column], operation.operands[column])
        return arguments

    def cancelled(self, operation: Operation, terms: Ids) -> NDArray[np.bool_]:
        """Tell which operands (n, k) of terms, sums as of `kept`, are coarse, and their constants go."""
        arguments = self._store.arguments(terms)[:, : len(operation.operands)]
        found = np.zeros(arguments.shape, dtype=bool)
        if not self._scan():
            return found
        constants = self._noted.constants[arguments]
        members = np.flatnonzero(constants.any(axis=1))
        if len(members):
            coarse = constants[members] != 0
            numbers = np.where(coarse, constants[members], self._numbers(operation, arguments[members]))
            left, greatest = _added(operation, numbers), _greatest(operation, numbers, coarse)
            found[members] = coarse & ((greatest > 0) & (np.abs(left) <= greatest / 2))[:, None]
        return found

    def are(self, terms: Ids) -> NDArray[np.bool_]:
        """Tell which terms are coarse sums, or the opposites of such."""
        self._scan()
        found: NDArray[np.bool_] = self._noted.constants[terms] != 0
        return found

    def _replaced(self, terms: Ids, fmt: Format) -> Ids:
        """Return coarse sums, or their opposites, as numbers of their own."""
        negated = self._store.are(operations.NEGATE, terms)
        inner = np.where(negated, self._store.arguments(terms)[:, 0], terms)
        found = self.whole(inner, fmt)
        found[negated] = self._store.apply(operations.negate(fmt), found[negated])
        return found

    def _scan(self) -> bool:
        """Note the constants of coarse sums among new terms; tell whether there are any."""
        noted, first = self._noted, len(self._noted.constants)
        if first == len(self._store):
            return noted.any
        new = np.arange(first, len(self._store), dtype=np.int32)
        noted.constants = np.concatenate([noted.constants, np.zeros(len(new))])
        numbers = self._store.operation_numbers(new)
        present = [self._store.operations[each] for each in np.flatnonzero(np.bincount(numbers))]
        for name in (operations.FUSED, operations.NEGATE):  # opposites are made after what they are of
            for operation in present:
                if operation.name == name and isinstance(operation.result, FloatFormat):
                    members = new[numbers == self._store.number(operation)]
                    noted.constants[members] = self._of(operation, members)
        noted.any |= bool(noted.constants[first:].any())
        return noted.any

    def _of(self, operation: Operation, terms: Ids) -> NDArray[np.float64]:
        """Return the constants of terms (n,) that are coarse sums, 0 of others."""
        if operation.name == operations.NEGATE:
            return -self._noted.constants[self._store.arguments(terms)[:, 0]]
        assert isinstance(operation.result, FloatFormat) and isinstance(operation.attribute, Sum)
        if operation.attribute.products + operation.attribute.addends < 2:
            return np.zeros(len(terms))
        arguments = self._store.arguments(terms)[:, : len(operation.operands)]
        numbers = self._numbers(operation, arguments)
        constant = _added(operation, numbers)
        coarse = np.abs(constant) >= 2.0 ** _least_exponent(operation.result)
        coarse &= ~self._store.are(CONSTANT, arguments).all(axis=1)
        members = np.flatnonzero(coarse)
        coarse[members] = ~self._take_away(operation, arguments[members], numbers[members])
        return np.where(coarse, constant, 0.0)

    def _take_away(
        self, operation: Operation, arguments: NDArray[np.int32], numbers: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Tell which sums (n,) themselves take away what bits put beside a number, so that nothing is lost.

        A difference of numbers of which the one is at most twice the other is exact (Sterbenz).
        """
        least, greatest = numbers.copy(), numbers.copy()
        for column, fmt in enumerate(operation.operands):
            data = ~self._store.are(CONSTANT, arguments[:, column])
            ends = self._ends(arguments[data, column], fmt)
            least[data, column], greatest[data, column] = ends.T
        constant = _added(operation, numbers)
        with np.errstate(invalid="ignore"):
            low, high = (_added(operation, each) / -constant for each in (least, greatest))
        return (np.minimum(low, high) >= -0.5) & (np.maximum(low, high) <= 1)

    def _ends(self, terms: Ids, fmt: Format) -> NDArray[np.float64]:
        """Return the numbers (n, 2) between which words with constant bits are; NaN of others."""
        found = np.full((len(terms), 2), np.nan)
        if not isinstance(fmt, FloatFormat):
            return found
        for operation, distinct in by_operation(self._store, np.unique(terms)):
            if operation.name != CONCATENATION:
                continue
            ends = np.zeros((2, len(distinct)), dtype=np.uint64)
            parts = self._store.elements(self._store.arguments(distinct)[:, 0])
            low = 0
            for part, piece in zip(parts.T, fields(operation), strict=True):
                every = np.uint64((1 << piece.width) - 1)
                words = self._store.constant_values(part) >> np.uint64(piece.low) & every
                for side, free in enumerate((np.uint64(0), every)):
                    ends[side] |= (words if piece.constant else free) << np.uint64(low)
                low += piece.width
            numbers = decode(ends.astype(fmt.storage), fmt)
            signs = ends >> np.uint64(fmt.magnitude_bits)
            numbers[:, (signs[0] != signs[1]) | ~np.isfinite(numbers).all(axis=0)] = np.nan
            members = np.flatnonzero(np.isin(terms, distinct))
            found[members] = numbers.T[np.searchsorted(distinct, terms[members])]
        return found

    def _numbers(self, operation: Operation, arguments: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the numbers (n, k) of operands that are finite constants, 0 of others."""
        found = np.zeros(arguments.shape)
        constant = self._store.are(CONSTANT, arguments)
        for column, fmt in enumerate(operation.operands):
            members = np.flatnonzero(constant[:, column])
            if len(members) and isinstance(fmt, FloatFormat):
                words = self._store.constant_values(arguments[members, column])
                found[members, column] = np.nan_to_num(decode(words, fmt), posinf=0.0, neginf=0.0)
        return found


def _least_exponent(fmt: FloatFormat) -> int:
    return fmt.precision - 1 - fmt.precision // _BEHIND_THE_POINT


def _summands(operation: Operation, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the products and addends (n, s) that a sum has of operands (n, k)."""
    assert isinstance(operation.attribute, Sum)
    pairs = 2 * operation.attribute.products
    with np.errstate(over="ignore"):
        return np.concatenate([numbers[:, 0:pairs:2] * numbers[:, 1:pairs:2], numbers[:, pairs:]], axis=1)


def _added(operation: Operation, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(over="ignore", invalid="ignore"):
        found: NDArray[np.float64] = _summands(operation, numbers).sum(axis=1)
    return found


def _greatest(
    operation: Operation, numbers: NDArray[np.float64], chosen: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the greatest magnitudes (n,) of summands with a chosen operand."""
    others = _summands(operation, np.where(chosen, 0.0, 1.0))
    has = others != _summands(operation, np.ones(numbers.shape))
    found: NDArray[np.float64] = np.where(has, np.abs(_summands(operation, numbers)), 0.0).max(axis=1)
    return found
