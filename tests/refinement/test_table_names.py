"""Functions of one small element are spelled by what they read its bits as."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from mmaproof.refinement.examine.table_names import table_name
from mmaproof.spec.float_encoding import decode
from mmaproof.spec.formats import F64, FORMATS, FloatFormat, Format, format_named

from ..elementwise_kernels import result_of


def numbers(read: str, natural: str) -> np.ndarray:
    """Return what the numbers of one format are in another."""
    encodings, fmt, own = (
        np.arange(1 << format_named(natural).bits),
        format_named(read),
        format_named(natural),
    )
    if isinstance(own, FloatFormat):
        encodings = encodings[np.isfinite(decode(encodings.astype(own.storage), own))]
    if isinstance(fmt, FloatFormat):
        return decode(encodings.astype(fmt.storage), fmt).astype(np.float64)
    signed = encodings - (encodings >> (fmt.bits - 1) << fmt.bits)
    return (signed if read.startswith("s") else encodings).astype(np.float64)


def spelled(values: np.ndarray, natural: str, fmt: Format = F64) -> str:
    return table_name(np.asarray(values).tobytes(), fmt, format_named(natural), "B[32,0]")


NARROW = [name for name, fmt in FORMATS.items() if fmt.bits in (4, 8) and not name.startswith("b")]


@pytest.mark.parametrize(
    ("read", "natural"), [each for each in product(NARROW, NARROW) if each[0] != each[1]]
)
def test_another_format_of_as_many_bits_is_named(read: str, natural: str) -> None:
    if format_named(read).bits != format_named(natural).bits:
        return
    values = numbers(read, natural)
    name = spelled(values, natural).removesuffix("(B[32,0])")
    np.testing.assert_array_equal(numbers(name, natural), values)
    assert spelled(values * 0.25, natural) == f"0.25*{name}(B[32,0])"


def test_other_tables_show_what_they_begin_with() -> None:
    assert spelled(np.arange(16.0) ** 2, "s4") == "lookup(B[32,0], 0, 1, 4, 9, …)"
    assert spelled(np.zeros(16), "s4") == "lookup(B[32,0], 0, 0, 0, 0, …)"
    raw = np.arange(2, dtype=np.uint64)
    assert spelled(raw, "b1", FORMATS["u64"]) == "lookup(B[32,0], 0x0, 0x1)"


def test_findings_name_the_format_that_is_read() -> None:
    """An element of s8 that the kernel takes for a number of u8."""
    body = "and.b32 %r1, %A, 255; cvt.rn.f32.u32 %f1, %r1; mul.f32 %C, %f1, %B;"
    result = result_of(body, "C[i] = A[i] * B[i]", {"A": "s8", "B": "f32", "C": "f32 out"})
    assert result.verdict == "refuted"
    assert "uses u8(A[0])*B[0], expected A[0]*B[0]" in result.findings[0].message
