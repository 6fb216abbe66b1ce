"""Documented error bounds of the functions that hardware approximates.

Source: PTX ISA 9.1 sections 9.7.3.8 (div), 9.7.3.13 (rcp), 9.7.3.15 to 9.7.3.22 (sqrt, rsqrt, sin, cos, lg2,
ex2, tanh), 9.7.4.9 and 9.7.4.10 (tanh and ex2 of half precision). Nothing is documented of ``rcp`` and
``rsqrt`` of f64.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import BF16, F16, F32, F64, FloatFormat

_ULP = 2.0 ** (1 - F32.precision)
"""The most that one unit in the last place of an f32 is, relative to the number."""


REACH = 2.0**126
"""Divisors up to which ``div.approx`` is what is documented; beyond, its result is 0."""


SURELY = 2.0**-19
"""Of a function's value, by which it is off at most where it is taken to be written out."""


class Approximation(NamedTuple):
    """Errors of a function: of its result r at x, at most ``relative·|r| + absolute`` where |x| ≤ `reach`."""

    relative: float
    absolute: float = 0.0
    reach: float = np.inf


_SINE = Approximation(0.0, 2.0**-14.7, 100 * np.pi)  # 2^-20.5 within two turns only

_DOCUMENTED: Mapping[tuple[str, FloatFormat], Approximation] = MappingProxyType(
    {
        ("div.approx", F32): Approximation(2 * _ULP, 0.0, REACH),  # of the divisor
        ("div.written", F32): Approximation(SURELY),
        ("div.full", F32): Approximation(2 * _ULP),
        **{
            (f"{name}.{rounding}", fmt): Approximation(2.0 ** (1 - fmt.precision))
            for name in ("div", "rcp", "sqrt")
            for rounding in ("rn", "rz", "rm", "rp")
            for fmt in (F32, F64)
        },  # directed, or of flushed operands
        ("rcp.approx", F32): Approximation(_ULP),
        ("sqrt.approx", F32): Approximation(2.0**-23),
        ("rsqrt.approx", F32): Approximation(2.0**-22.9),
        ("sin.approx", F32): _SINE,
        ("cos.approx", F32): _SINE,
        ("lg2.approx", F32): Approximation(2.0**-22, 2.0**-22),  # absolute near 1, else relative
        ("ex2.approx", F32): Approximation(2.5 * _ULP),  # 2 from the correctly rounded result
        ("ex2.approx", F16): Approximation(2.0**-9.9),
        ("ex2.approx", BF16): Approximation(2.0**-7),
        ("tanh.approx", F32): Approximation(2.0**-11),
        ("tanh.approx", F16): Approximation(0.0, 2.0**-10.987),
        ("tanh.approx", BF16): Approximation(0.0, 2.0**-8),
    }
)


def documented_error(
    name: str, fmt: FloatFormat, results: NDArray[Any], arguments: NDArray[Any]
) -> NDArray[Any]:
    """Return how far results (n,) of an approximated function can be from the exact ones, inf if unknown.

    Parameters
    ----------
    name : str
        As PTX spells it: ``ex2.approx.ftz``.
    fmt : FloatFormat
        Of the results.
    results, arguments : array (n,)
        Numbers; of a quotient, the divisors.
    """
    known = _DOCUMENTED.get((name.removesuffix(".ftz"), fmt))
    if known is None:
        return np.full(np.shape(results), np.inf)
    within = np.abs(arguments) <= known.reach
    # Relative to the exact result, which is at most so much larger than the one at hand.
    relative = known.relative * (1 + 2 * known.relative)
    return np.where(within, relative * np.abs(results) + known.absolute, np.inf)


def relative_error(name: str, fmt: FloatFormat) -> float | None:
    """Return how far a function's result can be from the exact one as a part of that; None if unknown.

    Parameters
    ----------
    name : str
        As PTX spells it, or without a point, of a function that is rounded to nearest.
    fmt : FloatFormat
        Of the results.
    """
    if "." not in name:
        return 1 / (2.0**fmt.precision + 1)  # u / (1 + u)
    known = _DOCUMENTED.get((name.removesuffix(".ftz"), fmt))
    if known is None or known.absolute or known.reach < REACH:
        return None
    return known.relative
