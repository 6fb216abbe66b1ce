"""Numbers in numpy arrays to encodings of a format and back, refusing what a format can't represent."""

from __future__ import annotations

import numpy as np

from .algebra import Array
from .errors import InputError
from .float_encoding import Truths, decode, default_nan, encode
from .formats import F64, Bits, FloatFormat, Format, IntegerFormat, numpy_type
from .rounding import Rounding

_NATIVE = ("f16", "f32", "f64")
"""Floating-point formats that numpy itself has."""


def encodings_of_values(name: str, values: Array, fmt: Format) -> Bits:
    """Encode numbers that `fmt` represents exactly.

    An array of the format's own numpy type keeps its bits, so signs of zeros and NaN payloads; a NaN of
    another type becomes the default NaN.

    Parameters
    ----------
    name : str
        What the array is called, for messages.
    values : array
        Integers or floating-point numbers.
    fmt : Format
        The element type.

    Raises
    ------
    InputError
        If the array does not hold real numbers, or one of them is not exactly representable.
    """
    if values.dtype.kind not in "iuf":
        raise InputError(
            f"{name} has dtype {values.dtype}; give integers or floating-point numbers, or {name}_bits"
        )
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    if fmt.name in _NATIVE and values.dtype == numpy_type(fmt):
        return values.view(fmt.storage)
    with np.errstate(all="ignore"):
        if isinstance(fmt, IntegerFormat):
            bits, exact = _encode_integers(values, fmt)
        else:
            assert isinstance(fmt, FloatFormat)
            bits, exact = _encode_floats(values, fmt)
    if not exact.all():
        index, place = _first(~exact, name)
        raise InputError(f"{place} = {values[index]} is not exactly representable in {fmt}")
    return bits


def _first(wrong: Truths, name: str) -> tuple[tuple[int, ...], str]:
    """Return where the first of some elements is, as an index and as text."""
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    return index, f"{name}[{', '.join(map(str, index))}]" if index else name


def _encode_integers(values: Array, fmt: IntegerFormat) -> tuple[Bits, Truths]:
    if values.dtype.kind == "f":
        # f16 does not have the limits of wide integers; f64 has one more than the maximum, a power of two.
        values = values.astype(np.result_type(values.dtype, np.float64), copy=False)
        exact = (values >= float(fmt.minimum)) & (values < float(fmt.maximum + 1))
        exact &= values == np.floor(values)
    else:
        exact = (values >= fmt.minimum) & (values <= fmt.maximum)
    kept = np.where(exact, values, np.zeros_like(values)).astype(np.int64 if fmt.signed else np.uint64)
    return kept.astype(fmt.storage) & fmt.storage.type((1 << fmt.bits) - 1), exact


def _encode_floats(values: Array, fmt: FloatFormat) -> tuple[Bits, Truths]:
    reals = values.astype(np.float64)
    if values.dtype.kind == "f":
        exact = (reals == values) | np.isnan(values)
    else:
        # An integer is a float64 when its magnitude without trailing zeros has at most 53 bits.
        signed = values.dtype.kind == "i"
        magnitude = (np.abs(values.astype(np.int64)) if signed else values).astype(np.uint64)
        lowest = magnitude & (~magnitude + np.uint64(1))
        exact = magnitude // np.maximum(lowest, 1) < 1 << F64.precision
    bits = reals.view(np.uint64) if fmt == F64 else encode(reals, fmt, Rounding.NEAREST_EVEN)
    nan = np.isnan(reals)
    if nan.any() and fmt.default_nan is not None:
        bits = np.where(nan, fmt.storage.type(default_nan(fmt)), bits)
    back = decode(bits, fmt)
    same = ((back == reals) & (np.signbit(back) == np.signbit(reals))) | (nan & np.isnan(back))
    return bits, exact & same


def checked_encodings(name: str, bits: Array, fmt: Format) -> Bits:
    """Return encodings in the storage type of `fmt`.

    Raises
    ------
    InputError
        If the array is not of unsigned integers, or an encoding is wider than the format.
    """
    if bits.dtype.kind != "u":
        raise InputError(f"{name} has dtype {bits.dtype}; encodings of {fmt} are unsigned integers")
    if bits.dtype.itemsize * 8 > fmt.bits and (wide := bits >> bits.dtype.type(fmt.bits) != 0).any():
        index, place = _first(wide, name)
        raise InputError(f"{place} = {int(bits[index]):#x} is wider than the {fmt.bits} bits of {fmt}")
    return bits.astype(fmt.storage)


def values_of_encodings(bits: Bits, fmt: Format) -> Array:
    """Return encodings as an array of the numpy type of `fmt` with the same bits, or else of float64.

    The formats that numpy itself has (integers of 8 bits and more, f16, f32, f64) keep their bits;
    4-bit integers come as int8 or uint8, every other format as float64.
    """
    if isinstance(fmt, IntegerFormat):
        if fmt.bits >= 8:
            return bits.view(numpy_type(fmt))
        unused = 8 - fmt.bits
        return (bits.view(np.int8) << unused) >> unused if fmt.signed else bits
    assert isinstance(fmt, FloatFormat)
    return bits.view(numpy_type(fmt)) if fmt.name in _NATIVE else decode(bits, fmt)
