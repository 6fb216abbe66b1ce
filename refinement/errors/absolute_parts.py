"""Error parts of many terms at once, with their sums and products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.dot_add_bound import RoundingStep
from ...spec.formats import F64, FloatFormat, as_float
from ..analysis.intervals import Interval
from ..analysis.rounding_depth import Path, unit_of_rounding
from ..analysis.rounding_errors import is_exact, least, scaled
from ..terms import operations
from ..terms.interning import Ids
from ..terms.operations import Accumulation
from ..terms.store import Operation, TermStore

NONE = -1
"""No term."""

ZERO_UNIT, NO_UNIT = 1 << 12, -(1 << 20)
"""The exponents of the unit of 0, and of numbers of which nothing is known."""


@dataclass
class Part:
    """Error bounds of terms (n,).

    Attributes
    ----------
    magnitudes : array
        Terms that are at least the absolute values of the exact ones, for all data; `NONE` where
        not known yet.
    growth : array
        The computed terms are off by at most ``e**growth - 1`` times their magnitudes.
    definite : array
        Where the magnitude is the absolute value of the exact term.
    positive : array
        Where the exact term is never negative.
    low, high : array
        The least and the greatest that the computed terms can be.
    units : array
        Exponents of a power of two that the computed terms are multiples of.
    reasons : array
        Terms that they are made of, and of which no bound is known; `NONE` where there is a bound.
    """

    magnitudes: Ids
    growth: NDArray[np.float64]
    definite: NDArray[np.bool_]
    positive: NDArray[np.bool_]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    units: NDArray[np.int64]
    reasons: Ids

    @staticmethod
    def of_magnitudes(magnitudes: Ids) -> Part:
        """Return terms that have no error, but of which no more is known."""
        count = len(magnitudes)
        return Part(
            magnitudes,
            np.zeros(count),
            np.zeros(count, dtype=bool),
            np.zeros(count, dtype=bool),
            np.full(count, -np.inf),
            np.full(count, np.inf),
            np.full(count, NO_UNIT, dtype=np.int64),
            np.full(count, NONE, dtype=np.int32),
        )

    @staticmethod
    def without(terms: Ids) -> Part:
        """Return terms of which no bound is known, for a reason of their own."""
        found = Part.of_magnitudes(terms.copy())
        found.reasons = terms.copy()
        return found

    @staticmethod
    def of_table(table: NDArray[Any], terms: NDArray[Any]) -> Part:
        """Return what a table of `PARTS` has of terms."""
        return Part(*(table[field.name][terms] for field in fields(Part)))

    def note(self, table: NDArray[Any], terms: NDArray[Any]) -> None:
        """Note what is known of some terms, in a table of all."""
        for field in fields(self):
            table[field.name][terms] = getattr(self, field.name)

    @property
    def powers_of_two(self) -> NDArray[np.bool_]:
        """Which terms are known to be a power of two, or minus that."""
        mantissas, _ = np.frexp(self.low)
        return np.asarray((self.low == self.high) & (np.abs(mantissas) == 0.5) & (self.growth == 0))

    def put(self, places: NDArray[np.intp], part: Part) -> None:
        """Take what is known of others for terms in some places."""
        for field in fields(self):
            getattr(self, field.name)[places] = getattr(part, field.name)

    def at(self, places: NDArray[np.intp]) -> Part:
        """Return the terms in some places."""
        return Part(*(getattr(self, field.name)[places] for field in fields(self)))

    def reshaped(self, shape: tuple[int, ...]) -> Part:
        """Return the same in another shape."""
        return Part(*(getattr(self, field.name).reshape(shape) for field in fields(self)))

    def unbounded(self) -> None:
        """Forget where the terms lie, but for their signs."""
        self.low = np.where(self.positive, 0.0, -np.inf)
        self.high = np.full(len(self.low), np.inf)
        self.units = np.full(len(self.low), NO_UNIT, dtype=np.int64)

    def round(self, fmt: FloatFormat, growth: float, *, exact_if_fits: bool = True) -> None:
        """Round to a format, which changes nothing where it has every multiple of the unit in the range."""
        most = np.maximum(np.abs(self.low), np.abs(self.high))
        fits = is_exact(fmt, most, self.units) & exact_if_fits
        self.growth = np.where(fits, self.growth, self.growth + growth)
        margin = np.where(fits | np.isinf(most), 0.0, least(fmt))
        margin = margin + 2 * np.expm1(growth) * np.where(fits | np.isinf(most), 0.0, most)
        self.low, self.high = self.low - margin, self.high + margin
        self.low = np.where(self.positive, np.maximum(self.low, 0.0), self.low)
        self.units = np.where(fits, self.units, np.maximum(self.units, fmt.quantum))


PARTS = np.dtype(
    [
        *((name, np.int32) for name in ("magnitudes", "reasons")),
        *((name, np.bool_) for name in ("definite", "positive")),
        *((name, np.float64) for name in ("growth", "low", "high")),
        ("units", np.int64),
    ]
)
"""Tables of error bounds."""


def _first(*reasons: Ids) -> Ids:
    found = reasons[0]
    for reason in reasons[1:]:
        found = np.where(found == NONE, reason, found)
    return found


def product(store: TermStore, one: Part, other: Part, same: NDArray[np.bool_]) -> Part:
    """Return products; `same` tells which are squares."""
    multiply = operations.fused(F64, ((F64, F64),))
    found = Part.of_magnitudes(store.apply(multiply, one.magnitudes, other.magnitudes).reshape(-1))
    return _multiplied(found, one, other, same)


def _multiplied(found: Part, one: Part, other: Part, same: NDArray[np.bool_]) -> Part:
    found.growth = one.growth + other.growth
    found.definite = one.definite & other.definite
    found.positive = (one.positive & other.positive) | same
    with np.errstate(invalid="ignore"):
        ends = Interval(one.low, one.high).combined(scaled, Interval(other.low, other.high))
    found.low, found.high = ends
    found.low = np.where(found.positive, np.maximum(found.low, 0.0), found.low)
    found.units = np.clip(one.units + other.units, NO_UNIT, ZERO_UNIT)
    found.reasons = _first(one.reasons, other.reasons)
    return found


def total(store: TermStore, parts: Sequence[Part]) -> Part:
    """Return sums."""
    add = operations.fused(F64, (), (F64,) * len(parts))
    if len(parts) == 1:
        return parts[0]
    found = Part.of_magnitudes(store.apply(add, *(part.magnitudes for part in parts)).reshape(-1))
    nothing = [(part.low == 0) & (part.high == 0) for part in parts]
    alone = np.sum(~np.array(nothing), axis=0) <= 1
    found.growth = np.max(
        [np.where(no, 0.0, each.growth) for each, no in zip(parts, nothing, strict=True)], axis=0
    )
    found.positive = np.logical_and.reduce(
        [each.positive | no for each, no in zip(parts, nothing, strict=True)]
    )
    definite = np.logical_and.reduce([each.definite | no for each, no in zip(parts, nothing, strict=True)])
    found.definite = definite & (found.positive | alone)
    found.low, found.high = (
        np.sum([getattr(part, end) for part in parts], axis=0) for end in ("low", "high")
    )
    found.units = np.min([part.units for part in parts], axis=0)
    found.reasons = _first(*(part.reasons for part in parts))
    return found


def accumulated(
    store: TermStore,
    left: Part,
    right: Part,
    addend: Part,
    growths: tuple[float, float],
    operation: Operation,
    same: NDArray[np.bool_],
) -> Part:
    """Return sums of products of vectors (n, K), and addends, that a matrix unit adds up in some order.

    Parameters
    ----------
    growths : tuple of float
        What products, and addends, undergo.
    operation : Operation
        Of the sums.
    same : array (n, K)
        Which products are squares.
    """
    assert isinstance(operation.attribute, Accumulation)
    shape = operations.dot(F64, F64, F64, F64, Accumulation("magnitudes", operation.attribute.length))
    vectors = [store.vectors(each.magnitudes) for each in (left, right)]
    found = Part.of_magnitudes(store.apply(shape, *vectors, addend.magnitudes).reshape(-1))
    x, y = (each.reshaped((-1,)) for each in (left, right))
    products = _multiplied(Part.of_magnitudes(x.magnitudes), x, y, same.reshape(-1)).reshaped(same.shape)
    nothing = (addend.low == 0) & (addend.high == 0)
    found.growth = np.maximum(
        products.growth.max(axis=1) + growths[0], np.where(nothing, 0.0, addend.growth + growths[1])
    )
    found.positive = products.positive.all(axis=1) & (addend.positive | nothing)
    found.definite = products.definite.all(axis=1) & (addend.definite | nothing) & found.positive
    found.reasons = np.where(addend.reasons == NONE, products.reasons.max(axis=1), addend.reasons)
    fmt = as_float(operation.result)
    found.low = np.where(found.positive, 0.0, found.low)
    found.units[:] = fmt.quantum
    return found


def growth_of(path: Path) -> float:
    """Return ln(1 + u / (1 + u)) for all the roundings on a path, ln(1 + u) for steps of a matrix unit."""

    def part(kind: FloatFormat | RoundingStep) -> float:
        unit = float(unit_of_rounding(kind))
        return unit if isinstance(kind, RoundingStep) else unit / (1 + unit)

    return float(sum(count * np.log1p(part(kind)) for kind, count in path.roundings))
