"""Names for value tables of one small element, by a format that gives the table: ``u4(B[32,0])``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import decode
from ...spec.formats import F64, FORMATS, FloatFormat, Format, IntegerFormat
from ..terms.evaluation import integers
from ..terms.value_tables import LARGEST

_SHOWN = 4
"""Numbers of a table that is of no format."""

Reals = NDArray[np.float64]


def table_name(values: bytes, fmt: Format, natural: Format, element: str) -> str:
    """Spell a function of one element that is known by its values.

    Parameters
    ----------
    values : bytes
        At all numbers of the element, as `value_tables.Table` holds them.
    fmt : Format
        In which they are encoded.
    natural : Format
        Of the element.
    element : str
        The element: ``B[32,0]``.

    Returns
    -------
    str
        Its bits read in another format, perhaps times a number, or else the first values.
    """
    if fmt != F64:
        numbers: Sequence[object] = [hex(int(each)) for each in np.frombuffer(values, dtype=np.uint64)]
        return _lookup(element, numbers)
    found = np.frombuffer(values, dtype=np.float64)
    for name, read in _readings(natural):
        if len(read) == len(found) and (factor := _ratio(found, read)) is not None:
            return f"{name}({element})" if factor == 1 else f"{factor:g}*{name}({element})"
    return _lookup(element, [f"{each:g}" for each in found])


def _lookup(element: str, numbers: Sequence[object]) -> str:
    more = ", …" if len(numbers) > _SHOWN else ""
    return f"lookup({element}, {', '.join(map(str, numbers[:_SHOWN]))}{more})"


@cache
def _readings(natural: Format) -> tuple[tuple[str, Reals], ...]:
    """Return what the numbers of a format are in the others of as many bits."""
    if natural.bits > LARGEST:
        return ()
    encodings = np.arange(1 << natural.bits, dtype=np.uint64)
    if isinstance(natural, FloatFormat):
        encodings = encodings[np.isfinite(_numbers(encodings, natural))]
    others = [each for each in FORMATS.values() if each.bits == natural.bits and each != natural]
    return tuple((other.name, _numbers(encodings, other)) for other in others)


def _numbers(encodings: NDArray[np.uint64], fmt: Format) -> Reals:
    if isinstance(fmt, FloatFormat):
        return np.asarray(decode(encodings.astype(fmt.storage), fmt), dtype=np.float64)
    assert isinstance(fmt, IntegerFormat)
    return integers(encodings, fmt).astype(np.float64)


def _ratio(numbers: Reals, read: Reals) -> float | None:
    """Return the number by which numbers are multiples of others; None if they are not."""
    places = np.flatnonzero(np.isfinite(read) & (read != 0))
    if not len(places):
        return None
    factor = float(numbers[places[0]] / read[places[0]])
    with np.errstate(all="ignore"):
        alike = np.array_equal(numbers, read * factor, equal_nan=True)
    return factor if alike and np.isfinite(factor) and factor else None
