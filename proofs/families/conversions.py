"""Numbers and encodings of each format: read, rounded, taken from a user and given back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from ...spec.algebra import Array, Operand
from ...spec.errors import InputError, UnsupportedError
from ...spec.float_encoding import decode, encode, round_significand
from ...spec.float_encoding import rounded as rounded_value
from ...spec.formats import (
    BF16,
    F16,
    F32,
    F64,
    FORMATS,
    TF32,
    FloatFormat,
    Format,
    IntegerFormat,
    Special,
    format_named,
    numpy_type,
)
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.rounding import Rounding
from ...spec.value_algebra import ValueAlgebra
from ...spec.values import checked_encodings, encodings_of_values, values_of_encodings
from ..comparison import arrays_compared, compared, refusal_is
from ..obligation import Case, Certificate, Method, Theorem, theorem
from ..stated import encodings as stated
from ..stated import formats
from ..stated.arithmetic import DIRECTIONS
from ..stated.formats import INTEGERS

OTHERS = (
    FloatFormat("e9m7", 17, exponent_bits=9, fraction_bits=7, bias=255),
    FloatFormat("e11m20", 32, exponent_bits=11, fraction_bits=20, bias=1023),
    FloatFormat("e6m12", 22, exponent_bits=6, fraction_bits=12, bias=31, padding_bits=3),
    FloatFormat("e4m3fnuz", 8, exponent_bits=4, fraction_bits=3, bias=8, special=Special.FNUZ),
    IntegerFormat("s7", 7, signed=True),
)
"""Formats of no standard, whose widths no other has, one with padding, and one without -0."""

_LIMITS = {**INTEGERS, "s7": (7, -64, 63)}
"""Bits, the least and the greatest number of integers."""

HELD: Mapping[str, tuple[FloatFormat, bool]] = {
    "e10m52": (FloatFormat("e10m52", 63, exponent_bits=10, fraction_bits=52, bias=511), True),
    "e10m53": (FloatFormat("e10m53", 64, exponent_bits=10, fraction_bits=53, bias=511), False),
    "e12m3": (FloatFormat("e12m3", 16, exponent_bits=12, fraction_bits=3, bias=2047), False),
    "e12m30": (FloatFormat("e12m30", 43, exponent_bits=12, fraction_bits=30, bias=2047), False),
}
"""Wide formats, and whether float64 holds all their numbers."""

_TINY = np.array([2.0**-1074, 2.0**-1022, 1.5 * 2.0**-1022, 2.0**-1021])
"""The least numbers of float64, and its least normal ones."""

_FEW = 24
"""Numbers that are refused one by one."""


def conversions(isa: str, formats: Callable[[], Iterable[Format]]) -> Theorem:
    """Return the theorem that the element types of an instruction set are read and written as numbers.

    Parameters
    ----------
    isa : str
        The instruction set, the first word of the obligations' ids.
    formats : callable
        Returns its element types; repeated ones, and those that all share, are taken once.

    Returns
    -------
    Theorem
        ``isa/stated/conversions``, two obligations for each format, and two about all.
    """

    @theorem(
        f"{isa}/stated/conversions",
        "encodings are the numbers of their formats, and samples are rounded to the neighbour that is due",
        "all encodings of formats of up to 8 bits, of others ends and samples: the number, whether it is a "
        "NaN, infinite or zero; of the numbers at, and a quarter, a half and three quarters above, each, "
        "next to these, and beyond the largest: the encoding, for each direction; integers wrapped and "
        "clamped; significands of few bits and of many are rounded as numbers are, however far below the "
        "least one; of what a user gives, exactly the numbers of the format are taken; formats are read if "
        "float64 holds their numbers; a NaN that is propagated keeps its sign, and of its payload the first "
        "digits",
        "IEEE 754-2019 sections 3.3, 4.3 and 7.4; OCP 8-bit Floating Point 1.0; OCP Microscaling Formats 1.0",
    )
    def cases() -> Iterator[Case]:
        for fmt in dict.fromkeys((*formats(), *FORMATS.values(), *OTHERS)):
            goal = _float if isinstance(fmt, FloatFormat) else _integer
            yield Case(fmt.name, partial(goal, fmt), method=Method.CERTIFICATE)
            yield Case(f"{fmt.name}/given", partial(_given, fmt), method=Method.CERTIFICATE)
        yield Case("directions", _directions, method=Method.CERTIFICATE)
        yield Case("held", _held, method=Method.CERTIFICATE)
        yield Case("payloads", _payloads, method=Method.CERTIFICATE)
        yield Case("significands", _significands, method=Method.CERTIFICATE)
        yield Case("far-below", _far_below, method=Method.CERTIFICATE)

    return cases


def _directions() -> Certificate:
    """Return the claim that rounding -v in the mirrored direction is minus v rounded."""
    mirrored = dict(zip(DIRECTIONS, ("nearest-even", "toward-zero", "downward", "upward"), strict=True))
    return compared(
        mirrored,
        lambda: {
            direction: DIRECTIONS[Rounding(code).mirrored.value] for code, direction in enumerate(DIRECTIONS)
        },
    )


def _held() -> Certificate:
    """Return the claim that what float64 holds is read, and the rest refused."""
    numbers = [1.0, -1.0, 1.0 + 2.0**-52, 2.0**-510]
    expected: dict[str, object] = {name: numbers if held else "refused" for name, (_, held) in HELD.items()}

    @refusal_is("refused", UnsupportedError)
    def values(fmt: FloatFormat) -> object:
        one = fmt.bias << fmt.fraction_bits
        codes = [one, one | fmt.sign_mask, one + 1, 1 << fmt.fraction_bits]
        return decode(np.array(codes, dtype=fmt.storage), fmt).tolist()

    return compared(expected, lambda: {name: values(fmt) for name, (fmt, _) in HELD.items()})


def _payloads() -> Certificate:
    """Return the claim that NaNs are propagated as they are written, digit by digit."""
    formats = (F16, BF16, TF32, F32, F64)
    encodings = {fmt.name: stated.some_nans(fmt.name) for fmt in formats}
    expected: dict[str, Array] = {
        f"{fmt} to {result}": np.array(
            [stated.quieted(fmt.name, nan, result.name) for nan in encodings[fmt.name]], dtype=np.uint64
        )
        for fmt, result in product(formats, formats)
    }

    def propagated(fmt: FloatFormat, result: FloatFormat) -> Array:
        operand = Operand(np.array(encodings[fmt.name], dtype=fmt.storage), fmt)
        another = np.full(len(operand.bits), stated.some_nans(result.name)[-1], dtype=result.storage)
        return NumpyAlgebra().propagate_nan(Operand(another, result), [operand]).astype(np.uint64)

    return arrays_compared(
        expected,
        lambda: {f"{fmt} to {result}": propagated(fmt, result) for fmt, result in product(formats, formats)},
    )


def _significands() -> Certificate:
    """Return the claim that a number is rounded alike however it is written as integers."""
    formats = [fmt for fmt in (*FORMATS.values(), *OTHERS) if isinstance(fmt, FloatFormat)]
    written = {fmt: stated.significands(fmt.name) for fmt in formats}
    expected = {
        f"{fmt} {direction}": said.encodings[direction]
        for fmt, said in written.items()
        for direction in DIRECTIONS
    }

    def specified() -> Mapping[str, Array]:
        return {
            f"{fmt} {direction}": round_significand(
                said.negative, said.significands, said.exponents, fmt, Rounding(code)
            )
            for fmt, said in written.items()
            for code, direction in enumerate(DIRECTIONS)
        }

    return arrays_compared(expected, specified)


_FAR_BELOW = (1, 3, 1 << 60, 1 << 61, (1 << 61) + 1, (1 << 62) - 1)
"""Significands of numbers far below the least one of a format."""


def _far_below() -> Certificate:
    """Return the claim that of such numbers their sign alone counts."""
    formats = (F16, BF16, TF32, F32, F64)
    pairs = list(product(_FAR_BELOW, (False, True)))
    negative = np.array([sign for _, sign in pairs])
    significands = np.array([number for number, _ in pairs], dtype=np.uint64)
    expected: dict[str, list[int]] = {}
    for fmt, direction in product(formats, DIRECTIONS):
        away = {"upward": False, "downward": True}.get(direction)
        expected[f"{fmt} {direction}"] = [
            ((sign is away) << fmt.padding_bits) | (fmt.sign_mask if sign else 0) for _, sign in pairs
        ]

    def specified() -> Mapping[str, list[int]]:
        return {
            f"{fmt} {direction}": round_significand(
                negative, significands, np.full(len(pairs), fmt.quantum - 70), fmt, Rounding(code)
            ).tolist()
            for fmt in formats
            for code, direction in enumerate(DIRECTIONS)
        }

    return compared(expected, specified)


def _float(fmt: Format) -> Certificate:
    assert isinstance(fmt, FloatFormat)
    read, rounded = stated.read(fmt.name), stated.rounded(fmt.name)
    values = read.values
    beyond = stated.BEYOND[fmt.name]
    nan, sign = int(beyond["NaN"], 16), stated.shape(fmt.name).sign
    has_nan = beyond["overflow"] != "largest"
    has_tiny = fmt.exponent_bits < F64.exponent_bits and fmt.name not in stated.WITHOUT_ZERO
    finite = np.isfinite(values)
    signed = np.where(np.isnan(values), 0, sign).astype(np.uint64)
    expected: dict[str, Array] = {
        "numbers": values,
        "NaN": np.isnan(values),
        "infinite": np.isinf(values),
        "zero": values == 0,
        "exact": np.where(finite, values, 0.0),
        "exactly no number": ~finite,
        "negated": read.encodings ^ signed,
        "without NaN": np.where(np.isnan(values), 1, read.encodings),
        "equal to itself": np.ones(len(values), dtype=bool),
        "equal to the next": values == np.roll(values, 1),
        "NaN encoded": np.array([nan, nan], dtype=np.uint64),
        "value NaN": np.isnan(values),
        "value infinite": np.isinf(values),
        "value zero": values == 0,
        "value negated": -values,
    }
    nans = np.isnan(values)
    expected["equal to the next"] |= nans & np.roll(nans, 1)
    if fmt.name in stated.ONE_ZERO:
        expected["negated"] = np.where(read.encodings == 0, nan, expected["negated"])
    for direction in DIRECTIONS:
        expected[direction] = rounded.encodings[direction]
        if has_tiny:
            least = (direction == "upward") << stated.shape(fmt.name).padding
            expected[f"tiny {direction}"] = np.full(len(_TINY), least, dtype=np.uint64)

    def specified() -> Iterator[tuple[str, Array]]:
        bits = read.encodings.astype(fmt.storage)
        operand, other = Operand(bits, fmt), Operand(np.roll(bits, 1), fmt)
        alg, of_values = NumpyAlgebra(), ValueAlgebra()
        number = Operand(decode(bits, fmt), fmt)
        exact = [fmt.exact(int(bit)) for bit in bits]
        yield from {
            "numbers": decode(bits, fmt),
            "NaN": alg.is_nan(operand),
            "infinite": alg.is_infinite(operand),
            "zero": alg.is_zero(operand),
            "exact": np.copysign([float(each or 0) for each in exact], np.where(finite, values, 1)),
            "exactly no number": np.array([each is None for each in exact]),
            "negated": alg.negate(operand),
            "without NaN": alg.replace_nan(operand, 1),
            "equal to itself": alg.ieee_equal(operand, operand),
            "equal to the next": alg.ieee_equal(operand, other),
            "NaN encoded": encode(np.array([np.nan, -np.nan]), fmt, Rounding.NEAREST_EVEN),
            "value NaN": of_values.is_nan(number),
            "value infinite": of_values.is_infinite(number),
            "value zero": of_values.is_zero(number),
            "value negated": of_values.negate(number),
        }.items()
        for code, direction in enumerate(DIRECTIONS):
            yield direction, encode(rounded.numbers, fmt, Rounding(code))
            if has_tiny:
                yield f"tiny {direction}", encode(_TINY, fmt, Rounding(code))

    if has_nan and fmt != F64:
        for direction in DIRECTIONS:
            said = rounded.encodings[direction].astype(fmt.storage)
            expected[f"value {direction}"] = decode(said, fmt)
        return arrays_compared(expected, lambda: {**dict(specified()), **_values(rounded.numbers, fmt)})
    return arrays_compared(expected, specified)


def _values(numbers: Array, fmt: FloatFormat) -> Mapping[str, Array]:
    return {
        f"value {direction}": rounded_value(numbers, fmt, Rounding(code))
        for code, direction in enumerate(DIRECTIONS)
    }


def _integer(fmt: Format) -> Certificate:
    assert isinstance(fmt, IntegerFormat)
    bits, least, greatest = _LIMITS[fmt.name]
    wide = bits == 64
    numbers = formats.numbers(bits)
    encoded = [formats.encoding(number, bits) for number in numbers]
    expected: dict[str, object] = {
        "wrapped": encoded,
        "clamped": [formats.encoding(min(max(number, least), greatest), bits) for number in numbers],
        "in range": [least <= number <= greatest for number in numbers],
        "read": [] if wide and least == 0 else [formats.value(code, bits, least < 0) for code in encoded],
    }

    def specified() -> Iterator[tuple[str, object]]:
        alg = NumpyAlgebra()
        exact = np.array(numbers, dtype=np.int64)
        codes = alg.wrap(exact, fmt)
        yield from {
            "wrapped": codes.tolist(),
            "clamped": alg.saturate(exact, fmt).tolist(),
            "in range": alg.in_range(exact, fmt).tolist(),
            "read": [],
        }.items()
        if expected["read"]:
            yield "read", alg.integer(np.array(encoded, dtype=fmt.storage), fmt).tolist()

    return compared(expected, specified)


# -- what a user gives
_SIGNED_NAN = np.array([0xFFF8000000000123, 0x3FF0000000000000], dtype=np.uint64).view(np.float64)
"""A NaN with a sign and a payload, and 1."""


def _given(fmt: Format) -> Certificate:
    if isinstance(fmt, IntegerFormat):
        return compared(*_given_integers(fmt))
    assert isinstance(fmt, FloatFormat)
    return compared(*_given_floats(fmt))


_OWN_NAN = {"f16": 0xFE23, "f32": 0xFFC00123, "f64": 0xFFF8000000000123}
"""NaNs with a sign and a payload, in formats that numpy has."""


def _taken(values: Array, fmt: Format) -> object:
    """Return the encodings of numbers, or the index of the first that is refused."""
    try:
        return [int(each) for each in np.ravel(encodings_of_values("x", values, fmt))]
    except InputError as reason:
        return str(reason).partition(" ")[0]


def _checked(bits: Array, fmt: Format) -> object:
    try:
        found = checked_encodings("x", bits, fmt)
    except InputError as reason:
        return str(reason).partition(" ")[0]
    return found.tolist(), found.itemsize


def _encodings(fmt: Format, top: int) -> dict[str, tuple[Array, object]]:
    """Return arrays of encodings, and what they are taken as."""
    size = max(8, 1 << (fmt.bits - 1).bit_length()) // 8
    found: dict[str, tuple[Array, object]] = {
        "signed": (np.array([0]), "x"),
        "real": (np.array([0.0]), "x"),
        "own": (np.array([0, top], dtype=fmt.storage), ([0, top], size)),
    }
    if fmt.bits < 64:
        found["wider"] = np.array([0, top], dtype=np.uint64), ([0, top], size)
        found["too wide"] = np.array([[0, top], [top + 1, 0]], dtype=np.uint64), "x[1,"
    return found


_LARGE = ((1 << 63) + (1 << 41), -(1 << 63) + (1 << 41), -(1 << 63), 3 << 40, -(3 << 40))
"""Integers of more than 53 bits that f32 has."""


def _given_integers(fmt: IntegerFormat) -> tuple[dict[str, object], Callable[[], Mapping[str, object]]]:
    bits, least, greatest = _LIMITS[fmt.name]
    given: dict[str, tuple[Array, object]] = {}
    for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", ">u2"):
        kind = np.iinfo(name)
        inside = sorted({max(least, int(kind.min)), 0, 1, min(greatest, int(kind.max))})
        codes = [formats.encoding(number, bits) for number in inside]
        given[name] = np.array(inside, dtype=name), codes
        for what, number in (("below", least - 1), ("above", greatest + 1)):
            if int(kind.min) <= number <= int(kind.max):
                given[f"{name} {what}"] = np.array([0, number], dtype=name), "x[1]"
    for name, places in (("f2", 10), ("f4", 23), ("f8", 52)):
        exact = [number for number in (least, 0, 1, greatest) if abs(number) < min(1 << places, 60000)]
        exact += [large for large in _LARGE if least <= large <= greatest and name != "f2"]
        given[name] = np.array(exact, dtype=name), [formats.encoding(number, bits) for number in exact]
        for real in (0.5, np.nan, np.inf, -np.inf):
            given[f"{name} {real}"] = np.array([0.0, real], dtype=name), "x[1]"
        for what, number in (("below", least - 1), ("above", greatest + 1)):
            significant = number.bit_length() - (number & -number).bit_length()
            if significant < places and (name != "f2" or abs(number) < 60000):
                given[f"{name} {what}"] = np.array([0.0, number], dtype=name), "x[1]"
    given["one number"] = np.array(0.5), "x"
    given["truths"] = np.array([True]), "x"
    checked = _encodings(fmt, (1 << bits) - 1)
    back = formats.numbers(bits)
    codes = [formats.encoding(number, bits) for number in back]

    def specified() -> Mapping[str, object]:
        values = values_of_encodings(np.array(codes, dtype=fmt.storage), fmt)
        return {
            **{name: _taken(array, fmt) for name, (array, _) in given.items()},
            **{f"encodings {name}": _checked(array, fmt) for name, (array, _) in checked.items()},
            "values": values.astype(object).tolist(),
            "type": values.dtype.str[1:],
            "numpy": "" if fmt in OTHERS else numpy_type(fmt).name,
        }

    kept = max(1, bits // 8)
    expected = {
        **{name: said for name, (_, said) in given.items()},
        **{f"encodings {name}": said for name, (_, said) in checked.items()},
        "values": [formats.value(code, bits, least < 0) for code in codes],
        "type": f"{'i' if least < 0 else 'u'}{kept}" if bits > 1 else "u1",
        "numpy": "" if fmt in OTHERS else f"{'int' if least < 0 else 'uint'}{bits}" if bits > 1 else "bool",
    }
    return expected, specified


def _given_floats(fmt: FloatFormat) -> tuple[dict[str, object], Callable[[], Mapping[str, object]]]:
    name = fmt.name
    rounded, read, beyond = stated.rounded(name), stated.read(name), stated.BEYOND[name]
    nan, shape = int(beyond["NaN"], 16), stated.shape(name)
    codes, numbers = rounded.encodings["nearest-even"], rounded.numbers
    own = rounded.exact & np.isfinite(numbers) & (np.abs(numbers) < 2.0**999)
    if not shape.sign or name in stated.ONE_ZERO:
        own &= ~np.signbit(numbers) if not shape.sign else ~((numbers == 0) & np.signbit(numbers))
    given: dict[str, tuple[Array, object]] = {
        "numbers": (numbers[own], codes[own].tolist()),
        "big-endian": (numbers[own].astype(">f8"), codes[own].tolist()),
        "truths": (np.array([True]), "x"),
        "complex": (np.array([1j]), "x"),
    }
    others = np.flatnonzero(~own & (np.abs(numbers) < 2.0**999))
    for place in others[:: max(1, len(others) // _FEW)]:
        given[f"{numbers[place]} no number of it"] = np.array([1.0, numbers[place]]), "x[1]"
    infinities = beyond["overflow"] == "infinity"
    has_nan = beyond["overflow"] != "largest"
    infinite = [(shape.largest + 1 << shape.padding) | sign for sign in (0, shape.sign)]
    given["infinities"] = np.array([np.inf, -np.inf]), infinite if infinities else "x[0]"
    if fmt != F64:
        given["NaN"] = np.array([1.0, np.nan]), [_one(name), nan] if has_nan else "x[1]"
    if has_nan and fmt != F64:  # whose own encodings are kept
        given["a NaN of its own"] = _SIGNED_NAN, [nan, _one(name)]
    if name in _OWN_NAN:
        own_nan = np.array([_OWN_NAN[name], _one(name)], dtype=fmt.storage)
        given["its own NaN"] = own_nan.view(numpy_type(fmt)), own_nan.tolist()
    given |= _given_whole(name)
    checked = _encodings(fmt, (1 << fmt.bits) - 1)

    def specified() -> Mapping[str, object]:
        values = values_of_encodings(read.encodings.astype(fmt.storage), fmt)
        back = {"bits": numpy_type(fmt).name} if name in stated.NUMPY_TYPES else {}
        return {
            **{what: _taken(array, fmt) for what, (array, _) in given.items()},
            **{f"encodings {what}": _checked(array, fmt) for what, (array, _) in checked.items()},
            "values": _spelled(values),
            "type": values.dtype.name,
            **back,
            "by name": name not in FORMATS or format_named(name) is fmt,
        }

    native = {"f16": "float16", "f32": "float32", "f64": "float64"}
    expected = {
        **{what: said for what, (_, said) in given.items()},
        **{f"encodings {what}": said for what, (_, said) in checked.items()},
        "values": _spelled(read.values),
        "type": native.get(name, "float64"),
        "by name": True,
    }
    if (known := stated.NUMPY_TYPES.get(name)) is not None:
        expected["bits"] = known
    return expected, specified


def _given_whole(name: str) -> dict[str, tuple[Array, object]]:
    """Return integers of every type, and what they are taken as."""
    found: dict[str, tuple[Array, object]] = {}
    for kind in ("i1", "u1", "i2", "u4", "i8", "u8"):
        limits = np.iinfo(kind)
        for number in (0, 1, 2, -3, -8, 5, 17, 100, 4097, 1 << 24, (1 << 24) + 1, (1 << 53) + 2,
                       (1 << 53) + 1, 3 << 52, -(1 << 53) - 1, (1 << 62), (1 << 63) + 1, -(1 << 63),
                       (1 << 64) - 1):  # fmt: skip
            if int(limits.min) <= number <= int(limits.max):
                code = stated.encoding_of_integer(name, number)
                found[f"{kind} {number}"] = np.array([number], dtype=kind), "x[0]" if code is None else [code]
    return found


def _one(name: str) -> int:
    code = stated.encoding_of_integer(name, 1)
    assert code is not None
    return code


def _spelled(values: Any) -> object:
    return [float(value).hex() for value in values]
