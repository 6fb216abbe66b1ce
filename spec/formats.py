"""Every element type that instruction sets share, in one table: bit layout and special values.

Sources: IEEE 754-2019; PTX ISA section 5.2.3 (alternate floating-point formats); OCP 8-bit
Floating Point Specification 1.0 and OCP Microscaling Formats 1.0; Power ISA 3.1 section 7.4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cache, cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Format:
    """An element type.

    Attributes
    ----------
    name : str
        The name used throughout mmaproof and in PTX (``s8``, ``bf16``, ``e4m3``, …).
    bits : int
        Width of an encoding in bits.
    """

    name: str
    bits: int

    @cached_property
    def storage(self) -> np.dtype[np.unsignedinteger]:
        """The numpy unsigned integer type that carries one encoding."""
        return np.dtype(f"uint{max(8, 1 << (self.bits - 1).bit_length())}")

    def __str__(self) -> str:
        return self.name

    def __hash__(self) -> int:
        return hash(self.name)  # formats are keys of everything that is tabulated


@dataclass(frozen=True)
class IntegerFormat(Format):
    """A two's complement or unsigned integer of ``bits`` bits."""

    signed: bool

    __hash__ = Format.__hash__

    @property
    def minimum(self) -> int:
        """The least value."""
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def maximum(self) -> int:
        """The greatest value."""
        return (1 << (self.bits - self.signed)) - 1


class Special(Enum):
    """What a float format's largest exponents are spent on."""

    IEEE = "infinities and NaNs in the all-ones exponent"
    ONE_NAN = "only the all-ones magnitude is a NaN; no infinities"
    FINITE = "every encoding is a finite number"
    FNUZ = "the encoding that would be -0 is the only NaN; no infinities"


@dataclass(frozen=True)
class FloatFormat(Format):
    """A binary floating-point format ``(-1)^s * 2^(e - bias) * 1.f``.

    The encoding is, from its most significant bit: unused leading zeros (``ue4m3``), sign, exponent,
    fraction, ``padding_bits`` ignored bits (``tf32``).

    Attributes
    ----------
    exponent_bits, fraction_bits : int
        Field widths.
    bias : int
        Exponent bias.
    signed : bool
        Whether there is a sign bit.
    special : Special
        Where infinities and NaNs are.
    subnormals : bool
        Whether exponent field 0 means ``2^(1-bias) * 0.f`` (else it is an ordinary exponent, as in
        ``ue8m0``, which therefore has no zero).
    padding_bits : int
        Ignored low bits of the encoding.
    """

    exponent_bits: int
    fraction_bits: int
    bias: int
    signed: bool = True
    special: Special = Special.IEEE
    subnormals: bool = True
    padding_bits: int = 0

    __hash__ = Format.__hash__

    @property
    def precision(self) -> int:
        """Significand bits, the implicit leading one included."""
        return self.fraction_bits + 1

    @property
    def maximum_exponent(self) -> int:
        """Unbiased exponent of the largest finite number."""
        return self.magnitude_exponent(self.largest)

    @property
    def minimum_exponent(self) -> int:
        """Unbiased exponent of the smallest normal number."""
        return (1 if self.subnormals else 0) - self.bias

    @property
    def quantum(self) -> int:
        """Exponent of the smallest positive number's unit: every finite value is a multiple of 2**quantum."""
        return self.minimum_exponent - self.fraction_bits

    def contains(self, other: FloatFormat) -> bool:
        """Tell whether the format has every number of another one."""
        return (
            self.precision >= other.precision
            and self.maximum_exponent >= other.maximum_exponent
            and self.quantum <= other.quantum
            and self.signed >= other.signed
            and self.subnormals >= other.subnormals  # without them there is no zero
        )

    # -- encodings, as magnitudes (sign and padding removed) --
    @property
    def magnitude_bits(self) -> int:
        """Width of exponent and fraction together."""
        return self.exponent_bits + self.fraction_bits

    @property
    def sign_mask(self) -> int:
        """The sign bit in an encoding (0 for an unsigned format)."""
        return (1 << (self.magnitude_bits + self.padding_bits)) if self.signed else 0

    @property
    def infinity(self) -> int | None:
        """Magnitude encoding of infinity, None when the format has none."""
        if self.special is not Special.IEEE:
            return None
        return ((1 << self.exponent_bits) - 1) << self.fraction_bits

    @property
    def largest(self) -> int:
        """Magnitude encoding of the largest finite number."""
        top = (1 << self.magnitude_bits) - 1
        match self.special:
            case Special.IEEE:
                return (((1 << self.exponent_bits) - 1) << self.fraction_bits) - 1
            case Special.ONE_NAN:
                return top - 1
            case Special.FINITE | Special.FNUZ:
                return top

    @property
    def default_nan(self) -> int | None:
        """Magnitude encoding of the default quiet NaN, None when the format has none; FNUZ: the sign bit."""
        match self.special:
            case Special.IEEE:
                exponent = ((1 << self.exponent_bits) - 1) << self.fraction_bits
                return exponent | (1 << (self.fraction_bits - 1))
            case Special.ONE_NAN:
                return (1 << self.magnitude_bits) - 1
            case Special.FINITE:
                return None
            case Special.FNUZ:
                return 1 << self.magnitude_bits

    def magnitude_exponent(self, magnitude: int) -> int:
        """Unbiased exponent of a finite magnitude encoding."""
        field = magnitude >> self.fraction_bits
        return (max(field, 1) if self.subnormals else field) - self.bias

    def exact(self, encoding: int) -> Fraction | None:
        """Return the number an encoding stands for, None for an infinity or a NaN.

        The sign of zero is not visible in the result.
        """
        magnitude = (encoding >> self.padding_bits) & ((1 << self.magnitude_bits) - 1)
        if magnitude > self.largest or (self.special is Special.FNUZ and encoding == self.default_nan):
            return None
        field, fraction = divmod(magnitude, 1 << self.fraction_bits)
        implicit = 0 if self.subnormals and field == 0 else 1 << self.fraction_bits
        exponent = self.magnitude_exponent(magnitude) - self.fraction_bits
        value = (implicit + fraction) * Fraction(2) ** exponent
        return -value if encoding & self.sign_mask else value

    @property
    def largest_number(self) -> Fraction:
        """The largest finite number."""
        number = self.exact(self.largest << self.padding_bits)
        assert number is not None
        return number


def _integers() -> Iterable[IntegerFormat]:
    yield IntegerFormat("b1", 1, signed=False)
    for bits in (2, 4, 8, 16, 32, 64):
        yield IntegerFormat(f"s{bits}", bits, signed=True)
        yield IntegerFormat(f"u{bits}", bits, signed=False)


F16 = FloatFormat("f16", 16, exponent_bits=5, fraction_bits=10, bias=15)
BF16 = FloatFormat("bf16", 16, exponent_bits=8, fraction_bits=7, bias=127)
TF32 = FloatFormat("tf32", 32, exponent_bits=8, fraction_bits=10, bias=127, padding_bits=13)
F32 = FloatFormat("f32", 32, exponent_bits=8, fraction_bits=23, bias=127)
F64 = FloatFormat("f64", 64, exponent_bits=11, fraction_bits=52, bias=1023)
E4M3 = FloatFormat("e4m3", 8, exponent_bits=4, fraction_bits=3, bias=7, special=Special.ONE_NAN)
E5M2 = FloatFormat("e5m2", 8, exponent_bits=5, fraction_bits=2, bias=15)
E3M2 = FloatFormat("e3m2", 6, exponent_bits=3, fraction_bits=2, bias=3, special=Special.FINITE)
E2M3 = FloatFormat("e2m3", 6, exponent_bits=2, fraction_bits=3, bias=1, special=Special.FINITE)
E2M1 = FloatFormat("e2m1", 4, exponent_bits=2, fraction_bits=1, bias=1, special=Special.FINITE)
UE8M0 = FloatFormat(
    "ue8m0",
    8,
    exponent_bits=8,
    fraction_bits=0,
    bias=127,
    signed=False,
    special=Special.ONE_NAN,
    subnormals=False,
)
UE4M3 = FloatFormat(
    "ue4m3", 8, exponent_bits=4, fraction_bits=3, bias=7, signed=False, special=Special.ONE_NAN
)

FORMATS = MappingProxyType(
    {
        entry.name: entry
        for entry in (
            *_integers(),
            F16, BF16, TF32, F32, F64, E4M3, E5M2, E3M2, E2M3, E2M1, UE8M0, UE4M3,
        )
    }
)  # fmt: skip
"""Every element type by name."""

B1, S2, U2, S4, U4, S8, U8, S16, U16, S32, U32, S64, U64 = _integers()


def format_named(name: str) -> Format:
    """Look a format up by name; ``int8``/``uint8`` spellings are accepted for ``s8``/``u8``.

    Raises
    ------
    InputError
        If there is no such format.
    """
    key = name.replace("uint", "u").replace("int", "s")
    try:
        return FORMATS[key]
    except KeyError:
        raise InputError(f"unknown format {name!r}; known: {', '.join(FORMATS)}") from None


def as_float(fmt: Format) -> FloatFormat:
    """Return a format that is one of floats: what the caller knows, and its type does not say."""
    assert isinstance(fmt, FloatFormat), f"{fmt} is no format of floats"
    return fmt


_ML_DTYPES = MappingProxyType(
    {
        "bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e3m2": "float6_e3m2fn",
        "e2m3": "float6_e2m3fn", "e2m1": "float4_e2m1fn", "ue8m0": "float8_e8m0fnu",
        "s2": "int2", "u2": "uint2", "s4": "int4", "u4": "uint4",
    }
)  # fmt: skip

_NUMPY = MappingProxyType({"f16": "float16", "f32": "float32", "f64": "float64", "b1": "bool"})


@cache
def numpy_type(fmt: Format) -> np.dtype[Any]:
    """Return the numpy (or ml_dtypes) type whose values are exactly those of `fmt`.

    Raises
    ------
    InputError
        If neither numpy nor ml_dtypes has the type (``tf32`` and ``ue4m3``; ``tf32`` values are
        carried as float32).
    """
    if fmt.name in _ML_DTYPES:
        import ml_dtypes  # most questions need none of its types

        narrow: np.dtype[Any] = np.dtype(getattr(ml_dtypes, _ML_DTYPES[fmt.name]))
        return narrow
    if isinstance(fmt, IntegerFormat):
        return np.dtype(_NUMPY.get(fmt.name, f"{'i' if fmt.signed else 'u'}{fmt.bits // 8}"))
    if fmt.name not in _NUMPY:
        floats = [each.name for each in FORMATS.values() if isinstance(each, FloatFormat)]
        having = ", ".join(name for name in floats if name in (*_NUMPY, *_ML_DTYPES))
        raise InputError(f"{fmt} has no numpy type; these have: {having}")
    return np.dtype(_NUMPY[fmt.name])


Bits: TypeAlias = "NDArray[np.unsignedinteger]"
"""Encodings, one unsigned integer per element, in ``Format.storage``."""
