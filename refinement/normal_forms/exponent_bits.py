"""Powers of two assembled from bits: an integer shifted into a float's exponent field.

Adding a number of about 2^23 rounds a float to an integer, whose bits are then the lowest of the sum's; moved
to the exponent's place they are a power of two. Where ranges show that only numbers of that kind arise, the
float is ``2^(sum - constant)``, where the sum stands for what it was rounded to, not for what it is over the
reals.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

import numpy as np

from ...spec.formats import FloatFormat, Format
from ..analysis.integer_intervals import Intervals
from ..analysis.magic_constants import CoarseSums
from ..analysis.real_ranges import RealRanges
from ..terms import operations
from ..terms.interning import Ids
from ..terms.operations import Sum
from ..terms.slices import Field, fields
from ..terms.store import CONCATENATION, Operation, TermStore
from ..terms.traversal import by_operation

NONE = -1
"""No term."""


class ExponentBits:
    """Finds floats whose bits are assembled as powers of two.

    Parameters
    ----------
    store : TermStore
        The terms.
    ranges : RealRanges
        Of the same terms.
    coarse : CoarseSums
        Of the same terms.
    """

    def __init__(self, store: TermStore, ranges: RealRanges, coarse: CoarseSums) -> None:
        self._store = store
        self._ranges = ranges
        self._coarse = coarse

    def equal(self, terms: Ids, fmt: Format) -> Ids:
        """Return powers of two that terms (n,) of one operation are, read in a format; `NONE` of others."""
        found = np.full(len(terms), NONE, dtype=np.int32)
        operation = self._store.operation(int(terms[0]))
        if operation.name != CONCATENATION or not isinstance(fmt, FloatFormat):
            return found
        place = _place_of_exponent(operation, fmt)
        if place is None:
            return found
        parts = self._store.elements(self._store.arguments(terms)[:, 0])
        others = np.delete(parts, place, axis=1)
        zeros = (self._store.constant_values(others.reshape(-1)).reshape(others.shape) == 0).all(axis=1)
        width = fields(operation)[place].width
        for inner, sums in by_operation(self._store, np.unique(parts[zeros, place])):
            for each in sums.tolist():
                power = self._power(inner, each, width, fmt)
                if power != NONE:
                    found[zeros & (parts[:, place] == each)] = power
        return found

    def _power(self, operation: Operation, total: int, width: int, fmt: FloatFormat) -> int:
        """Return the power of two whose exponent is the lowest bits of a sum."""
        wide = operation.result
        if (
            operation.name != operations.FUSED
            or not isinstance(wide, FloatFormat)
            or width > wide.fraction_bits
        ):
            return NONE
        ends = self._integers(operation, total)
        if ends is None:
            return NONE
        least, greatest = ends
        if least < 1 << wide.fraction_bits or greatest >= 2 << wide.fraction_bits:
            return NONE
        below = least >> width << width
        if least - below < 1 or greatest - below > 2 * fmt.bias:
            return NONE
        if (below + fmt.bias).bit_length() > wide.precision:
            return NONE
        offset = self._store.constants(_encoded(below + fmt.bias, wide), wide.bits)
        minus = self._store.apply(operations.negate(wide), offset)
        rounded = self._coarse.whole(np.array([total], dtype=np.int32), wide)
        exponent = self._store.apply(operations.fused(wide, (), (wide, wide)), rounded, minus)[0]
        return int(self._store.apply(operations.function("ex2", fmt, wide), exponent))

    def _integers(self, operation: Operation, total: int) -> tuple[int, int] | None:
        """Return the least and the greatest integer between which a sum is, whatever its rounding."""
        assert isinstance(operation.attribute, Sum)
        self._ranges.fill(np.array([total], dtype=np.int32))
        given: list[Intervals] = [
            self._ranges.read(np.array([each], dtype=np.int32), fmt)
            for each, fmt in zip(
                self._store.arguments(np.array([total]))[0].tolist(), operation.operands, strict=False
            )
        ]
        if not all(np.isfinite(each).all() for each in given):
            return None
        exact = [tuple(map(Fraction, each[0].tolist())) for each in given]
        pairs = 2 * operation.attribute.products
        ends = list(exact[pairs:])
        for one, other in zip(exact[:pairs:2], exact[1:pairs:2], strict=True):
            corners = [x * y for x in one for y in other]
            ends.append((min(corners), max(corners)))
        return floor(sum(low for low, _ in ends)), ceil(sum(high for _, high in ends))


def _place_of_exponent(operation: Operation, fmt: FloatFormat) -> int | None:
    """Return which field of a word is the exponent of a float whose other bits are constant; None if none."""
    if operation.result.bits != fmt.bits or fmt.padding_bits:
        return None
    low = 0
    found: int | None = None
    for place, field in enumerate(fields(operation)):
        if not field.constant:
            if found is not None or low != fmt.fraction_bits or not _lowest(field):
                return None
            found = place
        low += field.width
    return found


def _lowest(field: Field) -> bool:
    return field.low == 0 and not field.repeats


def _encoded(value: int, fmt: FloatFormat) -> int:
    """Return the encoding of an integer that has a format's precision at most."""
    exponent = value.bit_length() - 1
    fraction = (value - (1 << exponent)) << fmt.fraction_bits >> exponent
    return ((exponent + fmt.bias) << fmt.fraction_bits) | fraction
