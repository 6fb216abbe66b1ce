"""Number formats, open points and words are what their standards and documents say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from ...spec.algebra import Operand
from ...spec.errors import InputError
from ...spec.float_encoding import rounded
from ...spec.formats import FORMATS, FloatFormat, Format, IntegerFormat
from ...spec.instruction_set import instruction_set
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.rounding import Rounding
from ...spec.rounding_bound import underflow_unit, unit_roundoff
from ...spec.values import checked_encodings
from ..comparison import REFUSED, compared, refusal_is
from ..obligation import Case, Certificate, Method, Theorem
from ..stated import choices as stated_choices
from ..stated import formats as stated
from ..table_theorem import answered, table_theorem

TITLE = "the element types have the widths, constants and special encodings of their standards"

STATEMENT = (
    "bits, sign bit, exponent and fraction widths, bias; largest, least normal and least positive number; "
    "which encodings are infinities and NaNs: as the standard's tables say, which are written down in "
    "numbers; which formats have the zero, the sign and the listed numbers of which others. A number of a "
    "format rounds to itself in every direction, and others are off by half a last place at most to nearest, "
    "by one otherwise; a word with a digit beyond the format's is refused; in the values of an arbitrary "
    "function every digit of the format is 0 and 1"
)

SOURCE = (
    "IEEE 754-2019; OCP 8-bit Floating Point 1.0; OCP Microscaling Formats 1.0; PTX ISA 9.1 section 5.2.3"
)


def cases(formats: Iterable[Format]) -> Iterator[Case]:
    """Yield one certificate for each format, those that no operand has among them."""
    for fmt in dict.fromkeys((*formats, *FORMATS.values())):
        goal = _float if isinstance(fmt, FloatFormat) else _integer
        yield Case(fmt.name, partial(goal, fmt), method=Method.CERTIFICATE)
    yield Case("contained", _contained, method=Method.CERTIFICATE)


def _contained() -> Certificate:
    floats = [fmt for fmt in FORMATS.values() if isinstance(fmt, FloatFormat)]
    pairs = list(product(floats, floats))
    expected = {(one.name, other.name): stated.contains(one.name, other.name) for one, other in pairs}
    return compared(expected, lambda: {(one.name, other.name): one.contains(other) for one, other in pairs})


WORDS = (8, 16, 32, 64)
"""Bits of the unsigned integers that encodings come in."""


def _words(bits: int) -> Mapping[str, object]:
    """Return which digits words may have, and those that an arbitrary function changes, for a width."""
    taken = {f"{word} bits, 1 in digit {at}": at < bits for word, at in _digits(bits)}
    return {**taken, "changed": f"{(1 << bits) - 1:b}"}


def _digits(bits: int) -> Iterator[tuple[int, int]]:
    """Yield words with their last digit, and the digits at the end of so many bits."""
    yield from ((word, at) for word in WORDS for at in sorted({bits - 1, bits, word - 1}) if at < word)


def _words_specified(fmt: Format) -> Mapping[str, object]:
    @refusal_is(False)
    def is_taken(word: int, at: int) -> object:
        found = checked_encodings("x", np.array([1 << at], dtype=f"u{word // 8}"), fmt)
        return int(found[0]) == 1 << at

    taken = {f"{word} bits, 1 in digit {at}": is_taken(word, at) for word, at in _digits(fmt.bits)}
    values = NumpyAlgebra().arbitrary("f", [(np.arange(256, dtype=np.uint16)[:, None], fmt)], fmt)
    changed = int(np.bitwise_or.reduce(values)) & ~int(np.bitwise_and.reduce(values))
    return {**taken, "changed": f"{changed:b}"}


def _integer(fmt: Format) -> Certificate:
    def specified() -> Mapping[str, object]:
        assert isinstance(fmt, IntegerFormat)
        ones = np.array([(1 << fmt.bits) - 1], dtype=fmt.storage)
        exact = fmt.bits < 64  # exact integers are int64 here
        values = list(map(int, NumpyAlgebra().integer(ones, fmt))) if exact else []
        limits = fmt.bits, fmt.minimum, fmt.maximum
        return {"limits": limits, "signed": fmt.signed, "values": values, **_words_specified(fmt)}

    bits, least, greatest = stated.INTEGERS[fmt.name]
    values = [] if bits == 64 else [-1 if least < 0 else greatest]
    listed = {"limits": (bits, least, greatest), "signed": least < 0, "values": values, **_words(bits)}
    return compared(listed, specified)


def _float(fmt: Format) -> Certificate:
    assert isinstance(fmt, FloatFormat)
    widths = stated.WIDTHS[fmt.name]
    kinds = stated.kinds(fmt.name)
    expected: dict[str, object] = {
        **{column: int(cell) if cell else None for column, cell in widths.items()},
        **{f"{encoding:#x}": kind for encoding, kind in kinds.items()},
        **{f"{at:#x} is": value for (name, at), value in stated.NUMBERS.items() if name == fmt.name},
        **{f"rounded {rounding.name}": _numbers(fmt) for rounding in Rounding},
        **_words(int(widths["bits"])),
        **_errors(int(widths["fraction"]), int(widths["bias"])),
    }
    return compared(expected, lambda: _specified(fmt, list(kinds)))


def _errors(fraction: int, bias: int) -> Mapping[str, object]:
    """Return how far rounding can be off: by a part of the number, and below the normal ones."""
    found: dict[str, object] = {}
    for rounding in Rounding:
        part = Fraction(1, 2 if rounding is Rounding.NEAREST_EVEN else 1)
        found[f"{rounding.name} of the number"] = part / 2**fraction
        least = Fraction(2) ** (1 - bias - fraction)
        found[f"{rounding.name} of small ones"] = part * least if fraction else "refused"
    return found


def _errors_specified(fmt: FloatFormat) -> Mapping[str, object]:
    found: dict[str, object] = {}
    for rounding in Rounding:
        found[f"{rounding.name} of the number"] = unit_roundoff(fmt, rounding)
        try:
            found[f"{rounding.name} of small ones"] = underflow_unit(fmt, rounding)
        except InputError:
            found[f"{rounding.name} of small ones"] = "refused"
    return found


def _numbers(fmt: Format) -> list[float]:
    """Return the listed numbers of a format, which double precision has, too."""
    return [float(value) for (name, _), value in stated.NUMBERS.items() if name == fmt.name]


def _specified(fmt: FloatFormat, encodings: list[int]) -> Mapping[str, object]:
    alg = NumpyAlgebra()
    operand = Operand(np.array(encodings, dtype=fmt.storage), fmt)
    found: dict[str, object] = {
        "bits": fmt.bits,
        "sign bit": fmt.sign_mask.bit_length() - 1 if fmt.sign_mask else None,
        "exponent": fmt.exponent_bits,
        "fraction": fmt.fraction_bits,
        "bias": fmt.bias,
    }
    for encoding, nan, infinite in zip(encodings, alg.is_nan(operand), alg.is_infinite(operand), strict=True):
        found[f"{encoding:#x}"] = "NaN" if nan else "infinity" if infinite else "number"
        if not nan and not infinite:
            found[f"{encoding:#x} is"] = fmt.exact(encoding)
    for rounding in Rounding:
        found[f"rounded {rounding.name}"] = rounded(np.array(_numbers(fmt)), fmt, rounding).tolist()
    found |= _words_specified(fmt)
    found |= _errors_specified(fmt)
    return found


SOURCES = {
    "power": "Power ISA 3.1 section 7.2; QEMU 7.2",
    "pto": "pto-isa headers and simulator at 3186c381",
    "ptx": "PTX ISA 9.7.14; MMA-Sim (arXiv 2511.10909)",
    "mfma": "CDNA4 ISA chapter 7; MMA-Sim (arXiv 2511.10909)",
}
"""What leaves the points open."""

Named = Callable[[list[str]], Any]
"""Reads ``--choice`` arguments."""


def choices(isa: str, named: Named) -> Theorem:
    """Return the theorem that the open points of an instruction set are the listed ones."""
    return table_theorem(
        f"{isa}/stated/choices",
        "open points have the listed readings, defaults and presets, and arguments choose among them",
        "∀ points: names, readings and the default are the listed ones; ∀ presets and ∀ point=reading: the "
        "choices are the listed ones; the last argument counts; what is not listed is refused",
        SOURCES[isa],
        lambda: {"points": lambda: _points(isa), "arguments": lambda: _arguments(isa, named)},
    )


def _points(isa: str) -> Certificate:
    def specified() -> Mapping[str, object]:
        return {
            point.name: (point.default, *(name for name in point.option_names if name != point.default))
            for point in instruction_set(isa).open_points
        } | {"presets": sorted(instruction_set(isa).presets)}

    return compared({**stated_choices.points(isa), "presets": sorted(stated_choices.presets(isa))}, specified)


def _arguments(isa: str, named: Named) -> Certificate:
    points, presets = stated_choices.points(isa), stated_choices.presets(isa)
    defaults = {point: readings[0] for point, readings in points.items()}
    expected: dict[tuple[str, ...], object] = {
        (): defaults,
        **{(name,): each for name, each in presets.items()},
    }
    for point, readings in points.items():
        for reading in readings:
            expected[f"{point}={reading}",] = {**defaults, point: reading}
            for name, each in presets.items():
                expected[name, f"{point}={reading}"] = {**each, point: reading}
                expected[f"{point}={reading}", name] = each
        expected[f"{point}={readings[0]}x",] = "refused"
        expected[point,] = presets.get(point, "refused")
    expected["nothing=default",] = expected["nothing",] = "refused"

    return answered(expected, lambda *arguments: _chosen(arguments, named, list(points)))


@refusal_is(REFUSED)
def _chosen(arguments: tuple[str, ...], named: Named, points: list[str]) -> object:
    found = named(list(arguments))
    return {point: getattr(found, point.replace("-", "_")) for point in points}
