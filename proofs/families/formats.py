"""Number formats are what their standards say: widths, constants, special encodings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import product

import numpy as np

from ...spec.algebra import Operand
from ...spec.formats import FORMATS, FloatFormat, Format, IntegerFormat
from ...spec.numpy_algebra import NumpyAlgebra
from ..comparison import compared
from ..obligation import Case, Certificate, Method
from ..stated import formats as stated

TITLE = "the element types have the widths, constants and special encodings of their standards"

STATEMENT = (
    "bits, sign bit, exponent and fraction widths, bias; largest, least normal and least positive number; "
    "which encodings are infinities and NaNs: as the standard's tables say, which are written down in "
    "numbers; which formats have the zero, the sign and the listed numbers of which others"
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


def _integer(fmt: Format) -> Certificate:
    def specified() -> Mapping[str, object]:
        assert isinstance(fmt, IntegerFormat)
        ones = np.array([(1 << fmt.bits) - 1], dtype=fmt.storage)
        exact = fmt.bits < 64  # exact integers are int64 here
        values = list(map(int, NumpyAlgebra().integer(ones, fmt))) if exact else []
        limits = fmt.bits, fmt.minimum, fmt.maximum
        return {"limits": limits, "signed": fmt.signed, "values": values}

    bits, least, greatest = stated.INTEGERS[fmt.name]
    values = [] if bits == 64 else [-1 if least < 0 else greatest]
    return compared({"limits": (bits, least, greatest), "signed": least < 0, "values": values}, specified)


def _float(fmt: Format) -> Certificate:
    assert isinstance(fmt, FloatFormat)
    widths = stated.WIDTHS[fmt.name]
    kinds = stated.kinds(fmt.name)
    expected: dict[str, object] = {
        **{column: int(cell) if cell else None for column, cell in widths.items()},
        **{f"{encoding:#x}": kind for encoding, kind in kinds.items()},
        **{f"{at:#x} is": value for (name, at), value in stated.NUMBERS.items() if name == fmt.name},
    }
    return compared(expected, lambda: _specified(fmt, list(kinds)))


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
    return found
