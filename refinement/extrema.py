"""Normal forms of least and greatest numbers, whatever the order in which they are taken, and of clamping.

Over the reals ``max`` and ``min`` are associative, commutative and idempotent, and of two limits in the
right order either may be applied first: ``min(max(x, low), high)`` is ``max(low, min(x, high))``.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..spec.formats import F64, FloatFormat, Format
from .interning import Ids
from .operations import signed
from .terms import NORMAL_FORM, Operation, TermStore

MOST = 1024
"""Numbers of which one is the greatest or the least, at most; of more, it depends on the order."""

FIRST_ATOM = 1 << 30
"""From here on, numbers of polynomials are those of single atoms: terms."""


class Extrema:
    """Extrema of polynomials, which are known by their numbers.

    Parameters
    ----------
    store : TermStore
        Where the normal forms are made.
    """

    def __init__(self, store: TermStore) -> None:
        self.store = store
        self._constants: dict[int, Fraction] = {0: Fraction(0)}

    def note(self, numbers: NDArray[np.int32], values: Iterable[Any]) -> None:
        """Note which numbers are those of constants."""
        self._constants.update(zip(numbers.tolist(), map(Fraction, values), strict=True))

    def of(self, which: str, fmt: Format, left: NDArray[np.int32], right: NDArray[np.int32]) -> Ids:
        """Return the ``max`` or ``min`` of polynomials (n,) that are read in one format, by their numbers."""
        label = F64 if isinstance(fmt, FloatFormat) else signed(64)  # widths make no difference
        pairs = np.sort(np.stack([left, right], axis=1), axis=1)
        found: Ids = self._made(which, label, pairs)
        nested = self._are_extrema(pairs).any(axis=1)
        for row in np.flatnonzero(nested):
            found[row] = self._one(which, label, {int(each) for each in pairs[row]})
        return found

    def _made(self, which: str, label: Format, members: NDArray[np.int32]) -> Ids:
        return self.store.apply(
            Operation(NORMAL_FORM, label, attribute=(which,)), self.store.vectors(members)
        )

    def _are_extrema(self, numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
        atoms = numbers >= FIRST_ATOM
        operations = self.store.operation_numbers(np.where(atoms, numbers - FIRST_ATOM, 0))
        known = [_is_extremum(operation) for operation in self.store.operations]
        result: NDArray[np.bool_] = atoms & np.array(known, dtype=bool)[operations]
        return result

    def _one(self, which: str, label: Format, members: set[int]) -> int:
        """Return the extremum of some numbers, of which some may be extrema themselves."""
        flat: set[int] = set()
        for each in members:
            inner = self._members(each, which)
            flat |= {each} if inner is None else inner
        if len(flat) > MOST:
            flat = members
        flat = self._without_idle_limits(which, flat)
        if which == "min" and len(flat) == 2:
            high = next((each for each in flat if each in self._constants), None)
            (other,) = flat - {high} if high is not None else {0}
            among = None if high is None else self._members(other, "max")
            limits = [] if among is None else [each for each in among if each in self._constants]
            if high is not None and among and limits and len(among) > 1:
                (low,) = limits
                if self._constants[low] <= self._constants[high]:
                    return self._clamped(label, low, high, among - {low})
        return int(self._made(which, label, np.array([sorted(flat)], dtype=np.int32))[0])

    def _clamped(self, label: Format, low: int, high: int, among: set[int]) -> int:
        """Return ``max(low, min(high, max(among)))``."""
        (one,) = among if len(among) == 1 else {FIRST_ATOM + self._one("max", label, among)}
        below = self._one("min", label, {high, one})
        return int(self._made("max", label, np.array([sorted({low, FIRST_ATOM + below})], np.int32))[0])

    def _without_idle_limits(self, which: str, members: set[int]) -> set[int]:
        """Return numbers with but one of the constants among them: the greatest, or the least."""
        limits = {each for each in members if each in self._constants}
        if len(limits) < 2:
            return members
        kept = (max if which == "max" else min)(limits, key=self._constants.__getitem__)
        return (members - limits) | {kept}

    def _members(self, number: int, which: str) -> set[int] | None:
        """Return the numbers of which another is the extremum; None if it is none."""
        if number < FIRST_ATOM:
            return None
        operation = self.store.operation(number - FIRST_ATOM)
        if not _is_extremum(operation) or operation.attribute != (which,):
            return None
        vector = self.store.arguments(np.array([number - FIRST_ATOM]))[:, 0]
        return set(self.store.elements(vector)[0].tolist())


def _is_extremum(operation: Operation) -> bool:
    return operation.name == NORMAL_FORM and operation.attribute in (("max",), ("min",))
