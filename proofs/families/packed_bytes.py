"""Bytes and encodings: joined and split, cut out of words and put together, most significant first."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...spec.errors import UnsupportedError
from ...spec.formats import B1, E3M2, F64, S2, S4, S8, U32, U64, Format, IntegerFormat
from ...spec.numpy_algebra import NumpyAlgebra
from ..comparison import compared, refusal_is
from ..obligation import Certificate, Theorem
from ..table_theorem import table_theorem

_WHOLE: tuple[Format, ...] = (B1, S4, S8, IntegerFormat("h", 16, signed=False), U32, F64)
"""Formats whose encodings fill bytes, alone or together."""

_BROKEN: tuple[Format, ...] = (S2, E3M2)
"""Formats that are in no register image: what packs them is refused."""


def packed_bytes(isa: str) -> Theorem:
    """Return the theorem about encodings in bytes and words, whatever instruction set they are of."""
    return table_theorem(
        f"{isa}/stated/bytes",
        "encodings are read from bytes and words, and written there, the most significant bits first",
        "bytes of one, two and three axes, of every value, as encodings of 1, 4, 8, 16, 32 and 64 bits: the "
        "digits of the number that all bytes are, and back; other widths are refused; fields of any width "
        "and place of words of 8 to 64 bits; immediates as flags",
        "docs/architecture.md, formats",
        lambda: {"packed": _packed, "fields": _fields, "flags": _flags},
    )


def _digits(number: int, bits: int, count: int) -> list[int]:
    """Return the digits of a number to the base 2**bits, the most significant first."""
    return [number >> bits * place & (1 << bits) - 1 for place in reversed(range(count))]


def _packed() -> Certificate:
    rows = (np.arange(6 * 16) * 53 % 256).astype(np.uint8)
    given = {"one": rows[:16], "two": rows.reshape(6, 16), "three": rows.reshape(2, 3, 16)}
    numbers = [int.from_bytes(row.tobytes(), "big") for row in given["two"]]
    expected: dict[object, object] = {fmt.name: "refused" for fmt in _BROKEN}
    for fmt in _WHOLE:
        digits = [_digits(number, fmt.bits, 128 // fmt.bits) for number in numbers]
        expected[fmt.name, "one"] = digits[0], given["one"].tolist()
        expected[fmt.name, "two"] = digits, given["two"].tolist()
        expected[fmt.name, "three"] = [digits[:3], digits[3:]], given["three"].tolist()

    def specified() -> Mapping[object, object]:
        alg, found = NumpyAlgebra(), dict[object, object]()
        for fmt in _WHOLE:
            for name, data in given.items():
                elements = alg.unpack(data, fmt)
                found[fmt.name, name] = elements.tolist(), alg.pack(elements, fmt).tolist()
        for fmt in _BROKEN:
            both = _is_refused(fmt, True), _is_refused(fmt, False)
            found[fmt.name] = "refused" if all(both) else both
        return found

    return compared(expected, specified)


@refusal_is(True, UnsupportedError)
def _is_refused(fmt: Format, packing: bool) -> object:
    zeros = np.zeros(16, dtype=fmt.storage if packing else np.uint8)
    NumpyAlgebra().pack(zeros, fmt) if packing else NumpyAlgebra().unpack(zeros, fmt)
    return False


def _word(bits: int) -> IntegerFormat:
    return IntegerFormat(f"u{bits}", bits, signed=False)


def _fields() -> Certificate:
    expected: dict[tuple[int, int, int], object] = {}
    words = {bits: [0xFEDCBA9876543210 % (1 << bits), (1 << bits) - 1, 0x35] for bits in (8, 16, 32, 64)}
    for bits, some in words.items():
        for width in (1, 3, 4, 8, 11, 16, 32, 64):
            for low in {0, 1, bits // 2, bits - width}:
                if 0 <= low <= bits - width:
                    cut = [word >> low & (1 << width) - 1 for word in some]
                    expected[bits, width, low] = cut, [each << low for each in cut]

    def specified() -> Mapping[tuple[int, int, int], object]:
        alg, found = NumpyAlgebra(), dict[tuple[int, int, int], object]()
        for bits, width, low in expected:
            word, field = _word(bits), _word(width)
            cut = alg.extract(np.array(words[bits], dtype=word.storage), low, field)
            found[bits, width, low] = cut.tolist(), alg.assemble(cut[:, None], field, [low], word).tolist()
        return found

    return compared(expected, specified)


def _flags() -> Certificate:
    """Return the claim that flags are the lowest bits, and that words are the sums of their fields."""
    expected: dict[object, object] = {
        (number, count): [bool(digit) for digit in _digits(number, 1, count)]
        for number in (0, 1, 5, 0b1101, 0xFF)
        for count in (1, 2, 4, 8)
    }
    expected["many"] = [[False, True], [True, False]]
    expected["joined"] = [0x04030201, 0x14131211]

    def specified() -> Mapping[object, object]:
        alg = NumpyAlgebra()
        found: dict[object, object] = {
            at: alg.flags(*at).tolist() for at in expected if isinstance(at, tuple)
        }
        found["many"] = alg.flags(np.array([1, 2]), 2).tolist()
        fields = np.array([[1, 2, 3, 4], [17, 18, 19, 20]], dtype=np.uint8)
        found["joined"] = alg.assemble(fields, S8, [0, 8, 16, 24], U64).tolist()
        return found

    return compared(expected, specified)
