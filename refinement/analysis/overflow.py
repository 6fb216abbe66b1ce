"""Roundings that may overflow, or flush all numbers to 0, by known intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...spec.formats import FloatFormat, as_float
from ..terms import operations
from ..terms.domains import Reached
from ..terms.interning import Ids
from ..terms.store import Operation, TermStore
from ..terms.traversal import by_operation, within
from .integer_intervals import Magnitudes
from .quantisation import quantises, widens
from .real_ranges import RealRanges, is_bounded, overflow_from

_ROUNDING = (operations.FUSED, operations.CONVERT, operations.DOT, operations.SCALED_DOT)


@dataclass(frozen=True)
class Overflow:
    """Roundings of some terms that are not shown free of overflow.

    Attributes
    ----------
    unknown : frozenset of FloatFormat
        Formats rounded to where nothing is known of what is rounded.
    possible : array
        Terms whose range is known, and goes beyond their format.
    lost : array
        Terms whose range is known, and below the normal numbers of their format: all of it underflows.
    """

    unknown: frozenset[FloatFormat]
    possible: Ids
    lost: Ids

    @property
    def failing(self) -> Ids:
        """The terms that are `possible`, or `lost`."""
        return np.union1d(self.possible, self.lost).astype(np.int32)


class Overflows:
    """Finds the roundings in a store that may overflow.

    Attributes
    ----------
    ranges : RealRanges
        Of the terms.
    """

    def __init__(self, store: TermStore, magnitudes: Magnitudes) -> None:
        self.store = store
        self.ranges = RealRanges(store, magnitudes)

    def has_ranges(self) -> bool:
        """Tell whether there is anything in the store whose range is known."""
        return bool(self.store.ends) or any(is_bounded(operation) for operation in self.store.operations)

    def of(self, terms: Ids) -> Overflow:
        """Return the roundings of terms, and of what they are made of, that may overflow."""
        self.ranges.fill(terms)
        unknown: set[FloatFormat] = set()
        possible, lost = ([np.empty(0, dtype=np.int32)] for _ in range(2))
        for operation, members in by_operation(self.store, within(self.store, terms)):
            if not _rounds(operation):
                continue
            fmt = as_float(operation.result)
            ends = np.abs(self.ranges.exact[members])
            lost.append(members[(ends.max(-1) > 0) & (ends.max(-1) < 2.0**fmt.minimum_exponent)])
            beyond = (np.isfinite(ends) & (ends >= overflow_from(fmt))).any(-1)
            if (~np.isfinite(ends).all(-1) & ~beyond).any():
                unknown.add(fmt)
            possible.append(members[beyond])
        return Overflow(frozenset(unknown), *(np.sort(np.concatenate(each)) for each in (possible, lost)))

    def described(self, rounding: int) -> str:
        """Say how far a rounding goes that overflows for some numbers, or underflows for all."""
        fmt = as_float(self.store.operation(rounding).result)
        least, greatest = self.ranges.exact[rounding]
        numbers = f"a value from {least:.6g} to {greatest:.6g} is rounded to {fmt}"
        if max(abs(least), abs(greatest)) < _underflow_below(fmt):
            return f"{numbers}, and underflows to 0"
        if max(abs(least), abs(greatest)) < 2.0**fmt.minimum_exponent:
            return f"{numbers}, whose least normal number is {2.0**fmt.minimum_exponent:.6g}"
        return f"{numbers}, which overflows from {overflow_from(fmt):.6g} on"

    def within(self, terms: Ids, roundings: Ids) -> Ids:
        """Return one of some roundings that each term (n,) is made of, `NONE` where there is none."""
        return Reached(self.store, roundings).values(np.asarray(terms))


def _underflow_below(fmt: FloatFormat) -> float:
    """Return the magnitude below which rounding to nearest makes 0."""
    return float(2.0 ** (fmt.minimum_exponent - fmt.fraction_bits - 1))


def _rounds(operation: Operation) -> bool:
    if operation.name not in _ROUNDING or not isinstance(operation.result, FloatFormat):
        return False
    return not widens(operation) and not quantises(operation)
